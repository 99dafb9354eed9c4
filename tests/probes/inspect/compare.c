/* Two files of a kind, number by number: what is the same, close, beyond; where; and what is
 * missing. */
#include "probes/inspect/compare.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/checkpoint/checkpoint.h"
#include "tests/probes/trace/trace_support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct gs_error error;
static struct gs_results *results;

static bool compare(const char *first, const char *second, double relative, double absolute) {
    struct gs_tolerances tolerances = {relative, absolute};
    bool close;
    gs_results_destroy(results);
    gs_assert_ok(gs_compare_files(first, second, &tolerances, &results, &close, NULL, &error),
                 &error);
    return close;
}

static int forget(void **state) {
    (void)state;
    gs_results_destroy(results);
    results = NULL;
    return 0;
}

static double value(const char *name) {
    struct gs_value found;
    assert_true(gs_results_find(results, name, &found));
    return found.value;
}

/* A cell of the part of that name. */
static struct gs_cell cell(const char *part, const char *column) {
    const struct gs_table *table = gs_results_find_table(results, "parts");
    for (size_t row = 0; row < gs_table_rows(table); row++)
        if (strcmp(gs_table_cell(table, row, 0).text, part) == 0)
            return gs_table_cell(table, row, gs_table_find_column(table, column));
    print_error("no part %s\n", part);
    fail();
    return gs_cell_text(NULL);
}

static void expect_text(const char *part, const char *column, const char *text) {
    assert_string_equal(cell(part, column).text, text);
}

/* ---- arrays: the rule itself ---- */

static const char *save(const char *name, const char *descr, const char *shape, const void *data,
                        size_t bytes) {
    unsigned char file[4096] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    int length = snprintf((char *)file + 10, 1000,
                          "{'descr': '%s', 'fortran_order': False, 'shape': %s}", descr, shape);
    file[8] = (unsigned char)length;
    memcpy(file + 10 + length, data, bytes);
    return gs_scratch_file(name, file, 10 + (size_t)length + bytes);
}

static bool close_numbers(double a, double b, double relative, double absolute) {
    return compare(save("a.npy", "<f8", "(1,)", &a, 8), save("b.npy", "<f8", "(1,)", &b, 8),
                   relative, absolute);
}

static void the_rule(void **state) {
    (void)state;
    const struct {
        double a, b, relative, absolute;
        bool close;
    } cases[] = {
        {1, 1, 0, 0, true},
        {0.0, -0.0, 0, 0, true},
        {1, 1.0000000001, 0, 0, false},
        {1, 1.5, 0, 0.5, true}, /* the bound belongs to it */
        {1, 1.5, 0, 0.49, false},
        {1, 2, 0.5, 0, true}, /* of the larger of the two, in either order */
        {2, 1, 0.5, 0, true},
        {1, 2, 0.49, 0, false},
        {-8, 8, 1, 0, false},
        {-8, 8, 1, 8, true},
        {0, 1e-300, 0.5, 0, false},
        {NAN, NAN, 1e300, 1e300, false},
        {NAN, 1, 1e300, 1e300, false},
        {1, NAN, 1e300, 1e300, false},
        {INFINITY, INFINITY, 0, 0, true},
        {INFINITY, -INFINITY, 1, 1, false},
        {INFINITY, 1e300, 1, 1, false},
        {1, -INFINITY, 1e300, 1e300, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool close = close_numbers(cases[i].a, cases[i].b, cases[i].relative, cases[i].absolute);
        if (close != cases[i].close) print_error("case %zu\n", i);
        assert_true(close == cases[i].close);
    }
}

static void where_and_how_much(void **state) {
    (void)state;
    float a[12], b[12];
    for (size_t i = 0; i < 12; i++) a[i] = b[i] = (float)i;
    b[7] = 7.5f;
    b[10] = 9; /* (2, 2) of (3, 4), the largest */
    const char *first = save("a.npy", "<f4", "(3, 4)", a, 48);
    assert_false(compare(first, save("b.npy", "<f4", "(3, 4)", b, 48), 0, 0.5));
    assert_true(value("diff.parts") == 1 && value("diff.beyond") == 1);
    assert_true(value("diff.max_absolute") == 1);
    gs_assert_near("relative", value("diff.max_relative"), 0.1, 0, 1e-15);
    expect_text("", "verdict", "beyond");
    expect_text("", "place", "2, 2");
    assert_int_equal(cell("", "beyond").integer, 1);
    assert_int_equal(cell("", "elements").integer, 12);
    assert_true(cell("", "first").number == 10 && cell("", "second").number == 9);
    assert_true(compare(first, save("b.npy", "<f4", "(3, 4)", b, 48), 0, 1));
    expect_text("", "verdict", "close");
    a[0] = NAN; /* worse than any number */
    assert_false(compare(save("a.npy", "<f4", "(3, 4)", a, 48), first, 0, 1e30));
    b[3] = NAN;
    assert_false(compare(save("a.npy", "<f4", "(3, 4)", b, 48),
                         save("b.npy", "<f4", "(3, 4)", b, 48), 0, 1e30));
    expect_text("", "place", "0, 3");
    assert_true(isnan(value("diff.max_absolute")));
    assert_false(compare(first, save("b.npy", "<f4", "(4, 3)", b, 48), 0, 1e30));
    expect_text("", "verdict", "shape");
    expect_text("", "place", "(3, 4) and (4, 3)");
}

static void archives(void **state) {
    (void)state;
    const char *rows = gs_source_path("fixtures/arrays/rows.npz");
    assert_true(compare(rows, rows, 0, 0));
    assert_true(value("diff.parts") == 6);
    assert_false(compare(rows, gs_source_path("fixtures/arrays/sequences.npz"), 1, 1));
    assert_true(value("diff.parts") == 13);
    expect_text("token", "verdict", "only in the first");
    expect_text("layer00", "verdict", "only in the second");
    /* of other types and orders, the same numbers */
    assert_true(compare(gs_source_path("fixtures/arrays/f8_fortran.npy"),
                        gs_source_path("fixtures/arrays/f2_big_endian.npy"), 0, 0));
    assert_false(compare(save("a.npy", "|S2", "(2,)", "abcd", 4),
                         save("b.npy", "<U2", "(2,)", "a\0\0\0b\0\0\0c\0\0\0e\0\0\0", 16), 9, 9));
    expect_text("", "place", "1");
    assert_int_equal(cell("", "beyond").integer, 1);
}

/* ---- traces ---- */

static const char *write_trace(const char *name, struct made *made) {
    const char *path = gs_scratch_path("%s", name);
    struct gs_trace_writer *writer;
    gs_assert_ok(gs_trace_writer_create(path, true, &made->plan, &writer, &error), &error);
    gs_assert_ok(made_append(made, writer, 0, 0, 6, &error), &error);
    gs_assert_ok(made_append(made, writer, 1, 0, 9, &error), &error);
    gs_assert_ok(gs_trace_writer_close(writer, &error), &error);
    return path;
}

static void traces(void **state) {
    (void)state;
    struct gs_random random;
    gs_random_seed(&random, 3, "test/compare");
    struct made *made = made_create((size_t[]){6, 9}, 2, 5, 2, &random);
    const char *first = write_trace("first.h5", made);
    assert_true(compare(first, write_trace("second.h5", made), 0, 0));
    /* heads of nll are NaN in both, and no fault */
    expect_text("nll", "verdict", "same");
    made->states[0][8 * 5 + 3] += 2; /* row 8: sequence 1, step 2 */
    made->token[1] ^= 1;
    assert_false(compare(first, write_trace("second.h5", made), 0, 1.5));
    assert_true(value("diff.beyond") == 1);
    expect_text("state/predicted", "place", "row 8 (sequence 1, step 2), column 3");
    expect_text("token", "verdict", "close");
    expect_text("token", "place", "row 1 (sequence 0, step 1)");
    assert_false(compare(first, gs_source_path("fixtures/traces/strangers.h5"), 0, 1e9));
    expect_text("memory/layer01/log_decay", "verdict", "only in the first");
    expect_text("memory/m/log_decay", "verdict", "only in the second");
    expect_text("state/predicted", "verdict", "shape");
    expect_text("state/predicted", "place", "(15, 5) and (12, 5)");
    made_destroy(made);
}

/* ---- checkpoints ---- */

static const char *write_model(const char *name, const char *sizes, float change) {
    const char *path = gs_scratch_path("%s", name);
    struct gs_json *json;
    struct gs_model *model;
    gs_assert_ok(gs_json_parse(sizes, strlen(sizes), "test", &json, &error), &error);
    gs_assert_ok(gs_model_create("gpn", json, &model, &error), &error);
    gs_json_destroy(json);
    gs_parameters_initialise(gs_model_parameters(model), 1);
    gs_model_parameters(model)->tensors[1].values[2] += change;
    gs_assert_ok(gs_checkpoint_save(path, true, model, 7, 1, &error), &error);
    gs_model_destroy(model);
    return path;
}

static void checkpoints(void **state) {
    (void)state;
    static const char sizes[] = "{\"vocab_size\": 20, \"d_state\": 8, \"d_emb\": 4, \"d_ffn\": 12}";
    static const char wider[] = "{\"vocab_size\": 20, \"d_state\": 8, \"d_emb\": 4, \"d_ffn\": 16}";
    const char *first = write_model("first", sizes, 0);
    assert_true(compare(first, write_model("second", sizes, 0), 0, 0));
    assert_false(compare(first, write_model("second", sizes, 0.5f), 0, 0.4));
    assert_true(value("diff.beyond") == 1);
    assert_true(value("diff.max_absolute") == 0.5);
    assert_true(compare(first, write_model("second", sizes, 0.5f), 0, 0.5));
    assert_int_equal(gs_results_note_count(results), 0);
    assert_false(compare(first, write_model("second", wider, 0), 0, 1e9));
    assert_string_equal(gs_results_note_at(results, 0), "the configs differ");
    assert_non_null(
        strstr(gs_table_cell(gs_results_find_table(results, "parts"), 0, 1).text, "shape"));
}

/* Tensors of nobody we know are compared by their names. */
static void foreign_tensors(void **state) {
    (void)state;
    unsigned char bytes[256] = {0};
    static const char header[] =
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}       ";
    float data[2] = {1, 2};
    bytes[0] = (unsigned char)strlen(header);
    memcpy(bytes + 8, header, strlen(header));
    memcpy(bytes + 8 + strlen(header), data, 8);
    const char *first = gs_scratch_file("x", bytes, 16 + strlen(header));
    data[1] = 4;
    memcpy(bytes + 8 + strlen(header), data, 8);
    const char *second = gs_scratch_file("y", bytes, 16 + strlen(header));
    assert_true(compare(first, first, 0, 0));
    assert_false(compare(first, second, 0, 0));
    expect_text("w", "place", "1");
    assert_true(value("diff.max_absolute") == 2 && value("diff.max_relative") == 0.5);
}

/* ---- results ---- */

static const char *write_results(const char *name, double number, const char *status,
                                 const char *text) {
    static const char *const columns[] = {"head", "efold", "word"};
    const char *path = gs_scratch_path("%s", name);
    struct gs_results *made = gs_results_create("retention");
    struct gs_table *table;
    gs_assert_ok(gs_results_number(made, "rows", 5, "1", 5, &error), &error);
    struct gs_value value_of = {.value = number,
                                .unit = "token",
                                .n = 3,
                                .status = status,
                                .has_bound = true,
                                .bound = 1500};
    gs_assert_ok(gs_results_add(made, "efold", &value_of, &error), &error);
    gs_assert_ok(gs_results_table(made, "heads", columns, 3, &table, &error), &error);
    for (int row = 0; row < 3; row++) {
        struct gs_cell cells[3] = {gs_cell_integer(row), gs_cell_number(row == 1 ? NAN : 2.5),
                                   gs_cell_text(row == 2 ? text : "same")};
        gs_assert_ok(gs_table_row(table, cells, &error), &error);
    }
    gs_assert_ok(gs_results_write(made, path, true, &error), &error);
    gs_results_destroy(made);
    return path;
}

static void files_of_results(void **state) {
    (void)state;
    const char *first = write_results("first", NAN, "censored", "x");
    assert_true(compare(first, write_results("second", NAN, "censored", "x"), 0, 0));
    assert_false(compare(first, write_results("second", 12, "ok", "x"), 9, 1e9));
    expect_text("efold", "place", "value");
    expect_text("efold.status", "place", "status");
    assert_false(compare(first, write_results("second", NAN, "censored", "y"), 9, 1e9));
    expect_text("table heads.word", "place", "row 2");
    expect_text("table heads.efold", "verdict", "same");
    assert_true(value("diff.beyond") == 1);
}

static void of_two_kinds(void **state) {
    (void)state;
    struct gs_tolerances tolerances = {0, 0};
    bool close;
    const char *array = gs_source_path("fixtures/arrays/f4.npy");
    const char *trace = gs_source_path("fixtures/traces/least_f32.h5");
    const char *known = gs_source_path("fixtures/known/gpn.json");
    gs_assert_error(gs_compare_files(array, trace, &tolerances, &results, &close, NULL, &error),
                    GS_UNSUPPORTED, &error, "f4.npy and", "least_f32.h5",
                    "arrays of numpy's and a trace");
    gs_assert_error(gs_compare_files(known, known, &tolerances, &results, &close, NULL, &error),
                    GS_UNSUPPORTED, &error, "JSON");
    gs_assert_error(gs_compare_files(array, gs_scratch_path("absent"), &tolerances, &results,
                                     &close, NULL, &error),
                    GS_MISSING, &error, "absent");
    assert_null(results);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_rule, forget),
        cmocka_unit_test_teardown(where_and_how_much, forget),
        cmocka_unit_test_teardown(archives, forget),
        cmocka_unit_test_teardown(traces, forget),
        cmocka_unit_test_teardown(checkpoints, forget),
        cmocka_unit_test_teardown(foreign_tensors, forget),
        cmocka_unit_test_teardown(files_of_results, forget),
        cmocka_unit_test_teardown(of_two_kinds, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
