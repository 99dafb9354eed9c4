/* markdown.h - text into Markdown that shows as itself, and tables of results. */
#ifndef GS_REPORTS_PAGE_MARKDOWN_H
#define GS_REPORTS_PAGE_MARKDOWN_H

#include "core/results/results.h"
#include "reports/figures/text.h"

/* On one line: what Markdown or HTML would read as theirs is escaped, bytes that cannot be shown
 * are written out as in label.h. Right in a paragraph, a table's cell and an image's text. NULL
 * adds nothing. */
void gs_markdown_text(struct gs_text *text, const char *string);
/* A table with all columns and rows, numbers to four digits. */
void gs_markdown_table(struct gs_text *text, const struct gs_table *table);

#endif
