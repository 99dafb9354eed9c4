/* Arrays that numpy saved (fixtures/arrays) become traces: values, sequences, names; and what does
 * not fit is named. */
#include "probes/arrays/to_trace.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "probes/trace/reader.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 12, WIDTH = 5 };
static struct gs_error error;

static const char *fixture(const char *name) {
    char relative[128];
    snprintf(relative, sizeof relative, "fixtures/arrays/%s", name);
    return gs_source_path(relative);
}

static float state_at(size_t row, size_t column) {
    return (float)(row * WIDTH + column) / 8 - 2;
}

static struct gs_trace *convert(const struct gs_arrays_import *import,
                                struct gs_arrays_imported *imported) {
    const char *output = gs_scratch_path("trace.h5");
    struct gs_arrays_import forced = *import;
    struct gs_trace *trace;
    forced.force = true;
    gs_assert_ok(gs_arrays_to_trace(&forced, output, imported, NULL, &error), &error);
    gs_assert_ok(gs_trace_open(output, &trace, &error), &error);
    assert_true(gs_trace_info(trace)->complete);
    gs_assert_ok(gs_trace_check(trace, NULL, &error), &error);
    return trace;
}

static void expect_states(struct gs_trace *trace, const char *name, float sign) {
    float values[ROWS * WIDTH];
    size_t stream;
    gs_assert_ok(gs_trace_find_stream(trace, name, &stream, &error), &error);
    gs_assert_ok(gs_trace_read_state(trace, stream, 0, ROWS, values, &error), &error);
    for (size_t i = 0; i < ROWS * WIDTH; i++)
        if (values[i] != sign * state_at(i / WIDTH, i % WIDTH)) {
            print_error("%s, row %zu, column %zu: %g\n", name, i / WIDTH, i % WIDTH,
                        (double)values[i]);
            fail();
        }
}

static void states_alone(void **state) {
    (void)state;
    static const char *const names[] = {
        "f2.npy",         "f2_big_endian.npy", "f4.npy",          "f4_big_endian_fortran.npy",
        "f8_fortran.npy", "f8_version2.npy",   "f4_version3.npy", "bfloat16.npy"};
    static const char *const dtypes[] = {"float16", "float16", "float32", "float32",
                                         "float32", "float32", "float32", "bfloat16"};
    for (size_t i = 0; i < 8; i++) {
        struct gs_arrays_imported imported;
        struct gs_arrays_import import = {.path = fixture(names[i]), .bfloat16 = i == 7};
        struct gs_trace *trace = convert(&import, &imported);
        const struct gs_trace_info *info = gs_trace_info(trace);
        assert_int_equal(imported.rows, ROWS);
        assert_int_equal(imported.sequences, 1);
        assert_string_equal(info->streams[0].name, "state");
        assert_string_equal(info->streams[0].dtype, dtypes[i]);
        assert_false(info->has_token || info->has_nll || info->has_names);
        expect_states(trace, "state", 1);
        gs_trace_close(trace);
    }
}

static void expect_starts(const struct gs_trace *trace, const uint64_t *start, size_t sequences) {
    const struct gs_trace_info *info = gs_trace_info(trace);
    assert_int_equal(info->sequences, sequences);
    for (size_t i = 0; i <= sequences; i++) assert_int_equal(info->start[i], start[i]);
}

static void sequences_by_axis_and_length(void **state) {
    (void)state;
    static const char *const names[] = {"sequences.npy", "sequences_fortran.npy"};
    struct gs_arrays_imported imported;
    for (size_t i = 0; i < 2; i++) {
        struct gs_arrays_import import = {.path = fixture(names[i]), .stream = "hidden ` $(x)"};
        struct gs_trace *trace = convert(&import, &imported);
        expect_starts(trace, (uint64_t[]){0, 4, 8, 12}, 3);
        expect_states(trace, "hidden ` $(x)", 1);
        gs_trace_close(trace);
    }
    struct gs_arrays_import import = {.path = fixture("f4.npy"), .length = 5};
    struct gs_trace *trace = convert(&import, &imported);
    expect_starts(trace, (uint64_t[]){0, 5, 10, 12}, 3);
    expect_states(trace, NULL, 1);
    gs_trace_close(trace);
    import.path = fixture("sequences.npy");
    gs_assert_error(gs_arrays_to_trace(&import, gs_scratch_path("no.h5"), &imported, NULL, &error),
                    GS_USAGE, &error, "--length", "sequences.npy");
    assert_false(gs_path_exists(gs_scratch_path("no.h5")));
}

static float gate_at(size_t row, size_t head) {
    return -(float)(row * 2 + head) / 16;
}

static void expect_gates(struct gs_trace *trace, size_t memory, enum gs_memory_field field,
                         float factor) {
    float values[ROWS * 2];
    gs_assert_ok(gs_trace_read_memory(trace, memory, field, 0, ROWS, values, &error), &error);
    for (size_t i = 0; i < ROWS * 2; i++) assert_true(values[i] == factor * gate_at(i / 2, i % 2));
}

static void everything_beside_them(void **state) {
    (void)state;
    struct gs_arrays_imported imported;
    struct gs_arrays_import import = {.path = fixture("sequences.npz"), .rule = "gated_delta"};
    struct gs_trace *trace = convert(&import, &imported);
    const struct gs_trace_info *info = gs_trace_info(trace);
    float nll[ROWS];
    uint32_t ids[ROWS];
    expect_starts(trace, (uint64_t[]){0, 4, 8, 12}, 3);
    assert_int_equal(info->stream_count, 2);
    assert_string_equal(info->streams[0].dtype, "float16");
    assert_string_equal(info->streams[1].dtype, "float32");
    expect_states(trace, "layer00", 1);
    expect_states(trace, "layer01", -1);
    assert_string_equal(imported.passed_over, "learning_rate");
    assert_string_equal(info->memories[0].name, "memory");
    assert_string_equal(info->memories[0].rule, "gated_delta");
    expect_gates(trace, 0, GS_MEMORY_LOG_DECAY, 1);
    expect_gates(trace, 0, GS_MEMORY_WRITE_STRENGTH, -0.5f);
    assert_int_equal(info->nll_first, 1);
    gs_assert_ok(gs_trace_read_nll(trace, 0, ROWS, nll, &error), &error);
    gs_assert_ok(gs_trace_read_token(trace, 0, ROWS, ids, &error), &error);
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_int_equal(ids[i], i);
        assert_true(i % 4 == 0 ? isnan(nll[i]) : nll[i] == 2.5f);
    }
    gs_trace_close(trace);
}

static void objects_beside_states(void **state) {
    (void)state;
    struct gs_arrays_imported imported;
    struct gs_arrays_import import = {.path = fixture("objects_beside.npz")};
    struct gs_trace *trace = convert(&import, &imported);
    expect_states(trace, "states", 1);
    assert_string_equal(imported.passed_over, "info, fields");
    gs_trace_close(trace);
    import.path = fixture("objects_as_tokens.npz");
    gs_assert_error(gs_arrays_to_trace(&import, gs_scratch_path("no.h5"), &imported, NULL, &error),
                    GS_UNSUPPORTED, &error, "objects_as_tokens.npz, array token", "Python objects");
}

static void names_as_a_trace_has_them(void **state) {
    (void)state;
    static const char *const expected[] = {"eins", "zwei ", "dré ’`$(x)"};
    struct gs_arrays_imported imported;
    struct gs_arrays_import import = {.path = fixture("rows.npz"), .deflate = 4};
    struct gs_trace *trace = convert(&import, &imported);
    const struct gs_trace_info *info = gs_trace_info(trace);
    uint32_t ids[ROWS];
    expect_starts(trace, (uint64_t[]){0, 4, 4, 12}, 3);
    expect_states(trace, "predicted", 1);
    assert_string_equal(imported.passed_over, "");
    gs_assert_ok(gs_trace_read_token(trace, 0, ROWS, ids, &error), &error);
    for (uint32_t i = 0; i < ROWS; i++) assert_int_equal(ids[i], i);
    for (size_t i = 0; i < 3; i++) {
        char *name;
        gs_assert_ok(gs_trace_sequence_name(trace, i, &name, &error), &error);
        assert_string_equal(name, expected[i]);
        gs_free(name);
    }
    assert_string_equal(info->memories[0].name, "m");
    assert_true(info->memories[0].has[GS_MEMORY_NORM] && !info->memories[0].has[0]);
    expect_gates(trace, 0, GS_MEMORY_NORM, -1);
    assert_int_equal(info->reads[0].layers, 1);
    gs_trace_close(trace);
}

/* ---- arrays made here ---- */

static const char *save(const char *name, const char *descr, const char *shape, const void *data,
                        size_t bytes) {
    unsigned char file[4096] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    int length = snprintf((char *)file + 10, 1000,
                          "{'descr': '%s', 'fortran_order': False, 'shape': %s}", descr, shape);
    file[8] = (unsigned char)length;
    memcpy(file + 10 + length, data, bytes);
    return gs_scratch_file(name, file, 10 + (size_t)length + bytes);
}

static const float zeros[64];

/* "NAME=PATH" of --with. */
static const char *with(const char *name, const char *path) {
    static char texts[32][1200];
    static size_t turn;
    char *text = texts[turn++ % 32];
    snprintf(text, sizeof texts[0], "%s=%s", name, path);
    return text;
}

static void further_files(void **state) {
    (void)state;
    static const int64_t ids[6] = {5, 4, 3, 2, 1, 0};
    static const double nll[6] = {NAN, NAN, 1, NAN, NAN, 2};
    static const float decay[6] = {0, -1, -2, -INFINITY, 0, 0};
    const char *states = save("states.npy", "<f4", "(2, 3, 4)", zeros, 96);
    const char *more[] = {with("token", save("ids.npy", "<i8", "(2, 3)", ids, 48)),
                          with("nll", save("nll.npy", "<f8", "(6,)", nll, 48)),
                          with("log_decay", save("decay.npy", "<f4", "(6, 1)", zeros, 24))};
    struct gs_arrays_imported imported;
    struct gs_arrays_import import = {
        .path = states, .with = more, .with_count = 3, .rule = "gpn", .stream = "s"};
    struct gs_trace *trace = convert(&import, &imported);
    const struct gs_trace_info *info = gs_trace_info(trace);
    uint32_t read[6];
    expect_starts(trace, (uint64_t[]){0, 3, 6}, 2);
    assert_int_equal(info->nll_first, 2);
    assert_string_equal(info->memories[0].name, "memory");
    assert_string_equal(info->memories[0].rule, "gpn");
    gs_assert_ok(gs_trace_read_token(trace, 0, 6, read, &error), &error);
    for (uint32_t i = 0; i < 6; i++) assert_int_equal(read[i], 5 - i);
    gs_trace_close(trace);
    more[2] = with("log_decay", save("decay.npy", "<f4", "(6, 1)", decay, 24));
    gs_assert_error(gs_arrays_to_trace(&import, gs_scratch_path("no.h5"), &imported, NULL, &error),
                    GS_RANGE, &error, "log_decay", "sequence 1", "decay.npy");
    more[2] = "log_decay";
    gs_assert_error(gs_arrays_to_trace(&import, gs_scratch_path("no.h5"), &imported, NULL, &error),
                    GS_USAGE, &error, "NAME=FILE");
    more[2] = with("hidden", states);
    gs_assert_ok(gs_arrays_to_trace(&import, gs_scratch_path("two.h5"), &imported, NULL, &error),
                 &error);
    assert_int_equal(imported.streams, 2);
    more[2] = with("tokens", states);
    gs_assert_error(gs_arrays_to_trace(&import, gs_scratch_path("no.h5"), &imported, NULL, &error),
                    GS_FORMAT, &error, "two arrays for one place");
    more[2] = with("a/b/c", states);
    gs_assert_error(gs_arrays_to_trace(&import, gs_scratch_path("no.h5"), &imported, NULL, &error),
                    GS_USAGE, &error, "a/b/c", "no place");
    more[2] = with("state/s", states);
    gs_assert_error(gs_arrays_to_trace(&import, gs_scratch_path("no.h5"), &imported, NULL, &error),
                    GS_FORMAT, &error, "two arrays");
    more[2] = with("token", gs_source_path("fixtures/arrays/rows.npz"));
    gs_assert_error(gs_arrays_to_trace(&import, gs_scratch_path("no.h5"), &imported, NULL, &error),
                    GS_UNSUPPORTED, &error, "rows.npz", "one array");
    assert_false(gs_path_exists(gs_scratch_path("no.h5")));
}

static void wrong(const struct gs_arrays_import *import, enum gs_status status, const char *word,
                  const char *other) {
    struct gs_arrays_imported imported;
    const char *output = gs_scratch_path("no.h5");
    gs_assert_error(gs_arrays_to_trace(import, output, &imported, NULL, &error), status, &error,
                    word, other);
    assert_false(gs_path_exists(output));
}

static void what_does_not_fit(void **state) {
    (void)state;
    float bad[8] = {0, 0, 0, 0, 0, NAN, 0, 0};
    double large[2] = {0, 1e39};
    const char *states = save("states.npy", "<f4", "(6, 4)", zeros, 96);
    struct gs_arrays_import import = {.path = states};
    wrong(&(struct gs_arrays_import){.path = fixture("bfloat16.npy")}, GS_UNSUPPORTED, "V2",
          "--bfloat16");
    wrong(&(struct gs_arrays_import){.path = fixture("objects.npy")}, GS_UNSUPPORTED, "objects.npy",
          "Python objects");
    wrong(&(struct gs_arrays_import){.path = fixture("structured.npy")}, GS_UNSUPPORTED,
          "structured", "fields");
    wrong(&(struct gs_arrays_import){.path = fixture("complex.npy")}, GS_UNSUPPORTED, "<c8", "f8");
    wrong(&(struct gs_arrays_import){.path = fixture("text.npy")}, GS_UNSUPPORTED, "<U1", "f8");
    wrong(&(struct gs_arrays_import){.path = gs_scratch_path("absent.npy")}, GS_MISSING,
          "absent.npy", "No such file");
    wrong(&(struct gs_arrays_import){.path = save("x.npy", "<f4", "(2, 4)", bad, 32)}, GS_RANGE,
          "x.npy, sequence 0, step 1, column 1", "NaN");
    wrong(&(struct gs_arrays_import){.path = save("x.npy", "<f8", "(2, 1)", large, 16)}, GS_RANGE,
          "x.npy, sequence 0, step 1, column 0", "range of float32");
    wrong(&(struct gs_arrays_import){.path = save("x.npy", "<f4", "(8,)", zeros, 32)}, GS_SHAPE,
          "x.npy", "(rows, d)");
    wrong(&(struct gs_arrays_import){.path = save("x.npy", "<f4", "(1, 2, 2, 2)", zeros, 32)},
          GS_SHAPE, "x.npy", "(1, 2, 2, 2)");
    wrong(&(struct gs_arrays_import){.path = save("x.npy", "<f4", "(0, 5)", zeros, 0)}, GS_SHAPE,
          "x.npy", "(0, 5)");
    wrong(&(struct gs_arrays_import){.path = save("x.npy", "<f4", "(1152921504606846976, 0)", zeros,
                                                  0)},
          GS_SHAPE, "x.npy", "none of them 0");
    wrong(&(struct gs_arrays_import){.path = save("x.npy", "<i4", "(2, 4)", zeros, 32)},
          GS_UNSUPPORTED, "x.npy", "<i4");
    const char *more[1] = {NULL};
    import.with = more;
    import.with_count = 1;
    more[0] = with("token", save("x.npy", "<i4", "(5,)", zeros, 20));
    wrong(&import, GS_SHAPE, "x.npy", "6 rows");
    more[0] = with("token", save("x.npy", "<f4", "(6,)", zeros, 24));
    wrong(&import, GS_UNSUPPORTED, "x.npy", "whole numbers");
    more[0] = with("token", save("x.npy", "<i4", "(6,)", (int[]){0, 0, -3, 0, 0, 0}, 24));
    wrong(&import, GS_RANGE, "element 2", "-3");
    more[0] = with("start", save("x.npy", "<i8", "(3,)", (int64_t[]){0, 4, 5}, 24));
    wrong(&import, GS_FORMAT, "element 2", "6");
    more[0] = with("start", save("x.npy", "<i8", "(3,)", (int64_t[]){0, 7, 6}, 24));
    wrong(&import, GS_FORMAT, "element 2", "at least 7");
    more[0] = with("start", save("x.npy", "<i8", "(2,)", (int64_t[]){1, 6}, 16));
    wrong(&import, GS_FORMAT, "element 0", "exactly 0");
    more[0] = with("start", save("x.npy", "<i8", "(1,)", (int64_t[]){0}, 8));
    wrong(&import, GS_SHAPE, "x.npy", "at least two");
    more[0] = with("name", save("x.npy", "|S1", "(2,)", "ab", 2));
    wrong(&import, GS_SHAPE, "x.npy", "one name for each");
    more[0] = with("hidden", save("x.npy", "<f4", "(2, 3, 1)", zeros, 24));
    struct gs_arrays_imported imported;
    gs_assert_ok(gs_arrays_to_trace(&import, gs_scratch_path("axis.h5"), &imported, NULL, &error),
                 &error);
    assert_int_equal(imported.sequences, 2); /* one array's axes are everyone's */
    gs_assert_error(
        gs_arrays_to_trace(&import, gs_scratch_path("axis.h5"), &imported, NULL, &error), GS_EXISTS,
        &error, "axis.h5", "--force");
}

static void no_array_of_states(void **state) {
    (void)state;
    /* an archive of one array of one axis */
    const char *python = getenv("GS_PYTHON") ? getenv("GS_PYTHON") : "python3";
    char command[1024];
    snprintf(command, sizeof command,
             "'%s' -c 'import numpy, sys; numpy.savez(sys.argv[1], x=numpy.zeros(3), "
             "y=numpy.arange(4))' '%s' 2>/dev/null",
             python, gs_scratch_path("none.npz"));
    if (system(command) != 0) {
        print_message("skipped: no Python with numpy (GS_PYTHON names one)\n");
        skip();
    }
    wrong(&(struct gs_arrays_import){.path = gs_scratch_path("none.npz")}, GS_MISSING, "no states",
          "x, y");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_alone),
        cmocka_unit_test(sequences_by_axis_and_length),
        cmocka_unit_test(everything_beside_them),
        cmocka_unit_test(objects_beside_states),
        cmocka_unit_test(names_as_a_trace_has_them),
        cmocka_unit_test(further_files),
        cmocka_unit_test(what_does_not_fit),
        cmocka_unit_test(no_array_of_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
