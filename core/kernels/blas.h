/* blas.h - the one door to BLAS: which one runs, and products with checked dimensions.
 *
 * All matrices are row-major; a leading dimension counts elements from one row to the next. Every
 * function returns GS_SHAPE when a dimension does not fit BLAS's integer or a leading dimension is
 * too small; that is the only failure. Empty products are legal. Inside an OpenMP parallel region
 * the OpenMP build of OpenBLAS runs on the calling thread alone.
 *
 * Results may change in the last bits with the number of threads: what must not goes through the
 * packed product of ours instead.
 */
#ifndef GS_CORE_KERNELS_BLAS_H
#define GS_CORE_KERNELS_BLAS_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* What runs, as static strings: "OpenBLAS 0.3.21"; "Zen"; "openmp", "pthread" or "serial". */
const char *gs_blas_version(void);
const char *gs_blas_core(void);
const char *gs_blas_threading(void);
/* Threads BLAS may use from now on, at least 1. Call gs_threads_set, which calls this. */
void gs_blas_threads_set(int threads);

enum gs_transpose { GS_PLAIN, GS_TRANSPOSED };

/* C (m, n) = alpha op(A) (m, k) op(B) (k, n) + beta C. With beta 0, C is not read (may hold NaN).
 * A is stored (m, k), or (k, m) when transposed; B (k, n), or (n, k). */
enum gs_status gs_blas_sgemm(enum gs_transpose a_transpose, enum gs_transpose b_transpose, size_t m,
                             size_t n, size_t k, float alpha, const float *a, size_t lda,
                             const float *b, size_t ldb, float beta, float *c, size_t ldc,
                             struct gs_error *error);
enum gs_status gs_blas_dgemm(enum gs_transpose a_transpose, enum gs_transpose b_transpose, size_t m,
                             size_t n, size_t k, double alpha, const double *a, size_t lda,
                             const double *b, size_t ldb, double beta, double *c, size_t ldc,
                             struct gs_error *error);

enum gs_triangle { GS_UPPER, GS_LOWER };

/* Rank-k update of one triangle (with diagonal) of C (n, n); the other triangle is not touched.
 *   GS_TRANSPOSED: C = alpha Aᵀ A + beta C, A (k, n): k rows of observations
 *   GS_PLAIN:      C = alpha A Aᵀ + beta C, A (n, k) */
enum gs_status gs_blas_ssyrk(enum gs_triangle triangle, enum gs_transpose transpose, size_t n,
                             size_t k, float alpha, const float *a, size_t lda, float beta,
                             float *c, size_t ldc, struct gs_error *error);
enum gs_status gs_blas_dsyrk(enum gs_triangle triangle, enum gs_transpose transpose, size_t n,
                             size_t k, double alpha, const double *a, size_t lda, double beta,
                             double *c, size_t ldc, struct gs_error *error);

/* *dot = sum of x[i] y[i], i < n. */
enum gs_status gs_blas_ddot(size_t n, const double *x, const double *y, double *dot,
                            struct gs_error *error);

#endif
