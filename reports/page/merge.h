/* merge.h - the results of all analyses of a report as one results document.
 *
 * Names: see report.h. Where two analyses record the same name (say "rows") with the same content,
 * it stands once; with another content, the later one goes behind its command ("horizon.rows").
 */
#ifndef GS_REPORTS_PAGE_MERGE_H
#define GS_REPORTS_PAGE_MERGE_H

#include "core/base/json.h"
#include "reports/page/report.h"

/* The document, owned by the caller; NULL when memory is short. */
struct gs_json *gs_report_json(const struct gs_report *report);
/* "" for a report of one trace, else "trace02." (counted from 1) with `joint` as last byte. */
void gs_report_prefix(const struct gs_report *report, size_t run, char joint, char prefix[32]);

#endif
