/* measure.h - everything a report shows about one trace, measured.
 *
 * An analysis whose input is not there is left out, with a sentence that says what it needs. Any
 * other failure is the caller's error: a report never hides a broken file.
 */
#ifndef GS_REPORTS_PAGE_MEASURE_H
#define GS_REPORTS_PAGE_MEASURE_H

#include "core/base/hash.h"
#include "core/base/progress.h"
#include "probes/trace/reader.h"
#include "reports/figures/figure.h"

struct gs_report_inputs {
    const char *trace;           /* path */
    const char *null;            /* the untrained model's trace on the same text, or NULL */
    const char *checkpoint;      /* the trace's, or NULL */
    const char *null_checkpoint; /* the untrained model's; NULL: looked for beside its trace */
    const char *tokenizer;       /* for the pieces of tokens, or NULL */
    const char *counts;          /* data whose tokens are counted, or NULL */
    const char *stream;  /* NULL: the usual one, and where the trace is of a model with layers, all
                            side by side; "all": the same for any trace; else this one alone */
    uint64_t loss_first; /* losses of positions below are left out */
    uint64_t seed;
    const char *command_line; /* recorded with the results, or NULL */
};

/* What a gs_report_run borrows from. Make with gs_report_measure, release with
 * gs_report_measured_free, which accepts a cleared one. */
struct gs_report_measured {
    struct gs_report_run run;
    struct gs_results *owned[2 * GS_PARTS];
    struct gs_trace *trace, *null;
    char *name, *config, *checkpoint, *null_checkpoint;
    char sha256[GS_SHA256_TEXT], null_sha256[GS_SHA256_TEXT];
};

/* The first position that has a loss, in the trace at `path`; 0 where none has: the most of several
 * traces is what their losses are compared from. */
enum gs_status gs_report_loss_first(const char *path, uint64_t *first, struct gs_error *error);

/* GS_CONFIG when the untrained trace is of the same checkpoint or of other text than the trace;
 * the analyses' errors; GS_INTERRUPTED. On failure *measured is cleared. */
enum gs_status gs_report_measure(const struct gs_report_inputs *inputs,
                                 const struct gs_progress *progress,
                                 struct gs_report_measured *measured, struct gs_error *error);
void gs_report_measured_free(struct gs_report_measured *measured);

#endif
