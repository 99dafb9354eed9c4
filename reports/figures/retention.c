/* What share of a head's memory is left after k tokens. */
#include "core/base/memory.h"
#include "reports/figures/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The efold of a head, or the bound of a censored one. Values stand beside their table: behind what
 * its name has before "retention". */
static double place_of(const struct gs_results *results, const char *table, double head) {
    char name[256];
    struct gs_value value;
    snprintf(name, sizeof name, "%.*sretention.head.%02.0f.efold",
             (int)(strlen(table) - strlen("retention")), table, head);
    if (!gs_results_find(results, name, &value)) return (double)NAN;
    return value.has_bound ? value.bound : value.value;
}

/* Curves (lag, retention, place) of every head of a table, in its order; place colours the line. */
static bool add_table(struct gs_plot *plot, const struct gs_results *results,
                      const struct gs_table *table) {
    bool any = false;
    size_t head_column = gs_table_find_column(table, "head"),
           lag = gs_table_find_column(table, "lag"),
           retention = gs_table_find_column(table, "retention");
    double before = (double)NAN, place = (double)NAN;
    for (size_t row = 0; row < gs_table_rows(table); row++) {
        double head = gs_plot_cell(table, row, head_column);
        double share = gs_plot_cell(table, row, retention);
        if (head != before) {
            if (plot->block_rows) gs_plot_curve(plot);
            place = place_of(results, gs_table_name(table), head);
        }
        before = head;
        gs_plot_number(plot, gs_plot_cell(table, row, lag));
        gs_plot_number(plot, share > 0 ? share : (double)NAN);
        gs_plot_number(plot, place > 0 ? log10(place) : 0);
        gs_plot_row(plot);
        any = any || share > 0;
    }
    return any;
}

/* "retention", or "memory.NAME.retention" of each of several memories. */
static bool is_curve_table(const char *name, bool null) {
    static const char before[] = "null.", end[] = ".retention";
    size_t length = strlen(name);
    if (null != (strncmp(name, before, sizeof before - 1) == 0)) return false;
    if (null) name += sizeof before - 1;
    length = strlen(name);
    return strcmp(name, end + 1) == 0 || (strncmp(name, "memory.", 7) == 0 && length > sizeof end &&
                                          strcmp(name + length - (sizeof end - 1), end) == 0);
}

static bool add_curves(struct gs_plot *plot, const struct gs_results *results, bool null) {
    bool any = false;
    for (size_t i = 0; results && i < gs_results_table_count(results); i++) {
        const struct gs_table *table = gs_results_table_at(results, i);
        if (is_curve_table(gs_table_name(table), null))
            any = add_table(plot, results, table) || any;
    }
    gs_plot_block(plot);
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
    "retention", "Retention of each head", GS_PART_RETENTION, "retention", 400, 460, draw, say,
    false};
