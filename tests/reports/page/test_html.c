/* Escaping by context: HTML text and attributes, links, JSON inside a script element, Markdown. */
#include "reports/page/html.h"
#include "reports/page/markdown.h"
#include "tests/support/support.h"

#include <string.h>

typedef void (*escape)(struct gs_text *, const char *);

static void assert_escaped(escape how, const char *text, const char *expected) {
    struct gs_text page = {0};
    how(&page, text);
    assert_string_equal(page.bytes ? page.bytes : "", expected);
    gs_text_free(&page);
}

static void text(void **state) {
    (void)state;
    assert_escaped(gs_html_text, "a < b & c > d", "a &lt; b &amp; c &gt; d");
    assert_escaped(gs_html_text, "</script>", "&lt;/script&gt;");
    assert_escaped(gs_html_text, "\" onload='x'", "&quot; onload=&#39;x&#39;");
    assert_escaped(gs_html_text, "&amp;", "&amp;amp;");
    assert_escaped(gs_html_text, "▁the", "▁the");
    assert_escaped(gs_html_text, "\n\xF0\x9F", "&lt;0x0A&gt;&lt;0xF0&gt;&lt;0x9F&gt;");
    assert_escaped(gs_html_text, "<0xF0>", "&lt;0xF0&gt;");
    assert_escaped(gs_html_text, NULL, "");
    assert_escaped(gs_html_text, "", "");
}

static void link(void **state) {
    (void)state;
    assert_escaped(gs_html_link, "figures/a-b_c.svg", "figures/a-b_c.svg");
    assert_escaped(gs_html_link, "a b\"<>&#?%", "a%20b%22%3C%3E%26%23%3F%25");
    assert_escaped(gs_html_link, "ä", "%C3%A4");
    assert_escaped(gs_html_link, "javascript:x", "javascript%3Ax");
}

static void json(void **state) {
    (void)state;
    assert_escaped(gs_html_json, "{\"</script>\": \"<!-- & -->\"}",
                   "{\"\\u003c/script\\u003e\": \"\\u003c!-- \\u0026 --\\u003e\"}");
    assert_escaped(gs_html_json, "\"\xE2\x80\xA8\xE2\x80\xA9\"", "\"\\u2028\\u2029\"");
    assert_escaped(gs_html_json, "\"▁\xE2\x80\xA6\"", "\"▁…\"");
}

static void markdown(void **state) {
    (void)state;
    assert_escaped(gs_markdown_text, "a | b `c` *d* _e_", "a \\| b \\`c\\` \\*d\\* \\_e\\_");
    assert_escaped(gs_markdown_text, "<b>&amp;[x](y)!", "\\<b\\>\\&amp;\\[x\\](y)\\!");
    assert_escaped(gs_markdown_text, "a\nb\x1b[1m", "a\\<0x0A\\>b\\<0x1B\\>\\[1m");
    assert_escaped(gs_markdown_text, "# no heading", "\\# no heading");
    /* what begins a paragraph is no item of a list and no rule */
    assert_escaped(gs_markdown_text, "- item", "\\- item");
    assert_escaped(gs_markdown_text, "+ item", "\\+ item");
    assert_escaped(gs_markdown_text, "12) item", "12\\) item");
    assert_escaped(gs_markdown_text, "1. item", "1\\. item");
    assert_escaped(gs_markdown_text, "---", "\\---");
    assert_escaped(gs_markdown_text, "1.5 of -2 - 3", "1.5 of -2 - 3");
    assert_escaped(gs_markdown_text, "-0.5", "-0.5");
    assert_escaped(gs_markdown_text, "", "");
    assert_escaped(gs_markdown_text, NULL, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(text), cmocka_unit_test(link),
                                       cmocka_unit_test(json), cmocka_unit_test(markdown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
