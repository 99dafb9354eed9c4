/* steps.h - something measured at several steps of training, for one run or several: against the
 * step on a logarithmic axis, where step 0 stands apart at the left.
 */
#ifndef GS_REPORTS_FIGURES_STEPS_H
#define GS_REPORTS_FIGURES_STEPS_H

#include "reports/figures/plot.h"

struct gs_step_point {
    size_t line;                   /* of the run, from 0 */
    double step, value, low, high; /* NaN: not known */
};

struct gs_steps {
    struct gs_step_point *points; /* sorted in place: by line, then step */
    size_t count, lines;
    double threshold;   /* a line across; NaN: none */
    bool above;         /* values above the threshold pass: that side is shaded */
    const char *ylabel; /* our own words */
    bool keyless;       /* without a key: one of several panels */
};

/* One panel of the plot with its own blocks: thin lines, their median thick where there are several
 * (at the steps that all of them have), intervals where there is one. The look of the axis is that
 * of the panel alone. False, with nothing but blocks added, when no point has a value. */
bool gs_steps_panel(struct gs_steps *steps, struct gs_plot *plot);

#endif
