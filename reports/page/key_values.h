/* key_values.h - the few numbers a reader looks for first, as a table. */
#ifndef GS_REPORTS_PAGE_KEY_VALUES_H
#define GS_REPORTS_PAGE_KEY_VALUES_H

#include "reports/figures/figure.h"

/* The table of one run: label, value, 95 % interval, the untrained value where there is one. */
void gs_page_key_values(struct gs_text *page, const struct gs_report_run *run);
/* The same values of several runs, a column each. */
void gs_page_compare(struct gs_text *page, const struct gs_report_run *runs, size_t count);
/* What the results say of themselves, a line each; nothing where there are no notes, or for NULL.
 */
void gs_page_notes(struct gs_text *page, const struct gs_results *results);
/* All values of some results with name, value, interval, unit, n and status. */
void gs_page_all_values(struct gs_text *page, const struct gs_results *results);
/* One value as a table cell's content: "12.3", "more than 255", or its status and reason. */
void gs_page_value(struct gs_text *page, const struct gs_value *value, int digits);

#endif
