/* Results in memory and in files: what goes in comes out, bit for bit, whatever the texts are. */
#include "tests/support/support.h"

#include "core/base/environment.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/results/results.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

static const char *const awkward[] = {
    "plain",           "\"",     "a,b",      "two\nlines", "cr\r\nlf", "</script>",   " space",
    "\xe2\x96\x81the", "<0xF0>", "`rm -rf`", "\\",         "a_b^{c}",  "it's \"so\"", ""};
enum { AWKWARD = sizeof awkward / sizeof awkward[0] };

static struct gs_error error;

static struct gs_results *make_results(void) {
    struct gs_results *results = gs_results_create("geometry");
    assert_non_null(results);
    char sha[GS_SHA256_TEXT];
    memset(sha, 'a', 64);
    sha[64] = '\0';
    gs_assert_ok(gs_results_source(results, "a \"trace\".h5", sha, &error), &error);
    gs_assert_ok(gs_results_note(results, "rows are not independent", &error), &error);
    gs_assert_ok(gs_results_setting(results, "weights", "bf16", &error), &error);
    gs_assert_ok(gs_results_number(results, "dims", 64, "1", 1024, &error), &error);
    struct gs_value value = {
        .value = 40.1, .unit = "1", .n = 16384, .has_interval = true, .low = 38.9, .high = 1.0 / 3};
    gs_assert_ok(gs_results_add(results, "stable_rank.centered", &value, &error), &error);
    value = (struct gs_value){.value = NAN,
                              .unit = "token",
                              .n = 7,
                              .status = "censored",
                              .has_bound = true,
                              .bound = 1500,
                              .reason = "never fell below 1/e"};
    gs_assert_ok(gs_results_add(results, "retention.head.03.efold", &value, &error), &error);

    static const char *const columns[] = {"id", "piece", "share"};
    struct gs_table *table;
    gs_assert_ok(gs_results_table(results, "tokens", columns, 3, &table, &error), &error);
    for (int64_t i = 0; i < AWKWARD; i++) {
        struct gs_cell row[] = {gs_cell_integer(i - 3), gs_cell_text(awkward[i]),
                                gs_cell_number(i == 4 ? NAN : 1.0 / (double)(i + 3))};
        gs_assert_ok(gs_table_row(table, row, &error), &error);
    }
    static const char *const one[] = {"a,b"};
    gs_assert_ok(gs_results_table(results, "empty", one, 1, &table, &error), &error);
    return results;
}

static void expect_same(double a, double b) {
    if (isnan(a) && isnan(b)) return;
    assert_memory_equal(&a, &b, sizeof a);
}

static void expect_content(const struct gs_results *results) {
    assert_string_equal(gs_results_command(results), "geometry");
    assert_int_equal(gs_results_count(results), 3);
    assert_string_equal(gs_results_name_at(results, 1), "stable_rank.centered");
    assert_int_equal(gs_results_note_count(results), 1);
    assert_string_equal(gs_results_note_at(results, 0), "rows are not independent");
    struct gs_value value;
    assert_true(gs_results_find(results, "dims", &value));
    assert_string_equal(value.status, "ok");
    assert_false(value.has_interval || value.has_bound);
    assert_null(value.reason);
    assert_true(gs_results_find(results, "stable_rank.centered", &value));
    expect_same(value.value, 40.1);
    expect_same(value.low, 38.9);
    expect_same(value.high, 1.0 / 3);
    assert_true(value.has_interval && value.n == 16384);
    assert_true(gs_results_find(results, "retention.head.03.efold", &value));
    assert_true(isnan(value.value) && value.has_bound && value.bound == 1500);
    assert_string_equal(value.status, "censored");
    assert_string_equal(value.unit, "token");
    assert_string_equal(value.reason, "never fell below 1/e");
    assert_false(gs_results_find(results, "absent", &value));

    assert_int_equal(gs_results_table_count(results), 2);
    const struct gs_table *table = gs_results_find_table(results, "tokens");
    assert_non_null(table);
    assert_int_equal(gs_table_rows(table), AWKWARD);
    assert_int_equal(gs_table_find_column(table, "share"), 2);
    assert_true(gs_table_find_column(table, "absent") == SIZE_MAX);
    for (size_t i = 0; i < AWKWARD; i++) {
        struct gs_cell cell = gs_table_cell(table, i, 0);
        assert_int_equal(cell.type, GS_CELL_INTEGER);
        assert_int_equal(cell.integer, (int64_t)i - 3);
        cell = gs_table_cell(table, i, 1);
        assert_int_equal(cell.type, GS_CELL_TEXT);
        assert_string_equal(cell.text, awkward[i]);
        cell = gs_table_cell(table, i, 2);
        assert_int_equal(cell.type, i == 4 ? GS_CELL_NULL : GS_CELL_NUMBER);
        if (i != 4) expect_same(cell.number, 1.0 / (double)(i + 3));
    }
    table = gs_results_table_at(results, 1);
    assert_string_equal(gs_table_name(table), "empty");
    assert_string_equal(gs_table_column(table, 0), "a,b");
    assert_int_equal(gs_table_rows(table), 0);
}

static void test_round_trip(void **state) {
    (void)state;
    struct gs_results *results = make_results(), *back;
    expect_content(results);
    const char *path = gs_scratch_path("results.json");
    gs_assert_ok(gs_results_write(results, path, false, &error), &error);
    gs_assert_error(gs_results_write(results, path, false, &error), GS_EXISTS, &error, path);
    gs_assert_ok(gs_results_read(path, &back, &error), &error);
    expect_content(back);
    /* written again it is the same bytes: created and environment are kept, not made anew */
    const char *again = gs_scratch_path("again.json");
    gs_assert_ok(gs_results_write(back, again, false, &error), &error);
    char first[GS_SHA256_TEXT], second[GS_SHA256_TEXT];
    gs_assert_ok(gs_sha256_path(path, first, &error), &error);
    gs_assert_ok(gs_sha256_path(again, second, &error), &error);
    assert_string_equal(first, second);
    gs_results_destroy(results);
    gs_results_destroy(back);
    gs_results_destroy(NULL);
}

/* The layout of the command line's specification, member by member. */
static void test_json_layout(void **state) {
    (void)state;
    struct gs_results *results = make_results();
    struct gs_json *json = gs_results_json(results);
    static const char *const members[] = {"schema",      "version", "command", "created", "sources",
                                          "environment", "notes",   "values",  "tables"};
    assert_int_equal(gs_json_size(json), 9);
    for (size_t i = 0; i < 9; i++) assert_string_equal(gs_json_key_at(json, i), members[i]);
    assert_string_equal(gs_json_string(gs_json_get(json, "schema")), "gpnscope-results");
    int64_t version = 0;
    assert_true(gs_json_integer(gs_json_get(json, "version"), &version) && version == 1);
    const char *created = gs_json_string(gs_json_get(json, "created"));
    int year, month, day, hour, minute, second, end = 0;
    assert_int_equal(sscanf(created, "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &year, &month, &day, &hour,
                            &minute, &second, &end),
                     6);
    assert_int_equal(end, strlen(created));
    time_t now = time(NULL);
    assert_true(abs(year - 1900 - gmtime(&now)->tm_year) <= 1); /* it may be New Year's Eve */
    static const char *const environment[] = {"threads", "blas",     "blas_core", "blas_threading",
                                              "kernels", "compiler", "version",   "weights"};
    for (size_t i = 0; i < 8; i++)
        assert_non_null(gs_json_get(gs_json_get(json, "environment"), environment[i]));
    const struct gs_json *values = gs_json_get(json, "values");
    char *text = gs_json_text(gs_json_get(values, "retention.head.03.efold"), 0);
    assert_string_equal(text, "{\"value\": null, \"unit\": \"token\", \"n\": 7, \"status\": "
                              "\"censored\", \"bound\": 1500.0, \"reason\": \"never fell below "
                              "1/e\"}");
    gs_free(text);
    text = gs_json_text(gs_json_get(values, "stable_rank.centered"), 0);
    assert_string_equal(text, "{\"value\": 40.1, \"unit\": \"1\", \"n\": 16384, \"ci95\": [38.9, "
                              "0.3333333333333333], \"status\": \"ok\"}");
    gs_free(text);
    gs_json_destroy(json);
    gs_results_destroy(results);
}

static void test_refusals(void **state) {
    (void)state;
    struct gs_results *results = make_results();
    gs_assert_error(gs_results_number(results, "dims", 1, "1", 1, &error), GS_EXISTS, &error,
                    "dims");
    static const char *const columns[] = {"x"};
    struct gs_table *table;
    static const char *const names[] = {"", "../x", "a/b", ".hidden", "a b", "a\nb", "\xc3\xa9"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        gs_assert_error(gs_results_table(results, names[i], columns, 1, &table, &error), GS_FORMAT,
                        &error, "table's name");
    gs_assert_error(gs_results_table(results, "tokens", columns, 1, &table, &error), GS_EXISTS,
                    &error, "tokens");
    gs_assert_error(gs_results_source(results, "x", "abc", &error), GS_FORMAT, &error, "64 hex");
    gs_assert_error(gs_results_source(results, gs_scratch_path("absent"), NULL, &error), GS_MISSING,
                    &error, "absent");
    expect_content(results); /* nothing of it stayed */
    gs_results_destroy(results);
}

/* What is not finite never looks like a value. */
static void test_not_finite(void **state) {
    (void)state;
    struct gs_results *results = gs_results_create("x");
    struct gs_value value;
    gs_assert_ok(gs_results_number(results, "nan", NAN, "1", 0, &error), &error);
    gs_assert_ok(gs_results_number(results, "inf", INFINITY, "1", 0, &error), &error);
    value = (struct gs_value){.value = 1,
                              .unit = "1",
                              .has_interval = true,
                              .low = -INFINITY,
                              .high = 2,
                              .has_bound = true,
                              .bound = INFINITY};
    gs_assert_ok(gs_results_add(results, "half", &value, &error), &error);
    value = (struct gs_value){.value = INFINITY, .unit = "1", .status = "none"};
    gs_assert_ok(gs_results_add(results, "none", &value, &error), &error);
    const char *path = gs_scratch_path("not-finite.json");
    gs_assert_ok(gs_results_write(results, path, false, &error), &error);
    gs_results_destroy(results);
    gs_assert_ok(gs_results_read(path, &results, &error), &error);
    assert_true(gs_results_find(results, "nan", &value) && isnan(value.value));
    assert_string_equal(value.status, "undefined");
    assert_true(gs_results_find(results, "inf", &value) && isnan(value.value));
    assert_string_equal(value.status, "undefined");
    assert_true(gs_results_find(results, "half", &value) && value.value == 1);
    assert_true(value.has_interval && isnan(value.low) && value.high == 2 && !value.has_bound);
    assert_true(gs_results_find(results, "none", &value) && isnan(value.value));
    assert_string_equal(value.status, "none");
    gs_results_destroy(results);
}

static void test_source_hash(void **state) {
    (void)state;
    struct gs_results *results = gs_results_create("x");
    const char *path = gs_scratch_file("source", "abc", 3);
    gs_assert_ok(gs_results_source(results, path, NULL, &error), &error);
    struct gs_json *json = gs_results_json(results);
    const struct gs_json *source = gs_json_at(gs_json_get(json, "sources"), 0);
    assert_string_equal(gs_json_string(gs_json_get(source, "path")), path);
    assert_string_equal(gs_json_string(gs_json_get(source, "sha256")),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    gs_json_destroy(json);
    gs_results_destroy(results);
}

static void a_source_is_hashed_meanwhile(void **state) {
    (void)state;
    struct gs_results *results = gs_results_create("x");
    const char *path = gs_scratch_file("meanwhile", "abc", 3);
    gs_assert_ok(gs_results_source_meanwhile(results, path, true, &error), &error);
    gs_assert_ok(gs_results_source_meanwhile(results, path, false, &error), &error);
    gs_assert_ok(gs_results_source(results, path, NULL, &error), &error);
    gs_assert_ok(gs_results_settle(results, &error), &error);
    gs_assert_ok(gs_results_settle(results, &error), &error);
    struct gs_json *json = gs_results_json(results);
    for (size_t i = 0; i < 3; i++) {
        const struct gs_json *source = gs_json_at(gs_json_get(json, "sources"), i);
        assert_string_equal(gs_json_string(gs_json_get(source, "path")), path);
        assert_string_equal(gs_json_string(gs_json_get(source, "sha256")),
                            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
    gs_json_destroy(json);
    path = gs_scratch_path("absent");
    gs_assert_ok(gs_results_source_meanwhile(results, path, true, &error), &error);
    gs_assert_error(gs_results_settle(results, &error), GS_MISSING, &error, "absent");
    gs_assert_ok(gs_results_source_meanwhile(results, path, true, &error), &error);
    gs_results_destroy(results); /* nobody waited for it */
}

/* Files may grow to 8 KiB each here, and the second of three tables is larger: none may be left. */
static void a_table_that_does_not_fit_leaves_no_set(void **state) {
    (void)state;
    static const char *const columns[] = {"n"}, *const names[] = {"first", "large", "third"};
    struct gs_results *results = gs_results_create("x");
    for (size_t t = 0; t < 3; t++) {
        struct gs_table *table;
        gs_assert_ok(gs_results_table(results, names[t], columns, 1, &table, &error), &error);
        for (int64_t i = 0; i < (t == 1 ? 4000 : 10); i++) {
            struct gs_cell cell = gs_cell_integer(i);
            gs_assert_ok(gs_table_row(table, &cell, &error), &error);
        }
    }
    struct rlimit before, small;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 8192;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const char *folder = gs_scratch_path("tables"), *old = gs_scratch_path("old");
    enum gs_status status = gs_results_write_csv(results, folder, "", false, &error);
    struct gs_error second;
    assert_int_equal(mkdir(old, 0700), 0);
    gs_scratch_file("old/first.csv", "kept", 4);
    enum gs_status again = gs_results_write_csv(results, old, "", true, &second);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    gs_assert_error(status, GS_IO, &error, "large.csv", strerror(EFBIG));
    assert_false(gs_path_exists(folder));
    gs_assert_error(again, GS_IO, &second, "large.csv");
    char **left;
    size_t count;
    gs_assert_ok(gs_folder_list(old, &left, &count, &error), &error);
    assert_int_equal(count, 1);
    gs_free_names(left, count);
    struct stat info;
    assert_int_equal(stat(gs_scratch_path("old/first.csv"), &info), 0);
    assert_int_equal(info.st_size, 4);
    gs_results_destroy(results);
}

static void test_settings(void **state) {
    (void)state;
    struct gs_results *results = gs_results_create("x");
    assert_false(gs_results_has_setting(results, "seed"));
    gs_assert_ok(gs_results_setting_integer(results, "seed", 5, &error), &error);
    gs_assert_ok(gs_results_setting_integer(results, "seed", 6, &error), &error);
    assert_true(gs_results_has_setting(results, "seed"));
    struct gs_json *json = gs_results_json(results);
    int64_t seed = 0;
    assert_true(gs_json_integer(gs_json_get(gs_json_get(json, "environment"), "seed"), &seed));
    assert_int_equal(seed, 6);
    const char *version = gs_json_string(gs_json_get(gs_json_get(json, "environment"), "version"));
    assert_string_equal(version, GS_VERSION);
    gs_json_destroy(json);
    gs_results_destroy(results);
}

/* A good file with one thing wrong. */
struct hostile {
    const char *from, *to;
    const char *words[2];
};

static const char good[] =
    "{\"schema\": \"gpnscope-results\", \"version\": 1, \"command\": \"c\", \"created\": \"t\", "
    "\"sources\": [{\"path\": \"p\", \"sha256\": "
    "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"}], \"environment\": {}, "
    "\"notes\": [\"n\"], \"values\": {\"v\": {\"value\": 1, \"unit\": \"1\", \"n\": 2, \"ci95\": "
    "[0, 2], \"status\": \"ok\", \"bound\": 3}}, \"tables\": {\"t\": {\"columns\": [\"a\", "
    "\"b\"], \"rows\": [[1, null], [2.5, \"x\"]]}}}";

static const struct hostile hostile[] = {
    {"gpnscope-results", "else", {"not a file of results", "else"}},
    {"\"version\": 1", "\"version\": 2", {"version", "2"}},
    {"\"version\": 1", "\"version\": 1.0", {"version", "1.0"}},
    {"\"command\": \"c\"", "\"command\": 1", {"command", "a string"}},
    {"\"created\": \"t\", ", "", {"created", "nothing"}},
    {"\"environment\": {}", "\"environment\": []", {"environment", "an object"}},
    {"\"values\": {", "\"walues\": {", {"values", "an object"}},
    {"\"tables\": {", "\"fables\": {", {"tables", "an object"}},
    {"\"path\": \"p\", ", "", {"source", "path"}},
    {"ba78", "ba7", {"SHA-256", "p"}},
    {"[\"n\"]", "[1]", {"note", "a string"}},
    {"{\"value\": 1", "{\"value\": \"1\"", {"values, v", "a number or null"}},
    {"{\"value\": 1", "{\"value\": null", {"values, v", "\"ok\""}},
    {"\"value\": 1, ", "", {"values, v", "value"}},
    {"\"unit\": \"1\", ", "", {"values, v", "unit"}},
    {"\"n\": 2", "\"n\": -2", {"values, v", "-2"}},
    {"\"n\": 2", "\"n\": 2.5", {"values, v", "2.5"}},
    {"[0, 2]", "[0]", {"values, v", "ci95"}},
    {"[0, 2]", "[0, \"2\"]", {"values, v", "ci95"}},
    {"[0, 2]", "7", {"values, v", "ci95"}},
    {"\"status\": \"ok\", ", "", {"values, v", "status"}},
    {"\"bound\": 3", "\"bound\": \"3\"", {"values, v", "bound"}},
    {"\"t\": {\"columns\"", "\"../t\": {\"columns\"", {"table's name", "../t"}},
    {"[\"a\", \"b\"]", "[]", {"tables, t", "columns"}},
    {"[\"a\", \"b\"]", "[\"a\", 1]", {"tables, t", "column"}},
    {"[\"a\", \"b\"]", "{\"a\": 1, \"b\": 2}", {"tables, t", "columns"}},
    {"[1, null]", "[1]", {"tables, t", "wide"}},
    {"[1, null]", "[1, null, 2]", {"tables, t", "wide"}},
    {"[1, null]", "{\"a\": 1, \"b\": 2}", {"tables, t", "wide"}},
    {"[1, null]", "[1, true]", {"tables, t", "cell"}},
    {"[1, null]", "[1, [2]]", {"tables, t", "cell"}},
    {"\"rows\": [", "\"crows\": [", {"tables, t", "rows"}},
    {"{\"t\"", "{\"t\": {\"columns\": [\"a\"], \"rows\": []}, \"t\"", {"duplicate", "byte"}},
};

static void test_hostile(void **state) {
    (void)state;
    struct gs_results *results;
    const char *path = gs_scratch_file("good.json", good, sizeof good - 1);
    gs_assert_ok(gs_results_read(path, &results, &error), &error);
    gs_results_destroy(results);
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        char text[2048];
        const char *at = strstr(good, hostile[i].from);
        assert_non_null(at);
        int size = snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, hostile[i].to,
                            at + strlen(hostile[i].from));
        path = gs_scratch_file("bad.json", text, (size_t)size);
        results = (struct gs_results *)text;
        gs_assert_error(gs_results_read(path, &results, &error), GS_FORMAT, &error,
                        hostile[i].words[0], hostile[i].words[1]);
        assert_null(results);
    }
    path = gs_scratch_file("array.json", "[]", 2);
    gs_assert_error(gs_results_read(path, &results, &error), GS_FORMAT, &error, "array.json");
    path = gs_scratch_file("trailing.json", "{} {}", 5);
    gs_assert_error(gs_results_read(path, &results, &error), GS_FORMAT, &error, "trailing.json");
}

static void test_write_faults(void **state) {
    (void)state;
    struct gs_results *results = make_results();
    gs_assert_error(gs_results_write(results, gs_scratch_path("no/such/x.json"), false, &error),
                    GS_MISSING, &error, "no/such/x.json");
    gs_assert_error(gs_results_write(results, gs_scratch_folder(), true, &error), GS_IO, &error,
                    "folder");
    const char *file = gs_scratch_file("file", "", 0);
    gs_assert_error(gs_results_write_csv(results, file, "", true, &error), GS_IO, &error, file);
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        gs_assert_error(gs_results_print(results, full, 10, &error), GS_IO, &error,
                        strerror(ENOSPC));
        fclose(full);
    }
    gs_results_destroy(results);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_json_layout),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_source_hash),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_write_faults),
        cmocka_unit_test(a_source_is_hashed_meanwhile),
        cmocka_unit_test(a_table_that_does_not_fit_leaves_no_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
