/* The verify page from made-up results: verdicts as they stand in the tables, the answer in words,
 * hostile text, tables that are not there, pictures from the numbers. */
#include "core/base/file.h"
#include "reports/figures/gnuplot.h"
#include "reports/page/answer.h"
#include "reports/page/markdown.h"
#include "reports/page/verify.h"
#include "tests/reports/look.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool can_draw;
#define HOSTILE "</script>\"'`touch pwned`|\n<b>*x*_y_[z](u)"

static const struct gs_shown_claim claims[] = {
    {"rank.spread", "high rank", "It is spread.", "share", NULL, "above", 0.1, "As said.", "Too."},
    {"rank.grows", "high rank", "It grows.", "ratio", "ratio", "above", 1, "So.", "1"},
    {"default.leads", "default " HOSTILE, HOSTILE, HOSTILE, NULL, "at_most", 2, HOSTILE, HOSTILE},
    {"heads.two", "heads", "Two pools.", "split.two_pools", NULL, "above", 0.5, "1 or 0.", "No."},
};
enum { CLAIMS = sizeof claims / sizeof *claims };

static struct gs_table *table(struct gs_results *results, const char *name,
                              const char *const *columns, size_t count) {
    struct gs_table *made;
    gs_assert_ok(gs_results_table(results, name, columns, count, &made, NULL), NULL);
    return made;
}

static void claim_row(struct gs_table *to, const char *claim, int seed, double value,
                      double untrained, const char *verdict, const char *reason) {
    char run[64];
    snprintf(run, sizeof run, "model-s%d " HOSTILE, seed);
    const struct gs_cell cells[] = {
        gs_cell_text(claim),       gs_cell_integer(seed),        gs_cell_text(run),
        gs_cell_number(value),     gs_cell_number(value - 0.25), gs_cell_number(value + 0.125),
        gs_cell_number(untrained), gs_cell_text(verdict),        gs_cell_text(reason)};
    gs_assert_ok(gs_table_row(to, cells, NULL), NULL);
}

static void over_row(struct gs_table *to, const char *claim, int k, int fail, int undecided,
                     double low, double high) {
    const struct gs_cell cells[] = {gs_cell_text(claim),   gs_cell_text("s"),
                                    gs_cell_integer(k),    gs_cell_integer(k + fail + undecided),
                                    gs_cell_integer(fail), gs_cell_integer(undecided),
                                    gs_cell_number(low),   gs_cell_number(high)};
    gs_assert_ok(gs_table_row(to, cells, NULL), NULL);
}

static void add_verdicts(struct gs_results *results) {
    static const char *const columns[] = {"claim", "seed",      "run",     "value", "low",
                                          "high",  "untrained", "verdict", "reason"};
    static const char *const over[] = {"claim", "structure", "k",   "n",
                                       "fail",  "undecided", "low", "high"};
    struct gs_table *rows = table(results, "claims", columns, 9);
    for (int seed = 11; seed < 14; seed++) {
        claim_row(rows, "rank.spread", seed, 0.5 + seed, 0.75, "pass", "");
        claim_row(rows, "rank.grows", seed, 0.5, 1, seed == 11 ? "undecided" : "fail",
                  seed == 11 ? "the threshold " HOSTILE : "");
        claim_row(rows, "default.leads", seed, 1.5, (double)NAN, seed == 13 ? "none" : "pass", "");
        claim_row(rows, "heads.two", seed, (double)NAN, (double)NAN, "undecided", "few heads");
    }
    struct gs_table *sums = table(results, "over_seeds", over, 8);
    over_row(sums, "rank.spread", 3, 0, 0, 0.2924, 1);
    over_row(sums, "rank.grows", 0, 2, 1, 0, 0.7076);
    over_row(sums, "default.leads", 2, 0, 0, 0.1581, 1);
    over_row(sums, "heads.two", 0, 0, 3, 0, 0.7076);
}

static void add_heads(struct gs_results *results, const char *verdict) {
    static const char *const columns[] = {
        "run", "seed", "head", "efold", "bound", "untrained_efold", "untrained_bound"};
    struct gs_table *heads = table(results, "heads", columns, 7);
    for (int i = 0; i < 9; i++) {
        const struct gs_cell cells[] = {gs_cell_text(HOSTILE),
                                        gs_cell_integer(11 + i / 3),
                                        gs_cell_integer(i % 3),
                                        gs_cell_number(i == 8 ? (double)NAN : 1 + i),
                                        gs_cell_number(i == 8 ? 255 : (double)NAN),
                                        gs_cell_number(i == 0 ? (double)NAN : 2 + i),
                                        gs_cell_number(i == 0 ? 255 : (double)NAN)};
        gs_assert_ok(gs_table_row(heads, cells, NULL), NULL);
    }
    static const char *const verdicts[] = {"two_pools", "continuum", "one_pool", "undecided"};
    for (size_t i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "split.pooled.verdict.%s", verdicts[i]);
        gs_assert_ok(gs_results_number(results, name, strcmp(verdicts[i], verdict) == 0 ? 1 : 0,
                                       "1", 9, NULL),
                     NULL);
    }
    char note[200];
    snprintf(note, sizeof note, "split.pooled.verdict: %s. Because <so>.", verdict);
    gs_assert_ok(gs_results_note(results, note, NULL), NULL);
}

static void add_pairs(struct gs_results *results) {
    static const char *const columns[] = {"first",      "second",          "cka",
                                          "procrustes", "default_overlap", "unigram_cosine"};
    struct gs_table *pairs = table(results, "pairs", columns, 6);
    for (int i = 0; i < 3; i++) {
        char names[2][80];
        snprintf(names[0], 80, "model-s%d " HOSTILE, i == 2 ? 12 : 11);
        snprintf(names[1], 80, "model-s%d " HOSTILE, i == 0 ? 12 : 13);
        const struct gs_cell cells[] = {
            gs_cell_text(names[0]), gs_cell_text(names[1]), gs_cell_number(0.5 + 0.125 * i),
            gs_cell_number(0.75),   gs_cell_number(1),      gs_cell_number(0.875)};
        gs_assert_ok(gs_table_row(pairs, cells, NULL), NULL);
    }
}

static void add_emergence(struct gs_results *results) {
    static const char *const columns[] = {"claim", "run", "seed", "step", "value", "low", "high"};
    static const char *const held[] = {"claim", "run", "seed", "step"};
    static const int steps[] = {0, 1, 8, 64};
    struct gs_table *points = table(results, "emergence", columns, 7);
    struct gs_table *holds = table(results, "emergence_holds", held, 4);
    for (int seed = 11; seed < 14; seed++) {
        for (size_t i = 0; i < 4; i++) {
            double value = 0.03125 * (seed - 10) * (1 + steps[i]);
            const struct gs_cell cells[] = {gs_cell_text("rank.spread"), gs_cell_text(HOSTILE),
                                            gs_cell_integer(seed),       gs_cell_integer(steps[i]),
                                            gs_cell_number(value),       gs_cell_number(value),
                                            gs_cell_number(value)};
            gs_assert_ok(gs_table_row(points, cells, NULL), NULL);
        }
        const struct gs_cell cells[] = {
            gs_cell_text("rank.spread"), gs_cell_text(HOSTILE), gs_cell_integer(seed),
            seed == 13 ? gs_cell_number((double)NAN) : gs_cell_integer(seed == 11 ? 64 : 8)};
        gs_assert_ok(gs_table_row(holds, cells, NULL), NULL);
    }
}

static struct gs_results *whole(const char *pools) {
    struct gs_results *results = gs_results_create("verify");
    assert_non_null(results);
    add_verdicts(results);
    add_heads(results, pools);
    add_pairs(results);
    add_emergence(results);
    gs_assert_ok(
        gs_results_source(results, "trace " HOSTILE,
                          "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", NULL),
        NULL);
    return results;
}

static struct gs_shown_verify show(const struct gs_results *results) {
    return (struct gs_shown_verify){results,  claims,  CLAIMS, "Title " HOSTILE,
                                    "About.", HOSTILE, "c1a1", HOSTILE};
}

static const char *make(const struct gs_shown_verify *shown, const char *name,
                        struct gs_error *warning) {
    struct gs_error error;
    const char *path = gs_scratch_path("%s", name);
    gs_assert_ok(gs_verify_write(shown, path, false, NULL, warning, &error), &error);
    return path;
}

/* Cells, counts and words are those of the tables. */
static void verdicts(void **state) {
    (void)state;
    struct gs_results *results = whole("one_pool");
    struct gs_shown_verify shown = show(results);
    struct gs_error warning;
    const char *folder = make(&shown, "whole", &warning);
    char *page = gs_read_text(folder, "index.html"), *markdown = gs_read_text(folder, "verify.md");
    assert_string_equal(can_draw ? warning.what : "", "");
    assert_non_null(strstr(page, "<td class=\"text\">held</td><td>3 of 3<br>(29 % to 100 %)</td>"
                                 "<td class=\"verdict pass\">✓<span class=\"word\"> pass</span><br>"
                                 "<span class=\"none\">11.5</span></td>"));
    assert_non_null(strstr(page, "<td>0 of 3<br>(0 % to 71 %)</td><td class=\"verdict "
                                 "undecided\">?<span class=\"word\"> undecided</span><br><span "
                                 "class=\"none\">0.500</span></td><td class=\"verdict fail\">✗"));
    assert_non_null(strstr(page, "high rank: did not hold as a whole, 1 of 2 claims held"));
    assert_non_null(strstr(page, "Did not hold: rank.grows (passed in 0 of 3)."));
    assert_non_null(strstr(page, "Did not hold: heads.two (all heads together: one pool)."));
    assert_non_null(strstr(page, "Because &lt;so&gt;."));
    assert_non_null(strstr(page, "<li>all 3 seeds: undecided, few heads</li>"));
    assert_non_null(strstr(page, "<li>seed 11: undecided, the threshold "));
    assert_non_null(strstr(markdown, "- all 3 seeds: undecided, few heads\n"));
    assert_non_null(strstr(markdown, "- split.pooled.verdict: one\\_pool. Because "));
    assert_non_null(strstr(page, "3 of 3 seeds pass; to pass is to be above 0.1. Values: 11.5 to "
                                 "13.5. Untrained: 0.750."));
    assert_non_null(strstr(page, "In 2 of 3 seeds the claim holds and stays, from step 8 at the "
                                 "earliest and step 64 at the latest."));
    assert_non_null(strstr(page, "<th scope=\"row\">rank.spread</th><td>64</td><td>8</td><td><span "
                                 "class=\"none\">never</span></td>"));
    assert_non_null(strstr(page,
                           "9 heads, 3 of them fast (efold up to 3 tokens), 1 between, 5 slow "
                           "(5 and more), from 1 to more than 255 tokens."));
    assert_non_null(strstr(page, "CKA 0.500 to 0.750"));
    assert_non_null(strstr(
        markdown, "| It is spread. (rank.spread: above 0.1) | ✓ 11.5 | ✓ 12.5 | ✓ 13.5 | 3 of 3 "
                  "(29 % to 100 %) | held |"));
    if (can_draw) assert_non_null(strstr(markdown, "(figures/claim01-rank.spread.svg)"));
    if (can_draw) assert_non_null(strstr(markdown, "(figures/similarity.svg)"));
    assert_true(gs_path_exists(gs_inside(folder, "csv/verify_claims.csv")));
    assert_true(gs_path_exists(gs_inside(folder, "results.json")));
    for (size_t i = 0; can_draw && i < CLAIMS - 1; i++) {
        char name[96];
        snprintf(name, sizeof name, "figures/claim%02zu-%s.svg", i + 1, claims[i].name);
        assert_true(gs_path_exists(gs_inside(folder, name)));
    }
    gs_assert_page(gs_inside(folder, "index.html"));
    free(page);
    free(markdown);
    gs_results_destroy(results);
}

/* Nothing that a name or a text holds becomes part of the page. */
static void hostile(void **state) {
    (void)state;
    struct gs_results *results = whole("two_pools");
    struct gs_shown_verify shown = show(results);
    const char *folder = make(&shown, "hostile", NULL);
    char *page = gs_read_text(folder, "index.html"), *markdown = gs_read_text(folder, "verify.md");
    assert_int_equal(gs_count_of(page, "</script>"), 1);
    assert_int_equal(gs_count_of(page, "<b>"), 0);
    assert_non_null(
        strstr(page, "&lt;/script&gt;&quot;&#39;`touch pwned`|&lt;0x0A&gt;&lt;b&gt;*x*"));
    assert_null(strstr(markdown, "<b>"));
    assert_non_null(strstr(markdown, "\\</script\\>\"'\\`touch pwned\\`\\|\\<0x0A\\>\\<b\\>\\*x\\*"
                                     "\\_y\\_\\[z\\](u)"));
    assert_false(gs_path_exists("pwned"));
    free(page);
    free(markdown);
    static const struct gs_verify_figure *const figures[] = {
        &gs_verify_strip, &gs_verify_emergence, &gs_verify_heads, &gs_verify_similarity};
    for (size_t i = 0; i < 4; i++) {
        struct gs_plot plot = {0};
        figures[i]->draw(&shown, 0, &plot);
        assert_null(plot.empty);
        assert_null(strstr(plot.script.bytes, "touch"));
        assert_null(strchr(plot.script.bytes, '`'));
        gs_plot_free(&plot);
    }
    gs_results_destroy(results);
}

/* What the pictures are drawn from: the numbers of the tables, medians where all seeds have a step.
 */
static void figures_data(void **state) {
    (void)state;
    struct gs_results *results = whole("undecided");
    struct gs_shown_verify shown = show(results);
    struct gs_plot plot = {0};
    gs_verify_strip.draw(&shown, 1, &plot);
    const char *const strip = "NaN";
    assert_null(strstr(plot.data.bytes, "0.5\t0.25\t0.625\t"));
    assert_int_equal(strncmp(plot.data.bytes, strip, 3),
                     0); /* none passes: a row of missing ones */
    assert_non_null(strstr(plot.data.bytes, "2\t0.5\t0.25\t0.625\n3\t0.5\t0.25\t0.625\n\n\n"
                                            "1\t0.5\t0.25\t0.625\n\n\n1\t1\n2\t1\n3\t1\n"));
    gs_plot_free(&plot);
    gs_verify_emergence.draw(&shown, 0, &plot);
    assert_non_null(strstr(plot.data.bytes, "1\t0.125\t0.125\t0.125\n8\t0.5625\t0.5625\t0.5625\n"
                                            "64\t4.0625\t4.0625\t4.0625\n\n\n"));
    assert_non_null(strstr(plot.script.bytes, "set xtics ('0' "));
    gs_plot_free(&plot);
    gs_verify_heads.draw(&shown, 0, &plot);
    assert_non_null(
        strstr(plot.data.bytes, "255\t2.86\t76.5\n")); /* censored: an arrow at its bound */
    gs_plot_free(&plot);
    gs_verify_similarity.draw(&shown, 0, &plot);
    assert_non_null(strstr(plot.data.bytes, "1\t2\t0.5\n2\t1\t0.5\n"));
    assert_non_null(strstr(plot.data.bytes, "1\t\"seed 11\"\n"));
    gs_plot_free(&plot);
    gs_results_destroy(results);
}

/* The verdict over all heads answers the claims on pools; without it the seeds do. */
static void answers(void **state) {
    (void)state;
    static const struct {
        const char *pools;
        enum gs_answer answer;
    } cases[] = {{"two_pools", GS_ANSWER_HELD},
                 {"continuum", GS_ANSWER_NOT},
                 {"one_pool", GS_ANSWER_NOT},
                 {"undecided", GS_ANSWER_OPEN}};
    for (size_t i = 0; i < 4; i++) {
        struct gs_results *results = whole(cases[i].pools);
        struct gs_shown_verify shown = show(results);
        assert_int_equal(gs_answer_of_claim(&shown, 3).answer, cases[i].answer);
        assert_true(gs_answer_of_claim(&shown, 3).pooled);
        assert_int_equal(gs_answer_of_claim(&shown, 0).answer, GS_ANSWER_HELD);
        assert_int_equal(gs_answer_of_claim(&shown, 1).answer, GS_ANSWER_NOT);
        assert_int_equal(gs_answer_structures(&shown), 3);
        assert_int_equal(gs_answer_of_structure(&shown, 0), GS_ANSWER_NOT);
        assert_int_equal(gs_answer_of_structure(&shown, 1), GS_ANSWER_HELD);
        gs_results_destroy(results);
    }
    struct gs_results *results = gs_results_create("verify");
    static const char *const over[] = {"claim", "structure", "k",   "n",
                                       "fail",  "undecided", "low", "high"};
    struct gs_table *sums = table(results, "over_seeds", over, 8);
    over_row(sums, "rank.spread", 0, 0, 0, (double)NAN, (double)NAN);
    over_row(sums, "rank.grows", 2, 1, 1, 0.07, 0.93);
    struct gs_shown_verify shown = show(results);
    assert_int_equal(gs_answer_of_claim(&shown, 0).answer, GS_ANSWER_NONE);
    assert_int_equal(gs_answer_of_claim(&shown, 1).answer, GS_ANSWER_OPEN);
    assert_int_equal(gs_answer_of_claim(&shown, 3).answer, GS_ANSWER_OPEN);
    assert_false(gs_answer_of_claim(&shown, 3).pooled);
    assert_int_equal(gs_answer_of_structure(&shown, 0), GS_ANSWER_OPEN);
    gs_results_destroy(results);
}

/* The direction of a claim counts there, too: who says that there are no pools is right when all
 * heads together have none. Pools that the untrained heads have already are not made by training.
 */
static void answers_either_way(void **state) {
    (void)state;
    static const struct gs_shown_claim both[] = {
        {"none", "h", "None.", "split.two_pools", NULL, "below", 0.5, "", ""},
        {"made", "h", "Made.", "split.made_by_training", NULL, "at_least", 1, "", ""},
        {"other", "h", "Other.", "split.two_pools", "difference", "above", 0.5, "", ""}};
    static const struct {
        const char *pools;
        double made;
        enum gs_answer none, by_training;
    } cases[] = {{"two_pools", 1, GS_ANSWER_NOT, GS_ANSWER_HELD},
                 {"two_pools", 0, GS_ANSWER_NOT, GS_ANSWER_NOT},
                 {"two_pools", NAN, GS_ANSWER_NOT, GS_ANSWER_OPEN},
                 {"one_pool", NAN, GS_ANSWER_HELD, GS_ANSWER_NOT},
                 {"undecided", NAN, GS_ANSWER_OPEN, GS_ANSWER_OPEN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gs_results *results = whole(cases[i].pools);
        if (!isnan(cases[i].made))
            gs_assert_ok(gs_results_number(results, "split.pooled.made_by_training", cases[i].made,
                                           "1", 9, NULL),
                         NULL);
        struct gs_shown_verify shown = show(results);
        shown.claims = both;
        shown.claim_count = 3;
        assert_int_equal(gs_answer_of_claim(&shown, 0).answer, cases[i].none);
        assert_int_equal(gs_answer_of_claim(&shown, 1).answer, cases[i].by_training);
        assert_false(gs_answer_of_claim(&shown, 2).pooled);
        gs_results_destroy(results);
    }
}

/* Results without tables: a page that says what is missing. */
static void hollow(void **state) {
    (void)state;
    struct gs_results *results = gs_results_create("verify");
    struct gs_shown_verify shown = show(results);
    const char *folder = make(&shown, "hollow", NULL);
    char *page = gs_read_text(folder, "index.html");
    assert_int_equal(gs_count_of(page, "no seed has a value for this claim"), CLAIMS);
    assert_non_null(strstr(page, "emergence needs traces of one run at several training steps"));
    assert_non_null(strstr(page, "no memory heads were measured"));
    assert_non_null(strstr(page, "similarity needs two seeds"));
    gs_assert_page(gs_inside(folder, "index.html"));
    free(page);
    shown.claim_count = 0;
    gs_assert_page(gs_inside(make(&shown, "claimless", NULL), "index.html"));
    gs_results_destroy(results);
}

static void without_gnuplot(void **state) {
    (void)state;
    char *path = getenv("PATH") ? strdup(getenv("PATH")) : strdup("/bin");
    struct gs_results *results = whole("one_pool");
    struct gs_shown_verify shown = show(results);
    struct gs_error warning;
    setenv("PATH", gs_scratch_folder(), 1);
    const char *folder = make(&shown, "undrawn", &warning);
    setenv("PATH", path, 1);
    free(path);
    assert_non_null(strstr(warning.what, "gnuplot"));
    char *page = gs_read_text(folder, "index.html"), *markdown = gs_read_text(folder, "verify.md");
    assert_int_equal(gs_count_of(page, "<img "), 0);
    assert_non_null(strstr(page, "<details open><summary>Numbers"));
    assert_null(strstr(markdown, ".svg"));
    free(page);
    free(markdown);
    gs_results_destroy(results);
}

int main(void) {
    struct gs_error error;
    can_draw = gs_gnuplot_probe(&error) == GS_OK;
    if (!can_draw) print_message("pictures are skipped: %s\n", error.what);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),           cmocka_unit_test(hostile),
        cmocka_unit_test(figures_data),       cmocka_unit_test(answers),
        cmocka_unit_test(answers_either_way), cmocka_unit_test(hollow),
        cmocka_unit_test(without_gnuplot)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
