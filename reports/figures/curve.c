#include "reports/figures/curve.h"

#include <math.h>

/* The house's colours, each with a dash of its own. */
static const char *const looks[] = {"lc rgb " GS_BLUE " dt 1",  "lc rgb " GS_ORANGE " dt 4",
                                    "lc rgb " GS_GREEN " dt 5", "lc rgb " GS_PURPLE " dt 2",
                                    "lc rgb " GS_SKY " dt 1",   "lc rgb " GS_GREY " dt 3"};
enum { LOOKS = sizeof looks / sizeof *looks, LONGEST_NAME = 60 };

/* A block of (step, loss, rate, norm) whose first row names it. False when no row has a loss. */
static bool add_block(struct gs_plot *plot, const struct gs_named_curve *named) {
    const struct gs_training_curve *curve = &named->curve;
    bool any = false;
    gs_plot_label(plot, "step", 0);
    for (int i = 0; i < 3; i++) gs_plot_label(plot, named->name, LONGEST_NAME);
    gs_plot_row(plot);
    for (size_t i = 0; i < curve->count; i++) {
        const double row[] = {curve->step[i], curve->loss[i], curve->rate[i], curve->norm[i]};
        for (size_t k = 0; k < 4; k++) gs_plot_number(plot, row[k]);
        gs_plot_row(plot);
        any = any || isfinite(curve->loss[i]);
    }
    gs_plot_block(plot);
    return any;
}

enum column { LOSS = 2, RATE, NORM }; /* of a block, as gnuplot counts */

static const double *values_of(const struct gs_training_curve *curve, enum column column) {
    return column == LOSS ? curve->loss : column == RATE ? curve->rate : curve->norm;
}

/* The largest value of a run's column; 0 when there is none above it. */
static double largest(const struct gs_training_curve *curve, enum column column) {
    double most = 0;
    for (size_t row = 0; row < curve->count; row++) {
        double value = values_of(curve, column)[row];
        if (isfinite(value)) most = fmax(most, value);
    }
    return most;
}

static double largest_of_all(const struct gs_named_curve *curves, size_t count,
                             enum column column) {
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, largest(&curves[i].curve, column));
    return most;
}

/* One panel: the column of all runs that have it. */
static void add_panel(struct gs_plot *plot, const struct gs_named_curve *curves, size_t count,
                      enum column column) {
    const char *between = "plot ";
    for (size_t i = 0; i < count; i++) {
        if (column != LOSS && !(largest(&curves[i].curve, column) > 0)) continue;
        gs_text_add(&plot->script, "%sdata index %zu using 1:%d with lines lw %s %s %s", between, i,
                    (int)column, column == LOSS ? "2" : "1.2", looks[i % LOOKS],
                    column == LOSS ? "title columnheader(2)" : "notitle");
        between = ", ";
    }
    gs_text_put(&plot->script, "\n");
}

/* The same steps in all panels, also where a run has no number at its end. */
static void set_steps(struct gs_plot *plot, const struct gs_named_curve *curves, size_t count) {
    double first = INFINITY, last = -INFINITY;
    for (size_t i = 0; i < count; i++)
        for (size_t row = 0; row < curves[i].curve.count; row++) {
            first = fmin(first, curves[i].curve.step[row]);
            last = fmax(last, curves[i].curve.step[row]);
        }
    if (!(last > first)) first -= 1, last += 1; /* a single row */
    gs_plot_command(plot, "set xrange [%.12g:%.12g]", first, last);
}

void gs_curve_plot(const struct gs_named_curve *curves, size_t count, struct gs_plot *plot) {
    bool any = false;
    for (size_t i = 0; i < count; i++) any = add_block(plot, &curves[i]) || any;
    if (!any) {
        plot->empty = "no row of the log has a loss";
        return;
    }
    const double most = largest_of_all(curves, count, RATE);
    const bool rate = most > 0, norm = largest_of_all(curves, count, NORM) > 0;
    const char *lowest = norm ? "norm" : rate ? "rate" : "loss";
    gs_plot_command(plot, "set multiplot");
    set_steps(plot, curves, count);
    gs_plot_command(plot,
                    "set lmargin at screen (narrow ? 0.22 : 0.135); set rmargin at screen 0.97");
    gs_plot_command(plot, "set datafile columnheaders");
    gs_plot_command(plot, "set tmargin at screen %s; set bmargin at screen %s",
                    count > 1 ? "0.86" : "0.93", lowest[0] == 'l' ? "0.12" : "0.42");
    gs_plot_command(plot, "set key outside tmargin left horizontal Left reverse");
    gs_plot_command(plot, "set ylabel 'loss, nat per token'; set yrange [*:*]");
    gs_plot_command(plot, lowest[0] == 'l' ? "set xlabel 'step'" : "set format x ''");
    add_panel(plot, curves, count, LOSS);
    if (rate) {
        gs_plot_command(plot, "set tmargin at screen 0.39; set bmargin at screen %s",
                        norm ? "0.27" : "0.12");
        gs_plot_command(plot, "set ylabel 'rate'; set format y '%%.1e'");
        gs_plot_command(plot, "set ytics 0, %.9g; set yrange [0:%.9g]", most / 2, 1.05 * most);
        if (!norm) gs_plot_command(plot, "set format x '%%g'; set xlabel 'step'");
        add_panel(plot, curves, count, RATE);
    }
    if (norm) {
        gs_plot_command(plot, "set tmargin at screen %s; set bmargin at screen 0.12",
                        rate ? "0.24" : "0.39");
        gs_plot_command(
            plot,
            "set ylabel '|gradient|'; set format y '%%g'; set logscale y; set ytics autofreq");
        gs_plot_command(plot, "set yrange [*:*]; set format x '%%g'; set xlabel 'step'");
        add_panel(plot, curves, count, NORM);
    }
    gs_plot_command(plot, "unset multiplot");
}
