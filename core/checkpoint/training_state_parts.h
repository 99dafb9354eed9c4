/* training_state_parts.h - the two writers of an optimiser's state. Internal to training_state*.c.
 */
#ifndef GS_CORE_CHECKPOINT_TRAINING_STATE_PARTS_H
#define GS_CORE_CHECKPOINT_TRAINING_STATE_PARTS_H

#include "core/checkpoint/training_state.h"

enum gs_status gs_training_state_fail(enum gs_status status, const char *what, const char *expected,
                                      struct gs_error *error);

/* PyTorch's "optimizer" into state->first, second and updates. */
enum gs_status gs_training_state_read_torch(struct gs_tensor_file *file,
                                            const struct gs_pickle_value *optimizer,
                                            const struct gs_model *model,
                                            struct gs_training_state *state,
                                            struct gs_error *error);

#endif
