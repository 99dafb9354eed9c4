/* One claim: the value of every seed with its interval, by the threshold, on the side that passes
 * or on the other; the untrained model's as a hollow mark. */
#include "core/base/memory.h"
#include "reports/figures/range.h"
#include "reports/figures/verify.h"

#include <math.h>
#include <string.h>

enum { ROW = 27, AROUND = 118, LONGEST = 24, DIGITS = 3 };

static const struct gs_table *claims_of(const struct gs_shown_verify *shown) {
    return shown->results ? gs_results_find_table(shown->results, "claims") : NULL;
}

static int height(const struct gs_shown_verify *shown, size_t claim, bool narrow) {
    (void)claim;
    size_t count;
    gs_free(gs_shown_runs(claims_of(shown), &count));
    return AROUND + (narrow ? 24 : 0) + ROW * (int)(count ? count : 1);
}

/* Marks differ in shape as well as in colour. */
static const struct {
    const char *verdict, *look, *label;
} marks[] = {{"pass", "lc rgb " GS_BLUE " pt 7 ps 1 lw 1.8 dt 1", "passes"},
             {"fail", "lc rgb " GS_ORANGE " pt 5 ps 1 lw 1.8 dt 1", "fails"},
             {"undecided", "lc rgb " GS_INK " pt 13 ps 1.3 lw 1.8 dt 1", "undecided"}};
enum { MARKS = sizeof marks / sizeof *marks, UNTRAINED = MARKS, NAMES };

struct rows {
    const struct gs_table *table;
    struct gs_shown_run *runs;
    size_t count;
    const char *claim;
    struct gs_range range;
    bool any[MARKS + 1];
};

/* (place, value, low, high) of the seeds of one verdict. */
static void add_verdict(struct rows *rows, size_t mark, struct gs_plot *plot) {
    for (size_t i = 0; i < rows->count; i++) {
        size_t row = gs_shown_row(rows->table, rows->claim, rows->runs + i);
        double value = gs_shown_number(rows->table, row, "value");
        if (row == SIZE_MAX || !isfinite(value) ||
            strcmp(gs_shown_text(rows->table, row, "verdict"), marks[mark].verdict) != 0)
            continue;
        double low = gs_shown_number(rows->table, row, "low");
        double high = gs_shown_number(rows->table, row, "high");
        gs_plot_number(plot, (double)i + 1);
        gs_plot_number(plot, value);
        gs_plot_number(plot, isfinite(low) ? low : value);
        gs_plot_number(plot, isfinite(high) ? high : value);
        gs_plot_row(plot);
        gs_range_add(&rows->range, value);
        gs_range_add(&rows->range, low);
        gs_range_add(&rows->range, high);
        rows->any[mark] = true;
    }
    gs_plot_block(plot);
}

static void add_untrained(struct rows *rows, struct gs_plot *plot) {
    for (size_t i = 0; i < rows->count; i++) {
        size_t row = gs_shown_row(rows->table, rows->claim, rows->runs + i);
        double value = gs_shown_number(rows->table, row, "untrained");
        if (row == SIZE_MAX || !isfinite(value)) continue;
        gs_plot_number(plot, (double)i + 1);
        gs_plot_number(plot, value);
        gs_plot_row(plot);
        gs_range_add(&rows->range, value);
        rows->any[UNTRAINED] = true;
    }
    gs_plot_block(plot);
}

static void add_names(const struct rows *rows, double at, struct gs_plot *plot) {
    for (size_t i = 0; i < rows->count; i++) {
        gs_plot_number(plot, (double)i + 1);
        gs_plot_number(plot, at);
        gs_plot_label(plot, rows->runs[i].label, LONGEST);
        gs_plot_row(plot);
    }
    gs_plot_block(plot);
}

static void set_axes(const struct gs_shown_claim *claim, const struct rows *rows,
                     struct gs_plot *plot) {
    gs_plot_command(plot, "set border 1; unset grid; set grid x; set ytics scale 0");
    gs_plot_command(plot, "set yrange [%zu.6:0.4]; set lmargin (narrow ? 13 : 16)", rows->count);
    gs_range_set(&rows->range, "x", plot);
    gs_plot_command(plot, "if (narrow) { set xtics rotate by -30 }");
    gs_plot_command(plot, "set xlabel '%s'",
                    !claim->comparison ? "value"
                    : strcmp(claim->comparison, "ratio") == 0
                        ? "ratio to the untrained model"
                        : "difference to the untrained model");
    gs_plot_command(plot, "set key tmargin left horizontal Left reverse");
    bool above = gs_shown_above(claim);
    gs_text_put(&plot->script, "set object 1 rectangle from ");
    if (above)
        gs_text_add(&plot->script, "%.9g, graph 0 to graph 1, graph 1", claim->threshold);
    else
        gs_text_add(&plot->script, "graph 0, graph 0 to %.9g, graph 1", claim->threshold);
    gs_plot_command(plot, " behind fc rgb '#E8F2F8' fs solid noborder");
    gs_plot_command(plot,
                    "set arrow 1 from %.9g, graph 0 to %.9g, graph 1 nohead lc rgb " GS_INK
                    " lw 1.6 dt 2",
                    claim->threshold, claim->threshold);
}

static void draw(const struct gs_shown_verify *shown, size_t index, struct gs_plot *plot) {
    const struct gs_shown_claim *claim = shown->claims + index;
    struct rows rows = {.table = claims_of(shown), .claim = claim->name, .range = GS_RANGE_EMPTY};
    rows.runs = gs_shown_runs(rows.table, &rows.count);
    for (size_t mark = 0; mark < MARKS; mark++) add_verdict(&rows, mark, plot);
    add_untrained(&rows, plot);
    if (!gs_range_known(&rows.range)) {
        plot->empty = "no seed has a value for this claim";
        gs_free(rows.runs);
        return;
    }
    gs_range_add(&rows.range, claim->threshold);
    add_names(&rows, claim->threshold, plot);
    set_axes(claim, &rows, plot);
    gs_text_put(&plot->script, "plot ");
    for (size_t mark = 0; mark < MARKS; mark++)
        if (rows.any[mark])
            gs_text_add(&plot->script,
                        "data index %zu using 2:1:3:4 with xerrorbars %s title '%s', ", mark,
                        marks[mark].look, marks[mark].label);
    if (rows.any[UNTRAINED])
        gs_text_add(&plot->script,
                    "data index %d using 2:1 with points lc rgb " GS_GREY
                    " pt 6 ps 1.1 lw 1.6 title 'untrained', ",
                    UNTRAINED);
    gs_plot_command(plot,
                    "data index %d using 2:1:yticlabels(3) with points pt -1 notitle, "
                    "keyentry with lines lc rgb " GS_INK " lw 1.6 dt 2 title 'threshold'",
                    NAMES);
    gs_free(rows.runs);
}

static void say_range(struct gs_text *text, const char *before, const struct gs_range *range) {
    if (!gs_range_known(range)) return;
    gs_text_put(text, before);
    if (range->high > range->low)
        gs_text_interval(text, range->low, range->high, DIGITS);
    else
        gs_text_number(text, range->low, DIGITS);
    gs_text_put(text, ".");
}

/* "3 of 5 seeds pass; to pass is to be above 0.1. Values: 0.12 to 0.3. Untrained: …" */
static void say(const struct gs_shown_verify *shown, size_t index, struct gs_text *text) {
    const struct gs_shown_claim *claim = shown->claims + index;
    const struct gs_table *table = claims_of(shown);
    struct gs_range values = GS_RANGE_EMPTY, untrained = GS_RANGE_EMPTY;
    size_t rows = table ? gs_table_rows(table) : 0, of = 0, passes = 0;
    for (size_t row = 0; row < rows; row++) {
        if (strcmp(gs_shown_text(table, row, "claim"), claim->name) != 0) continue;
        of++;
        passes += strcmp(gs_shown_text(table, row, "verdict"), "pass") == 0 ? 1 : 0;
        gs_range_add(&values, gs_shown_number(table, row, "value"));
        gs_range_add(&untrained, gs_shown_number(table, row, "untrained"));
    }
    if (!of) return;
    gs_text_add(text, "%zu of %zu %s %s", passes, of, of == 1 ? "seed" : "seeds",
                passes == 1 ? "passes" : "pass");
    gs_text_put(text, "; to pass is to be ");
    gs_shown_threshold(text, claim);
    gs_text_put(text, ".");
    say_range(text, " Values: ", &values);
    say_range(text, " Untrained: ", &untrained);
}

const struct gs_verify_figure gs_verify_strip = {
    "claim", "Every seed against the threshold", "claims", true, height, draw, say};
