/* The state horizon: how alike are two states k steps apart, in four ways of centring. */
#include "reports/figures/parts.h"

#include <math.h>
#include <stdio.h>

static const struct {
    const char *column, *title, *words;
} curves[] = {
    {"raw", "raw", "raw states"},
    {"centered_sequence", "centred on the sequence mean", "states less their sequence's mean"},
    {"centered_global", "centred on the global mean", "states less the global mean"},
    {"null", "null: states of other sequences", "the null"},
};
enum { CURVES = sizeof curves / sizeof *curves };

/* (lag, value, low, high) of one curve; low and high are missing when there are no intervals. */
static bool add_curve(struct gs_plot *plot, const struct gs_table *table, const char *name,
                      bool *banded) {
    char low[64], high[64];
    snprintf(low, sizeof low, "%s_low", name);
    snprintf(high, sizeof high, "%s_high", name);
    *banded = gs_table_find_column(table, low) != SIZE_MAX &&
              gs_table_find_column(table, high) != SIZE_MAX;
    const char *columns[] = {"lag", name, low, high};
    return gs_figure_block(plot, table, columns, *banded ? 4 : 2, false);
}

/* The table with intervals where there is one. */
static const struct gs_table *curve_table(const struct gs_report_run *run) {
    const struct gs_results *results = run->results[GS_PART_HORIZON];
    const struct gs_table *table = gs_figure_table(results, "horizon_interval");
    return table ? table : gs_figure_table(results, "horizon");
}

static void draw(const struct gs_report_run *run, struct gs_plot *plot) {
    const struct gs_table *table = curve_table(run);
    bool shown[CURVES] = {false}, banded[CURVES] = {false}, any = false;
    for (size_t i = 0; table && i < CURVES; i++) {
        shown[i] = add_curve(plot, table, curves[i].column, &banded[i]);
        any = any || shown[i];
    }
    if (!any) {
        plot->empty = "no pair of states was far enough apart to be compared";
        return;
    }
    gs_plot_command(plot, "set logscale x; set xlabel 'lag k, tokens'");
    gs_plot_command(plot, "set ylabel 'mean cosine of the states of t and t + k'");
    gs_plot_command(plot, "set yrange [*<-0.05:1.02]; set xrange [0.9:*]");
    gs_plot_command(plot, "set key tmargin left horizontal Left reverse maxcols (narrow ? 1 : 2)");
    gs_plot_command(plot, "set style fill transparent solid 0.16 noborder");
    gs_text_put(&plot->script, "plot ");
    for (size_t i = 0; i < CURVES; i++)
        if (shown[i] && banded[i])
            gs_text_add(&plot->script, "data index %zu using 1:3:4 with filledcurves lt %zu, ", i,
                        i + 1);
    for (size_t i = 0; i < CURVES; i++)
        if (shown[i])
            gs_text_add(&plot->script,
                        "data index %zu using 1:2 with linespoints lt %zu title '%s', ", i, i + 1,
                        curves[i].title);
    gs_plot_command(plot, "0 with lines lc rgb '#AAB0B8' lw 0.8 dt 1");
}

static void say(const struct gs_report_run *run, struct gs_text *text) {
    const struct gs_table *table = gs_figure_table(run->results[GS_PART_HORIZON], "horizon");
    if (!table) return;
    size_t last = gs_table_rows(table) - 1, lag = gs_table_find_column(table, "lag");
    size_t pairs = gs_table_find_column(table, "pairs");
    bool begun = false;
    for (size_t i = 0; i < CURVES; i++) {
        size_t column = gs_table_find_column(table, curves[i].column);
        double near = gs_plot_cell(table, 0, column), far = gs_plot_cell(table, last, column);
        if (!isfinite(near) || !isfinite(far)) continue;
        if (!begun) {
            gs_text_put(text, "From lag ");
            gs_text_number(text, gs_plot_cell(table, 0, lag), 6);
            gs_text_put(text, " to lag ");
            gs_text_number(text, gs_plot_cell(table, last, lag), 6);
            gs_text_put(text, " the mean cosine goes ");
        } else {
            gs_text_put(text, "; ");
        }
        begun = true;
        gs_text_put(text, "from ");
        gs_text_number(text, near, 3);
        gs_text_put(text, " to ");
        gs_text_number(text, far, 3);
        gs_text_put(text, " for ");
        gs_text_put(text, curves[i].words);
    }
    if (begun) gs_text_put(text, ". ");
    double fewest = gs_plot_cell(table, last, pairs), most = gs_plot_cell(table, 0, pairs);
    if (isfinite(fewest) && isfinite(most)) {
        gs_text_put(text, "Pairs at the two ends: ");
        gs_text_number(text, most, 12);
        gs_text_put(text, " and ");
        gs_text_number(text, fewest, 12);
        gs_text_put(text, ".");
    }
}

const struct gs_figure gs_figure_horizon = {
    "horizon", "Horizon curves", GS_PART_HORIZON, "horizon", 400, 420, draw, say, false};
