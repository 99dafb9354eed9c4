/* Numbers as text: the same bits back, in any locale, and nothing taken that is no number. */
#include "tests/support/support.h"

#include "core/base/numbers.h"
#include "core/base/random.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void test_round_trip(void **state) {
    (void)state;
    struct gs_random random;
    char text[GS_NUMBER_TEXT];
    gs_random_seed(&random, 8, "test/numbers");
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = gs_random_bits(&random);
        double number, back;
        memcpy(&number, &bits, sizeof number);
        if (!isfinite(number)) continue;
        assert_true(gs_number_parse(gs_number_text(number, text), &back));
        assert_memory_equal(&number, &back, sizeof number);
    }
    static const double edges[] = {0, DBL_MAX, -DBL_MAX, DBL_MIN, 5e-324, 1.0 / 3, 0.1, 1e22};
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        double back;
        assert_true(gs_number_parse(gs_number_text(edges[i], text), &back) && back == edges[i]);
    }
    assert_string_equal(gs_number_text(0.1, text), "0.1");
    assert_string_equal(gs_number_text(40.1, text), "40.1");
    assert_string_equal(gs_number_text(16384, text), "16384");
    assert_string_equal(gs_number_text(-1.5e-300, text), "-1.5e-300");
    assert_string_equal(gs_number_text(NAN, text), "nan");
    assert_string_equal(gs_number_text(-INFINITY, text), "-inf");
    assert_string_equal(gs_number_short(1.0 / 3, 6, text), "0.333333");
}

static void test_parse(void **state) {
    (void)state;
    double number = 7;
    static const char *const bad[] = {"",   " 1",  "1 ",    "nan",   "inf", "-inf", "0x10",
                                      "1e", "1,5", "1e400", "1.2.3", "--1", "e5",   "1\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (gs_number_parse(bad[i], &number)) fail_msg("\"%s\" was taken as a number", bad[i]);
    assert_true(number == 7); /* untouched */
    assert_true(gs_number_parse("-1.5e3", &number) && number == -1500);
    assert_true(gs_number_parse("+2", &number) && number == 2);
    assert_true(gs_number_parse(".5", &number) && number == 0.5);
    char longest[1000];
    memset(longest, '1', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_false(gs_number_parse(longest, &number));
}

static void test_sizes(void **state) {
    (void)state;
    uint64_t number = 7;
    static const char *const bad[] = {"",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1.0",
                                      "1e3",
                                      "0x1",
                                      "1k",
                                      "18446744073709551616",
                                      "99999999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (gs_size_parse(bad[i], &number)) fail_msg("\"%s\" was taken as a size", bad[i]);
    assert_true(number == 7);
    assert_true(gs_size_parse("18446744073709551615", &number) && number == UINT64_MAX);
    assert_true(gs_size_parse("0", &number) && number == 0);
    assert_true(gs_size_parse("007", &number) && number == 7);
}

static void test_locale(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    const char *set = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !set; i++)
        set = setlocale(LC_NUMERIC, names[i]);
    if (!set) {
        print_message("skipped: no locale with a decimal comma is installed\n");
        skip();
    }
    char text[GS_NUMBER_TEXT];
    double number = 0;
    assert_string_equal(gs_number_text(1.5, text), "1.5");
    assert_true(gs_number_parse("2.25", &number) && number == 2.25);
    setlocale(LC_NUMERIC, "C");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip),
                                       cmocka_unit_test(test_parse), cmocka_unit_test(test_sizes),
                                       cmocka_unit_test(test_locale)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
