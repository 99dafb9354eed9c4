/* Windows: the plan's numbers against counting by hand. */
#include "core/text/windows.h"
#include "tests/support/support.h"

static void test_plans(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_windows windows;
    /* Walk the stream as a reader would, for every small case. */
    for (uint64_t total = 1; total < 40; total++)
        for (size_t length = 1; length <= total; length++)
            for (uint64_t skip = 0; (skip + 1) * length <= total; skip++) {
                gs_assert_ok(gs_windows_plan(total, length, skip, 0, &windows, &error), &error);
                uint64_t count = 0, at = skip * length;
                while (at + length <= total) {
                    assert_int_equal(gs_window_start(&windows, count), at);
                    at += length;
                    count++;
                }
                assert_int_equal(windows.count, count);
                assert_int_equal(windows.used, count * length);
                assert_int_equal(gs_windows_dropped(&windows), total - at);
            }
    gs_assert_ok(gs_windows_plan(100, 10, 2, 3, &windows, &error), &error);
    assert_int_equal(windows.first, 20);
    assert_int_equal(windows.count, 3);
    assert_int_equal(gs_windows_dropped(&windows), 50);
}

static void test_default_length(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_windows windows;
    gs_assert_ok(gs_windows_plan(5000, 0, 0, 0, &windows, &error), &error);
    assert_int_equal(windows.length, GS_WINDOW_DEFAULT);
    assert_int_equal(windows.count, 4);
    gs_assert_ok(gs_windows_plan(77, 0, 0, 0, &windows, &error), &error);
    assert_int_equal(windows.length, 77);
    assert_int_equal(windows.count, 1);
}

static void test_refusals(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_windows windows;
    gs_assert_error(gs_windows_plan(99, 100, 0, 0, &windows, &error), GS_RANGE, &error, "99",
                    "100");
    gs_assert_error(gs_windows_plan(0, 0, 0, 0, &windows, &error), GS_RANGE, &error, "found 0");
    gs_assert_error(gs_windows_plan(100, 10, 10, 0, &windows, &error), GS_RANGE, &error,
                    "10 windows in all");
    gs_assert_error(gs_windows_plan(100, 10, 8, 3, &windows, &error), GS_RANGE, &error, "8 windows",
                    "3 to read");
    gs_assert_error(gs_windows_plan(100, 10, UINT64_MAX, UINT64_MAX, &windows, &error), GS_RANGE,
                    &error, "--skip");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_default_length),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
