#include "reports/page/verdict_table.h"

#include "core/base/memory.h"
#include "reports/page/answer.h"
#include "reports/page/html.h"
#include "reports/page/markdown.h"

#include <math.h>
#include <string.h>

enum { DIGITS = 3 };

/* A sign beside the word, so that nothing rests on colour. */
static const struct {
    const char *verdict, *sign;
} signs[] = {{"pass", "✓"}, {"fail", "✗"}, {"undecided", "?"}, {"none", "–"}};

static const char *sign_of(const char *verdict) {
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strcmp(signs[i].verdict, verdict) == 0) return signs[i].sign;
    return "";
}

void gs_page_claim_id(struct gs_text *page, size_t claim) {
    gs_text_add(page, "claim-%02zu", claim + 1);
}

/* "5 of 5", and behind `between` "(48 % to 100 %)" */
static void say_count(struct gs_text *text, const struct gs_claim_answer *answer,
                      const char *between) {
    if (!answer->known) {
        gs_text_put(text, "–");
        return;
    }
    gs_text_add(text, "%zu of %zu", answer->passed, answer->seeds);
    if (isfinite(answer->low) && isfinite(answer->high))
        gs_text_add(text, "%s(%.0f %% to %.0f %%)", between, 100 * answer->low, 100 * answer->high);
}

/* ---- HTML ---- */

static void add_cell(struct gs_text *page, const struct gs_table *table, size_t row) {
    if (row == SIZE_MAX) {
        gs_text_put(page, "<td class=\"none\">–</td>");
        return;
    }
    const char *verdict = gs_shown_text(table, row, "verdict");
    double value = gs_shown_number(table, row, "value");
    bool ours = sign_of(verdict)[0] != '\0'; /* a class is one of ours, never a text of an input */
    gs_text_add(page, "<td class=\"verdict %s\">%s<span class=\"word\"> ", ours ? verdict : "none",
                sign_of(verdict));
    gs_html_text(page, verdict);
    gs_text_put(page, "</span>");
    if (isfinite(value)) {
        gs_text_put(page, "<br><span class=\"none\">");
        gs_text_number(page, value, DIGITS);
        gs_text_put(page, "</span>");
    }
    gs_text_put(page, "</td>");
}

struct seeds {
    const struct gs_table *table;
    struct gs_shown_run *runs;
    size_t count;
};

static void add_claim(struct gs_text *page, const struct gs_shown_verify *shown, size_t claim,
                      const struct seeds *seeds) {
    const struct gs_shown_claim *said = shown->claims + claim;
    struct gs_claim_answer answer = gs_answer_of_claim(shown, claim);
    struct gs_text threshold = {0};
    gs_shown_threshold(&threshold, said);
    gs_text_put(page, "<tr><th scope=\"row\">");
    gs_html_text(page, said->says);
    gs_text_put(page, " <a href=\"#");
    gs_page_claim_id(page, claim);
    gs_text_put(page, "\"><code>");
    gs_html_text(page, said->name);
    gs_text_put(page, "</code></a> <span class=\"none\">");
    gs_html_text(page, threshold.bytes);
    gs_text_put(page, "</span></th>");
    gs_text_add(page, "<td class=\"text\">%s", gs_answer_words(answer.answer));
    if (answer.pooled) gs_text_put(page, "<br><span class=\"none\">all heads together</span>");
    gs_text_put(page, "</td><td>");
    say_count(page, &answer, "<br>");
    gs_text_put(page, "</td>");
    for (size_t i = 0; i < seeds->count; i++)
        add_cell(page, seeds->table, gs_shown_row(seeds->table, said->name, seeds->runs + i));
    gs_text_put(page, "</tr>\n");
    if (threshold.failed) page->failed = true;
    gs_text_free(&threshold);
}

void gs_page_verdicts(struct gs_text *page, const struct gs_shown_verify *shown) {
    struct seeds seeds = {.table = gs_results_find_table(shown->results, "claims")};
    seeds.runs = gs_shown_runs(seeds.table, &seeds.count);
    gs_text_put(page, "<div class=\"scroll wide\"><table class=\"verdicts\"><thead><tr>"
                      "<th scope=\"col\">Claim</th><th scope=\"col\" class=\"text\">Answer</th>"
                      "<th scope=\"col\">Passes in</th>");
    for (size_t i = 0; i < seeds.count; i++) {
        gs_text_put(page, "<th scope=\"col\">");
        gs_html_text(page, seeds.runs[i].label);
        gs_text_put(page, "</th>");
    }
    gs_text_put(page, "</tr></thead>");
    for (size_t structure = 0; structure < gs_answer_structures(shown); structure++) {
        gs_text_add(page, "<tbody>\n<tr><th class=\"group\" scope=\"rowgroup\" colspan=\"%zu\">",
                    seeds.count + 3);
        gs_html_text(page, gs_answer_structure(shown, structure));
        gs_text_put(page, ": ");
        gs_answer_sum(shown, structure, page);
        gs_text_put(page, "</th></tr>\n");
        for (size_t claim = 0; claim < shown->claim_count; claim++)
            if (gs_answer_is_about(shown, claim, structure)) add_claim(page, shown, claim, &seeds);
        gs_text_put(page, "</tbody>\n");
    }
    gs_text_put(page, "</table></div>\n");
    gs_free(seeds.runs);
}

/* ---- Markdown ---- */

static void put_cell(struct gs_text *text, const struct gs_table *table, size_t row) {
    const char *verdict = row == SIZE_MAX ? "none" : gs_shown_text(table, row, "verdict");
    double value = gs_shown_number(table, row, "value");
    gs_text_add(text, " %s", sign_of(verdict));
    if (isfinite(value)) {
        gs_text_put(text, " ");
        gs_text_number(text, value, DIGITS);
    }
    gs_text_put(text, " |");
}

static void put_claim(struct gs_text *text, const struct gs_shown_verify *shown, size_t claim,
                      const struct seeds *seeds) {
    const struct gs_shown_claim *said = shown->claims + claim;
    struct gs_claim_answer answer = gs_answer_of_claim(shown, claim);
    gs_text_put(text, "| ");
    gs_markdown_text(text, said->says);
    gs_text_put(text, " (");
    gs_markdown_text(text, said->name);
    gs_text_put(text, ": ");
    gs_shown_threshold(text, said);
    gs_text_put(text, ")");
    gs_text_put(text, " |");
    for (size_t i = 0; i < seeds->count; i++)
        put_cell(text, seeds->table, gs_shown_row(seeds->table, said->name, seeds->runs + i));
    gs_text_put(text, " ");
    say_count(text, &answer, " ");
    gs_text_add(text, " | %s%s |\n", gs_answer_words(answer.answer),
                answer.pooled ? " (all heads together)" : "");
}

void gs_markdown_verdicts(struct gs_text *text, const struct gs_shown_verify *shown) {
    struct seeds seeds = {.table = gs_results_find_table(shown->results, "claims")};
    seeds.runs = gs_shown_runs(seeds.table, &seeds.count);
    gs_text_put(text, "| claim |");
    for (size_t i = 0; i < seeds.count; i++) {
        gs_text_put(text, " ");
        gs_markdown_text(text, seeds.runs[i].label);
        gs_text_put(text, " |");
    }
    gs_text_put(text, " passes in | answer |\n|---|");
    for (size_t i = 0; i < seeds.count + 2; i++) gs_text_put(text, "---|");
    gs_text_put(text, "\n");
    for (size_t structure = 0; structure < gs_answer_structures(shown); structure++) {
        gs_text_put(text, "| **");
        gs_markdown_text(text, gs_answer_structure(shown, structure));
        gs_text_put(text, "** |");
        for (size_t i = 0; i < seeds.count + 1; i++) gs_text_put(text, " |");
        gs_text_put(text, " **");
        gs_answer_sum(shown, structure, text);
        gs_text_put(text, "** |\n");
        for (size_t claim = 0; claim < shown->claim_count; claim++)
            if (gs_answer_is_about(shown, claim, structure)) put_claim(text, shown, claim, &seeds);
    }
    gs_free(seeds.runs);
}
