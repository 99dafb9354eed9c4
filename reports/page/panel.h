/* panel.h - what became of a figure, and its place on the page. */
#ifndef GS_REPORTS_PAGE_PANEL_H
#define GS_REPORTS_PAGE_PANEL_H

#include "reports/figures/figure.h"

enum gs_panel_state {
    GS_PANEL_DRAWN,
    GS_PANEL_ABSENT, /* the analysis was not made: what it needs */
    GS_PANEL_EMPTY,  /* made, but nothing to draw: why */
    GS_PANEL_FAILED, /* gnuplot failed: why; the numbers are below */
    GS_PANEL_NONE    /* it has no place on this page (gs_figure_applies) */
};

struct gs_panel {
    const struct gs_figure *figure;
    enum gs_panel_state state;
    char reason[512];
};

/* The panel of one figure. `prefix` is "" or "trace02_": of ids and files. */
void gs_page_panel(struct gs_text *page, const struct gs_report_run *run,
                   const struct gs_panel *panel, const char *prefix);

#endif
