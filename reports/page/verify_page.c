#include "reports/page/verify_page.h"

#include "core/base/memory.h"
#include "reports/figures/parts.h"
#include "reports/page/answer.h"
#include "reports/page/html.h"
#include "reports/page/key_values.h"
#include "reports/page/provenance.h"
#include "reports/page/table.h"
#include "reports/page/verdict_table.h"

#include <stdio.h>
#include <string.h>

static size_t seeds_of(const struct gs_shown_verify *shown) {
    size_t count;
    gs_free(gs_shown_runs(gs_results_find_table(shown->results, "claims"), &count));
    return count;
}

/* ---- the answer ---- */

static void add_answer(struct gs_text *page, const struct gs_shown_verify *shown) {
    gs_text_put(page, "<ul class=\"answers\">\n");
    for (size_t i = 0; i < gs_answer_structures(shown); i++) {
        struct gs_text said = {0};
        gs_answer_say(shown, i, &said);
        gs_text_put(page, "<li><strong>");
        gs_html_text(page, gs_answer_structure(shown, i));
        gs_text_put(page, ": ");
        gs_answer_sum(shown, i, page);
        gs_text_put(page, ".</strong> ");
        gs_html_text(page, said.bytes);
        gs_text_put(page, "</li>\n");
        if (said.failed) page->failed = true;
        gs_text_free(&said);
    }
    gs_text_put(page, "</ul>\n");
}

static void add_verdicts(struct gs_text *page, const struct gs_shown_verify *shown) {
    gs_text_put(page, "<section aria-labelledby=\"answer\">\n<h2 id=\"answer\">What held</h2>\n");
    add_answer(page, shown);
    gs_page_verdicts(page, shown);
    gs_text_put(page,
                "<p class=\"basis\">✓ pass: the whole 95&nbsp;% interval of the seed's value "
                "lies on the claim's side of the threshold. ✗ fail: all of it lies on the "
                "other side. ? undecided: the threshold lies within, or there is no value. – "
                "none: the model has nothing of the kind. The value stands below. The range "
                "behind k of N is the exact (Clopper–Pearson) 95&nbsp;% interval of the share "
                "of seeds that pass.</p>\n<p class=\"basis\">");
    gs_html_text(page, gs_answer_rule);
    gs_text_put(page, "</p>\n</section>\n");
}

/* ---- a claim ---- */

static void add_figure(struct gs_text *page, const struct gs_shown_verify *shown,
                       const struct gs_verify_picture *picture) {
    const struct gs_verify_figure *figure = picture->figure;
    const struct gs_table *table = gs_results_find_table(shown->results, figure->table);
    struct gs_text said = {0};
    char file[96];
    figure->say(shown, picture->claim, &said);
    if (said.failed) page->failed = true;
    gs_text_put(page, "<figure id=\"");
    gs_html_text(page, picture->name);
    gs_text_add(page, "\">\n<h4>%s</h4>\n", figure->title);
    if (picture->picture.state == GS_PANEL_DRAWN)
        gs_page_picture(page, "", picture->name, picture->height, picture->narrow_height,
                        figure->title, said.bytes);
    else
        gs_page_reason(page, &picture->picture);
    gs_text_put(page, "<figcaption><p>");
    gs_html_text(page, said.bytes);
    gs_text_put(page, "</p></figcaption>\n");
    snprintf(file, sizeof file, "csv/verify_%s.csv", figure->table);
    if (table && !figure->of_claim)
        gs_page_numbers(page, table, file, picture->picture.state == GS_PANEL_FAILED);
    gs_text_put(page, "</figure>\n");
    gs_text_free(&said);
}

static void add_term(struct gs_text *page, const char *term, const char *text, const char *more) {
    if (!text || !text[0]) return;
    gs_text_add(page, "<dt>%s</dt><dd>", term);
    gs_html_text(page, text);
    if (more && more[0]) {
        gs_text_put(page, ". ");
        gs_html_text(page, more);
    }
    gs_text_put(page, "</dd>\n");
}

static void add_reasons(struct gs_text *page, const struct gs_shown_verify *shown,
                        const char *claim) {
    const struct gs_table *table = gs_results_find_table(shown->results, "claims");
    struct gs_text said = {0};
    size_t count = 0;
    for (; gs_shown_reason(table, claim, count, &said); count++) {
        gs_text_put(page, count ? "<li>" : "<ul class=\"basis\">\n<li>");
        gs_html_text(page, said.bytes);
        gs_text_put(page, "</li>\n");
        if (said.failed) page->failed = true;
        gs_text_free(&said);
    }
    if (count) gs_text_put(page, "</ul>\n");
}

static void add_claim(struct gs_text *page, const struct gs_shown_verify *shown, size_t claim,
                      const struct gs_verify_pictures *pictures) {
    const struct gs_shown_claim *said = shown->claims + claim;
    struct gs_text threshold = {0}, statistic = {0};
    gs_text_put(&statistic, said->statistic);
    if (said->comparison)
        gs_text_add(&statistic, ", as the %s to the untrained model's", said->comparison);
    gs_shown_threshold(&threshold, said);
    if (threshold.failed || statistic.failed) page->failed = true;
    gs_text_put(page, "<h3 id=\"");
    gs_page_claim_id(page, claim);
    gs_text_put(page, "\">");
    gs_html_text(page, said->says);
    gs_text_put(page, " <code>");
    gs_html_text(page, said->name);
    gs_text_put(page, "</code></h3>\n<dl>\n");
    add_term(page, "Measured", statistic.bytes, NULL);
    add_term(page, "Passes when", threshold.bytes, NULL);
    add_term(page, "Why this threshold", said->reason, NULL);
    add_term(page, "In the untrained model", said->untrained, NULL);
    struct gs_claim_answer answer = gs_answer_of_claim(shown, claim);
    add_term(page, "Answer", gs_answer_words(answer.answer), NULL);
    gs_text_put(page, "</dl>\n");
    if (answer.pooled)
        gs_text_put(page, "<p>Answered by <a href=\"#pools\">the heads of all seeds together</a>; "
                          "each seed by itself:</p>\n");
    gs_text_free(&threshold);
    gs_text_free(&statistic);
    add_figure(page, shown, pictures->strips + claim);
    add_reasons(page, shown, said->name);
    if (gs_figure_table(shown->results, "emergence"))
        add_figure(page, shown, pictures->emergences + claim);
}

static void add_structures(struct gs_text *page, const struct gs_shown_verify *shown,
                           const struct gs_verify_pictures *pictures) {
    for (size_t i = 0; i < gs_answer_structures(shown); i++) {
        gs_text_add(page, "<section aria-labelledby=\"structure-%zu\">\n<h2 id=\"structure-%zu\">",
                    i + 1, i + 1);
        gs_html_text(page, gs_answer_structure(shown, i));
        gs_text_put(page, ": ");
        gs_answer_sum(shown, i, page);
        gs_text_put(page, "</h2>\n");
        for (size_t claim = 0; claim < shown->claim_count; claim++)
            if (gs_answer_is_about(shown, claim, i)) add_claim(page, shown, claim, pictures);
        gs_text_put(page, "</section>\n");
    }
}

/* ---- over seeds ---- */

static void add_pools(struct gs_text *page, const struct gs_shown_verify *shown,
                      const struct gs_verify_pictures *pictures) {
    const char *verdict = gs_answer_pools(shown->results);
    gs_text_put(page,
                "<section aria-labelledby=\"pools\">\n<h2 id=\"pools\">The heads of all seeds "
                "together</h2>\n<p>");
    gs_html_text(page, gs_answer_heads);
    gs_text_put(page, "</p>\n");
    if (verdict) {
        gs_text_put(page, "<p class=\"lede\">Verdict of the split test over all heads: <strong>");
        gs_text_put(page, gs_answer_pools_words(verdict));
        gs_text_put(page, "</strong>.</p>\n<p>");
        gs_html_text(page, gs_answer_pools_reasons(shown->results));
        gs_text_put(page, "</p>\n");
    } else {
        gs_text_put(page,
                    "<p>There is no verdict over all heads: no memory heads were measured.</p>\n");
    }
    add_figure(page, shown, &pictures->heads);
    gs_text_put(page, "</section>\n");
}

static void add_between(struct gs_text *page, const struct gs_shown_verify *shown,
                        const struct gs_verify_pictures *pictures) {
    gs_text_put(page,
                "<section aria-labelledby=\"between\">\n<h2 id=\"between\">Between seeds</h2>\n"
                "<p>On the same text: CKA of the states (1: the same up to rotation and scale), "
                "Procrustes distance (0: the same), which share of the default tokens of either "
                "two seeds have "
                "in common, and the cosine of their unigram fits.</p>\n");
    add_figure(page, shown, &pictures->similarity);
    gs_text_put(page, "</section>\n");
}

/* Claims down, seeds across: the step from which each holds. */
static void add_holds(struct gs_text *page, const struct gs_shown_verify *shown,
                      const struct gs_table *table) {
    size_t count;
    struct gs_shown_run *runs = gs_shown_runs(table, &count);
    gs_text_put(page, "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">Claim</th>");
    for (size_t i = 0; i < count; i++) {
        gs_text_put(page, "<th scope=\"col\">");
        gs_html_text(page, runs[i].label);
        gs_text_put(page, "</th>");
    }
    gs_text_put(page, "</tr></thead><tbody>\n");
    for (size_t claim = 0; claim < shown->claim_count; claim++) {
        gs_text_put(page, "<tr><th scope=\"row\">");
        gs_html_text(page, shown->claims[claim].name);
        gs_text_put(page, "</th>");
        for (size_t i = 0; i < count; i++) {
            size_t row = gs_shown_row(table, shown->claims[claim].name, runs + i);
            double step = gs_shown_number(table, row, "step");
            gs_text_put(page, "<td>");
            if (step >= 0)
                gs_text_number(page, step, 9);
            else
                gs_text_put(page, "<span class=\"none\">never</span>");
            gs_text_put(page, "</td>");
        }
        gs_text_put(page, "</tr>\n");
    }
    gs_text_put(page, "</tbody></table></div>\n");
    gs_free(runs);
}

static void add_emergence(struct gs_text *page, const struct gs_shown_verify *shown) {
    const struct gs_table *table = gs_figure_table(shown->results, "emergence_holds");
    gs_text_put(page,
                "<section aria-labelledby=\"emergence\">\n<h2 id=\"emergence\">When each claim "
                "begins to hold</h2>\n");
    if (table) {
        gs_text_put(page, "<p>The first training step at which the claim passes and from which it "
                          "passes at every step that was traced. 0 is the untrained model. The "
                          "curves stand with each claim; numbers: <a "
                          "href=\"csv/verify_emergence.csv\">csv/verify_emergence.csv</a>.</p>\n");
        add_holds(page, shown, table);
    } else {
        gs_text_put(page, "<div class=\"panel\"><p>Not made: emergence needs traces of one run at "
                          "several training steps.</p></div>\n");
    }
    gs_text_put(page, "</section>\n");
}

/* ---- the frame ---- */

static void add_measured(struct gs_text *page, const struct gs_shown_verify *shown,
                         const struct gs_json *document) {
    gs_text_put(page,
                "<section aria-labelledby=\"measured\">\n<h2 id=\"measured\">What was measured "
                "on what</h2>\n<dl>\n");
    add_term(page, "Claims", shown->claims_path, NULL);
    add_term(page, "sha256 of the claims", shown->claims_sha256, NULL);
    gs_text_put(page, "</dl>\n");
    gs_page_provenance(page, shown->command_line, document);
    gs_page_notes(page, shown->results);
    gs_text_put(page, "<ul class=\"basis\">\n");
    for (size_t i = 0; i < gs_results_table_count(shown->results); i++) {
        const char *name = gs_table_name(gs_results_table_at(shown->results, i));
        gs_text_put(page, "<li><a href=\"csv/verify_");
        gs_html_link(page, name);
        gs_text_put(page, ".csv\">csv/verify_");
        gs_html_text(page, name);
        gs_text_put(page, ".csv</a></li>\n");
    }
    gs_text_put(page, "</ul>\n<details><summary>All values</summary>\n");
    gs_page_all_values(page, shown->results);
    gs_text_put(page, "</details>\n</section>\n");
}

static void add_header(struct gs_text *page, const struct gs_shown_verify *shown) {
    size_t structures = gs_answer_structures(shown), seeds = seeds_of(shown);
    gs_text_put(page, "<body>\n<header>\n<p class=\"kicker\">gpnscope verify</p>\n<h1>");
    gs_html_text(page, shown->title && shown->title[0] ? shown->title : "Verified claims");
    gs_text_add(page, "</h1>\n<p class=\"lede\">%zu %s about %zu %s, asked of %zu %s.</p>\n<p>",
                shown->claim_count, shown->claim_count == 1 ? "claim" : "claims", structures,
                structures == 1 ? "structure" : "structures", seeds,
                seeds == 1 ? "trained model" : "models trained from different seeds");
    gs_html_text(page, shown->about);
    gs_text_put(page, "</p>\n<p>");
    gs_html_text(page, gs_answer_words_used);
    gs_text_put(page, "</p>\n<nav aria-label=\"Contents\"><ul>\n<li><a href=\"#answer\">What "
                      "held</a></li>\n");
    for (size_t i = 0; i < structures; i++) {
        gs_text_add(page, "<li><a href=\"#structure-%zu\">", i + 1);
        gs_html_text(page, gs_answer_structure(shown, i));
        gs_text_put(page, "</a></li>\n");
    }
    gs_text_put(page, "<li><a href=\"#pools\">All heads together</a></li>\n"
                      "<li><a href=\"#between\">Between seeds</a></li>\n"
                      "<li><a href=\"#emergence\">When each begins to hold</a></li>\n"
                      "<li><a href=\"#measured\">What was measured</a></li>\n"
                      "</ul></nav>\n</header>\n");
}

void gs_verify_page(struct gs_text *page, const struct gs_shown_verify *shown,
                    const struct gs_verify_pictures *pictures, const struct gs_json *document) {
    struct gs_text title = {0};
    gs_text_put(&title, shown->title && shown->title[0] ? shown->title : "Verified claims");
    gs_text_put(&title, " – gpnscope verify");
    if (title.failed) page->failed = true;
    gs_page_begin(page, title.bytes);
    gs_text_free(&title);
    add_header(page, shown);
    gs_text_put(page, "<main>\n");
    add_verdicts(page, shown);
    add_structures(page, shown, pictures);
    add_pools(page, shown, pictures);
    add_between(page, shown, pictures);
    add_emergence(page, shown);
    add_measured(page, shown, document);
    gs_text_put(page, "</main>\n");
    gs_page_end(page, document);
}
