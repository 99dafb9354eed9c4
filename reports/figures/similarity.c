/* CKA between the states of every two seeds, as a small map with its numbers. */
#include "core/base/memory.h"
#include "reports/figures/parts.h"
#include "reports/figures/range.h"
#include "reports/figures/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 20, SIDE = 62, AROUND = 96, NAME = 64 };

static const struct gs_table *table_of(const struct gs_shown_verify *shown) {
    return gs_figure_table(shown->results, "pairs");
}

/* The names of the seeds that stand in pairs, in the order they come in. */
struct names {
    char (*names)[NAME];
    size_t count;
};

static void name_of(const struct gs_table *table, size_t row, const char *column, char name[NAME]) {
    const char *text = gs_shown_text(table, row, column);
    double number = gs_shown_number(table, row, column);
    if (text[0])
        snprintf(name, NAME, "%s", text);
    else
        snprintf(name, NAME, "%.0f", isfinite(number) ? number : -1);
}

static size_t find(const struct names *names, const char *name) {
    size_t i = 0;
    while (i < names->count && strcmp(names->names[i], name) != 0) i++;
    return i;
}

static struct names collect(const struct gs_table *table) {
    size_t rows = table ? gs_table_rows(table) : 0;
    struct names names = {gs_calloc(2 * rows + 1, NAME), 0};
    for (size_t i = 0; names.names && i < 2 * rows; i++) {
        char name[NAME];
        name_of(table, i / 2, i % 2 ? "second" : "first", name);
        if (find(&names, name) == names.count) memcpy(names.names[names.count++], name, NAME);
    }
    return names;
}

static int height(const struct gs_shown_verify *shown, size_t claim, bool narrow) {
    (void)claim;
    struct names names = collect(table_of(shown));
    size_t count = names.count > 2 ? names.count : 2;
    gs_free(names.names);
    return AROUND + (narrow ? 40 : SIDE) * (int)(count < 12 ? count : 12);
}

/* (x, y, value): both halves of the matrix; what is not known is left white. */
static size_t add_cells(const struct gs_table *table, const struct names *names,
                        struct gs_plot *plot) {
    size_t known = 0;
    for (size_t row = 0; row < gs_table_rows(table); row++) {
        char first[NAME], second[NAME];
        double cka = gs_shown_number(table, row, "cka");
        name_of(table, row, "first", first);
        name_of(table, row, "second", second);
        if (!isfinite(cka)) continue;
        size_t places[] = {find(names, first) + 1, find(names, second) + 1};
        for (size_t half = 0; half < 2; half++) {
            gs_plot_number(plot, (double)places[half]);
            gs_plot_number(plot, (double)places[1 - half]);
            gs_plot_number(plot, cka);
            gs_plot_row(plot);
        }
        known++;
    }
    gs_plot_block(plot);
    return known;
}

/* The run as the other figures call it, "seed 11". */
static const char *label_of(const struct gs_shown_run *runs, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (runs[i].run && strcmp(runs[i].run, name) == 0) return runs[i].label;
    return name;
}

static void add_names(const struct gs_shown_verify *shown, const struct names *names,
                      struct gs_plot *plot) {
    size_t count;
    struct gs_shown_run *runs =
        gs_shown_runs(gs_results_find_table(shown->results, "claims"), &count);
    for (size_t i = 0; i < names->count; i++) {
        gs_plot_number(plot, (double)i + 1);
        gs_plot_label(plot, label_of(runs, count, names->names[i]), LONGEST);
        gs_plot_row(plot);
    }
    gs_plot_block(plot);
    gs_free(runs);
}

static void draw(const struct gs_shown_verify *shown, size_t claim, struct gs_plot *plot) {
    (void)claim;
    const struct gs_table *table = table_of(shown);
    struct names names = collect(table);
    if (!table || !names.names || !add_cells(table, &names, plot)) {
        plot->empty = table ? "no similarity between two seeds is known"
                            : "similarity needs two seeds, and the page has one";
        gs_free(names.names);
        return;
    }
    add_names(shown, &names, plot);
    gs_plot_command(plot, "unset grid; set border 0; set tics scale 0; set size ratio %s",
                    names.count > 2 ? "-1" : "0.6");
    gs_plot_command(plot, "set xrange [0.5:%zu.5]; set yrange [%zu.5:0.5]", names.count,
                    names.count);
    gs_plot_command(plot, "set palette defined (0 '#FFFFFF', 1 '#0072B2'); set cbrange [0:1]");
    gs_plot_command(plot, "set cblabel 'CKA' textcolor rgb " GS_INK "; set cbtics 0.25");
    gs_plot_command(plot, "set lmargin (narrow ? 11 : 15); if (narrow) { unset colorbox }");
    gs_plot_command(plot, "set xtics rotate by %s", names.count > 7 ? "-40" : "(narrow ? -40 : 0)");
    gs_plot_command(plot,
                    "plot data index 1 using 1:1:xticlabels(2):yticlabels(2) with points pt -1 "
                    "notitle, data index 0 using 1:2:(0.48):(0.48):3 with boxxyerror fs solid "
                    "noborder fc palette notitle, data index 0 using 1:2:($3 < 0.55 ? "
                    "sprintf('%%.2f', $3) : '') with labels textcolor rgb " GS_INK
                    " notitle, data index 0 using 1:2:($3 < 0.55 ? '' : sprintf('%%.2f', $3)) with "
                    "labels textcolor rgb '#FFFFFF' notitle");
    gs_free(names.names);
}

static void say_range(struct gs_text *text, const struct gs_table *table, const char *column,
                      const char *words) {
    struct gs_range range = GS_RANGE_EMPTY;
    for (size_t row = 0; row < gs_table_rows(table); row++)
        gs_range_add(&range, gs_shown_number(table, row, column));
    if (!gs_range_known(&range)) return;
    gs_text_add(text, "%s%s ", text->size ? "; " : "", words);
    if (range.high > range.low)
        gs_text_interval(text, range.low, range.high, 3);
    else
        gs_text_number(text, range.low, 3);
}

static void say(const struct gs_shown_verify *shown, size_t claim, struct gs_text *text) {
    (void)claim;
    const struct gs_table *table = table_of(shown);
    if (!table) return;
    struct gs_text ranges = {0};
    say_range(&ranges, table, "cka", "CKA");
    say_range(&ranges, table, "procrustes", "Procrustes distance");
    say_range(&ranges, table, "default_overlap", "overlap of the default tokens (Jaccard)");
    say_range(&ranges, table, "unigram_cosine", "cosine of the unigram fits");
    if (ranges.failed) text->failed = true;
    if (ranges.size) {
        gs_text_put(text, "Between two seeds: ");
        gs_text_put(text, ranges.bytes);
        gs_text_put(text, ".");
    }
    gs_text_free(&ranges);
}

const struct gs_verify_figure gs_verify_similarity = {
    "similarity", "How alike the states of two seeds are", "pairs", false, height, draw, say};
