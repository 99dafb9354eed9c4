/* page.h - index.html of a report. */
#ifndef GS_REPORTS_PAGE_PAGE_H
#define GS_REPORTS_PAGE_PAGE_H

#include "core/base/json.h"
#include "reports/page/panel.h"
#include "reports/page/report.h"

/* The whole page. panels: (run_count, gs_figure_count()), row-major. `merged` is the document of
 * results.json, from which the provenance is taken. Failure is in page->failed. */
void gs_page_write(struct gs_text *page, const struct gs_report *report,
                   const struct gs_panel *panels, const struct gs_picture *training,
                   const struct gs_json *merged);

#endif
