#include "reports/figures/label.h"

#include "core/base/utf8.h"

#include <stdint.h>
#include <string.h>

/* C0, DEL, C1, line separators, and what XML 1.0 has no way to write. */
static bool is_hidden(uint32_t code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 ||
           code == 0xFFFE || code == 0xFFFF;
}

static void show(struct gs_text *text, const char *bytes, size_t size, size_t longest,
                 bool for_gnuplot) {
    size_t shown = 0;
    for (size_t i = 0; i < size; shown++) {
        if (longest && shown == longest) {
            gs_text_put(text, "…");
            return;
        }
        size_t length = gs_utf8_character(bytes + i, size - i);
        uint32_t code = length ? gs_utf8_code_point(bytes + i, length) : 0;
        size_t step = length ? length : 1;
        if (!length || is_hidden(code)) {
            for (size_t k = 0; k < step; k++)
                gs_text_add(text, "<0x%02X>", (unsigned)(unsigned char)bytes[i + k]);
        } else {
            /* gnuplot reads \" and \\ inside a quoted field. */
            if (for_gnuplot && (code == '"' || code == '\\')) gs_text_put(text, "\\");
            gs_text_bytes(text, bytes + i, length);
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
