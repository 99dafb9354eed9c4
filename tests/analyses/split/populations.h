/* populations.h - heads drawn from what efolds may be in truth, for measuring how often the split
 * test is right. 15 heads a seed unless told. */
#ifndef GS_TESTS_ANALYSES_SPLIT_POPULATIONS_H
#define GS_TESTS_ANALYSES_SPLIT_POPULATIONS_H

#include "analyses/split/heads.h"
#include "core/base/random.h"

enum gs_population {
    /* one peak */
    GS_LOG_UNIFORM,    /* 1 to 322 tokens */
    GS_INITIALISATION, /* as published (../shared/spec/model.md), before training */
    GS_LOG_NORMAL,     /* around 20, log deviation 1.3 */
    GS_DECAYING,       /* log efold exponential: most at 1 token, fewer and fewer beyond */
    GS_STEP,    /* evenly 40 % over 1 to 3 and 60 % over 3 to 322: two densities, no valley */
    GS_SHIFTED, /* log-normal, deviation 0.5, each seed around a place of its own (normal, 1.5) */
    /* two pools, 6 fast and 9 slow of 15 */
    GS_LOG_NORMAL_POOLS, /* around 2 and 60, log deviations 0.35 and 1.2 */
    GS_PAPER_POOLS,      /* evenly over 1 to 3 and over 5 to 322 */
    GS_ELSEWHERE_POOLS,  /* the same, with both five times slower: over 5 to 15 and 25 to 1610 */
    GS_MOVED_POOLS,      /* log-normal pools, each seed moved by a normal of deviation 0.7 */
    GS_POPULATIONS
};
const char *gs_population_name(enum gs_population population);
bool gs_population_has_pools(enum gs_population population);

/* Add `seeds` seeds of 15 heads. A head beyond `longest` tokens is censored there (0: none is). */
void gs_population_draw(enum gs_population population, struct gs_random *random, size_t seeds,
                        double longest, struct gs_split_heads *heads);

#endif
