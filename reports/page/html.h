/* html.h - text into HTML, escaped for the place it goes to. Bytes that cannot be shown are written
 * out as in label.h; everything else stays what it is.
 */
#ifndef GS_REPORTS_PAGE_HTML_H
#define GS_REPORTS_PAGE_HTML_H

#include "reports/figures/text.h"

/* Between tags, and inside a double-quoted attribute: & < > " ' are escaped, so one function is
 * right for both. NULL adds nothing. */
void gs_html_text(struct gs_text *page, const char *text);
/* A relative link: what is not a letter, digit, or one of -._~/ is percent-encoded. */
void gs_html_link(struct gs_text *page, const char *path);
/* JSON inside <script type="application/json">: < > & become \u003c …, so that no token can end
 * the element; U+2028 and U+2029 are escaped, too. */
void gs_html_json(struct gs_text *page, const char *json);
/* printf whose format is HTML of ours and whose arguments are numbers or our own constants. */
#define gs_html_add gs_text_add

#endif
