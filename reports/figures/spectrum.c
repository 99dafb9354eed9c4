/* The eigenvalues of the covariance, and how many components hold how much of the variance. */
#include "reports/figures/parts.h"

#include <math.h>

static const struct {
    const char *value, *label;
} marks[] = {{"pcs_50", "50 %"}, {"pcs_90", "90 %"}, {"pcs_99", "99 %"}};

/* The curve's height at a component. */
static double share_at(const struct gs_table *table, double component) {
    if (!table || !(component >= 1) || component > (double)gs_table_rows(table)) return (double)NAN;
    return gs_plot_cell(table, (size_t)component - 1, gs_table_find_column(table, "share"));
}

static void add_mark(struct gs_plot *plot, const char *name, double component, double share) {
    struct gs_text label = {0};
    gs_text_put(&label, name);
    gs_text_put(&label, ": ");
    gs_text_number(&label, component, 6);
    gs_plot_number(plot, component);
    gs_plot_number(plot, share);
    gs_plot_label(plot, label.bytes, 0);
    gs_plot_row(plot);
    gs_text_free(&label);
}

/* Two blocks: marks in the left half of the axis, labelled on their right, and the others. */
static bool add_marks(struct gs_plot *plot, const struct gs_results *results) {
    const struct gs_table *table = gs_figure_table(results, "spectrum_cumulative");
    double half = sqrt(table ? (double)gs_table_rows(table) : 1);
    bool any = false;
    for (int right = 0; right < 2; right++) {
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
            struct gs_value value;
            if (!gs_figure_value(results, marks[i].value, &value)) continue;
            if ((value.value > half) != (right == 1)) continue;
            add_mark(plot, marks[i].label, value.value, share_at(table, value.value));
            any = true;
        }
        gs_plot_block(plot);
    }
    return any;
}

static void draw(const struct gs_report_run *run, struct gs_plot *plot) {
    static const char *const columns[] = {"index", "eigenvalue"}, *const shares[] = {"index",
                                                                                     "share"};
    const struct gs_results *results = run->results[GS_PART_GEOMETRY];
    const struct gs_results *null = run->null_results[GS_PART_GEOMETRY];
    const struct gs_table *table = gs_figure_table(results, "spectrum");
    if (!gs_figure_block(plot, table, columns, 2, true)) {
        plot->empty = "the results hold no eigenvalue above zero";
        return;
    }
    bool has_null = gs_figure_block(plot, gs_figure_table(null, "spectrum"), columns, 2, true);
    gs_figure_block(plot, gs_figure_table(results, "spectrum_cumulative"), shares, 2, false);
    gs_figure_block(plot, gs_figure_table(null, "spectrum_cumulative"), shares, 2, false);
    bool marked = add_marks(plot, results);
    gs_figure_two_panels(plot);
    gs_plot_command(plot, "set logscale xy");
    gs_plot_command(plot, "set format y '%%.0e'");
    gs_plot_command(plot, "set xlabel 'component'");
    gs_plot_command(plot, "set ylabel 'eigenvalue'");
    gs_plot_command(plot, "set key bottom left");
    gs_plot_command(plot, "plot %sdata index 0 using 1:2 with lines lt 1 title '%s'",
                    has_null ? "data index 1 using 1:2 with lines lt 4 title 'untrained', " : "",
                    has_null ? "model" : "");
    gs_plot_command(plot, "unset logscale y; set format y '%%g'; set yrange [0:1.08]");
    gs_plot_command(plot, "set ylabel 'cumulative share of variance'; set key off");
    gs_plot_command(plot, "plot %sdata index 2 using 1:2 with lines lt 1%s",
                    has_null ? "data index 3 using 1:2 with lines lt 4, " : "",
                    marked ? ", for [i=4:5] data index i using 1:2 with points lt 1 ps 0.8, "
                             "data index 4 using 1:2:3 with labels left offset 0.7,-0.7 "
                             "textcolor rgb " GS_INK ", "
                             "data index 5 using 1:2:3 with labels right offset -0.7,0.4 "
                             "textcolor rgb " GS_INK
                           : "");
    gs_figure_end_panels(plot);
}

static void say(const struct gs_report_run *run, struct gs_text *text) {
    const struct gs_results *results = run->results[GS_PART_GEOMETRY];
    struct gs_value half, most, rank;
    if (gs_figure_value(results, "pcs_50", &half) && gs_figure_value(results, "pcs_90", &most)) {
        gs_text_put(text, "Half of the variance lies in ");
        gs_text_number(text, half.value, 6);
        gs_text_put(text, half.value == 1 ? " component, 90 % in " : " components, 90 % in ");
        gs_text_number(text, most.value, 6);
        gs_figure_say(text, results, "dims", ", of ", 6, " dimensions");
        gs_text_put(text, ". ");
    }
    if (gs_figure_value(results, "stable_rank.centered", &rank)) {
        gs_text_put(text, "The stable rank of the centred covariance is ");
        gs_figure_say_value(text, &rank, 3);
        gs_figure_say(text, run->null_results[GS_PART_GEOMETRY], "stable_rank.centered",
                      ", before training ", 3, "");
        gs_text_put(text, ".");
    }
}

const struct gs_figure gs_figure_spectrum = {
    "spectrum", "Spectrum of the covariance", GS_PART_GEOMETRY, "spectrum", 340, 600, draw, say,
    false};
