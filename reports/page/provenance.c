#include "reports/page/provenance.h"

#include "core/base/memory.h"
#include "reports/page/html.h"
#include "reports/page/style.h"

#include <string.h>

void gs_page_begin(struct gs_text *page, const char *title) {
    gs_text_put(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"script-src 'none'; "
                      "object-src 'none'; base-uri 'none'\">\n<title>");
    gs_html_text(page, title);
    gs_text_put(page, "</title>\n<style>\n");
    gs_text_put(page, gs_page_style);
    gs_text_put(page, "</style>\n</head>\n");
}

static void add_sources(struct gs_text *page, const struct gs_json *sources) {
    gs_text_put(page, "<div class=\"scroll\"><table class=\"sources\"><thead><tr>"
                      "<th scope=\"col\">Source</th>"
                      "<th scope=\"col\">sha256</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < gs_json_size(sources); i++) {
        const struct gs_json *source = gs_json_at(sources, i);
        gs_text_put(page, "<tr><th scope=\"row\">");
        gs_html_text(page, gs_json_string(gs_json_get(source, "path")));
        gs_text_put(page, "</th><td><code>");
        gs_html_text(page, gs_json_string(gs_json_get(source, "sha256")));
        gs_text_put(page, "</code></td></tr>\n");
    }
    gs_text_put(page, "</tbody></table></div>\n");
}

static void add_environment(struct gs_text *page, const struct gs_json *environment) {
    gs_text_put(page, "<dl>\n");
    for (size_t i = 0; i < gs_json_size(environment); i++) {
        const char *key = gs_json_key_at(environment, i);
        const struct gs_json *value = gs_json_value_at(environment, i);
        if (strcmp(key, "command_line") == 0) continue;
        gs_text_put(page, "<dt>");
        gs_html_text(page, key);
        gs_text_put(page, "</dt><dd>");
        if (gs_json_string(value)) {
            gs_html_text(page, gs_json_string(value));
        } else {
            char *text = gs_json_text(value, 0);
            gs_html_text(page, text);
            gs_free(text);
        }
        gs_text_put(page, "</dd>\n");
    }
    gs_text_put(page, "</dl>\n");
}

void gs_page_provenance(struct gs_text *page, const char *command_line,
                        const struct gs_json *document) {
    if (command_line) {
        gs_text_put(page, "<p>Made by this command:</p>\n<pre>");
        gs_html_text(page, command_line);
        gs_text_put(page, "</pre>\n");
    }
    add_sources(page, gs_json_get(document, "sources"));
    add_environment(page, gs_json_get(document, "environment"));
    gs_text_put(page, "<p>All numbers with every digit: <a href=\"results.json\">results.json</a> "
                      "and the tables in <a href=\"csv/\">csv/</a>. Intervals are 95&nbsp;% "
                      "bootstrap intervals over whole sequences or documents, never over rows, "
                      "since neighbouring states depend on each other.</p>\n");
}

/* The values alone (the tables are in results.json), for programs that read the page. */
static void embed_values(struct gs_text *page, const struct gs_json *document) {
    char *text = gs_json_text(gs_json_get(document, "values"), 0);
    if (!text) {
        page->failed = true;
        return;
    }
    gs_text_put(page, "<script type=\"application/json\" id=\"values\">");
    gs_html_json(page, text);
    gs_text_put(page, "</script>\n");
    gs_free(text);
}

void gs_page_end(struct gs_text *page, const struct gs_json *document) {
    gs_text_put(page, "<footer><p>Made by gpnscope on ");
    gs_html_text(page, gs_json_string(gs_json_get(document, "created")));
    gs_text_put(page, ".</p></footer>\n");
    embed_values(page, document);
    gs_text_put(page, "</body>\n</html>\n");
}
