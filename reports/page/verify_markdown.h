/* verify_markdown.h - verify.md: the verify page where a repository is browsed. */
#ifndef GS_REPORTS_PAGE_VERIFY_MARKDOWN_H
#define GS_REPORTS_PAGE_VERIFY_MARKDOWN_H

#include "core/base/json.h"
#include "reports/page/verify.h"

/* The whole text; `document` is that of results.json. Failure is in text->failed. */
void gs_verify_markdown(struct gs_text *text, const struct gs_shown_verify *shown,
                        const struct gs_verify_pictures *pictures, const struct gs_json *document);

#endif
