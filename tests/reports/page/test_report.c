/* The whole report from made-up results: files, page, JSON, hostile content, missing gnuplot. */
#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/results/results.h"
#include "reports/figures/gnuplot.h"
#include "reports/figures/training.h"
#include "reports/page/report.h"
#include "tests/reports/fixture.h"
#include "tests/reports/look.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool can_draw;

static const char *make(const struct gs_report_run *runs, size_t count, const char *name,
                        struct gs_error *warning) {
    struct gs_report report = {runs, count, "gpnscope report 'a & b.h5' -o </pre>"};
    const char *path = gs_scratch_path("%s", name);
    struct gs_error error;
    gs_assert_ok(gs_report_write(&report, path, false, NULL, warning, &error), &error);
    return path;
}

static void whole_report(void **state) {
    (void)state;
    struct gs_fixture fixture;
    struct gs_error warning;
    gs_fixture_make(&fixture, true);
    gs_fixture_add_layers(&fixture, true);
    const char *folder = make(&fixture.run, 1, "whole", &warning);
    char *page = gs_read_text(folder, "index.html");
    for (size_t i = 0; i < gs_figure_count(); i++) {
        char name[128];
        snprintf(name, sizeof name, "figures/%s.svg", gs_figure_at(i)->name);
        assert_non_null(strstr(page, gs_figure_at(i)->title));
        if (!can_draw) continue;
        assert_true(gs_path_exists(gs_inside(folder, name)));
        assert_non_null(strstr(page, name));
    }
    if (can_draw) assert_string_equal(warning.what, "");
    if (can_draw) assert_int_equal(gs_count_of(page, "class=\"panel\""), 0);
    /* nothing from elsewhere, nothing that runs */
    assert_null(strstr(page, "http:"));
    assert_null(strstr(page, "https:"));
    assert_int_equal(gs_count_of(page, "<script"), 1);
    assert_non_null(strstr(page, "<script type=\"application/json\""));
    /* every picture says what it is; every table's heads have a scope */
    assert_int_equal(gs_count_of(page, "<img "), gs_count_of(page, " alt=\"Figure: "));
    assert_int_equal(gs_count_of(page, "<th"),
                     gs_count_of(page, "<th scope=") + gs_count_of(page, "<thead"));
    assert_non_null(strstr(page, "lang=\"en\""));
    assert_non_null(strstr(page, "width=device-width"));
    /* key values with interval and the untrained value */
    assert_non_null(strstr(page, "state_norm.mean</code></th><td>132</td><td>126 to 138</td>"
                                 "<td>66.2</td>"));
    assert_non_null(strstr(page, "Computed on the predicted states of 16,384 steps in 64 sequences "
                                 "of held-out &lt;b&gt; &amp; &quot;quoted&quot;.trace.h5 (sha256 "
                                 "0123456789ab…)"));
    /* layers: a row each, its interval and the untrained value below the number */
    assert_non_null(strstr(page, "id=\"layers\""));
    assert_non_null(strstr(page, "<tr><th scope=\"row\">layer01</th><td>0.300<br><span "
                                 "class=\"none\">0.285 to 0.312</span><br><span "
                                 "class=\"none\">untrained 0.150</span></td>"));
    assert_non_null(strstr(page, "Computed on each stream&#39;s states of 16,384 steps"));
    free(page);
    gs_fixture_free(&fixture);
}

/* A trace of one stream has no word of layers. */
static void without_layers(void **state) {
    (void)state;
    struct gs_fixture fixture;
    gs_fixture_make(&fixture, false);
    const char *folder = make(&fixture.run, 1, "single", NULL);
    char *page = gs_read_text(folder, "index.html");
    assert_null(strstr(page, "Layers side"));
    assert_null(strstr(page, "by layer"));
    assert_null(strstr(page, "class=\"layers\""));
    assert_false(gs_path_exists(gs_inside(folder, "figures/layers.svg")));
    free(page);
    gs_fixture_free(&fixture);
}

/* Hostile names and pieces stay text. */
static void escaping(void **state) {
    (void)state;
    struct gs_fixture fixture;
    gs_fixture_make(&fixture, false);
    const char *folder = make(&fixture.run, 1, "hostile", NULL);
    char *page = gs_read_text(folder, "index.html");
    assert_null(strstr(page, "held-out <b>"));
    assert_int_equal(gs_count_of(page, "</script>"), 1);
    assert_int_equal(gs_count_of(page, "</pre>"), 1);
    assert_non_null(strstr(page, "<td class=\"text\">&lt;/script&gt;</td>"));
    assert_non_null(strstr(page, "<td class=\"text\">▁the</td>"));
    assert_non_null(strstr(page, "<td class=\"text\">`touch pwned`</td>"));
    assert_non_null(strstr(page, "<td class=\"text\">&lt;0x0A&gt;</td>"));
    assert_non_null(strstr(page, "<td class=\"text\">&amp;amp;</td>"));
    assert_non_null(strstr(page, "<td class=\"text\">&lt;0xF0&gt;&lt;0x9F&gt;</td>"));
    assert_non_null(strstr(page, "Rank ≤ n − 1 &lt;is&gt; said here."));
    assert_false(gs_path_exists("pwned"));
    free(page);
    gs_fixture_free(&fixture);
}

static void well_formed(void **state) {
    (void)state;
    struct gs_fixture fixture;
    gs_fixture_make(&fixture, true);
    gs_assert_page(gs_inside(make(&fixture.run, 1, "formed", NULL), "index.html"));
    gs_fixture_free(&fixture);
}

/* results.json is a results document: read back, with the same numbers. */
static void json_round_trip(void **state) {
    (void)state;
    struct gs_fixture fixture;
    gs_fixture_make(&fixture, true);
    const char *folder = make(&fixture.run, 1, "json", NULL);
    struct gs_results *results;
    struct gs_error error;
    gs_assert_ok(gs_results_read(gs_inside(folder, "results.json"), &results, &error), &error);
    assert_string_equal(gs_results_command(results), "report");
    struct gs_value value;
    assert_true(gs_results_find(results, "state_norm.mean", &value));
    gs_assert_near("state_norm.mean", value.value, 132.4, 0, 0);
    assert_true(gs_results_find(results, "null.state_norm.mean", &value));
    gs_assert_near("null.state_norm.mean", value.value, 66.2, 0, 0);
    assert_true(gs_results_find(results, "retention.head.03.efold", &value));
    assert_true(isnan(value.value) && value.has_bound);
    assert_string_equal(value.status, "censored");
    const struct gs_table *tokens = gs_results_find_table(results, "default_tokens");
    assert_non_null(tokens);
    assert_string_equal(gs_table_cell(tokens, 1, 3).text, "</script>");
    assert_non_null(gs_results_find_table(results, "null.spectrum"));
    assert_int_equal(gs_results_note_count(results), 1);
    gs_results_destroy(results);
    gs_fixture_free(&fixture);
}

/* The same name with other content goes behind its command; the same content stands once. */
static void name_clash(void **state) {
    (void)state;
    struct gs_report_run run = {.name = "clash"};
    struct gs_results *geometry = gs_results_create("geometry");
    struct gs_results *horizon = gs_results_create("horizon");
    gs_assert_ok(gs_results_number(geometry, "rows", 10, "row", 10, NULL), NULL);
    gs_assert_ok(gs_results_number(horizon, "rows", 9, "row", 9, NULL), NULL);
    gs_assert_ok(gs_results_number(geometry, "same", 1, "1", 1, NULL), NULL);
    gs_assert_ok(gs_results_number(horizon, "same", 1, "1", 1, NULL), NULL);
    run.results[GS_PART_GEOMETRY] = geometry;
    run.results[GS_PART_HORIZON] = horizon;
    const char *folder = make(&run, 1, "clash", NULL);
    struct gs_results *results;
    struct gs_error error;
    gs_assert_ok(gs_results_read(gs_inside(folder, "results.json"), &results, &error), &error);
    struct gs_value value;
    assert_int_equal(gs_results_count(results), 3);
    assert_true(gs_results_find(results, "rows", &value) && value.value == 10);
    assert_true(gs_results_find(results, "horizon.rows", &value) && value.value == 9);
    gs_results_destroy(results);
    gs_results_destroy(geometry);
    gs_results_destroy(horizon);
}

/* Several traces: a section each, ids and files apart, a table side by side. */
static void several_traces(void **state) {
    (void)state;
    struct gs_fixture fixtures[2];
    struct gs_report_run runs[2];
    for (size_t i = 0; i < 2; i++) {
        gs_fixture_make(&fixtures[i], i == 0);
        runs[i] = fixtures[i].run;
    }
    const char *folder = make(runs, 2, "several", NULL);
    char *page = gs_read_text(folder, "index.html");
    assert_non_null(strstr(page, "2 traces side by side"));
    assert_int_equal(gs_count_of(page, "<td>gpn_m, predicted</td>"), 2);
    assert_int_equal(gs_count_of(page, " id=\"trace01_geometry\""), 1);
    assert_int_equal(gs_count_of(page, " id=\"trace02_geometry\""), 1);
    assert_true(gs_path_exists(gs_inside(folder, "csv/trace02_geometry_spectrum.csv")));
    assert_true(gs_path_exists(gs_inside(folder, "csv/trace01_null_geometry_spectrum.csv")));
    if (can_draw) assert_true(gs_path_exists(gs_inside(folder, "figures/trace02_spectrum.svg")));
    struct gs_results *results;
    struct gs_error error;
    gs_assert_ok(gs_results_read(gs_inside(folder, "results.json"), &results, &error), &error);
    struct gs_value value;
    assert_true(gs_results_find(results, "trace02.loss", &value));
    assert_true(gs_results_find(results, "trace01.null.loss", &value));
    gs_results_destroy(results);
    free(page);
    for (size_t i = 0; i < 2; i++) gs_fixture_free(&fixtures[i]);
}

/* Traces of one run at several steps are drawn against the step; of different runs they are not. */
static void training(void **state) {
    (void)state;
    struct gs_fixture fixture;
    struct gs_report_run runs[4];
    gs_fixture_make(&fixture, false);
    for (size_t i = 0; i < 4; i++) {
        runs[i] = fixture.run;
        runs[i].step = i % 2 ? 600 : 0;
        runs[i].seed = i < 2 ? 1 : 2;
    }
    const char *folder = make(runs, 4, "training", NULL);
    char *page = gs_read_text(folder, "index.html");
    assert_int_equal(gs_count_of(page, " id=\"training\""), 1);
    assert_non_null(strstr(page, "4 traces of 2 runs, from step 0 to step 600; step 0, the "
                                 "untrained model, stands apart at the left. A thin line"));
    if (can_draw) assert_true(gs_path_exists(gs_inside(folder, "figures/training-narrow.svg")));
    gs_assert_page(gs_inside(folder, "index.html"));
    free(page);
    struct gs_plot plot = {0};
    gs_training_draw(runs, 2, &plot);
    assert_null(plot.empty);
    struct gs_value loss;
    char row[64];
    assert_true(gs_figure_value(fixture.run.results[GS_PART_LOSS], "loss", &loss));
    snprintf(row, sizeof row, "600\t%.12g\t", loss.value);
    assert_non_null(strstr(plot.data.bytes, row));
    gs_plot_free(&plot);
    runs[1].seed = 2; /* one step of each run */
    assert_false(gs_training_applies(runs, 2));
    page = gs_read_text(make(runs, 2, "apart", NULL), "index.html");
    assert_null(strstr(page, "As training went on"));
    free(page);
    gs_fixture_free(&fixture);
}

/* What was not made is a panel with the option to give; nothing else is lost. */
static void absent_parts(void **state) {
    (void)state;
    struct gs_fixture fixture;
    gs_fixture_make(&fixture, false);
    for (size_t part = 0; part < GS_PARTS; part++) {
        struct gs_report_run run = fixture.run;
        char name[32];
        run.results[part] = NULL;
        run.absent[part] = "give --checkpoint FILE <and> more";
        snprintf(name, sizeof name, "absent%zu", part);
        const char *folder = make(&run, 1, name, NULL);
        char *page = gs_read_text(folder, "index.html");
        assert_int_equal(gs_count_of(page, "Not made: give --checkpoint FILE &lt;and&gt; more"), 1);
        free(page);
    }
    gs_fixture_free(&fixture);
    struct gs_report_run bare = {.name = ""};
    char *page = gs_read_text(make(&bare, 1, "bare", NULL), "index.html");
    assert_int_equal(gs_count_of(page, "Not made: it was not asked for"), GS_PARTS);
    free(page);
}

/* Without gnuplot: panels that say so, open tables, and all numbers. */
static void without_gnuplot(void **state) {
    (void)state;
    char *path = getenv("PATH") ? strdup(getenv("PATH")) : strdup("/bin");
    struct gs_fixture fixture;
    struct gs_error warning;
    gs_fixture_make(&fixture, true);
    gs_fixture_add_layers(&fixture, true);
    setenv("PATH", gs_scratch_folder(), 1);
    const char *folder = make(&fixture.run, 1, "undrawn", &warning);
    setenv("PATH", path, 1);
    free(path);
    assert_non_null(strstr(warning.what, "gnuplot"));
    char *page = gs_read_text(folder, "index.html");
    assert_int_equal(gs_count_of(page, "The picture could not be drawn; the numbers are kept."),
                     gs_figure_count());
    assert_non_null(strstr(page, "install gnuplot"));
    assert_int_equal(gs_count_of(page, "<img "), 0);
    assert_non_null(strstr(page, "<details open><summary>Numbers"));
    assert_true(gs_path_exists(gs_inside(folder, "csv/geometry_spectrum.csv")));
    assert_true(gs_path_exists(gs_inside(folder, "results.json")));
    free(page);
    gs_fixture_free(&fixture);
}

static void existing_output(void **state) {
    (void)state;
    struct gs_report_run run = {.name = "again"};
    struct gs_report report = {&run, 1, NULL};
    struct gs_error error;
    const char *folder = make(&run, 1, "again", NULL);
    gs_assert_error(gs_report_write(&report, folder, false, NULL, NULL, &error), GS_EXISTS, &error,
                    "exists", "again", "--force");
    gs_assert_ok(gs_report_write(&report, folder, true, NULL, NULL, &error), &error);
    /* a folder that is not a report is never replaced */
    const char *home = gs_scratch_path("home");
    gs_assert_ok(gs_folder_create(gs_inside(home, "csv"), &error), &error);
    gs_assert_error(gs_report_write(&report, home, true, NULL, NULL, &error), GS_EXISTS, &error,
                    "not a report", "home");
    assert_true(gs_path_exists(gs_inside(home, "csv")));
    gs_assert_error(gs_report_write(&report, "", true, NULL, NULL, &error), GS_USAGE, &error, "-o");
}

static bool stop_now(void *context) {
    (void)context;
    return true;
}

/* Stopped, or unable to write: nothing is left. */
static void nothing_half_made(void **state) {
    (void)state;
    struct gs_fixture fixture;
    gs_fixture_make(&fixture, false);
    struct gs_report report = {&fixture.run, 1, NULL};
    struct gs_progress progress = {.stop = stop_now};
    struct gs_error error;
    const char *parent = gs_scratch_path("stopped");
    gs_assert_ok(gs_folder_create(parent, &error), &error);
    assert_int_equal(
        gs_report_write(&report, gs_inside(parent, "out"), false, &progress, NULL, &error),
        GS_INTERRUPTED);
    char **names;
    size_t count;
    gs_assert_ok(gs_folder_list(parent, &names, &count, &error), &error);
    assert_int_equal(count, 0);
    gs_free_names(names, count);
    gs_fixture_free(&fixture);
}

/* test_reports_report FOLDER: only makes the page there, to be looked at. */
static int keep(const char *folder) {
    struct gs_fixture fixture;
    struct gs_error error;
    char text[2048];
    gs_fixture_make(&fixture, true);
    struct gs_report report = {&fixture.run, 1, "gpnscope report held-out.trace.h5 -o report"};
    enum gs_status status = gs_report_write(&report, folder, true, NULL, NULL, &error);
    if (status != GS_OK) puts(gs_error_text(&error, text, sizeof text));
    gs_fixture_free(&fixture);
    return gs_status_exit_code(status);
}

int main(int argc, char **argv) {
    if (argc > 1) return keep(argv[1]);
    struct gs_error error;
    can_draw = gs_gnuplot_probe(&error) == GS_OK;
    if (!can_draw) print_message("pictures are skipped: %s\n", error.what);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_report),    cmocka_unit_test(without_layers),
        cmocka_unit_test(escaping),        cmocka_unit_test(well_formed),
        cmocka_unit_test(json_round_trip), cmocka_unit_test(name_clash),
        cmocka_unit_test(several_traces),  cmocka_unit_test(training),
        cmocka_unit_test(absent_parts),    cmocka_unit_test(without_gnuplot),
        cmocka_unit_test(existing_output), cmocka_unit_test(nothing_half_made)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
