/* The kind "gdn": a window forward and backward, segment by segment. */
#include "core/models/gdn/gdn.h"

#include "core/base/memory.h"
#include "core/kernels/kernels.h"
#include "core/models/gdn/huggingface.h"
#include "core/models/gdn/runner.h"
#include "core/models/parts/row_blocks.h"

#include <omp.h>
#include <string.h>

/* ---- forward ------------------------------------------------------------------------------ */

static enum gs_status hand_over(const struct gs_gdn_runner *r, const struct gs_tap *tap,
                                size_t channel, const float *values, size_t width, size_t begin,
                                size_t steps, struct gs_error *error) {
    if (!gs_gdn_wants(r, channel)) return GS_OK;
    const struct gs_tap_block block = {.channel = channel,
                                       .first_step = begin,
                                       .steps = steps,
                                       .batch = r->batch,
                                       .values = values,
                                       .batch_stride = steps * width,
                                       .step_stride = width};
    return tap->take(tap->context, &block, error);
}

static enum gs_status hand_over_layer(const struct gs_gdn_runner *r) {
    const struct gs_gdn_handing *at = &r->handing;
    const struct gs_gdn_tape *tape = &r->layers[at->layer];
    const float *const gates[GS_GDN_GATES] = {[GS_GDN_LOG_DECAY] = tape->log_decay,
                                              [GS_GDN_WRITE_STRENGTH] = tape->strength,
                                              [GS_GDN_NORM] = tape->norm};
    enum gs_status status = hand_over(r, at->tap, at->layer, tape->after, r->config->width,
                                      at->begin, at->steps, at->error);
    for (int i = 0; i < GS_GDN_GATES && status == GS_OK; i++)
        status =
            hand_over(r, at->tap, gs_gdn_gate_channel(r->config, at->layer, (enum gs_gdn_gate)i),
                      gates[i], r->config->heads, at->begin, at->steps, at->error);
    return status;
}

void gs_gdn_hand_over(struct gs_gdn_runner *r) {
#pragma omp single nowait
    if (r->handing.tap) {
        r->handing.status = hand_over_layer(r);
        r->handing.tap = NULL;
    }
}

/* All layers; each is handed over to the tap while the next one begins, the last while the final
 * norm is taken. */
static enum gs_status run_segment(struct gs_gdn_runner *r, size_t begin, size_t steps,
                                  const struct gs_tap *tap, bool finish, struct gs_error *error) {
    const size_t layers = r->config->layers;
    gs_gdn_embed(r, begin, steps);
    for (size_t i = 0; i < layers && r->handing.status == GS_OK; i++) {
        gs_gdn_layer_forward(r, i, steps);
        if (r->handing.status != GS_OK) break;
        r->handing = (struct gs_gdn_handing){tap, i, begin, steps, error, GS_OK};
    }
    if (r->handing.status == GS_OK && (finish || tap)) gs_gdn_finish(r, steps);
    if (r->handing.status != GS_OK || !tap) return r->handing.status;
    return hand_over(r, tap, layers, r->final, r->config->width, begin, steps, error);
}

/* The state before the window, for layers that are run again. */
static void save(struct gs_gdn_runner *r) {
    if (!r->saved_memory) return;
    memcpy(r->saved_memory, r->memory, r->batch * gs_gdn_memory_width(r->config) * sizeof(float));
    memcpy(r->saved_past, r->past, r->batch * gs_gdn_past_width(r->config) * sizeof(float));
}

static void begin_window(struct gs_gdn_runner *r, struct gs_state *state, const uint32_t *tokens,
                         size_t steps, const struct gs_tap *tap) {
    r->batch = state->batch;
    r->steps = steps;
    r->run = steps - (r->options.last_is_target ? 1 : 0);
    r->memory = state->parts[GS_GDN_MEMORY].values;
    r->past = state->parts[GS_GDN_PAST].values;
    r->wanted = tap ? tap->wanted : NULL;
    r->handing = (struct gs_gdn_handing){.status = GS_OK};
    r->kernels = gs_delta_kernels();
    memcpy(r->tokens, tokens, r->batch * steps * sizeof *tokens);
    if (r->has_loss_gradient) gs_output_clear(&r->weights.output); /* a backward that never came */
    r->has_loss_gradient = false;
}

static void finish_metric(struct gs_gdn_runner *r, const float *nll) {
    double sum = 0;
    for (size_t b = 0; b < r->batch; b++)
        for (size_t t = 1; t < r->steps; t++) sum += (double)nll[b * r->steps + t];
    r->metric.value = r->steps > 1 ? sum / (double)(r->batch * (r->steps - 1)) : 0;
}

static enum gs_status forward(void *runner, struct gs_state *state, const uint32_t *tokens,
                              size_t steps, const struct gs_tap *tap, float *nll,
                              struct gs_error *error) {
    struct gs_gdn_runner *r = runner;
    enum gs_status status = GS_OK;
    begin_window(r, state, tokens, steps, tap);
    save(r);
    r->has_loss_gradient = nll && r->options.train;
    for (size_t begin = 0; begin < r->run && status == GS_OK; begin += r->segment) {
        const size_t count = gs_gdn_segment_steps(r, begin);
        status = run_segment(r, begin, count, tap, nll != NULL, error);
        if (status == GS_OK && nll) gs_gdn_losses(r, begin, count, nll);
    }
    if (nll && status == GS_OK) finish_metric(r, nll);
    return status;
}

/* ---- backward ----------------------------------------------------------------------------- */

static void begin_backward(struct gs_gdn_runner *r) {
    r->kernels = gs_delta_kernels(); /* a profile may have replaced them */
    const struct gs_gdn_config *c = r->config;
    const size_t B = r->options.batch, units = B * c->heads;
    struct gs_gdn_back *back = &r->back;
    r->wanted = NULL;
    r->memory = r->saved_memory; /* which layers that are run again overwrite, each its own part */
    r->past = r->saved_past;
    if (r->run == 0) { /* nothing flows back */
        memset(back->memory, 0, B * gs_gdn_memory_width(c) * sizeof(float));
        memset(back->past, 0, B * gs_gdn_past_width(c) * sizeof(float));
    }
    memset(back->read_norm, 0, c->layers * units * c->value * sizeof(float));
    memset(back->gates, 0, c->layers * units * 2 * sizeof(double));
    memset(back->taps, 0, c->layers * B * GS_CONV_WIDTH * gs_gdn_channels(c) * sizeof(float));
}

static enum gs_status backward(void *runner, float scale, struct gs_parameters *gradients,
                               struct gs_state *state_gradient, struct gs_error *error) {
    struct gs_gdn_runner *r = runner;
    if (state_gradient && state_gradient->batch != r->batch)
        return gs_fail(error, GS_SHAPE, "the state gradient has another batch than the window");
    begin_backward(r);
    if (r->run) gs_gdn_window_backward(r, scale, gradients);
    gs_gdn_gradients_finish(r, scale, gradients);
    r->has_loss_gradient = false;
    if (!state_gradient) return GS_OK;
    memcpy(state_gradient->parts[GS_GDN_MEMORY].values, r->back.memory,
           r->batch * gs_gdn_memory_width(r->config) * sizeof(float));
    memcpy(state_gradient->parts[GS_GDN_PAST].values, r->back.past,
           r->batch * gs_gdn_past_width(r->config) * sizeof(float));
    return GS_OK;
}

/* ---- decoding ----------------------------------------------------------------------------- */

/* Rows of a layer go through the final norm first, those of `final` have been. */
static void decode(void *runner, size_t channel, const float *states, size_t rows, float *logits) {
    enum { TOGETHER = 12 };
    const struct gs_gdn_runner *r = runner;
    const size_t d = r->config->width, V = r->config->vocab;
    const float *weight = r->weights.tensors.norm->values;
    if (channel == gs_gdn_final_channel(r->config)) {
        gs_output_logits(&r->weights.output, states, rows, logits);
        return;
    }
#pragma omp parallel for schedule(static) num_threads((int)r->threads)
    for (size_t from = 0; from < rows; from += TOGETHER) {
        const size_t count = gs_gdn_smaller(TOGETHER, rows - from);
        float *normal = r->work[omp_get_thread_num()].rows;
        for (size_t i = 0; i < count; i++)
            gs_kernels()->norm(states + (from + i) * d, weight, d, normal + i * d);
        gs_output_rows(&r->weights.output, normal, d, count, logits + from * V);
    }
}

static void decode_embedding(void *runner, const float *vectors, size_t rows, float *logits) {
    const struct gs_gdn_runner *r = runner;
    gs_output_logits(&r->weights.output, vectors, rows, logits);
}

/* ---- the kind ----------------------------------------------------------------------------- */

static void refresh(void *runner) {
    struct gs_gdn_runner *r = runner;
    gs_gdn_weights_refresh(r->config, &r->weights);
}

static const struct gs_metric *metrics(void *runner, size_t *count) {
    struct gs_gdn_runner *r = runner;
    *count = 1;
    return &r->metric;
}

const struct gs_kind gs_kind_gdn = {
    .name = "gdn",
    .recipe = {.cosine_from_start = true, .clip_epsilon = 1e-6},
    .configure = gs_gdn_configure,
    .foreign_type = GS_GDN_MODEL_TYPE,
    .foreign_config = gs_gdn_from_huggingface,
    .infer = gs_gdn_infer,
    .config_destroy = gs_free,
    .config_json = gs_gdn_config_json,
    .describe = gs_gdn_describe,
    .declare = gs_gdn_declare,
    .own_name = gs_gdn_own_name,
    .runner_create = gs_gdn_runner_create,
    .runner_destroy = gs_gdn_runner_destroy,
    .runner_refresh = refresh,
    .forward = forward,
    .backward = backward,
    .decode = decode,
    .decode_embedding = decode_embedding,
    .metrics = metrics,
    .runner_bytes = gs_gdn_runner_bytes,
};
