/* micro_batch.h - loss and gradient of one batch of windows: the inner part of a training step. */
#ifndef GS_CORE_TRAINING_MICRO_BATCH_H
#define GS_CORE_TRAINING_MICRO_BATCH_H

#include "core/base/status.h"
#include "core/models/model.h"
#include "core/text/tokens.h"

#include <stddef.h>
#include <stdint.h>

struct gs_micro_batch_options {
    size_t batch;           /* windows side by side */
    size_t predicted;       /* predicted tokens of a window (seq_len) */
    size_t truncate;        /* cut the gradient every so many tokens; 0: never */
    size_t recompute_every; /* as in struct gs_runner_options */
    bool bf16;
};

struct gs_micro_batch {
    struct gs_micro_batch_options options;
    size_t first;  /* gs_model_first */
    size_t window; /* tokens of a window: predicted + first */
    size_t piece;  /* predicted tokens run through at a time */
    struct gs_runner *runner;
    struct gs_state *state;
    uint32_t *ids;       /* (batch, window) */
    uint32_t *piece_ids; /* (batch, piece + first) */
    float *nll;          /* (batch, piece + first) */
    size_t metric_count;
    double *metrics; /* of the last run, averaged over its pieces; gs_runner_metrics' order */
};

/* `model` is borrowed and must outlive it. GS_UNSUPPORTED when the gradient is to be cut and the
 * model keeps nothing between windows. Free with gs_micro_batch_destroy (NULL is fine). */
enum gs_status gs_micro_batch_create(struct gs_model *model,
                                     const struct gs_micro_batch_options *options,
                                     struct gs_micro_batch **micro_batch, struct gs_error *error);
/* Bytes that making one would take; `model` may be an outline. SIZE_MAX: more than can be counted.
 */
size_t gs_micro_batch_bytes(const struct gs_model *model,
                            const struct gs_micro_batch_options *options);
void gs_micro_batch_destroy(struct gs_micro_batch *micro_batch);

/* Run micro-batch number `index` of the data: its windows are index * batch + 0 … batch - 1, each
 * from a state of zero. Adds `weight` times the gradient of the mean loss over the predicted tokens
 * to `gradients`. *loss is that mean in nats, summed in double in a fixed order. */
enum gs_status gs_micro_batch_run(struct gs_micro_batch *micro_batch,
                                  const struct gs_tokens *tokens, uint64_t index, double weight,
                                  struct gs_parameters *gradients, double *loss,
                                  struct gs_error *error);

#endif
