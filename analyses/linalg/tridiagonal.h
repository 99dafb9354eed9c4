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

/* The same with the first stage in float32, in the matrix's memory, at about half the time. The
 * matrix's numbers must be near 1. */
enum gs_status gs_tridiagonal_reduce_single(size_t n, double *matrix, int threads, double *diagonal,
                                            double *beside, struct gs_error *error);

#endif
