/* The nearest name: typing errors find it, other words find nothing. */
#include "tests/support/support.h"

#include "core/base/names.h"

#include <string.h>

static const char *const options[] = {"stream",  "skip-first", "max-lag", "all-lags",
                                      "deflate", "bootstrap",  "o",       "x"};
enum { OPTIONS = sizeof options / sizeof options[0] };

static void expect(const char *typed, const char *meant) {
    const char *found = gs_nearest_name(typed, options, OPTIONS);
    if (meant ? found && strcmp(found, meant) == 0 : !found) return;
    print_error("\"%s\": found %s, expected %s\n", typed, found ? found : "nothing",
                meant ? meant : "nothing");
    fail();
}

static void test_nearest(void **state) {
    (void)state;
    expect("stream", "stream");
    expect("strem", "stream");    /* one missing */
    expect("streams", "stream");  /* one too many */
    expect("straem", "stream");   /* two exchanged: one edit */
    expect("max_lag", "max-lag"); /* one other */
    expect("maxlag", "max-lag");
    expect("al-lags", "all-lags");
    expect("boostrap", "bootstrap");
    expect("O", "o");
    expect("", NULL);
    expect("quantum", NULL);
    expect("st", NULL);
    char longest[1000];
    memset(longest, 's', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    expect(longest, NULL);
    assert_null(gs_nearest_name("stream", options, 0));
    const char *const huge[] = {longest, "stream", ""};
    assert_string_equal(gs_nearest_name("strem", huge, 3), "stream");
}

/* "A third of the longer name": for nine letters three edits are near enough and four are not. */
static void test_threshold(void **state) {
    (void)state;
    const char *const nine[] = {"abcdefghi"};
    assert_non_null(gs_nearest_name("abcdefxyz", nine, 1));
    assert_null(gs_nearest_name("abcdewxyz", nine, 1));
    /* exchanged neighbours are one edit, so that four letters allow them */
    const char *const four[] = {"abcd"};
    assert_non_null(gs_nearest_name("abdc", four, 1));
    assert_null(gs_nearest_name("abxy", four, 1));
    const char *const near[] = {"abcx", "abcd", "abce"};
    assert_string_equal(gs_nearest_name("abcd", near, 3), "abcd");
    assert_string_equal(gs_nearest_name("abcf", near, 3), "abcx"); /* the first of equals */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nearest),
                                       cmocka_unit_test(test_threshold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
