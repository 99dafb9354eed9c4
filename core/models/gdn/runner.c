/* Making a runner: one plan of everything it holds (core/base/arena.h). */
#include "core/models/gdn/runner.h"

#include "core/base/memory.h"
#include "core/models/parts/row_blocks.h"

#include <omp.h>

/* ---- sizes -------------------------------------------------------------------------------- */

/* In training a segment is the whole window. Else as many tokens as make a decent number of rows,
 * so that long windows take no more memory than short ones. */
static void choose_sizes(struct gs_gdn_runner *r) {
    enum { RUN_ROWS = 1024 };
    const struct gs_runner_options *o = &r->options;
    const size_t chunks = gs_gdn_chunks(RUN_ROWS / o->batch + 1);
    r->segment = o->train ? o->steps : gs_gdn_smaller(chunks * GS_DELTA_CHUNK, o->steps);
    r->kernels = gs_delta_kernels();
    r->keys = gs_delta_width(r->kernels, r->config->key);
    r->values = gs_delta_width(r->kernels, r->config->value);
    r->columns = gs_gdn_columns_find(r->config);
    r->threads = (size_t)omp_get_max_threads();
}

static size_t most_rows(const struct gs_gdn_runner *r) {
    size_t rows;
    return gs_multiply(r->options.batch, r->segment, &rows) ? rows : SIZE_MAX;
}

/* ---- what a runner holds ------------------------------------------------------------------ */

static void plan_tape(struct gs_arena *arena, const struct gs_gdn_runner *r,
                      struct gs_gdn_tape *tape) {
    const struct gs_gdn_config *c = r->config;
    const size_t rows = most_rows(r), units = r->options.batch * c->heads;
    tape->in = gs_arena_floats(arena, rows, r->columns.count, 1);
    float **const gates[] = {&tape->log_decay, &tape->decay, &tape->strength, &tape->norm};
    for (size_t i = 0; i < 4; i++) *gates[i] = gs_arena_floats(arena, rows, c->heads, 1);
    tape->past = gs_arena_floats(arena, r->options.batch, GS_GDN_PAST_ROWS, gs_gdn_channels(c));
    if (!r->options.train) return;
    const size_t chunks = gs_gdn_chunks(r->segment);
    tape->between = gs_arena_floats(arena, rows, c->width, 1);
    tape->gu = gs_arena_floats(arena, rows, 2, c->ffn);
    tape->x = gs_arena_floats(arena, units * chunks, GS_DELTA_CHUNK, r->values);
    tape->o = gs_arena_floats(arena, units * chunks, GS_DELTA_CHUNK, r->values);
    tape->starts = gs_arena_floats(arena, units * chunks, r->keys, r->values);
}

/* Outside of training, and where layers are run again, they share a tape; h stays before each layer
 * in training. */
static void plan_tapes(struct gs_arena *arena, struct gs_gdn_runner *r) {
    const size_t layers = r->config->layers, d = r->config->width;
    const bool train = r->options.train, shares = !train || r->options.recompute_every;
    struct gs_gdn_tape tape;
    r->layers = gs_arena_take(arena, layers, 1, 1, sizeof *r->layers);
    float *h = gs_arena_floats(arena, most_rows(r), d, 1);
    for (size_t i = 0; i < layers; i++) {
        if (i == 0 || !shares) {
            tape = (struct gs_gdn_tape){0};
            plan_tape(arena, r, &tape);
        }
        tape.before = h;
        if (train) h = gs_arena_floats(arena, most_rows(r), d, 1);
        tape.after = h;
        if (!train) tape.between = h;
        if (arena->base) r->layers[i] = tape;
    }
}

static void plan_chunk(struct gs_arena *arena, const struct gs_gdn_runner *r,
                       struct gs_gdn_work *w) {
    enum { C = GS_DELTA_CHUNK };
    const size_t wide = r->config->key > r->config->value ? r->config->key : r->config->value;
    float **const keys[] = {&w->q, &w->k, &w->dq, &w->dk};
    float **const values[] = {&w->v, &w->x, &w->o, &w->dv, &w->d_o};
    float **const steps[] = {&w->decay,     &w->strength, &w->norm,    &w->dlog_decay,
                             &w->dstrength, &w->q_factor, &w->k_factor};
    for (size_t i = 0; i < 4; i++) *keys[i] = gs_arena_floats(arena, C, r->keys, 1);
    for (size_t i = 0; i < 5; i++) *values[i] = gs_arena_floats(arena, C, r->values, 1);
    for (size_t i = 0; i < 7; i++) *steps[i] = gs_arena_floats(arena, C, 1, 1);
    w->S = gs_arena_floats(arena, r->keys, r->values, 1);
    w->dS = gs_arena_floats(arena, r->keys, r->values, 1);
    w->scratch = gs_arena_floats(arena, gs_delta_work(r->keys, r->values), 1, 1);
    w->dpre =
        gs_arena_floats(arena, C + GS_GDN_PAST_ROWS, 2 * r->config->key + r->config->value, 1);
    w->zero = gs_arena_floats(arena, wide, 1, 1);
}

static void plan_work(struct gs_arena *arena, struct gs_gdn_runner *r) {
    const size_t d = r->config->width, f = r->config->ffn;
    r->work = gs_arena_take(arena, r->threads, 1, 1, sizeof *r->work);
    for (size_t i = 0; i < r->threads; i++) {
        struct gs_gdn_work work;
        /* the feed-forward's own, and outside of training what it would keep */
        const size_t floats = gs_feed_forward_work(d, f, GS_BLOCK_ROWS) + 2 * f * GS_BLOCK_ROWS;
        work.rows = gs_arena_floats(arena, floats, 1, 1);
        plan_chunk(arena, r, &work);
        if (arena->base) r->work[i] = work;
    }
}

static void plan_decoding(struct gs_arena *arena, struct gs_gdn_runner *r) {
    const struct gs_gdn_config *c = r->config;
    const size_t rows = most_rows(r);
    r->final = gs_arena_floats(arena, rows, c->width, 1);
    r->read = gs_arena_floats(arena, rows, c->heads * c->value, 1);
    r->segment_nll = gs_arena_floats(arena, rows, 1, 1);
    r->targets = gs_arena_take(arena, rows, 1, 1, sizeof *r->targets);
    r->tokens = gs_arena_take(arena, r->options.batch, r->options.steps, 1, sizeof *r->tokens);
}

static void plan_back(struct gs_arena *arena, struct gs_gdn_runner *r) {
    const struct gs_gdn_config *c = r->config;
    const size_t rows = most_rows(r), d = c->width, B = r->options.batch, units = B * c->heads;
    struct gs_gdn_back *back = &r->back;
    r->dz = gs_arena_floats(arena, B, r->options.steps, d);
    for (size_t i = 0; i < 3; i++) back->h[i] = gs_arena_floats(arena, rows, d, 1);
    for (size_t i = 0; i < 2; i++) back->normal[i] = gs_arena_floats(arena, rows, d, 1);
    for (size_t i = 0; i < 2; i++)
        back->norms[i] = gs_arena_floats(arena, gs_row_blocks_most(rows), d, 1);
    back->activation = gs_arena_floats(arena, rows, c->ffn, 1);
    back->read = gs_arena_floats(arena, rows, c->heads * c->value, 1);
    back->memory = gs_arena_floats(arena, B, gs_gdn_memory_width(c), 1);
    back->past = gs_arena_floats(arena, B, gs_gdn_past_width(c), 1);
    back->read_norm = gs_arena_floats(arena, c->layers, units, c->value);
    back->gates = gs_arena_take(arena, c->layers, units, 2, sizeof *back->gates);
    back->taps = gs_arena_floats(arena, c->layers * B, GS_CONV_WIDTH, gs_gdn_channels(c));
    if (!r->options.recompute_every) return;
    r->saved_memory = gs_arena_floats(arena, B, gs_gdn_memory_width(c), 1);
    r->saved_past = gs_arena_floats(arena, B, gs_gdn_past_width(c), 1);
}

static void plan_all(struct gs_arena *arena, void *runner) {
    enum { DECODED_TOGETHER = 512 };
    struct gs_gdn_runner *r = runner;
    gs_gdn_weights_plan(r->config, r->options.train, gs_gdn_smaller(most_rows(r), DECODED_TOGETHER),
                        arena, &r->weights);
    plan_tapes(arena, r);
    plan_work(arena, r);
    plan_decoding(arena, r);
    if (r->options.train) plan_back(arena, r);
}

size_t gs_gdn_runner_bytes(const void *config, const struct gs_runner_options *options) {
    struct gs_gdn_runner r = {.config = config, .options = *options};
    struct gs_arena arena = {0};
    choose_sizes(&r);
    plan_all(&arena, &r);
    return arena.wrapped ? SIZE_MAX : arena.bytes + sizeof r;
}

/* ---- create, destroy ---------------------------------------------------------------------- */

enum gs_status gs_gdn_runner_create(struct gs_model *model, const struct gs_runner_options *options,
                                    void **runner, struct gs_error *error) {
    struct gs_gdn_runner *r = gs_calloc(1, sizeof *r);
    if (!r) return gs_fail_memory(error, sizeof *r, "a runner");
    r->config = gs_model_kind_config(model);
    r->options = *options;
    r->metric.name = "ce";
    choose_sizes(r);
    enum gs_status status = gs_arena_place(plan_all, r, &r->arena, error);
    if (status == GS_OK)
        status = gs_gdn_weights_bind(r->config, gs_model_parameters(model), options->bf16,
                                     &r->weights, error);
    if (status != GS_OK) {
        gs_gdn_runner_destroy(r);
        return status;
    }
    *runner = r;
    return GS_OK;
}

void gs_gdn_runner_destroy(void *runner) {
    struct gs_gdn_runner *r = runner;
    if (!r) return;
    gs_gdn_weights_unbind(&r->weights);
    gs_free(r->arena);
    gs_free(r);
}
