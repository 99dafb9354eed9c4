/* adopt.h - a run that somebody else's program began, made one of ours to go on with. */
#ifndef GS_CORE_TRAINING_ADOPT_H
#define GS_CORE_TRAINING_ADOPT_H

#include "core/checkpoint/checkpoint.h"
#include "core/training/config.h"

struct gs_adopted {
    char *model, *resume; /* paths of what was written; gs_adopted_clear */
    const char *kind;     /* static */
    size_t parameters;    /* values */
    int64_t step, updates, micro_batch;
};

/* Read `checkpoint` (a pickle or a file of torch.save with its optimiser, training_state.h) as one
 * of the run that `config` describes, and write into that run's folder <name>_<step>.safetensors
 * and its resume file, from which gs_training_open with `resume` goes on: parameters, Adam's
 * moments, step and position in the data, which are opened to say which they are. The sums for the
 * next row of the log begin anew. `options`: as for gs_checkpoint_load_with; its config is the
 * run's. A run of that name is refused (GS_EXISTS) unless force. */
enum gs_status gs_training_adopt(const struct gs_training_config *config, const char *checkpoint,
                                 const struct gs_checkpoint_options *options, bool force,
                                 struct gs_adopted *adopted, struct gs_error *error);
void gs_adopted_clear(struct gs_adopted *adopted);

#endif
