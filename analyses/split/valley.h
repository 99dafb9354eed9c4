/* valley.h - is there a valley where the paper puts one, and where is the widest gap?
 *
 * The valley: heads with an efold from 3 to 5 tokens, beside those from 1 to 3 and from 5 to 322
 * (the paper's ranges). A distribution with one peak is, on average over a stretch, at least as
 * dense as the thinner of its two neighbours. So of the heads in valley and neighbour together, the
 * valley's are at least Bin(n, width of valley / width of both) for one neighbour or the other, and
 * the larger of both binomial probabilities is a p-value for every such distribution, exact at any
 * number of heads. The place was named by the paper beforehand, so nothing is paid for having
 * looked for it.
 */
#ifndef GS_ANALYSES_SPLIT_VALLEY_H
#define GS_ANALYSES_SPLIT_VALLEY_H

#include "analyses/split/sample.h"

#define GS_SPLIT_FAST 3.0   /* the paper's fast heads keep what they hold at most 3 tokens */
#define GS_SPLIT_SLOW 5.0   /* its slow ones at least 5 */
#define GS_SPLIT_REACH 322. /* as far as the paper's slow heads go */

struct gs_split_valley {
    size_t left, inside, right; /* heads in [1, 3], (3, 5), [5, 322] tokens */
    double right_end;           /* in tokens: 322, or the bound where that is less */
    double p;                   /* 1 where the bound leaves no slow neighbour */
};
struct gs_split_valley gs_split_valley_of(const struct gs_split_sample *sample);

/* P(X ≤ k), X ~ Bin(n, p), by its sum. */
double gs_binomial_at_most(size_t k, size_t n, double p);

/* The widest gap between neighbouring heads with at least a fifth of all heads, and two, on either
 * side (censored ones lie beyond every gap). */
struct gs_split_gap {
    bool known;       /* false where there are too few heads known */
    double log_ratio; /* width: log of the ratio of the efolds beside it */
    double at;        /* its middle, in log tokens: the best split point */
};
struct gs_split_gap gs_split_widest_gap(const struct gs_split_sample *sample);

#endif
