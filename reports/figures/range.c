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

void gs_range_set(const struct gs_range *range, const char *axis, struct gs_plot *plot) {
    if (!gs_range_known(range)) return;
    if (gs_range_logarithmic(range)) {
        double margin = pow(range->high / range->low, 0.06);
        gs_plot_command(plot, "set logscale %s; set format %s '%%g'", axis, axis);
        gs_plot_command(plot, "set %srange [%.9g:%.9g]", axis, range->low / margin,
                        range->high * margin);
        return;
    }
    double span = range->high - range->low;
    if (!(span > 0)) span = fabs(range->high) > 0 ? fabs(range->high) : 1;
    gs_plot_command(plot, "unset logscale %s; set format %s '%%g'", axis, axis);
    gs_plot_command(plot, "set %srange [%.9g:%.9g]", axis, range->low - 0.06 * span,
                    range->high + 0.06 * span);
    gs_plot_command(plot, "set %stics %.9g", axis, gs_figure_tick_step(1.12 * span, 6));
}
