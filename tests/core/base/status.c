/* Errors: what each status means outside, and that an error's text is whole, bounded and clean. */
#include "tests/support/support.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void test_exit_codes(void **state) {
    (void)state;
    /* the codes of the command line, written out a second time */
    static const int codes[GS_STATUS_COUNT] = {
        [GS_OK] = 0,      [GS_CHECK_FAILED] = 1, [GS_USAGE] = 2,   [GS_NO_MEMORY] = 3,
        [GS_IO] = 3,      [GS_EXISTS] = 3,       [GS_MISSING] = 3, [GS_FORMAT] = 3,
        [GS_SHAPE] = 3,   [GS_RANGE] = 3,        [GS_CONFIG] = 3,  [GS_UNSUPPORTED] = 3,
        [GS_NUMERIC] = 4, [GS_INTERRUPTED] = 130};
    for (int i = 0; i < GS_STATUS_COUNT; i++) {
        assert_int_equal(gs_status_exit_code((enum gs_status)i), codes[i]);
        assert_int_equal(strncmp(gs_status_name((enum gs_status)i), "GS_", 3), 0);
        assert_true(strlen(gs_status_text((enum gs_status)i)) > 3);
    }
    assert_string_equal(gs_status_name(GS_FORMAT), "GS_FORMAT");
    assert_string_equal(gs_status_name((enum gs_status)999), "unknown status");
    assert_int_equal(gs_status_exit_code((enum gs_status)999), 3);
}

static void test_text(void **state) {
    (void)state;
    struct gs_error error;
    char text[2048];
    assert_int_equal(gs_fail(&error, GS_SHAPE, "tensor %s has a wrong shape", "w"), GS_SHAPE);
    gs_error_expected(&error, "(%d, %d)", 3, 4);
    gs_error_found(&error, "(4, 3)");
    gs_error_where(&error, "a.safetensors");
    gs_error_next(&error, "transpose it");
    assert_string_equal(gs_error_text(&error, text, sizeof text),
                        "a.safetensors: tensor w has a wrong shape: expected (3, 4), found (4, 3); "
                        "transpose it");
    gs_fail(&error, GS_IO, "short"); /* clears what was there */
    assert_string_equal(gs_error_text(&error, text, sizeof text), "short");
    gs_error_found(&error, "x");
    assert_string_equal(gs_error_text(&error, text, sizeof text), "short: found x");
    error = (struct gs_error){.status = GS_EXISTS};
    assert_string_equal(gs_error_text(&error, text, sizeof text), gs_status_text(GS_EXISTS));
}

static void test_nobody_listens(void **state) {
    (void)state;
    assert_int_equal(gs_fail(NULL, GS_RANGE, "x"), GS_RANGE);
    assert_int_equal(gs_fail_errno(NULL, ENOENT, "x", "y"), GS_MISSING);
    assert_int_equal(gs_fail_memory(NULL, 1, "x"), GS_NO_MEMORY);
    gs_error_expected(NULL, "x");
    gs_error_found(NULL, "x");
    gs_error_where(NULL, "x");
    gs_error_next(NULL, "x");
    char text[8];
    assert_string_equal(gs_error_text(NULL, text, sizeof text), "");
}

static void test_errno(void **state) {
    (void)state;
    struct gs_error error;
    gs_assert_error(gs_fail_errno(&error, ENOMEM, "cannot map", "f"), GS_NO_MEMORY, &error, "f: ");
    gs_assert_error(gs_fail_errno(&error, EEXIST, "cannot make", "f"), GS_EXISTS, &error, "make");
    gs_assert_error(gs_fail_errno(&error, ENOSPC, "cannot write", "f"), GS_IO, &error,
                    strerror(ENOSPC), "make room");
    gs_assert_error(gs_fail_errno(&error, EACCES, "cannot write", NULL), GS_IO, &error,
                    "cannot write: ", strerror(EACCES));
}

/* Everything is cut to its place and stays terminated; a cut shows. */
static void test_bounds(void **state) {
    (void)state;
    struct gs_error error;
    char longest[4000], text[4096];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    gs_fail(&error, GS_IO, "%s", longest);
    gs_error_expected(&error, "%s", longest);
    gs_error_found(&error, "%s", longest);
    gs_error_where(&error, "%s", longest);
    gs_error_next(&error, "%s", longest);
    assert_int_equal(strlen(error.what), sizeof error.what - 1);
    assert_string_equal(error.what + sizeof error.what - 4, "...");
    assert_int_equal(strlen(error.next), sizeof error.next - 1);
    gs_error_text(&error, text, sizeof text);
    for (size_t size = 0; size < 64; size++) {
        char small[65];
        memset(small, '#', sizeof small);
        gs_error_text(&error, small, size);
        if (size > 0) assert_int_equal(strlen(small), size - 1);
        for (size_t i = size; i < sizeof small; i++) assert_int_equal(small[i], '#');
    }
}

/* A file's name may hold escape sequences; a terminal must not see them. */
static void test_control_bytes(void **state) {
    (void)state;
    struct gs_error error;
    char text[256];
    gs_fail(&error, GS_IO, "bad \x1b[31m\n\x7f name \xc3\xa9");
    assert_string_equal(gs_error_text(&error, text, sizeof text),
                        "bad \\x1b[31m\\x0a\\x7f name \xc3\xa9");
    gs_fail(&error, GS_IO,
            "\xc2\x9b"
            "31m \x9b \xe2\x80\xae"); /* CSI as a character, a byte; U+202E */
    assert_string_equal(gs_error_text(&error, text, sizeof text),
                        "\\xc2\\x9b31m \\x9b \\xe2\\x80\\xae");
}

/* A long path is cut between two characters. */
static void test_long_text(void **state) {
    (void)state;
    struct gs_error error;
    char text[1024], path[1024];
    for (size_t shift = 0; shift < 3; shift++) {
        memset(path, 0, sizeof path);
        memset(path, 'a', shift);
        for (size_t i = shift; i + 4 < sizeof path; i += 3) memcpy(path + i, "\xe2\x82\xac", 3);
        gs_fail(&error, GS_IO, "%s", path);
        gs_error_text(&error, text, sizeof text);
        size_t end = strlen(text);
        assert_string_equal(text + end - 6, "\xe2\x82\xac...");
    }
}

static void test_wrapping_itself(void **state) {
    (void)state;
    struct gs_error error;
    char text[256];
    gs_fail(&error, GS_IO, "inner");
    gs_fail(&error, GS_FORMAT, "outer: %s", error.what);
    assert_string_equal(gs_error_text(&error, text, sizeof text), "outer: inner");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_codes),     cmocka_unit_test(test_text),
        cmocka_unit_test(test_nobody_listens), cmocka_unit_test(test_errno),
        cmocka_unit_test(test_bounds),         cmocka_unit_test(test_control_bytes),
        cmocka_unit_test(test_long_text),      cmocka_unit_test(test_wrapping_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
