/* curve.h - how training went: the loss of one or several runs by step, and below it learning rate
 * and gradient norm.
 */
#ifndef GS_REPORTS_FIGURES_CURVE_H
#define GS_REPORTS_FIGURES_CURVE_H

#include "reports/figures/plot.h"
#include "reports/figures/training_log.h"

struct gs_named_curve {
    const char *name; /* in the key; borrowed */
    struct gs_training_curve curve;
};

enum { GS_MOST_CURVES = 12 }; /* more cannot be told apart */

/* Fill an empty plot. Sets plot->empty when no row has a loss. */
void gs_curve_plot(const struct gs_named_curve *curves, size_t count, struct gs_plot *plot);

#endif
