#include "analyses/split/split.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *gs_split_verdict_name(enum gs_split_verdict verdict) {
    static const char *const names[] = {"two_pools", "continuum", "one_pool", "undecided"};
    return names[verdict];
}

const char *gs_split_training_name(enum gs_split_training training) {
    static const char *const names[] = {"not_asked", "made_by_training", "not_shown"};
    return names[training];
}

static bool small(double p) {
    return p <= GS_SPLIT_LEVEL; /* false for NaN */
}

__attribute__((format(printf, 2, 3))) static void say(struct gs_split_answer *a, const char *format,
                                                      ...) {
    size_t used = strlen(a->reasons);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(a->reasons + used, sizeof a->reasons - used, format, arguments);
    va_end(arguments);
}

/* Two thirds of the seeds have heads on both sides of the split point. */
static bool within_seeds(const struct gs_split_answer *a) {
    return 3 * a->seeds_on_both_sides >= 2 * a->seeds;
}

/* The paper's valley stands empty between heads on both sides: too few of them, it may be, but that
 * is how its pools look. */
static bool empty_valley(const struct gs_split_answer *a) {
    return !a->aligned && a->valley.inside == 0 && a->valley.left && a->valley.right;
}

/* Pools like the paper's, round 2 and 60 tokens or apart at 3 to 5, would have looked otherwise. */
static bool excluded(const struct gs_split_answer *a) {
    return 2 * a->censored <= a->heads && small(a->reference_p) && !empty_valley(a);
}

static enum gs_split_verdict shape(const struct gs_split_answer *a) {
    if (isnan(a->one_peak_p)) return GS_SPLIT_UNDECIDED;
    /* an even spread has one peak, too: it need not be rejected twice */
    if (small(a->one_peak_p))
        return small(a->one_p) && within_seeds(a) ? GS_SPLIT_TWO_POOLS : GS_SPLIT_UNDECIDED;
    if (!excluded(a)) return GS_SPLIT_UNDECIDED;
    bool peaked = small(a->peaked_p), flat = small(a->flat_p);
    if (peaked && flat) peaked = a->values[GS_SPLIT_ONE_OVER_EVEN] > 0;
    if (peaked) return GS_SPLIT_ONE_POOL;
    return flat && !small(a->even_p) ? GS_SPLIT_CONTINUUM : GS_SPLIT_UNDECIDED;
}

static enum gs_split_training made_by(const struct gs_split_answer *a) {
    if (a->verdict != GS_SPLIT_TWO_POOLS || !a->has_untrained) return GS_SPLIT_NOT_ASKED;
    return small(a->untrained_one_p) && a->untrained_one_peak_p > GS_SPLIT_LEVEL
               ? GS_SPLIT_MADE_BY_TRAINING
               : GS_SPLIT_NOT_SHOWN;
}

/* ---- sentences ---- */

static void say_heads(struct gs_split_answer *a) {
    say(a, "%zu heads of %zu %s", a->heads, a->seeds, a->seeds == 1 ? "seed" : "seeds");
    if (a->censored)
        say(a, " (%zu of them keep what they hold beyond the longest lag measured)", a->censored);
    say(a, ". ");
    if (a->aligned)
        say(a,
            "The seeds' heads lie in different places (p = %.3g), so each seed's were moved to the "
            "mean of all: only what stands within seeds counts. ",
            a->seeds_p);
}

static void say_one_peak(struct gs_split_answer *a) {
    bool rejected = small(a->one_peak_p);
    say(a,
        "%s a distribution with one peak (p = %.3g): their dip (distance from the nearest one) is "
        "%.3f, and evenly spread samples have as large a dip with p = %.3g; ",
        rejected ? "They do not come from" : "They may well come from", a->one_peak_p,
        a->values[GS_SPLIT_DIP], a->dip_p);
    if (a->aligned)
        say(a,
            "the paper's gap from 3 to 5 tokens is not looked at: places mean nothing once seeds "
            "were moved. ");
    else
        say(a,
            "of those from 1 to %.3g tokens, %zu are up to 3, %zu between 3 and 5, where the paper "
            "has a gap, and %zu above (p = %.3g). ",
            a->valley.right_end, a->valley.left, a->valley.inside, a->valley.right, a->valley.p);
}

static void say_two(struct gs_split_answer *a) {
    say(a,
        "Two log-normal pools, around %.3g and %.3g tokens with %.0f %% in the first, describe "
        "them "
        "%s one (p = %.3g) and %s an even spread (p = %.3g). ",
        exp(a->two.fast.mean), exp(a->two.slow.mean), 100 * a->two.share,
        small(a->one_p) ? "better than" : "not surely better than", a->one_p,
        small(a->even_p) ? "better than" : "not surely better than", a->even_p);
    if (small(a->one_p) && !small(a->one_peak_p))
        say(a,
            "With one peak not rejected, that speaks of a lopsided or flat peak, not of a gap. ");
    if (a->seeds > 1 && a->gap.known)
        say(a, "%zu of %zu seeds have heads on both sides of %.3g tokens. ", a->seeds_on_both_sides,
            a->seeds, exp(a->gap.at));
}

static void say_reference(struct gs_split_answer *a) {
    if (small(a->one_peak_p)) return;
    if (2 * a->censored > a->heads)
        say(a, "Most heads lie beyond the longest lag: longer sequences would tell. ");
    else if (!small(a->reference_p))
        say(a,
            "But pools as clear as the paper's (around 2 and 60 tokens) might not have shown in so "
            "few heads either (p = %.3g): more seeds would tell. ",
            a->reference_p);
    else {
        say(a,
            "Pools as clear as the paper's (around 2 and 60 tokens) would have shown: they have so "
            "small a dip with p = %.3g. ",
            a->reference_p);
        if (empty_valley(a))
            say(a, "But nothing lies between 3 and 5 tokens: more seeds would tell whether that "
                   "is chance. ");
    }
}

static void say_one_shape(struct gs_split_answer *a) {
    if (a->verdict == GS_SPLIT_ONE_POOL)
        say(a, "They gather around %.3g tokens rather than spread evenly (p = %.3g). ",
            exp(a->one.mean), a->peaked_p);
    else if (a->verdict == GS_SPLIT_CONTINUUM)
        say(a,
            "They spread evenly over %.3g to %.3g tokens rather than gather in one place "
            "(p = %.3g). ",
            exp(a->even.low), exp(a->even.high), a->flat_p);
    else if (!small(a->one_peak_p) && excluded(a) && small(a->flat_p))
        say(a,
            "An even spread describes them better than one log-normal does (p = %.3g), and two "
            "log-normals better than an even spread: what kind of one peak it is stays open. ",
            a->flat_p);
    else if (!small(a->one_peak_p) && excluded(a))
        say(a,
            "Whether they gather in one place or spread evenly cannot be told (p = %.3g, %.3g). ",
            a->peaked_p, a->flat_p);
}

static void say_untrained(struct gs_split_answer *a) {
    if (a->training == GS_SPLIT_MADE_BY_TRAINING)
        say(a,
            "Training made the split: the untrained heads may well have one peak (p = %.3g), and "
            "samples like them are seldom so well described by two pools (p = %.3g). ",
            a->untrained_one_peak_p, a->untrained_one_p);
    if (a->training == GS_SPLIT_NOT_SHOWN)
        say(a,
            "That training made the split is not shown: of the untrained heads one peak has "
            "p = %.3g, and samples like them are as well described by two pools with p = %.3g. ",
            a->untrained_one_peak_p, a->untrained_one_p);
}

void gs_split_decide(struct gs_split_answer *a) {
    a->verdict = shape(a);
    a->training = made_by(a);
    a->reasons[0] = '\0';
    say_heads(a);
    if (isnan(a->one_peak_p))
        say(a, "Fewer than %d of them have an efold that is known, or all have the same. ",
            GS_SPLIT_FEWEST_HEADS);
    else {
        say_one_peak(a);
        say_two(a);
        say_reference(a);
        say_one_shape(a);
        say_untrained(a);
    }
    size_t length = strlen(a->reasons);
    if (length && a->reasons[length - 1] == ' ') a->reasons[length - 1] = '\0';
}
