/* crossing.h - where a curve that starts at 1 first falls to a threshold. */
#ifndef GS_ANALYSES_STATS_CROSSING_H
#define GS_ANALYSES_STATS_CROSSING_H

#include <stddef.h>

enum gs_between {
    GS_BETWEEN_LOG,   /* straight lines in the logarithm of the value */
    GS_BETWEEN_LINEAR /* straight lines in the value */
};

/* The smallest lag at which the curve is at or below `threshold` (< 1), given values at ascending
 * lags ≥ 1 and the value 1 at lag 0, interpolated between the neighbouring lags. Where the later
 * value is not positive its logarithm is taken as −∞, so that GS_BETWEEN_LOG (threshold > 0) gives
 * the earlier lag: the limit of the rule. NaN values are skipped. Infinity: it never falls so far.
 * *at (may be NULL) becomes the index of the first value at or below, or `count`. */
double gs_first_at_or_below(const size_t *lags, const double *values, size_t count,
                            double threshold, enum gs_between between, size_t *at);

#endif
