/* band.h - a symmetric matrix made a band of GS_BAND side diagonals by block reflections. Inside
 * linalg only. */
#ifndef GS_ANALYSES_LINALG_BAND_H
#define GS_ANALYSES_LINALG_BAND_H

#include "core/base/status.h"
#include "core/kernels/reflections.h"

#include <stddef.h>

enum { GS_BAND = GS_REFLECTION };

/* matrix (n, n), row-major, upper triangle read, all of it destroyed, becomes Q B Qᵀ: B above its
 * diagonal. Q leaves the first unit vector alone. `threads` and errors as gs_tridiagonal_reduce.
 * In float32 eigenvalues are right to a few 1e-7 of the largest. */
enum gs_status gs_band_reduce(size_t n, double *matrix, int threads, struct gs_error *error);
enum gs_status gs_band_reduce_single(size_t n, float *matrix, int threads, struct gs_error *error);

/* The block reflection of an m-row, b-column panel P (column-major, stride ld): P becomes R above
 * V, and with k = min(m, b) v (k, m) is V's columns in rows, whole (zeros and ones written out),
 * and factor (k, k) the row-major transpose of T in I − V T Vᵀ. work: at least 64 b numbers.
 * (LAPACK's dgeqrf and dlarft, sgeqrf and slarft; lapack.c) */
enum gs_status gs_block_reflection(size_t m, size_t b, double *panel, size_t ld, double *v,
                                   double *factor, double *tau, double *work,
                                   struct gs_error *error);
enum gs_status gs_block_reflection_single(size_t m, size_t b, float *panel, size_t ld, float *v,
                                          float *factor, float *tau, float *work,
                                          struct gs_error *error);

#endif
