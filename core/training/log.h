/* log.h - the table of a training run as it grows: CSV with the authors' columns.
 *
 * step, loss, lr, grad_norm, then the model's own metrics; every value the mean over the steps
 * since the row before, except lr, which is the rate of the step to come. Formats as the authors
 * write.
 */
#ifndef GS_CORE_TRAINING_LOG_H
#define GS_CORE_TRAINING_LOG_H

#include "core/base/status.h"

#include <stddef.h>

struct gs_training_log;

/* Begin the table at `path`, replacing what is there; with `keep` > 0, rows up to step `keep` of an
 * earlier run stay (its columns must be the same). `metrics` are borrowed. Close with
 * gs_training_log_close. */
enum gs_status gs_training_log_open(const char *path, size_t keep, const char *const *metrics,
                                    size_t metric_count, struct gs_training_log **log,
                                    struct gs_error *error);
/* Add a row and hand it to the system. */
enum gs_status gs_training_log_row(struct gs_training_log *log, size_t step, double loss,
                                   double rate, double grad_norm, const double *metrics,
                                   struct gs_error *error);
/* NULL is fine. A row that was written without error is in the file already. */
void gs_training_log_close(struct gs_training_log *log);

#endif
