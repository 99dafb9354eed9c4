/* memory.h - how much memory a training run takes, known before anything is allocated, and which
 * setting would fit where that is too much. Internal to core/training.
 */
#ifndef GS_CORE_TRAINING_MEMORY_H
#define GS_CORE_TRAINING_MEMORY_H

#include "core/base/memory_room.h"
#include "core/base/status.h"
#include "core/models/model.h"
#include "core/training/config.h"
#include "core/training/micro_batch.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes. SIZE_MAX stands for more than can be counted. */
struct gs_training_memory {
    size_t program;    /* what the process holds already, and what BLAS and threads will */
    size_t parameters; /* parameters, gradients, and Adam's two moments */
    size_t batch;      /* packed weights, activations, states and tokens of a micro-batch */
    size_t total;      /* the largest that the process will be in memory */
};

/* What of a config decides about memory. */
struct gs_training_setting {
    size_t batch_size, grad_accum, seq_len, truncate_bptt, recompute_every;
    bool bf16;
};
struct gs_training_setting gs_training_setting_of(const struct gs_training_config *config);
struct gs_micro_batch_options
gs_training_micro_batch_options(const struct gs_training_setting *setting);

/* `model` may be an outline. `held`: what the process holds now (gs_memory_resident). */
void gs_training_memory_predict(const struct gs_model *model,
                                const struct gs_training_setting *setting, size_t held,
                                struct gs_training_memory *memory);

/* The nearest setting to `setting` that takes at most `most` bytes in all, by trying. In this
 * order: the longest recomputing segment that fits (changes no bit); a smaller batch with as many
 * more micro-batches (the same sums, rounded otherwise), alone and with recomputing; then also
 * shorter pieces between cuts of the gradient, or shorter windows where the model cannot be cut
 * (other gradients). With `resuming` what a resume file fixes, batch and window, stays. False when
 * nothing fits; then *fitting is the smallest that was tried. */
bool gs_training_setting_find(const struct gs_model *model,
                              const struct gs_training_setting *setting, bool resuming, size_t held,
                              size_t most, struct gs_training_setting *fitting);

/* GS_NO_MEMORY, with what is predicted, what there is and what limits it, and the setting that
 * would fit, when the run needs more than there is room for. */
enum gs_status gs_training_memory_check(const struct gs_model *model,
                                        const struct gs_training_config *config, bool resuming,
                                        const struct gs_memory_room *room,
                                        struct gs_training_memory *memory, struct gs_error *error);

#endif
