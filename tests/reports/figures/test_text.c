/* Growing text, numbers in sentences, labels: what is written is what was meant. */
#include "reports/figures/label.h"
#include "reports/figures/text.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void assert_number(double number, int digits, const char *expected) {
    struct gs_text text = {0};
    gs_text_number(&text, number, digits);
    assert_string_equal(text.bytes, expected);
    gs_text_free(&text);
}

static void numbers(void **state) {
    (void)state;
    assert_number(0, 3, "0");
    assert_number(-0.0, 3, "0");
    assert_number(1, 3, "1");
    assert_number(0.0123456, 3, "0.0123");
    assert_number(-0.5, 3, "−0.500");
    assert_number(12.3456, 3, "12.3");
    assert_number(1234.6, 3, "1,235"); /* whole numbers keep all their digits */
    assert_number(16384, 3, "16,384");
    assert_number(1234567890, 3, "1,234,567,890");
    assert_number(0.99951, 3, "1.00");
    assert_number(99.96, 3, "100");
    assert_number(1e-7, 2, "1.0e-07");
    assert_number(1e300, 2, "1.0e+300");
    assert_number((double)NAN, 3, "not known");
    assert_number((double)INFINITY, 3, "not known");
}

static void counts(void **state) {
    (void)state;
    static const struct {
        unsigned long long count;
        const char *text;
    } cases[] = {{0, "0"},
                 {999, "999"},
                 {1000, "1,000"},
                 {18446744073709551615ULL, "18,446,744,073,709,551,615"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gs_text text = {0};
        gs_text_count(&text, cases[i].count);
        assert_string_equal(text.bytes, cases[i].text);
        gs_text_free(&text);
    }
}

static void intervals(void **state) {
    (void)state;
    static const struct {
        double low, high;
        const char *text;
    } cases[] = {{1.25, 1.5, "1.25 to 1.50"},
                 {0.77812, 0.77841, "0.7781 to 0.7784"},
                 {0.5, 0.5, "0.500 to 0.500"},
                 {0.12345678, 0.12345679, "0.123457 to 0.123457"},
                 {-1, (double)INFINITY, "−1 to ∞"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gs_text text = {0};
        gs_text_interval(&text, cases[i].low, cases[i].high, 3);
        assert_string_equal(text.bytes, cases[i].text);
        gs_text_free(&text);
    }
}

static void grows(void **state) {
    (void)state;
    struct gs_text text = {0};
    for (int i = 0; i < 10000; i++) gs_text_add(&text, "%d,", i);
    assert_int_equal(gs_text_check(&text, "text", NULL), GS_OK);
    size_t at = 0;
    for (int i = 0; i < 10000; i++) {
        char expected[16];
        int length = snprintf(expected, sizeof expected, "%d,", i);
        assert_memory_equal(text.bytes + at, expected, (size_t)length);
        at += (size_t)length;
    }
    assert_int_equal(text.size, at);
    assert_int_equal(strlen(text.bytes), at);
    gs_text_free(&text);
    gs_text_put(&text, NULL);
    assert_null(text.bytes);
}

static void failure_is_sticky(void **state) {
    (void)state;
    struct gs_text text = {0};
    gs_text_put(&text, "kept");
    text.failed = true;
    gs_text_put(&text, " not added");
    assert_string_equal(text.bytes, "kept");
    struct gs_error error;
    assert_int_equal(gs_text_check(&text, "the page", &error), GS_NO_MEMORY);
    gs_text_free(&text);
}

static void assert_shown(const char *bytes, size_t size, const char *expected) {
    struct gs_text text = {0};
    gs_label_show(&text, bytes, size);
    assert_string_equal(text.bytes ? text.bytes : "", expected);
    gs_text_free(&text);
}

static void labels(void **state) {
    (void)state;
    assert_shown("▁the", 6, "▁the");
    assert_shown("{x}^2_3 </script> \" ' \\n `", 26, "{x}^2_3 </script> \" ' \\n `");
    assert_shown("a\0b\n\t\x7f", 6, "a<0x00>b<0x0A><0x09><0x7F>");
    assert_shown("\xF0\x9F\x98", 3, "<0xF0><0x9F><0x98>");   /* cut emoji */
    assert_shown("\xC0\xAF", 2, "<0xC0><0xAF>");             /* overlong */
    assert_shown("\xED\xA0\x80", 3, "<0xED><0xA0><0x80>");   /* surrogate */
    assert_shown("\xEF\xBF\xBF", 3, "<0xEF><0xBF><0xBF>");   /* U+FFFF: XML has no such */
    assert_shown("\xC2\x85", 2, "<0xC2><0x85>");             /* C1 control */
    assert_shown("\xF0\x9F\x98\x80", 4, "\xF0\x9F\x98\x80"); /* whole emoji */
}

static void fields(void **state) {
    (void)state;
    struct gs_text text = {0};
    gs_label_field(&text, "a\"b\\c\td", 0);
    gs_label_field(&text, NULL, 0);
    gs_label_field(&text, "äöüß", 3);
    assert_string_equal(text.bytes, "\"a\\\"b\\\\c<0x09>d\"\"\"\"äöü…\"");
    gs_text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers),
                                       cmocka_unit_test(counts),
                                       cmocka_unit_test(intervals),
                                       cmocka_unit_test(grows),
                                       cmocka_unit_test(failure_is_sticky),
                                       cmocka_unit_test(labels),
                                       cmocka_unit_test(fields)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
