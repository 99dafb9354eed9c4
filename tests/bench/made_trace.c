#include "tests/bench/made_trace.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "probes/trace/writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 4096, PIECE = 1 << 20 };

static float *random_rows(size_t count, double mean) {
    struct gs_random random;
    gs_random_seed(&random, 1, "bench");
    float *rows = gs_calloc(count, sizeof *rows);
    if (!rows) exit(3);
    for (size_t i = 0; i < count; i++) rows[i] = (float)(mean + gs_random_normal(&random));
    return rows;
}

/* Sequence s begins at another row of one and the same stretch of random rows. */
static void write_sequence(struct gs_trace_writer *writer, size_t s, const float *rows,
                           size_t width, const float *gates) {
    struct gs_error error;
    size_t first = s * 131 % (ROWS - BENCH_SEQUENCE);
    bench_must(
        gs_trace_append_state(writer, 0, s, BENCH_SEQUENCE, rows + first * width, width, &error),
        &error);
    for (int field = 0; field < 2; field++)
        bench_must(gs_trace_append_memory(
                       writer, 0, field ? GS_MEMORY_WRITE_STRENGTH : GS_MEMORY_LOG_DECAY, s,
                       BENCH_SEQUENCE, gates + (size_t)field * ROWS * BENCH_HEADS, BENCH_HEADS,
                       &error),
                   &error);
    bench_must(gs_trace_writer_flush_if_due(writer, &error), &error);
}

/* γ of head h about −1/lifetime from 2 to 300 tokens, β = 0.3. */
static float *make_gates(void) {
    size_t count = (size_t)ROWS * BENCH_HEADS;
    float *gates = gs_calloc(2 * count, sizeof *gates);
    if (!gates) exit(3);
    for (size_t i = 0; i < count; i++) {
        size_t head = i % BENCH_HEADS;
        gates[i] = -(1 + (float)(i / BENCH_HEADS % 3)) / (float)(2 << head % 8);
        gates[count + i] = 0.3f;
    }
    return gates;
}

static void make(const char *path, size_t width, size_t rows) {
    struct gs_trace_stream stream = {.name = "predicted", .width = width, .dtype = "float32"};
    struct gs_trace_memory memory = {
        .name = "memory", .rule = "gpn", .heads = BENCH_HEADS, .has = {true, true, false}};
    struct gs_trace_plan plan = {.sequences = (rows + BENCH_SEQUENCE - 1) / BENCH_SEQUENCE,
                                 .stream_count = 1,
                                 .streams = &stream,
                                 .memory_count = 1,
                                 .memories = &memory};
    plan.labels.step = plan.labels.seed = plan.labels.threads = -1;
    uint64_t *start = gs_calloc(plan.sequences + 1, sizeof *start);
    if (!start) exit(3);
    for (size_t s = 0; s <= plan.sequences; s++) start[s] = s * BENCH_SEQUENCE;
    plan.start = start;
    float *states = random_rows(ROWS * width, 1), *gates = make_gates();
    struct gs_trace_writer *writer;
    struct gs_error error;
    printf("writing %s …\n", path);
    bench_must(gs_trace_writer_create(path, false, &plan, &writer, &error), &error);
    for (size_t s = 0; s < plan.sequences; s++) write_sequence(writer, s, states, width, gates);
    bench_must(gs_trace_writer_close(writer, &error), &error);
    gs_free(gates);
    gs_free(states);
    gs_free(start);
}

struct gs_trace *bench_trace(const char *path, size_t width, size_t rows) {
    struct gs_trace *trace;
    struct gs_error error;
    if (!gs_path_exists(path)) make(path, width, rows);
    bench_must(gs_trace_open(path, &trace, &error), &error);
    return trace;
}

double bench_read(const char *path) {
    char *piece = gs_calloc(PIECE, 1);
    double best = 0;
    if (!piece) exit(3);
    for (int round = 0; round < 2; round++) {
        double start = bench_now(), bytes = 0;
        ssize_t got = 0;
        int file = open(path, O_RDONLY | O_CLOEXEC);
        while (file >= 0 && (got = read(file, piece, PIECE)) > 0) bytes += (double)got;
        if (file < 0 || got < 0) exit(3);
        close(file);
        double rate = bytes / (bench_now() - start);
        if (rate > best) best = rate;
    }
    gs_free(piece);
    return best;
}

void bench_peak(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        printf("most memory held: %.0f MiB\n", (double)usage.ru_maxrss / 1024);
}
