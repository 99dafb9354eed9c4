/* The kinds "gpn" and "gpn_m": a window forward and backward, segment by segment. */
#include "core/models/gpn/gpn.h"

#include "core/base/memory.h"
#include "core/models/gpn/runner.h"

#include <math.h>
#include <string.h>

static size_t matrix_size(const struct gs_gpn_runner *r) {
    return r->config->heads * r->config->key * r->config->value;
}

/* ---- from segment to segment -------------------------------------------------------------- */

/* Copy floats per sequence, for all sequences of the window in hand. */
static void copy(const struct gs_gpn_runner *r, float *to, const float *from, size_t width) {
    if (width) memcpy(to, from, r->batch * width * sizeof(float));
}

/* After `steps` steps: the next segment begins where this one ended. */
static void carry(struct gs_gpn_runner *r, size_t steps) {
    const struct gs_gpn_config *c = r->config;
    const struct gs_gpn_columns *col = &r->weights.first;
    copy(r, gs_at(r, &r->tape.state, 0), gs_at(r, &r->tape.state, steps), c->width);
    if (!c->heads) return;
    copy(r, r->work.first_key_scale, gs_at(r, &r->tape.key_scale, steps - 1), c->heads);
    for (size_t b = 0; b < r->batch; b++)
        memcpy(r->work.first_key + b * c->heads * c->key,
               gs_at(r, &r->tape.layers[0].in, steps - 1) + b * col->count + col->key,
               c->heads * c->key * sizeof(float));
}

static void save(struct gs_gpn_runner *r, size_t segment) {
    const struct gs_gpn_config *c = r->config;
    const size_t B = r->options.batch, keys = c->heads * c->key;
    copy(r, r->saved.state + segment * B * c->width, gs_at(r, &r->tape.state, 0), c->width);
    copy(r, r->saved.key + segment * B * keys, r->work.first_key, keys);
    copy(r, r->saved.key_scale + segment * B * c->heads, r->work.first_key_scale, c->heads);
    copy(r, r->saved.memory + segment * B * matrix_size(r), r->memory, matrix_size(r));
}

/* The saved memory itself becomes the one that the segment's second run overwrites. */
static void restore(struct gs_gpn_runner *r, size_t segment) {
    const struct gs_gpn_config *c = r->config;
    const size_t B = r->options.batch, keys = c->heads * c->key;
    copy(r, gs_at(r, &r->tape.state, 0), r->saved.state + segment * B * c->width, c->width);
    copy(r, r->work.first_key, r->saved.key + segment * B * keys, keys);
    copy(r, r->work.first_key_scale, r->saved.key_scale + segment * B * c->heads, c->heads);
    r->memory = r->saved.memory + segment * B * matrix_size(r);
}

/* ---- forward ------------------------------------------------------------------------------ */

static bool wanted(const struct gs_gpn_runner *r, const struct gs_tap *tap, size_t channel) {
    bool exists = channel <= GS_GPN_GROUNDED || r->config->heads;
    return tap && exists && tap->wanted[channel];
}

static enum gs_status hand_over(const struct gs_gpn_runner *r, const struct gs_tap *tap,
                                size_t begin, size_t steps, struct gs_error *error) {
    const struct gs_gpn_tape *tape = &r->tape;
    const struct gs_series *const series[GS_GPN_CHANNELS] = {
        [GS_GPN_PREDICTED] = &tape->predicted, [GS_GPN_GROUNDED] = &tape->state,
        [GS_GPN_LOG_DECAY] = &tape->log_decay, [GS_GPN_WRITE_STRENGTH] = &tape->strength,
        [GS_GPN_NORM] = &tape->norm,           [GS_GPN_SHARE] = &tape->share};
    for (size_t channel = 0; channel < GS_GPN_CHANNELS; channel++) {
        if (!wanted(r, tap, channel)) continue;
        const struct gs_series *s = series[channel];
        size_t first = channel == GS_GPN_GROUNDED ? 1 : 0; /* the state after the step */
        struct gs_tap_block block = {.channel = channel,
                                     .first_step = begin,
                                     .steps = steps,
                                     .batch = r->batch,
                                     .values = gs_at(r, s, first),
                                     .batch_stride = s->width,
                                     .step_stride = r->batch * s->width};
        enum gs_status status = tap->take(tap->context, &block, error);
        if (status != GS_OK) return status;
    }
    return GS_OK;
}

static void add_read_metrics(struct gs_gpn_runner *r, size_t steps) {
    const size_t count = steps * r->batch * r->config->layers;
    for (size_t i = 0; i < count; i++) {
        r->effect_sum += (double)r->tape.effect.values[i];
        r->cosine_sum += (double)r->tape.cosine.values[i];
    }
}

static double root_mean_square(const float *x, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (double)x[i] * (double)x[i];
    return sqrt(sum / (double)count);
}

static void finish_metrics(struct gs_gpn_runner *r, const struct gs_state *state,
                           const float *nll) {
    const size_t positions = r->batch * r->steps;
    double sum = 0;
    for (size_t i = 0; i < positions; i++) sum += (double)nll[i];
    r->metrics[0].value = sum / (double)positions;
    r->metrics[1].value = root_mean_square(state->parts[0].values, r->batch * r->config->width);
    if (!r->config->heads) return;
    double reads = (double)positions * (double)r->config->layers;
    r->metrics[2].value = root_mean_square(r->memory, r->batch * matrix_size(r));
    r->metrics[3].value = r->effect_sum / reads;
    r->metrics[4].value = r->cosine_sum / reads;
}

static void begin_window(struct gs_gpn_runner *r, struct gs_state *state, const uint32_t *tokens,
                         size_t steps, const struct gs_tap *tap) {
    r->batch = state->batch;
    r->steps = steps;
    memcpy(r->tokens, tokens, r->batch * steps * sizeof *tokens);
    r->want_norm = wanted(r, tap, GS_GPN_NORM);
    r->want_share = r->config->heads && (r->options.train || wanted(r, tap, GS_GPN_SHARE));
    r->effect_sum = r->cosine_sum = 0;
    copy(r, gs_at(r, &r->tape.state, 0), state->parts[0].values, r->config->width);
    if (r->has_loss_gradient) { /* a window whose backward never came */
        gs_output_clear(&r->weights.output);
        r->has_loss_gradient = false;
    }
    if (!r->config->heads) return;
    r->memory = gs_state_find(state, "M")->values;
    gs_gpn_first_key(r, gs_state_find(state, "s_prev")->values);
}

static enum gs_status forward(void *runner, struct gs_state *state, const uint32_t *tokens,
                              size_t steps, const struct gs_tap *tap, float *nll,
                              struct gs_error *error) {
    struct gs_gpn_runner *r = runner;
    const size_t d = r->config->width;
    begin_window(r, state, tokens, steps, tap);
    for (size_t begin = 0, segment = 0; begin < steps; begin += r->segment, segment++) {
        size_t count = gs_segment_steps(r, begin);
        if (r->saved.state) save(r, segment);
        gs_gpn_segment_forward(r, begin, count, nll);
        if (nll && r->options.train) r->has_loss_gradient = true;
        if (r->want_share) add_read_metrics(r, count);
        enum gs_status status = tap ? hand_over(r, tap, begin, count, error) : GS_OK;
        if (status != GS_OK) return status;
        if (begin + count < steps) {
            carry(r, count);
            continue;
        }
        copy(r, state->parts[0].values, gs_at(r, &r->tape.state, count), d);
        if (r->config->heads)
            copy(r, gs_state_find(state, "s_prev")->values, gs_at(r, &r->tape.state, count - 1), d);
    }
    if (nll) finish_metrics(r, state, nll);
    return GS_OK;
}

/* ---- backward ----------------------------------------------------------------------------- */

static void scaled(float *to, const float *from, size_t count, float scale) {
    for (size_t i = 0; i < count; i++) to[i] = scale * from[i];
}

static void finish_state(struct gs_gpn_runner *r, float scale, struct gs_state *gradient) {
    const size_t states = r->batch * r->config->width;
    float *previous = NULL;
    if (gradient) scaled(gradient->parts[0].values, r->back.state, states, scale);
    if (!r->config->heads) return;
    if (gradient) {
        previous = gs_state_find(gradient, "s_prev")->values;
        scaled(gs_state_find(gradient, "M")->values, r->back.matrix, r->batch * matrix_size(r),
               scale);
    }
    gs_gpn_first_key_backward(r, previous);
    if (previous) scaled(previous, previous, states, scale);
}

static enum gs_status backward(void *runner, float scale, struct gs_parameters *gradients,
                               struct gs_state *state_gradient, struct gs_error *error) {
    struct gs_gpn_runner *r = runner;
    const struct gs_gpn_config *c = r->config;
    if (state_gradient && state_gradient->batch != r->batch)
        return gs_fail(error, GS_SHAPE, "the state gradient has another batch than the window");
    memset(r->back.state, 0, r->batch * c->width * sizeof(float));
    memset(r->back.key, 0, r->batch * c->heads * c->key * sizeof(float));
    memset(r->back.matrix, 0, r->batch * matrix_size(r) * sizeof(float));
    size_t segments = (r->steps + r->segment - 1) / r->segment;
    for (size_t segment = segments; segment-- > 0;) {
        size_t begin = segment * r->segment, count = gs_segment_steps(r, begin);
        if (segment + 1 < segments) { /* the last one is still on the tape */
            restore(r, segment);
            gs_gpn_segment_forward(r, begin, count, NULL);
        }
        gs_gpn_segment_backward(r, begin, count);
    }
    finish_state(r, scale, state_gradient);
    gs_gpn_gradients_finish(r, scale, gradients);
    r->has_loss_gradient = false;
    return GS_OK;
}

/* ---- the kinds ---------------------------------------------------------------------------- */

static void refresh(void *runner) {
    struct gs_gpn_runner *r = runner;
    gs_gpn_weights_refresh(r->config, &r->weights);
}

static const struct gs_metric *metrics(void *runner, size_t *count) {
    struct gs_gpn_runner *r = runner;
    *count = r->metric_count;
    return r->metrics;
}

#define SHARED_MEMBERS                                                                             \
    .config_destroy = gs_free, .config_json = gs_gpn_config_json, .describe = gs_gpn_describe,     \
    .declare = gs_gpn_declare, .own_name = gs_gpn_own_name, .runner_create = gs_gpn_runner_create, \
    .runner_destroy = gs_gpn_runner_destroy, .runner_refresh = refresh, .forward = forward,        \
    .backward = backward, .decode = gs_gpn_decode, .decode_embedding = gs_gpn_decode_embedding,    \
    .metrics = metrics, .runner_bytes = gs_gpn_runner_bytes

const struct gs_kind gs_kind_gpn = {.name = "gpn",
                                    .alias = "sot",
                                    .configure = gs_gpn_configure,
                                    .infer = gs_gpn_infer,
                                    SHARED_MEMBERS};

const struct gs_kind gs_kind_gpn_m = {.name = "gpn_m",
                                      .alias = "sot_m",
                                      .configure = gs_gpn_m_configure,
                                      .infer = gs_gpn_m_infer,
                                      SHARED_MEMBERS};
