/* What we run on: known words, and a thread count that holds for loops and BLAS. */
#include "tests/support/support.h"

#include "core/base/environment.h"
#include "core/kernels/isa.h"

#include <string.h>

static void test_environment(void **state) {
    (void)state;
    struct gs_environment now;
    gs_environment_read(&now);
    assert_int_equal(strncmp(now.blas, "OpenBLAS ", 9), 0);
    assert_null(strchr(now.blas + 9, ' '));
    assert_true(strlen(now.blas_core) > 1);
    assert_true(strcmp(now.blas_threading, "openmp") == 0 ||
                strcmp(now.blas_threading, "pthread") == 0 ||
                strcmp(now.blas_threading, "serial") == 0);
    assert_string_equal(now.kernels, gs_kernels_isa());
    assert_true(strlen(now.compiler) > 5);
    assert_true(now.threads >= 1);
}

static void test_warning(void **state) {
    (void)state;
    struct gs_environment now;
    gs_environment_read(&now);
    const char *warning = gs_environment_warning();
    if (strcmp(now.blas_threading, "openmp") == 0)
        assert_null(warning);
    else
        assert_non_null(strstr(warning, "libopenblas0-openmp"));
}

static void test_threads(void **state) {
    (void)state;
    gs_threads_set(0);
    int all = gs_threads_get();
    assert_true(all >= 1);
    gs_threads_set(3);
    assert_int_equal(gs_threads_get(), 3);
    struct gs_environment now;
    gs_environment_read(&now);
    assert_int_equal(now.threads, 3);
    gs_threads_set(1);
    assert_int_equal(gs_threads_get(), 1);
    gs_threads_set(0);
    assert_int_equal(gs_threads_get(), all);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_environment),
                                       cmocka_unit_test(test_warning),
                                       cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
