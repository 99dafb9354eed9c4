/* lapack.h - the one door to LAPACK: symmetric eigenvalues and eigenvectors, checked.
 *
 * Every function first scans its input: a NaN or Inf is GS_NUMERIC naming row and column, since
 * LAPACK may hang on Inf or return NaN with info = 0. Matrices are row-major; of symmetric ones
 * only the upper triangle (column ≥ row) is read. Orders of 32767 and more are refused with
 * GS_UNSUPPORTED: LAPACK counts workspaces in 32-bit integers, which wrap there. A failure that
 * LAPACK reports (info ≠ 0) is GS_NUMERIC in words. Bits do not depend on the number of threads:
 * eigenvalues take all threads (one, when called from a parallel region), eigenvectors the calling
 * thread alone. Calls may be made from several threads at once.
 */
#ifndef GS_ANALYSES_LINALG_LAPACK_H
#define GS_ANALYSES_LINALG_LAPACK_H

#include "core/base/status.h"

#include <stddef.h>

enum { GS_LAPACK_LARGEST_ORDER = 32766 };

/* Eigenvalues of the symmetric matrix (n, n), largest first, into values (n). The matrix is
 * destroyed. Reduction to tridiagonal form in two stages (tridiagonal.h) and the root-free QR
 * iteration (dsterf). n = 0 is legal. */
enum gs_status gs_eigenvalues(size_t n, double *matrix, double *values, struct gs_error *error);

/* The same, and in *largest the largest eigenvalue of matrix + vector vectorᵀ, at no further
 * reduction: with matrix = Q T Qᵀ and z = Qᵀ vector (‖vector‖ times the first unit vector here) it
 * is the root above λ₁ of the secular function 1 − zᵀ(λ − T)⁻¹z (Golub 1973), found by bisection on
 * tridiagonal solves; λ₁ itself when there is no root above it. n > 0. */
enum gs_status gs_eigenvalues_updated(size_t n, double *matrix, const double *vector,
                                      double *values, double *largest, struct gs_error *error);

/* The same with the reduction to a band in float32: at about half the time, right to a few 1e-7 of
 * the largest eigenvalue instead of 1e-15. */
enum gs_status gs_eigenvalues_updated_single(size_t n, double *matrix, const double *vector,
                                             double *values, double *largest,
                                             struct gs_error *error);

/* Eigenvalues, largest first, and eigenvectors: row k of the matrix becomes the unit vector of
 * values[k] (dsyevd). Vectors have no sign, and none of their own where eigenvalues coincide. */
enum gs_status gs_eigenvectors(size_t n, double *matrix, double *values, struct gs_error *error);

#endif
