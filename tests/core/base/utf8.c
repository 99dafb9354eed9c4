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

static void test_repair(void **state) {
    (void)state;
    char *text = gs_utf8_repair("a\xff\xc3\xa9\xf0\x9f\x98");
    assert_string_equal(text, "a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    gs_free(text);
    text = gs_utf8_repair("");
    assert_string_equal(text, "");
    gs_free(text);
}

/* Letters stay; control bytes, the two-byte ones too, and what is no UTF-8 are shown as bytes. */
static void test_visible(void **state) {
    (void)state;
    static const char text[] = "a\x1b[1m\n\xc3\xa9\xc2\x9b\xff\x7f|";
    char seen[128] = "", piece[GS_UTF8_VISIBLE];
    for (size_t at = 0; at < sizeof text - 1;) {
        at += gs_utf8_visible(text + at, sizeof text - 1 - at, piece);
        strcat(seen, piece);
    }
    assert_string_equal(seen, "a\\x1b[1m\\x0a\xc3\xa9\\xc2\\x9b\\xff\\x7f|");
    FILE *file = tmpfile();
    assert_non_null(file);
    gs_utf8_print(text, file);
    rewind(file);
    char read[128] = "";
    assert_int_equal(fread(read, 1, sizeof read - 1, file), strlen(seen));
    assert_string_equal(read, seen);
    fclose(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_point), cmocka_unit_test(test_illegal),
        cmocka_unit_test(test_repair), cmocka_unit_test(test_visible)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
