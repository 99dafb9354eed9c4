/* How much each dimension of the state varies. */
#include "core/base/memory.h"
#include "reports/figures/parts.h"

#include <math.h>
#include <stdlib.h>

static int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* A block of (rank, deviation), the largest first; false when there is none above zero. */
static bool add_sorted(struct gs_plot *plot, const struct gs_table *table, double *range) {
    size_t rows = table ? gs_table_rows(table) : 0, known = 0;
    double *deviations = gs_calloc(rows, sizeof *deviations);
    size_t column = table ? gs_table_find_column(table, "std") : 0;
    for (size_t row = 0; deviations && row < rows; row++) {
        double deviation = gs_plot_cell(table, row, column);
        if (isfinite(deviation)) deviations[known++] = deviation;
    }
    if (!deviations) plot->data.failed = true;
    if (known) qsort(deviations, known, sizeof *deviations, descending);
    bool any = known && deviations[0] > 0;
    for (size_t i = 0; i < known; i++) {
        gs_plot_number(plot, (double)i + 1);
        gs_plot_number(plot, deviations[i] > 0 ? deviations[i] : NAN);
        gs_plot_row(plot);
    }
    gs_plot_block(plot);
    *range = known ? deviations[0] - deviations[known - 1] : 0;
    gs_free(deviations);
    return any;
}

static void draw(const struct gs_report_run *run, struct gs_plot *plot) {
    const struct gs_results *null = run->null_results[GS_PART_GEOMETRY];
    const struct gs_table *table = gs_figure_table(run->results[GS_PART_GEOMETRY], "dim_std");
    double range, null_range;
    if (!add_sorted(plot, table, &range)) {
        plot->empty = "no dimension of the state varies";
        return;
    }
    bool has_null = add_sorted(plot, gs_figure_table(null, "dim_std"), &null_range);
    gs_figure_two_panels(plot);
    gs_plot_command(plot, "set logscale y; set xrange [0:*]; set key top right");
    gs_plot_command(plot, "set xlabel 'dimensions, the most varying first'");
    gs_plot_command(plot, "set ylabel 'standard deviation'; set xtics %g",
                    gs_figure_tick_step((double)gs_table_rows(table), 5));
    gs_plot_command(plot, "plot %sdata index 0 using 1:2 with lines lt 1 title '%s'",
                    has_null ? "data index 1 using 1:2 with lines lt 4 title 'untrained', " : "",
                    has_null ? "model" : "");
    gs_plot_command(plot, "unset logscale; set xrange [*:*]; set yrange [0:*]; set key off");
    gs_plot_command(plot, "set xlabel 'standard deviation'; set ylabel 'dimensions'");
    gs_plot_command(plot, "set boxwidth 0.9 relative; set xtics %g", gs_figure_tick_step(range, 6));
    gs_plot_command(plot, "plot data index 0 using 2 bins=40 with boxes lc rgb " GS_BLUE);
    gs_figure_end_panels(plot);
}

static void say(const struct gs_report_run *run, struct gs_text *text) {
    const struct gs_results *results = run->results[GS_PART_GEOMETRY];
    struct gs_value low, high, dead;
    if (!gs_figure_value(results, "dim_std.min", &low) ||
        !gs_figure_value(results, "dim_std.max", &high))
        return;
    gs_text_put(text, "The standard deviation of a dimension runs from ");
    gs_text_number(text, low.value, 3);
    gs_text_put(text, " to ");
    gs_text_number(text, high.value, 3);
    gs_figure_say(text, results, "dim_std.mean", ", with mean ", 3, "");
    gs_text_put(text, ".");
    if (!gs_figure_value(results, "dead_dims", &dead)) return;
    if (dead.value == 0) {
        gs_text_put(text, " No dimension is constant.");
    } else {
        gs_text_put(text, " Constant dimensions: ");
        gs_text_number(text, dead.value, 6);
        gs_text_put(text, "; they have no place on the logarithmic axis.");
    }
}

const struct gs_figure gs_figure_dimensions = {
    "dimensions", "Deviation of each dimension", GS_PART_GEOMETRY, "dim_std", 320, 560, draw, say,
    false};
