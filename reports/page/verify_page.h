/* verify_page.h - index.html of a verify page. */
#ifndef GS_REPORTS_PAGE_VERIFY_PAGE_H
#define GS_REPORTS_PAGE_VERIFY_PAGE_H

#include "core/base/json.h"
#include "reports/page/verify.h"

/* The whole page; `document` is that of results.json. Failure is in page->failed. */
void gs_verify_page(struct gs_text *page, const struct gs_shown_verify *shown,
                    const struct gs_verify_pictures *pictures, const struct gs_json *document);

#endif
