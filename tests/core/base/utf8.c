/* UTF-8: every code point is taken in its one form, everything else is refused. */
#include "tests/support/support.h"

#include "core/base/memory.h"
#include "core/base/utf8.h"

#include <string.h>

static size_t encode(uint32_t point, char *bytes) {
    if (point < 0x80) {
        bytes[0] = (char)point;
        return 1;
    }
    size_t length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const unsigned lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length; i-- > 1; point >>= 6) bytes[i] = (char)(0x80 | (point & 0x3f));
    bytes[0] = (char)(lead[length] | point);
    return length;
}

static void test_every_code_point(void **state) {
    (void)state;
    for (uint32_t point = 0; point < 0x120000; point++) {
        char bytes[4];
        bool legal = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
        size_t length = encode(point, bytes);
        size_t found = gs_utf8_character(bytes, length);
        if (found != (legal ? length : 0)) fail_msg("U+%04X: %zu", point, found);
        if (legal) assert_int_equal(gs_utf8_code_point(bytes, length), point);
        for (size_t cut = 1; cut < length; cut++)
            assert_int_equal(gs_utf8_character(bytes, cut), 0);
    }
}

static void test_illegal(void **state) {
    (void)state;
    static const char *const bad[] = {"\x80",
                                      "\xbf",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xe0\x80\x80",
                                      "\xe0\x9f\xbf",
                                      "\xf0\x80\x80\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "\xfe",
                                      "\xed\xa0\x80",
                                      "\xc3(",
                                      "\xe2\x82(",
                                      "\xf0\x9f\x98("};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(gs_utf8_character(bad[i], strlen(bad[i])), 0);
    assert_int_equal(gs_utf8_valid("abc\xff", 4), 3);
    assert_int_equal(gs_utf8_valid("a\xc3\xa9", 3), 3);
    assert_int_equal(gs_utf8_valid("a\xc3\xa9", 2), 1);
    assert_int_equal(gs_utf8_valid("", 0), 0);
}

/* Against the lists of the Unicode character database: Cc, Zl, Zp, Bidi_Control, and the two code
 * points below U+10000 that XML 1.0's Char leaves out besides surrogates. */
static void test_visible(void **state) {
    (void)state;
    static const uint32_t hidden[][2] = {{0x0, 0x1f},      {0x7f, 0x9f},     {0x61c, 0x61c},
                                         {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
                                         {0xfffe, 0xffff}};
    size_t count = sizeof hidden / sizeof hidden[0];
    for (uint32_t point = 0; point <= 0x10ffff; point++) {
        char bytes[4];
        if (point >= 0xd800 && point <= 0xdfff) continue;
        size_t length = encode(point, bytes);
        bool shown = true;
        for (size_t i = 0; i < count; i++)
            if (point >= hidden[i][0] && point <= hidden[i][1]) shown = false;
        if (gs_utf8_visible(bytes, length) != (shown ? length : 0)) fail_msg("U+%04X", point);
    }
    assert_int_equal(gs_utf8_visible("\x9b[1m", 4), 0);
    assert_int_equal(gs_utf8_visible("\xf0\x9f\x98", 3), 0);
}

static void test_repair(void **state) {
    (void)state;
    char *text = gs_utf8_repair("a\xff\xc3\xa9\xf0\x9f\x98");
    assert_string_equal(text, "a<0xFF>\xc3\xa9<0xF0><0x9F><0x98>");
    gs_free(text);
    text = gs_utf8_repair("\xc3\xa9 as it is <0xFF>");
    assert_string_equal(text, "\xc3\xa9 as it is <0xFF>");
    gs_free(text);
    text = gs_utf8_repair("\x80");
    assert_string_equal(text, "<0x80>");
    gs_free(text);
    text = gs_utf8_repair("");
    assert_string_equal(text, "");
    gs_free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_point), cmocka_unit_test(test_illegal),
        cmocka_unit_test(test_visible), cmocka_unit_test(test_repair)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
