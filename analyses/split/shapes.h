/* shapes.h - what log efolds may look like: one normal, two, or evenly spread; by likelihood.
 *
 * Normal on the logarithm is log-normal on tokens, even on the logarithm is log-uniform. A head
 * beyond the bound enters with the probability of being there. Deviations have a floor, a tenth of
 * the sample's own, without which two heads alike would make the likelihood infinite.
 */
#ifndef GS_ANALYSES_SPLIT_SHAPES_H
#define GS_ANALYSES_SPLIT_SHAPES_H

#include "analyses/split/sample.h"

struct gs_normal {
    double mean, deviation;
};
struct gs_two_normals {
    double share; /* of the heads that belong to the first, whose mean is the smaller */
    struct gs_normal fast, slow;
};
struct gs_even {
    double low, high;
};

/* Maximum-likelihood fits, and the logarithm of the likelihood there. Two heads known at least, not
 * all alike; gs_split_measurable says so.
 * One normal under censoring and two are found by EM (Dempster, Laird and Rubin 1977), two from
 * five starts: the sample cut at five places, a few steps each, the best followed until it stands
 * still.
 */
bool gs_split_measurable(const struct gs_split_sample *sample);
double gs_split_fit_normal(const struct gs_split_sample *sample, struct gs_normal *normal);
double gs_split_fit_two(const struct gs_split_sample *sample, struct gs_two_normals *two);
double gs_split_fit_even(const struct gs_split_sample *sample, struct gs_even *even);

/* log Φ̄((bound − mean)/deviation), and log likelihoods at given parameters: for whoever checks. */
double gs_split_log_tail(struct gs_normal normal, double bound);
double gs_split_likelihood_of_two(const struct gs_split_sample *sample,
                                  const struct gs_two_normals *two);

#endif
