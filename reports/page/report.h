/* report.h - a report: one folder that needs nothing but itself.
 *
 *     index.html       opens from disk; no script, no network
 *     results.json     everything measured, schema gpnscope-results, command "report"
 *     figures/         each figure as NAME.svg and, for phones, NAME-narrow.svg
 *     csv/             every table and all values, <analysis>_<table>.csv
 *
 * Traces of one run at several steps are drawn against the step, too: figures/training.svg.
 * What training did to a value, ratio.X and difference.X, stands with the analysis when the
 * untrained model was given.
 *
 * In results.json names are those of the analyses. The untrained model's stand behind "null.", and
 * with several traces the trace's number goes before: "trace02.null.stable_rank.centered". What an
 * untrained comparison inside an analysis is called stays as it is. In CSV names the same parts are
 * joined by "_".
 */
#ifndef GS_REPORTS_PAGE_REPORT_H
#define GS_REPORTS_PAGE_REPORT_H

#include "core/base/progress.h"
#include "reports/figures/figure.h"

struct gs_report {
    const struct gs_report_run *runs; /* at least one; borrowed */
    size_t run_count;
    const char *command_line; /* for the record; may be NULL */
};

/* Refuse an output folder that exists (GS_EXISTS), and with `force` one that is not a report. To be
 * asked before long work. */
enum gs_status gs_report_check_output(const char *folder, bool force, struct gs_error *error);

/* Make the report at `folder`: built beside it under another name, then renamed, so that nothing
 * half-made is left. Figures that cannot be drawn become panels that say why; their numbers are
 * still in the JSON and CSV. `warning` (may be NULL) receives the first such reason, empty when all
 * were drawn. */
enum gs_status gs_report_write(const struct gs_report *report, const char *folder, bool force,
                               const struct gs_progress *progress, struct gs_error *warning,
                               struct gs_error *error);

#endif
