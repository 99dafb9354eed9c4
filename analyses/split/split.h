/* split.h - are the memory heads of one model, or of several, two pools, fast and slow?
 *
 * ../shared/spec/measurements.md, "Is there a fast/slow split?". README.md beside this file says
 * how the parts are put together, why, and how often the whole is right and wrong.
 */
#ifndef GS_ANALYSES_SPLIT_SPLIT_H
#define GS_ANALYSES_SPLIT_SPLIT_H

#include "analyses/split/heads.h"
#include "analyses/split/null.h"
#include "analyses/split/shapes.h"
#include "analyses/split/valley.h"

/* What the tests are held to: false alarms for two pools at most this often. */
#define GS_SPLIT_LEVEL 0.05
/* Its parts for the dip and for the paper's valley (Bonferroni). */
#define GS_SPLIT_DIP_PART 0.8
#define GS_SPLIT_VALLEY_PART 0.2
enum { GS_SPLIT_FEWEST_HEADS = 8 };

enum gs_split_verdict {
    GS_SPLIT_TWO_POOLS, /* not one peak, which an even spread is, too; two pools describe the heads
                           better than one, and stand within seeds */
    GS_SPLIT_CONTINUUM, /* pools as clear as the paper's are excluded; evenly spread rather than
                           gathered, and not better described by two pools */
    GS_SPLIT_ONE_POOL,  /* pools as clear as the paper's are excluded; gathered round one value
                           rather than evenly spread (it may be lopsided) */
    GS_SPLIT_UNDECIDED
};
const char *gs_split_verdict_name(enum gs_split_verdict verdict); /* "two_pools", … */

enum gs_split_training {
    GS_SPLIT_NOT_ASKED, /* no untrained heads, or no two pools */
    GS_SPLIT_MADE_BY_TRAINING,
    GS_SPLIT_NOT_SHOWN /* the untrained heads look as split, or samples like them often do */
};
const char *gs_split_training_name(enum gs_split_training training); /* "not_asked", … */

/* The paper's rule, a threshold and no test: fast ≤ 3 tokens, slow ≥ 5. */
struct gs_split_rule {
    size_t fast, between, slow;
    size_t unknown; /* censored below 5, or not defined */
};
struct gs_split_rule gs_split_by_rule(const struct gs_split_heads *heads);

/* p-values are NaN where there was nothing to compute them from. */
struct gs_split_answer {
    enum gs_split_verdict verdict;
    enum gs_split_training training;
    char reasons[2048]; /* sentences for a person */

    size_t seeds, heads, censored;
    double seeds_p; /* that seeds whose heads lie alike differ as much in their means */
    bool aligned;   /* so seeds_p is small: each seed's heads were moved to the mean of all */
    size_t seeds_on_both_sides; /* of the split point */

    double values[GS_SPLIT_STATISTICS]; /* as observed (null.h) */
    double dip_p;                       /* against the uniform */
    struct gs_split_valley valley;
    double one_peak_p;  /* min(dip_p / 0.8, valley.p / 0.2, 1): against every distribution of one
                           peak */
    double one_p;       /* of two over one normal, under the one fitted */
    double even_p;      /* of two normals over evenly spread, under the even one fitted */
    double peaked_p;    /* of one normal over even, under even: small for one pool */
    double flat_p;      /* of even over one normal, under the normal: small for a continuum */
    double reference_p; /* that pools as clear as the paper's have so small a dip */

    struct gs_normal one;
    struct gs_two_normals two;
    struct gs_even even;
    struct gs_split_gap gap; /* the best split point; after aligning, around the mean of all */
    double gap_p;            /* of so wide a gap, under the even one fitted */

    bool has_untrained;
    double untrained_one_p;      /* of two over one normal, in samples like the untrained heads */
    double untrained_gap_p;      /* of so wide a gap, in those */
    double untrained_one_peak_p; /* the untrained heads' own */
};

/* untrained: the heads of the same seeds at step 0 on the same text, or NULL. GS_MISSING when there
 * are no heads; GS_NO_MEMORY; GS_INTERRUPTED. Same seed, same bits, on any number of threads. */
enum gs_status gs_split_judge(const struct gs_split_heads *heads,
                              const struct gs_split_heads *untrained,
                              const struct gs_split_plan *plan, struct gs_split_answer *answer,
                              struct gs_error *error);

/* The verdict and its reasons from everything else in the answer. */
void gs_split_decide(struct gs_split_answer *answer);

struct gs_results;
/* Counts of heads as values "<prefix>fast", "between", "slow", "unknown", and "smaller_side": the
 * smaller of fast and slow. */
enum gs_status gs_split_rule_results(const struct gs_split_rule *rule, const char *prefix,
                                     struct gs_results *results, struct gs_error *error);
/* Everything as values "<prefix>dip", "<prefix>dip.p", … (README.md lists them), and a note with
 * verdict and reasons. prefix: "split." for one model, "split.pooled." over seeds. Values
 * "<prefix>verdict.two_pools" … are 1 for the verdict given and 0 for the others.
 * "<prefix>two_pools" is 1 for two pools, 0 for a continuum or one pool, null with the status
 * "undecided" otherwise. "<prefix>made_by_training" is 1 where training made two pools, 0 where
 * there are none, or the untrained heads have them already; null "undecided" where that is not
 * shown, "undefined" without untrained heads. */
enum gs_status gs_split_results(const struct gs_split_answer *answer, const char *prefix,
                                struct gs_results *results, struct gs_error *error);

/* The whole for one memory whose heads are in `results` already (heads.h): rule and test behind
 * "split.", and behind "null.split." for the untrained heads where with_untrained (those are
 * "null.retention…"). Too few heads, or none known, is said and no error. */
enum gs_status gs_split_of_results(struct gs_results *results, bool with_untrained,
                                   const struct gs_split_plan *plan, struct gs_error *error);

#endif
