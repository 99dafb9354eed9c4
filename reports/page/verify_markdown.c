#include "reports/page/verify_markdown.h"

#include "core/base/memory.h"
#include "reports/figures/parts.h"
#include "reports/page/answer.h"
#include "reports/page/markdown.h"
#include "reports/page/verdict_table.h"

#include <string.h>

static void put_answers(struct gs_text *text, const struct gs_shown_verify *shown) {
    for (size_t i = 0; i < gs_answer_structures(shown); i++) {
        struct gs_text said = {0};
        gs_answer_say(shown, i, &said);
        gs_text_put(text, "- **");
        gs_markdown_text(text, gs_answer_structure(shown, i));
        gs_text_put(text, ": ");
        gs_answer_sum(shown, i, text);
        gs_text_put(text, ".** ");
        gs_markdown_text(text, said.bytes);
        gs_text_put(text, "\n");
        if (said.failed) text->failed = true;
        gs_text_free(&said);
    }
}

/* The picture, or why there is none; what it shows as its alternative and below. */
static void put_figure(struct gs_text *text, const struct gs_shown_verify *shown,
                       const struct gs_verify_picture *picture) {
    struct gs_text said = {0};
    picture->figure->say(shown, picture->claim, &said);
    if (said.failed) text->failed = true;
    if (picture->picture.state == GS_PANEL_DRAWN) {
        gs_text_add(text, "![%s. ", picture->figure->title);
        gs_markdown_text(text, said.bytes);
        gs_text_add(text, "](figures/%s.svg)\n\n", picture->name);
    } else {
        gs_text_put(text, "No picture: ");
        gs_markdown_text(text, picture->picture.reason);
        gs_text_put(text, "\n\n");
    }
    if (said.size) {
        gs_markdown_text(text, said.bytes);
        gs_text_put(text, "\n\n");
    }
    gs_text_free(&said);
}

static void put_reasons(struct gs_text *text, const struct gs_shown_verify *shown,
                        const char *claim) {
    const struct gs_table *table = gs_results_find_table(shown->results, "claims");
    struct gs_text said = {0};
    size_t count = 0;
    for (; gs_shown_reason(table, claim, count, &said); count++) {
        gs_text_put(text, "- ");
        gs_markdown_text(text, said.bytes);
        gs_text_put(text, "\n");
        if (said.failed) text->failed = true;
        gs_text_free(&said);
    }
    if (count) gs_text_put(text, "\n");
}

static void put_claim(struct gs_text *text, const struct gs_shown_verify *shown, size_t claim,
                      const struct gs_verify_pictures *pictures) {
    const struct gs_shown_claim *said = shown->claims + claim;
    gs_text_put(text, "### ");
    gs_markdown_text(text, said->name);
    gs_text_add(text, ": %s\n\n", gs_answer_words(gs_answer_of_claim(shown, claim).answer));
    gs_markdown_text(text, said->says);
    gs_text_put(text, " (");
    gs_markdown_text(text, said->statistic);
    if (said->comparison)
        gs_text_add(text, ", as the %s to the untrained model's", said->comparison);
    gs_text_put(text, "; passes when ");
    gs_shown_threshold(text, said);
    gs_text_put(text, ".) ");
    gs_markdown_text(text, said->reason);
    if (said->untrained && said->untrained[0]) {
        gs_text_put(text, " In the untrained model: ");
        gs_markdown_text(text, said->untrained);
    }
    gs_text_put(text, "\n\n");
    if (gs_answer_of_claim(shown, claim).pooled)
        gs_text_put(text, "Answered by the heads of all seeds together (below); each seed by "
                          "itself:\n\n");
    put_figure(text, shown, pictures->strips + claim);
    put_reasons(text, shown, said->name);
    if (gs_figure_table(shown->results, "emergence"))
        put_figure(text, shown, pictures->emergences + claim);
}

/* A heading and the whole table; nothing where there is none. */
static void put_table(struct gs_text *text, const struct gs_results *results, const char *name,
                      const char *heading) {
    const struct gs_table *table = gs_figure_table(results, name);
    if (!table) return;
    if (heading) gs_text_add(text, "## %s\n\n", heading);
    gs_markdown_table(text, table);
    gs_text_put(text, "\n");
}

static void put_pools(struct gs_text *text, const struct gs_shown_verify *shown,
                      const struct gs_verify_pictures *pictures) {
    const char *verdict = gs_answer_pools(shown->results);
    gs_text_put(text, "## The heads of all seeds together\n\n");
    gs_markdown_text(text, gs_answer_heads);
    gs_text_put(text, "\n\n");
    if (verdict) {
        gs_text_add(text, "Verdict of the split test over all heads: **%s**. ",
                    gs_answer_pools_words(verdict));
        gs_markdown_text(text, gs_answer_pools_reasons(shown->results));
        gs_text_put(text, "\n\n");
    }
    put_figure(text, shown, &pictures->heads);
}

static void put_notes(struct gs_text *text, const struct gs_results *results) {
    if (!gs_results_note_count(results)) return;
    gs_text_put(text, "## Notes\n\n");
    for (size_t i = 0; i < gs_results_note_count(results); i++) {
        gs_text_put(text, "- ");
        gs_markdown_text(text, gs_results_note_at(results, i));
        gs_text_put(text, "\n");
    }
    gs_text_put(text, "\n");
}

static bool is_among(const char *path, const struct gs_json *sources) {
    for (size_t i = 0; i < gs_json_size(sources); i++) {
        const char *other = gs_json_string(gs_json_get(gs_json_at(sources, i), "path"));
        if (other && strcmp(other, path) == 0) return true;
    }
    return false;
}

static void put_sources(struct gs_text *text, const struct gs_shown_verify *shown,
                        const struct gs_json *document) {
    const struct gs_json *sources = gs_json_get(document, "sources");
    gs_text_add(text,
                "## What was measured on what\n\n<details><summary>%zu files and their "
                "SHA-256</summary>\n\n| file | sha256 |\n|---|---|\n",
                gs_json_size(sources));
    if (shown->claims_path && !is_among(shown->claims_path, sources)) {
        gs_text_put(text, "| ");
        gs_markdown_text(text, shown->claims_path);
        gs_text_put(text, " (claims) | ");
        gs_markdown_text(text, shown->claims_sha256);
        gs_text_put(text, " |\n");
    }
    for (size_t i = 0; i < gs_json_size(sources); i++) {
        const struct gs_json *source = gs_json_at(sources, i);
        gs_text_put(text, "| ");
        gs_markdown_text(text, gs_json_string(gs_json_get(source, "path")));
        gs_text_put(text, " | ");
        gs_markdown_text(text, gs_json_string(gs_json_get(source, "sha256")));
        gs_text_put(text, " |\n");
    }
    gs_text_put(text,
                "\n</details>\n\nAll numbers: [results.json](results.json) and [csv](csv).\n");
}

void gs_verify_markdown(struct gs_text *text, const struct gs_shown_verify *shown,
                        const struct gs_verify_pictures *pictures, const struct gs_json *document) {
    gs_text_put(text, "# ");
    gs_markdown_text(text, shown->title && shown->title[0] ? shown->title : "Verified claims");
    gs_text_put(text, "\n\n");
    gs_markdown_text(text, shown->about);
    gs_text_put(text, "\n\n");
    gs_markdown_text(text, gs_answer_words_used);
    gs_text_put(text, "\n\n## What held\n\n");
    put_answers(text, shown);
    gs_text_put(text, "\n");
    gs_markdown_verdicts(text, shown);
    gs_text_put(text,
                "\n✓ pass: the whole 95 % interval of the seed's value lies on the claim's side "
                "of the threshold. ✗ fail: all of it lies on the other side. ? undecided. – "
                "the model has nothing of the kind. The range behind k of N is the exact 95 % "
                "interval of the share of seeds that pass. ");
    gs_markdown_text(text, gs_answer_rule);
    gs_text_put(text, "\n\n");
    for (size_t i = 0; i < gs_answer_structures(shown); i++) {
        gs_text_put(text, "## ");
        gs_markdown_text(text, gs_answer_structure(shown, i));
        gs_text_put(text, ": ");
        gs_answer_sum(shown, i, text);
        gs_text_put(text, "\n\n");
        for (size_t claim = 0; claim < shown->claim_count; claim++)
            if (gs_answer_is_about(shown, claim, i)) put_claim(text, shown, claim, pictures);
    }
    put_pools(text, shown, pictures);
    gs_text_put(text, "## Between seeds\n\n");
    put_figure(text, shown, &pictures->similarity);
    put_table(text, shown->results, "pairs", NULL);
    put_table(text, shown->results, "emergence_holds", "The step from which each claim holds");
    put_notes(text, shown->results);
    put_sources(text, shown, document);
}
