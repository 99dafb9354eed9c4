/* training_log.h - the log of a training run (CSV of `gpnscope train`, or of the authors' code) as
 * curves.
 */
#ifndef GS_REPORTS_FIGURES_TRAINING_LOG_H
#define GS_REPORTS_FIGURES_TRAINING_LOG_H

#include "core/base/status.h"

#include <stddef.h>

/* One number a row; NaN where the log has none that is finite. */
struct gs_training_curve {
    size_t count;
    double *step, *loss, *rate, *norm; /* nat/token; learning rate; norm of the gradient */
};

/* Columns step and loss must be there, lr and grad_norm may be; others are not looked at. What
 * stands behind the last line end is a row being written and is left out. GS_FORMAT with the line.
 * Free with gs_training_curve_free, which clears it. */
enum gs_status gs_training_curve_read(const char *path, struct gs_training_curve *curve,
                                      struct gs_error *error);
void gs_training_curve_free(struct gs_training_curve *curve);

#endif
