/* effective.h - on how many independent observations a mean over dependent rows rests. */
#ifndef GS_ANALYSES_STATS_EFFECTIVE_H
#define GS_ANALYSES_STATS_EFFECTIVE_H

#include <stddef.h>

/* How many equal blocks weigh as much as these of `counts` (blocks) rows: (Σ n)² / Σ n² (Kish 1965,
 * Survey Sampling, 11.7). It takes the rows of a block as wholly dependent, so it is a lower bound
 * to the number of independent observations. Equal blocks: their number. Counts lie `stride`
 * doubles apart. NaN when no block has a row. */
double gs_effective_blocks(const double *counts, size_t stride, size_t blocks);

/* How many independent rows would give their mean the variance that whole blocks, resampled, give
 * it: n · (s² / n) / v, where s² = squares / (n − 1) and
 *     v = B / (B − 1) · Σ_b (S_b − n_b m)² / n²,  m = Σ S_b / n,
 * the variance of block bootstrap means to first order (linearised ratio; Cochran 1977, 6.5); at
 * most n. Rows of an AR(1) with coefficient ρ in long blocks: n (1 − ρ) / (1 + ρ). sums, counts
 * (blocks): S_b and n_b, `stride` doubles apart; squares: Σ (row − m)² over all rows. NaN with
 * fewer than two blocks that have rows, or rows that are all the same. */
double gs_effective_rows(const double *sums, const double *counts, size_t stride, size_t blocks,
                         double squares);

#endif
