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

static enum gs_status add_all(const struct report *r, const struct entry *entries, size_t count) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < count; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s%s", r->prefix, entries[i].name);
        struct gs_value value = {
            .value = entries[i].value, .unit = entries[i].unit, .n = r->answer->heads};
        if (!isfinite(value.value)) {
            value.status = "undefined";
            value.reason = "too few heads whose efold is known";
        }
        status = gs_results_add(r->results, name, &value, r->error);
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
        {"made_by_training", a->training == GS_SPLIT_MADE_BY_TRAINING, "1"},
    };
    return a->has_untrained ? add_all(r, entries, sizeof entries / sizeof *entries) : GS_OK;
}

static enum gs_status add_verdict(const struct report *r) {
    enum gs_status status = GS_OK;
    for (int v = GS_SPLIT_TWO_POOLS; status == GS_OK && v <= GS_SPLIT_UNDECIDED; v++) {
        char name[64];
        snprintf(name, sizeof name, "verdict.%s", gs_split_verdict_name((enum gs_split_verdict)v));
        const struct entry entry = {name, (int)r->answer->verdict == v, "1"};
        status = add_all(r, &entry, 1);
    }
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
