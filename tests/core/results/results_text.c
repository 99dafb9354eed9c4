/* Results as CSV, read back by a reader of our own, and as text for people. */
#include "tests/support/support.h"

#include "core/base/file.h"
#include "core/base/numbers.h"
#include "core/results/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gs_error error;

static const char *const awkward[] = {
    "plain", "\"",        "a,b",          "two\nlines", "cr\rx",      " blank",  "</script>",
    "",      "a \"b\" c", "\xe2\x96\x81", ",",          "\"quoted\"", "\r\n\r\n"};
enum { AWKWARD = sizeof awkward / sizeof awkward[0], FIELD = 128 };

/* One field at *at as RFC 4180 reads it; what follows the field is returned: ',' or '\n'. */
static char read_field(const char **at, char field[FIELD], bool *quoted) {
    size_t used = 0;
    *quoted = **at == '"';
    if (*quoted) {
        for ((*at)++;; (*at)++) {
            assert_true(**at != '\0' && used + 1 < FIELD);
            if (**at == '"' && *++*at != '"') break;
            field[used++] = **at;
        }
    } else {
        while (!strchr(",\n", **at)) {
            assert_true(**at != '"' && **at != '\r' && used + 1 < FIELD);
            field[used++] = *(*at)++;
        }
    }
    field[used] = '\0';
    char end = **at;
    assert_true(end == ',' || end == '\n');
    (*at)++;
    return end;
}

static char *content(const char *path) {
    struct gs_mapped_file file;
    gs_assert_ok(gs_file_map(path, &file, &error), &error);
    char *text = calloc(file.size + 1, 1);
    assert_non_null(text);
    memcpy(text, file.bytes, file.size);
    gs_file_unmap(&file);
    return text;
}

static void expect_fields(const char **at, const char *const *fields, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char field[FIELD];
        bool quoted;
        char end = read_field(at, field, &quoted);
        assert_string_equal(field, fields[i]);
        assert_int_equal(end, i + 1 < count ? ',' : '\n');
    }
}

static struct gs_results *make_results(void) {
    struct gs_results *results = gs_results_create("default");
    static const char *const columns[] = {"rank", "a \"piece\"", "p,q"};
    struct gs_table *table;
    assert_non_null(results);
    gs_assert_ok(gs_results_table(results, "tokens", columns, 3, &table, &error), &error);
    for (size_t i = 0; i < AWKWARD; i++) {
        struct gs_cell row[] = {gs_cell_integer((int64_t)i), gs_cell_text(awkward[i]),
                                i == 1 ? gs_cell_text(NULL) : gs_cell_number(1 / ((double)i + 3))};
        gs_assert_ok(gs_table_row(table, row, &error), &error);
    }
    struct gs_value value = {
        .value = 2.5, .unit = "1", .n = 10, .has_interval = true, .low = -1, .high = 3};
    gs_assert_ok(gs_results_add(results, "first", &value, &error), &error);
    value = (struct gs_value){.value = NAN,
                              .unit = "nat/token",
                              .n = 3,
                              .status = "censored",
                              .has_bound = true,
                              .bound = 1500,
                              .reason = "a, b"};
    gs_assert_ok(gs_results_add(results, "second.long.name", &value, &error), &error);
    gs_assert_ok(gs_results_note(results, "zero counts take part", &error), &error);
    return results;
}

static void test_csv(void **state) {
    (void)state;
    struct gs_results *results = make_results();
    const char *folder = gs_scratch_path("deep/er/csv");
    gs_assert_ok(gs_results_write_csv(results, folder, "default_", false, &error), &error);
    char *text = content(gs_scratch_path("deep/er/csv/default_tokens.csv"));
    const char *at = text;
    expect_fields(&at, (const char *[]){"rank", "a \"piece\"", "p,q"}, 3);
    for (size_t i = 0; i < AWKWARD; i++) {
        char field[FIELD];
        bool quoted;
        double number = 0;
        assert_int_equal(read_field(&at, field, &quoted), ',');
        assert_int_equal(strtoul(field, NULL, 10), i);
        assert_int_equal(read_field(&at, field, &quoted), ',');
        assert_string_equal(field, awkward[i]);
        assert_int_equal(quoted,
                         awkward[i][strcspn(awkward[i], ",\"\r\n ")] != '\0' || !awkward[i][0]);
        assert_int_equal(read_field(&at, field, &quoted), '\n');
        if (i == 1) assert_string_equal(field, ""); /* null is empty and bare, "" is quoted */
        if (i == 1) assert_false(quoted);
        if (i != 1) assert_true(gs_number_parse(field, &number) && number == 1 / ((double)i + 3));
    }
    assert_int_equal(*at, '\0');
    free(text);
    text = content(gs_scratch_path("deep/er/csv/default_values.csv"));
    at = text;
    static const char *const rows[3][9] = {
        {"name", "value", "unit", "n", "low", "high", "status", "bound", "reason"},
        {"first", "2.5", "1", "10", "-1", "3", "ok", "", ""},
        {"second.long.name", "", "nat/token", "3", "", "", "censored", "1500", "a, b"}};
    for (size_t i = 0; i < 3; i++) expect_fields(&at, rows[i], 9);
    assert_int_equal(*at, '\0');
    free(text);
    gs_assert_error(gs_results_write_csv(results, folder, "default_", false, &error), GS_EXISTS,
                    &error, "default_values.csv");
    gs_assert_ok(gs_results_write_csv(results, folder, "default_", true, &error), &error);
    gs_results_destroy(results);
}

static char *printed(const struct gs_results *results, size_t rows) {
    const char *path = gs_scratch_path("printed");
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    gs_assert_ok(gs_results_print(results, stream, rows, &error), &error);
    fclose(stream);
    return content(path);
}

static const char *line_with(const char *text, const char *word) {
    const char *at = strstr(text, word);
    if (!at) fail_msg("\"%s\" is not in:\n%s", word, text);
    while (at > text && at[-1] != '\n') at--;
    return at;
}

static void test_print(void **state) {
    (void)state;
    struct gs_results *results = make_results();
    char *text = printed(results, 4);
    static const char *const words[] = {"default\n",
                                        "[-1, 3]",
                                        "nat/token",
                                        "censored at 1500: a, b",
                                        "tokens (13 rows)",
                                        "... 9 more",
                                        "note: zero counts take part",
                                        "two\\x0alines"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) line_with(text, words[i]);
    assert_null(strstr(text, "cr\\x0dx")); /* row 5 is cut */
    assert_null(strchr(text, '\r'));
    /* the two values' counts end in the same column */
    const char *first = line_with(text, "first"), *second = line_with(text, "second.long");
    assert_int_equal(strstr(first, "10") + 2 - first, strstr(second, " 3 ") + 2 - second);
    assert_null(strstr(text, " \n")); /* no blanks at line ends */
    free(text);

    /* columns count characters: the number behind the three-byte token stands where the others do
     */
    text = printed(results, 100);
    const char *token = line_with(text, "\xe2\x96\x81"), *other = line_with(text, "plain");
    assert_int_equal(strcspn(token, "\n") - 2, strcspn(other, "\n"));
    free(text);

    text = printed(results, 100);
    assert_null(strstr(text, " more"));
    line_with(text, "\xe2\x96\x81");
    free(text);
    text = printed(results, 0);
    line_with(text, "... 13 more");
    free(text);
    gs_results_destroy(results);
}

/* Counts are read digit by digit; measured numbers to six digits. */
static void test_print_whole_numbers(void **state) {
    (void)state;
    static const struct {
        double number;
        const char *text;
    } cases[] = {{1200034, " 1200034 "},       {999999999999999, " 999999999999999 "},
                 {-1234567, " -1234567 "},     {-0.0, " 0 "},
                 {1200034.5, " 1.20003e+06 "}, {1e15, " 1e+15 "},
                 {1.5e-7, " 1.5e-07 "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gs_results *results = gs_results_create("eval");
        gs_assert_ok(gs_results_number(results, "x", cases[i].number, "token", 1, &error), &error);
        char *text = printed(results, 1);
        line_with(text, cases[i].text);
        free(text);
        gs_results_destroy(results);
    }
}

static void test_print_little(void **state) {
    (void)state;
    struct gs_results *results = gs_results_create("eval");
    char *text = printed(results, 5);
    assert_string_equal(text, "eval\n");
    free(text);
    char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    struct gs_value value = {.value = 1, .unit = "1", .reason = longest};
    gs_assert_ok(gs_results_add(results, "a", &value, &error), &error);
    text = printed(results, 5);
    line_with(text, "xxx...\n");
    assert_true(strlen(text) < 1000);
    free(text);
    gs_results_destroy(results);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_csv), cmocka_unit_test(test_print),
                                       cmocka_unit_test(test_print_whole_numbers),
                                       cmocka_unit_test(test_print_little)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
