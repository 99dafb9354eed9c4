/* model.h - every model behind one face: kind -> parameters, config, window forward and backward,
 * and what streams and memories it exposes to a tap.
 *
 * A gs_model is config and parameters. A gs_runner is what is needed to run it on windows of up to
 * a given batch and length: packed weights, workspaces, and, for training, stored activations.
 * The recurrent state belongs to the caller (gs_state). Nothing outside core/models branches on
 * the kind.
 *
 * Guarantee of forward: a sequence's states, gates and losses are the same bits alone or in any
 * batch, beside any neighbours, on any number of threads (../shared/spec/performance.md).
 */
#ifndef GS_CORE_MODELS_MODEL_H
#define GS_CORE_MODELS_MODEL_H

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/models/parameters.h"
#include "core/models/tap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gs_model;
struct gs_runner;

/* ---- kinds ------------------------------------------------------------------------------- */

/* Names of all kinds ("gpn", "gpn_m", "transformer" …), borrowed. */
size_t gs_kind_count(void);
const char *gs_kind_name(size_t index);

/* ---- model ------------------------------------------------------------------------------- */

/* A model of `kind` (a name of ours or of the authors', e.g. "sot_m") with the `model` object of a
 * config; unknown keys are refused with the nearest known one, missing ones named. Parameters are
 * zero. Free with gs_model_destroy (NULL is fine). */
enum gs_status gs_model_create(const char *kind, const struct gs_json *model_config,
                               struct gs_model **model, struct gs_error *error);
/* The same where the parameters are to come from a file that holds `most` values: a config that
 * asks for far more is refused (GS_SHAPE) before memory is asked for. What is a little too large
 * passes, so that a comparison of shapes can name the tensor. */
enum gs_status gs_model_create_within(const char *kind, const struct gs_json *model_config,
                                      size_t most, struct gs_model **model, struct gs_error *error);
/* The model without any values, for asking what it is and what it would take: its parameters are an
 * outline (parameters.h). Not to be run, initialised or saved. */
enum gs_status gs_model_outline(const char *kind, const struct gs_json *model_config,
                                struct gs_model **model, struct gs_error *error);
/* {"kind": …, "model": {…}} (owned by the caller) out of a HuggingFace config.json, by its
 * model_type. GS_UNSUPPORTED when no kind is that model, or when a key asks for a variant that is
 * not computed here; GS_CONFIG when a key is missing or unusable. */
enum gs_status gs_model_foreign_config(const struct gs_json *theirs, struct gs_json **config,
                                       struct gs_error *error);
/* A model whose kind and config follow from the tensors' names and shapes alone (values are not
 * read). GS_CONFIG when they do not determine one, saying what is ambiguous. */
enum gs_status gs_model_infer(const struct gs_tensor *tensors, size_t count,
                              struct gs_model **model, struct gs_error *error);
void gs_model_destroy(struct gs_model *model);

const char *gs_model_kind(const struct gs_model *model);
/* {"kind": …, "model": {…}}, all keys written out; owned by the caller. NULL: no memory. */
struct gs_json *gs_model_config(const struct gs_model *model);
/* Parameters, owned by the model; change the values freely, then gs_runner_refresh. */
struct gs_parameters *gs_model_parameters(const struct gs_model *model);
/* The name under which `name` (of another writer, e.g. the authors' memory-less "ffn_w1_k") is
 * known here, or `name` itself. Borrowed. */
const char *gs_model_own_name(const struct gs_model *model, const char *name);

size_t gs_model_vocab(const struct gs_model *model);
/* Width of the states of gs_model_decodable_channel. */
size_t gs_model_state_width(const struct gs_model *model);
/* Positions at the head of a window that are not predicted: 0 for GPN, 1 for models that predict
 * the next token (../shared/spec/baselines.md). */
size_t gs_model_first(const struct gs_model *model);
/* What a tap can see; borrowed. */
const struct gs_channel *gs_model_channels(const struct gs_model *model, size_t *count);
/* Index of the state channel that the model itself predicts from ("predicted" for GPN, "final" for
 * the others): its row of step t decodes to the distribution of token t + gs_model_first. Other
 * channels may decode, too: gs_channel's `decoder` says which and through what. */
size_t gs_model_decodable_channel(const struct gs_model *model);
/* What a training config leaves open, as this kind's authors trained it. */
struct gs_recipe {
    bool cosine_from_start; /* the rate's cosine is counted from step 0, not from the end of the
                               warm-up (core/training/schedule.h) */
    double clip_epsilon;    /* clipping divides by the gradient's norm plus this */
};
struct gs_recipe gs_model_recipe(const struct gs_model *model);
/* Width of the token embedding, and the row of token `id` (borrowed; input side). */
size_t gs_model_embedding_width(const struct gs_model *model);
const float *gs_model_embedding(const struct gs_model *model, uint32_t id);

/* ---- recurrent state, owned by the caller -------------------------------------------------- */

struct gs_state_part {
    char name[GS_CHANNEL_NAME]; /* "s", "s_prev", "M" … */
    size_t width;               /* floats per sequence */
    float *values;              /* (batch, width) */
};
/* Floats of one sequence's state in all parts. */
size_t gs_model_state_floats(const struct gs_model *model);
struct gs_state {
    size_t batch;
    size_t part_count; /* 0 for a model that keeps nothing between windows */
    struct gs_state_part *parts;
};
/* `batch` sequences at their start (all zero). Free with gs_state_destroy (NULL is fine). */
enum gs_status gs_state_create(const struct gs_model *model, size_t batch, struct gs_state **state,
                               struct gs_error *error);
void gs_state_destroy(struct gs_state *state);
void gs_state_reset(struct gs_state *state);
/* NULL when there is no such part. */
struct gs_state_part *gs_state_find(const struct gs_state *state, const char *name);

/* ---- running ------------------------------------------------------------------------------- */

struct gs_runner_options {
    size_t batch; /* most sequences side by side; at least 1 */
    size_t steps; /* most tokens in a window; at least 1 */
    bool train;   /* keep what backward needs */
    bool bf16;    /* weights rounded as the authors' bf16 mode (model.md) */
    size_t
        recompute_every; /* 0: store all activations; else keep the state about every so many
                            steps and run forward again in backward: the same bits, less memory */
    bool last_is_target; /* the last gs_model_first tokens of a window are only predicted: they are
                            not run, a tap does not get them, and the state comes out as it was
                            before them. For windows that share such a token. */
};

/* The runner borrows `model`, which must outlive it. */
enum gs_status gs_runner_create(struct gs_model *model, const struct gs_runner_options *options,
                                struct gs_runner **runner, struct gs_error *error);
void gs_runner_destroy(struct gs_runner *runner); /* NULL is fine */
/* Call after the model's parameters changed: packs the weights again. */
enum gs_status gs_runner_refresh(struct gs_runner *runner, struct gs_error *error);

/* A window of `steps` tokens of each of `state->batch` sequences.
 *   state   in and out: the state before the first and after the last token. With `lengths`, the
 *           state of a sequence is right only when its length is `steps`.
 *   tokens  (batch, steps), row-major, every id < vocab (GS_RANGE names the first that is not)
 *   lengths (batch) tokens that count in each sequence, or NULL when all do; what stands behind
 *           them is not read and touches nothing
 *   tap     may be NULL
 *   nll     (batch, steps) -log p(token | those before) in nats, or NULL: no decoding at all. NaN
 *           in the first gs_model_first positions and behind a sequence's length. Where a model
 *           has such positions, nll[b][t] comes from the step before, so the last token of a window
 *           is run only for a tap or a state. */
enum gs_status gs_runner_forward(struct gs_runner *runner, struct gs_state *state,
                                 const uint32_t *tokens, const size_t *lengths, size_t steps,
                                 const struct gs_tap *tap, float *nll, struct gs_error *error);

/* After a forward of a training runner, on the same tokens: adds `scale` times the gradient of the
 * SUM of the window's nll to `gradients`. state_gradient, when not NULL, receives (overwrites) the
 * gradient with respect to the state before the window. Needs a forward with nll and no lengths. */
enum gs_status gs_runner_backward(struct gs_runner *runner, float scale,
                                  struct gs_parameters *gradients, struct gs_state *state_gradient,
                                  struct gs_error *error);

/* Logits (rows, vocab) of `rows` states of the channel with that index (rows, its width), through
 * what its `decoder` says. Bits of a row do not depend on the others. GS_USAGE when the channel has
 * no decoder. */
enum gs_status gs_runner_decode(struct gs_runner *runner, size_t channel, const float *states,
                                size_t rows, float *logits, struct gs_error *error);
/* Logits (rows, vocab) of `rows` vectors of embedding width put straight to the output matrix. */
enum gs_status gs_runner_decode_embedding(struct gs_runner *runner, const float *vectors,
                                          size_t rows, float *logits, struct gs_error *error);

/* The kind's own training metrics of the last forward with nll, in the authors' names and order
 * ("pred_ce", "state_norm", …). Borrowed until the next forward. */
struct gs_metric {
    const char *name;
    double value;
};
const struct gs_metric *gs_runner_metrics(struct gs_runner *runner, size_t *count);
/* Names alone (value 0) are known as soon as the runner exists. */

/* Bytes a runner with these options would take, without making it. */
size_t gs_runner_bytes(const struct gs_model *model, const struct gs_runner_options *options);

#endif
