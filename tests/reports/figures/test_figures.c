/* Every figure: drawn from good results, a panel that says why from empty ones, and never with text
 * of an input inside a command. */
#include "core/base/file.h"
#include "reports/figures/figure.h"
#include "reports/figures/gnuplot.h"
#include "tests/reports/fixture.h"
#include "tests/reports/pieces.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool can_draw;

static void draws_all(void **state) {
    (void)state;
    if (!can_draw) skip();
    for (int null = 0; null < 2; null++) {
        struct gs_fixture fixture;
        gs_fixture_make(&fixture, null == 1);
        gs_fixture_add_layers(&fixture, null == 1);
        for (size_t i = 0; i < gs_figure_count(); i++) {
            const struct gs_figure *figure = gs_figure_at(i);
            assert_true(gs_figure_applies(figure, &fixture.run));
            struct gs_error error;
            gs_assert_ok(gs_figure_draw(figure, &fixture.run, gs_scratch_folder(),
                                        null ? "null_" : "", &error),
                         &error);
            assert_true(
                gs_path_exists(gs_scratch_path("%s%s.svg", null ? "null_" : "", figure->name)));
            assert_true(gs_path_exists(
                gs_scratch_path("%s%s-narrow.svg", null ? "null_" : "", figure->name)));
        }
        gs_fixture_free(&fixture);
    }
}

static void svg_is_well_formed(void **state) {
    (void)state;
    if (!can_draw || system("xmllint --version 2>/dev/null >/dev/null") != 0) skip();
    for (size_t i = 0; i < gs_figure_count(); i++) {
        char command[2048];
        snprintf(command, sizeof command, "xmllint --noout '%s'",
                 gs_scratch_path("%s.svg", gs_figure_at(i)->name));
        assert_int_equal(system(command), 0);
    }
}

/* The script holds no byte of a label, whatever the label. */
static void no_text_in_commands(void **state) {
    (void)state;
    struct gs_fixture fixture;
    gs_fixture_make(&fixture, true);
    gs_fixture_add_layers(&fixture, true);
    for (size_t i = 0; i < gs_figure_count(); i++) {
        struct gs_plot plot = {0};
        gs_figure_at(i)->draw(&fixture.run, &plot);
        assert_null(plot.empty);
        assert_null(strchr(plot.script.bytes, '`'));
        assert_null(strstr(plot.script.bytes, "touch"));
        assert_null(strstr(plot.script.bytes, "script"));
        assert_null(strstr(plot.script.bytes, "▁"));
        assert_null(strstr(plot.script.bytes, "$(id)"));
        gs_plot_free(&plot);
    }
    gs_fixture_free(&fixture);
}

/* Results without tables, without values, with nothing but nulls. */
static void add_null_table(struct gs_results *results, const char *name, const char *const *columns,
                           size_t count, size_t rows) {
    struct gs_table *table;
    gs_assert_ok(gs_results_table(results, name, columns, count, &table, NULL), NULL);
    for (size_t row = 0; row < rows; row++) {
        struct gs_cell cells[8];
        for (size_t i = 0; i < count; i++) cells[i] = gs_cell_number((double)NAN);
        gs_assert_ok(gs_table_row(table, cells, NULL), NULL);
    }
}

static struct gs_results *hollow(enum gs_part part, int kind) {
    struct gs_results *results = gs_results_create(gs_part_command(part));
    assert_non_null(results);
    size_t rows = kind == 1 ? 0 : 3;
    static const char *const spectrum[] = {"index", "eigenvalue"}, *const dims[] = {"dim", "std"},
                             *const odd[] = {"somebody", "else's"},
                             *const horizon[] = {"lag", "raw", "pairs"},
                             *const retention[] = {"head", "lag", "retention"},
                             *const loss[] = {"position", "loss", "n"},
                             *const histogram[] = {"low", "high", "count"},
                             *const streams[] = {"stream", "mean_energy", "horizon.raw.plateau"},
                             *const heads[] = {"memory", "head", "efold"};
    if (kind == 0) return results;
    if (kind == 3) {
        static const char *const names[] = {
            "spectrum",          "dim_std",           "corr_histogram",
            "horizon",           "retention",         "loss_by_position",
            "controls",          "default_by_stream", "geometry_by_stream",
            "horizon_by_stream", "retention_by_head", "default_token_by_stream"};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            add_null_table(results, names[i], odd, 2, rows);
        return results;
    }
    add_null_table(results, "spectrum", spectrum, 2, rows);
    add_null_table(results, "dim_std", dims, 2, rows);
    add_null_table(results, "corr_histogram", histogram, 3, rows);
    add_null_table(results, "horizon", horizon, 3, rows);
    add_null_table(results, "retention", retention, 3, rows);
    add_null_table(results, "loss_by_position", loss, 3, rows);
    add_null_table(results, "geometry_by_stream", streams, 3, rows);
    add_null_table(results, "default_by_stream", streams, 3, rows);
    add_null_table(results, "horizon_by_stream", streams, 3, rows);
    add_null_table(results, "retention_by_head", heads, 3, rows);
    struct gs_value value = {.value = (double)NAN, .unit = "token", .status = "undefined"};
    gs_assert_ok(gs_results_add(results, "retention.head.00.efold", &value, NULL), NULL);
    gs_assert_ok(gs_results_add(results, "loss", &value, NULL), NULL);
    gs_assert_ok(gs_results_add(results, "pcs_50", &value, NULL), NULL);
    return results;
}

static void hollow_results(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct gs_report_run run = {.name = "hollow"};
        struct gs_results *owned[GS_PARTS];
        for (size_t part = 0; part < GS_PARTS; part++)
            run.results[part] = run.null_results[part] = owned[part] =
                hollow((enum gs_part)part, kind);
        for (size_t i = 0; i < gs_figure_count(); i++) {
            struct gs_plot plot = {0};
            struct gs_text said = {0};
            gs_figure_at(i)->draw(&run, &plot);
            gs_figure_at(i)->say(&run, &said);
            if (!plot.empty) fail_msg("%s draws nothing (kind %d)", gs_figure_at(i)->name, kind);
            struct gs_error error;
            gs_assert_error(gs_figure_draw(gs_figure_at(i), &run, gs_scratch_folder(), "x", &error),
                            GS_MISSING, &error, plot.empty);
            gs_plot_free(&plot);
            gs_text_free(&said);
        }
        for (size_t part = 0; part < GS_PARTS; part++) gs_results_destroy(owned[part]);
    }
}

/* One head, many heads, one dimension. */
static void odd_shapes(void **state) {
    (void)state;
    if (!can_draw) skip();
    static const size_t heads[] = {1, 2, 15, 25, 300};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct gs_report_run run = {.name = "odd"};
        struct gs_results *retention = gs_fixture_retention(heads[i], i % 2 == 0);
        run.results[GS_PART_RETENTION] = retention;
        struct gs_error error;
        gs_assert_ok(gs_figure_draw(&gs_figure_retention, &run, gs_scratch_folder(), "h", &error),
                     &error);
        gs_assert_ok(gs_figure_draw(&gs_figure_efold, &run, gs_scratch_folder(), "h", &error),
                     &error);
        gs_results_destroy(retention);
    }
    for (size_t dims = 2; dims < 4; dims++) {
        struct gs_report_run run = {.name = "odd"};
        struct gs_results *geometry = gs_fixture_geometry(dims, 1);
        run.results[GS_PART_GEOMETRY] = geometry;
        struct gs_error error;
        gs_assert_ok(gs_figure_draw(&gs_figure_spectrum, &run, gs_scratch_folder(), "d", &error),
                     &error);
        gs_assert_ok(gs_figure_draw(&gs_figure_dimensions, &run, gs_scratch_folder(), "d", &error),
                     &error);
        gs_results_destroy(geometry);
    }
}

/* A block without rows keeps its index: with no censored head, the untrained heads must not be
 * drawn in its place. The picture is the judge: it holds as many markers as there are heads. */
static size_t marks_of(const char *path) {
    struct gs_mapped_file file;
    size_t count = 0;
    gs_assert_ok(gs_file_map(path, &file, NULL), NULL);
    static const char triangle[] = "xlink:href='#gpPt7'"; /* the open triangle: a censored head */
    for (size_t i = 0; i + sizeof triangle <= file.size; i++)
        if (memcmp(file.bytes + i, triangle, sizeof triangle - 1) == 0) count++;
    gs_file_unmap(&file);
    return count;
}

static void add_efold(struct gs_results *results, const char *name, double efold, double bound) {
    struct gs_value value = {
        .value = efold, .unit = "token", .has_bound = bound > 0, .bound = bound};
    if (bound > 0) value.status = "censored";
    gs_assert_ok(gs_results_add(results, name, &value, NULL), NULL);
}

static void empty_blocks(void **state) {
    (void)state;
    if (!can_draw) skip();
    size_t triangles[2];
    for (int censored = 0; censored < 2; censored++) {
        struct gs_report_run run = {.name = "blocks"};
        struct gs_results *results = gs_results_create("retention");
        run.results[GS_PART_RETENTION] = results;
        add_efold(results, "retention.head.00.efold", 2, 0);
        add_efold(results, "retention.head.01.efold", censored ? (double)NAN : 20,
                  censored ? 255 : 0);
        add_efold(results, "null.retention.head.00.efold", 3, 0);
        add_efold(results, "null.retention.head.01.efold", 30, 0);
        struct gs_error error;
        gs_assert_ok(gs_figure_draw(&gs_figure_efold, &run, gs_scratch_folder(), "b", &error),
                     &error);
        triangles[censored] = marks_of(gs_scratch_path("befold.svg"));
        gs_results_destroy(results);
    }
    /* besides the terminal's two definitions: none, or one and its place in the key */
    assert_int_equal(triangles[0], 2);
    assert_int_equal(triangles[1], 4);
}

static const char *said_by(const struct gs_figure *figure, const struct gs_report_run *run) {
    static char sentence[4096];
    struct gs_text text = {0};
    figure->say(run, &text);
    snprintf(sentence, sizeof sentence, "%s", text.bytes ? text.bytes : "");
    gs_text_free(&text);
    return sentence;
}

/* Sentences hold the numbers of the results, and nothing of an analysis that was not made. */
static void sentences(void **state) {
    (void)state;
    struct gs_fixture fixture;
    gs_fixture_make(&fixture, true);
    assert_string_equal(said_by(&gs_figure_spectrum, &fixture.run),
                        "Half of the variance lies in 29 components, 90 % in 131, of 256 "
                        "dimensions. The stable rank of the centred covariance is 40.1 (95 % "
                        "interval 38.1 to 41.7), before training 20.1.");
    assert_non_null(strstr(said_by(&gs_figure_efold, &fixture.run),
                           "Efolds run from 1 to more than 256 tokens; 2 of 8 heads are at 3 "
                           "tokens or below. Before training: "));
    assert_non_null(strstr(said_by(&gs_figure_controls, &fixture.run),
                           "; the middle 95 % of 500 random directions of the same norm reach from "
                           "−0.0500 to 0.0600."));
    assert_non_null(strstr(said_by(&gs_figure_loss, &fixture.run),
                           "The mean loss is 4.10 (95 % interval 3.89 to 4.26) nat per token"));
    assert_string_equal(said_by(&gs_figure_layers, &fixture.run), "");
    gs_fixture_add_layers(&fixture, true);
    assert_string_equal(said_by(&gs_figure_layers, &fixture.run),
                        "The stable rank goes from 0.300 in layer 1 to 0.700 in final \"`id`, the "
                        "share of energy in the mean from 0.300 in layer 1 to 0.700 in final "
                        "\"`id`.");
    assert_non_null(strstr(said_by(&gs_figure_layers_default, &fixture.run),
                           "The first is decoded through the final norm and the output matrix, the "
                           "last through the output matrix."));
    assert_non_null(strstr(said_by(&gs_figure_layers_efold, &fixture.run),
                           "Each mark is one of 6 heads. Efolds within the window run from 1 to 36 "
                           "tokens; 2 are at 3 tokens or below, 1 beyond the window."));
    gs_fixture_free(&fixture);
    gs_fixture_make(&fixture, false);
    for (size_t i = 0; i < gs_figure_count(); i++)
        assert_null(strstr(said_by(gs_figure_at(i), &fixture.run), "before training"));
    gs_fixture_free(&fixture);
}

/* Of a trace with one stream no figure over layers is on the page; a layer's place is its row. */
static void figures_over_layers(void **state) {
    (void)state;
    struct gs_fixture fixture;
    gs_fixture_make(&fixture, true);
    size_t each = 0;
    for (size_t i = 0; i < gs_figure_count(); i++) {
        each += gs_figure_at(i)->each;
        assert_true(gs_figure_applies(gs_figure_at(i), &fixture.run) != gs_figure_at(i)->each);
    }
    assert_int_equal(each, 4);
    gs_fixture_add_layers(&fixture, true);
    struct gs_plot plot = {0};
    gs_figure_layers.draw(&fixture.run, &plot);
    /* the stable rank of the second layer with its interval, then the untrained model's block */
    assert_non_null(
        strstr(plot.data.bytes, "0\tNaN\tNaN\tNaN\t\"0\"\n1\t0.3\t0.27\t0.33\t\"1\"\n"));
    assert_non_null(strstr(plot.data.bytes, "1\t0.15\t0.135\t0.165\t\"1\"\n"));
    gs_plot_free(&plot);
    gs_figure_layers_efold.draw(&fixture.run, &plot);
    assert_non_null(strstr(plot.data.bytes, "1\t12\t10.8\t14.4\n"));
    gs_plot_free(&plot);
    gs_fixture_free(&fixture);
}

int main(void) {
    struct gs_error error;
    can_draw = gs_gnuplot_probe(&error) == GS_OK;
    if (!can_draw) print_message("drawing is skipped: %s\n", error.what);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_all),           cmocka_unit_test(svg_is_well_formed),
        cmocka_unit_test(no_text_in_commands), cmocka_unit_test(hollow_results),
        cmocka_unit_test(odd_shapes),          cmocka_unit_test(empty_blocks),
        cmocka_unit_test(sentences),           cmocka_unit_test(figures_over_layers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
