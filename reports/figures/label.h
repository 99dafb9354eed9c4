/* label.h - token pieces and other free text, made fit to be shown, and fit for gnuplot's data
 * file. What a text is does not change: a brace, a caret, a quote or a "▁" stays what it is; only
 * bytes that cannot be shown are written out, <0x0A>.
 */
#ifndef GS_REPORTS_FIGURES_LABEL_H
#define GS_REPORTS_FIGURES_LABEL_H

#include "reports/figures/text.h"

/* `bytes` as valid UTF-8 that can be shown: what gs_utf8_visible (core/base/utf8.h) does not pass,
 * such as control characters and bytes of no whole character, becomes <0xNN>, byte by byte. */
void gs_label_show(struct gs_text *text, const char *bytes, size_t size);
/* The same of a NUL-terminated string as one quoted field of a gnuplot data file. At most
 * `longest` characters, then "…"; 0: no limit. Token text reaches gnuplot in no other way. */
void gs_label_field(struct gs_text *text, const char *string, size_t longest);

#endif
