/* verify.h - do claims hold over seeds? Everything measured, judged and compared.
 *
 * Values:
 *   claim.NAME.k .n .fail .undecided   runs that pass, that the claim is about, that fail, that
 *                                      leave it open; NAME.share is k / n with the interval of
 *                                      Clopper and Pearson
 *   split.pooled.…                     the split test over the heads of all runs, seeds as blocks,
 *                                      beside those of their untrained models where all have one
 *   similarity.…                       over pairs of runs, on the same text: cka, procrustes,
 *                                      default_overlap, unigram_cosine, each .mean .min .max; the
 *                                      same behind other_text (rows of different text, what there
 *                                      is to see without a common one), untrained (the untrained
 *                                      models with each other) and own_untrained (each run with its
 *                                      own untrained model)
 * Tables:
 *   claims           claim, seed, run, value, low, high, untrained, verdict, reason
 *   over_seeds       claim, structure, k, n, fail, undecided, low, high
 *   claim_texts      claim, structure, says, statistic, comparison, direction, threshold, reason,
 *                    untrained
 *   pairs            first, second, cka, procrustes, default_overlap, unigram_cosine
 *   other_pairs      the same in front of which stands what is compared: other_text, untrained,
 *                    own_untrained
 *   heads            run, seed, head, efold, bound, untrained_efold, untrained_bound
 *   emergence        claim, statistic, run, seed, step, value, low, high, verdict
 *   emergence_holds  claim, run, seed, step: the first step from which on the claim passes at every
 *                    step traced; null where it does not pass at the last
 *
 * A run counts in n unless the claim's verdict is none. Ends of runs have the replicates that each
 * analysis has by itself, the steps between GS_VERIFY_STEP_REPLICATES.
 */
#ifndef GS_ANALYSES_VERIFY_VERIFY_H
#define GS_ANALYSES_VERIFY_VERIFY_H

#include "analyses/verify/measured.h"
#include "analyses/verify/runs.h"

enum { GS_VERIFY_STEP_REPLICATES = 200 };

struct gs_verify_plan {
    const struct gs_claims *claims;
    const char *tokenizer, *counts; /* as for the default token; may be NULL */
    uint64_t seed;
    const struct gs_progress *progress; /* NULL: nobody watches */
};

/* How often each claim got each verdict. */
struct gs_verify_count {
    size_t of[GS_VERDICTS];
};

/* Measure all traces of `runs`, and put everything into `results`. counts (claims->count) may be
 * NULL. Errors: the analyses'; GS_INTERRUPTED. */
enum gs_status gs_verify_run_all(const struct gs_verify_runs *runs,
                                 const struct gs_verify_plan *plan, struct gs_verify_count *counts,
                                 struct gs_results *results, struct gs_error *error);

#endif
