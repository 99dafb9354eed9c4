/* training_state.h - what somebody's checkpoint says of the training that made it: Adam's moments,
 * its step, and how much of the data was read.
 *
 * Two ways of writing it are known. optax's: somewhere below "opt_state" a ScaleByAdamState(count,
 * mu, nu), whose mu and nu have the parameters' names. PyTorch's: "optimizer": {"state": {number:
 * {"step", "exp_avg", "exp_avg_sq"}}, "param_groups": [{"params": [number, …], "weight_decay"}]};
 * the numbers follow the parameters' order in the model, those of a group with weight decay being
 * the decaying ones where there are two groups.
 */
#ifndef GS_CORE_CHECKPOINT_TRAINING_STATE_H
#define GS_CORE_CHECKPOINT_TRAINING_STATE_H

#include "core/checkpoint/tensor_file.h"
#include "core/models/model.h"

struct gs_training_state {
    int64_t step;          /* steps done */
    int64_t data_position; /* micro-batches read */
    int64_t updates;       /* of Adam's moments */
    size_t wrapper;        /* see gs_checkpoint_read_list */
    struct gs_tensor_list first, second;
};

/* Is there an optimiser in it? */
bool gs_training_state_recognise(struct gs_tensor_file *file);

/* Find it; the tensors' bytes stay in the file. GS_MISSING for what is not there. Clear in any
 * case. */
enum gs_status gs_training_state_find(struct gs_tensor_file *file, const char *path,
                                      const struct gs_model *model, struct gs_training_state *state,
                                      struct gs_error *error);
void gs_training_state_clear(struct gs_training_state *state);

#endif
