/* The efolds of the heads of every memory, side by side by layer. */
#include "reports/figures/layers.h"

#include <math.h>

/* Columns of retention_by_head. */
struct columns {
    size_t memory, head, efold, low, high, bound, null, null_bound;
};

/* NULL: the results have no such table. */
static const struct gs_table *heads_of(const struct gs_report_run *run) {
    const struct gs_table *table =
        gs_figure_table(run->results[GS_PART_RETENTION], "retention_by_head");
    return table && gs_table_find_column(table, "memory") != SIZE_MAX ? table : NULL;
}

static struct columns find_columns(const struct gs_table *table) {
    return (struct columns){
        gs_table_find_column(table, "memory"),     gs_table_find_column(table, "head"),
        gs_table_find_column(table, "efold"),      gs_table_find_column(table, "efold_low"),
        gs_table_find_column(table, "efold_high"), gs_table_find_column(table, "efold_bound"),
        gs_table_find_column(table, "null_efold"), gs_table_find_column(table, "null_efold_bound")};
}

/* Rows of the memory that `row` is of: its heads stand side by side around its place. */
static size_t heads_from(const struct gs_table *table, size_t column, size_t row) {
    size_t end = row;
    const char *name = gs_table_cell(table, row, column).text;
    while (end < gs_table_rows(table)) {
        const char *other = gs_table_cell(table, end, column).text;
        if (!other || !name || gs_layers_find(table, other) != gs_layers_find(table, name)) break;
        end++;
    }
    return end > row ? end - row : 1;
}

/* Where on the axis every row's head stands. */
static double place_of(size_t memory, size_t head, size_t heads) {
    return (double)memory + 0.7 * (((double)head + 0.5) / (double)heads - 0.5);
}

enum kind { KNOWN, CENSORED, UNTRAINED, UNTRAINED_CENSORED, LABELS, KINDS };

static bool add_row(struct gs_plot *plot, const struct gs_table *table, const struct columns *c,
                    size_t row, double place, enum kind kind) {
    const size_t columns[] = {c->efold, c->bound, c->null, c->null_bound};
    size_t column = columns[kind];
    double value = gs_plot_cell(table, row, column);
    double low = gs_plot_cell(table, row, c->low), high = gs_plot_cell(table, row, c->high);
    if (!(value > 0)) return false;
    gs_plot_number(plot, place);
    gs_plot_number(plot, value);
    gs_plot_number(plot, kind == KNOWN && low > 0 ? low : value);
    gs_plot_number(plot, kind == KNOWN && isfinite(high) ? high : value);
    gs_plot_row(plot);
    return true;
}

/* The label of a memory, at a height that is drawn anyway. */
static bool add_label(struct gs_plot *plot, const struct gs_table *table, const struct columns *c,
                      size_t row, size_t heads, size_t memory) {
    double height = (double)NAN;
    for (size_t h = 0; h < heads && !(height > 0); h++) {
        height = gs_plot_cell(table, row + h, c->efold);
        if (!(height > 0)) height = gs_plot_cell(table, row + h, c->bound);
    }
    gs_plot_number(plot, (double)memory);
    gs_plot_number(plot, height);
    gs_layers_label(plot, gs_table_cell(table, row, c->memory).text);
    gs_plot_row(plot);
    return height > 0;
}

static size_t add_block(struct gs_plot *plot, const struct gs_table *table, const struct columns *c,
                        enum kind kind, size_t *memories) {
    size_t shown = 0;
    *memories = 0;
    for (size_t row = 0; row < gs_table_rows(table); ++*memories) {
        size_t heads = heads_from(table, c->memory, row);
        if (kind == LABELS) shown += add_label(plot, table, c, row, heads, *memories);
        for (size_t h = 0; kind != LABELS && h < heads; h++)
            shown += add_row(plot, table, c, row + h, place_of(*memories, h, heads), kind);
        row += heads;
    }
    gs_plot_block(plot);
    return shown;
}

static void draw(const struct gs_report_run *run, struct gs_plot *plot) {
    const struct gs_table *table = heads_of(run);
    size_t shown[KINDS] = {0}, memories = 0;
    if (table) {
        struct columns columns = find_columns(table);
        for (int kind = 0; kind < KINDS; kind++)
            shown[kind] = add_block(plot, table, &columns, (enum kind)kind, &memories);
    }
    if (!shown[LABELS]) {
        plot->empty = "no head has an efold, known or censored";
        return;
    }
    gs_plot_command(plot, "set logscale y; set format y '%%g'; set ylabel 'efold, tokens'");
    gs_plot_command(plot, "set xrange [-0.6:%zu.6]; set xlabel 'layer'", memories - 1);
    gs_plot_command(plot, "set yrange [*:*]; set key tmargin left horizontal Left reverse");
    if (memories > 12) gs_plot_command(plot, "if (narrow) { set xtics rotate by 60 right }");
    gs_text_put(&plot->script, "plot ");
    if (shown[UNTRAINED])
        gs_text_add(&plot->script,
                    "data index %d using 1:2 with points lt 4 ps 0.8 lw 1.4 title 'untrained', ",
                    UNTRAINED);
    if (shown[UNTRAINED_CENSORED])
        gs_text_add(&plot->script,
                    "data index %d using 1:2 with points lt 4 pt 8 ps 0.9 lw 1.4 title 'untrained, "
                    "lower bound', ",
                    UNTRAINED_CENSORED);
    if (shown[CENSORED])
        gs_text_add(&plot->script,
                    "data index %d using 1:2 with points lt 1 pt 8 ps 1.1 lw 1.4 title 'not "
                    "reached: lower bound', ",
                    CENSORED);
    if (shown[KNOWN])
        gs_text_add(&plot->script,
                    "data index %d using 1:2:3:4 with yerrorbars lt 1 ps 0.8 lw 1.2 title 'a head, "
                    "95 %% interval', ",
                    KNOWN);
    gs_plot_command(plot, "data index %d using 1:2:xticlabels(3) with points pt 7 ps 0", LABELS);
}

static void say(const struct gs_report_run *run, struct gs_text *text) {
    const struct gs_table *table = heads_of(run);
    if (!table) return;
    struct columns c = find_columns(table);
    size_t heads = gs_table_rows(table), fast = 0, censored = 0;
    double least = (double)NAN, most = (double)NAN;
    for (size_t row = 0; row < heads; row++) {
        double efold = gs_plot_cell(table, row, c.efold);
        if (gs_plot_cell(table, row, c.bound) > 0) censored++;
        if (!(efold >= 0)) continue;
        if (efold <= 3) fast++;
        if (!(least <= efold)) least = efold;
        if (!(most >= efold)) most = efold;
    }
    gs_text_put(text, "Each mark is one of ");
    gs_text_count(text, heads);
    gs_text_put(text, " heads. ");
    if (isfinite(least)) {
        gs_text_put(text, "Efolds within the window run from ");
        gs_text_number(text, least, 3);
        gs_text_put(text, " to ");
        gs_text_number(text, most, 3);
        gs_text_put(text, " tokens; ");
        gs_text_count(text, fast);
        gs_text_put(text, " are at 3 tokens or below, ");
        gs_text_count(text, censored);
        gs_text_put(text, " beyond the window. ");
    }
    gs_text_put(text, "Heads start with unequal decays, so a spread of efolds alone shows no "
                      "division of labour.");
}

const struct gs_figure gs_figure_layers_efold = {"layers-efold",
                                                 "Efolds by layer",
                                                 GS_PART_RETENTION,
                                                 "retention_by_head",
                                                 400,
                                                 420,
                                                 draw,
                                                 say,
                                                 true};
