#include "reports/figures/range.h"

#include "reports/figures/parts.h"

#include <math.h>

void gs_range_add(struct gs_range *range, double number) {
    if (!isfinite(number)) return;
    range->low = fmin(range->low, number);
    range->high = fmax(range->high, number);
    if (number > 0) range->smallest = fmin(range->smallest, number);
}

bool gs_range_known(const struct gs_range *range) {
    return range->low <= range->high;
}

bool gs_range_logarithmic(const struct gs_range *range) {
    return gs_range_known(range) && range->low > 0 && range->high >= 10 * range->low;
}

/* Over less than two decades the powers of ten are too few: 1, 2 and 5 of each. */
static void set_ticks(const struct gs_range *range, const char *axis, struct gs_plot *plot) {
    static const double leads[] = {1, 2, 5};
    if (range->high >= 100 * range->low) {
        gs_plot_command(plot, "set %stics autofreq", axis);
        return;
    }
    const char *between = "";
    gs_text_add(&plot->script, "set %stics (", axis);
    for (int power = (int)floor(log10(range->low)); pow(10, power) <= range->high; power++)
        for (size_t i = 0; i < 3; i++, between = ", ")
            gs_text_add(&plot->script, "%s%.9g", between, leads[i] * pow(10, power));
    gs_plot_command(plot, ")");
}

void gs_range_set(const struct gs_range *range, const char *axis, struct gs_plot *plot) {
    if (!gs_range_known(range)) return;
    if (gs_range_logarithmic(range)) {
        double margin = pow(range->high / range->low, 0.06);
        gs_plot_command(plot, "set logscale %s; set format %s '%%g'", axis, axis);
        gs_plot_command(plot, "set %srange [%.9g:%.9g]", axis, range->low / margin,
                        range->high * margin);
        set_ticks(range, axis, plot);
        return;
    }
    double span = range->high - range->low;
    if (!(span > 0)) span = fabs(range->high) > 0 ? fabs(range->high) : 1;
    gs_plot_command(plot, "unset logscale %s; set format %s '%%g'", axis, axis);
    gs_plot_command(plot, "set %srange [%.9g:%.9g]", axis, range->low - 0.06 * span,
                    range->high + 0.06 * span);
    gs_plot_command(plot, "set %stics %.9g", axis, gs_figure_tick_step(1.12 * span, 6));
}
