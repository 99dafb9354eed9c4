#include "reports/figures/label.h"

#include "core/base/utf8.h"

#include <string.h>

static void show(struct gs_text *text, const char *bytes, size_t size, size_t longest,
                 bool for_gnuplot) {
    size_t shown = 0;
    for (size_t i = 0; i < size; shown++) {
        if (longest && shown == longest) {
            gs_text_put(text, "…");
            return;
        }
        size_t whole = gs_utf8_character(bytes + i, size - i);
        size_t step = whole ? whole : 1;
        if (!gs_utf8_visible(bytes + i, size - i)) {
            for (size_t k = 0; k < step; k++)
                gs_text_add(text, "<0x%02X>", (unsigned)(unsigned char)bytes[i + k]);
        } else {
            /* gnuplot reads \" and \\ inside a quoted field. */
            if (for_gnuplot && (bytes[i] == '"' || bytes[i] == '\\')) gs_text_put(text, "\\");
            gs_text_bytes(text, bytes + i, step);
        }
        i += step;
    }
}

void gs_label_show(struct gs_text *text, const char *bytes, size_t size) {
    show(text, bytes, size, 0, false);
}

void gs_label_field(struct gs_text *text, const char *string, size_t longest) {
    gs_text_put(text, "\"");
    if (string) show(text, string, strlen(string), longest, true);
    gs_text_put(text, "\"");
}
