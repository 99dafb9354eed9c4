#include "reports/figures/steps.h"

#include "core/base/memory.h"
#include "reports/figures/range.h"

#include <math.h>
#include <stdlib.h>

static int by_line_and_step(const void *a, const void *b) {
    const struct gs_step_point *x = a, *y = b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static int by_size(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The step axis: where step 0 has its place, half a decade or so before the first step. */
struct axis {
    double zero, gap, first, last;
    bool has_zero;
};

static struct axis find_axis(const struct gs_steps *steps) {
    struct axis axis = {.first = INFINITY, .last = 0};
    for (size_t i = 0; i < steps->count; i++) {
        double step = steps->points[i].step;
        if (!isfinite(steps->points[i].value)) continue;
        if (!(step > 0)) {
            axis.has_zero = true;
            continue;
        }
        axis.first = fmin(axis.first, step);
        axis.last = fmax(axis.last, step);
    }
    if (!(axis.last > 0)) axis.first = axis.last = 1; /* step 0 alone */
    axis.zero = axis.first / pow(fmax(axis.last / axis.first, 10), 0.16);
    axis.gap = sqrt(axis.zero * axis.first);
    return axis;
}

static void set_axis(const struct axis *axis, struct gs_plot *plot) {
    double left = axis->has_zero ? axis->zero : axis->first;
    double margin = pow(fmax(axis->last / left, 2), 0.03);
    gs_plot_command(plot, "set logscale x; set xrange [%.9g:%.9g]", left / margin,
                    axis->last * margin);
    gs_plot_command(plot, "set xlabel 'training step'; set format x '%%g'");
    gs_text_put(&plot->script, "set xtics (");
    if (axis->has_zero) gs_text_add(&plot->script, "'0' %.9g", axis->zero);
    const char *between = axis->has_zero ? ", " : "";
    double factor = axis->last / axis->first > 40 ? 10 : 2;
    double from = factor == 10 ? pow(10, ceil(log10(axis->first) - 1e-9)) : axis->first;
    for (double step = from; step <= axis->last * 1.000001; step *= factor, between = ", ")
        gs_text_add(&plot->script, "%s%.9g", between, step);
    gs_plot_command(plot, ")");
    if (axis->has_zero)
        gs_plot_command(plot,
                        "set arrow 2 from %.9g, graph 0 to %.9g, graph 1 nohead lc rgb '#AFB8C1' "
                        "lw 1 dt 3",
                        axis->gap, axis->gap);
    else
        gs_plot_command(plot, "unset arrow 2");
}

static void add_row(struct gs_plot *plot, double x, double value, double low, double high) {
    gs_plot_number(plot, x);
    gs_plot_number(plot, value);
    gs_plot_number(plot, isfinite(low) ? low : value);
    gs_plot_number(plot, isfinite(high) ? high : value);
    gs_plot_row(plot);
}

static void cover(const struct gs_steps *steps, const struct gs_step_point *point,
                  struct gs_range *range) {
    gs_range_add(range, point->value);
    if (steps->lines > 1) return; /* intervals are not drawn */
    gs_range_add(range, point->low);
    gs_range_add(range, point->high);
}

/* A block of what stands at step 0, or of the lines after it, one curve each. */
static size_t add_points(const struct gs_steps *steps, const struct axis *axis, bool zero,
                         struct gs_range *range, struct gs_plot *plot) {
    size_t rows = 0;
    for (size_t i = 0; i < steps->count; i++) {
        const struct gs_step_point *point = steps->points + i;
        if (i && point->line != point[-1].line && plot->block_rows) gs_plot_curve(plot);
        if (!isfinite(point->value) || (point->step > 0) == zero) continue;
        add_row(plot, zero ? axis->zero : point->step, point->value, point->low, point->high);
        cover(steps, point, range);
        rows++;
    }
    gs_plot_block(plot);
    return rows;
}

/* The middle of the values at `step`; NaN where not all lines have one. */
static double median_at(const struct gs_steps *steps, double step, double *values) {
    size_t count = 0;
    for (size_t i = 0; i < steps->count; i++)
        if (steps->points[i].step == step && isfinite(steps->points[i].value))
            values[count++] = steps->points[i].value;
    if (count != steps->lines) return (double)NAN;
    qsort(values, count, sizeof *values, by_size);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* At the steps of the first line, which has all that all have; step 0 shows every seed. */
static size_t add_medians(const struct gs_steps *steps, struct gs_plot *plot) {
    size_t rows = 0;
    double *values = steps->lines > 1 ? gs_calloc(steps->count, sizeof *values) : NULL;
    for (size_t i = 0; values && i < steps->count && steps->points[i].line == 0; i++) {
        double step = steps->points[i].step, median = median_at(steps, step, values);
        if (!isfinite(median) || !(step > 0)) continue;
        add_row(plot, step, median, median, median);
        rows++;
    }
    gs_free(values);
    gs_plot_block(plot);
    return rows;
}

static void set_threshold(const struct gs_steps *steps, struct gs_plot *plot) {
    gs_plot_command(plot, "unset object 1; unset arrow 1");
    if (!isfinite(steps->threshold)) return;
    gs_text_put(&plot->script, "set object 1 rectangle from graph 0, ");
    if (steps->above)
        gs_text_add(&plot->script, "first %.9g to graph 1, graph 1", steps->threshold);
    else
        gs_text_add(&plot->script, "graph 0 to graph 1, first %.9g", steps->threshold);
    gs_plot_command(plot, " behind fc rgb '#E8F2F8' fs solid noborder");
    gs_plot_command(
        plot,
        "set arrow 1 from graph 0, first %.9g to graph 1, first %.9g nohead lc rgb " GS_INK
        " lw 1.6 dt 2",
        steps->threshold, steps->threshold);
}

bool gs_steps_panel(struct gs_steps *steps, struct gs_plot *plot) {
    qsort(steps->points, steps->count, sizeof *steps->points, by_line_and_step);
    struct axis axis = find_axis(steps);
    struct gs_range range = GS_RANGE_EMPTY;
    size_t block = plot->blocks;
    size_t before = add_points(steps, &axis, true, &range, plot);
    size_t after = add_points(steps, &axis, false, &range, plot);
    size_t medians = add_medians(steps, plot);
    if (!before && !after) return false;
    gs_range_add(&range, steps->threshold);
    set_axis(&axis, plot);
    gs_range_set(&range, "y", plot);
    set_threshold(steps, plot);
    gs_plot_command(plot, "set ylabel '%s'; %s", steps->ylabel,
                    steps->keyless ? "unset key" : "set key tmargin left horizontal Left reverse");
    const bool several = steps->lines > 1;
    const char *thin = several ? "lc rgb " GS_SKY " lw 1.1 dt 1 pt 7 ps 0.35"
                               : "lc rgb " GS_BLUE " lw 2 dt 1 pt 7 ps 0.5";
    gs_text_put(&plot->script, "plot ");
    if (before)
        gs_text_add(&plot->script,
                    "data index %zu using 1:2:3:4 with %s lc rgb " GS_GREY
                    " pt 6 ps 0.9 lw 1.4 dt 1 title 'untrained', ",
                    block, several ? "points" : "yerrorbars");
    if (after && !several)
        gs_text_add(&plot->script,
                    "data index %zu using 1:2:3:4 with yerrorbars lc rgb " GS_BLUE
                    " pt 7 ps 0.6 lw 1.2 dt 1 notitle, ",
                    block + 1);
    if (after)
        gs_text_add(&plot->script, "data index %zu using 1:2 with linespoints %s title '%s', ",
                    block + 1, thin, several ? "each seed" : "run");
    if (medians)
        gs_text_add(&plot->script,
                    "data index %zu using 1:2 with linespoints lc rgb " GS_BLUE
                    " lw 2.6 dt 1 pt 7 ps 0.6 title 'median', ",
                    block + 2);
    gs_plot_command(plot, "%s",
                    isfinite(steps->threshold) ? "keyentry with lines lc rgb " GS_INK
                                                 " lw 1.6 dt 2 title 'threshold'"
                                               : "1/0 notitle");
    return true;
}
