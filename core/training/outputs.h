/* outputs.h - what a training run writes: checkpoints, what resuming needs, and its tables.
 * Internal to core/training.
 */
#ifndef GS_CORE_TRAINING_OUTPUTS_H
#define GS_CORE_TRAINING_OUTPUTS_H

#include "core/training/loop_state.h"

/* From here on files are touched: the tables begin, and a run at its start writes the untrained
 * model. When these stand, those of an earlier run that are in the way are removed. */
enum gs_status gs_training_outputs_begin(struct gs_training *t, struct gs_error *error);
void gs_training_outputs_end(struct gs_training *t);

/* The model under `label` (a step or GS_RUN_FINAL), and beside it what resuming needs; then, where
 * the config wants it, older ones are removed. */
enum gs_status gs_training_save(struct gs_training *t, long long label, struct gs_error *error);

/* A row of the log, the mean over the steps since the row before, and one of the speed. */
enum gs_status gs_training_write_rows(struct gs_training *t, double loss, double tokens_a_second,
                                      struct gs_error *error);

/* Add to an error of writing how to go on from what is safe. */
void gs_training_say_safe(const struct gs_training *t, struct gs_error *error);

#endif
