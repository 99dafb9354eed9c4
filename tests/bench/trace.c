/* Rows a second of writing and reading a trace, beside plain write() and read() of the same bytes
 * in the same folder and run: read() of one thread in pieces of 1 MiB, and of all threads.
 *
 *     bench_trace [FOLDER [WIDTH [ROWS]]]
 */
#include "core/base/environment.h"
#include "core/base/memory.h"
#include "probes/trace/reader.h"
#include "probes/trace/writer.h"
#include "tests/bench/bench.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    LENGTH = 512,
    BATCH = 16,
    STEPS = 32,
    HEADS = 15,
    PIECE = 1024 * 1024,
    ROUNDS = 5,
    READ_ROWS = 4096 /* at a time, as the analyses do */
};

enum { WRITE, READ, READ_ALL_THREADS, TRACE_WRITTEN, TRACE_READ, GATES_READ, FIGURES };
static const char *const NAMES[] = {"write()",       "read()",     "read(), all threads",
                                    "trace written", "trace read", "one gate read"};

/* As the trace is closed: on the disk itself. */
static double plain_write(const char *path, const void *bytes, size_t size) {
    double began = bench_now();
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (size_t left = size; file >= 0 && left > 0;) {
        ssize_t done = write(file, bytes, left < PIECE ? left : PIECE);
        if (done <= 0) exit(1);
        left -= (size_t)done;
    }
    fsync(file);
    close(file);
    return bench_now() - began;
}

static double plain_read(const char *path, size_t size, float *room, int threads) {
    int file = open(path, O_RDONLY);
    size_t pieces = size / PIECE;
    double began = bench_now();
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (size_t i = 0; i < pieces; i++)
        if (pread(file, room + i % 16 * (PIECE / 4), PIECE, (off_t)(i * PIECE)) < 0) exit(1);
    double seconds = bench_now() - began;
    close(file);
    return seconds;
}

/* As the recorder does: BATCH sequences side by side, STEPS rows of each at a time. */
static double write_trace(const char *path, const char *dtype, int deflate, size_t width,
                          size_t sequences, const float *values) {
    struct gs_error error;
    struct gs_trace_writer *writer;
    struct gs_trace_stream stream = {.name = "predicted", .width = width};
    struct gs_trace_memory memory = {
        .name = "memory", .rule = "gpn", .heads = HEADS, .has = {true, true, true}};
    uint64_t *start = gs_calloc(sequences + 1, sizeof *start);
    static const float gates[LENGTH * HEADS];
    for (size_t i = 0; i <= sequences; i++) start[i] = i * LENGTH;
    snprintf(stream.dtype, sizeof stream.dtype, "%s", dtype);
    struct gs_trace_plan plan = {.sequences = sequences,
                                 .start = start,
                                 .stream_count = 1,
                                 .streams = &stream,
                                 .memory_count = 1,
                                 .memories = &memory,
                                 .deflate = deflate};
    double began = bench_now();
    bench_must(gs_trace_writer_create(path, true, &plan, &writer, &error), &error);
    for (size_t first = 0; first < sequences; first += BATCH)
        for (size_t step = 0; step < LENGTH; step += STEPS) {
            size_t batch = sequences - first < BATCH ? sequences - first : BATCH;
            struct gs_trace_block block = {first, batch, STEPS, NULL, values, width, width};
            bench_must(gs_trace_append_state_block(writer, 0, &block, &error), &error);
            block = (struct gs_trace_block){first, batch, STEPS, NULL, gates, HEADS, HEADS};
            for (int f = 0; f < GS_MEMORY_FIELDS; f++)
                bench_must(gs_trace_append_memory_block(writer, 0, (enum gs_memory_field)f, &block,
                                                        &error),
                           &error);
        }
    bench_must(gs_trace_writer_close(writer, &error), &error);
    gs_free(start);
    return bench_now() - began;
}

static double read_trace(const char *path, float *values) {
    struct gs_error error;
    struct gs_trace *trace;
    double began = bench_now();
    bench_must(gs_trace_open(path, &trace, &error), &error);
    uint64_t all = gs_trace_info(trace)->rows;
    for (uint64_t row = 0; row < all; row += READ_ROWS) {
        size_t count = all - row < READ_ROWS ? (size_t)(all - row) : READ_ROWS;
        bench_must(gs_trace_read_state(trace, 0, row, count, values, &error), &error);
    }
    gs_trace_close(trace);
    return bench_now() - began;
}

static double read_gate(const char *path, float *values) {
    struct gs_error error;
    struct gs_trace *trace;
    double began = bench_now();
    bench_must(gs_trace_open(path, &trace, &error), &error);
    uint64_t all = gs_trace_info(trace)->rows;
    for (uint64_t row = 0; row < all; row += READ_ROWS) {
        size_t count = all - row < READ_ROWS ? (size_t)(all - row) : READ_ROWS;
        bench_must(gs_trace_read_memory(trace, 0, GS_MEMORY_LOG_DECAY, row, count, values, &error),
                   &error);
    }
    gs_trace_close(trace);
    return bench_now() - began;
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : ".";
    size_t width = argc > 2 ? strtoul(argv[2], NULL, 10) : 768;
    size_t rows = argc > 3 ? strtoul(argv[3], NULL, 10) : 131072;
    size_t sequences = rows / LENGTH, count = (BATCH + STEPS) * width;
    static const struct {
        const char *dtype;
        int deflate;
        size_t element;
    } cases[] = {{"float32", 0, 4}, {"float16", 0, 2}, {"bfloat16", 0, 2}, {"float32", 1, 4}};
    char path[4096];
    float *values = gs_calloc(count > PIECE ? count : PIECE, sizeof *values);
    size_t room_floats = READ_ROWS * width > 16 * PIECE / 4 ? READ_ROWS * width : 16 * PIECE / 4;
    float *room = gs_calloc(room_floats, sizeof *room);
    if (!values || !room || sequences == 0) return 1;
    for (size_t i = 0; i < count; i++) values[i] = (float)(rand() % 20011) / 701 - 14;
    rows = sequences * LENGTH;
    snprintf(path, sizeof path, "%s/bench-trace.tmp", folder);
    printf("%zu rows of %zu, %d sequences of %d side by side, %d threads; best of %d\n", rows,
           width, BATCH, LENGTH, gs_threads_get(), ROUNDS);
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        size_t size = rows * (width * cases[n].element + HEADS * 12), state = rows * width;
        size_t bytes[FIGURES] = {
            size, size, size, size, state * cases[n].element, rows * HEADS * 4};
        double best[FIGURES];
        for (int i = 0; i < FIGURES; i++) best[i] = 1e30;
        for (int round = 0; round < ROUNDS; round++) {
            double seconds[FIGURES];
            unlink(path);
            seconds[WRITE] = plain_write(path, values, size);
            seconds[READ] = plain_read(path, size, room, 1);
            seconds[READ_ALL_THREADS] = plain_read(path, size, room, gs_threads_get());
            unlink(path);
            seconds[TRACE_WRITTEN] =
                write_trace(path, cases[n].dtype, cases[n].deflate, width, sequences, values);
            seconds[TRACE_READ] = read_trace(path, room);
            seconds[GATES_READ] = read_gate(path, room);
            for (int i = 0; i < FIGURES; i++)
                if (seconds[i] < best[i]) best[i] = seconds[i];
        }
        printf("%s, deflate %d\n", cases[n].dtype, cases[n].deflate);
        for (int i = 0; i < FIGURES; i++)
            printf("  %-20s %12.0f rows/s %9.0f MB/s\n", NAMES[i], (double)rows / best[i],
                   (double)bytes[i] / best[i] / 1e6);
    }
    unlink(path);
    gs_free(values);
    gs_free(room);
    return 0;
}
