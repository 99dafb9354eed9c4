#include "analyses/verify/verdict.h"

#include "core/base/numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *gs_verdict_name(enum gs_verdict verdict) {
    static const char *const names[GS_VERDICTS] = {"pass", "fail", "undecided", "none"};
    return names[verdict];
}

static bool holds(const struct gs_claim *claim, double x) {
    switch (claim->direction) {
    case GS_CLAIM_ABOVE:
        return x > claim->threshold;
    case GS_CLAIM_AT_LEAST:
        return x >= claim->threshold;
    case GS_CLAIM_BELOW:
        return x < claim->threshold;
    case GS_CLAIM_AT_MOST:
        return x <= claim->threshold;
    }
    return false;
}

static bool wants_more(const struct gs_claim *claim) {
    return claim->direction == GS_CLAIM_ABOVE || claim->direction == GS_CLAIM_AT_LEAST;
}

static struct gs_verdict_given by_interval(const struct gs_claim *claim,
                                           const struct gs_value *value) {
    struct gs_verdict_given given = {.verdict = GS_VERDICT_UNDECIDED};
    char low[GS_NUMBER_TEXT], high[GS_NUMBER_TEXT], threshold[GS_NUMBER_TEXT];
    bool first = holds(claim, value->low), last = holds(claim, value->high);
    if (first && last)
        given.verdict = GS_VERDICT_PASS;
    else if (!first && !last)
        given.verdict = GS_VERDICT_FAIL;
    else
        snprintf(given.reason, sizeof given.reason,
                 "the 95 %% interval from %s to %s holds the threshold %s",
                 gs_number_short(value->low, 4, low), gs_number_short(value->high, 4, high),
                 gs_number_short(claim->threshold, 4, threshold));
    return given;
}

/* Beyond the bound, and nobody knows how far. */
static struct gs_verdict_given by_bound(const struct gs_claim *claim, double bound) {
    struct gs_verdict_given given = {.verdict = GS_VERDICT_UNDECIDED};
    char text[GS_NUMBER_TEXT];
    gs_number_short(bound, 4, text);
    if (bound >= claim->threshold) {
        given.verdict = wants_more(claim) ? GS_VERDICT_PASS : GS_VERDICT_FAIL;
        snprintf(given.reason, sizeof given.reason, "beyond %s, by its bound alone", text);
    } else {
        snprintf(given.reason, sizeof given.reason,
                 "beyond %s, which is not as far as the threshold", text);
    }
    return given;
}

struct gs_verdict_given gs_claim_judge(const struct gs_claim *claim, const struct gs_value *value) {
    struct gs_verdict_given given = {.verdict = GS_VERDICT_UNDECIDED};
    bool censored = value->status && strcmp(value->status, "censored") == 0;
    if (censored && value->has_bound && isfinite(value->bound))
        return by_bound(claim, value->bound);
    if (!isfinite(value->value)) {
        const char *status = value->status ? value->status : "undefined";
        snprintf(given.reason, sizeof given.reason, "%s", value->reason ? value->reason : status);
        return given;
    }
    if (value->has_interval && !isnan(value->low) && !isnan(value->high))
        return by_interval(claim, value);
    given.verdict = holds(claim, value->value) ? GS_VERDICT_PASS : GS_VERDICT_FAIL;
    snprintf(given.reason, sizeof given.reason, "by its value alone, which has no interval");
    return given;
}
