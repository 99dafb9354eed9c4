/* claims.h - statements that a run can fail, written down as JSON before the run.
 *
 *     { "schema": "gpnscope-claims", "version": 1, "title": …, "about": …,
 *       "claims": [ { "name": "rank.spread",            unique; letters, digits, '.', '_', '-'
 *                     "statistic": "mean_energy",       a value as the analyses name it
 *                     "against": "untrained",           optional, together with …
 *                     "comparison": "ratio",            … ratio or difference
 *                     "direction": "above",             above, at_least, below, at_most
 *                     "threshold": 0.1,
 *                     "structure": …, "says": …, "reason": …, "untrained": … } ] }   texts
 *
 * All texts but title and about are required: a threshold without a reason is no claim.
 */
#ifndef GS_ANALYSES_VERIFY_CLAIMS_H
#define GS_ANALYSES_VERIFY_CLAIMS_H

#include "core/base/hash.h"
#include "core/base/status.h"

#include <stddef.h>

enum gs_claim_direction {
    GS_CLAIM_ABOVE,    /* > threshold */
    GS_CLAIM_AT_LEAST, /* ≥ */
    GS_CLAIM_BELOW,    /* < */
    GS_CLAIM_AT_MOST   /* ≤ */
};
const char *gs_claim_direction_name(enum gs_claim_direction direction); /* "above", …; static */

enum gs_claim_comparison {
    GS_CLAIM_ITSELF,    /* the statistic */
    GS_CLAIM_RATIO,     /* the statistic over the untrained model's */
    GS_CLAIM_DIFFERENCE /* the statistic less the untrained model's */
};
/* "ratio", "difference"; NULL for the statistic itself. Static. */
const char *gs_claim_comparison_name(enum gs_claim_comparison comparison);

struct gs_claim {
    char *name, *structure, *says, *statistic, *reason, *untrained;
    enum gs_claim_comparison comparison;
    enum gs_claim_direction direction;
    double threshold;
};

struct gs_claims {
    char *title, *about;         /* "" where not said */
    char *source;                /* the file; "default" for those built in */
    char sha256[GS_SHA256_TEXT]; /* of the JSON's bytes */
    struct gs_claim *claims;     /* (count), at least one */
    size_t count;
};

/* More than these in one file are refused: nobody reads that many verdicts. */
enum { GS_CLAIMS_MOST = 4096 };

/* Parse. `where` names the source in errors. GS_FORMAT names the claim and the key for what is
 * unknown (with the nearest name), missing, of a wrong type, or there twice, or too many. *claims
 * is the caller's (gs_claims_destroy; NULL is fine). */
enum gs_status gs_claims_parse(const char *bytes, size_t size, const char *where,
                               struct gs_claims **claims, struct gs_error *error);
/* From a file; NULL: the default set, which is fixtures/claims/structure.json as it was when this
 * was built. */
enum gs_status gs_claims_read(const char *path, struct gs_claims **claims, struct gs_error *error);
void gs_claims_destroy(struct gs_claims *claims);

/* The name under which the claim's number stands in results: the statistic, "ratio.<statistic>" or
 * "difference.<statistic>". `name` has room for GS_CLAIM_VALUE. */
enum { GS_CLAIM_VALUE = 256 };
void gs_claim_value_name(const struct gs_claim *claim, char name[GS_CLAIM_VALUE]);

#endif
