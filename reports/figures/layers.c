#include "reports/figures/layers.h"

#include "probes/trace/layers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { UPRIGHT = 8, LONGEST_LABEL = 14 };

static const char *name_at(const struct gs_table *table, size_t row) {
    struct gs_cell cell = gs_table_cell(table, row, 0);
    return cell.type == GS_CELL_TEXT ? cell.text : NULL;
}

/* "7" of "layer07"; false: another name. */
static bool layer_number(const char *name, char text[24]) {
    uint64_t number = name ? gs_layer_number(name) : UINT64_MAX;
    snprintf(text, 24, "%" PRIu64, number);
    return number != UINT64_MAX;
}

void gs_layers_label(struct gs_plot *plot, const char *name) {
    char number[24];
    gs_plot_label(plot, layer_number(name, number) ? number : name, LONGEST_LABEL);
}

size_t gs_layers_find(const struct gs_table *table, const char *name) {
    for (size_t row = 0; table && name && row < gs_table_rows(table); row++) {
        const char *other = name_at(table, row);
        if (other && strcmp(other, name) == 0) return row;
    }
    return SIZE_MAX;
}

struct gs_layers_known gs_layers_block(struct gs_plot *plot, const struct gs_results *results,
                                       const char *table, const char *column,
                                       const struct gs_table *order) {
    char name[128];
    const struct gs_table *plain = gs_figure_table(results, table);
    snprintf(name, sizeof name, "%s_interval", table);
    const struct gs_table *wide = gs_figure_table(results, name);
    size_t value = plain ? gs_table_find_column(plain, column) : SIZE_MAX;
    snprintf(name, sizeof name, "%s_low", column);
    size_t low = wide ? gs_table_find_column(wide, name) : SIZE_MAX;
    snprintf(name, sizeof name, "%s_high", column);
    size_t high = wide ? gs_table_find_column(wide, name) : SIZE_MAX;
    struct gs_layers_known known = {false, false};
    for (size_t place = 0; order && place < gs_table_rows(order); place++) {
        size_t row = gs_layers_find(plain, name_at(order, place));
        double number = gs_plot_cell(plain, row, value);
        double ends[] = {gs_plot_cell(wide, row, low), gs_plot_cell(wide, row, high)};
        gs_plot_number(plot, (double)place);
        gs_plot_number(plot, number);
        for (size_t i = 0; i < 2; i++) gs_plot_number(plot, isfinite(ends[i]) ? ends[i] : number);
        gs_layers_label(plot, name_at(order, place));
        gs_plot_row(plot);
        known.value = known.value || isfinite(number);
        known.interval = known.interval || (isfinite(ends[0]) && isfinite(ends[1]));
    }
    gs_plot_block(plot);
    return known;
}

void gs_layers_axis(struct gs_plot *plot, const struct gs_table *order) {
    bool numbered = false;
    char number[24];
    for (size_t row = 0; row < gs_table_rows(order); row++)
        numbered = numbered || layer_number(name_at(order, row), number);
    gs_plot_command(plot, "set xrange [-0.6:%zu.6]; set xlabel '%s'", gs_table_rows(order) - 1,
                    numbered ? "layer" : "stream");
    if (gs_table_rows(order) > UPRIGHT) gs_plot_command(plot, "set xtics rotate by 60 right");
}

static void say_name(struct gs_text *text, const char *name) {
    char number[24];
    bool numbered = layer_number(name, number);
    gs_text_put(text, numbered ? " in layer " : " in ");
    gs_text_put(text, numbered ? number : name);
}

bool gs_layers_say(struct gs_text *text, const struct gs_table *table, const char *column) {
    size_t at = gs_table_find_column(table, column), first = SIZE_MAX, last = 0;
    for (size_t row = 0; row < gs_table_rows(table); row++) {
        if (!isfinite(gs_plot_cell(table, row, at))) continue;
        if (first == SIZE_MAX) first = row;
        last = row;
    }
    if (first == SIZE_MAX) return false;
    gs_text_put(text, "from ");
    gs_text_number(text, gs_plot_cell(table, first, at), 3);
    say_name(text, name_at(table, first));
    gs_text_put(text, " to ");
    gs_text_number(text, gs_plot_cell(table, last, at), 3);
    say_name(text, name_at(table, last));
    return true;
}
