/* The efolds of all seeds on one axis: a row for each seed, its untrained heads beside, all seeds
 * together below; the paper's rule (fast up to 3 tokens, slow from 5 on) as two lines. */
#include "core/base/memory.h"
#include "reports/figures/parts.h"
#include "reports/figures/range.h"
#include "reports/figures/verify.h"

#include <math.h>
#include <string.h>

enum { ROW = 34, AROUND = 120, LONGEST = 24 };
static const double fast = 3, slow = 5; /* the paper's rule, in tokens */

static const struct gs_table *table_of(const struct gs_shown_verify *shown) {
    return shown->results ? gs_figure_table(shown->results, "heads") : NULL;
}

static int height(const struct gs_shown_verify *shown, size_t claim, bool narrow) {
    (void)claim;
    size_t count;
    gs_free(gs_shown_runs(table_of(shown), &count));
    return AROUND + (narrow ? 40 : 0) + ROW * (int)(count > 1 ? count + 1 : 1);
}

/* Columns of the model's heads, or of the untrained ones. */
static const struct {
    const char *efold, *bound;
    double above; /* of the row's middle */
} sides[] = {{"efold", "bound", 0.14}, {"untrained_efold", "untrained_bound", -0.2}};

struct heads {
    const struct gs_table *table;
    struct gs_shown_run *runs;
    size_t count;
    struct gs_range range;
};

/* Blocks of (efold, row): the known, then those beyond a bound, with an arrow's length. */
static size_t add_side(struct heads *heads, size_t side, bool censored, struct gs_plot *plot) {
    size_t found = 0;
    for (size_t row = 0; row < gs_table_rows(heads->table); row++) {
        double efold = gs_shown_number(heads->table, row, sides[side].efold);
        double bound = gs_shown_number(heads->table, row, sides[side].bound);
        double place = isfinite(efold) ? efold : bound;
        if (!(place > 0) || isfinite(efold) == censored) continue;
        size_t run = 0;
        while (run < heads->count && !gs_shown_is_of(heads->table, row, heads->runs + run)) run++;
        gs_plot_number(plot, place);
        gs_plot_number(plot, (double)run + 1 - sides[side].above);
        gs_plot_number(plot, 0.3 * place);
        gs_plot_row(plot);
        gs_range_add(&heads->range, censored ? 1.4 * place : place);
        found++;
    }
    gs_plot_block(plot);
    return found;
}

/* All seeds together: a stroke each, in a last row. */
static void add_pooled(const struct heads *heads, struct gs_plot *plot) {
    for (size_t row = 0; heads->count > 1 && row < gs_table_rows(heads->table); row++) {
        double efold = gs_shown_number(heads->table, row, "efold");
        if (!(efold > 0)) continue;
        gs_plot_number(plot, efold);
        gs_plot_number(plot, (double)heads->count + 1.25);
        gs_plot_number(plot, -0.5);
        gs_plot_row(plot);
    }
    gs_plot_block(plot);
}

static void add_names(const struct heads *heads, struct gs_plot *plot) {
    for (size_t i = 0; i < heads->count + (heads->count > 1 ? 1 : 0); i++) {
        gs_plot_number(plot, (double)i + 1);
        gs_plot_number(plot, fast);
        gs_plot_label(plot, i < heads->count ? heads->runs[i].label : "all seeds", LONGEST);
        gs_plot_row(plot);
    }
    gs_plot_block(plot);
}

enum { KNOWN, CENSORED, UNTRAINED, UNTRAINED_CENSORED, POOLED, NAMES };

static void set_axes(const struct heads *heads, struct gs_plot *plot) {
    gs_plot_command(plot, "set border 1; unset grid; set grid x; set ytics scale 0");
    gs_plot_command(plot, "set yrange [%zu.6:0.4]; set lmargin (narrow ? 13 : 16)",
                    heads->count + (heads->count > 1 ? 1 : 0));
    gs_range_set(&heads->range, "x", plot);
    gs_plot_command(plot, "set xlabel 'efold, tokens'");
    gs_plot_command(plot, "set key tmargin left horizontal Left reverse maxcols (narrow ? 2 : 5)");
    gs_plot_command(plot,
                    "set object 1 rectangle from %g, graph 0 to %g, graph 1 behind fc rgb "
                    "'#EEF0F3' fs solid noborder",
                    fast, slow);
}

static void draw(const struct gs_shown_verify *shown, size_t claim, struct gs_plot *plot) {
    (void)claim;
    struct heads heads = {.table = table_of(shown), .range = GS_RANGE_EMPTY};
    if (!heads.table) {
        plot->empty = "no memory heads were measured; a model without memory has none";
        return;
    }
    heads.runs = gs_shown_runs(heads.table, &heads.count);
    size_t found[4];
    for (size_t i = 0; i < 4; i++) found[i] = add_side(&heads, i / 2, i % 2 == 1, plot);
    add_pooled(&heads, plot);
    add_names(&heads, plot);
    if (!found[KNOWN] && !found[CENSORED]) {
        plot->empty = "no head has an efold, known or censored";
        gs_free(heads.runs);
        return;
    }
    gs_range_add(&heads.range, fast);
    gs_range_add(&heads.range, slow);
    set_axes(&heads, plot);
    struct gs_value point;
    bool has_point = gs_figure_value(shown->results, "split.pooled.point", &point) &&
                     point.value > 0 && found[KNOWN] > 1;
    if (has_point)
        gs_plot_command(plot,
                        "set arrow 1 from %.9g, graph 0 to %.9g, graph 1 nohead lc rgb " GS_INK
                        " lw 1.4 dt 2",
                        point.value, point.value);
    gs_text_put(&plot->script, "plot ");
    static const char *const looks[] = {
        "1:2 with points lc rgb " GS_BLUE " pt 7 ps 0.85 title 'head'",
        "1:2:3:(0) with vectors lc rgb " GS_BLUE " lw 1.6 dt 1 title 'longer than this bound'",
        "1:2 with points lc rgb " GS_GREY " pt 6 ps 0.75 lw 1.3 title 'untrained'",
        "1:2:3:(0) with vectors lc rgb " GS_GREY
        " lw 1.3 dt 1 title 'untrained, longer than this'"};
    for (size_t i = 0; i < 4; i++)
        if (found[i]) gs_text_add(&plot->script, "data index %zu using %s, ", i, looks[i]);
    gs_text_add(&plot->script,
                "data index %d using 1:2:(0):3 with vectors nohead lc rgb " GS_BLUE
                " lw 1.2 dt 1 notitle, ",
                POOLED);
    gs_text_put(&plot->script, "keyentry with boxes fc rgb '#EEF0F3' fs solid title "
                               "'between 3 and 5 tokens', ");
    if (has_point)
        gs_text_put(&plot->script,
                    "keyentry with lines lc rgb " GS_INK " lw 1.4 dt 2 title 'widest gap', ");
    gs_plot_command(plot, "data index %d using 2:1:yticlabels(3) with points pt -1 notitle", NAMES);
    gs_free(heads.runs);
}

struct counts {
    size_t fast, slow, between, censored, all;
    struct gs_range range;
};

static struct counts count_heads(const struct gs_table *table, size_t side) {
    struct counts counts = {.range = GS_RANGE_EMPTY};
    for (size_t row = 0; row < gs_table_rows(table); row++) {
        double efold = gs_shown_number(table, row, sides[side].efold);
        double bound = gs_shown_number(table, row, sides[side].bound);
        if (!isfinite(efold) && !isfinite(bound)) continue;
        counts.all++;
        counts.censored += isfinite(efold) ? 0 : 1;
        counts.fast += isfinite(efold) && efold <= fast ? 1 : 0;
        counts.slow += (isfinite(efold) ? efold : bound) >= slow ? 1 : 0;
        counts.between += isfinite(efold) && efold > fast && efold < slow ? 1 : 0;
        gs_range_add(&counts.range, isfinite(efold) ? efold : bound);
    }
    return counts;
}

static void say_side(struct gs_text *text, const struct counts *counts) {
    gs_text_add(text,
                "%zu heads, %zu of them fast (efold up to 3 tokens), %zu between, %zu slow "
                "(5 and more)",
                counts->all, counts->fast, counts->between, counts->slow);
    if (gs_range_known(&counts->range)) {
        gs_text_put(text, ", from ");
        gs_text_number(text, counts->range.low, 3);
        gs_text_put(text, " to ");
        if (counts->censored) gs_text_put(text, "more than ");
        gs_text_number(text, counts->range.high, 3);
        gs_text_put(text, " tokens");
    }
    gs_text_put(text, ".");
}

static void say(const struct gs_shown_verify *shown, size_t claim, struct gs_text *text) {
    (void)claim;
    if (!table_of(shown)) return;
    struct counts model = count_heads(table_of(shown), 0), null = count_heads(table_of(shown), 1);
    if (!model.all) return;
    say_side(text, &model);
    if (!null.all) return;
    gs_text_put(text, " Untrained: ");
    say_side(text, &null);
}

const struct gs_verify_figure gs_verify_heads = {
    "heads", "How long the memory heads keep", "heads", false, height, draw, say};
