/* text.h - text that grows: scripts, data files and pages are written into one of these.
 *
 * Failure is sticky: when memory runs short the text is marked failed, later additions do nothing,
 * and one check at the end (gs_text_check) is enough.
 */
#ifndef GS_REPORTS_FIGURES_TEXT_H
#define GS_REPORTS_FIGURES_TEXT_H

#include "core/base/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct gs_text {
    char *bytes; /* NUL-terminated once anything was added; NULL before */
    size_t size; /* without the NUL */
    size_t room;
    bool failed;
};

/* Start with `struct gs_text text = {0};`. Release with gs_text_free, which clears it. */
void gs_text_free(struct gs_text *text);
void gs_text_bytes(struct gs_text *text, const char *bytes, size_t size);
void gs_text_put(struct gs_text *text, const char *string); /* NULL adds nothing */
void gs_text_add(struct gs_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void gs_text_add_list(struct gs_text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
/* GS_NO_MEMORY when any addition failed. `what` names the text in the error. */
enum gs_status gs_text_check(const struct gs_text *text, const char *what, struct gs_error *error);

/* A number as people write it in a sentence: `digits` significant digits, plain where it is
 * readable and with a power of ten otherwise ("0.0123", "1,234", "1.2e-07"), whole numbers of four
 * or more digits with commas. Always with a point, whatever the locale. "not known" for NaN. */
void gs_text_number(struct gs_text *text, double number, int digits);
/* "1.2 to 1.4": as many more digits, up to six, as it takes to tell the ends apart. "∞" for Inf. */
void gs_text_interval(struct gs_text *text, double low, double high, int digits);
/* A whole number with commas: "16,384". */
void gs_text_count(struct gs_text *text, unsigned long long count);

#endif
