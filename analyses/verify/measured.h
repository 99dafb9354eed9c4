/* measured.h - what the analyses say about one trace, found by the names that claims use. */
#ifndef GS_ANALYSES_VERIFY_MEASURED_H
#define GS_ANALYSES_VERIFY_MEASURED_H

#include "analyses/verify/verdict.h"
#include "core/base/progress.h"
#include "probes/trace/reader.h"

#include <stdbool.h>

/* The analyses. A statistic belongs to the one that its name begins with, geometry otherwise. */
enum gs_verify_part {
    GS_VERIFY_GEOMETRY,
    GS_VERIFY_DEFAULT,
    GS_VERIFY_HORIZON,
    GS_VERIFY_RETENTION,
    GS_VERIFY_PARTS
};
enum gs_verify_part gs_verify_part_of(const char *statistic);

struct gs_verify_how {
    const char *tokenizer, *counts; /* as for the default token; may be NULL */
    unsigned parts;                 /* bits 1 << part: what is to be measured */
    size_t replicates;              /* of every bootstrap; 0: as each analysis has it */
    uint64_t seed;
    const struct gs_progress *progress;
};

/* One trace, with its checkpoint, and its untrained model's. */
struct gs_verify_measured;
struct gs_verify_subject {
    struct gs_trace *trace;
    size_t stream;
    const char *checkpoint;                  /* NULL: none */
    struct gs_trace *null;                   /* NULL: none */
    const struct gs_verify_measured *beside; /* the untrained trace, measured in the same way */
};

struct gs_verify_measured {
    struct gs_results *results[GS_VERIFY_PARTS]; /* NULL: not measured */
    const char *absent[GS_VERIFY_PARTS]; /* why it could not be; NULL: it was not asked for */
    bool inapplicable[GS_VERIFY_PARTS];  /* the model has nothing of that kind */
    bool has_null, is_null;              /* has an untrained model; is it itself */
};

/* Measure. Errors: the analyses'; GS_INTERRUPTED. Release with gs_verify_measured_free, also after
 * failure. */
enum gs_status gs_verify_measure(const struct gs_verify_subject *subject,
                                 const struct gs_verify_how *how,
                                 struct gs_verify_measured *measured, struct gs_error *error);
void gs_verify_measured_free(struct gs_verify_measured *measured);

/* A value by the name that an analysis gave it; texts are borrowed. */
bool gs_verify_value(const struct gs_verify_measured *measured, const char *name,
                     struct gs_value *value);

/* A claim held against what was measured. *value is what it was held against (NaN: there is none).
 * A claim about a part that the model does not have is GS_VERDICT_NONE; one whose number is absent
 * is undecided, and the reason says what to give. The untrained model itself has ratio 1 and
 * difference 0 to itself. */
struct gs_verdict_given gs_verify_judge(const struct gs_claim *claim,
                                        const struct gs_verify_measured *measured,
                                        struct gs_value *value);

/* What the claim's number is in the untrained model: 1 for a ratio, 0 for a difference, else the
 * statistic measured in `null` (may be NULL). NaN when it is not known. */
double gs_verify_untrained(const struct gs_claim *claim, const struct gs_verify_measured *null);

#endif
