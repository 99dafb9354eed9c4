/* LAPACK's wrapper by residual, orthogonality, closed forms, and values that must be refused. */
#include "analyses/linalg/lapack.h"
#include "core/base/environment.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { SEED = 1129 };

static double *random_symmetric(size_t n, const char *stream) {
    struct gs_random random;
    gs_random_seed(&random, SEED, stream);
    double *matrix = gs_calloc(n * n, sizeof *matrix);
    assert_non_null(matrix);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            matrix[i * n + j] = matrix[j * n + i] = gs_random_normal(&random);
    return matrix;
}

/* Only the upper triangle may be read: the lower one is poisoned in every copy. */
static double *poisoned_copy(const double *matrix, size_t n) {
    double *copy = gs_calloc(n * n, sizeof *copy);
    assert_non_null(copy);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) copy[i * n + j] = j >= i ? matrix[i * n + j] : (double)NAN;
    return copy;
}

static void check_pairs(size_t n) {
    double *matrix = random_symmetric(n, "pairs"), *vectors = poisoned_copy(matrix, n);
    double *values = gs_calloc(n, sizeof *values), *alone = gs_calloc(n, sizeof *alone);
    struct gs_error error;
    gs_assert_ok(gs_eigenvectors(n, vectors, values, &error), &error);
    for (size_t k = 0; k < n; k++) {
        const double *v = vectors + k * n;
        for (size_t i = 0; i < n; i++) {
            double product = 0;
            for (size_t j = 0; j < n; j++) product += matrix[i * n + j] * v[j];
            gs_assert_near_at("residual", product, values[k] * v[i], 1e-12 * (double)n, 0, __FILE__,
                              __LINE__);
        }
        for (size_t other = 0; other < n; other++) {
            double product = 0;
            for (size_t j = 0; j < n; j++) product += v[j] * vectors[other * n + j];
            gs_assert_near_at("orthogonality", product, other == k, 1e-13 * (double)n, 0, __FILE__,
                              __LINE__);
        }
        if (k) assert_true(values[k] <= values[k - 1]);
    }
    double *work = poisoned_copy(matrix, n);
    gs_assert_ok(gs_eigenvalues(n, work, alone, &error), &error);
    for (size_t k = 0; k < n; k++)
        gs_assert_near_at("values alone", alone[k], values[k], 1e-12 * (double)n, 0, __FILE__,
                          __LINE__);
    gs_free(work);
    gs_free(matrix);
    gs_free(vectors);
    gs_free(values);
    gs_free(alone);
}

static void eigenpairs_have_small_residuals(void **state) {
    (void)state;
    const size_t sizes[] = {1, 2, 3, 7, 31, 32, 33, 34, 64, 65, 100, 128, 161, 290};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check_pairs(sizes[i]);
}

static void check_update(size_t n, double size, double shift) {
    struct gs_random random;
    gs_random_seed(&random, SEED, "update");
    double *matrix = random_symmetric(n, "update matrix");
    for (size_t i = 0; i < n; i++) matrix[i * n + i] += shift;
    double *vector = gs_calloc(n, sizeof *vector), *values = gs_calloc(n, sizeof *values);
    double *plain = gs_calloc(n, sizeof *plain), largest;
    for (size_t i = 0; i < n; i++) vector[i] = size * gs_random_normal(&random);
    struct gs_error error;
    double *sum = poisoned_copy(matrix, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) sum[i * n + j] += vector[i] * vector[j];
    gs_assert_ok(gs_eigenvalues(n, sum, plain, &error), &error);
    double *work = poisoned_copy(matrix, n);
    gs_assert_ok(gs_eigenvalues_updated(n, work, vector, values, &largest, &error), &error);
    gs_assert_near_at("largest of the update", largest, plain[0], 1e-12 * (double)n, 1e-12,
                      __FILE__, __LINE__);
    gs_free(matrix);
    gs_free(vector);
    gs_free(values);
    gs_free(plain);
    gs_free(sum);
    gs_free(work);
}

static void an_update_has_the_largest_eigenvalue_of_the_sum(void **state) {
    (void)state;
    const size_t sizes[] = {1, 2, 5, 32, 80, 150};
    const double lengths[] = {0, 1e-9, 0.1, 1, 30, 1e6};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof lengths / sizeof *lengths; j++) {
            check_update(sizes[i], lengths[j], 0);
            check_update(sizes[i], lengths[j], 50);
        }
}

static void an_update_across_the_top_changes_nothing(void **state) {
    (void)state;
    /* diag(5, 1) + v vᵀ with v = (0, 1): the top stays 5; with v = (0, 3) it is 10. */
    double matrix[4] = {5, 0, 0, 1}, again[4] = {5, 0, 0, 1}, values[2], largest;
    const double small[2] = {0, 1}, large[2] = {0, 3};
    struct gs_error error;
    gs_assert_ok(gs_eigenvalues_updated(2, matrix, small, values, &largest, &error), &error);
    gs_assert_near_at("top stays", largest, 5, 1e-14, 0, __FILE__, __LINE__);
    gs_assert_ok(gs_eigenvalues_updated(2, again, large, values, &largest, &error), &error);
    gs_assert_near_at("top moves", largest, 10, 1e-13, 0, __FILE__, __LINE__);
    double zero[9] = {0}, three[3];
    const double vector[3] = {2, 0, 1};
    gs_assert_ok(gs_eigenvalues_updated(3, zero, vector, three, &largest, &error), &error);
    gs_assert_near_at("of zero", largest, 5, 1e-13, 0, __FILE__, __LINE__);
}

static void values_that_are_not_finite_are_named(void **state) {
    (void)state;
    struct gs_error error;
    double values[3];
    double infinite[9] = {1, 0, 0, 0, 1, INFINITY, 0, 0, 1};
    gs_assert_error(gs_eigenvalues(3, infinite, values, &error), GS_NUMERIC, &error, "row 1",
                    "column 2", "inf");
    double nan[9] = {1, 0, NAN, 0, 1, 0, 0, 0, 1};
    gs_assert_error(gs_eigenvectors(3, nan, values, &error), GS_NUMERIC, &error, "row 0",
                    "column 2", "nan");
    double diagonal[4] = {1, 0, 0, -INFINITY};
    gs_assert_error(gs_eigenvalues(2, diagonal, values, &error), GS_NUMERIC, &error, "row 1",
                    "column 1", "-inf");
    double fine[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, bad[3] = {0, -INFINITY, 0}, largest;
    gs_assert_error(gs_eigenvalues_updated(3, fine, bad, values, &largest, &error), GS_NUMERIC,
                    &error, "row 1");
}

/* Eigenvalues scale with the matrix, to sizes whose squares leave the range of numbers. */
static void huge_and_tiny_matrices_keep_their_digits(void **state) {
    (void)state;
    enum { N = 70 };
    const double sizes[] = {1e-160, 1e-3, 1e160};
    double *matrix = random_symmetric(N, "sizes"), plain[N], scaled[N];
    double *work = poisoned_copy(matrix, N);
    struct gs_error error;
    gs_assert_ok(gs_eigenvalues(N, work, plain, &error), &error);
    gs_free(work);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        work = poisoned_copy(matrix, N);
        for (size_t i = 0; i < N; i++)
            for (size_t j = i; j < N; j++) work[i * N + j] *= sizes[s];
        gs_assert_ok(gs_eigenvalues(N, work, scaled, &error), &error);
        for (size_t k = 0; k < N; k++)
            gs_assert_near_at("scaled", scaled[k] / sizes[s], plain[k], 1e-12 * N, 0, __FILE__,
                              __LINE__);
        gs_free(work);
    }
    gs_free(matrix);
}

/* The float32 reduction against the other, at all sizes and scales. */
static void a_reduction_in_float32_is_near(void **state) {
    (void)state;
    const size_t sizes[] = {1, 2, 3, 31, 33, 64, 65, 129, 300};
    const double scales[] = {1, 1e-160, 1e160};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t s = 0; s < 3; s++) {
            size_t n = sizes[i];
            double *matrix = random_symmetric(n, "single"), found[2][300], largest[2];
            double vector[300];
            for (size_t k = 0; k < n; k++) vector[k] = sqrt(scales[s]) * sin((double)k + 1);
            for (size_t k = 0; k < n * n; k++) matrix[k] *= scales[s];
            struct gs_error error;
            double *work = poisoned_copy(matrix, n);
            gs_assert_ok(gs_eigenvalues_updated(n, work, vector, found[0], &largest[0], &error),
                         &error);
            gs_free(work);
            work = poisoned_copy(matrix, n);
            gs_assert_ok(
                gs_eigenvalues_updated_single(n, work, vector, found[1], &largest[1], &error),
                &error);
            gs_free(work);
            double size = fmax(fabs(found[0][0]), fabs(found[0][n - 1]));
            for (size_t k = 0; k < n; k++)
                gs_assert_near("eigenvalue", found[1][k], found[0][k], 1e-6 * size, 0);
            gs_assert_near("updated", largest[1], largest[0], 1e-6 * size, 1e-6);
            gs_free(matrix);
        }
}

static void orders_that_overflow_workspaces_are_refused(void **state) {
    (void)state;
    struct gs_error error;
    double none = 0;
    gs_assert_error(gs_eigenvalues(32767, &none, &none, &error), GS_UNSUPPORTED, &error, "32766",
                    "32767");
    gs_assert_error(gs_eigenvectors((size_t)1 << 40, &none, &none, &error), GS_UNSUPPORTED, &error,
                    "32766");
    gs_assert_ok(gs_eigenvalues(0, &none, &none, &error), &error);
}

static void threads_change_no_bit(void **state) {
    (void)state;
    enum { N = 300 };
    double *matrix = random_symmetric(N, "bits"), first[N], again[N];
    for (int threads = 1; threads <= 3; threads++) {
        gs_threads_set(threads);
        double *work = poisoned_copy(matrix, N);
        gs_assert_ok(gs_eigenvalues(N, work, threads == 1 ? first : again, NULL), NULL);
        gs_free(work);
        assert_int_equal(gs_threads_get(), threads);
        if (threads > 1) assert_memory_equal(first, again, sizeof first);
    }
    gs_free(matrix);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eigenpairs_have_small_residuals),
        cmocka_unit_test(an_update_has_the_largest_eigenvalue_of_the_sum),
        cmocka_unit_test(an_update_across_the_top_changes_nothing),
        cmocka_unit_test(values_that_are_not_finite_are_named),
        cmocka_unit_test(huge_and_tiny_matrices_keep_their_digits),
        cmocka_unit_test(a_reduction_in_float32_is_near),
        cmocka_unit_test(orders_that_overflow_workspaces_are_refused),
        cmocka_unit_test(threads_change_no_bit),
    };
    print_message("seed %d\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
