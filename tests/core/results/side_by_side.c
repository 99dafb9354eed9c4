/* Results of several parts as one: names, what is shared, and what people are shown. */
#include "core/results/side_by_side.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct gs_error error;

static struct gs_results *make_part(const char *own, double rank, bool interval) {
    static const char *const columns[] = {"index", "piece"};
    struct gs_results *part = gs_results_create("stream");
    struct gs_value value = {.value = rank, .unit = "1", .n = 7, .has_interval = interval};
    struct gs_table *table;
    char text[64];
    value.low = rank - 1;
    value.high = rank + 1;
    gs_assert_ok(gs_results_add(part, "rank", &value, &error), &error);
    value = (struct gs_value){.value = (double)NAN, .unit = "token", .status = "censored"};
    value.has_bound = true;
    value.bound = 63;
    gs_assert_ok(gs_results_add(part, "null.efold", &value, &error), &error);
    gs_assert_ok(gs_results_table(part, "spectrum", columns, 2, &table, &error), &error);
    struct gs_cell row[] = {gs_cell_integer(1), gs_cell_text(own)};
    gs_assert_ok(gs_table_row(table, row, &error), &error);
    gs_assert_ok(gs_results_note(part, "said by all", &error), &error);
    snprintf(text, sizeof text, "rank %g", rank);
    gs_assert_ok(gs_results_note(part, text, &error), &error);
    if (rank > 3) gs_assert_ok(gs_results_note(part, "said by some", &error), &error);
    gs_assert_ok(gs_results_setting(part, "policy", "one", &error), &error);
    gs_assert_ok(gs_results_setting(part, "stream", own, &error), &error);
    gs_assert_ok(gs_results_setting_integer(part, "blocks", (int64_t)rank, &error), &error);
    return part;
}

static char *printed(const struct gs_results *results) {
    FILE *stream = tmpfile();
    assert_non_null(stream);
    gs_assert_ok(gs_results_print(results, stream, 20, &error), &error);
    size_t size = (size_t)ftell(stream);
    char *text = gs_calloc(size + 1, 1);
    assert_non_null(text);
    rewind(stream);
    assert_int_equal(fread(text, 1, size, stream), size);
    fclose(stream);
    return text;
}

static bool noted(const struct gs_results *results, const char *note) {
    size_t times = 0;
    for (size_t i = 0; i < gs_results_note_count(results); i++)
        times += strcmp(gs_results_note_at(results, i), note) == 0;
    assert_true(times < 2);
    return times == 1;
}

static const char *setting(const struct gs_json *json, const char *key) {
    return gs_json_string(gs_json_get(gs_json_get(json, "environment"), key));
}

static void parts_stand_behind_their_names(void **state) {
    (void)state;
    struct gs_results *a = make_part("layer00", 3, true), *b = make_part("final", 5, true),
                      *c = make_part("last", 7, true);
    const struct gs_results_part parts[] = {{"layer00", a}, {"final", b}, {"last", c}};
    struct gs_results *whole = gs_results_create("geometry");
    gs_assert_ok(gs_results_take_parts(whole, "stream", parts, 3, &error), &error);
    struct gs_value value;
    assert_true(gs_results_find(whole, "stream.layer00.rank", &value));
    assert_true(value.value == 3 && value.has_interval && value.low == 2 && value.n == 7);
    assert_true(gs_results_find(whole, "stream.final.rank", &value));
    assert_true(gs_results_find(whole, "null.stream.final.efold", &value));
    assert_string_equal(value.status, "censored");
    assert_true(value.has_bound && value.bound == 63);
    const struct gs_table *table = gs_results_find_table(whole, "stream.final.spectrum");
    assert_non_null(table);
    assert_string_equal(gs_table_cell(table, 0, 1).text, "final");
    assert_true(noted(whole, "said by all"));
    assert_true(noted(whole, "layer00: rank 3"));
    assert_true(noted(whole, "final: rank 5"));
    assert_true(noted(whole, "final, last: said by some"));
    assert_int_equal(gs_results_note_count(whole), 5);
    struct gs_json *json = gs_results_json(whole);
    assert_string_equal(setting(json, "policy"), "one");
    assert_null(setting(json, "stream"));
    assert_null(setting(json, "stream.final.stream"));
    int64_t blocks;
    assert_true(gs_json_integer(
        gs_json_get(gs_json_get(json, "environment"), "stream.final.blocks"), &blocks));
    assert_int_equal(blocks, 5);
    gs_json_destroy(json);
    gs_assert_error(gs_results_take_parts(whole, "stream", parts, 1, &error), GS_EXISTS, &error,
                    "stream.layer00.rank");
    gs_results_destroy(whole);
    gs_results_destroy(a);
    gs_results_destroy(b);
    gs_results_destroy(c);
}

static void people_see_the_comparison_and_files_hold_all(void **state) {
    (void)state;
    static const char *const values[] = {"rank", "absent"};
    struct gs_results *a = make_part("layer00", 3, true), *b = make_part("final", 5, false);
    const struct gs_results_part parts[] = {{"layer00", a}, {"final", b}};
    struct gs_results *whole = gs_results_create("geometry");
    gs_assert_ok(
        gs_results_table_of_parts(whole, "by_stream", "stream", parts, 2, values, 2, &error),
        &error);
    gs_assert_ok(gs_results_take_parts(whole, "stream", parts, 2, &error), &error);
    const struct gs_table *table = gs_results_find_table(whole, "by_stream");
    assert_int_equal(gs_table_columns(table), 3);
    assert_string_equal(gs_table_column(table, 0), "stream");
    assert_string_equal(gs_table_column(table, 1), "rank");
    assert_true(gs_table_cell(table, 1, 1).number == 5);
    assert_int_equal(gs_table_cell(table, 1, 2).type, GS_CELL_NULL);
    table = gs_results_find_table(whole, "by_stream_interval");
    assert_int_equal(gs_table_columns(table), 7);
    assert_true(gs_table_cell(table, 0, gs_table_find_column(table, "rank_high")).number == 4);
    assert_int_equal(gs_table_cell(table, 1, gs_table_find_column(table, "rank_high")).type,
                     GS_CELL_NULL);
    char *text = printed(whole);
    assert_non_null(strstr(text, "\nby_stream (2 rows)"));
    assert_null(strstr(text, "stream.layer00.rank"));
    assert_null(strstr(text, "spectrum"));
    assert_null(strstr(text, "by_stream_interval"));
    assert_non_null(strstr(text, "4 values and 3 tables more"));
    gs_free(text);
    const char *folder = gs_scratch_path("csv");
    gs_assert_ok(gs_results_write_csv(whole, folder, "", false, &error), &error);
    assert_true(gs_path_exists(gs_scratch_path("csv/stream.final.spectrum.csv")));
    assert_true(gs_path_exists(gs_scratch_path("csv/by_stream_interval.csv")));
    gs_results_destroy(whole);
    gs_results_destroy(a);
    gs_results_destroy(b);
}

/* Nothing has an interval: no table of them. */
static void without_intervals_there_is_one_table(void **state) {
    (void)state;
    static const char *const values[] = {"rank"};
    struct gs_results *a = make_part("layer00", 3, false);
    const struct gs_results_part part = {"layer00", a};
    struct gs_results *whole = gs_results_create("geometry");
    gs_assert_ok(
        gs_results_table_of_parts(whole, "by_stream", "stream", &part, 1, values, 1, &error),
        &error);
    assert_int_equal(gs_results_table_count(whole), 1);
    gs_results_destroy(whole);
    gs_results_destroy(a);
}

static void one_part_may_stand_under_plain_names(void **state) {
    (void)state;
    struct gs_results *a = make_part("layer00", 3, true);
    struct gs_results *whole = gs_results_create("geometry");
    gs_assert_ok(gs_results_take(whole, a, &error), &error);
    struct gs_value value;
    assert_true(gs_results_find(whole, "rank", &value));
    assert_true(gs_results_find(whole, "null.efold", &value));
    assert_true(noted(whole, "rank 3"));
    char *text = printed(whole);
    assert_non_null(strstr(text, "  rank "));
    assert_null(strstr(text, "more, of each part"));
    gs_free(text);
    gs_results_destroy(whole);
    gs_results_destroy(a);
}

/* Traces of others name streams as they like. */
static void any_name_becomes_usable_and_stays_apart(void **state) {
    (void)state;
    static const char *const names[] = {"h/1", "h 1", "\xe2\x96\x81h", "",
                                        "a-very-long-name-of-a-stream-"
                                        "that-somebody-else-has-chosen-1"};
    static const char *const keys[] = {"stream.h_1.rank", "stream.h_1-2.rank", "stream.___h.rank",
                                       "stream..rank",
                                       "stream.a-very-long-name-of-a-stream-that-somebody-else-has-"
                                       "chosen-1.rank"};
    static const char *const values[] = {"rank"};
    struct gs_results *results[5], *whole = gs_results_create("geometry");
    struct gs_results_part parts[5];
    for (size_t i = 0; i < 5; i++) {
        results[i] = make_part(names[i], (double)i, true);
        parts[i] = (struct gs_results_part){names[i], results[i]};
    }
    gs_assert_ok(gs_results_take_parts(whole, "stream", parts, 5, &error), &error);
    gs_assert_ok(
        gs_results_table_of_parts(whole, "by_stream", "stream", parts, 5, values, 1, &error),
        &error);
    for (size_t i = 0; i < 5; i++) {
        struct gs_value value;
        if (!gs_results_find(whole, keys[i], &value)) fail_msg("%s is missing", keys[i]);
        assert_true(value.value == (double)i);
        assert_string_equal(gs_table_cell(gs_results_find_table(whole, "by_stream"), i, 0).text,
                            names[i]);
        gs_results_destroy(results[i]);
    }
    gs_results_destroy(whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_stand_behind_their_names),
        cmocka_unit_test(people_see_the_comparison_and_files_hold_all),
        cmocka_unit_test(without_intervals_there_is_one_table),
        cmocka_unit_test(one_part_may_stand_under_plain_names),
        cmocka_unit_test(any_name_becomes_usable_and_stays_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
