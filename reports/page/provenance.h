/* provenance.h - what a page was made from and by which command, and its frame. */
#ifndef GS_REPORTS_PAGE_PROVENANCE_H
#define GS_REPORTS_PAGE_PROVENANCE_H

#include "core/base/json.h"
#include "reports/figures/text.h"

/* From "<!DOCTYPE" to the style sheet; title is plain text. <body> is still to come. */
void gs_page_begin(struct gs_text *page, const char *title);
/* From a results document: the command (may be NULL), sources with their hashes, environment. */
void gs_page_provenance(struct gs_text *page, const char *command_line,
                        const struct gs_json *document);
/* The footer, the document's values (the tables are in results.json) for programs that read the
 * page, and the end. */
void gs_page_end(struct gs_text *page, const struct gs_json *document);

#endif
