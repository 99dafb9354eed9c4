/* Products through BLAS against plain loops in double, on every transposition, triangle and stride;
 * and the refusals that keep a narrowed dimension from reaching BLAS. */
#include "tests/support/support.h"

#include "core/base/environment.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/kernels/blas.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

static struct gs_error error;

static double *fill(struct gs_random *random, size_t count) {
    double *values = gs_calloc(count + 1, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; i++) values[i] = gs_random_uniform(random) - 0.5;
    return values;
}

static float *narrow(const double *values, size_t count) {
    float *narrowed = gs_calloc(count + 1, sizeof *narrowed);
    assert_non_null(narrowed);
    for (size_t i = 0; i < count; i++) narrowed[i] = (float)values[i];
    return narrowed;
}

static double at(const double *matrix, size_t stride, enum gs_transpose transpose, size_t i,
                 size_t j) {
    return transpose == GS_PLAIN ? matrix[i * stride + j] : matrix[j * stride + i];
}

struct product {
    enum gs_transpose ta, tb;
    size_t m, n, k, lda, ldb, ldc;
    double alpha, beta;
};

static double naive(const struct product *p, const double *a, const double *b, const double *c,
                    size_t i, size_t j) {
    double sum = 0;
    for (size_t l = 0; l < p->k; l++)
        sum += at(a, p->lda, p->ta, i, l) * at(b, p->ldb, p->tb, l, j);
    return p->alpha * sum + (p->beta != 0 ? p->beta * c[i * p->ldc + j] : 0);
}

static void check_product(struct gs_random *random, const struct product *p) {
    size_t a_rows = p->ta == GS_PLAIN ? p->m : p->k, b_rows = p->tb == GS_PLAIN ? p->k : p->n;
    size_t a_count = a_rows * p->lda, b_count = b_rows * p->ldb, c_count = p->m * p->ldc;
    double *a = fill(random, a_count), *b = fill(random, b_count), *c = fill(random, c_count);
    if (p->beta == 0) /* what stands in C must not count, whatever it is */
        for (size_t i = 0; i < c_count; i++) c[i] = NAN;
    double *d = gs_calloc(c_count + 1, sizeof *d);
    float *fa = narrow(a, a_count), *fb = narrow(b, b_count), *fc = narrow(c, c_count);
    for (size_t i = 0; i < c_count; i++) d[i] = c[i];
    gs_assert_ok(gs_blas_dgemm(p->ta, p->tb, p->m, p->n, p->k, p->alpha, a, p->lda, b, p->ldb,
                               p->beta, d, p->ldc, &error),
                 &error);
    gs_assert_ok(gs_blas_sgemm(p->ta, p->tb, p->m, p->n, p->k, (float)p->alpha, fa, p->lda, fb,
                               p->ldb, (float)p->beta, fc, p->ldc, &error),
                 &error);
    for (size_t i = 0; i < p->m; i++) {
        for (size_t j = 0; j < p->ldc; j++) {
            size_t place = i * p->ldc + j;
            if (j >= p->n) { /* between the rows nothing is touched */
                assert_memory_equal(&d[place], &c[place], sizeof *d);
                continue;
            }
            double expected = naive(p, a, b, c, i, j);
            gs_assert_near("dgemm", d[place], expected, 1e-13 * (double)(p->k + 1), 0);
            gs_assert_near("sgemm", (double)fc[place], expected, 1e-6 * (double)(p->k + 1), 0);
        }
    }
    gs_free(a), gs_free(b), gs_free(c), gs_free(d), gs_free(fa), gs_free(fb), gs_free(fc);
}

static void test_products(void **state) {
    (void)state;
    struct gs_random random;
    gs_random_seed(&random, 11, "test/blas");
    static const double factors[] = {0, 1, -0.75};
    for (int round = 0; round < 200; round++) {
        struct product p = {.ta = (enum gs_transpose)(round & 1),
                            .tb = (enum gs_transpose)(round >> 1 & 1),
                            .m = (size_t)gs_random_below(&random, 40),
                            .n = (size_t)gs_random_below(&random, 40),
                            .k = (size_t)gs_random_below(&random, 40),
                            .alpha = factors[gs_random_below(&random, 3)],
                            .beta = factors[gs_random_below(&random, 3)]};
        p.lda = (p.ta == GS_PLAIN ? p.k : p.m) + (size_t)gs_random_below(&random, 3);
        p.ldb = (p.tb == GS_PLAIN ? p.n : p.k) + (size_t)gs_random_below(&random, 3);
        p.ldc = p.n + (size_t)gs_random_below(&random, 3);
        check_product(&random, &p);
    }
}

static bool inside(enum gs_triangle triangle, size_t i, size_t j) {
    return triangle == GS_UPPER ? j >= i : j <= i;
}

static void check_update(struct gs_random *random, enum gs_triangle triangle,
                         const struct product *p) {
    size_t a_count = (p->ta == GS_PLAIN ? p->n : p->k) * p->lda, c_count = p->n * p->ldc;
    double *a = fill(random, a_count), *c = fill(random, c_count);
    if (p->beta == 0)
        for (size_t i = 0; i < c_count; i++) c[i] = NAN;
    double *d = gs_calloc(c_count + 1, sizeof *d);
    float *fa = narrow(a, a_count), *fc = narrow(c, c_count);
    for (size_t i = 0; i < c_count; i++) d[i] = c[i];
    gs_assert_ok(
        gs_blas_dsyrk(triangle, p->ta, p->n, p->k, p->alpha, a, p->lda, p->beta, d, p->ldc, &error),
        &error);
    gs_assert_ok(gs_blas_ssyrk(triangle, p->ta, p->n, p->k, (float)p->alpha, fa, p->lda,
                               (float)p->beta, fc, p->ldc, &error),
                 &error);
    struct product full = *p;
    full.m = p->n;
    full.ldb = p->lda;
    full.tb = p->ta == GS_PLAIN ? GS_TRANSPOSED : GS_PLAIN;
    for (size_t i = 0; i < p->n; i++) {
        for (size_t j = 0; j < p->n; j++) {
            size_t place = i * p->ldc + j;
            if (!inside(triangle, i, j)) { /* the other triangle is nobody's */
                assert_memory_equal(&d[place], &c[place], sizeof *d);
                continue;
            }
            double expected = naive(&full, a, a, c, i, j);
            gs_assert_near("dsyrk", d[place], expected, 1e-13 * (double)(p->k + 1), 0);
            gs_assert_near("ssyrk", (double)fc[place], expected, 1e-6 * (double)(p->k + 1), 0);
        }
    }
    gs_free(a), gs_free(c), gs_free(d), gs_free(fa), gs_free(fc);
}

static void test_updates(void **state) {
    (void)state;
    struct gs_random random;
    gs_random_seed(&random, 12, "test/blas");
    static const double factors[] = {0, 1, -0.75};
    for (int round = 0; round < 200; round++) {
        struct product p = {.ta = (enum gs_transpose)(round & 1),
                            .n = (size_t)gs_random_below(&random, 40),
                            .k = (size_t)gs_random_below(&random, 40),
                            .alpha = factors[gs_random_below(&random, 3)],
                            .beta = factors[gs_random_below(&random, 3)]};
        p.lda = (p.ta == GS_PLAIN ? p.k : p.n) + (size_t)gs_random_below(&random, 3);
        p.ldc = p.n + (size_t)gs_random_below(&random, 3);
        check_update(&random, (enum gs_triangle)(round >> 1 & 1), &p);
    }
}

static void test_dot(void **state) {
    (void)state;
    const double x[] = {1, 2, 3}, y[] = {4, -5, 6};
    double dot = 99;
    gs_assert_ok(gs_blas_ddot(3, x, y, &dot, &error), &error);
    assert_true(dot == 12);
    gs_assert_ok(gs_blas_ddot(0, x, y, &dot, &error), &error);
    assert_true(dot == 0);
}

/* Refused before BLAS sees them; no memory of that size is needed. */
static void test_refusals(void **state) {
    (void)state;
    float x = 0;
    double y = 0, dot = 5;
    size_t huge = (size_t)INT_MAX + 1;
    gs_assert_error(
        gs_blas_sgemm(GS_PLAIN, GS_PLAIN, huge, 1, 1, 1, &x, 1, &x, 1, 0, &x, 1, &error), GS_SHAPE,
        &error, "sgemm", "m is too large", "2147483648");
    gs_assert_error(
        gs_blas_sgemm(GS_PLAIN, GS_PLAIN, 1, 1, 1, 1, &x, huge, &x, 1, 0, &x, 1, &error), GS_SHAPE,
        &error, "lda is too large");
    gs_assert_error(gs_blas_sgemm(GS_PLAIN, GS_PLAIN, 1, 1, 2, 1, &x, 1, &x, 1, 0, &x, 1, &error),
                    GS_SHAPE, &error, "lda is smaller", "at least 2");
    gs_assert_error(
        gs_blas_sgemm(GS_PLAIN, GS_TRANSPOSED, 1, 1, 2, 1, &x, 2, &x, 1, 0, &x, 1, &error),
        GS_SHAPE, &error, "ldb is smaller");
    gs_assert_error(gs_blas_dgemm(GS_PLAIN, GS_PLAIN, 1, 2, 1, 1, &y, 1, &y, 2, 0, &y, 1, &error),
                    GS_SHAPE, &error, "dgemm", "ldc is smaller");
    gs_assert_error(gs_blas_ssyrk(GS_UPPER, GS_TRANSPOSED, 1, huge, 1, &x, 1, 0, &x, 1, &error),
                    GS_SHAPE, &error, "ssyrk", "k is too large");
    gs_assert_error(gs_blas_dsyrk(GS_UPPER, GS_PLAIN, 2, 1, 1, &y, 1, 0, &y, 1, &error), GS_SHAPE,
                    &error, "dsyrk", "ldc is smaller");
    gs_assert_error(gs_blas_ddot(huge, &y, &y, &dot, &error), GS_SHAPE, &error, "ddot");
    assert_true(dot == 5);
}

/* Called from a parallel region each caller gets its own right answer, and the number of threads
 * set is what loops and BLAS use afterwards, too. */
static void test_inside_parallel_region(void **state) {
    (void)state;
    enum { N = 96, CALLS = 16 };
    static float a[N * N], c[CALLS][N * N], alone[N * N];
    for (size_t i = 0; i < N * N; i++) a[i] = (float)((i * 7919) % 17) - 8; /* exact sums */
    gs_threads_set(3);
    gs_assert_ok(
        gs_blas_sgemm(GS_PLAIN, GS_TRANSPOSED, N, N, N, 1, a, N, a, N, 0, alone, N, &error),
        &error);
    int failures = 0;
#pragma omp parallel for reduction(+ : failures)
    for (int i = 0; i < CALLS; i++)
        failures += gs_blas_sgemm(GS_PLAIN, GS_TRANSPOSED, N, N, N, 1, a, N, a, N, 0, c[i], N,
                                  NULL) != GS_OK;
    assert_int_equal(failures, 0);
    for (size_t i = 0; i < CALLS; i++) assert_memory_equal(c[i], alone, sizeof alone);
    gs_threads_set(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_updates),
        cmocka_unit_test(test_dot),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_inside_parallel_region),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
