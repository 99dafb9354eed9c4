/* layers.h - the layers of one run side by side, as a table of numbers. */
#ifndef GS_REPORTS_PAGE_LAYERS_H
#define GS_REPORTS_PAGE_LAYERS_H

#include "reports/figures/figure.h"

/* Was more than one stream or memory measured? */
bool gs_page_has_layers(const struct gs_report_run *run);
/* A row for each stream: the few numbers a reader looks for first, each with its interval, and that
 * of the untrained model where there is one. Nothing where there are no layers. */
void gs_page_layers(struct gs_text *page, const struct gs_report_run *run);

#endif
