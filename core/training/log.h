/* log.h - the table of a training run as it grows: CSV with the authors' columns.
 *
 * step, loss, lr, grad_norm, then the model's own metrics; every value the mean over the steps
 * since the row before, except lr, which is the rate of the step to come. Formats as the authors
 * write. What depends on the machine stands in a table of its own, so that this one is the same
 * bytes wherever and however often the run was stopped: gs_training_speed_….
 */
#ifndef GS_CORE_TRAINING_LOG_H
#define GS_CORE_TRAINING_LOG_H

#include "core/base/status.h"
#include "core/training/run_table.h"

#include <stddef.h>
#include <stdint.h>

struct gs_training_log;

/* As gs_run_table_open. `metrics` are borrowed. Close with gs_training_log_close. */
enum gs_status gs_training_log_open(const char *path, size_t keep, const char *const *metrics,
                                    size_t metric_count, struct gs_staged *staged,
                                    struct gs_training_log **log, struct gs_error *error);
/* Add a row and hand it to the system. */
enum gs_status gs_training_log_row(struct gs_training_log *log, size_t step, double loss,
                                   double rate, double grad_norm, const double *metrics,
                                   struct gs_error *error);
enum gs_status gs_training_log_sync(struct gs_training_log *log, struct gs_error *error);
/* NULL is fine. A row that was written without error is in the file already. */
void gs_training_log_close(struct gs_training_log *log);

/* What the progress line says: step, loss of that step, tokens in all steps so far, tokens a second
 * of this process, seconds that are left at this speed. */
struct gs_training_speed {
    size_t step;
    double loss;
    uint64_t tokens;
    double tokens_a_second, seconds_left;
};
enum gs_status gs_training_speed_open(const char *path, size_t keep, struct gs_staged *staged,
                                      struct gs_run_table **table, struct gs_error *error);
enum gs_status gs_training_speed_row(struct gs_run_table *table,
                                     const struct gs_training_speed *speed, struct gs_error *error);

#endif
