#include "analyses/split/split.h"

#include "core/results/results.h"

#include <math.h>
#include <stdio.h>

struct report {
    const struct gs_split_answer *answer;
    const char *prefix;
    struct gs_results *results;
    struct gs_error *error;
};

struct entry {
    const char *name;
    double value;
    const char *unit;
};

static enum gs_status add_value(const struct report *r, const char *name,
                                const struct gs_value *value) {
    char whole[128];
    snprintf(whole, sizeof whole, "%s%s", r->prefix, name);
    return gs_results_add(r->results, whole, value, r->error);
}

static enum gs_status add_all(const struct report *r, const struct entry *entries, size_t count) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < count; i++) {
        struct gs_value value = {
            .value = entries[i].value, .unit = entries[i].unit, .n = r->answer->heads};
        if (!isfinite(value.value)) {
            value.status = "undefined";
            value.reason = "too few heads whose efold is known";
        }
        status = add_value(r, entries[i].name, &value);
    }
    return status;
}

static enum gs_status add_tests(const struct report *r) {
    const struct gs_split_answer *a = r->answer;
    const struct entry entries[] = {
        {"dip", a->values[GS_SPLIT_DIP], "1"},
        {"dip.p", a->dip_p, "1"},
        {"valley.left", (double)a->valley.left, "head"},
        {"valley.inside", (double)a->valley.inside, "head"},
        {"valley.right", (double)a->valley.right, "head"},
        {"valley.p", isnan(a->dip_p) ? (double)NAN : a->valley.p, "1"},
        {"one_peak.p", a->one_peak_p, "1"},
        {"two_over_one", a->values[GS_SPLIT_TWO_OVER_ONE], "1"},
        {"two_over_one.p", a->one_p, "1"},
        {"two_over_even", a->values[GS_SPLIT_TWO_OVER_EVEN], "1"},
        {"two_over_even.p", a->even_p, "1"},
        {"one_over_even", a->values[GS_SPLIT_ONE_OVER_EVEN], "1"},
        {"one_over_even.p", a->peaked_p, "1"},
        {"even_over_one.p", a->flat_p, "1"},
        {"reference.p", a->reference_p, "1"},
        {"seeds.p", a->seeds_p, "1"},
    };
    return add_all(r, entries, sizeof entries / sizeof *entries);
}

static enum gs_status add_shapes(const struct report *r) {
    const struct gs_split_answer *a = r->answer;
    bool known = !isnan(a->one_peak_p);
    double none = (double)NAN;
    const struct entry entries[] = {
        {"two.share", known ? a->two.share : none, "1"},
        {"two.fast", known ? exp(a->two.fast.mean) : none, "token"},
        {"two.fast.deviation", known ? a->two.fast.deviation : none, "log token"},
        {"two.slow", known ? exp(a->two.slow.mean) : none, "token"},
        {"two.slow.deviation", known ? a->two.slow.deviation : none, "log token"},
        {"point", exp(a->gap.at), "token"},
        {"gap_ratio", exp(a->gap.log_ratio), "1"},
        {"gap_ratio.p", a->gap_p, "1"},
        {"seeds", (double)a->seeds, "seed"},
        {"seeds.on_both_sides", (double)a->seeds_on_both_sides, "seed"},
        {"seeds.aligned", a->aligned, "1"},
        {"heads", (double)a->heads, "head"},
        {"censored", (double)a->censored, "head"},
    };
    return add_all(r, entries, sizeof entries / sizeof *entries);
}

static enum gs_status add_untrained(const struct report *r) {
    const struct gs_split_answer *a = r->answer;
    const struct entry entries[] = {
        {"untrained.two_over_one.p", a->untrained_one_p, "1"},
        {"untrained.gap_ratio.p", a->untrained_gap_p, "1"},
        {"untrained.one_peak.p", a->untrained_one_peak_p, "1"},
    };
    return a->has_untrained ? add_all(r, entries, sizeof entries / sizeof *entries) : GS_OK;
}

static const char undecided[] = "these heads cannot show it either way; more seeds may (gpnscope "
                                "verify); the notes say what was "
                                "seen";

static enum gs_status add_two_pools(const struct report *r) {
    const struct gs_split_answer *a = r->answer;
    bool open = a->verdict == GS_SPLIT_UNDECIDED;
    struct gs_value value = {.value = open ? (double)NAN : a->verdict == GS_SPLIT_TWO_POOLS,
                             .unit = "1",
                             .n = a->heads,
                             .status = open ? "undecided" : "ok",
                             .reason = open ? undecided : NULL};
    return add_value(r, "two_pools", &value);
}

static enum gs_status add_made_by_training(const struct report *r) {
    const struct gs_split_answer *a = r->answer;
    struct gs_value value = {.unit = "1", .n = a->heads};
    if (a->training == GS_SPLIT_MADE_BY_TRAINING)
        value.value = 1;
    else if (!a->has_untrained || isnan(a->untrained_one_peak_p)) {
        value.status = "undefined";
        value.reason = "there are no untrained heads to compare with, or too few";
    } else if (a->verdict == GS_SPLIT_UNDECIDED) {
        value.status = "undecided";
        value.reason = undecided;
    } else if (a->verdict == GS_SPLIT_TWO_POOLS && a->untrained_one_peak_p > GS_SPLIT_LEVEL) {
        value.status = "undecided";
        value.reason = "samples like the untrained heads are often as well described by two pools";
    }
    if (value.status) value.value = (double)NAN;
    return add_value(r, "made_by_training", &value);
}

static enum gs_status add_verdict(const struct report *r) {
    enum gs_status status = GS_OK;
    for (int v = GS_SPLIT_TWO_POOLS; status == GS_OK && v <= GS_SPLIT_UNDECIDED; v++) {
        char name[64];
        snprintf(name, sizeof name, "verdict.%s", gs_split_verdict_name((enum gs_split_verdict)v));
        const struct entry entry = {name, (int)r->answer->verdict == v, "1"};
        status = add_all(r, &entry, 1);
    }
    if (status == GS_OK) status = add_two_pools(r);
    if (status == GS_OK) status = add_made_by_training(r);
    if (status != GS_OK) return status;
    char note[sizeof r->answer->reasons + 128];
    snprintf(note, sizeof note, "%sverdict: %s. %s", r->prefix,
             gs_split_verdict_name(r->answer->verdict), r->answer->reasons);
    return gs_results_note(r->results, note, r->error);
}

enum gs_status gs_split_results(const struct gs_split_answer *answer, const char *prefix,
                                struct gs_results *results, struct gs_error *error) {
    struct report r = {answer, prefix, results, error};
    enum gs_status status = add_verdict(&r);
    if (status == GS_OK) status = add_tests(&r);
    if (status == GS_OK) status = add_shapes(&r);
    if (status == GS_OK) status = add_untrained(&r);
    return status;
}

enum gs_status gs_split_rule_results(const struct gs_split_rule *rule, const char *prefix,
                                     struct gs_results *results, struct gs_error *error) {
    const struct {
        const char *name;
        size_t heads;
    } counts[] = {{"fast", rule->fast},
                  {"between", rule->between},
                  {"slow", rule->slow},
                  {"unknown", rule->unknown},
                  {"smaller_side", rule->fast < rule->slow ? rule->fast : rule->slow}};
    size_t heads = rule->fast + rule->between + rule->slow + rule->unknown;
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < sizeof counts / sizeof *counts; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s%s", prefix, counts[i].name);
        status = gs_results_number(results, name, (double)counts[i].heads, "head", heads, error);
    }
    return status;
}

/* ---- heads that stand in the results already ---- */

static enum gs_status add_nothing_known(const char *prefix, struct gs_results *results,
                                        struct gs_error *error) {
    char name[128];
    snprintf(name, sizeof name, "%stwo_pools", prefix);
    const struct gs_value value = {.value = (double)NAN,
                                   .unit = "1",
                                   .status = "undefined",
                                   .reason = "no head has an efold that is known"};
    return gs_results_add(results, name, &value, error);
}

static enum gs_status judge_into(const struct gs_split_heads *heads,
                                 const struct gs_split_heads *untrained, const char *prefix,
                                 const struct gs_split_plan *plan, struct gs_results *results,
                                 struct gs_error *error) {
    struct gs_split_rule rule = gs_split_by_rule(heads);
    struct gs_split_answer answer;
    enum gs_status status = gs_split_rule_results(&rule, prefix, results, error);
    if (status != GS_OK) return status;
    if (heads->count == 0) return add_nothing_known(prefix, results, error);
    status = gs_split_judge(heads, untrained, plan, &answer, error);
    return status == GS_OK ? gs_split_results(&answer, prefix, results, error) : status;
}

enum gs_status gs_split_of_results(struct gs_results *results, bool with_untrained,
                                   const struct gs_split_plan *plan, struct gs_error *error) {
    struct gs_split_heads heads = {0}, untrained = {0};
    enum gs_status status = gs_split_heads_of_results(&heads, results, "", error);
    if (status == GS_OK && with_untrained)
        status = gs_split_heads_of_results(&untrained, results, "null.", error);
    if (status == GS_OK)
        status =
            judge_into(&heads, with_untrained ? &untrained : NULL, "split.", plan, results, error);
    if (status == GS_OK && with_untrained)
        status = judge_into(&untrained, NULL, "null.split.", plan, results, error);
    gs_split_heads_clear(&heads);
    gs_split_heads_clear(&untrained);
    return status;
}
