/* training.h - several traces of one run, or of a few, at different steps of training: the key
 * measurements against the step. */
#ifndef GS_REPORTS_FIGURES_TRAINING_H
#define GS_REPORTS_FIGURES_TRAINING_H

#include "reports/figures/figure.h"

/* Is any run there at two steps at least? Traces are of one run when model, config, seed of the
 * training and stream are the same. */
bool gs_training_applies(const struct gs_report_run *runs, size_t count);
/* Measurements that are known at two steps at least; the panels of the figure. */
size_t gs_training_panels(const struct gs_report_run *runs, size_t count);
int gs_training_height(size_t panels, bool narrow);
void gs_training_draw(const struct gs_report_run *runs, size_t count, struct gs_plot *plot);
void gs_training_say(const struct gs_report_run *runs, size_t count, struct gs_text *text);

#endif
