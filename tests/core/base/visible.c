/* What a terminal may see of text from files. */
#include "tests/support/support.h"

#include "core/base/visible.h"

#include <stdlib.h>
#include <string.h>

static void assert_shown(const char *text, const char *expected) {
    char buffer[128];
    assert_string_equal(gs_visible_text(text, buffer, sizeof buffer), expected);
}

static void test_text(void **state) {
    (void)state;
    assert_shown("", "");
    assert_shown("a\x1b[1m\n\xc3\xa9\xc2\x9b\xff\x7f|",
                 "a\\x1b[1m\\x0a\xc3\xa9\\xc2\\x9b\\xff\\x7f|");
    assert_shown("it's \xc3\xa9 \\ \xf0\x9f\x98\x80", "it's \xc3\xa9 \\ \xf0\x9f\x98\x80");
    assert_shown("\x1b]0;title\x07\r\n", "\\x1b]0;title\\x07\\x0d\\x0a");
    assert_shown("\xc2\x9b"
                 "1m",
                 "\\xc2\\x9b1m");
    assert_shown("\x9b\xf0\x9f", "\\x9b\\xf0\\x9f");
    assert_shown("a\xe2\x80\xae"
                 "b",
                 "a\\xe2\\x80\\xae"
                 "b");
}

/* Cut between characters or escapes; never a byte too many. */
static void test_cut(void **state) {
    (void)state;
    static const char text[] = "a\xe2\x82\xac\n\xe2\x82\xac"; /* shown: a € \x0a €: 11 bytes */
    char buffer[16];
    for (size_t size = 5; size <= 11; size++) {
        memset(buffer, '#', sizeof buffer);
        const char *shown = gs_visible_text(text, buffer, size);
        if (strlen(shown) >= size) fail_msg("%zu: %s", size, shown);
        assert_int_equal(buffer[size], '#');
        assert_string_equal(shown + strlen(shown) - 3, "...");
    }
    gs_visible_text(text, buffer, 12);
    assert_string_equal(buffer, "a\xe2\x82\xac\\x0a\xe2\x82\xac");
    assert_string_equal(gs_visible_text(text, buffer, 8), "a\xe2\x82\xac...");
    assert_string_equal(gs_visible_text(text, buffer, 7), "a...");
}

static void test_put(void **state) {
    (void)state;
    assert_int_equal(gs_visible_width("a\xe2\x82\xac\n"), 6);
    const char *path = gs_scratch_path("put");
    FILE *stream = fopen(path, "wb+");
    assert_non_null(stream);
    gs_visible_put(stream, "\xe2\x82\xac\n", 7);
    gs_visible_put(stream, "long", 2);
    char text[32] = "";
    rewind(stream);
    assert_int_equal(fread(text, 1, sizeof text - 1, stream), 13);
    fclose(stream);
    assert_string_equal(text, "\xe2\x82\xac\\x0a  long");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_text), cmocka_unit_test(test_cut),
                                       cmocka_unit_test(test_put)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
