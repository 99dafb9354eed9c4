/* The loss as a sequence goes on. */
#include "reports/figures/parts.h"

static void draw(const struct gs_report_run *run, struct gs_plot *plot) {
    static const char *const columns[] = {"position", "loss"};
    static const char *const stretch[] = {"center", "loss", "low", "high"};
    const struct gs_results *results = run->results[GS_PART_LOSS];
    const struct gs_results *null = run->null_results[GS_PART_LOSS];
    if (!gs_figure_block(plot, gs_figure_table(results, "loss_by_position"), columns, 2, false)) {
        plot->empty = "no position has a loss";
        return;
    }
    bool has_stretch =
        gs_figure_block(plot, gs_figure_table(results, "loss_by_stretch"), stretch, 4, false);
    bool has_null =
        gs_figure_block(plot, gs_figure_table(null, "loss_by_stretch"), stretch, 4, false);
    gs_plot_command(plot, "set logscale x; set xlabel 'position in the sequence, from 1'");
    gs_plot_command(
        plot, "set ylabel 'loss, nat per token'; set key tmargin left horizontal Left reverse "
              "maxcols (narrow ? 1 : 2)");
    gs_plot_command(plot, "set xrange [0.9:*]; set yrange [*:*]");
    gs_plot_command(
        plot,
        "plot data index 0 using ($1+1):2 with points lc rgb %s pt 7 ps 0.3 title 'mean at each "
        "position'%s%s",
        GS_SKY,
        has_stretch ? ", data index 1 using ($1+1):2:3:4 with yerrorbars lt 1 lw 1.4 ps 0.8 "
                      "title 'mean of a stretch, 95 % interval', "
                      "data index 1 using ($1+1):2 with lines lt 1 lw 1.4"
                    : "",
        has_null ? ", data index 2 using ($1+1):2 with linespoints lt 4 ps 0.7 title 'untrained'"
                 : "");
}

static void say(const struct gs_report_run *run, struct gs_text *text) {
    const struct gs_results *results = run->results[GS_PART_LOSS];
    const struct gs_table *table = gs_figure_table(results, "loss_by_stretch");
    struct gs_value loss;
    if (gs_figure_value(results, "loss", &loss)) {
        gs_text_put(text, "The mean loss is ");
        gs_figure_say_value(text, &loss, 3);
        gs_text_put(text, " nat per token");
        gs_figure_say(text, results, "perplexity", ", a perplexity of ", 3, "");
        gs_figure_say(text, run->null_results[GS_PART_LOSS], "loss", "; before training ", 3, "");
        gs_text_put(text, ".");
    }
    if (!table || gs_table_rows(table) < 2) return;
    size_t last = gs_table_rows(table) - 1, column = gs_table_find_column(table, "loss");
    gs_text_put(text, " It goes from ");
    gs_text_number(text, gs_plot_cell(table, 0, column), 3);
    gs_text_put(text, " at the first position to ");
    gs_text_number(text, gs_plot_cell(table, last, column), 3);
    double from = gs_plot_cell(table, last, gs_table_find_column(table, "first")) + 1;
    double to = gs_plot_cell(table, last, gs_table_find_column(table, "last")) + 1;
    gs_text_put(text, from == to ? " at position " : " over positions ");
    gs_text_number(text, from, 9);
    if (from != to) gs_text_put(text, " to ");
    if (from != to) gs_text_number(text, to, 9);
    gs_text_put(text, ".");
}

const struct gs_figure gs_figure_loss = {
    "loss", "Loss by position", GS_PART_LOSS, "loss_by_position", 360, 380, draw, say, false};
