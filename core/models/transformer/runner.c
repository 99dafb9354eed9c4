/* Making a runner: one plan of everything it holds, gone through twice: to count, then to place. */
#include "core/models/transformer/runner.h"

#include "core/base/arena.h"
#include "core/base/memory.h"
#include "core/models/parts/row_blocks.h"

#include <math.h>
#include <omp.h>

/* ---- sizes -------------------------------------------------------------------------------- */

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* Floats a thread needs for a block of rows, or for a head in backward: gathered gradients of o,
 * gradients of q, k, v, log sums and d_o . o, and the kernel's own. */
static size_t work_floats(const struct gs_transformer_runner *r) {
    const struct gs_transformer_config *c = r->config;
    const size_t rows = GS_BLOCK_ROWS;
    size_t blocks = larger(gs_feed_forward_work(c->width, c->ffn, rows), 4 * rows * c->width);
    if (!r->options.train) blocks += 2 * rows * c->ffn;
    size_t heads = gs_attention_work(r->room, r->width) + GS_ATTENTION_QUERIES * (r->width + 1);
    if (r->options.train) heads += r->room * (4 * r->stride + 1);
    return (larger(blocks, heads) + 15) / 16 * 16;
}

/* Sequences of a group: in training all, since their tape is kept; else what makes enough rows. */
static void choose_sizes(struct gs_transformer_runner *r) {
    enum { ROWS = 2048, MOST_LOGITS = 8 * 1024 * 1024, FEW = 48, MANY = 512 };
    const struct gs_attention_kernels *k = gs_attention_kernels();
    const struct gs_runner_options *o = &r->options;
    r->threads = (size_t)omp_get_max_threads();
    r->head = gs_transformer_head(r->config);
    r->width = gs_attention_width(k, r->head);
    r->stride = gs_attention_stride(k, r->head);
    r->room = gs_attention_rows(o->steps);
    r->group = larger(1, ROWS / o->steps);
    if (r->group > o->batch || o->train) r->group = o->batch;
    size_t rows = MOST_LOGITS / r->config->vocab;
    r->output.block_rows = rows < FEW ? FEW : rows > MANY ? MANY : rows;
    r->work_floats = work_floats(r);
}

/* Whether products of the sizes that this file makes fit; larger ones are the arena's to check. */
static bool sizes_fit(const struct gs_runner_options *o) {
    enum { SLACK = 2 * GS_ATTENTION_QUERIES };
    size_t rows;
    return o->steps < SIZE_MAX - SLACK && gs_multiply(o->batch, o->steps + SLACK, &rows) &&
           rows < SIZE_MAX >> 33;
}

/* ---- the plan ----------------------------------------------------------------------------- */

static void plan_tape(struct gs_arena *arena, const struct gs_transformer_runner *r,
                      struct gs_transformer_tape *tape) {
    const struct gs_transformer_config *c = r->config;
    const size_t units = r->group * c->heads, rows = r->group * r->options.steps;
    tape->q = gs_arena_floats(arena, units, r->room, r->stride);
    tape->k = gs_arena_floats(arena, units, r->room, r->stride);
    tape->v = gs_arena_floats(arena, units, r->room, r->stride);
    tape->log_sum = gs_arena_floats(arena, units, r->room, 1);
    tape->mixed = gs_arena_floats(arena, rows, c->width, 1);
    if (!r->options.train) return;
    tape->middle = gs_arena_floats(arena, rows, c->width, 1);
    tape->gate = gs_arena_floats(arena, rows, 2, c->ffn);
}

static void plan_tapes(struct gs_arena *arena, struct gs_transformer_runner *r) {
    const bool each = r->options.train && !r->options.recompute_every;
    const size_t count = each ? r->config->layers : 1;
    r->tapes = gs_arena_take(arena, count, 1, 1, sizeof *r->tapes);
    for (size_t i = 0; i < count; i++) {
        struct gs_transformer_tape counted;
        plan_tape(arena, r, r->tapes ? &r->tapes[i] : &counted);
    }
}

static void plan_back(struct gs_arena *arena, struct gs_transformer_runner *r) {
    const struct gs_transformer_config *c = r->config;
    const size_t rows = r->options.batch * r->options.steps, d = c->width;
    struct gs_transformer_back *back = &r->back;
    back->upper = gs_arena_floats(arena, rows, d, 1);
    back->middle = gs_arena_floats(arena, rows, d, 1);
    back->normal = gs_arena_floats(arena, rows, d, 1);
    back->activation = gs_arena_floats(arena, rows, c->ffn, 1);
    back->d_mixed = gs_arena_floats(arena, rows, d, 1);
    back->d_in = gs_arena_floats(arena, rows, 3, d);
    back->d_norm = gs_arena_floats(arena, 2 * c->layers + 1, gs_row_blocks_most(rows), d);
    r->d_predicting = gs_arena_floats(arena, rows, d, 1);
}

static void plan_weights(struct gs_arena *arena, struct gs_transformer_runner *r) {
    const struct gs_transformer_config *c = r->config;
    const size_t d = c->width;
    const bool train = r->options.train;
    r->weights = gs_arena_take(arena, c->layers, 1, 1, sizeof *r->weights);
    for (size_t i = 0; i < c->layers; i++) {
        struct gs_transformer_weights counted, *w = r->weights ? &r->weights[i] : &counted;
        gs_linear_plan(d, 3 * d, train, arena, &w->in);
        gs_linear_plan(d, d, train, arena, &w->out);
        gs_feed_forward_plan(d, c->ffn, train, arena, &w->feed);
    }
    gs_output_plan(c->vocab, d, train, r->output.block_rows, arena, &r->output);
}

static void plan_all(struct gs_arena *arena, void *runner) {
    struct gs_transformer_runner *r = runner;
    const struct gs_transformer_config *c = r->config;
    const size_t rows = r->options.batch * r->options.steps, d = c->width;
    if (!sizes_fit(&r->options)) {
        arena->wrapped = true;
        return;
    }
    r->cosines = gs_arena_floats(arena, r->options.steps, r->head / 2, 1);
    r->sines = gs_arena_floats(arena, r->options.steps, r->head / 2, 1);
    r->stream = gs_arena_floats(arena, r->options.train ? c->layers + 1 : 2, rows, d);
    r->final = gs_arena_floats(arena, rows, d, 1);
    r->predicting = gs_arena_floats(arena, rows, d, 1);
    r->tokens = gs_arena_take(arena, rows, 1, 1, sizeof *r->tokens);
    r->targets = gs_arena_take(arena, rows, 1, 1, sizeof *r->targets);
    r->losses = gs_arena_floats(arena, rows, 1, 1);
    r->work = gs_arena_floats(arena, r->threads, r->work_floats, 1);
    plan_weights(arena, r);
    plan_tapes(arena, r);
    if (r->options.train) plan_back(arena, r);
}

size_t gs_transformer_runner_bytes(const void *config, const struct gs_runner_options *options) {
    struct gs_transformer_runner r = {.config = config, .options = *options};
    struct gs_arena arena = {0};
    choose_sizes(&r);
    plan_all(&arena, &r);
    return arena.wrapped ? SIZE_MAX : arena.bytes + sizeof r;
}

/* ---- weights ------------------------------------------------------------------------------ */

static enum gs_status bind_weights(struct gs_transformer_runner *r,
                                   const struct gs_parameters *parameters, struct gs_error *error) {
    const bool bf16 = r->options.bf16;
    enum gs_status status = gs_transformer_tensors_find(r->config, parameters, &r->tensors, error);
    for (size_t i = 0; i < r->config->layers && status == GS_OK; i++) {
        const struct gs_transformer_layer *t = &r->tensors.layers[i];
        const struct gs_tensor *const in[] = {t->query, t->key, t->value};
        struct gs_transformer_weights *w = &r->weights[i];
        gs_linear_bind(in, 3, bf16, &w->in);
        gs_linear_bind(&t->out, 1, bf16, &w->out);
        gs_feed_forward_bind(t->ffn_norm, &t->ffn_in, 1, t->ffn_out, bf16, &w->feed);
    }
    if (status == GS_OK) gs_output_bind(r->tensors.embedding, bf16, &r->output);
    return status;
}

void gs_transformer_runner_refresh(void *runner) {
    struct gs_transformer_runner *r = runner;
    for (size_t i = 0; i < r->config->layers; i++) {
        gs_linear_refresh(&r->weights[i].in);
        gs_linear_refresh(&r->weights[i].out);
        gs_feed_forward_refresh(&r->weights[i].feed);
    }
    gs_output_refresh(&r->output);
}

/* ---- create, destroy ---------------------------------------------------------------------- */

/* Pair j of a head turns by t 10000^(-j / (c / 2)) at position t. */
static void find_angles(const struct gs_transformer_runner *r) {
    const size_t half = r->head / 2;
    for (size_t t = 0; t < r->options.steps; t++)
        for (size_t j = 0; j < half; j++) {
            const double angle = (double)t * pow(10000.0, -(double)j / (double)half);
            r->cosines[t * half + j] = (float)cos(angle);
            r->sines[t * half + j] = (float)sin(angle);
        }
}

enum gs_status gs_transformer_runner_create(struct gs_model *model,
                                            const struct gs_runner_options *options, void **runner,
                                            struct gs_error *error) {
    struct gs_transformer_runner *r = gs_calloc(1, sizeof *r);
    if (!r) return gs_fail_memory(error, sizeof *r, "a runner");
    r->config = gs_model_kind_config(model);
    r->options = *options;
    choose_sizes(r);
    enum gs_status status = gs_arena_place(plan_all, r, &r->arena, error);
    if (status == GS_OK) status = bind_weights(r, gs_model_parameters(model), error);
    if (status != GS_OK) {
        gs_transformer_runner_destroy(r);
        return status;
    }
    find_angles(r);
    *runner = r;
    return GS_OK;
}

void gs_transformer_runner_destroy(void *runner) {
    struct gs_transformer_runner *r = runner;
    if (!r) return;
    gs_free(r->tensors.layers);
    gs_free(r->arena);
    gs_free(r);
}

float *gs_transformer_work(const struct gs_transformer_runner *r) {
    return r->work + (size_t)omp_get_thread_num() * r->work_floats;
}
