/* bootstrap.h - 95 % intervals by resampling whole blocks (sequences or documents).
 *
 * Neighbouring states are dependent, so rows are never resampled: a replicate draws as many blocks
 * as there are, with replacement, and an interval runs from the 2.5th to the 97.5th percentile of
 * the statistic over replicates (Efron's percentile interval). Replicate r's draw depends on seed,
 * r and the number of blocks alone: same seed, same bits, on any number of threads.
 */
#ifndef GS_ANALYSES_STATS_BOOTSTRAP_H
#define GS_ANALYSES_STATS_BOOTSTRAP_H

#include "core/base/progress.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GS_BOOTSTRAP_REPLICATES = 1000 }; /* what commands use unless told */

/* Sequences from which on the intervals of all measurements were seen to hold the truth in 0.90 to
 * 0.98 (README.md); from which on all but Spearman's. */
enum { GS_BOOTSTRAP_ENOUGH = 128, GS_BOOTSTRAP_ENOUGH_BUT_SPEARMAN = 64 };

struct gs_bootstrap {
    uint64_t seed;
    size_t replicates;                  /* 0: no intervals */
    const struct gs_progress *progress; /* asked whether to stop; NULL: nobody watches */
};

/* low and high may be infinite where the statistic is (an e-folding never reached in enough
 * replicates). known is false, and low and high are NaN, when there is no interval: fewer than two
 * blocks, no replicates, or more than a twentieth of the replicates without a value (NaN). */
struct gs_interval {
    bool known;
    double low, high;
    size_t replicates; /* replicates that had a value */
};

/* The blocks of one replicate as indices < blocks, `blocks` of them, in the order drawn. */
void gs_bootstrap_draw(uint64_t seed, uint64_t replicate, size_t blocks, size_t *indices);

/* The same draw as multiplicities: weights[b] = how often block b was drawn (they sum to
 * `blocks`). Most statistics of sums are Σ_b weights[b] · sum_b. */
void gs_bootstrap_weights(uint64_t seed, uint64_t replicate, size_t blocks, double *weights);

/* The interval of `count` replicate values, which are sorted in place. NaN values are left out and
 * may be at most a twentieth; ±Inf take part. Quantile q lies at place q · (count − 1) of the
 * sorted values, between neighbours in proportion (Hyndman and Fan's type 7). */
struct gs_interval gs_bootstrap_percentile(double *values, size_t count);

/* A statistic of one replicate: `count` values from the blocks' multiplicities. `scratch` holds as
 * many doubles as the caller of gs_bootstrap_run asked for, with anything in them. Called from
 * several threads at once: the context may only be read. It must open no parallel region. */
typedef void (*gs_bootstrap_statistic)(const void *context, const double *weights, size_t blocks,
                                       double *values, double *scratch);

/* Intervals of `count` values over blocks; intervals (count) are the caller's. kept: NULL, or room
 * for (count, plan->replicates) replicates, each value's in the order drawn; left alone where there
 * is no interval for want of blocks or replicates. Memory: replicates · count doubles.
 * GS_NO_MEMORY, GS_INTERRUPTED. */
enum gs_status gs_bootstrap_run(const struct gs_bootstrap *plan, size_t blocks, size_t count,
                                gs_bootstrap_statistic statistic, const void *context,
                                size_t scratch, struct gs_interval *intervals, double *kept,
                                struct gs_error *error);

/* Sums of each block: (blocks, columns), row-major, every one finite. */
struct gs_block_sums {
    const double *sums;
    size_t columns;
};

/* `count` values of one replicate from Σ_b weights[b] · sums[b] of every column, part after part:
 * `totals`, which it may work in. Called from several threads at once, as above. */
typedef void (*gs_bootstrap_of_sums)(const void *context, double *totals, double *values);

/* The same intervals of a statistic that depends on such sums alone: those of many replicates are
 * one product, weights · sums, and each replicate is drawn once for all values. Same bits on any
 * number of threads. Memory: replicates · count doubles, and a few replicates' totals a thread. */
enum gs_status gs_bootstrap_sums(const struct gs_bootstrap *plan, size_t blocks,
                                 const struct gs_block_sums *parts, size_t part_count, size_t count,
                                 gs_bootstrap_of_sums statistic, const void *context,
                                 struct gs_interval *intervals, double *kept,
                                 struct gs_error *error);

/* Intervals of ratios of sums, e.g. means over all rows of unequal sequences: column c's statistic
 * is Σ_b w_b numerators[b][c] / Σ_b w_b denominators[b][c], NaN where the denominator is 0. Both
 * are (blocks, columns), row-major. Memory does not grow with columns beyond a fixed stretch. */
enum gs_status gs_bootstrap_ratio(const struct gs_bootstrap *plan, size_t blocks, size_t columns,
                                  const double *numerators, const double *denominators,
                                  struct gs_interval *intervals, double *kept,
                                  struct gs_error *error);

#endif
