/* verdict.h - one claim held against one number. */
#ifndef GS_ANALYSES_VERIFY_VERDICT_H
#define GS_ANALYSES_VERIFY_VERDICT_H

#include "analyses/verify/claims.h"
#include "core/results/results.h"

enum gs_verdict {
    GS_VERDICT_PASS,      /* the whole 95 % interval lies on the claim's side of the threshold */
    GS_VERDICT_FAIL,      /* all of it lies on the other */
    GS_VERDICT_UNDECIDED, /* it holds the threshold, or there is no number */
    GS_VERDICT_NONE,      /* the claim is about something that the model does not have */
    GS_VERDICTS
};
const char *gs_verdict_name(enum gs_verdict verdict); /* "pass", …; static */

enum { GS_VERDICT_REASON = 320 };
struct gs_verdict_given {
    enum gs_verdict verdict;
    char reason[GS_VERDICT_REASON]; /* "" where the interval says it all: pass, or fail */
};

/* The threshold itself belongs to the claim's side for at_least and at_most, to the other for above
 * and below. A number without an interval (a p-value, a count) is judged by itself, and the reason
 * says so. A censored one is known to lie beyond its bound. Any other that is not finite is
 * undecided, with its reason. */
struct gs_verdict_given gs_claim_judge(const struct gs_claim *claim, const struct gs_value *value);

#endif
