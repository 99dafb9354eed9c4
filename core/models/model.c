/* The face of model.h: looks up the kind, checks what every kind needs checked, passes on. */
#include "core/models/model.h"

#include "core/base/memory.h"
#include "core/models/kind.h"
#include "core/models/kinds.h"

#include <math.h>
#include <string.h>

struct gs_model {
    const struct gs_kind *kind;
    void *config;
    struct gs_shape shape;
    struct gs_parameters *parameters;
    const struct gs_tensor *embedding;
};

struct gs_runner {
    struct gs_model *model;
    struct gs_runner_options options;
    void *own; /* the kind's */
    bool can_backward;
};

/* ---- kinds -------------------------------------------------------------------------------- */

size_t gs_kind_count(void) {
    return gs_kinds_count();
}

const char *gs_kind_name(size_t index) {
    return index < gs_kinds_count() ? gs_kinds_at(index)->name : NULL;
}

static const struct gs_kind *find_kind(const char *name) {
    for (size_t i = 0; i < gs_kinds_count(); i++) {
        const struct gs_kind *kind = gs_kinds_at(i);
        if (strcmp(kind->name, name) == 0) return kind;
        if (kind->alias && strcmp(kind->alias, name) == 0) return kind;
    }
    return NULL;
}

static enum gs_status unknown_kind(const char *name, struct gs_error *error) {
    char known[256] = "";
    for (size_t i = 0; i < gs_kinds_count(); i++) {
        if (i) strncat(known, ", ", sizeof known - strlen(known) - 1);
        strncat(known, gs_kinds_at(i)->name, sizeof known - strlen(known) - 1);
    }
    gs_fail(error, GS_CONFIG, "unknown kind of model");
    gs_error_expected(error, "one of %s", known);
    gs_error_found(error, "\"%s\"", name);
    return GS_CONFIG;
}

/* ---- model -------------------------------------------------------------------------------- */

/* Values in all tensors; SIZE_MAX when more than can be counted. */
static size_t count_values(const struct gs_tensor *tensors, size_t count) {
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        size_t values = 1;
        for (size_t axis = 0; axis < tensors[i].rank; axis++)
            if (!gs_multiply(values, tensors[i].shape[axis], &values)) return SIZE_MAX;
        if (!gs_add(sum, values, &sum)) return SIZE_MAX;
    }
    return sum;
}

/* See gs_model_create_within. */
static enum gs_status check_size(const struct gs_tensor *tensors, size_t count, size_t most,
                                 struct gs_error *error) {
    enum { LITTLE = 1 << 20, TIMES = 4 };
    size_t values = count_values(tensors, count), allowed;
    if (!gs_multiply(most, TIMES, &allowed) || !gs_add(allowed, LITTLE, &allowed)) return GS_OK;
    if (values <= allowed) return GS_OK;
    gs_fail(error, GS_SHAPE, "the sizes are those of a far larger model than the file holds");
    gs_error_expected(error, "about %zu values, as in the file", most);
    gs_error_found(error, "parameters of %s%zu values", values == SIZE_MAX ? "more than " : "",
                   values);
    return GS_SHAPE;
}

/* How parameters are made: with values, or as an outline. */
typedef enum gs_status (*gs_make_parameters)(const struct gs_tensor *declared, size_t count,
                                             struct gs_parameters **parameters,
                                             struct gs_error *error);

/* Takes `config` over. */
static enum gs_status build(const struct gs_kind *kind, void *config, size_t most,
                            gs_make_parameters make, struct gs_model **model,
                            struct gs_error *error) {
    struct gs_model *m = gs_calloc(1, sizeof *m);
    if (!m) {
        kind->config_destroy(config);
        return gs_fail_memory(error, sizeof *m, "a model");
    }
    m->kind = kind;
    m->config = config;
    struct gs_tensor *declared = NULL;
    size_t count = 0;
    enum gs_status status = kind->describe(config, &m->shape, error);
    if (status == GS_OK) status = kind->declare(config, &declared, &count, error);
    if (status == GS_OK) status = check_size(declared, count, most, error);
    if (status == GS_OK) status = make(declared, count, &m->parameters, error);
    gs_free(declared);
    if (status != GS_OK) {
        gs_model_destroy(m);
        return status;
    }
    m->embedding = gs_parameters_find(m->parameters, m->shape.embedding);
    *model = m;
    return GS_OK;
}

static enum gs_status configure(const char *kind_name, const struct gs_json *model_config,
                                size_t most, gs_make_parameters make, struct gs_model **model,
                                struct gs_error *error) {
    *model = NULL;
    const struct gs_kind *kind = find_kind(kind_name);
    if (!kind) return unknown_kind(kind_name, error);
    void *config = NULL;
    enum gs_status status = kind->configure(model_config, &config, error);
    return status == GS_OK ? build(kind, config, most, make, model, error) : status;
}

enum gs_status gs_model_create_within(const char *kind_name, const struct gs_json *model_config,
                                      size_t most, struct gs_model **model,
                                      struct gs_error *error) {
    return configure(kind_name, model_config, most, gs_parameters_create, model, error);
}

enum gs_status gs_model_outline(const char *kind_name, const struct gs_json *model_config,
                                struct gs_model **model, struct gs_error *error) {
    return configure(kind_name, model_config, SIZE_MAX, gs_parameters_outline, model, error);
}

enum gs_status gs_model_create(const char *kind_name, const struct gs_json *model_config,
                               struct gs_model **model, struct gs_error *error) {
    return gs_model_create_within(kind_name, model_config, SIZE_MAX, model, error);
}

enum gs_status gs_model_infer(const struct gs_tensor *tensors, size_t count,
                              struct gs_model **model, struct gs_error *error) {
    *model = NULL;
    for (size_t i = 0; i < gs_kinds_count(); i++) {
        const struct gs_kind *kind = gs_kinds_at(i);
        void *config = NULL;
        enum gs_status status = kind->infer(tensors, count, &config, error);
        if (status != GS_OK) return status;
        if (config)
            return build(kind, config, count_values(tensors, count), gs_parameters_create, model,
                         error);
    }
    gs_fail(error, GS_CONFIG, "names and shapes of the tensors are of no known kind of model");
    gs_error_next(error, "give the kind and config in a config.json beside the checkpoint");
    return GS_CONFIG;
}

void gs_model_destroy(struct gs_model *model) {
    if (!model) return;
    model->kind->config_destroy(model->config);
    gs_free(model->shape.channels);
    gs_parameters_destroy(model->parameters);
    gs_free(model);
}

const char *gs_model_kind(const struct gs_model *model) {
    return model->kind->name;
}

const void *gs_model_kind_config(const struct gs_model *model) {
    return model->config;
}

struct gs_json *gs_model_config(const struct gs_model *model) {
    struct gs_json *json = gs_json_new_object();
    bool whole = gs_json_set(json, "kind", gs_json_new_string(model->kind->name));
    whole = gs_json_set(json, "model", model->kind->config_json(model->config)) && whole;
    if (whole) return json;
    gs_json_destroy(json);
    return NULL;
}

struct gs_parameters *gs_model_parameters(const struct gs_model *model) {
    return model->parameters;
}

const char *gs_model_own_name(const struct gs_model *model, const char *name) {
    return model->kind->own_name(model->config, name);
}

size_t gs_model_vocab(const struct gs_model *model) {
    return model->shape.vocab;
}
size_t gs_model_state_width(const struct gs_model *model) {
    return model->shape.state_width;
}
size_t gs_model_first(const struct gs_model *model) {
    return model->shape.first;
}
size_t gs_model_decodable_channel(const struct gs_model *model) {
    return model->shape.decodable;
}
size_t gs_model_embedding_width(const struct gs_model *model) {
    return model->shape.embedding_width;
}

struct gs_recipe gs_model_recipe(const struct gs_model *model) {
    return model->kind->recipe;
}

const struct gs_channel *gs_model_channels(const struct gs_model *model, size_t *count) {
    *count = model->shape.channel_count;
    return model->shape.channels;
}

const float *gs_model_embedding(const struct gs_model *model, uint32_t id) {
    return model->embedding->values + (size_t)id * model->shape.embedding_width;
}

/* ---- state -------------------------------------------------------------------------------- */

enum gs_status gs_state_create(const struct gs_model *model, size_t batch, struct gs_state **state,
                               struct gs_error *error) {
    *state = NULL;
    struct gs_state *s = gs_calloc(1, sizeof *s);
    if (!s) return gs_fail_memory(error, sizeof *s, "a state");
    s->batch = batch;
    s->part_count = model->shape.part_count;
    s->parts = gs_calloc(s->part_count, sizeof *s->parts);
    for (size_t i = 0; i < s->part_count && s->parts; i++) {
        s->parts[i] = model->shape.parts[i];
        size_t floats;
        if (!gs_multiply(batch, s->parts[i].width, &floats)) floats = SIZE_MAX;
        s->parts[i].values = gs_calloc(floats, sizeof(float));
        if (s->parts[i].values) continue;
        enum gs_status status = gs_fail_memory(error, floats, "recurrent state, in floats");
        gs_state_destroy(s);
        return status;
    }
    if (!s->parts) {
        gs_state_destroy(s);
        return gs_fail_memory(error, model->shape.part_count * sizeof *s->parts, "a state");
    }
    *state = s;
    return GS_OK;
}

size_t gs_model_state_floats(const struct gs_model *model) {
    size_t floats = 0;
    for (size_t i = 0; i < model->shape.part_count; i++) floats += model->shape.parts[i].width;
    return floats;
}

void gs_state_destroy(struct gs_state *state) {
    if (!state) return;
    for (size_t i = 0; i < state->part_count && state->parts; i++) gs_free(state->parts[i].values);
    gs_free(state->parts);
    gs_free(state);
}

void gs_state_reset(struct gs_state *state) {
    for (size_t i = 0; i < state->part_count; i++)
        memset(state->parts[i].values, 0, state->batch * state->parts[i].width * sizeof(float));
}

struct gs_state_part *gs_state_find(const struct gs_state *state, const char *name) {
    for (size_t i = 0; i < state->part_count; i++)
        if (strcmp(state->parts[i].name, name) == 0) return &state->parts[i];
    return NULL;
}

/* ---- running ------------------------------------------------------------------------------ */

enum gs_status gs_runner_create(struct gs_model *model, const struct gs_runner_options *options,
                                struct gs_runner **runner, struct gs_error *error) {
    *runner = NULL;
    if (!options->batch || !options->steps)
        return gs_fail(error, GS_RANGE, "a run needs at least one sequence and one step");
    struct gs_runner *r = gs_calloc(1, sizeof *r);
    if (!r) return gs_fail_memory(error, sizeof *r, "a runner");
    r->model = model;
    r->options = *options;
    enum gs_status status = model->kind->runner_create(model, options, &r->own, error);
    if (status != GS_OK) {
        gs_free(r);
        return status;
    }
    *runner = r;
    return gs_runner_refresh(r, error);
}

void gs_runner_destroy(struct gs_runner *runner) {
    if (!runner) return;
    runner->model->kind->runner_destroy(runner->own);
    gs_free(runner);
}

enum gs_status gs_runner_refresh(struct gs_runner *runner, struct gs_error *error) {
    (void)error;
    runner->model->kind->runner_refresh(runner->own);
    runner->can_backward = false;
    return GS_OK;
}

static enum gs_status check_tokens(const struct gs_runner *runner, const uint32_t *tokens,
                                   const size_t *lengths, size_t batch, size_t steps,
                                   struct gs_error *error) {
    size_t vocab = runner->model->shape.vocab;
    for (size_t b = 0; b < batch; b++) {
        size_t length = lengths ? lengths[b] : steps;
        for (size_t t = 0; t < length; t++) {
            uint32_t id = tokens[b * steps + t];
            if (id < vocab) continue;
            gs_fail(error, GS_RANGE, "a token id is not in the model's vocabulary");
            gs_error_expected(error, "ids below %zu", vocab);
            gs_error_found(error, "%u at position %zu of sequence %zu", (unsigned)id, t, b);
            return GS_RANGE;
        }
    }
    return GS_OK;
}

/* Too many sequences or steps for the runner, lengths beyond the window. */
static enum gs_status check_window(const struct gs_runner *runner, const struct gs_state *state,
                                   const size_t *lengths, size_t steps, struct gs_error *error) {
    if (state->batch > runner->options.batch || steps > runner->options.steps || !steps) {
        gs_fail(error, GS_SHAPE, "a window does not fit the runner");
        gs_error_expected(error, "at most %zu sequences of 1 to %zu tokens", runner->options.batch,
                          runner->options.steps);
        gs_error_found(error, "%zu of %zu", state->batch, steps);
        return GS_SHAPE;
    }
    for (size_t b = 0; lengths && b < state->batch; b++)
        if (lengths[b] > steps) {
            gs_fail(error, GS_RANGE, "a sequence is longer than its window");
            gs_error_expected(error, "at most %zu", steps);
            gs_error_found(error, "%zu", lengths[b]);
            return GS_RANGE;
        }
    return GS_OK;
}

/* A copy of the tokens with id 0 behind each sequence's length: those steps run, and are ignored.
 */
static uint32_t *pad_tokens(const uint32_t *tokens, const size_t *lengths, size_t batch,
                            size_t steps) {
    uint32_t *padded = gs_calloc(batch * steps, sizeof *padded);
    for (size_t b = 0; b < batch && padded; b++)
        memcpy(padded + b * steps, tokens + b * steps, lengths[b] * sizeof *tokens);
    return padded;
}

/* NaN where nothing was predicted: at the head of a sequence, and behind its length. */
static void clear_unpredicted(float *nll, size_t head, const size_t *lengths, size_t batch,
                              size_t steps) {
    for (size_t b = 0; b < batch; b++) {
        for (size_t t = 0; t < steps && t < head; t++) nll[b * steps + t] = NAN;
        for (size_t t = lengths ? lengths[b] : steps; t < steps; t++) nll[b * steps + t] = NAN;
    }
}

enum gs_status gs_runner_forward(struct gs_runner *runner, struct gs_state *state,
                                 const uint32_t *tokens, const size_t *lengths, size_t steps,
                                 const struct gs_tap *tap, float *nll, struct gs_error *error) {
    enum gs_status status = check_window(runner, state, lengths, steps, error);
    if (status == GS_OK) status = check_tokens(runner, tokens, lengths, state->batch, steps, error);
    if (status != GS_OK) return status;
    uint32_t *padded = NULL;
    if (lengths) {
        padded = pad_tokens(tokens, lengths, state->batch, steps);
        if (!padded) return gs_fail_memory(error, state->batch * steps * 4, "tokens");
    }
    status = runner->model->kind->forward(runner->own, state, padded ? padded : tokens, steps, tap,
                                          nll, error);
    gs_free(padded);
    if (nll) clear_unpredicted(nll, runner->model->shape.first, lengths, state->batch, steps);
    runner->can_backward = status == GS_OK && runner->options.train && nll && !lengths;
    return status;
}

enum gs_status gs_runner_backward(struct gs_runner *runner, float scale,
                                  struct gs_parameters *gradients, struct gs_state *state_gradient,
                                  struct gs_error *error) {
    if (!runner->can_backward) {
        gs_fail(error, GS_USAGE, "backward needs a forward before it");
        gs_error_expected(error, "a training runner and a forward with nll and without lengths");
        return GS_USAGE;
    }
    runner->can_backward = false; /* what forward kept is used up */
    return runner->model->kind->backward(runner->own, scale, gradients, state_gradient, error);
}

enum gs_status gs_runner_decode(struct gs_runner *runner, size_t channel, const float *states,
                                size_t rows, float *logits, struct gs_error *error) {
    const struct gs_shape *shape = &runner->model->shape;
    if (channel >= shape->channel_count || !shape->channels[channel].decoder) {
        gs_fail(error, GS_USAGE, "these rows do not decode to tokens");
        gs_error_expected(error, "states of a stream with a decoder");
        gs_error_found(error, "%s",
                       channel < shape->channel_count ? shape->channels[channel].name : "none");
        return GS_USAGE;
    }
    runner->model->kind->decode(runner->own, channel, states, rows, logits);
    return GS_OK;
}

enum gs_status gs_runner_decode_embedding(struct gs_runner *runner, const float *vectors,
                                          size_t rows, float *logits, struct gs_error *error) {
    (void)error;
    runner->model->kind->decode_embedding(runner->own, vectors, rows, logits);
    return GS_OK;
}

const struct gs_metric *gs_runner_metrics(struct gs_runner *runner, size_t *count) {
    return runner->model->kind->metrics(runner->own, count);
}

size_t gs_runner_bytes(const struct gs_model *model, const struct gs_runner_options *options) {
    return model->kind->runner_bytes(model->config, options);
}
