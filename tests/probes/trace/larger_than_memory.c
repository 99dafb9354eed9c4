/* Traces larger than the memory a process may have, in thousands of windows: written, read, checked
 * and described within it. In processes of their own, since what is taken away stays away. */
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/results/results.h"
#include "probes/inspect/check.h"
#include "probes/inspect/describe.h"
#include "probes/trace/reader.h"
#include "probes/trace/writer.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SEQUENCES = 5003, /* which 16 does not divide */
    LENGTH = 48,
    WIDTH = 300,
    HEADS = 5,
    BATCH = 16,
    STEPS = 16,
    EXTRA = 96 * 1024 * 1024 /* bytes that a child may take beyond what it has at its start */
};

static struct gs_error error;
static const char *self;

#if defined(__SANITIZE_ADDRESS__)
static const bool sanitized = true; /* which itself takes terabytes of addresses */
#else
static const bool sanitized = false;
#endif

/* ---- the child ---- */

static void must(enum gs_status status) {
    char text[2048];
    if (status == GS_OK) return;
    fprintf(stderr, "%s\n", gs_error_text(&error, text, sizeof text));
    _exit(1);
}

/* As much as now, and EXTRA. Where the system does not say what now is, no limit. */
static void limit_memory(void) {
    unsigned long pages = 0;
    FILE *stream = fopen("/proc/self/statm", "r");
    if (!stream || fscanf(stream, "%lu", &pages) != 1) pages = 0;
    if (stream) fclose(stream);
    if (pages == 0) return;
    rlim_t bytes = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + EXTRA;
    setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
}

static float value_at(size_t sequence, size_t step, size_t column) {
    return (float)((sequence * 7919 + step * 311 + column) % 65521) / 256 - 100;
}

static void fill_block(float *values, size_t first, size_t step, size_t batch, size_t width) {
    for (size_t b = 0; b < batch; b++)
        for (size_t t = 0; t < STEPS; t++)
            for (size_t j = 0; j < width; j++)
                values[(t * batch + b) * width + j] = value_at(first + b, step + t, j);
}

static void write_trace(const char *path) {
    struct gs_trace_stream stream = {.name = "predicted", .width = WIDTH, .dtype = "float32"};
    struct gs_trace_memory memory = {
        .name = "memory", .rule = "gpn", .heads = HEADS, .has = {false, false, true}};
    uint64_t *start = gs_calloc(SEQUENCES + 1, sizeof *start);
    float *values = gs_calloc((size_t)BATCH * STEPS * WIDTH, sizeof *values);
    for (size_t i = 0; i <= SEQUENCES; i++) start[i] = i * LENGTH;
    struct gs_trace_plan plan = {.sequences = SEQUENCES,
                                 .start = start,
                                 .stream_count = 1,
                                 .streams = &stream,
                                 .memory_count = 1,
                                 .memories = &memory};
    struct gs_trace_writer *writer;
    must(gs_trace_writer_create(path, false, &plan, &writer, &error));
    for (size_t first = 0; first < SEQUENCES; first += BATCH)
        for (size_t step = 0; step < LENGTH; step += STEPS) {
            size_t batch = SEQUENCES - first < BATCH ? SEQUENCES - first : BATCH;
            fill_block(values, first, step, batch, WIDTH);
            struct gs_trace_block block = {first, batch, STEPS, NULL, values, WIDTH, batch * WIDTH};
            must(gs_trace_append_state_block(writer, 0, &block, &error));
            fill_block(values, first, step, batch, HEADS);
            block.batch_stride = HEADS;
            block.stride = batch * HEADS;
            must(gs_trace_append_memory_block(writer, 0, GS_MEMORY_NORM, &block, &error));
            must(gs_trace_writer_flush_if_due(writer, &error));
        }
    must(gs_trace_writer_close(writer, &error));
    gs_free(values);
    gs_free(start);
}

/* Sequences here and there, through the reader. */
static void read_trace(const char *path) {
    struct gs_trace *trace;
    struct gs_random random;
    float *values = gs_calloc((size_t)LENGTH * WIDTH, sizeof *values);
    gs_random_seed(&random, 8, "test/larger");
    must(gs_trace_open(path, &trace, &error));
    for (int n = 0; n < 300; n++) {
        size_t i = (size_t)gs_random_below(&random, SEQUENCES);
        must(gs_trace_read_state(trace, 0, i * LENGTH, LENGTH, values, &error));
        for (size_t t = 0; t < LENGTH; t++)
            for (size_t j = 0; j < WIDTH; j++)
                if (values[t * WIDTH + j] != value_at(i, t, j)) _exit(2);
    }
    gs_trace_close(trace);
    gs_free(values);
}

/* As the commands check and info do. */
static void inspect_trace(const char *path) {
    char summary[256];
    struct gs_results *results;
    must(gs_check_file(path, NULL, summary, sizeof summary, &error));
    if (!strstr(summary, "240144 rows")) _exit(3);
    must(gs_describe_file(path, &results, &error));
    gs_results_destroy(results);
}

static int work(const char *what, const char *path) {
    limit_memory();
    if (strcmp(what, "write") == 0) write_trace(path);
    if (strcmp(what, "read") == 0) read_trace(path);
    if (strcmp(what, "inspect") == 0) inspect_trace(path);
    return 0;
}

/* ---- the parent ---- */

static void run_child(const char *what, const char *path) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        setenv("OMP_NUM_THREADS", "2", 1);
        execl(self, self, what, path, (char *)NULL);
        _exit(126);
    }
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    print_error("%s: status %d\n", what, status);
    fail();
}

static void traces_larger_than_memory(void **state) {
    (void)state;
    if (sanitized) skip();
    const char *path = gs_scratch_path("large.h5");
    struct stat info;
    run_child("write", path);
    assert_int_equal(stat(path, &info), 0);
    assert_true(info.st_size > 2 * (off_t)EXTRA);
    run_child("read", path);
    run_child("inspect", path);
}

int main(int argc, char **argv) {
    if (argc == 3) _exit(work(argv[1], argv[2]));
    self = argv[0];
    const struct CMUnitTest tests[] = {cmocka_unit_test(traces_larger_than_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
