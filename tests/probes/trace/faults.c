/* Every fault that a trace can have, with a file of its own: a named error with file, dataset and
 * row. The files are made through the HDF5 face, as the least trace with one thing wrong. */
#include "core/base/file.h"
#include "core/base/memory.h"
#include "probes/trace/hdf5_file.h"
#include "probes/trace/reader.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 12, WIDTH = 5, HEADS = 2 };
static struct gs_error error;

/* ---- parts of a good file ---- */

static void attributes(struct gs_h5 *file) {
    gs_assert_ok(gs_h5_set_text(file, "/", "format", "gpn-trace", &error), &error);
    gs_assert_ok(gs_h5_set_integer(file, "/", "version", 1, &error), &error);
}

static void whole(struct gs_h5 *file, const char *path, enum gs_h5_type type, size_t rows,
                  size_t width, const void *values) {
    size_t shape[2] = {rows, width};
    gs_assert_ok(gs_h5_write(file, path, type, width ? 2 : 1, shape, values, &error), &error);
}

static void start(struct gs_h5 *file) {
    uint64_t values[3] = {0, 4, ROWS};
    whole(file, "sequence/start", GS_H5_U64, 3, 0, values);
}

/* A dataset of zeros except at one place. */
static void floats(struct gs_h5 *file, const char *path, size_t rows, size_t width, size_t at,
                   float value) {
    float values[ROWS * 100] = {0};
    values[at] = value;
    whole(file, path, GS_H5_F32, rows, width, values);
}

static void stream(struct gs_h5 *file) {
    floats(file, "state/predicted", ROWS, WIDTH, 0, 1);
}

static void good(struct gs_h5 *file) {
    attributes(file);
    start(file);
    stream(file);
}

static void rows_written(struct gs_h5 *file, uint64_t first, uint64_t second) {
    uint64_t values[2] = {first, second};
    whole(file, "sequence/rows_written", GS_H5_U64, 2, 0, values);
}

/* ---- one thing wrong ---- */

static void no_format(struct gs_h5 *file) {
    start(file), stream(file);
    gs_h5_set_integer(file, "/", "version", 1, NULL);
}
static void other_format(struct gs_h5 *file) {
    good(file);
    gs_h5_set_text(file, "/", "format", "keras", NULL);
}
static void format_of_wrong_type(struct gs_h5 *file) {
    start(file), stream(file);
    gs_h5_set_integer(file, "/", "format", 1, NULL);
}
static void no_version(struct gs_h5 *file) {
    start(file), stream(file);
    gs_h5_set_text(file, "/", "format", "gpn-trace", NULL);
}
static void newer_version(struct gs_h5 *file) {
    good(file);
    gs_h5_set_integer(file, "/", "version", 2, NULL);
}
static void config_no_json(struct gs_h5 *file) {
    good(file);
    gs_h5_set_text(file, "/", "config", "{\"model\": ", NULL);
}
static void config_bad_vocab(struct gs_h5 *file) {
    good(file);
    gs_h5_set_text(file, "/", "config", "{\"model\": {\"vocab_size\": -1}}", NULL);
}
static void no_start(struct gs_h5 *file) {
    attributes(file), stream(file);
}
static void start_too_short(struct gs_h5 *file) {
    uint64_t values[1] = {0};
    attributes(file), stream(file);
    whole(file, "sequence/start", GS_H5_U64, 1, 0, values);
}
static void start_two_axes(struct gs_h5 *file) {
    uint64_t values[4] = {0, 4, 8, ROWS};
    attributes(file), stream(file);
    whole(file, "sequence/start", GS_H5_U64, 2, 2, values);
}
static void start_not_zero(struct gs_h5 *file) {
    uint64_t values[3] = {1, 4, ROWS};
    attributes(file), stream(file);
    whole(file, "sequence/start", GS_H5_U64, 3, 0, values);
}
static void start_falls(struct gs_h5 *file) {
    uint64_t values[4] = {0, 8, 4, ROWS};
    attributes(file), stream(file);
    whole(file, "sequence/start", GS_H5_U64, 4, 0, values);
}
static void start_negative(struct gs_h5 *file) {
    int64_t values[3] = {0, -4, ROWS};
    attributes(file), stream(file);
    whole(file, "sequence/start", GS_H5_I64, 3, 0, values);
}
static void start_floats(struct gs_h5 *file) {
    attributes(file), stream(file);
    floats(file, "sequence/start", 3, 0, 2, ROWS);
}
static void start_beyond_rows(struct gs_h5 *file) {
    uint64_t values[3] = {0, 4, (uint64_t)1 << 62};
    attributes(file), stream(file);
    whole(file, "sequence/start", GS_H5_U64, 3, 0, values);
}
static void rows_beyond_start(struct gs_h5 *file) {
    attributes(file), start(file);
    floats(file, "state/predicted", ROWS + 1, WIDTH, 0, 1);
}
static void too_many_written(struct gs_h5 *file) {
    good(file);
    rows_written(file, 4, 9);
}
static void written_of_wrong_length(struct gs_h5 *file) {
    uint64_t values[3] = {1, 1, 1};
    good(file);
    whole(file, "sequence/rows_written", GS_H5_U64, 3, 0, values);
}
static void complete_but_short(struct gs_h5 *file) {
    good(file);
    rows_written(file, 4, 7);
    gs_h5_set_integer(file, "/", "complete", 1, NULL);
}
static void complete_no_number(struct gs_h5 *file) {
    good(file);
    gs_h5_set_text(file, "/", "complete", "yes", NULL);
}
static void no_stream(struct gs_h5 *file) {
    attributes(file), start(file);
}
static void empty_state_group(struct gs_h5 *file) {
    attributes(file), start(file);
    gs_h5_group_create(file, "state", NULL);
}
static void state_is_a_dataset(struct gs_h5 *file) {
    attributes(file), start(file);
    floats(file, "state", ROWS, WIDTH, 0, 1);
}
static void stream_is_a_group(struct gs_h5 *file) {
    good(file);
    gs_h5_group_create(file, "state/more", NULL);
}
static void stream_of_one_axis(struct gs_h5 *file) {
    good(file);
    floats(file, "state/flat", ROWS, 0, 0, 1);
}
static void stream_of_integers(struct gs_h5 *file) {
    uint32_t values[ROWS * WIDTH] = {0};
    good(file);
    whole(file, "state/whole", GS_H5_U32, ROWS, WIDTH, values);
}
static void stream_of_nameless_bits(struct gs_h5 *file) {
    uint16_t values[ROWS * WIDTH] = {0};
    good(file);
    whole(file, "state/bits", GS_H5_U16, ROWS, WIDTH, values);
}
static void stream_of_wrong_bits(struct gs_h5 *file) {
    uint32_t values[ROWS * WIDTH] = {0};
    good(file);
    whole(file, "state/bits", GS_H5_U32, ROWS, WIDTH, values);
    gs_h5_set_text(file, "state/bits", "dtype", "bfloat16", NULL);
}
static void token_too_few(struct gs_h5 *file) {
    uint32_t values[ROWS] = {0};
    good(file);
    whole(file, "token", GS_H5_U32, ROWS - 1, 0, values);
}
static void token_floats(struct gs_h5 *file) {
    good(file);
    floats(file, "token", ROWS, 0, 0, 1);
}
static void nll_integers(struct gs_h5 *file) {
    uint32_t values[ROWS] = {0};
    good(file);
    whole(file, "nll", GS_H5_U32, ROWS, 0, values);
}
static void nll_first_negative(struct gs_h5 *file) {
    good(file);
    floats(file, "nll", ROWS, 0, 0, 1);
    gs_h5_set_integer(file, "nll", "first", -1, NULL);
}
static void names_numbers(struct gs_h5 *file) {
    good(file);
    floats(file, "sequence/name", 2, 0, 0, 1);
}
static void names_too_many(struct gs_h5 *file) {
    const char *names[3] = {"a", "b", "c"};
    good(file);
    gs_h5_write_texts(file, "sequence/name", names, 3, false, NULL);
}
static void memory_no_group(struct gs_h5 *file) {
    good(file);
    floats(file, "memory/layer00", ROWS, HEADS, 0, 0);
}
static void memory_uneven(struct gs_h5 *file) {
    good(file);
    floats(file, "memory/layer00/log_decay", ROWS, HEADS, 0, -1);
    floats(file, "memory/layer00/norm", ROWS, HEADS + 1, 0, 1);
}
static void memory_short(struct gs_h5 *file) {
    good(file);
    floats(file, "memory/layer00/log_decay", ROWS - 1, HEADS, 0, -1);
}
static void read_without_share(struct gs_h5 *file) {
    good(file);
    gs_h5_group_create(file, "read/layer00", NULL);
}

/* In the values: found by gs_trace_check. */
static void state_nan(struct gs_h5 *file) {
    attributes(file), start(file);
    floats(file, "state/predicted", ROWS, WIDTH, 7 * WIDTH + 3, NAN);
}
static void state_infinite(struct gs_h5 *file) {
    good(file);
    floats(file, "state/second", ROWS, WIDTH, 11 * WIDTH, -INFINITY);
}
static void state_infinite_half(struct gs_h5 *file) {
    uint16_t values[ROWS * WIDTH] = {0};
    good(file);
    values[2 * WIDTH + 1] = 0x7c00;
    whole(file, "state/half", GS_H5_F16, ROWS, WIDTH, values);
}
static void state_nan_brain(struct gs_h5 *file) {
    uint16_t values[ROWS * WIDTH] = {0};
    good(file);
    values[2 * WIDTH + 1] = 0x7fc1;
    whole(file, "state/brain", GS_H5_U16, ROWS, WIDTH, values);
    gs_h5_set_text(file, "state/brain", "dtype", "bfloat16", NULL);
}
static void decay_above_zero(struct gs_h5 *file) {
    good(file);
    floats(file, "memory/m/log_decay", ROWS, HEADS, 5 * HEADS + 1, 1e-6f);
}
static void decay_infinite(struct gs_h5 *file) {
    good(file);
    floats(file, "memory/m/log_decay", ROWS, HEADS, 5 * HEADS + 1, -INFINITY);
}
static void strength_above_one(struct gs_h5 *file) {
    good(file);
    floats(file, "memory/m/write_strength", ROWS, HEADS, 3 * HEADS, 1.5f);
}
static void strength_negative(struct gs_h5 *file) {
    good(file);
    floats(file, "memory/m/write_strength", ROWS, HEADS, 3 * HEADS, -0.25f);
}
static void norm_nan(struct gs_h5 *file) {
    good(file);
    floats(file, "memory/m/norm", ROWS, HEADS, 0, NAN);
}
static void share_infinite(struct gs_h5 *file) {
    good(file);
    floats(file, "read/m/share", ROWS, 1, 9, INFINITY);
}
static void nll_nan(struct gs_h5 *file) {
    good(file);
    floats(file, "nll", ROWS, 0, 6, NAN);
    gs_h5_set_integer(file, "nll", "first", 2, NULL); /* rows 0, 1, 4, 5 are free */
}
static void nll_infinite(struct gs_h5 *file) {
    good(file);
    floats(file, "nll", ROWS, 0, 0, INFINITY);
}
static void token_above_vocab(struct gs_h5 *file) {
    uint32_t values[ROWS] = {0};
    good(file);
    values[8] = 50;
    whole(file, "token", GS_H5_U32, ROWS, 0, values);
    gs_h5_set_text(file, "/", "config", "{\"model\": {\"vocab_size\": 50}}", NULL);
}
static void token_negative(struct gs_h5 *file) {
    int64_t values[ROWS] = {0};
    good(file);
    values[8] = -2;
    whole(file, "token", GS_H5_I64, ROWS, 0, values);
}
static void name_no_utf8(struct gs_h5 *file) {
    const char *names[2] = {"good", "bad \xff"};
    good(file);
    gs_h5_write_texts(file, "sequence/name", names, 2, false, NULL);
}

static const struct fault {
    const char *name;
    void (*make)(struct gs_h5 *file);
    enum gs_status status;
    const char *words[3];
} at_open[] =
    {
        {"no_format", no_format, GS_FORMAT, {"not a trace", "gpn-trace"}},
        {"other_format", other_format, GS_FORMAT, {"not a trace", "keras"}},
        {"format_of_wrong_type", format_of_wrong_type, GS_FORMAT, {"format"}},
        {"no_version", no_version, GS_FORMAT, {"without a version"}},
        {"newer_version", newer_version, GS_UNSUPPORTED, {"unknown version", "found 2"}},
        {"config_no_json", config_no_json, GS_FORMAT, {"attribute config"}},
        {"config_bad_vocab", config_bad_vocab, GS_CONFIG, {"attribute config", "vocab_size"}},
        {"no_start", no_start, GS_MISSING, {"sequence/start"}},
        {"start_too_short", start_too_short, GS_SHAPE, {"sequence/start", "at least 2"}},
        {"start_two_axes", start_two_axes, GS_SHAPE, {"sequence/start", "2 × 2"}},
        {"start_not_zero", start_not_zero, GS_FORMAT, {"sequence/start, row 0", "found 1"}},
        {"start_falls", start_falls, GS_FORMAT, {"sequence/start, row 2", "found 4", "at least 8"}},
        {"start_negative", start_negative, GS_RANGE, {"sequence/start, row 1", "-4"}},
        {"start_floats", start_floats, GS_FORMAT, {"sequence/start", "float32"}},
        {"start_beyond_rows", start_beyond_rows, GS_SHAPE, {"state/predicted", "12 × 5"}},
        {"rows_beyond_start",
         rows_beyond_start,
         GS_SHAPE,
         {"state/predicted", "12 rows", "13 × 5"}},
        {"too_many_written", too_many_written, GS_FORMAT, {"rows_written, row 1", "found 9"}},
        {"written_of_wrong_length", written_of_wrong_length, GS_SHAPE, {"sequence/rows_written"}},
        {"complete_but_short", complete_but_short, GS_FORMAT, {"rows_written, row 1", "missing"}},
        {"complete_no_number", complete_no_number, GS_FORMAT, {"complete", "whole number"}},
        {"no_stream", no_stream, GS_MISSING, {"state"}},
        {"empty_state_group", empty_state_group, GS_MISSING, {"state", "at least one"}},
        {"state_is_a_dataset", state_is_a_dataset, GS_FORMAT, {"state", "a group"}},
        {"stream_is_a_group", stream_is_a_group, GS_FORMAT, {"state/more", "not a dataset"}},
        {"stream_of_one_axis", stream_of_one_axis, GS_SHAPE, {"state/flat", "found 12"}},
        {"stream_of_integers", stream_of_integers, GS_FORMAT, {"state/whole", "uint32"}},
        {"stream_of_nameless_bits", stream_of_nameless_bits, GS_FORMAT, {"state/bits", "dtype"}},
        {"stream_of_wrong_bits", stream_of_wrong_bits, GS_FORMAT, {"state/bits", "uint16"}},
        {"token_too_few", token_too_few, GS_SHAPE, {"token", "12 rows", "found 11"}},
        {"token_floats", token_floats, GS_FORMAT, {"token", "float32"}},
        {"nll_integers", nll_integers, GS_FORMAT, {"nll", "uint32"}},
        {"nll_first_negative", nll_first_negative, GS_FORMAT, {"nll", "first = -1"}},
        {"names_numbers", names_numbers, GS_FORMAT, {"sequence/name", "text"}},
        {"names_too_many", names_too_many, GS_SHAPE, {"sequence/name", "found 3"}},
        {"memory_no_group", memory_no_group, GS_FORMAT, {"memory/layer00", "a group"}},
        {"memory_uneven", memory_uneven, GS_SHAPE, {"memory/layer00/norm", "heads"}},
        {"memory_short", memory_short, GS_SHAPE, {"memory/layer00/log_decay", "11 × 2"}},
        {"read_without_share", read_without_share, GS_MISSING, {"read/layer00/share"}},
},
  in_values[] = {
      {"state_nan", state_nan, GS_RANGE, {"state/predicted, row 7, column 3", "nan"}},
      {"state_infinite", state_infinite, GS_RANGE, {"state/second, row 11, column 0", "-inf"}},
      {"state_infinite_half",
       state_infinite_half,
       GS_RANGE,
       {"state/half, row 2, column 1", "inf"}},
      {"state_nan_brain", state_nan_brain, GS_RANGE, {"state/brain, row 2, column 1", "nan"}},
      {"decay_above_zero", decay_above_zero, GS_RANGE, {"m/log_decay, row 5, column 1", "1e-06"}},
      {"decay_infinite", decay_infinite, GS_RANGE, {"m/log_decay, row 5, column 1", "-inf"}},
      {"strength_above_one", strength_above_one, GS_RANGE, {"write_strength, row 3", "1.5"}},
      {"strength_negative", strength_negative, GS_RANGE, {"write_strength, row 3", "-0.25"}},
      {"norm_nan", norm_nan, GS_RANGE, {"m/norm, row 0", "nan"}},
      {"share_infinite", share_infinite, GS_RANGE, {"read/m/share, row 9", "inf"}},
      {"nll_nan", nll_nan, GS_RANGE, {"nll, row 6", "nan"}},
      {"nll_infinite", nll_infinite, GS_RANGE, {"nll, row 0", "inf"}},
      {"token_above_vocab", token_above_vocab, GS_RANGE, {"token, row 8", "50", "vocab_size"}},
      {"token_negative", token_negative, GS_RANGE, {"token", "row 8", "-2"}},
      {"name_no_utf8", name_no_utf8, GS_FORMAT, {"sequence/name, row 1", "UTF-8"}},
};

static const char *make(const char *name, void (*maker)(struct gs_h5 *file)) {
    struct gs_h5 *file;
    const char *path = gs_scratch_path("%s.h5", name);
    gs_assert_ok(gs_h5_create(path, &file, &error), &error);
    maker(file);
    gs_assert_ok(gs_h5_close(file, &error), &error);
    return path;
}

static const char *word(const struct fault *fault, int index, const char *path) {
    return fault->words[index] ? fault->words[index] : path;
}

static void faults_at_open(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof at_open / sizeof *at_open; i++) {
        struct gs_trace *trace;
        const char *path = make(at_open[i].name, at_open[i].make);
        enum gs_status status = gs_trace_open(path, &trace, &error);
        if (status != at_open[i].status) print_error("%s:\n", at_open[i].name);
        gs_assert_error(status, at_open[i].status, &error, path, word(&at_open[i], 0, path),
                        word(&at_open[i], 1, path), word(&at_open[i], 2, path));
        assert_null(trace);
        unlink(path);
    }
}

static void faults_in_values(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof in_values / sizeof *in_values; i++) {
        struct gs_trace *trace;
        const char *path = make(in_values[i].name, in_values[i].make);
        gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
        enum gs_status status = gs_trace_check(trace, NULL, &error);
        if (status != in_values[i].status) print_error("%s:\n", in_values[i].name);
        gs_assert_error(status, in_values[i].status, &error, path, word(&in_values[i], 0, path),
                        word(&in_values[i], 1, path), word(&in_values[i], 2, path));
        gs_trace_close(trace);
        unlink(path);
    }
}

/* The good file is good: what the faults show is theirs. */
static void the_least_is_enough(void **state) {
    (void)state;
    struct gs_trace *trace;
    gs_assert_ok(gs_trace_open(make("good", good), &trace, &error), &error);
    const struct gs_trace_info *info = gs_trace_info(trace);
    assert_true(info->complete);
    assert_int_equal(info->sequences, 2);
    assert_int_equal(info->rows, ROWS);
    assert_int_equal(info->rows_written[1], ROWS - 4);
    assert_false(info->has_token || info->has_nll || info->has_names);
    gs_assert_ok(gs_trace_check(trace, NULL, &error), &error);
    size_t index;
    float room[ROWS];
    gs_assert_error(gs_trace_read_nll(trace, 0, 1, room, &error), GS_MISSING, &error, "nll");
    gs_assert_error(gs_trace_find_memory(trace, NULL, &index, &error), GS_MISSING, &error,
                    "memory");
    gs_assert_error(gs_trace_find_stream(trace, "grounded", &index, &error), GS_MISSING, &error,
                    "grounded", "predicted");
    gs_assert_ok(gs_trace_find_stream(trace, NULL, &index, &error), &error);
    char *name;
    gs_assert_ok(gs_trace_sequence_name(trace, 0, &name, &error), &error);
    assert_null(name);
    gs_trace_close(trace);
}

/* Cut anywhere: an error that names the file, never a crash. */
static void truncated_traces(void **state) {
    (void)state;
    const char *path = make("truncated", nll_nan);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    for (off_t length = info.st_size - 1; length >= 0; length -= 1 + length / 13) {
        struct gs_trace *trace;
        assert_int_equal(truncate(path, length), 0);
        enum gs_status status = gs_trace_open(path, &trace, &error);
        if (status == GS_OK) {
            status = gs_trace_check(trace, NULL, &error);
            gs_trace_close(trace);
        }
        gs_assert_error(status, GS_FORMAT, &error, path);
    }
}

/* Where the collection of texts begins in the file. */
static size_t find_heap(const char *bytes, size_t size) {
    for (size_t at = 0; at + 4 <= size; at++)
        if (memcmp(bytes + at, "GCOL", 4) == 0) return at;
    fail_msg("the file has no heap of texts");
    return 0;
}

/* HDF5 believes the sizes in its heap of texts: these files made it read past its buffers, or copy
 * past the end of ours. */
static void damaged_texts(void **state) {
    (void)state;
    static const struct {
        size_t offset; /* in the heap: head 16 bytes, "gpn-trace" with its head 32, free space */
        uint64_t number;
        size_t bytes;
    } damages[] = {
        {8, UINT64_C(1) << 40, 8},  /* the heap reaches beyond the file */
        {8, 8, 8},                  /* it is smaller than its head */
        {24, 5000, 8},              /* the text reaches beyond the heap */
        {24, UINT64_MAX - 4, 8},    /* so that sums wrap */
        {24, 3, 8},                 /* another length than the attribute says */
        {24, 16, 8},                /* a longer one, which stays in the heap */
        {16, 7, 2},                 /* the text is gone */
        {48, 1, 2},                 /* it is there twice */
        {56, 0, 8},                 /* free space that never ends */
        {56, UINT64_C(1) << 40, 8}, /* and that reaches beyond the heap */
        {4, 9, 1},                  /* an unknown version */
        {0, 0, 1},                  /* no heap at all */
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        const char *path = make("heap", good);
        char bytes[1 << 15];
        FILE *stream = fopen(path, "r+b");
        assert_non_null(stream);
        size_t size = fread(bytes, 1, sizeof bytes, stream), at = find_heap(bytes, size);
        assert_int_equal(fseek(stream, (long)(at + damages[i].offset), SEEK_SET), 0);
        for (size_t b = 0; b < damages[i].bytes; b++)
            fputc((int)(damages[i].number >> 8 * b & 0xff), stream);
        assert_int_equal(fclose(stream), 0);
        struct gs_trace *trace;
        gs_assert_error(gs_trace_open(path, &trace, &error), GS_FORMAT, &error, path, "format");
        unlink(path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_is_enough), cmocka_unit_test(faults_at_open),
        cmocka_unit_test(faults_in_values),    cmocka_unit_test(truncated_traces),
        cmocka_unit_test(damaged_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
