/* panel.h - what became of a figure, and its place on the page. */
#ifndef GS_REPORTS_PAGE_PANEL_H
#define GS_REPORTS_PAGE_PANEL_H

#include "reports/figures/figure.h"
#include "reports/page/drawing.h"

struct gs_panel {
    const struct gs_figure *figure;
    struct gs_picture picture;
};

/* The panel of one figure. `prefix` is "" or "trace02_": of ids and files. */
void gs_page_panel(struct gs_text *page, const struct gs_report_run *run,
                   const struct gs_panel *panel, const char *prefix);

#endif
