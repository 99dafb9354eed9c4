/* basic_interval.h - bootstrap intervals that take the replicates' bias out. */
#ifndef GS_ANALYSES_STATS_BASIC_INTERVAL_H
#define GS_ANALYSES_STATS_BASIC_INTERVAL_H

#include "analyses/stats/bootstrap.h"

/* The basic interval (Davison and Hinkley 1997, ch. 5) from a percentile interval:
 *     f⁻¹[2 f(θ) − f(q_high)], f⁻¹[2 f(θ) − f(q_low)]
 * on the scale f on which a measure in [low, high] has no border: log((x − low) / (high − x)), or
 * log x where high alone is infinite (low is then at least 0), x itself where both are. The result
 * is cut to [low, high]. Where the estimate or a percentile lies on the border, f is the identity.
 * Unknown when the percentile interval or the estimate (NaN) is. */
struct gs_interval gs_basic_interval(struct gs_interval percentile, double estimate, double low,
                                     double high);

#endif
