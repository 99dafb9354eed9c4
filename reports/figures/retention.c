/* What share of a head's memory is left after k tokens. */
#include "core/base/memory.h"
#include "reports/figures/parts.h"

#include <math.h>

/* Curves (lag, retention, place) of every head, in the table's order; place colours the line. */
static bool add_curves(struct gs_plot *plot, const struct gs_results *results, bool null) {
    const struct gs_table *table = gs_figure_table(results, null ? "null.retention" : "retention");
    size_t count, rows = table ? gs_table_rows(table) : 0;
    struct gs_figure_head *heads = gs_figure_heads(results, null, &count);
    bool any = false;
    size_t head_column = table ? gs_table_find_column(table, "head") : 0;
    size_t lag = table ? gs_table_find_column(table, "lag") : 0;
    size_t retention = table ? gs_table_find_column(table, "retention") : 0;
    double before = NAN;
    for (size_t row = 0; row < rows; row++) {
        double head = gs_plot_cell(table, row, head_column), place = NAN;
        double share = gs_plot_cell(table, row, retention);
        if (row && head != before) gs_plot_curve(plot);
        before = head;
        for (size_t i = 0; i < count; i++)
            if ((double)heads[i].head == head) place = heads[i].place;
        gs_plot_number(plot, gs_plot_cell(table, row, lag));
        gs_plot_number(plot, share > 0 ? share : NAN);
        gs_plot_number(plot, place > 0 ? log10(place) : 0);
        gs_plot_row(plot);
        any = any || share > 0;
    }
    gs_plot_block(plot);
    gs_free(heads);
    return any;
}

static void draw(const struct gs_report_run *run, struct gs_plot *plot) {
    if (!add_curves(plot, run->results[GS_PART_RETENTION], false)) {
        plot->empty = "the results hold no retention curve";
        return;
    }
    bool has_null = add_curves(plot, run->results[GS_PART_RETENTION], true);
    gs_plot_command(plot, "set logscale xy; set xrange [0.9:*]; set yrange [1e-3:1.3]");
    gs_plot_command(plot, "set xlabel 'lag k, tokens'; set format y '%%g'");
    gs_plot_command(plot, "set ylabel 'share of the memory left after k tokens'");
    /* Dark to light by lightness as well as by hue, as in cividis. */
    gs_plot_command(plot, "set palette defined (0 '#00224E', 0.3 '#3C5A8C', 0.6 '#2E9B8F', "
                          "1 '#E3A000')");
    gs_plot_command(plot,
                    "set cblabel 'efold of the head, tokens' offset 1,0 textcolor rgb " GS_INK);
    gs_plot_command(plot, "set cbtics ('1' 0, '3' 0.4771, '10' 1, '30' 1.4771, '100' 2, "
                          "'300' 2.4771, '1000' 3, '3000' 3.4771)");
    gs_plot_command(plot, "if (narrow) { set colorbox horizontal user origin graph 0.05,"
                          "screen 0.12 size graph 0.9,screen 0.025; set bmargin 8 }");
    gs_plot_command(plot, "set key tmargin left horizontal Left reverse");
    gs_plot_command(plot,
                    "plot %s1/exp(1) with lines lc rgb " GS_INK " lw 1 dt 2 title '1/e', "
                    "data index 0 using 1:2:3 with lines lw 1.6 dt 1 lc palette title '%s'",
                    has_null
                        ? "data index 1 using 1:2 with lines lc rgb '#848B95' lw 0.9 dt 2 title "
                          "'before training', "
                        : "",
                    has_null ? "model" : "heads");
}

static void say(const struct gs_report_run *run, struct gs_text *text) {
    size_t count, censored = 0;
    struct gs_figure_head *heads = gs_figure_heads(run->results[GS_PART_RETENTION], false, &count);
    if (!heads) return;
    for (size_t i = 0; i < count; i++) censored += heads[i].censored ? 1 : 0;
    gs_text_put(text, "Each line is one of ");
    gs_text_count(text, count);
    gs_text_put(text, count == 1 ? " head" : " heads");
    gs_text_put(text, ": the mean over t of the product of its decays from t + 1 to t + k. ");
    gs_text_count(text, count - censored);
    gs_text_put(text, " of ");
    gs_text_count(text, count);
    gs_text_put(text, " fall to 1/e within the window");
    gs_text_put(text, ". Shares below 0.001 are not drawn.");
    gs_free(heads);
}

const struct gs_figure gs_figure_retention = {
    "retention", "Retention of each head", GS_PART_RETENTION, "retention", 400, 460, draw, say};
