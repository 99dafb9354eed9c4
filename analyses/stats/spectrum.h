/* spectrum.h - measures of dimension from the eigenvalues of a covariance.
 *
 * Eigenvalues come largest first. A measure that has no meaning (no variance at all) is NaN, or 0
 * for counts.
 */
#ifndef GS_ANALYSES_STATS_SPECTRUM_H
#define GS_ANALYSES_STATS_SPECTRUM_H

#include "core/base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Set eigenvalues below DBL_EPSILON · count · λ₁ to zero, negative ones included, and count those
 * that were not zero: a covariance has no negative eigenvalue, what shows is rounding. `epsilon` is
 * the rounding of the products that made the matrix (FLT_EPSILON or DBL_EPSILON); one below
 * −epsilon · count · λ₁ is more than rounding and GS_NUMERIC. */
enum gs_status gs_spectrum_clip(double *eigenvalues, size_t count, double epsilon, size_t *clipped,
                                struct gs_error *error);

double gs_spectrum_sum(const double *eigenvalues, size_t count);

/* The fewest components that hold `share` of the sum (0 < share ≤ 1); 0 when the sum is not
 * positive. A shortfall of 1e-12 of the sum is rounding and forgiven. */
size_t gs_spectrum_components(const double *eigenvalues, size_t count, double share);

/* Σλ / λ₁ */
double gs_spectrum_stable_rank(const double *eigenvalues, size_t count);

/* (Σλ)² / Σλ² */
double gs_spectrum_participation(const double *eigenvalues, size_t count);

/* The same with the finite number of rows taken out of both parts. Of n independent normal rows
 * with covariance Σ, the sample covariance S (divisor ν = n − 1) has
 *     E (tr S)² = (tr Σ)² + (2/ν) tr Σ²
 *     E tr S²   = (1 + 1/ν) tr Σ² + (1/ν) (tr Σ)²
 * so with D = (ν − 1)(ν + 2)/ν² the unbiased estimates are
 *     (tr Σ)²:  [(1 + 1/ν) (tr S)² − (2/ν) tr S²] / D
 *     tr Σ²:    [tr S² − (tr S)² / ν] / D                    (Srivastava 2005)
 * and their quotient is given; D cancels. Chun et al. 2025 treat the same bias of the participation
 * ratio. Rows are assumed independent: dependent ones need a larger correction than this. NaN when
 * n < 3 or the second estimate is not positive. */
double gs_spectrum_participation_corrected(const double *eigenvalues, size_t count, uint64_t n);

/* exp of the entropy of σᵢ / Σσ, σ = √λ (Roy and Vetterli 2007) */
double gs_spectrum_effective_rank(const double *eigenvalues, size_t count);

#endif
