/* Measures of the states by layer: geometry, default token, horizon. */
#include "reports/figures/layers.h"

/* A measure by layer: a panel of a figure. */
struct measure {
    const char *column;
    const char *axis;  /* what stands at the axis */
    const char *words; /* in a sentence */
    const char *range; /* of the y axis */
};

static const struct measure geometry[] = {
    {"stable_rank.centered", "stable rank, centred", "The stable rank goes ", "[0:*]"},
    {"mean_energy", "share of energy in the mean", "the share of energy in the mean ", "[0:1.02]"}};
static const struct measure defaults[] = {
    {"default.spearman.mean_state", "Spearman of the mean state with counts",
     "Spearman's correlation of the mean state's logits with the tokens' counts goes ", "[-1:1]"},
    {"default.control.random_direction.share", "share of random directions as far from 0",
     "the share of random directions that are as far from 0 ", "[0:1.02]"}};
static const struct measure horizons[] = {{"horizon.raw.plateau", "raw cosine at long lags",
                                           "The raw cosine at long lags goes ", "[*<-0.05:1.02]"},
                                          {"horizon.centered_sequence.k1",
                                           "centred cosine at lag 1",
                                           "the centred cosine at lag 1 ", "[*<-0.05:1.02]"}};
enum { PANELS = 2 };

/* Each panel has two blocks: the model's, and the untrained one's. */
static void draw_measures(const struct gs_report_run *run, enum gs_part part, const char *name,
                          const struct measure *measures, struct gs_plot *plot) {
    const struct gs_table *table = gs_figure_table(run->results[part], name);
    struct gs_layers_known own[PANELS], null[PANELS];
    bool any = false;
    for (size_t i = 0; i < PANELS; i++) {
        const char *column = measures[i].column;
        own[i] = gs_layers_block(plot, run->results[part], name, column, table);
        any = any || own[i].value;
        null[i] = gs_layers_block(plot, run->null_results[part], name, column, table);
    }
    if (!any) {
        plot->empty = "no layer has a value";
        return;
    }
    static const char *const titles[2][2] = {{"", "95 % interval"},
                                             {"model", "model, 95 % interval"}};
    gs_figure_two_panels(plot);
    gs_layers_axis(plot, table);
    gs_plot_command(plot, "set key tmargin left horizontal Left reverse");
    for (size_t i = 0; i < PANELS; i++) {
        gs_plot_command(plot, "set ylabel '%s'; set yrange %s", measures[i].axis,
                        measures[i].range);
        gs_plot_command(
            plot,
            "plot %s%s%sdata index %zu using 1:2 with lines lt 1 lw 1.2, "
            "data index %zu using 1:2:3:4:xticlabels(5) with yerrorbars lt 1 lw 1.4 "
            "ps 0.8 title '%s'",
            null[i].value ? "data index " : "", null[i].value ? (i ? "3" : "1") : "",
            null[i].value ? " using 1:2 with linespoints lt 4 ps 0.7 title 'untrained', " : "",
            2 * i, 2 * i, titles[null[i].value][own[i].interval]);
    }
    gs_figure_end_panels(plot);
}

static void say_measures(const struct gs_report_run *run, enum gs_part part, const char *name,
                         const struct measure *measures, struct gs_text *text) {
    const struct gs_table *table = gs_figure_table(run->results[part], name);
    bool begun = false;
    for (size_t i = 0; table && i < PANELS; i++) {
        struct gs_text range = {0};
        if (gs_layers_say(&range, table, measures[i].column)) {
            if (begun) gs_text_put(text, ", ");
            gs_text_put(text, measures[i].words);
            gs_text_put(text, range.bytes);
            begun = true;
        }
        if (range.failed) text->failed = true;
        gs_text_free(&range);
    }
    if (begun) gs_text_put(text, ".");
}

static void draw_geometry(const struct gs_report_run *run, struct gs_plot *plot) {
    draw_measures(run, GS_PART_GEOMETRY, "geometry_by_stream", geometry, plot);
}

static void say_geometry(const struct gs_report_run *run, struct gs_text *text) {
    say_measures(run, GS_PART_GEOMETRY, "geometry_by_stream", geometry, text);
}

static void draw_default(const struct gs_report_run *run, struct gs_plot *plot) {
    draw_measures(run, GS_PART_DEFAULT, "default_by_stream", defaults, plot);
}

/* What the states of a layer are put through must be said, since it is not what the model does. */
static void say_default(const struct gs_report_run *run, struct gs_text *text) {
    const struct gs_table *top =
        gs_figure_table(run->results[GS_PART_DEFAULT], "default_token_by_stream");
    say_measures(run, GS_PART_DEFAULT, "default_by_stream", defaults, text);
    size_t column = top ? gs_table_find_column(top, "decoder") : SIZE_MAX;
    if (column == SIZE_MAX) return;
    struct gs_cell first = gs_table_cell(top, 0, column);
    struct gs_cell last = gs_table_cell(top, gs_table_rows(top) - 1, column);
    if (first.type != GS_CELL_TEXT || last.type != GS_CELL_TEXT) return;
    gs_text_put(text, " The first is decoded through ");
    gs_text_put(text, first.text);
    gs_text_put(text, ", the last through ");
    gs_text_put(text, last.text);
    gs_text_put(text, ".");
}

static void draw_horizon(const struct gs_report_run *run, struct gs_plot *plot) {
    draw_measures(run, GS_PART_HORIZON, "horizon_by_stream", horizons, plot);
}

static void say_horizon(const struct gs_report_run *run, struct gs_text *text) {
    say_measures(run, GS_PART_HORIZON, "horizon_by_stream", horizons, text);
}

const struct gs_figure gs_figure_layers = {"layers",
                                           "Stable rank and mean energy by layer",
                                           GS_PART_GEOMETRY,
                                           "geometry_by_stream",
                                           340,
                                           620,
                                           draw_geometry,
                                           say_geometry,
                                           true};
const struct gs_figure gs_figure_layers_default = {"layers-default",
                                                   "Default token by layer",
                                                   GS_PART_DEFAULT,
                                                   "default_by_stream",
                                                   340,
                                                   620,
                                                   draw_default,
                                                   say_default,
                                                   true};
const struct gs_figure gs_figure_layers_horizon = {"layers-horizon",
                                                   "Horizon by layer",
                                                   GS_PART_HORIZON,
                                                   "horizon_by_stream",
                                                   340,
                                                   620,
                                                   draw_horizon,
                                                   say_horizon,
                                                   true};
