/* table.h - a table of results on a page. */
#ifndef GS_REPORTS_PAGE_TABLE_H
#define GS_REPORTS_PAGE_TABLE_H

#include "core/results/results.h"
#include "reports/figures/text.h"

/* Its first `most` rows (0: all), all columns, numbers to five digits. */
void gs_page_table(struct gs_text *page, const struct gs_table *table, size_t most);
/* Folded together: how many rows, a link to the file with every digit (a path from the page, of our
 * own letters), the first thirty rows. */
void gs_page_numbers(struct gs_text *page, const struct gs_table *table, const char *file,
                     bool open);

#endif
