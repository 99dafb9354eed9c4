/* verdict_table.h - claims × seeds: who passed. */
#ifndef GS_REPORTS_PAGE_VERDICT_TABLE_H
#define GS_REPORTS_PAGE_VERDICT_TABLE_H

#include "reports/figures/verify.h"

/* A row for each claim, grouped by structure; a column for each seed, then k of N. */
void gs_page_verdicts(struct gs_text *page, const struct gs_shown_verify *shown);
/* The same as a table of Markdown. */
void gs_markdown_verdicts(struct gs_text *text, const struct gs_shown_verify *shown);
/* The anchor of a claim's section, of an index: "claim-03". */
void gs_page_claim_id(struct gs_text *page, size_t claim);

#endif
