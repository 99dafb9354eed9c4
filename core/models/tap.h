/* tap.h - how a run of a model is watched from outside.
 *
 * A model says which channels it has (model.h). While a window runs forward, it hands each wanted
 * channel's values to the tap, in blocks, in time order per channel. What the tap is given is
 * borrowed and overwritten after the call: a tap copies.
 */
#ifndef GS_CORE_MODELS_TAP_H
#define GS_CORE_MODELS_TAP_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum gs_channel_group {
    GS_CHANNEL_STATE,          /* state vectors; width = d */
    GS_CHANNEL_LOG_DECAY,      /* gamma of a memory; width = heads */
    GS_CHANNEL_WRITE_STRENGTH, /* beta of a memory; width = heads */
    GS_CHANNEL_MEMORY_NORM,    /* Frobenius norm after the write; width = heads */
    GS_CHANNEL_READ_SHARE      /* |memory read| / |state without it|; width = layers */
};

enum { GS_CHANNEL_NAME = 32 };

struct gs_channel {
    enum gs_channel_group group;
    char name[GS_CHANNEL_NAME]; /* stream, memory or read: "predicted", "layer00", "memory" … */
    char rule[GS_CHANNEL_NAME]; /* memories: "gpn" or "gated_delta" (trace.md); else "" */
    size_t width;
    const char *decoder; /* states whose rows gs_runner_decode takes: what it puts them through, in
                            words for people ("the final norm and the output matrix"); else NULL */
};

/* Steps first_step … first_step + steps - 1 of every sequence of the batch. The value of sequence
 * b, step first_step + t, component j is values[b * batch_stride + t * step_stride + j].
 * A sequence that is shorter than that has meaningless values in its missing steps. */
struct gs_tap_block {
    size_t channel; /* index into the model's channels */
    size_t first_step, steps, batch;
    const float *values;
    size_t batch_stride, step_stride;
};

struct gs_tap {
    void *context;
    /* wanted[channel]: hand this channel over; as many entries as the model has channels. A model
     * may skip the work for channels that nobody wants. */
    const bool *wanted;
    /* Called from one thread at a time. A status other than GS_OK ends the run with that status. */
    enum gs_status (*take)(void *context, const struct gs_tap_block *block, struct gs_error *error);
};

#endif
