/* Claims held against what was measured. */
#include "analyses/verify/measured.h"

#include "core/base/memory.h"
#include "core/base/names.h"

#include <math.h>
#include <stdio.h>

static const double nothing = (double)NAN;

bool gs_verify_value(const struct gs_verify_measured *measured, const char *name,
                     struct gs_value *value) {
    for (size_t i = 0; i < GS_VERIFY_PARTS; i++)
        if (measured->results[i] && gs_results_find(measured->results[i], name, value)) return true;
    return false;
}

static struct gs_verdict_given without(enum gs_verdict verdict, const char *reason) {
    struct gs_verdict_given given = {.verdict = verdict};
    snprintf(given.reason, sizeof given.reason, "%s", reason);
    return given;
}

/* The measurement whose name is nearest to `name`; NULL: none is near. Borrowed from the results.
 */
static const char *nearest(const struct gs_results *results, const char *name) {
    size_t count = gs_results_count(results);
    const char **names = gs_calloc(count, sizeof *names);
    if (!names) return NULL;
    for (size_t i = 0; i < count; i++) names[i] = gs_results_name_at(results, i);
    const char *found = gs_nearest_name(name, names, count);
    gs_free(names);
    return found;
}

static struct gs_verdict_given unknown(const struct gs_claim *claim,
                                       const struct gs_results *results) {
    struct gs_verdict_given given = {.verdict = GS_VERDICT_UNDECIDED};
    const char *near = nearest(results, claim->statistic);
    snprintf(given.reason, sizeof given.reason, "no measurement is called %s%s%s%s",
             claim->statistic, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return given;
}

struct gs_verdict_given gs_verify_judge(const struct gs_claim *claim,
                                        const struct gs_verify_measured *measured,
                                        struct gs_value *value) {
    enum gs_verify_part part = gs_verify_part_of(claim->statistic);
    char name[GS_CLAIM_VALUE];
    *value = (struct gs_value){.value = nothing, .unit = "1", .low = nothing, .high = nothing};
    if (!measured->results[part]) {
        const char *why = measured->absent[part];
        return without(measured->inapplicable[part] ? GS_VERDICT_NONE : GS_VERDICT_UNDECIDED,
                       why ? why : "it was not measured");
    }
    gs_claim_value_name(claim, name);
    if (gs_verify_value(measured, name, value)) return gs_claim_judge(claim, value);
    struct gs_value plain;
    if (!gs_verify_value(measured, claim->statistic, &plain))
        return unknown(claim, measured->results[part]);
    if (measured->is_null) {
        value->value = claim->comparison == GS_CLAIM_RATIO ? 1 : 0;
        return gs_claim_judge(claim, value);
    }
    if (!measured->has_null)
        return without(GS_VERDICT_UNDECIDED,
                       "needs the untrained model: give its trace of step 0 among the others, or "
                       "with --null");
    return without(GS_VERDICT_UNDECIDED,
                   "the untrained model has no such number; decoding it needs its checkpoint "
                   "beside its trace");
}

double gs_verify_untrained(const struct gs_claim *claim, const struct gs_verify_measured *null) {
    struct gs_value value;
    if (claim->comparison != GS_CLAIM_ITSELF) return claim->comparison == GS_CLAIM_RATIO ? 1 : 0;
    if (!null || !gs_verify_value(null, claim->statistic, &value)) return nothing;
    return value.value;
}
