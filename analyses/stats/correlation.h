/* correlation.h - correlations between columns, from their centred second moments. */
#ifndef GS_ANALYSES_STATS_CORRELATION_H
#define GS_ANALYSES_STATS_CORRELATION_H

#include <stddef.h>
#include <stdint.h>

enum { GS_CORRELATION_BINS = 100 }; /* equal bins of [−1, 1]; the last one holds 1 */

struct gs_correlation {
    uint64_t pairs;             /* d(d − 1)/2 pairs of the d columns that vary */
    size_t live;                /* d */
    double mean_abs, max_abs;   /* NaN when there is no pair */
    size_t max_row, max_column; /* the first pair that reaches max_abs */
};

/* Over a row-major (dims, dims) matrix of which the diagonal and what lies above it are read. A
 * column takes part when its diagonal is positive: a constant one has no correlation. A quotient
 * beyond ±1 by rounding counts as ±1. counts (GS_CORRELATION_BINS) may be NULL. inverse (dims) is
 * scratch. */
void gs_correlation_summary(const double *comoment, size_t dims, double *inverse,
                            struct gs_correlation *summary, uint64_t *counts);

#endif
