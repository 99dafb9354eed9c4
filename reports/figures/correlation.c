/* Correlations between dimensions: how many pairs have which. */
#include "reports/figures/parts.h"

static void draw(const struct gs_report_run *run, struct gs_plot *plot) {
    static const char *const columns[] = {"low", "high", "count"};
    static const char name[] = "corr_histogram";
    const struct gs_results *null = run->null_results[GS_PART_GEOMETRY];
    const struct gs_table *table = gs_figure_table(run->results[GS_PART_GEOMETRY], name);
    struct gs_value pairs;
    if (!gs_figure_block(plot, table, columns, 3, false) ||
        !gs_figure_value(run->results[GS_PART_GEOMETRY], "corr.mean_abs", &pairs)) {
        plot->empty = "there is no pair of varying dimensions";
        return;
    }
    bool has_null = gs_figure_block(plot, gs_figure_table(null, name), columns, 3, false);
    gs_plot_command(plot, "set xlabel 'correlation of two dimensions'");
    gs_plot_command(plot, "set ylabel 'pairs of dimensions'");
    gs_plot_command(plot, "set logscale y; set yrange [0.7:*]; set format y '%%g'");
    gs_plot_command(plot, "set xrange [-1:1]; set key tmargin right horizontal");
    gs_plot_command(plot,
                    "plot data index 0 using (($1+$2)/2):($3>0?$3:NaN):($2-$1) with boxes lc rgb "
                    "%s title '%s'%s",
                    has_null ? GS_SKY : GS_BLUE, has_null ? "model" : "",
                    has_null ? ", data index 1 using (($1+$2)/2):($3>0?$3:NaN) with histeps lc "
                               "rgb " GS_INK " lw 1 dt 1 title 'untrained'"
                             : "");
}

static void say(const struct gs_report_run *run, struct gs_text *text) {
    const struct gs_results *results = run->results[GS_PART_GEOMETRY];
    struct gs_value mean;
    if (!gs_figure_value(results, "corr.mean_abs", &mean)) return;
    gs_text_put(text, "The mean absolute correlation is ");
    gs_figure_say_value(text, &mean, 3);
    gs_figure_say(text, results, "corr.max_abs", ", the largest ", 3, "");
    gs_figure_say(text, run->null_results[GS_PART_GEOMETRY], "corr.mean_abs",
                  "; before training the mean is ", 3, "");
    gs_text_put(text, ".");
}

const struct gs_figure gs_figure_correlation = {"correlation",
                                                "Correlations between dimensions",
                                                GS_PART_GEOMETRY,
                                                "corr_histogram",
                                                320,
                                                320,
                                                draw,
                                                say,
                                                false};
