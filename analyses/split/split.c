#include "analyses/split/split.h"

#include "analyses/split/dip.h"
#include "analyses/split/draws.h"
#include "core/base/memory.h"

#include <math.h>
#include <string.h>

struct gs_split_rule gs_split_by_rule(const struct gs_split_heads *heads) {
    struct gs_split_rule rule = {.unknown = heads->unknown};
    const double fast = log(GS_SPLIT_FAST), slow = log(GS_SPLIT_SLOW);
    for (size_t i = 0; i < heads->count; i++) {
        const struct gs_split_head *head = &heads->heads[i];
        if (head->log_efold >= slow)
            rule.slow++;
        else if (head->censored)
            rule.unknown++;
        else if (head->log_efold <= fast)
            rule.fast++;
        else
            rule.between++;
    }
    return rule;
}

/* What the parts of the test share. */
struct test {
    const struct gs_split_heads *heads;
    const struct gs_split_plan *plan;
    struct gs_split_sample sample;
    struct gs_split_answer *answer;
    struct gs_error *error;
};

static size_t total(const struct gs_split_sample *sample) {
    return sample->exact + sample->censored;
}

/* Seeds compared, heads put together, and what is observed on them. */
static enum gs_status take_sample(struct test *t) {
    struct gs_split_answer *a = t->answer;
    size_t permutations = t->plan->replicates ? t->plan->replicates : GS_SPLIT_REPLICATES;
    enum gs_status status =
        gs_split_seeds_differ(t->heads, t->plan->seed, permutations, &a->seeds_p, t->error);
    if (status != GS_OK) return status;
    a->aligned = a->seeds_p < GS_SPLIT_LEVEL;
    status = gs_split_sample_of(t->heads, a->aligned, &t->sample, t->error);
    if (status != GS_OK) return status;
    a->seeds = t->heads->seeds;
    a->heads = t->heads->count;
    a->censored = t->sample.censored;
    size_t *scratch = gs_calloc(GS_DIP_SCRATCH(t->sample.exact), sizeof *scratch);
    if (!scratch) return gs_fail_memory(t->error, t->heads->count * sizeof *scratch, "the dip");
    gs_split_statistics(&t->sample, GS_SPLIT_ALL, scratch, a->values);
    gs_free(scratch);
    a->gap = gs_split_widest_gap(&t->sample);
    return gs_split_on_both_sides(t->heads, a->aligned, a->gap.at, &a->seeds_on_both_sides,
                                  t->error);
}

/* Against one peak: the dip among the known heads, and the paper's valley where places are
 * absolute. */
static enum gs_status against_one_peak(struct test *t) {
    struct gs_split_answer *a = t->answer;
    static const struct gs_even unit = {0, 1};
    struct gs_split_null null = {.draw = gs_split_draw_even,
                                 .context = &unit,
                                 .stream = "dip",
                                 .count = t->sample.exact,
                                 .bound = (double)INFINITY,
                                 .high = GS_SPLIT_BIT(GS_SPLIT_DIP)};
    struct gs_split_odds odds;
    enum gs_status status = gs_split_null_run(&null, t->plan, a->values, &odds, t->error);
    if (status != GS_OK) return status;
    a->dip_p = odds.high[GS_SPLIT_DIP];
    a->valley = gs_split_valley_of(&t->sample);
    if (a->aligned) a->valley.p = 1;
    a->one_peak_p = fmin(1, fmin(a->dip_p / GS_SPLIT_DIP_PART, a->valley.p / GS_SPLIT_VALLEY_PART));
    return GS_OK;
}

/* Two pools over one shape are asked about where one peak was rejected; one shape over the other
 * where it was not. */
static bool wants_two(const struct test *t) {
    return !t->plan->verdict_only || t->answer->one_peak_p <= GS_SPLIT_LEVEL;
}
static bool wants_one(const struct test *t) {
    return !t->plan->verdict_only || t->answer->one_peak_p > GS_SPLIT_LEVEL;
}

static enum gs_status against_one_normal(struct test *t) {
    struct gs_split_answer *a = t->answer;
    gs_split_fit_normal(&t->sample, &a->one);
    struct gs_split_null null = {.draw = gs_split_draw_normal,
                                 .context = &a->one,
                                 .stream = "normal",
                                 .count = total(&t->sample),
                                 .bound = t->sample.bound,
                                 .high = wants_two(t) ? GS_SPLIT_BIT(GS_SPLIT_TWO_OVER_ONE) : 0,
                                 .low = wants_one(t) ? GS_SPLIT_BIT(GS_SPLIT_ONE_OVER_EVEN) : 0};
    struct gs_split_odds odds;
    enum gs_status status = gs_split_null_run(&null, t->plan, a->values, &odds, t->error);
    if (status != GS_OK) return status;
    a->one_p = odds.high[GS_SPLIT_TWO_OVER_ONE];
    a->flat_p = odds.low[GS_SPLIT_ONE_OVER_EVEN];
    return GS_OK;
}

static enum gs_status against_even(struct test *t) {
    struct gs_split_answer *a = t->answer;
    gs_split_fit_even(&t->sample, &a->even);
    bool flat = a->flat_p <= GS_SPLIT_LEVEL; /* a continuum must not be better as two pools */
    unsigned two = !t->plan->verdict_only || flat ? GS_SPLIT_BIT(GS_SPLIT_TWO_OVER_EVEN) : 0;
    unsigned one = wants_one(t) ? GS_SPLIT_BIT(GS_SPLIT_ONE_OVER_EVEN) : 0;
    unsigned gap = t->plan->verdict_only ? 0 : GS_SPLIT_BIT(GS_SPLIT_GAP);
    struct gs_split_null null = {.draw = gs_split_draw_even,
                                 .context = &a->even,
                                 .stream = "even",
                                 .count = total(&t->sample),
                                 .bound = t->sample.bound,
                                 .high = two | one | gap};
    struct gs_split_odds odds;
    enum gs_status status = gs_split_null_run(&null, t->plan, a->values, &odds, t->error);
    if (status != GS_OK) return status;
    a->even_p = odds.high[GS_SPLIT_TWO_OVER_EVEN];
    a->peaked_p = odds.high[GS_SPLIT_ONE_OVER_EVEN];
    if (a->gap.known) a->gap_p = odds.high[GS_SPLIT_GAP];
    return GS_OK;
}

/* Would pools as clear as the paper's show in as many heads? */
static enum gs_status against_reference(struct test *t) {
    struct gs_split_answer *a = t->answer;
    size_t per_seed = (a->heads + a->seeds / 2) / a->seeds;
    struct gs_split_reference reference = {(2 * per_seed + 2) / 5, per_seed ? per_seed : 1};
    struct gs_split_null null = {.draw = gs_split_draw_reference,
                                 .context = &reference,
                                 .stream = "reference",
                                 .count = a->heads,
                                 .bound = t->sample.bound,
                                 .only_known = true,
                                 .low = GS_SPLIT_BIT(GS_SPLIT_DIP)};
    struct gs_split_odds odds;
    enum gs_status status = gs_split_null_run(&null, t->plan, a->values, &odds, t->error);
    if (status == GS_OK) a->reference_p = odds.low[GS_SPLIT_DIP];
    return status;
}

/* ---- untrained heads ---- */

/* A copy with a bound no larger than `bound`: what lies beyond is censored. */
static enum gs_status cut(const struct gs_split_sample *sample, double bound,
                          struct gs_split_sample *shorter, struct gs_error *error) {
    shorter->x = gs_calloc(sample->exact, sizeof(double));
    if (!shorter->x) return gs_fail_memory(error, sample->exact * sizeof(double), "heads");
    if (sample->exact) memcpy(shorter->x, sample->x, sample->exact * sizeof(double));
    gs_split_sample_settle(shorter, sample->exact, fmin(bound, sample->bound));
    shorter->censored += sample->censored;
    return GS_OK;
}

static enum gs_status against_samples_like(struct test *t,
                                           const struct gs_split_sample *untrained) {
    struct gs_split_answer *a = t->answer;
    struct gs_split_sample shorter;
    enum gs_status status = cut(&t->sample, untrained->bound, &shorter, t->error);
    if (status != GS_OK) return status;
    struct gs_split_like like = gs_split_like_of(untrained);
    struct gs_split_null null = {.draw = gs_split_draw_like,
                                 .context = &like,
                                 .stream = "untrained",
                                 .count = total(&shorter),
                                 .bound = shorter.bound,
                                 .high = GS_SPLIT_BIT(GS_SPLIT_TWO_OVER_ONE) |
                                         GS_SPLIT_BIT(GS_SPLIT_GAP)};
    double observed[GS_SPLIT_STATISTICS];
    size_t *scratch = gs_calloc(GS_DIP_SCRATCH(shorter.exact), sizeof *scratch);
    struct gs_split_odds odds;
    if (!scratch) status = gs_fail_memory(t->error, shorter.exact * sizeof *scratch, "the dip");
    if (status == GS_OK) {
        gs_split_statistics(&shorter, GS_SPLIT_ALL, scratch, observed);
        status = gs_split_null_run(&null, t->plan, observed, &odds, t->error);
    }
    if (status == GS_OK && !isnan(observed[GS_SPLIT_TWO_OVER_ONE]))
        a->untrained_one_p = odds.high[GS_SPLIT_TWO_OVER_ONE];
    if (status == GS_OK && !isnan(observed[GS_SPLIT_GAP]))
        a->untrained_gap_p = odds.high[GS_SPLIT_GAP];
    gs_free(scratch);
    gs_free(shorter.x);
    return status;
}

static enum gs_status against_untrained(struct test *t, const struct gs_split_heads *untrained) {
    struct gs_split_answer own;
    struct test other = {untrained, t->plan, {0}, &own, t->error};
    enum gs_status status = take_sample(&other);
    if (status == GS_OK && gs_split_measurable(&other.sample)) {
        status = against_one_peak(&other);
        if (status == GS_OK) t->answer->untrained_one_peak_p = own.one_peak_p;
        if (status == GS_OK) status = against_samples_like(t, &other.sample);
    }
    gs_free(other.sample.x);
    return status;
}

/* ---- the whole ---- */

static void nothing_known(struct gs_split_answer *a) {
    double none = (double)NAN;
    *a = (struct gs_split_answer){.dip_p = none,
                                  .one_peak_p = none,
                                  .one_p = none,
                                  .even_p = none,
                                  .peaked_p = none,
                                  .flat_p = none,
                                  .reference_p = none,
                                  .gap_p = none,
                                  .untrained_one_p = none,
                                  .untrained_gap_p = none,
                                  .untrained_one_peak_p = none};
}

static enum gs_status judge(struct test *t, const struct gs_split_heads *untrained) {
    enum gs_status status = take_sample(t);
    if (status != GS_OK || t->sample.exact < GS_SPLIT_FEWEST_HEADS ||
        !gs_split_measurable(&t->sample))
        return status;
    gs_split_fit_two(&t->sample, &t->answer->two);
    status = against_one_peak(t);
    if (status == GS_OK) status = against_one_normal(t);
    if (status == GS_OK) status = against_even(t);
    if (status == GS_OK && wants_one(t)) status = against_reference(t);
    if (status == GS_OK && wants_two(t) && untrained && untrained->count) {
        t->answer->has_untrained = true;
        status = against_untrained(t, untrained);
    }
    return status;
}

enum gs_status gs_split_judge(const struct gs_split_heads *heads,
                              const struct gs_split_heads *untrained,
                              const struct gs_split_plan *plan, struct gs_split_answer *answer,
                              struct gs_error *error) {
    nothing_known(answer);
    if (heads->count == 0) {
        gs_fail(error, GS_MISSING, "there is no head whose efold is known");
        gs_error_next(error, "sequences need at least two rows, and a memory with log-decays");
        return GS_MISSING;
    }
    struct test test = {heads, plan, {0}, answer, error};
    enum gs_status status = judge(&test, untrained);
    gs_free(test.sample.x);
    if (status == GS_OK) gs_split_decide(answer);
    return status;
}
