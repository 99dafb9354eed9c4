/* null.h - how often samples without two pools look as split as the one observed. */
#ifndef GS_ANALYSES_SPLIT_NULL_H
#define GS_ANALYSES_SPLIT_NULL_H

#include "analyses/split/shapes.h"
#include "core/base/progress.h"

/* What is measured on a sample, and on each one drawn. */
enum gs_split_statistic {
    GS_SPLIT_DIP,
    GS_SPLIT_TWO_OVER_ONE,  /* 2 (log likelihood of two normals − of one), at least 0 */
    GS_SPLIT_TWO_OVER_EVEN, /* 2 (… of two normals − of evenly spread) */
    GS_SPLIT_ONE_OVER_EVEN, /* 2 (… of one normal − of evenly spread) */
    GS_SPLIT_GAP,           /* log ratio of the widest gap (valley.h) */
    GS_SPLIT_STATISTICS
};
#define GS_SPLIT_BIT(statistic) (1u << (statistic))
#define GS_SPLIT_ALL (GS_SPLIT_BIT(GS_SPLIT_STATISTICS) - 1)
/* values (GS_SPLIT_STATISTICS) of those whose GS_SPLIT_BIT is wanted; NaN for the others, and where
 * the sample does not allow one. scratch: GS_DIP_SCRATCH(exact). */
void gs_split_statistics(const struct gs_split_sample *sample, unsigned wanted, size_t *scratch,
                         double values[GS_SPLIT_STATISTICS]);

/* A distribution to draw samples from. */
struct gs_split_null {
    /* Draw log efolds of `count` heads into x, in any order. Called from several threads. */
    void (*draw)(const void *context, struct gs_random *random, double *x, size_t count);
    const void *context;
    const char *stream; /* its random numbers' name */
    size_t count;       /* heads of a sample */
    double bound;       /* heads at or beyond are censored; +Inf: none */
    bool only_known;    /* what is beyond the bound is not censored but left out */
    /* Bits of the statistics whose p-values are wanted, of large values or of small ones. One that
     * was reached so often that it cannot be rare is drawn no further (Besag and Clifford 1991). */
    unsigned high, low;
};
struct gs_split_plan {
    uint64_t seed;
    size_t replicates; /* of each null; 0: GS_SPLIT_REPLICATES */
    /* Leave out what cannot change the verdict: its p-values are NaN. For simulations, in which it
     * saves nine tenths of the time; the reasons have holes then. */
    bool verdict_only;
    const struct gs_progress *progress;
};
enum { GS_SPLIT_REPLICATES = 999 };

struct gs_split_odds {
    size_t replicates[GS_SPLIT_STATISTICS]; /* drawn for each */
    /* (1 + how often at least the observed) / (1 + replicates), and at most; NaN if not wanted */
    double high[GS_SPLIT_STATISTICS], low[GS_SPLIT_STATISTICS];
};
/* Same seed, same bits, on any number of threads. A NaN counts as neither. GS_NO_MEMORY,
 * GS_INTERRUPTED. */
enum gs_status gs_split_null_run(const struct gs_split_null *null, const struct gs_split_plan *plan,
                                 const double observed[GS_SPLIT_STATISTICS],
                                 struct gs_split_odds *odds, struct gs_error *error);

#endif
