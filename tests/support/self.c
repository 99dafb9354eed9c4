/* The tests' own tools: what must fail fails, what must pass passes. */
#include "tests/support/support.h"

#include <fcntl.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

static const float nan_value = NAN, infinite = INFINITY;

static void close_to(float a, float b) {
    const float x[3] = {100, a, -7}, y[3] = {100, b, -7};
    gs_assert_close("x", x, y, 3, 1e-3);
}

static void near_to(double a, double b) {
    gs_assert_near("x", a, b, 0.01, 0.01);
}

static void error_says(enum gs_status status, const char *what, const char *word) {
    struct gs_error error;
    gs_fail(&error, status, "%s", what);
    gs_assert_error(status, GS_IO, &error, "file", word);
}

static void bad_close_far(void **state) {
    (void)state, close_to(1.2f, 1);
}
static void bad_close_nan(void **state) {
    (void)state, close_to(nan_value, 1);
}
static void bad_close_nan_expected(void **state) {
    (void)state, close_to(1, nan_value);
}
static void bad_close_infinite(void **state) {
    (void)state, close_to(infinite, 1);
}
static void bad_close_infinite_expected(void **state) {
    (void)state, close_to(1, infinite);
}
static void bad_close_sign(void **state) {
    (void)state, close_to(infinite, -infinite);
}
static void bad_near_far(void **state) {
    (void)state, near_to(1.03, 1);
}
static void bad_near_nan(void **state) {
    (void)state, near_to(NAN, 1);
}
static void bad_near_both_nan(void **state) {
    (void)state, near_to(NAN, NAN);
}
static void bad_near_infinite(void **state) {
    (void)state, near_to(1, INFINITY);
}
static void bad_ok(void **state) {
    (void)state, gs_assert_ok(GS_IO, NULL);
}
static void bad_status(void **state) {
    (void)state, error_says(GS_FORMAT, "file x", "x");
}
static void bad_words(void **state) {
    (void)state, error_says(GS_IO, "file x", "y");
}

/* One failing test in a child, silent; true when the child says that it failed. */
static bool fails(const struct CMUnitTest *test) {
    pid_t child = fork();
    if (child == 0) {
        int silence = open("/dev/null", O_WRONLY);
        dup2(silence, 1);
        dup2(silence, 2);
        const struct CMUnitTest tests[] = {*test};
        _exit(cmocka_run_group_tests(tests, NULL, NULL) == 1 ? 42 : 0);
    }
    int how = 0;
    return waitpid(child, &how, 0) == child && WIFEXITED(how) && WEXITSTATUS(how) == 42;
}

static void test_failures(void **state) {
    (void)state;
    const struct CMUnitTest bad[] = {
        cmocka_unit_test(bad_close_far),
        cmocka_unit_test(bad_close_nan),
        cmocka_unit_test(bad_close_nan_expected),
        cmocka_unit_test(bad_close_infinite),
        cmocka_unit_test(bad_close_infinite_expected),
        cmocka_unit_test(bad_close_sign),
        cmocka_unit_test(bad_near_far),
        cmocka_unit_test(bad_near_nan),
        cmocka_unit_test(bad_near_both_nan),
        cmocka_unit_test(bad_near_infinite),
        cmocka_unit_test(bad_ok),
        cmocka_unit_test(bad_status),
        cmocka_unit_test(bad_words),
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (!fails(&bad[i])) fail_msg("%s passed", bad[i].name);
}

static void test_passes(void **state) {
    (void)state;
    close_to(1.05f, 1); /* within a thousandth of 100 */
    close_to(nan_value, nan_value);
    close_to(infinite, infinite);
    near_to(1.015, 1);
    near_to(INFINITY, INFINITY);
    gs_assert_ok(GS_OK, NULL);
    error_says(GS_IO, "file x", "x");
    assert_int_equal(access(gs_scratch_folder(), W_OK), 0);
    assert_int_equal(access(gs_scratch_file("f", "x", 1), R_OK), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_failures),
                                       cmocka_unit_test(test_passes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
