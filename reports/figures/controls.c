/* How the decodings' correlation with token counts stands against what chance and habit give. */
#include "reports/figures/parts.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *value, *label;
} decodings[] = {{"default.spearman.mean_state", "logits of the mean state"},
                 {"default.spearman.mean_logits", "mean of the logits"},
                 {"default.spearman.mean_probs", "mean of the probabilities"}};

static const struct {
    const char *control, *label;
} controls[] = {{"mean_embedding", "mean embedding"},
                {"random_direction", "random directions"},
                {"shuffled_counts", "shuffled counts"}};

enum {
    DECODINGS = sizeof decodings / sizeof *decodings,
    CONTROLS = sizeof controls / sizeof *controls
};

static bool is_text(const struct gs_table *table, size_t row, size_t column, const char *text) {
    if (column == SIZE_MAX) return false;
    struct gs_cell cell = gs_table_cell(table, row, column);
    return cell.type == GS_CELL_TEXT && strcmp(cell.text, text) == 0;
}

/* The row of a control's Spearman; SIZE_MAX when there is none. */
static size_t find_control(const struct gs_table *table, const char *control) {
    size_t rows = table ? gs_table_rows(table) : 0;
    for (size_t row = 0; row < rows; row++)
        if (is_text(table, row, gs_table_find_column(table, "control"), control) &&
            is_text(table, row, gs_table_find_column(table, "statistic"), "spearman"))
            return row;
    return SIZE_MAX;
}

static void add_row(struct gs_plot *plot, size_t place, double value, double low, double high,
                    const char *label) {
    gs_plot_number(plot, (double)place);
    gs_plot_number(plot, value);
    gs_plot_number(plot, isfinite(low) ? low : value);
    gs_plot_number(plot, isfinite(high) ? high : value);
    gs_plot_label(plot, label, 0);
    gs_plot_row(plot);
}

static size_t add_decodings(struct gs_plot *plot, const struct gs_results *results, size_t place) {
    for (size_t i = 0; i < DECODINGS; i++) {
        struct gs_value value;
        if (!gs_figure_value(results, decodings[i].value, &value)) continue;
        double none = (double)NAN;
        add_row(plot, place++, value.value, value.has_interval ? value.low : none,
                value.has_interval ? value.high : none, decodings[i].label);
    }
    gs_plot_block(plot);
    return place;
}

/* The untrained model's, of the mean state alone. */
static size_t add_untrained(struct gs_plot *plot, const struct gs_results *results, size_t place) {
    struct gs_value value;
    double none = (double)NAN;
    if (!gs_figure_value(results, decodings[0].value, &value)) return place;
    add_row(plot, place++, value.value, value.has_interval ? value.low : none,
            value.has_interval ? value.high : none, "mean state, untrained");
    gs_plot_block(plot);
    return place;
}

static size_t add_controls(struct gs_plot *plot, const struct gs_table *table, size_t place) {
    for (size_t i = 0; i < CONTROLS; i++) {
        size_t row = find_control(table, controls[i].control);
        if (row == SIZE_MAX) continue;
        double value = gs_plot_cell(table, row, gs_table_find_column(table, "value"));
        if (!isfinite(value)) continue;
        add_row(plot, place++, value, gs_plot_cell(table, row, gs_table_find_column(table, "low")),
                gs_plot_cell(table, row, gs_table_find_column(table, "high")), controls[i].label);
    }
    gs_plot_block(plot);
    return place;
}

static void draw(const struct gs_report_run *run, struct gs_plot *plot) {
    const struct gs_results *results = run->results[GS_PART_DEFAULT];
    size_t shown = add_decodings(plot, results, 1);
    bool has_decodings = shown > 1;
    size_t controlled = add_controls(plot, gs_figure_table(results, "controls"), shown);
    size_t end = controlled;
    if (has_decodings && controlled > shown) /* an empty block would shift the ones behind it */
        end = add_untrained(plot, run->null_results[GS_PART_DEFAULT], controlled);
    if (end == 1) {
        plot->empty = "no correlation with token counts is known";
        return;
    }
    gs_plot_command(plot, "set border 1; unset grid; set grid x; set ytics scale 0");
    gs_plot_command(plot, "set yrange [%zu.6:0.4]; set lmargin (narrow ? 23 : 27)", end - 1);
    gs_plot_command(plot, "set autoscale x; set xrange [*<-0.1:0.1<*]; set xtics format '%%g'");
    gs_plot_command(plot, "if (narrow) { set xtics 0.5 }");
    gs_plot_command(plot, "set xlabel (narrow ? 'Spearman correlation with counts' : "
                          "'Spearman correlation of the logits with token counts')");
    gs_plot_command(plot, "set arrow from 0, graph 0 to 0, graph 1 nohead lc rgb '#8C959F' lw 1");
    gs_plot_command(plot,
                    "set key tmargin left horizontal Left reverse maxcols (narrow ? 1 : 2); if "
                    "(narrow) { set key at screen 0.03,0.97 left top vertical Left "
                    "reverse; set tmargin 5 }");
    gs_text_put(&plot->script, "plot ");
    if (has_decodings)
        gs_text_put(&plot->script, "data index 0 using 2:1:3:4 with xerrorbars lt 1 ps 1 lw 1.6 "
                                   "title 'model (95 % interval)', ");
    if (end > controlled)
        gs_text_put(&plot->script, "data index 2 using 2:1:3:4 with xerrorbars lt 4 pt 6 ps 1 "
                                   "dt 1 title 'untrained (95 % interval)', ");
    if (controlled > shown)
        gs_text_put(&plot->script, "data index 1 using 2:1:3:4 with xerrorbars lt 4 pt 5 ps 0.8 "
                                   "dt 1 title 'controls (95 % of draws)', ");
    gs_plot_command(plot, "data using 2:1:yticlabels(5) with points pt -1 notitle");
}

static void say(const struct gs_report_run *run, struct gs_text *text) {
    const struct gs_results *results = run->results[GS_PART_DEFAULT];
    const struct gs_table *table = gs_figure_table(results, "controls");
    size_t row = find_control(table, "random_direction");
    struct gs_value value;
    if (row == SIZE_MAX || !gs_figure_value(results, decodings[0].value, &value)) return;
    double low = gs_plot_cell(table, row, gs_table_find_column(table, "low"));
    double high = gs_plot_cell(table, row, gs_table_find_column(table, "high"));
    gs_text_put(text, "The logits of the mean state correlate with the token counts at ");
    gs_figure_say_value(text, &value, 3);
    double draws = gs_plot_cell(table, row, gs_table_find_column(table, "draws"));
    if (isfinite(low) && isfinite(high)) {
        gs_text_put(text, "; the middle 95 % of ");
        if (draws > 0) gs_text_number(text, draws, 9);
        gs_text_put(text, draws > 0 ? " random directions" : "random directions");
        gs_text_put(text, " of the same norm reach from ");
        gs_text_interval(text, low, high, 3);
    }
    gs_figure_say(text, run->null_results[GS_PART_DEFAULT], decodings[0].value,
                  "; before training they correlate at ", 3, "");
    gs_text_put(text, ".");
}

const struct gs_figure gs_figure_controls = {
    "controls", "Against controls", GS_PART_DEFAULT, "controls", 320, 330, draw, say, false};
