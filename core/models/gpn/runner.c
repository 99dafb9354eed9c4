/* Making a runner: one plan of everything it holds, gone through twice: to count, then to place. */
#include "core/models/gpn/runner.h"

#include "core/base/memory.h"

#include <omp.h>
#include <string.h>

/* ---- what a runner holds ------------------------------------------------------------------ */

static void series(struct gs_arena *arena, const struct gs_gpn_runner *r, struct gs_series *series,
                   size_t rows, size_t width) {
    series->width = width;
    series->rows = rows;
    series->values = gs_arena_floats(arena, rows, r->options.batch, width);
}

/* Rows of the series that only backward reads: all steps in training, else the last `few`. */
static size_t rows(const struct gs_gpn_runner *r, size_t few) {
    return r->options.train ? r->segment : few;
}

static void plan_layer(struct gs_arena *arena, const struct gs_gpn_runner *r, size_t i,
                       struct gs_gpn_layer_tape *layer) {
    const struct gs_gpn_config *c = r->config;
    size_t columns = gs_columns(r, i)->count;
    series(arena, r, &layer->normal, rows(r, 1), c->width);
    series(arena, r, &layer->scale, rows(r, 1), 1);
    series(arena, r, &layer->in, rows(r, 2), columns); /* a step reads the key of the one before */
    series(arena, r, &layer->query_scale, rows(r, 1), c->heads);
    series(arena, r, &layer->read, rows(r, 1), c->heads * c->value);
    series(arena, r, &layer->read_scale, rows(r, 1), 1);
}

static void plan_tape(struct gs_arena *arena, struct gs_gpn_runner *r) {
    const struct gs_gpn_config *c = r->config;
    struct gs_gpn_tape *tape = &r->tape;
    series(arena, r, &tape->state, r->segment + 1, c->width);
    series(arena, r, &tape->key_scale, rows(r, 2), c->heads);
    struct gs_series *const gates[] = {&tape->strength, &tape->log_decay, &tape->decay,
                                       &tape->norm};
    for (size_t i = 0; i < 4; i++) series(arena, r, gates[i], r->segment, c->heads);
    struct gs_series *const reads[] = {&tape->share, &tape->effect, &tape->cosine};
    for (size_t i = 0; i < 3; i++) series(arena, r, reads[i], r->segment, c->layers);
    series(arena, r, &tape->predicted, r->segment, c->width);
    series(arena, r, &tape->predicted_normal, rows(r, 1), c->width);
    series(arena, r, &tape->predicted_scale, rows(r, 1), 1);
    series(arena, r, &tape->head, r->segment, c->width + c->embedding);
    tape->layers = gs_arena_take(arena, c->layers, 1, 1, sizeof *tape->layers);
    for (size_t i = 0; i < c->layers; i++) {
        struct gs_gpn_layer_tape counted;
        plan_layer(arena, r, i, tape->layers ? &tape->layers[i] : &counted);
    }
}

static void plan_work(struct gs_arena *arena, struct gs_gpn_runner *r) {
    const struct gs_gpn_config *c = r->config;
    const size_t B = r->options.batch, d = c->width, keys = c->heads * c->key;
    struct gs_gpn_work *w = &r->work;
    w->layer_input = gs_arena_floats(arena, c->layers, B, d);
    w->activation = gs_arena_floats(arena, B, c->ffn, 1);
    w->read = gs_arena_floats(arena, B, c->heads, c->value);
    w->ffn = gs_arena_floats(arena, B, d, 1);
    w->memory = gs_arena_floats(arena, B, d, 1);
    w->first_key = gs_arena_floats(arena, B, keys, 1);
    w->first_key_scale = gs_arena_floats(arena, B, c->heads, 1);
    w->key_row = gs_arena_floats(arena, B, r->weights.first.count, 1);
    w->previous_normal = gs_arena_floats(arena, B, d, 1);
    w->previous_scale = gs_arena_floats(arena, B, 1, 1);
    w->decode_normal = gs_arena_floats(arena, r->threads, GS_DECODE_ROWS, d);
    w->decode_head = gs_arena_floats(arena, r->threads, GS_DECODE_ROWS, d + c->embedding);
}

static void plan_saved(struct gs_arena *arena, struct gs_gpn_runner *r) {
    const struct gs_gpn_config *c = r->config;
    const size_t B = r->options.batch, matrix = c->heads * c->key * c->value;
    const size_t stretches = (r->segment + r->stretch - 1) / r->stretch;
    r->saved.stretch_memory = gs_arena_floats(arena, stretches, B, matrix);
    size_t segments = (r->options.steps + r->segment - 1) / r->segment;
    if (segments == 1) return;
    r->saved.state = gs_arena_floats(arena, segments, B, c->width);
    r->saved.key = gs_arena_floats(arena, segments, B, c->heads * c->key);
    r->saved.key_scale = gs_arena_floats(arena, segments, B, c->heads);
    r->saved.memory = gs_arena_floats(arena, segments, B, matrix);
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static void plan_ground(struct gs_arena *arena, struct gs_gpn_runner *r) {
    const struct gs_gpn_config *c = r->config;
    const size_t positions = r->stretch * r->options.batch, most = smaller(c->vocab, positions);
    struct gs_gpn_ground *g = &r->ground;
    g->token = gs_arena_take(arena, most, 1, 1, sizeof *g->token);
    g->row = gs_arena_take(arena, positions, 1, 1, sizeof *g->row);
    g->slot = gs_arena_take(arena, c->vocab, 1, 1, sizeof *g->slot);
    g->normal = gs_arena_floats(arena, most, c->embedding, 1);
    g->scale = gs_arena_floats(arena, most, 1, 1);
    g->ground = gs_arena_floats(arena, most, c->width, 1);
    if (!r->options.train) return;
    r->ground_gradient = gs_arena_floats(arena, most, c->width, 1);
    r->embedding_row = gs_arena_floats(arena, most, c->embedding, 1);
}

static void plan_decoding(struct gs_arena *arena, struct gs_gpn_runner *r) {
    const struct gs_gpn_config *c = r->config;
    const size_t positions = r->segment * r->options.batch;
    r->decoded = gs_arena_floats(arena, positions, c->embedding, 1);
    r->segment_nll = gs_arena_floats(arena, positions, 1, 1);
    r->targets = gs_arena_take(arena, positions, 1, 1, sizeof *r->targets);
    r->tokens = gs_arena_take(arena, r->options.batch, r->options.steps, 1, sizeof *r->tokens);
    if (r->options.train)
        r->loss_gradient = gs_arena_floats(arena, r->options.steps, r->options.batch, c->embedding);
}

static void plan_left(struct gs_arena *arena, struct gs_gpn_runner *r, struct gs_gpn_left *left) {
    const struct gs_gpn_config *c = r->config;
    const size_t B = r->options.batch, steps = r->stretch, values = c->heads * c->value;
    float ***const lists[] = {&left->in, &left->out, &left->activation, &left->read};
    for (size_t i = 0; i < 4; i++)
        *lists[i] = gs_arena_take(arena, c->layers, 1, 1, sizeof **lists[i]);
    for (size_t i = 0; i < c->layers; i++) {
        const size_t widths[] = {gs_columns(r, i)->count, c->width, c->ffn, values};
        for (size_t j = 0; j < 4; j++) {
            float *rows = gs_arena_floats(arena, steps, B, widths[j]);
            if (arena->base) (*lists[j])[i] = rows;
        }
    }
    left->head = gs_arena_floats(arena, steps, B, c->width + c->embedding);
    left->ground = gs_arena_floats(arena, steps, B, c->width);
    left->a_log = gs_arena_floats(arena, steps, B, c->heads);
}

static void plan_back(struct gs_arena *arena, struct gs_gpn_runner *r) {
    const struct gs_gpn_config *c = r->config;
    const size_t B = r->options.batch, steps = r->stretch, d = c->width;
    const size_t keys = c->heads * c->key, values = c->heads * c->value;
    struct gs_gpn_stretch *back = &r->back;
    for (size_t i = 0; i < 2; i++) plan_left(arena, r, &back->left[i]);
    r->bias_in = gs_arena_take(arena, c->layers, 1, 1, sizeof *r->bias_in);
    for (size_t i = 0; i < c->layers; i++) {
        double *bias = gs_arena_take(arena, gs_columns(r, i)->count, 1, 1, sizeof *bias);
        if (arena->base) r->bias_in[i] = bias;
    }
    back->keys = gs_arena_floats(arena, steps, B, keys);
    back->diffs = gs_arena_floats(arena, steps, B, values);
    back->decays = gs_arena_floats(arena, steps, B, c->heads);
    back->strengths = gs_arena_floats(arena, steps, B, c->heads);
    back->overlap = gs_arena_take(arena, B, c->heads, 1, sizeof *back->overlap);
    back->state = gs_arena_floats(arena, B, d, 1);
    back->key = gs_arena_floats(arena, B, keys, 1);
    back->matrix = gs_arena_floats(arena, B, keys, c->value);
    back->current = gs_arena_floats(arena, B, d, 1);
    back->normal = gs_arena_floats(arena, B, d, 1);
    back->activation_back = gs_arena_floats(arena, B, c->ffn, 1);
    back->read_back = gs_arena_floats(arena, B, values, 1);
    back->unit_read = gs_arena_floats(arena, B, values, 1);
    back->head_work = gs_arena_floats(arena, B, c->heads, 3 * c->key);
    r->bias_head = gs_arena_take(arena, d + c->embedding, 1, 1, sizeof *r->bias_head);
    r->a_log_sum = gs_arena_take(arena, c->heads, 1, 1, sizeof *r->a_log_sum);
}

static void plan_all(struct gs_arena *arena, void *runner) {
    struct gs_gpn_runner *r = runner;
    gs_gpn_weights_plan(r->config, r->options.train, r->decode_rows, arena, &r->weights);
    plan_tape(arena, r);
    plan_work(arena, r);
    plan_ground(arena, r);
    plan_decoding(arena, r);
    if (!r->options.train) return;
    plan_saved(arena, r);
    plan_back(arena, r);
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
    choose_sizes(&r);
    struct gs_arena arena = {0};
    plan_all(&arena, &r);
    return arena.wrapped ? SIZE_MAX : arena.bytes + sizeof r;
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
    enum gs_status status = gs_arena_place(plan_all, r, &r->arena, error);
    if (status == GS_OK)
        status = gs_gpn_weights_bind(r->config, gs_model_parameters(model), options->bf16,
                                     &r->weights, error);
    if (status != GS_OK) {
        gs_gpn_runner_destroy(r);
        return status;
    }
    *runner = r;
    return GS_OK;
}

void gs_gpn_runner_destroy(void *runner) {
    struct gs_gpn_runner *r = runner;
    if (!r) return;
    gs_gpn_weights_unbind(&r->weights);
    gs_free(r->arena);
    gs_free(r);
}
