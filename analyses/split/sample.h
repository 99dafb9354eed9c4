/* sample.h - all heads as one sample: ascending log efolds, and how many lie beyond one bound. */
#ifndef GS_ANALYSES_SPLIT_SAMPLE_H
#define GS_ANALYSES_SPLIT_SAMPLE_H

#include "analyses/split/heads.h"
#include "core/base/random.h"

/* The heads known are those below `bound`, the smallest bound of any censored head: an efold seen
 * beyond the bound of another counts as beyond it, too, so that one bound serves all. A
 * distribution with one peak, cut off at a bound, still has one peak: what needs known values may
 * look at those below it alone. */
struct gs_split_sample {
    double *x;       /* (exact) ascending, below bound */
    size_t exact;    /* heads known */
    size_t censored; /* heads beyond the bound */
    double bound;    /* +Inf where none is censored */
};

/* Do the seeds differ in where their heads lie? Share of random exchanges of heads between seeds
 * after which the seeds' means lie at least as far apart (sum of squares, weighted by heads; bounds
 * stand for censored heads). 1 for fewer than two seeds. Same seed, same bits. GS_NO_MEMORY. */
enum gs_status gs_split_seeds_differ(const struct gs_split_heads *heads, uint64_t seed,
                                     size_t permutations, double *p, struct gs_error *error);

/* The sample. aligned: each seed's heads are moved so that its mean is the mean of all, which
 * leaves what stands within seeds. sample->x is the caller's (gs_free). GS_NO_MEMORY. */
enum gs_status gs_split_sample_of(const struct gs_split_heads *heads, bool aligned,
                                  struct gs_split_sample *sample, struct gs_error *error);

/* How many seeds have heads on both sides of `at` (log tokens), after aligning where asked; 0 when
 * `at` is NaN. GS_NO_MEMORY. */
enum gs_status gs_split_on_both_sides(const struct gs_split_heads *heads, bool aligned, double at,
                                      size_t *seeds, struct gs_error *error);

/* Sort x, count what is at or beyond the bound as censored. For samples that were drawn. */
void gs_split_sample_settle(struct gs_split_sample *sample, size_t drawn, double bound);

#endif
