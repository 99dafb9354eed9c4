/* Traces that h5py writes in every way it knows (write_h5py.py): all of them are read. Skipped
 * where there is no Python with h5py. */
#include "core/base/file.h"
#include "core/base/memory.h"
#include "probes/trace/reader.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 12, WIDTH = 5, LEAST = 50 };
static struct gs_error error;

static void check_streams(struct gs_trace *trace, const char *file) {
    const struct gs_trace_info *info = gs_trace_info(trace);
    for (size_t stream = 0; stream < info->stream_count; stream++)
        for (size_t first = 0; first < ROWS; first += 5) { /* whole, and from the middle on */
            float values[ROWS * WIDTH];
            gs_assert_ok(gs_trace_read_state(trace, stream, first, ROWS - first, values, &error),
                         &error);
            for (size_t i = 0; i < (ROWS - first) * WIDTH; i++)
                if (values[i] != (float)(first * WIDTH + i) / 8 - 2) {
                    print_error("%s, %s, element %zu: %g\n", file, info->streams[stream].name,
                                first * WIDTH + i, (double)values[i]);
                    fail();
                }
        }
}

static void check_others(struct gs_trace *trace) {
    const struct gs_trace_info *info = gs_trace_info(trace);
    uint32_t ids[ROWS];
    if (info->has_token) {
        gs_assert_ok(gs_trace_read_token(trace, 0, ROWS, ids, &error), &error);
        for (uint32_t i = 0; i < ROWS; i++) assert_int_equal(ids[i], i);
    }
    for (size_t i = 0; i < 2 && info->has_names; i++) {
        char *name;
        gs_assert_ok(gs_trace_sequence_name(trace, i, &name, &error), &error);
        if (name[0]) assert_int_equal(strncmp(name, i ? "zwei" : "eins", 4), 0);
        gs_free(name);
    }
}

static void every_way_of_h5py(void **state) {
    (void)state;
    char command[2048];
    char **names;
    size_t count;
    const char *python = getenv("GS_PYTHON") ? getenv("GS_PYTHON") : "python3";
    snprintf(command, sizeof command, "'%s' -c 'import h5py, numpy' >/dev/null 2>&1", python);
    if (system(command) != 0) {
        print_message("skipped: no Python with h5py (GS_PYTHON names one)\n");
        skip();
    }
    const char *folder = gs_scratch_path("ways");
    gs_assert_ok(gs_folder_create(folder, &error), &error);
    snprintf(command, sizeof command, "'%s' '%s' '%s'", python,
             gs_source_path("tests/probes/trace/write_h5py.py"), folder);
    assert_int_equal(system(command), 0);
    gs_assert_ok(gs_folder_list(folder, &names, &count, &error), &error);
    assert_true(count >= LEAST);
    for (size_t i = 0; i < count; i++) {
        struct gs_trace *trace;
        gs_assert_ok(gs_trace_open(gs_scratch_path("ways/%s", names[i]), &trace, &error), &error);
        assert_true(gs_trace_info(trace)->complete);
        check_streams(trace, names[i]);
        check_others(trace);
        gs_assert_ok(gs_trace_check(trace, NULL, &error), &error);
        gs_trace_close(trace);
    }
    gs_free_names(names, count);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_way_of_h5py)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
