/* GPN and GPN+M against a plain double implementation (naive_gpn), whose finite differences give
 * every gradient; and the promises of model.h: bits that do not depend on batch or threads, no
 * state that leaks. Needs nothing outside the project. */
#include "tests/core/models/naive_gpn.h"
#include "tests/core/models/seen.h"
#include "tests/support/support.h"

#include "core/base/environment.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/models/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shape {
    const char *name, *kind;
    size_t V, d, e, f, H, dk, dv, L;
    bool bias, bf16;
};

static const struct shape SHAPES[] = {
    {"gpn", "gpn", 13, 9, 5, 7, 0, 0, 0, 1, false, false},
    {"gpn, 3 layers, bias", "gpn", 11, 8, 6, 5, 0, 0, 0, 3, true, false},
    {"gpn_m", "gpn_m", 13, 9, 5, 7, 2, 3, 5, 1, false, false},
    {"gpn_m, 2 layers, bias", "gpn_m", 11, 18, 7, 11, 3, 4, 9, 2, true, false},
    {"gpn_m, 1 of each", "gpn_m", 2, 1, 1, 1, 1, 1, 1, 1, true, false},
    {"gpn_m, bf16", "gpn_m", 13, 9, 5, 7, 2, 3, 5, 1, false, true},
};
enum { SHAPES_COUNT = sizeof SHAPES / sizeof SHAPES[0], SEED = 20261129 };

static void set(struct gs_json *config, const char *key, size_t value) {
    assert_true(gs_json_set(config, key, gs_json_new_integer((int64_t)value)));
}

static struct gs_model *make(const struct shape *s, uint64_t seed) {
    struct gs_json *config = gs_json_new_object();
    struct gs_model *model;
    struct gs_error error = {0};
    set(config, "vocab_size", s->V);
    set(config, "d_state", s->d);
    set(config, "d_emb", s->e);
    set(config, "d_ffn", s->f);
    set(config, "n_layers", s->L);
    if (s->H) {
        set(config, "n_heads", s->H);
        set(config, "d_key", s->dk);
        set(config, "d_val", s->dv);
    }
    assert_true(gs_json_set(config, "use_decoder_bias", gs_json_new_bool(s->bias)));
    gs_assert_ok(gs_model_create(s->kind, config, &model, &error), &error);
    gs_json_destroy(config);

    /* every parameter away from its special initial value, so that no term is silent */
    struct gs_parameters *p = gs_model_parameters(model);
    gs_parameters_initialise(p, seed);
    struct gs_random random;
    gs_random_seed(&random, seed, "test");
    for (size_t i = 0; i < p->tensor_count; i++) {
        struct gs_tensor *t = &p->tensors[i];
        bool decay = strstr(t->name, "A_log") || strstr(t->name, "dt_bias");
        double scale = t->rank > 1 ? 1 / sqrt((double)t->shape[0]) : 0.3;
        for (size_t j = 0; j < t->count && !decay; j++)
            t->values[j] =
                (float)((strstr(t->name, "norm_w") ? 1 : 0) + scale * gs_random_normal(&random));
        for (size_t j = 0; j < t->count && strstr(t->name, "A_log"); j++)
            t->values[j] = (float)gs_random_normal(&random);
    }
    return model;
}

enum { BATCH = 3, STEPS = 7 };

struct setting {
    const struct shape *shape;
    struct gs_model *model;
    struct gs_runner *runner;
    struct gs_state *state, *state_gradient;
    struct gs_parameters *gradients;
    uint32_t tokens[BATCH * STEPS];
    float nll[BATCH * STEPS];
};

static void fill_state(struct gs_state *state, uint64_t seed) {
    struct gs_random random;
    gs_random_seed(&random, seed, "state");
    for (size_t i = 0; i < state->part_count; i++)
        for (size_t j = 0; j < state->batch * state->parts[i].width; j++)
            state->parts[i].values[j] = (float)(0.5 * gs_random_normal(&random));
}

static void open_setting(struct setting *x, const struct shape *shape, size_t recompute) {
    struct gs_error error = {0};
    *x = (struct setting){.shape = shape, .model = make(shape, SEED)};
    struct gs_runner_options options = {.batch = BATCH,
                                        .steps = STEPS,
                                        .train = true,
                                        .bf16 = shape->bf16,
                                        .recompute_every = recompute};
    gs_assert_ok(gs_runner_create(x->model, &options, &x->runner, &error), &error);
    gs_assert_ok(gs_state_create(x->model, BATCH, &x->state, &error), &error);
    gs_assert_ok(gs_state_create(x->model, BATCH, &x->state_gradient, &error), &error);
    gs_assert_ok(gs_parameters_like(gs_model_parameters(x->model), &x->gradients, &error), &error);
    fill_state(x->state, SEED);
    struct gs_random random;
    gs_random_seed(&random, SEED, "tokens");
    for (size_t i = 0; i < BATCH * STEPS; i++)
        x->tokens[i] = (uint32_t)gs_random_below(&random, shape->V);
}

static void close_setting(struct setting *x) {
    gs_parameters_destroy(x->gradients);
    gs_state_destroy(x->state);
    gs_state_destroy(x->state_gradient);
    gs_runner_destroy(x->runner);
    gs_model_destroy(x->model);
}

/* ---- the naive model beside it ------------------------------------------------------------- */

struct naive {
    struct naive_gpn model;
    double *values;
    double *state[3]; /* s, s_prev, M of all sequences */
    size_t width[3];
};

static void open_naive(struct naive *n, const struct setting *x) {
    const struct shape *s = x->shape;
    const struct gs_parameters *p = gs_model_parameters(x->model);
    n->values = calloc(p->count, sizeof(double));
    size_t at = 0;
    for (size_t i = 0; i < p->tensor_count; i++)
        for (size_t j = 0; j < p->tensors[i].count; j++)
            n->values[at++] = (double)p->tensors[i].values[j];
    n->model =
        (struct naive_gpn){s->V, s->d, s->e, s->f, s->H, s->dk, s->dv, s->L, s->bf16, p, n->values};
    const char *const names[] = {"s", "s_prev", "M"};
    const size_t widths[] = {s->d, s->d, s->H * s->dk * s->dv};
    for (size_t i = 0; i < 3; i++) {
        n->width[i] = widths[i];
        n->state[i] = calloc(BATCH * widths[i] + 1, sizeof(double));
        const struct gs_state_part *part = gs_state_find(x->state, names[i]);
        for (size_t j = 0; part && j < BATCH * widths[i]; j++)
            n->state[i][j] = (double)part->values[j];
    }
}

static void close_naive(struct naive *n) {
    free(n->values);
    for (size_t i = 0; i < 3; i++) free(n->state[i]);
}

/* Sum of nll of sequence b; the naive's own state is left alone. */
static double naive_sequence(const struct naive *n, const uint32_t *tokens, size_t b,
                             const struct naive_out *out) {
    double *state[3];
    for (size_t i = 0; i < 3; i++) {
        state[i] = calloc(n->width[i] + 1, sizeof(double));
        memcpy(state[i], n->state[i] + b * n->width[i], n->width[i] * sizeof(double));
    }
    double total =
        naive_gpn_run(&n->model, tokens + b * STEPS, STEPS, state[0], state[1], state[2], out);
    for (size_t i = 0; i < 3; i++) free(state[i]);
    return total;
}

static double naive_total(const struct naive *n, const uint32_t *tokens) {
    const struct naive_out nothing = {0};
    double total = 0;
    for (size_t b = 0; b < BATCH; b++) total += naive_sequence(n, tokens, b, &nothing);
    return total;
}

/* d total / d *at */
static double difference(const struct naive *n, const uint32_t *tokens, double *at) {
    const double step = 1e-6, kept = *at;
    *at = kept + step;
    double up = naive_total(n, tokens);
    *at = kept - step;
    double down = naive_total(n, tokens);
    *at = kept;
    return (up - down) / (2 * step);
}

static void compare(const char *what, const struct shape *s, const float *ours, const double *naive,
                    size_t count, double tolerance) {
    char name[128];
    float *expected = calloc(count + 1, sizeof(float));
    for (size_t i = 0; i < count; i++) expected[i] = (float)naive[i];
    snprintf(name, sizeof name, "%s: %s", s->name, what);
    gs_assert_close(name, ours, expected, count, tolerance);
    free(expected);
}

static void forward_is_the_naive_one(void **unused) {
    (void)unused;
    for (size_t i = 0; i < SHAPES_COUNT; i++) {
        const struct shape *s = &SHAPES[i];
        struct setting x;
        struct naive n;
        struct seen seen;
        struct gs_error error = {0};
        open_setting(&x, s, 0);
        open_naive(&n, &x);
        seen_open(&seen, x.model, BATCH, STEPS);
        gs_assert_ok(
            gs_runner_forward(x.runner, x.state, x.tokens, NULL, STEPS, &seen.tap, x.nll, &error),
            &error);
        for (size_t b = 0; b < BATCH; b++) {
            double p[STEPS * 32], g[STEPS * 32], nll[STEPS], gate[3][STEPS * 8];
            const struct naive_out out = {p, g, nll, gate[0], gate[1], gate[2]};
            naive_sequence(&n, x.tokens, b, &out);
            compare("nll", s, x.nll + b * STEPS, nll, STEPS, 5e-6);
            compare("predicted", s, seen.values[0] + b * STEPS * s->d, p, STEPS * s->d, 5e-6);
            compare("grounded", s, seen.values[1] + b * STEPS * s->d, g, STEPS * s->d, 5e-6);
            for (size_t c = 0; c < 3 && s->H; c++)
                compare("gates", s, seen.values[2 + c] + b * STEPS * s->H, gate[c], STEPS * s->H,
                        5e-6);
        }
        seen_close(&seen);
        close_naive(&n);
        close_setting(&x);
    }
}

/* Relative to the tensor's largest gradient, but not to one that is all rounding (a norm weight of
 * width 1 has none): then to a hundredth of the largest of all. */
static void compare_gradient(const struct setting *x, const char *name, const float *ours,
                             const double *expected, size_t count, double largest) {
    double own = 0;
    for (size_t j = 0; j < count; j++) own = fmax(own, fabs(expected[j]));
    for (size_t j = 0; j < count; j++) {
        char what[160];
        snprintf(what, sizeof what, "%s: d %s[%zu]", x->shape->name, name, j);
        gs_assert_near(what, (double)ours[j], expected[j], 2e-4 * fmax(own, 0.01 * largest), 0);
    }
}

/* The gradients of one setting by finite differences: parameters, then s, s_prev and M. */
struct expected {
    double *parameters, *state[3], largest;
};

static struct expected differences(const struct setting *x, struct naive *n) {
    const struct gs_parameters *p = gs_model_parameters(x->model);
    struct expected e = {.parameters = calloc(p->count, sizeof(double))};
    for (size_t j = 0; j < p->count; j++) {
        e.parameters[j] = difference(n, x->tokens, n->values + j);
        e.largest = fmax(e.largest, fabs(e.parameters[j]));
    }
    for (size_t i = 0; i < 3; i++) {
        e.state[i] = calloc(BATCH * n->width[i] + 1, sizeof(double));
        for (size_t j = 0; j < BATCH * n->width[i]; j++)
            e.state[i][j] = difference(n, x->tokens, n->state[i] + j);
    }
    return e;
}

/* The real model's backward, which must have summed and scaled the same. */
static void check_gradients(struct setting *x, const struct expected *e) {
    static const char *const names[] = {"s", "s_prev", "M"};
    const struct gs_parameters *p = gs_model_parameters(x->model);
    const float scale = 0.5f; /* a power of two: dividing by it again is exact */
    struct gs_error error = {0};
    gs_assert_ok(
        gs_runner_forward(x->runner, x->state, x->tokens, NULL, STEPS, NULL, x->nll, &error),
        &error);
    gs_assert_ok(gs_runner_backward(x->runner, scale, x->gradients, x->state_gradient, &error),
                 &error);
    for (size_t j = 0; j < x->gradients->stride; j++) x->gradients->values[j] /= scale;
    for (size_t i = 0, at = 0; i < p->tensor_count; at += p->tensors[i++].count)
        compare_gradient(x, p->tensors[i].name, x->gradients->tensors[i].values, e->parameters + at,
                         p->tensors[i].count, e->largest);
    for (size_t i = 0; i < 3; i++) {
        struct gs_state_part *part = gs_state_find(x->state_gradient, names[i]);
        if (!part) continue;
        for (size_t j = 0; j < BATCH * part->width; j++) part->values[j] /= scale;
        compare_gradient(x, names[i], part->values, e->state[i], BATCH * part->width, e->largest);
    }
}

static void gradients_are_finite_differences(void **unused) {
    (void)unused;
    const size_t recompute[] = {0, 3, 1};
    for (size_t i = 0; i < SHAPES_COUNT; i++) {
        struct expected e = {0};
        if (SHAPES[i].bf16) continue; /* rounding has no derivative to difference */
        for (size_t k = 0; k < 3; k++) {
            struct setting x;
            open_setting(&x, &SHAPES[i], recompute[k]);
            if (k == 0) {
                struct naive n;
                open_naive(&n, &x);
                e = differences(&x, &n);
                close_naive(&n);
            }
            check_gradients(&x, &e);
            close_setting(&x);
        }
        free(e.parameters);
        for (size_t j = 0; j < 3; j++) free(e.state[j]);
    }
}

static void decoding_a_predicted_state_gives_its_loss(void **unused) {
    (void)unused;
    for (size_t i = 0; i < SHAPES_COUNT; i++) {
        const struct shape *s = &SHAPES[i];
        struct setting x;
        struct seen seen;
        struct gs_error error = {0};
        open_setting(&x, s, 0);
        seen_open(&seen, x.model, BATCH, STEPS);
        gs_assert_ok(
            gs_runner_forward(x.runner, x.state, x.tokens, NULL, STEPS, &seen.tap, x.nll, &error),
            &error);
        float *logits = calloc(BATCH * STEPS * s->V, sizeof(float));
        gs_assert_ok(gs_runner_decode(x.runner, gs_model_decodable_channel(x.model),
                                      seen.values[gs_model_decodable_channel(x.model)],
                                      BATCH * STEPS, logits, &error),
                     &error);
        for (size_t r = 0; r < BATCH * STEPS; r++) {
            double sum = 0, top = -INFINITY;
            for (size_t v = 0; v < s->V; v++) top = fmax(top, (double)logits[r * s->V + v]);
            for (size_t v = 0; v < s->V; v++) sum += exp((double)logits[r * s->V + v] - top);
            double nll = log(sum) + top - (double)logits[r * s->V + x.tokens[r]];
            gs_assert_near(s->name, nll, (double)x.nll[r], 2e-6, 2e-6);
        }
        free(logits);
        seen_close(&seen);
        close_setting(&x);
    }
}

/* ---- bits ------------------------------------------------------------------------------------ */

enum { MANY = 23, LONG = 45 };

/* A model large enough to have odd tails in every kernel, and its run on `batch` of the sequences
 * from `first` on. */
static const struct shape WIDE = {"gpn_m, wide", "gpn_m", 37, 45, 19, 53, 3, 11, 21, 2,
                                  true,          false};
static const struct shape PLAIN = {"gpn, wide", "gpn", 37, 45, 19, 53, 0, 0, 0, 2, false, false};

struct run {
    struct seen seen;
    float *nll;
    struct gs_state *state;
};

static void run(struct run *out, struct gs_model *model, const uint32_t *tokens, size_t first,
                size_t batch, bool train) {
    struct gs_error error = {0};
    struct gs_runner *runner;
    struct gs_runner_options options = {.batch = batch, .steps = LONG, .train = train};
    gs_assert_ok(gs_runner_create(model, &options, &runner, &error), &error);
    gs_assert_ok(gs_state_create(model, batch, &out->state, &error), &error);
    seen_open(&out->seen, model, batch, LONG);
    out->nll = gs_calloc(batch * LONG, sizeof(float));
    gs_assert_ok(gs_runner_forward(runner, out->state, tokens + first * LONG, NULL, LONG,
                                   &out->seen.tap, out->nll, &error),
                 &error);
    gs_runner_destroy(runner);
}

static void close_run(struct run *out) {
    seen_close(&out->seen);
    gs_free(out->nll);
    gs_state_destroy(out->state);
}

/* Sequence `a` of one run is bit for bit sequence `b` of another. */
static void same_bits(const struct run *one, size_t a, const struct run *two, size_t b,
                      size_t channels) {
    for (size_t i = 0; i < channels; i++) {
        size_t size = LONG * one->seen.channels[i].width;
        assert_memory_equal(one->seen.values[i] + a * size, two->seen.values[i] + b * size,
                            size * sizeof(float));
    }
    assert_memory_equal(one->nll + a * LONG, two->nll + b * LONG, LONG * sizeof(float));
    for (size_t i = 0; i < one->state->part_count; i++) {
        size_t width = one->state->parts[i].width;
        assert_memory_equal(one->state->parts[i].values + a * width,
                            two->state->parts[i].values + b * width, width * sizeof(float));
    }
}

static void random_tokens(uint32_t *tokens, size_t count, size_t vocab) {
    struct gs_random random;
    gs_random_seed(&random, SEED, "long");
    for (size_t i = 0; i < count; i++) tokens[i] = (uint32_t)gs_random_below(&random, vocab);
}

static void bits_do_not_depend_on_batch_or_threads(void **unused) {
    (void)unused;
    const struct shape *const shapes[] = {&WIDE, &PLAIN};
    for (size_t s = 0; s < 2; s++) {
        struct gs_model *model = make(shapes[s], SEED);
        size_t channels;
        static uint32_t tokens[MANY * LONG];
        gs_model_channels(model, &channels);
        random_tokens(tokens, MANY * LONG, shapes[s]->V);
        struct run all;
        gs_threads_set(2);
        run(&all, model, tokens, 0, MANY, false);
        for (int threads = 1; threads <= 3; threads++) {
            gs_threads_set(threads);
            for (size_t batch = 1; batch <= MANY; batch += batch < 7 ? 1 : 5) {
                struct run some;
                size_t first = (MANY - batch) / 2;
                run(&some, model, tokens, first, batch, batch % 2 == 0);
                for (size_t b = 0; b < batch; b++) same_bits(&some, b, &all, first + b, channels);
                close_run(&some);
            }
        }
        close_run(&all);
        gs_model_destroy(model);
    }
    gs_threads_set(0);
}

/* The gradients of a window, of the WIDE model. */
static struct gs_parameters *gradients_of(struct gs_model *model, const uint32_t *tokens,
                                          size_t batch, int threads, size_t recompute) {
    static float nll[MANY * LONG];
    struct gs_error error = {0};
    struct gs_runner *runner;
    struct gs_state *state;
    struct gs_parameters *gradients;
    struct gs_runner_options options = {
        .batch = batch, .steps = LONG, .train = true, .recompute_every = recompute};
    gs_threads_set(threads);
    gs_assert_ok(gs_runner_create(model, &options, &runner, &error), &error);
    gs_assert_ok(gs_state_create(model, batch, &state, &error), &error);
    gs_assert_ok(gs_parameters_like(gs_model_parameters(model), &gradients, &error), &error);
    gs_assert_ok(gs_runner_forward(runner, state, tokens, NULL, LONG, NULL, nll, &error), &error);
    gs_assert_ok(gs_runner_backward(runner, 1e-3f, gradients, NULL, &error), &error);
    gs_state_destroy(state);
    gs_runner_destroy(runner);
    return gradients;
}

/* On 1, 2 and 3 threads, recomputed or not: the same bits. At 4 sequences threads share columns, at
 * 23 rows. */
static void gradient_bits_do_not_depend_on_threads_or_recomputing(void **unused) {
    (void)unused;
    struct gs_model *model = make(&WIDE, SEED);
    static uint32_t tokens[MANY * LONG];
    random_tokens(tokens, MANY * LONG, WIDE.V);
    const size_t batches[] = {4, MANY}, recompute[] = {0, 1, 20, 32, 44};
    for (size_t i = 0; i < 2; i++) {
        struct gs_parameters *first = gradients_of(model, tokens, batches[i], 1, 0);
        for (size_t k = 0; k < 5; k++)
            for (int threads = 1; threads <= 3; threads++) {
                struct gs_parameters *again =
                    gradients_of(model, tokens, batches[i], threads, recompute[k]);
                assert_memory_equal(again->values, first->values, first->stride * sizeof(float));
                gs_parameters_destroy(again);
            }
        gs_parameters_destroy(first);
    }
    gs_threads_set(0);
    gs_model_destroy(model);
}

/* A window in two pieces with the state carried on is the window in one. */
static void a_window_may_be_cut(void **unused) {
    (void)unused;
    struct gs_model *model = make(&WIDE, SEED);
    struct gs_error error = {0};
    static uint32_t tokens[MANY * LONG], head[2 * LONG], tail[2 * LONG];
    static float nll[2 * LONG];
    random_tokens(tokens, MANY * LONG, WIDE.V);
    struct run whole;
    run(&whole, model, tokens, 0, 2, false);
    for (size_t cut = 1; cut < LONG; cut += 13) {
        struct gs_runner *runner;
        struct gs_state *state;
        struct gs_runner_options options = {.batch = 2, .steps = LONG};
        for (size_t b = 0; b < 2; b++) {
            memcpy(head + b * cut, tokens + b * LONG, cut * sizeof *head);
            memcpy(tail + b * (LONG - cut), tokens + b * LONG + cut, (LONG - cut) * sizeof *tail);
        }
        gs_assert_ok(gs_runner_create(model, &options, &runner, &error), &error);
        gs_assert_ok(gs_state_create(model, 2, &state, &error), &error);
        gs_assert_ok(gs_runner_forward(runner, state, head, NULL, cut, NULL, nll, &error), &error);
        gs_assert_ok(gs_runner_forward(runner, state, tail, NULL, LONG - cut, NULL, nll, &error),
                     &error);
        for (size_t b = 0; b < 2; b++)
            assert_memory_equal(nll + b * (LONG - cut), whole.nll + b * LONG + cut,
                                (LONG - cut) * sizeof(float));
        for (size_t i = 0; i < state->part_count; i++)
            assert_memory_equal(state->parts[i].values, whole.state->parts[i].values,
                                2 * state->parts[i].width * sizeof(float));
        gs_state_destroy(state);
        gs_runner_destroy(runner);
    }
    close_run(&whole);
    gs_model_destroy(model);
}

/* Shorter sequences in a batch: what stands behind their length touches nothing. */
static void lengths_do_not_leak(void **unused) {
    (void)unused;
    struct gs_model *model = make(&WIDE, SEED);
    struct gs_error error = {0};
    static uint32_t tokens[MANY * LONG];
    static float nll[MANY * LONG];
    random_tokens(tokens, MANY * LONG, WIDE.V);
    struct run whole;
    run(&whole, model, tokens, 0, MANY, false);
    size_t lengths[MANY];
    for (size_t b = 0; b < MANY; b++) {
        lengths[b] = (b * 7) % (LONG + 1);
        for (size_t t = lengths[b]; t < LONG; t++) tokens[b * LONG + t] = UINT32_MAX;
    }
    struct gs_runner *runner;
    struct gs_state *state;
    struct gs_runner_options options = {.batch = MANY, .steps = LONG};
    gs_assert_ok(gs_runner_create(model, &options, &runner, &error), &error);
    gs_assert_ok(gs_state_create(model, MANY, &state, &error), &error);
    gs_assert_ok(gs_runner_forward(runner, state, tokens, lengths, LONG, NULL, nll, &error),
                 &error);
    for (size_t b = 0; b < MANY; b++) {
        assert_memory_equal(nll + b * LONG, whole.nll + b * LONG, lengths[b] * sizeof(float));
        for (size_t t = lengths[b]; t < LONG; t++) assert_true(isnan(nll[b * LONG + t]));
    }
    gs_state_destroy(state);
    gs_runner_destroy(runner);
    close_run(&whole);
    gs_model_destroy(model);
}

/* ---- misuse ---------------------------------------------------------------------------------- */

static enum gs_status create(const char *kind, const char *json, struct gs_error *error) {
    struct gs_json *config;
    struct gs_model *model;
    gs_assert_ok(gs_json_parse(json, strlen(json), "test", &config, error), error);
    enum gs_status status = gs_model_create(kind, config, &model, error);
    gs_model_destroy(model);
    gs_json_destroy(config);
    return status;
}

static void wrong_configs_are_named(void **unused) {
    (void)unused;
    struct gs_error error = {0};
#define GOOD "\"vocab_size\": 9, \"d_state\": 4, \"d_emb\": 3"
    gs_assert_ok(create("sot", "{" GOOD ", \"d_ffn\": 5}", &error), &error);
    gs_assert_error(create("lstm", "{" GOOD "}", &error), GS_CONFIG, &error, "lstm", "gpn_m");
    gs_assert_error(create("gpn", "{" GOOD "}", &error), GS_CONFIG, &error, "d_ffn", "missing");
    gs_assert_error(create("gpn", "{" GOOD ", \"d_fnn\": 5}", &error), GS_CONFIG, &error, "d_fnn",
                    "d_ffn");
    gs_assert_error(create("gpn", "{" GOOD ", \"d_ffn\": 0}", &error), GS_CONFIG, &error, "d_ffn",
                    "found 0");
    gs_assert_error(create("gpn", "{" GOOD ", \"d_ffn\": \"5\"}", &error), GS_CONFIG, &error,
                    "d_ffn", "string");
    gs_assert_error(create("gpn", "{" GOOD ", \"d_ffn\": 5.5}", &error), GS_CONFIG, &error,
                    "d_ffn");
    gs_assert_error(create("gpn", "[]", &error), GS_CONFIG, &error, "model");
    gs_assert_error(create("gpn_m", "{" GOOD ", \"d_ffn\": 5}", &error), GS_CONFIG, &error,
                    "n_heads");
}

static void sizes_beyond_memory_are_refused(void **unused) {
    (void)unused;
    struct gs_error error = {0};
    gs_assert_error(create("gpn",
                           "{\"vocab_size\": 2147483647, \"d_state\": 2147483647, \"d_emb\": "
                           "2147483647, \"d_ffn\": 2147483647}",
                           &error),
                    GS_NO_MEMORY, &error, "memory");
}

static void a_run_refuses_what_does_not_fit(void **unused) {
    (void)unused;
    struct setting x;
    struct gs_error error = {0};
    open_setting(&x, &SHAPES[2], 0);
    gs_assert_error(gs_runner_backward(x.runner, 1, x.gradients, NULL, &error), GS_USAGE, &error,
                    "forward");
    x.tokens[STEPS + 2] = 13;
    gs_assert_error(
        gs_runner_forward(x.runner, x.state, x.tokens, NULL, STEPS, NULL, x.nll, &error), GS_RANGE,
        &error, "below 13", "13 at position 2 of sequence 1");
    gs_assert_error(
        gs_runner_forward(x.runner, x.state, x.tokens, NULL, STEPS + 1, NULL, x.nll, &error),
        GS_SHAPE, &error, "7");
    close_setting(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_is_the_naive_one),
        cmocka_unit_test(gradients_are_finite_differences),
        cmocka_unit_test(decoding_a_predicted_state_gives_its_loss),
        cmocka_unit_test(bits_do_not_depend_on_batch_or_threads),
        cmocka_unit_test(gradient_bits_do_not_depend_on_threads_or_recomputing),
        cmocka_unit_test(a_window_may_be_cut),
        cmocka_unit_test(lengths_do_not_leak),
        cmocka_unit_test(wrong_configs_are_named),
        cmocka_unit_test(sizes_beyond_memory_are_refused),
        cmocka_unit_test(a_run_refuses_what_does_not_fit),
    };
    print_message("seed %d\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
