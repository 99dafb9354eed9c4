/* The tokens that the mean state stands for, decoded in three ways. */
#include "reports/figures/parts.h"

#include <string.h>

enum { SHOWN = 10, PANELS = 3, LABEL_LONGEST = 14 };

/* The names are ours; a name we do not know is shown by its place, never put into a command. */
static const struct {
    const char *decoding, *title;
} known[] = {{"mean_state", "mean state"},
             {"mean_logits", "mean logits"},
             {"mean_probs", "mean probabilities"}};

static const char *panel_title(const char *decoding) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (decoding && strcmp(decoding, known[i].decoding) == 0) return known[i].title;
    return "another decoding";
}

static const char *decoding_at(const struct gs_table *table, size_t row) {
    size_t column = gs_table_find_column(table, "decoding");
    if (column == SIZE_MAX) return NULL;
    struct gs_cell cell = gs_table_cell(table, row, column);
    return cell.type == GS_CELL_TEXT ? cell.text : NULL;
}

/* The piece between quotation marks, so that a space shows; else "id 17". */
static void add_piece(struct gs_plot *plot, const struct gs_table *table, size_t row) {
    size_t column = gs_table_find_column(table, "piece");
    struct gs_cell cell = {.type = GS_CELL_NULL};
    if (column != SIZE_MAX) cell = gs_table_cell(table, row, column);
    struct gs_text label = {0};
    if (cell.type == GS_CELL_TEXT)
        gs_text_add(&label, "%s", cell.text);
    else
        gs_text_add(&label, "id %.0f", gs_plot_cell(table, row, gs_table_find_column(table, "id")));
    gs_plot_label(plot, label.bytes, LABEL_LONGEST);
    gs_text_free(&label);
}

struct panels {
    const char *decoding[PANELS];
    size_t rows[PANELS], count;
    double largest[PANELS];
};

static void collect(struct gs_plot *plot, const struct gs_table *table, struct panels *panels) {
    size_t rows = gs_table_rows(table), probability = gs_table_find_column(table, "probability");
    size_t row = 0;
    while (row < rows && panels->count < PANELS) {
        const char *decoding = decoding_at(table, row);
        size_t panel = panels->count++;
        panels->decoding[panel] = decoding;
        for (; row < rows; row++) {
            const char *here = decoding_at(table, row);
            if ((here == NULL) != (decoding == NULL) || (here && strcmp(here, decoding) != 0))
                break;
            double share = gs_plot_cell(table, row, probability);
            if (panels->rows[panel] == SHOWN) continue;
            panels->rows[panel]++;
            gs_plot_number(plot, (double)panels->rows[panel]);
            gs_plot_number(plot, share);
            if (share > panels->largest[panel]) panels->largest[panel] = share;
            add_piece(plot, table, row);
            gs_plot_row(plot);
        }
        gs_plot_block(plot);
    }
}

static void draw(const struct gs_report_run *run, struct gs_plot *plot) {
    const struct gs_table *table = gs_figure_table(run->results[GS_PART_DEFAULT], "default_tokens");
    struct panels panels = {0};
    if (table) collect(plot, table, &panels);
    if (!panels.count) {
        plot->empty = "the results name no token";
        return;
    }
    gs_plot_command(plot, "set multiplot layout (narrow ? %zu : 1),(narrow ? 1 : %zu)",
                    panels.count, panels.count);
    gs_plot_command(plot, "set border 2; unset ytics; unset grid; set grid x; set key off");
    gs_plot_command(plot, "set yrange [%d.6:0.4]; set xrange [0:*]; set xtics format '%%g'", SHOWN);
    gs_plot_command(plot, "set xlabel 'probability'; set lmargin (narrow ? 16 : 13)");
    for (size_t i = 0; i < panels.count; i++) {
        gs_plot_command(plot, "set xtics %g", gs_figure_tick_step(panels.largest[i], 3));
        gs_plot_command(plot, "set title '%s'", panel_title(panels.decoding[i]));
        gs_plot_command(plot,
                        "plot data index %zu using ($2/2):1:($2/2):(0.36) with boxxyerror lc rgb "
                        "%s, data index %zu using (0):1:3 with labels right offset -0.7,0 "
                        "textcolor rgb " GS_INK,
                        i, GS_BLUE, i);
    }
    gs_figure_end_panels(plot);
}

static void say(const struct gs_report_run *run, struct gs_text *text) {
    const struct gs_results *results = run->results[GS_PART_DEFAULT];
    struct gs_value value;
    gs_text_put(
        text,
        "The most probable tokens, decoded in three ways that need not agree: from the mean state, "
        "from the logits' mean over steps, and from the probabilities' mean over steps.");
    bool begun = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct gs_text name = {0};
        gs_text_add(&name, "default.spearman.%s", known[i].decoding);
        if (name.bytes && gs_figure_value(results, name.bytes, &value)) {
            gs_text_put(text, begun ? ", "
                                    : " Spearman correlation with the counts of the "
                                      "tokens: ");
            gs_figure_say_value(text, &value, 3);
            gs_text_put(text, " for the ");
            gs_text_put(text, known[i].title);
            begun = true;
        }
        gs_text_free(&name);
    }
    if (begun) gs_text_put(text, ".");
}

const struct gs_figure gs_figure_default_tokens = {"default-tokens",
                                                   "Tokens of the mean state",
                                                   GS_PART_DEFAULT,
                                                   "default_tokens",
                                                   330,
                                                   900,
                                                   draw,
                                                   say,
                                                   false};
