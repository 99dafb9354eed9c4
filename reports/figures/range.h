/* range.h - the range of what one axis shows, and whether it is better logarithmic. */
#ifndef GS_REPORTS_FIGURES_RANGE_H
#define GS_REPORTS_FIGURES_RANGE_H

#include "reports/figures/plot.h"

struct gs_range {
    double low, high, smallest; /* smallest that is above 0; infinite before anything was added */
};
#define GS_RANGE_EMPTY ((struct gs_range){INFINITY, -INFINITY, INFINITY})

void gs_range_add(struct gs_range *range, double number); /* not finite: nothing */
bool gs_range_known(const struct gs_range *range);
/* All above 0, and the largest at least ten times the smallest. */
bool gs_range_logarithmic(const struct gs_range *range);
/* Set `axis` ("x" or "y") to the range with a margin, logarithmic where that is better. */
void gs_range_set(const struct gs_range *range, const char *axis, struct gs_plot *plot);

#endif
