/* tridiagonal.h - a symmetric matrix made tridiagonal in two stages (Bischof, Lang, Sun 2000): to a
 * band by block reflections, which is nearly all multiplication of matrices, and from the band by
 * chasing each column's bulge down it in small blocks. One stage alone spends most of its time
 * reading the matrix once for every column. Inside linalg only. */
#ifndef GS_ANALYSES_LINALG_TRIDIAGONAL_H
#define GS_ANALYSES_LINALG_TRIDIAGONAL_H

#include "core/base/status.h"

#include <stddef.h>

/* matrix (n, n), row-major, upper triangle read, all of it destroyed, becomes Q T Qᵀ: diagonal (n)
 * and beside (n) of T. Q leaves the first unit vector alone. Runs on `threads` threads; the bits do
 * not depend on how many. BLAS must be set to one thread. GS_NO_MEMORY, GS_NUMERIC. */
enum gs_status gs_tridiagonal_reduce(size_t n, double *matrix, int threads, double *diagonal,
                                     double *beside, struct gs_error *error);

/* The block reflection of an m-row, b-column panel P (column-major, stride ld): P becomes R above
 * V, and with k = min(m, b) v (k, m) is V's columns in rows, whole (zeros and ones written out),
 * and factor (k, k) the row-major transpose of T in I − V T Vᵀ. work: at least 64 b doubles.
 * (LAPACK's dgeqrf and dlarft; lapack.c) */
enum gs_status gs_block_reflection(size_t m, size_t b, double *panel, size_t ld, double *v,
                                   double *factor, double *tau, double *work,
                                   struct gs_error *error);

#endif
