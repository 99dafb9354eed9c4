/* Making a runner: one plan of everything it holds, gone through twice: to count, then to place. */
#include "core/models/gpn/runner.h"

#include "core/base/memory.h"

#include <omp.h>
#include <string.h>

/* ---- the plan ----------------------------------------------------------------------------- */

struct plan {
    char *base; /* NULL while counting */
    size_t bytes;
    bool wrapped;
};

enum { ALIGN = 64 };

/* The next a * b * c elements of `size` bytes; NULL while counting. */
static void *take(struct plan *plan, size_t a, size_t b, size_t c, size_t size) {
    size_t bytes;
    if (!gs_multiply(a, b, &bytes) || !gs_multiply(bytes, c, &bytes) ||
        !gs_multiply(bytes, size, &bytes) || bytes > SIZE_MAX / 2 - plan->bytes) {
        plan->wrapped = true;
        return NULL;
    }
    void *at = plan->base ? plan->base + plan->bytes : NULL;
    plan->bytes += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return at;
}

static float *floats(struct plan *plan, size_t a, size_t b, size_t c) {
    return take(plan, a, b, c, sizeof(float));
}

static void series(struct plan *plan, const struct gs_gpn_runner *r, struct gs_series *series,
                   size_t rows, size_t width) {
    series->width = width;
    series->rows = rows;
    series->values = floats(plan, rows, r->options.batch, width);
}

/* ---- what a runner holds ------------------------------------------------------------------ */

/* Rows of the series that only backward reads: all steps in training, else the last `few`. */
static size_t rows(const struct gs_gpn_runner *r, size_t few) {
    return r->options.train ? r->segment : few;
}

static void plan_layer(struct plan *plan, const struct gs_gpn_runner *r, size_t i,
                       struct gs_gpn_layer_tape *layer) {
    const struct gs_gpn_config *c = r->config;
    size_t columns = gs_columns(r, i)->count;
    series(plan, r, &layer->normal, rows(r, 1), c->width);
    series(plan, r, &layer->scale, rows(r, 1), 1);
    series(plan, r, &layer->in, rows(r, 2), columns); /* a step reads the key of the one before */
    series(plan, r, &layer->query_scale, rows(r, 1), c->heads);
    series(plan, r, &layer->read, rows(r, 1), c->heads * c->value);
    series(plan, r, &layer->read_scale, rows(r, 1), 1);
}

static void plan_tape(struct plan *plan, struct gs_gpn_runner *r) {
    const struct gs_gpn_config *c = r->config;
    struct gs_gpn_tape *tape = &r->tape;
    series(plan, r, &tape->state, r->segment + 1, c->width);
    series(plan, r, &tape->key_scale, rows(r, 2), c->heads);
    struct gs_series *const gates[] = {&tape->strength, &tape->log_decay, &tape->decay,
                                       &tape->norm};
    for (size_t i = 0; i < 4; i++) series(plan, r, gates[i], r->segment, c->heads);
    struct gs_series *const reads[] = {&tape->share, &tape->effect, &tape->cosine};
    for (size_t i = 0; i < 3; i++) series(plan, r, reads[i], r->segment, c->layers);
    series(plan, r, &tape->predicted, r->segment, c->width);
    series(plan, r, &tape->predicted_normal, rows(r, 1), c->width);
    series(plan, r, &tape->predicted_scale, rows(r, 1), 1);
    series(plan, r, &tape->head, r->segment, c->width + c->embedding);
    tape->layers = take(plan, c->layers, 1, 1, sizeof *tape->layers);
    for (size_t i = 0; i < c->layers; i++) {
        struct gs_gpn_layer_tape counted;
        plan_layer(plan, r, i, tape->layers ? &tape->layers[i] : &counted);
    }
}

static void plan_work(struct plan *plan, struct gs_gpn_runner *r) {
    const struct gs_gpn_config *c = r->config;
    const size_t B = r->options.batch, d = c->width, keys = c->heads * c->key;
    struct gs_gpn_work *w = &r->work;
    w->layer_input = floats(plan, c->layers, B, d);
    w->activation = floats(plan, B, c->ffn, 1);
    w->read = floats(plan, B, c->heads, c->value);
    w->ffn = floats(plan, B, d, 1);
    w->memory = floats(plan, B, d, 1);
    w->first_key = floats(plan, B, keys, 1);
    w->first_key_scale = floats(plan, B, c->heads, 1);
    w->key_row = floats(plan, B, r->weights.first.count, 1);
    w->previous_normal = floats(plan, B, d, 1);
    w->previous_scale = floats(plan, B, 1, 1);
    w->decode_normal = floats(plan, r->threads, GS_DECODE_ROWS, d);
    w->decode_head = floats(plan, r->threads, GS_DECODE_ROWS, d + c->embedding);
}

static void plan_saved(struct plan *plan, struct gs_gpn_runner *r) {
    const struct gs_gpn_config *c = r->config;
    const size_t B = r->options.batch, matrix = c->heads * c->key * c->value;
    const size_t stretches = (r->segment + r->stretch - 1) / r->stretch;
    r->saved.stretch_memory = floats(plan, stretches, B, matrix);
    size_t segments = (r->options.steps + r->segment - 1) / r->segment;
    if (segments == 1) return;
    r->saved.state = floats(plan, segments, B, c->width);
    r->saved.key = floats(plan, segments, B, c->heads * c->key);
    r->saved.key_scale = floats(plan, segments, B, c->heads);
    r->saved.memory = floats(plan, segments, B, matrix);
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static void plan_ground(struct plan *plan, struct gs_gpn_runner *r) {
    const struct gs_gpn_config *c = r->config;
    const size_t positions = r->stretch * r->options.batch, most = smaller(c->vocab, positions);
    struct gs_gpn_ground *g = &r->ground;
    g->token = take(plan, most, 1, 1, sizeof *g->token);
    g->row = take(plan, positions, 1, 1, sizeof *g->row);
    g->slot = take(plan, c->vocab, 1, 1, sizeof *g->slot);
    g->normal = floats(plan, most, c->embedding, 1);
    g->scale = floats(plan, most, 1, 1);
    g->ground = floats(plan, most, c->width, 1);
    if (!r->options.train) return;
    r->ground_gradient = floats(plan, most, c->width, 1);
    r->embedding_row = floats(plan, most, c->embedding, 1);
}

static void plan_decoding(struct plan *plan, struct gs_gpn_runner *r) {
    const struct gs_gpn_config *c = r->config;
    const size_t positions = r->segment * r->options.batch;
    r->logits = floats(plan, r->decode_rows, c->vocab, 1);
    r->decoded = floats(plan, positions, c->embedding, 1);
    r->segment_nll = floats(plan, positions, 1, 1);
    r->targets = take(plan, positions, 1, 1, sizeof *r->targets);
    r->tokens = take(plan, r->options.batch, r->options.steps, 1, sizeof *r->tokens);
    if (r->options.train)
        r->loss_gradient = floats(plan, r->options.steps, r->options.batch, c->embedding);
}

static void plan_left(struct plan *plan, struct gs_gpn_runner *r, struct gs_gpn_left *left) {
    const struct gs_gpn_config *c = r->config;
    const size_t B = r->options.batch, steps = r->stretch, values = c->heads * c->value;
    float ***const lists[] = {&left->in, &left->out, &left->activation, &left->read};
    for (size_t i = 0; i < 4; i++) *lists[i] = take(plan, c->layers, 1, 1, sizeof **lists[i]);
    for (size_t i = 0; i < c->layers; i++) {
        const size_t widths[] = {gs_columns(r, i)->count, c->width, c->ffn, values};
        for (size_t j = 0; j < 4; j++) {
            float *rows = floats(plan, steps, B, widths[j]);
            if (plan->base) (*lists[j])[i] = rows;
        }
    }
    left->head = floats(plan, steps, B, c->width + c->embedding);
    left->ground = floats(plan, steps, B, c->width);
    left->a_log = floats(plan, steps, B, c->heads);
}

static void plan_back(struct plan *plan, struct gs_gpn_runner *r) {
    const struct gs_gpn_config *c = r->config;
    const size_t B = r->options.batch, steps = r->stretch, d = c->width;
    const size_t keys = c->heads * c->key, values = c->heads * c->value;
    struct gs_gpn_stretch *back = &r->back;
    for (size_t i = 0; i < 2; i++) plan_left(plan, r, &back->left[i]);
    r->bias_in = take(plan, c->layers, 1, 1, sizeof *r->bias_in);
    for (size_t i = 0; i < c->layers; i++) {
        double *bias = take(plan, gs_columns(r, i)->count, 1, 1, sizeof *bias);
        if (plan->base) r->bias_in[i] = bias;
    }
    back->keys = floats(plan, steps, B, keys);
    back->diffs = floats(plan, steps, B, values);
    back->decays = floats(plan, steps, B, c->heads);
    back->strengths = floats(plan, steps, B, c->heads);
    back->overlap = take(plan, B, c->heads, 1, sizeof *back->overlap);
    back->state = floats(plan, B, d, 1);
    back->key = floats(plan, B, keys, 1);
    back->matrix = floats(plan, B, keys, c->value);
    back->current = floats(plan, B, d, 1);
    back->normal = floats(plan, B, d, 1);
    back->activation_back = floats(plan, B, c->ffn, 1);
    back->read_back = floats(plan, B, values, 1);
    back->unit_read = floats(plan, B, values, 1);
    back->head_work = floats(plan, B, c->heads, 3 * c->key);
    r->bias_head = take(plan, d + c->embedding, 1, 1, sizeof *r->bias_head);
    r->a_log_sum = take(plan, c->heads, 1, 1, sizeof *r->a_log_sum);
}

static void plan_all(struct plan *plan, struct gs_gpn_runner *r) {
    plan_tape(plan, r);
    plan_work(plan, r);
    plan_ground(plan, r);
    plan_decoding(plan, r);
    if (!r->options.train) return;
    plan_saved(plan, r);
    plan_back(plan, r);
}

/* ---- sizes -------------------------------------------------------------------------------- */

static size_t between(size_t low, size_t value, size_t high) {
    return value < low ? low : value > high ? high : value;
}

/* In training a segment is what is stored: the whole window, or as asked, rounded up to whole
 * stretches. Else it is one stretch, as long as makes a decent block to decode. */
static void choose_sizes(struct gs_gpn_runner *r) {
    enum { RUN_STEPS = 32, STRETCH_ROWS = 512, MOST_STRETCH = 32 };
    const struct gs_runner_options *o = &r->options;
    size_t stretch = o->train ? between(1, STRETCH_ROWS / o->batch, MOST_STRETCH) : RUN_STEPS;
    r->stretch = smaller(stretch, o->steps);
    r->segment = o->train ? o->steps : r->stretch;
    if (o->train && o->recompute_every && o->recompute_every < o->steps) {
        size_t stretches = (o->recompute_every + r->stretch - 1) / r->stretch;
        r->segment = smaller(stretches * r->stretch, o->steps);
    }
    /* Logits of a stretch at once, but not of more rows than a stretch is meant to have. */
    r->decode_rows = smaller(r->stretch * o->batch, o->train ? STRETCH_ROWS : 2 * STRETCH_ROWS);
    r->threads = (size_t)omp_get_max_threads();
}

size_t gs_gpn_runner_bytes(const void *config, const struct gs_runner_options *options) {
    struct gs_gpn_runner r = {.config = config, .options = *options};
    gs_gpn_columns_find(config, &r.weights.first, &r.weights.other);
    choose_sizes(&r);
    struct plan plan = {0};
    plan_all(&plan, &r);
    size_t weights = gs_gpn_weights_floats(config, options->train);
    if (plan.wrapped || !gs_multiply(weights, sizeof(float), &weights)) return SIZE_MAX;
    return plan.bytes + weights + sizeof r;
}

/* ---- create, destroy ---------------------------------------------------------------------- */

static const char *const METRICS[] = {"pred_ce", "state_norm", "mem_norm", "mem_effect", "mem_cos"};

enum gs_status gs_gpn_runner_create(struct gs_model *model, const struct gs_runner_options *options,
                                    void **runner, struct gs_error *error) {
    struct gs_gpn_runner *r = gs_calloc(1, sizeof *r);
    if (!r) return gs_fail_memory(error, sizeof *r, "a runner");
    r->config = gs_model_kind_config(model);
    r->options = *options;
    choose_sizes(r);
    r->metric_count = r->config->heads ? 5 : 2;
    for (size_t i = 0; i < r->metric_count; i++) r->metrics[i].name = METRICS[i];
    enum gs_status status = gs_gpn_weights_create(
        r->config, gs_model_parameters(model), options->train, options->bf16, &r->weights, error);
    struct plan plan = {0};
    if (status == GS_OK) {
        plan_all(&plan, r);
        r->arena = plan.wrapped ? NULL : gs_calloc(plan.bytes, 1);
        if (!r->arena) status = gs_fail_memory(error, plan.bytes, "a run's working space");
    }
    if (status != GS_OK) {
        gs_gpn_runner_destroy(r);
        return status;
    }
    plan = (struct plan){.base = r->arena};
    plan_all(&plan, r);
    *runner = r;
    return GS_OK;
}

void gs_gpn_runner_destroy(void *runner) {
    struct gs_gpn_runner *r = runner;
    if (!r) return;
    gs_gpn_weights_destroy(r->config, &r->weights);
    gs_free(r->arena);
    gs_free(r);
}
