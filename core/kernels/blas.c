#include "core/kernels/blas.h"

#include <cblas.h>

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- which BLAS ---- */

const char *gs_blas_version(void) {
    /* "OpenBLAS 0.3.21 NO_AFFINITY USE_OPENMP Zen MAX_THREADS=64": the first two words. Filled with
     * the same bytes by whoever comes first. */
    static _Thread_local char version[64];
    snprintf(version, sizeof version, "%s", openblas_get_config());
    char *space = strchr(version, ' ');
    if (space) space = strchr(space + 1, ' ');
    if (space) *space = '\0';
    return version;
}

const char *gs_blas_core(void) {
    return openblas_get_corename();
}

const char *gs_blas_threading(void) {
    switch (openblas_get_parallel()) {
    case OPENBLAS_OPENMP:
        return "openmp";
    case OPENBLAS_THREAD:
        return "pthread";
    default:
        return "serial";
    }
}

void gs_blas_threads_set(int threads) {
    openblas_set_num_threads(threads < 1 ? 1 : threads);
}

/* ---- dimensions ---- */

static const size_t largest = sizeof(blasint) == 4 ? INT32_MAX : INT64_MAX;

static enum gs_status check_size(const char *routine, const char *name, size_t size,
                                 struct gs_error *error) {
    if (size <= largest) return GS_OK;
    gs_fail(error, GS_SHAPE, "%s: %s is too large for this BLAS", routine, name);
    gs_error_expected(error, "at most %zu", largest);
    gs_error_found(error, "%zu", size);
    return GS_SHAPE;
}

static enum gs_status check_stride(const char *routine, const char *name, size_t stride,
                                   size_t columns, struct gs_error *error) {
    enum gs_status status = check_size(routine, name, stride, error);
    if (status != GS_OK || stride >= columns) return status;
    gs_fail(error, GS_SHAPE, "%s: %s is smaller than a row", routine, name);
    gs_error_expected(error, "at least %zu", columns);
    gs_error_found(error, "%zu", stride);
    return GS_SHAPE;
}

static enum gs_status check_gemm(const char *routine, enum gs_transpose a_transpose,
                                 enum gs_transpose b_transpose, size_t m, size_t n, size_t k,
                                 size_t lda, size_t ldb, size_t ldc, struct gs_error *error) {
    enum gs_status status = check_size(routine, "m", m, error);
    if (status == GS_OK) status = check_size(routine, "n", n, error);
    if (status == GS_OK) status = check_size(routine, "k", k, error);
    if (status == GS_OK)
        status = check_stride(routine, "lda", lda, a_transpose == GS_PLAIN ? k : m, error);
    if (status == GS_OK)
        status = check_stride(routine, "ldb", ldb, b_transpose == GS_PLAIN ? n : k, error);
    if (status == GS_OK) status = check_stride(routine, "ldc", ldc, n, error);
    return status;
}

static enum gs_status check_syrk(const char *routine, enum gs_transpose transpose, size_t n,
                                 size_t k, size_t lda, size_t ldc, struct gs_error *error) {
    enum gs_status status = check_size(routine, "n", n, error);
    if (status == GS_OK) status = check_size(routine, "k", k, error);
    if (status == GS_OK)
        status = check_stride(routine, "lda", lda, transpose == GS_PLAIN ? k : n, error);
    if (status == GS_OK) status = check_stride(routine, "ldc", ldc, n, error);
    return status;
}

/* BLAS refuses leading dimensions of 0, which an empty matrix may have. */
static blasint stride_of(size_t stride) {
    return (blasint)(stride ? stride : 1);
}

static CBLAS_TRANSPOSE cblas_transpose(enum gs_transpose transpose) {
    return transpose == GS_PLAIN ? CblasNoTrans : CblasTrans;
}

static CBLAS_UPLO cblas_triangle(enum gs_triangle triangle) {
    return triangle == GS_UPPER ? CblasUpper : CblasLower;
}

/* ---- products ---- */

/* An empty inner dimension leaves C = beta C, which BLAS does right only with legal strides; k = 0
 * is passed on with stride 1. */
enum gs_status gs_blas_sgemm(enum gs_transpose a_transpose, enum gs_transpose b_transpose, size_t m,
                             size_t n, size_t k, float alpha, const float *a, size_t lda,
                             const float *b, size_t ldb, float beta, float *c, size_t ldc,
                             struct gs_error *error) {
    enum gs_status status =
        check_gemm("sgemm", a_transpose, b_transpose, m, n, k, lda, ldb, ldc, error);
    if (status != GS_OK || m == 0 || n == 0) return status;
    cblas_sgemm(CblasRowMajor, cblas_transpose(a_transpose), cblas_transpose(b_transpose),
                (blasint)m, (blasint)n, (blasint)k, alpha, a, stride_of(lda), b, stride_of(ldb),
                beta, c, stride_of(ldc));
    return GS_OK;
}

enum gs_status gs_blas_dgemm(enum gs_transpose a_transpose, enum gs_transpose b_transpose, size_t m,
                             size_t n, size_t k, double alpha, const double *a, size_t lda,
                             const double *b, size_t ldb, double beta, double *c, size_t ldc,
                             struct gs_error *error) {
    enum gs_status status =
        check_gemm("dgemm", a_transpose, b_transpose, m, n, k, lda, ldb, ldc, error);
    if (status != GS_OK || m == 0 || n == 0) return status;
    cblas_dgemm(CblasRowMajor, cblas_transpose(a_transpose), cblas_transpose(b_transpose),
                (blasint)m, (blasint)n, (blasint)k, alpha, a, stride_of(lda), b, stride_of(ldb),
                beta, c, stride_of(ldc));
    return GS_OK;
}

static void clear_float_triangle(enum gs_triangle triangle, size_t n, float *c, size_t ldc) {
    for (size_t i = 0; i < n; i++) {
        size_t first = triangle == GS_UPPER ? i : 0, end = triangle == GS_UPPER ? n : i + 1;
        for (size_t j = first; j < end; j++) c[i * ldc + j] = 0;
    }
}

enum gs_status gs_blas_ssyrk(enum gs_triangle triangle, enum gs_transpose transpose, size_t n,
                             size_t k, float alpha, const float *a, size_t lda, float beta,
                             float *c, size_t ldc, struct gs_error *error) {
    enum gs_status status = check_syrk("ssyrk", transpose, n, k, lda, ldc, error);
    if (status != GS_OK || n == 0) return status;
    if (beta == 0) { /* some versions scale, and 0 * NaN is NaN */
        clear_float_triangle(triangle, n, c, ldc);
        beta = 1;
    }
    cblas_ssyrk(CblasRowMajor, cblas_triangle(triangle), cblas_transpose(transpose), (blasint)n,
                (blasint)k, alpha, a, stride_of(lda), beta, c, stride_of(ldc));
    return GS_OK;
}

static void clear_double_triangle(enum gs_triangle triangle, size_t n, double *c, size_t ldc) {
    for (size_t i = 0; i < n; i++) {
        size_t first = triangle == GS_UPPER ? i : 0, end = triangle == GS_UPPER ? n : i + 1;
        for (size_t j = first; j < end; j++) c[i * ldc + j] = 0;
    }
}

enum gs_status gs_blas_dsyrk(enum gs_triangle triangle, enum gs_transpose transpose, size_t n,
                             size_t k, double alpha, const double *a, size_t lda, double beta,
                             double *c, size_t ldc, struct gs_error *error) {
    enum gs_status status = check_syrk("dsyrk", transpose, n, k, lda, ldc, error);
    if (status != GS_OK || n == 0) return status;
    if (beta == 0) { /* some versions scale, and 0 * NaN is NaN */
        clear_double_triangle(triangle, n, c, ldc);
        beta = 1;
    }
    cblas_dsyrk(CblasRowMajor, cblas_triangle(triangle), cblas_transpose(transpose), (blasint)n,
                (blasint)k, alpha, a, stride_of(lda), beta, c, stride_of(ldc));
    return GS_OK;
}

enum gs_status gs_blas_ddot(size_t n, const double *x, const double *y, double *dot,
                            struct gs_error *error) {
    enum gs_status status = check_size("ddot", "n", n, error);
    if (status == GS_OK) *dot = cblas_ddot((blasint)n, x, 1, y, 1);
    return status;
}
