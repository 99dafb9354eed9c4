#include "reports/page/html.h"

#include "reports/figures/label.h"

#include <string.h>

void gs_html_text(struct gs_text *page, const char *text) {
    if (!text) return;
    struct gs_text shown = {0};
    gs_label_show(&shown, text, strlen(text));
    if (shown.failed) page->failed = true;
    for (size_t i = 0; i < shown.size; i++) {
        switch (shown.bytes[i]) {
        case '&':
            gs_text_put(page, "&amp;");
            break;
        case '<':
            gs_text_put(page, "&lt;");
            break;
        case '>':
            gs_text_put(page, "&gt;");
            break;
        case '"':
            gs_text_put(page, "&quot;");
            break;
        case '\'':
            gs_text_put(page, "&#39;");
            break;
        default:
            gs_text_bytes(page, shown.bytes + i, 1);
        }
    }
    gs_text_free(&shown);
}

void gs_html_link(struct gs_text *page, const char *path) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    for (; *path; path++) {
        if (strchr(plain, *path))
            gs_text_bytes(page, path, 1);
        else
            gs_text_add(page, "%%%02X", (unsigned)(unsigned char)*path);
    }
}

void gs_html_json(struct gs_text *page, const char *json) {
    for (; *json; json++) {
        if (strchr("<>&", *json)) {
            gs_text_add(page, "\\u%04x", (unsigned)*json);
        } else if (strncmp(json, "\xE2\x80\xA8", 3) == 0 || strncmp(json, "\xE2\x80\xA9", 3) == 0) {
            gs_text_put(page, json[2] == '\xA8' ? "\\u2028" : "\\u2029");
            json += 2;
        } else {
            gs_text_bytes(page, json, 1);
        }
    }
}
