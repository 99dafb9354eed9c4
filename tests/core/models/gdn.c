/* The kind gdn against a plain double implementation step by step (naive_gdn), whose finite
 * differences give every gradient, the state's too; and the promises of model.h: bits that do not
 * depend on batch, threads or recomputing, windows that go on where the last one ended, nothing
 * that leaks. Needs nothing outside the project. */
#include "tests/core/models/naive_gdn.h"
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
    const char *name;
    size_t V, d, L, H, dk, dv, f;
    bool bf16;
};

static const struct shape SHAPES[] = {
    {"2 layers, 2 heads", 7, 6, 2, 2, 3, 5, 5, false},
    {"1 layer, 1 head", 5, 5, 1, 1, 4, 8, 3, false},
    {"1 of each", 2, 1, 1, 1, 1, 1, 1, false},
    {"bf16", 7, 6, 2, 2, 3, 5, 5, true},
};
enum { SHAPES_COUNT = sizeof SHAPES / sizeof SHAPES[0], SEED = 20261130, BATCH = 2, STEPS = 6 };

static struct gs_json *config_of(const struct shape *s) {
    static const char *const keys[] = {"vocab_size", "hidden_dim", "n_layers",
                                       "n_heads",    "head_dim",   "ffn_dim"};
    const size_t values[] = {s->V, s->d, s->L, s->H, s->dk, s->f};
    struct gs_json *config = gs_json_new_object();
    for (size_t i = 0; i < 6; i++)
        assert_true(gs_json_set(config, keys[i], gs_json_new_integer((int64_t)values[i])));
    const double expand = (double)s->dv / (double)s->dk;
    assert_true(gs_json_set(config, "expand_v", gs_json_new_number(expand)));
    return config;
}

static struct gs_model *make(const struct shape *s) {
    struct gs_json *config = config_of(s);
    struct gs_model *model;
    struct gs_error error = {0};
    gs_assert_ok(gs_model_create("gdn", config, &model, &error), &error);
    gs_json_destroy(config);
    /* every parameter large enough, so that no term is silent */
    struct gs_parameters *p = gs_model_parameters(model);
    struct gs_random random;
    gs_random_seed(&random, SEED, "test");
    for (size_t i = 0; i < p->tensor_count; i++) {
        struct gs_tensor *t = &p->tensors[i];
        const bool gate = strstr(t->name, "A_log") || strstr(t->name, "dt_bias");
        const double scale = t->rank == 2   ? 1 / sqrt((double)t->shape[1])
                             : t->rank == 3 ? 0.5
                                            : 0.3;
        for (size_t j = 0; j < t->count; j++)
            t->values[j] =
                (float)((t->rank == 1 && !gate) + scale * gs_random_normal(&random) - gate * 0.5);
    }
    return model;
}

static void random_tokens(uint32_t *tokens, size_t count, size_t vocab) {
    struct gs_random random;
    gs_random_seed(&random, SEED, "tokens");
    for (size_t i = 0; i < count; i++) tokens[i] = (uint32_t)gs_random_below(&random, vocab);
}

static void fill_state(struct gs_state *state) {
    struct gs_random random;
    gs_random_seed(&random, SEED, "state");
    for (size_t i = 0; i < state->part_count; i++)
        for (size_t j = 0; j < state->batch * state->parts[i].width; j++)
            state->parts[i].values[j] = (float)(0.5 * gs_random_normal(&random));
}

/* ---- against the naive one ----------------------------------------------------------------- */

/* The naive model with its parameters, and the state of all sequences. */
struct naive {
    struct naive_gdn model;
    double *values, *S, *past; /* (BATCH, …) */
    size_t S_width, past_width;
};

static void naive_open(struct naive *n, const struct shape *s, const struct gs_model *model,
                       const struct gs_state *state) {
    const struct gs_parameters *p = gs_model_parameters(model);
    n->values = calloc(p->count, sizeof *n->values);
    for (size_t i = 0, at = 0; i < p->tensor_count; i++)
        for (size_t j = 0; j < p->tensors[i].count; j++)
            n->values[at++] = (double)p->tensors[i].values[j];
    n->model =
        (struct naive_gdn){s->V, s->d, s->L, s->H, s->dk, s->dv, s->f, s->bf16, p, n->values};
    n->S_width = s->L * s->H * s->dk * s->dv;
    n->past_width = s->L * 3 * s->H * (2 * s->dk + s->dv);
    n->S = calloc(BATCH * n->S_width, sizeof *n->S);
    n->past = calloc(BATCH * n->past_width, sizeof *n->past);
    for (size_t i = 0; i < BATCH * n->S_width; i++) n->S[i] = (double)state->parts[0].values[i];
    for (size_t i = 0; i < BATCH * n->past_width; i++)
        n->past[i] = (double)state->parts[1].values[i];
}

static void naive_close(struct naive *n) {
    free(n->values), free(n->S), free(n->past);
}

static void compare(const char *what, const struct shape *s, const float *ours,
                    const double *expected, size_t count, double tolerance) {
    char name[128];
    float *rounded = calloc(count + 1, sizeof *rounded);
    for (size_t i = 0; i < count; i++) rounded[i] = (float)expected[i];
    snprintf(name, sizeof name, "%s: %s", s->name, what);
    gs_assert_close(name, ours, rounded, count, tolerance);
    free(rounded);
}

static void compare_sequence(const struct shape *s, const struct seen *seen, size_t b, size_t steps,
                             const struct naive_gdn_seen *naive) {
    const size_t d = s->d, H = s->H;
    for (size_t i = 0; i <= s->L; i++)
        compare(seen->channels[i].name, s, seen->values[i] + b * steps * d,
                naive->streams + i * steps * d, steps * d, 1e-5);
    for (size_t i = 0; i < s->L; i++) {
        const double *const gates[] = {naive->log_decay, naive->strength, naive->norm};
        for (size_t k = 0; k < 3; k++) {
            const size_t channel = s->L + 1 + 3 * i + k;
            assert_string_equal(seen->channels[channel].rule, "gated_delta");
            compare(seen_name(&seen->channels[channel]), s, seen->values[channel] + b * steps * H,
                    gates[k] + i * steps * H, steps * H, 1e-5);
        }
    }
}

/* From a state that is not zero, over a window of any number of chunks. */
static void check_forward(const struct shape *s, size_t steps, bool train) {
    struct gs_error error = {0};
    struct gs_model *model = make(s);
    struct gs_runner_options options = {
        .batch = BATCH, .steps = steps, .train = train, .bf16 = s->bf16};
    struct gs_runner *runner;
    struct gs_state *state;
    struct seen seen;
    struct naive naive;
    uint32_t *tokens = calloc(BATCH * steps, sizeof *tokens);
    float *nll = calloc(BATCH * steps, sizeof *nll);
    const size_t gates = s->L * steps * s->H;
    const struct naive_gdn_seen theirs = {
        calloc((s->L + 1) * steps * s->d, sizeof(double)), calloc(gates, sizeof(double)),
        calloc(gates, sizeof(double)), calloc(gates, sizeof(double)),
        calloc(steps, sizeof(double))};
    random_tokens(tokens, BATCH * steps, s->V);
    gs_assert_ok(gs_runner_create(model, &options, &runner, &error), &error);
    gs_assert_ok(gs_state_create(model, BATCH, &state, &error), &error);
    fill_state(state);
    naive_open(&naive, s, model, state);
    seen_open(&seen, model, BATCH, steps);
    gs_assert_ok(gs_runner_forward(runner, state, tokens, NULL, steps, &seen.tap, nll, &error),
                 &error);
    for (size_t b = 0; b < BATCH; b++) {
        naive_gdn_run(&naive.model, tokens + b * steps, steps, naive.S + b * naive.S_width,
                      naive.past + b * naive.past_width, &theirs);
        compare_sequence(s, &seen, b, steps, &theirs);
        assert_true(isnan(nll[b * steps]));
        compare("nll", s, nll + b * steps + 1, theirs.nll + 1, steps - 1, 1e-5);
    }
    compare("S", s, state->parts[0].values, naive.S, BATCH * naive.S_width, 1e-5);
    compare("past", s, state->parts[1].values, naive.past, BATCH * naive.past_width, 1e-5);
    seen_close(&seen);
    naive_close(&naive);
    gs_state_destroy(state);
    gs_runner_destroy(runner);
    gs_model_destroy(model);
    free(theirs.streams), free(theirs.log_decay), free(theirs.strength), free(theirs.norm);
    free(theirs.nll), free(tokens), free(nll);
}

static void forward_is_the_naive_one(void **unused) {
    (void)unused;
    static const size_t steps[] = {1, 2, 3, STEPS, 32, 71};
    for (size_t i = 0; i < SHAPES_COUNT; i++)
        for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++)
            check_forward(&SHAPES[i], steps[k], k % 2);
}

static double naive_total(const struct naive *n, const uint32_t *tokens, size_t steps) {
    const struct naive_gdn_seen nothing = {0};
    double total = 0, *S = calloc(n->S_width, sizeof *S),
           *past = calloc(n->past_width, sizeof *past);
    for (size_t b = 0; b < BATCH; b++) {
        memcpy(S, n->S + b * n->S_width, n->S_width * sizeof *S);
        memcpy(past, n->past + b * n->past_width, n->past_width * sizeof *past);
        total += naive_gdn_run(&n->model, tokens + b * steps, steps, S, past, &nothing);
    }
    free(S), free(past);
    return total;
}

/* d total / d x[i] for all i. */
static double *differences(const struct naive *n, const uint32_t *tokens, size_t steps, double *x,
                           size_t count) {
    const double step = 1e-5;
    double *gradient = calloc(count + 1, sizeof *gradient);
    for (size_t i = 0; i < count; i++) {
        const double kept = x[i];
        x[i] = kept + step;
        const double up = naive_total(n, tokens, steps);
        x[i] = kept - step;
        gradient[i] = (up - naive_total(n, tokens, steps)) / (2 * step);
        x[i] = kept;
    }
    return gradient;
}

struct gradients {
    struct gs_parameters *parameters;
    struct gs_state *state;
};

/* Of a window from a filled state. */
static struct gradients gradients_of(struct gs_model *model, const uint32_t *tokens, size_t batch,
                                     size_t steps, float scale,
                                     const struct gs_runner_options *more, bool watched) {
    struct gs_error error = {0};
    struct gs_runner *runner;
    struct gs_state *state;
    struct gradients made;
    struct seen seen;
    struct gs_runner_options options = *more;
    options.batch = batch;
    options.steps = steps;
    options.train = true;
    float *nll = calloc(batch * steps, sizeof *nll);
    gs_assert_ok(gs_runner_create(model, &options, &runner, &error), &error);
    gs_assert_ok(gs_state_create(model, batch, &state, &error), &error);
    gs_assert_ok(gs_state_create(model, batch, &made.state, &error), &error);
    gs_assert_ok(gs_parameters_like(gs_model_parameters(model), &made.parameters, &error), &error);
    for (int i = 0; i < 2; i++) { /* what the first one leaves touches nothing */
        fill_state(state);
        fill_state(made.state); /* overwritten */
        seen_open(&seen, model, batch, steps);
        gs_assert_ok(gs_runner_forward(runner, state, tokens, NULL, steps,
                                       watched ? &seen.tap : NULL, nll, &error),
                     &error);
        seen_close(&seen);
    }
    gs_assert_ok(gs_runner_backward(runner, scale, made.parameters, made.state, &error), &error);
    gs_state_destroy(state);
    gs_runner_destroy(runner);
    free(nll);
    return made;
}

static void gradients_close(struct gradients *g) {
    gs_parameters_destroy(g->parameters);
    gs_state_destroy(g->state);
}

static void check_near(const struct shape *s, const char *what, const float *ours, float scale,
                       const double *expected, size_t count, double largest) {
    for (size_t j = 0; j < count; j++) {
        char name[160];
        snprintf(name, sizeof name, "%s: d %s[%zu]", s->name, what, j);
        gs_assert_near(name, (double)(ours[j] / scale), expected[j], 2e-5 * largest, 2e-4);
    }
}

static void check_gradients(const struct shape *s, size_t steps) {
    const float scale = 0.5f; /* a power of two: dividing by it again is exact */
    struct gs_error error = {0};
    struct gs_model *model = make(s);
    struct gs_state *state;
    struct naive naive;
    uint32_t *tokens = calloc(BATCH * steps, sizeof *tokens);
    random_tokens(tokens, BATCH * steps, s->V);
    gs_assert_ok(gs_state_create(model, BATCH, &state, &error), &error);
    fill_state(state);
    naive_open(&naive, s, model, state);
    const size_t count = gs_model_parameters(model)->count;
    double *expected = differences(&naive, tokens, steps, naive.values, count), largest = 0.1;
    double *dS = differences(&naive, tokens, steps, naive.S, BATCH * naive.S_width);
    double *dpast = differences(&naive, tokens, steps, naive.past, BATCH * naive.past_width);
    for (size_t j = 0; j < count; j++) largest = fmax(largest, fabs(expected[j]));
    for (size_t k = 0; k < 4; k++) {
        const struct gs_runner_options more = {.recompute_every = k % 2, .last_is_target = k > 1};
        struct gradients ours = gradients_of(model, tokens, BATCH, steps, scale, &more, k == 1);
        const struct gs_parameters *p = ours.parameters;
        for (size_t t = 0, at = 0; t < p->tensor_count; at += p->tensors[t++].count)
            check_near(s, p->tensors[t].name, p->tensors[t].values, scale, expected + at,
                       p->tensors[t].count, largest);
        check_near(s, "S", ours.state->parts[0].values, scale, dS, BATCH * naive.S_width, largest);
        check_near(s, "past", ours.state->parts[1].values, scale, dpast, BATCH * naive.past_width,
                   largest);
        gradients_close(&ours);
    }
    naive_close(&naive);
    gs_state_destroy(state);
    gs_model_destroy(model);
    free(expected), free(dS), free(dpast), free(tokens);
}

static void gradients_are_finite_differences(void **unused) {
    (void)unused;
    for (size_t i = 0; i < SHAPES_COUNT; i++) {
        if (SHAPES[i].bf16) continue; /* rounding has no derivative to difference */
        check_gradients(&SHAPES[i], STEPS);
    }
    for (size_t steps = 1; steps < 4; steps++) check_gradients(&SHAPES[1], steps);
    check_gradients(&SHAPES[2], 70); /* three chunks */
}

/* ---- windows ------------------------------------------------------------------------------- */

enum { MANY = 7, LONG = 75 };
static const struct shape WIDE = {"wide", 37, 36, 2, 3, 10, 20, 53, false};

/* The state after one window begins the next: the same, within rounding, as one window; the same
 * gradient, where the second window's gradient of its state is what the first one does not see. */
static void windows_go_on(void **unused) {
    (void)unused;
    struct gs_error error = {0};
    struct gs_model *model = make(&WIDE);
    uint32_t tokens[LONG];
    random_tokens(tokens, LONG, WIDE.V);
    for (size_t cut = 1; cut < LONG; cut += 18) {
        struct gs_runner_options options = {.batch = 1, .steps = LONG};
        struct gs_runner *runner;
        struct gs_state *whole, *parts;
        struct seen once, first, second;
        gs_assert_ok(gs_runner_create(model, &options, &runner, &error), &error);
        gs_assert_ok(gs_state_create(model, 1, &whole, &error), &error);
        gs_assert_ok(gs_state_create(model, 1, &parts, &error), &error);
        seen_open(&once, model, 1, LONG);
        seen_open(&first, model, 1, cut);
        seen_open(&second, model, 1, LONG - cut);
        gs_assert_ok(gs_runner_forward(runner, whole, tokens, NULL, LONG, &once.tap, NULL, &error),
                     &error);
        gs_assert_ok(gs_runner_forward(runner, parts, tokens, NULL, cut, &first.tap, NULL, &error),
                     &error);
        gs_assert_ok(gs_runner_forward(runner, parts, tokens + cut, NULL, LONG - cut, &second.tap,
                                       NULL, &error),
                     &error);
        for (size_t i = 0; i < once.count; i++) {
            const size_t width = once.channels[i].width;
            gs_assert_close(once.channels[i].name, first.values[i], once.values[i], cut * width,
                            1e-5);
            gs_assert_close(once.channels[i].name, second.values[i], once.values[i] + cut * width,
                            (LONG - cut) * width, 1e-5);
        }
        for (size_t i = 0; i < 2; i++)
            gs_assert_close(whole->parts[i].name, parts->parts[i].values, whole->parts[i].values,
                            whole->parts[i].width, 1e-5);
        seen_close(&once), seen_close(&first), seen_close(&second);
        gs_state_destroy(whole), gs_state_destroy(parts);
        gs_runner_destroy(runner);
    }
    gs_model_destroy(model);
}

/* ---- decoding ------------------------------------------------------------------------------ */

static void decoded_states_give_the_losses(void **unused) {
    (void)unused;
    const struct shape *s = &SHAPES[0];
    struct gs_error error = {0};
    struct gs_model *model = make(s);
    struct gs_runner_options options = {.batch = BATCH, .steps = STEPS};
    struct gs_runner *runner;
    struct gs_state *state;
    struct seen seen;
    uint32_t tokens[BATCH * STEPS];
    float nll[BATCH * STEPS], logits[BATCH * STEPS * 16];
    random_tokens(tokens, BATCH * STEPS, s->V);
    gs_assert_ok(gs_runner_create(model, &options, &runner, &error), &error);
    gs_assert_ok(gs_state_create(model, BATCH, &state, &error), &error);
    seen_open(&seen, model, BATCH, STEPS);
    gs_assert_ok(gs_runner_forward(runner, state, tokens, NULL, STEPS, &seen.tap, nll, &error),
                 &error);
    assert_int_equal(gs_model_decodable_channel(model), s->L);
    for (size_t channel = s->L - 1; channel <= s->L; channel++) {
        gs_assert_ok(
            gs_runner_decode(runner, channel, seen.values[channel], BATCH * STEPS, logits, &error),
            &error);
        for (size_t r = 0; r < BATCH * STEPS; r++) {
            double sum = 0;
            if (r % STEPS == STEPS - 1) continue; /* predicts what stands behind the window */
            for (size_t v = 0; v < s->V; v++) sum += exp((double)logits[r * s->V + v]);
            gs_assert_near(seen.channels[channel].name,
                           log(sum) - (double)logits[r * s->V + tokens[r + 1]], (double)nll[r + 1],
                           5e-6, 5e-6);
        }
    }
    gs_assert_error(gs_runner_decode(runner, s->L + 1, seen.values[0], 1, logits, &error), GS_USAGE,
                    &error, "decode", "layer00");
    seen_close(&seen);
    gs_state_destroy(state);
    gs_runner_destroy(runner);
    gs_model_destroy(model);
}

/* ---- bits ---------------------------------------------------------------------------------- */

struct run {
    struct seen seen;
    float *nll;
    struct gs_state *state;
};

static void run(struct run *out, struct gs_model *model, const uint32_t *tokens, size_t first,
                size_t batch, size_t steps, const struct gs_runner_options *more) {
    struct gs_error error = {0};
    struct gs_runner *runner;
    struct gs_runner_options options = *more;
    options.batch = batch;
    options.steps = steps;
    gs_assert_ok(gs_runner_create(model, &options, &runner, &error), &error);
    gs_assert_ok(gs_state_create(model, batch, &out->state, &error), &error);
    seen_open(&out->seen, model, batch, steps);
    out->nll = gs_calloc(batch * steps, sizeof(float));
    gs_assert_ok(gs_runner_forward(runner, out->state, tokens + first * steps, NULL, steps,
                                   &out->seen.tap, out->nll, &error),
                 &error);
    gs_runner_destroy(runner);
}

static void close_run(struct run *out) {
    seen_close(&out->seen);
    gs_state_destroy(out->state);
    gs_free(out->nll);
}

/* Sequences first … of `all` are those of `some`, bit by bit. */
static void same_bits(const struct run *some, const struct run *all, size_t first, size_t batch,
                      size_t steps) {
    for (size_t i = 0; i < some->seen.count; i++) {
        const size_t size = steps * some->seen.channels[i].width;
        assert_memory_equal(some->seen.values[i], all->seen.values[i] + first * size,
                            batch * size * sizeof(float));
    }
    for (size_t b = 0; b < batch; b++) /* the first is NaN */
        assert_memory_equal(some->nll + b * steps + 1, all->nll + (first + b) * steps + 1,
                            (steps - 1) * sizeof(float));
    for (size_t i = 0; i < some->state->part_count; i++) {
        const size_t width = some->state->parts[i].width;
        assert_memory_equal(some->state->parts[i].values,
                            all->state->parts[i].values + first * width,
                            batch * width * sizeof(float));
    }
}

static void bits_do_not_depend_on_batch_or_threads(void **unused) {
    (void)unused;
    struct gs_model *model = make(&WIDE);
    static uint32_t tokens[MANY * LONG];
    random_tokens(tokens, MANY * LONG, WIDE.V);
    struct run all;
    const struct gs_runner_options plain = {0};
    gs_threads_set(2);
    run(&all, model, tokens, 0, MANY, LONG, &plain);
    for (int threads = 1; threads <= 3; threads++) {
        gs_threads_set(threads);
        for (size_t batch = 1; batch <= MANY; batch += 2) {
            struct run some;
            const size_t first = (MANY - batch) / 2;
            const struct gs_runner_options more = {.train = batch % 4 == 3,
                                                   .recompute_every = batch};
            run(&some, model, tokens, first, batch, LONG, &more);
            same_bits(&some, &all, first, batch, LONG);
            close_run(&some);
        }
    }
    close_run(&all);
    gs_threads_set(0);
    gs_model_destroy(model);
}

/* A window of several segments (more than a thousand rows, outside of training) is the same as in
 * one piece. */
static void bits_do_not_depend_on_segments(void **unused) {
    (void)unused;
    enum { SIDE = 3, MUCH = 700 };
    struct gs_model *model = make(&WIDE);
    static uint32_t tokens[SIDE * MUCH];
    random_tokens(tokens, SIDE * MUCH, WIDE.V);
    struct run pieces, whole;
    const struct gs_runner_options plain = {0}, train = {.train = true};
    run(&pieces, model, tokens, 0, SIDE, MUCH, &plain);
    run(&whole, model, tokens, 0, SIDE, MUCH, &train);
    same_bits(&pieces, &whole, 0, SIDE, MUCH);
    close_run(&pieces);
    close_run(&whole);
    gs_model_destroy(model);
}

/* On 1, 2 and 3 threads, recomputed or not. */
static void gradient_bits_do_not_depend_on_threads_or_recomputing(void **unused) {
    (void)unused;
    struct gs_model *model = make(&WIDE);
    static uint32_t tokens[MANY * LONG];
    random_tokens(tokens, MANY * LONG, WIDE.V);
    gs_threads_set(1);
    const struct gs_runner_options plain = {0};
    struct gradients first = gradients_of(model, tokens, MANY, LONG, 1e-3f, &plain, false);
    const size_t size = first.parameters->stride * sizeof(float);
    for (size_t k = 0; k < 2; k++)
        for (int threads = 1; threads <= 3; threads++) {
            const struct gs_runner_options more = {.recompute_every = k * 40};
            gs_threads_set(threads);
            struct gradients again = gradients_of(model, tokens, MANY, LONG, 1e-3f, &more, false);
            assert_memory_equal(again.parameters->values, first.parameters->values, size);
            for (size_t i = 0; i < 2; i++)
                assert_memory_equal(again.state->parts[i].values, first.state->parts[i].values,
                                    MANY * first.state->parts[i].width * sizeof(float));
            gradients_close(&again);
        }
    gradients_close(&first);
    gs_threads_set(0);
    gs_model_destroy(model);
}

/* Shorter sequences in a batch: what stands behind their length touches nothing. Nor does a longer
 * window before. */
static void lengths_do_not_leak(void **unused) {
    (void)unused;
    struct gs_model *model = make(&WIDE);
    struct gs_error error = {0};
    static uint32_t tokens[MANY * LONG], part[MANY * LONG];
    static float nll[MANY * LONG];
    const struct gs_runner_options plain = {0};
    random_tokens(tokens, MANY * LONG, WIDE.V);
    struct run whole;
    run(&whole, model, tokens, 0, MANY, LONG, &plain);
    struct gs_runner *runner;
    struct gs_state *state;
    struct gs_runner_options options = {.batch = MANY, .steps = LONG};
    gs_assert_ok(gs_runner_create(model, &options, &runner, &error), &error);
    gs_assert_ok(gs_state_create(model, MANY, &state, &error), &error);
    for (size_t steps = LONG; steps > 24; steps -= 24) {
        size_t lengths[MANY];
        for (size_t b = 0; b < MANY; b++) {
            lengths[b] = (b * 13) % (steps + 1);
            for (size_t t = 0; t < steps; t++)
                part[b * steps + t] = t < lengths[b] ? tokens[b * LONG + t] : UINT32_MAX;
        }
        gs_state_reset(state);
        gs_assert_ok(gs_runner_forward(runner, state, part, lengths, steps, NULL, nll, &error),
                     &error);
        for (size_t b = 0; b < MANY; b++) {
            for (size_t t = 0; t < steps; t++)
                if (t == 0 || t >= lengths[b]) assert_true(isnan(nll[b * steps + t]));
            if (lengths[b] > 1)
                assert_memory_equal(nll + b * steps + 1, whole.nll + b * LONG + 1,
                                    (lengths[b] - 1) * sizeof(float));
        }
    }
    gs_state_destroy(state);
    gs_runner_destroy(runner);
    close_run(&whole);
    gs_model_destroy(model);
}

/* ---- gates at their ends ------------------------------------------------------------------- */

/* A memory that forgets everything at once (gamma far below what exp can hold), one that forgets
 * nothing, one that writes nothing: numbers everywhere, forward and back. */
static void extreme_gates_give_numbers(void **unused) {
    (void)unused;
    static uint32_t tokens[BATCH * LONG];
    const struct gs_runner_options plain = {0};
    random_tokens(tokens, BATCH * LONG, SHAPES[0].V);
    for (int kind = 0; kind < 4; kind++) {
        struct gs_model *model = make(&SHAPES[0]);
        struct gs_parameters *p = gs_model_parameters(model);
        const float a_log[] = {12, -100, 0, 0}, strength[] = {1, 1, -1e4f, 1e4f};
        for (size_t i = 0; i < p->tensor_count; i++)
            for (size_t j = 0; j < p->tensors[i].count; j++) {
                if (strstr(p->tensors[i].name, "A_log")) p->tensors[i].values[j] = a_log[kind];
                if (strstr(p->tensors[i].name, "b_proj")) p->tensors[i].values[j] *= strength[kind];
            }
        struct gradients g = gradients_of(model, tokens, BATCH, LONG, 1, &plain, false);
        struct gs_error error = {0};
        gs_assert_ok(gs_parameters_check_finite(g.parameters, &error), &error);
        for (size_t i = 0; i < 2; i++)
            for (size_t j = 0; j < BATCH * g.state->parts[i].width; j++)
                assert_true(isfinite(g.state->parts[i].values[j]));
        gradients_close(&g);
        gs_model_destroy(model);
    }
}

/* ---- configs ------------------------------------------------------------------------------- */

static enum gs_status create(const char *json, struct gs_error *error) {
    struct gs_json *config;
    struct gs_model *model;
    gs_assert_ok(gs_json_parse(json, strlen(json), "test", &config, error), error);
    enum gs_status status = gs_model_create("gdn", config, &model, error);
    gs_model_destroy(model);
    gs_json_destroy(config);
    return status;
}

static void wrong_configs_are_named(void **unused) {
    (void)unused;
    struct gs_error error = {0};
#define GOOD "\"vocab_size\": 9, \"hidden_dim\": 12, \"ffn_dim\": 5, \"n_layers\": 1"
    gs_assert_ok(create("{" GOOD ", \"n_heads\": 3, \"head_dim\": 4}", &error), &error);
    gs_assert_ok(create("{" GOOD ", \"n_heads\": 3, \"head_dim\": 4, \"expand_v\": 1.25}", &error),
                 &error);
    gs_assert_error(create("{" GOOD ", \"n_heads\": 3}", &error), GS_CONFIG, &error, "head_dim",
                    "missing");
    gs_assert_error(
        create("{" GOOD ", \"n_heads\": 3, \"head_dim\": 4, \"expand_v\": 1.3}", &error), GS_CONFIG,
        &error, "expand_v", "whole");
    gs_assert_error(create("{" GOOD ", \"n_heads\": 3, \"head_dim\": 4, \"expand_v\": 0}", &error),
                    GS_CONFIG, &error, "expand_v", "above 0");
    gs_assert_error(create("{" GOOD ", \"n_heads\": 3, \"head_dims\": 4}", &error), GS_CONFIG,
                    &error, "head_dims", "head_dim");
    gs_assert_error(create("{\"vocab_size\": 9, \"hidden_dim\": 12, \"ffn_dim\": 5, \"n_layers\": "
                           "1, \"n_heads\": 2147483647, \"head_dim\": 2147483647}",
                           &error),
                    GS_CONFIG, &error, "n_heads", "2147483647");
#undef GOOD
}

static void shapes_say_everything(void **unused) {
    (void)unused;
    struct gs_error error = {0};
    for (size_t i = 0; i < SHAPES_COUNT; i++) {
        struct gs_model *model = make(&SHAPES[i]), *inferred;
        const struct gs_parameters *p = gs_model_parameters(model);
        gs_assert_ok(gs_model_infer(p->tensors, p->tensor_count, &inferred, &error), &error);
        assert_string_equal(gs_model_kind(inferred), "gdn");
        struct gs_json *ours = gs_model_config(model), *theirs = gs_model_config(inferred);
        char *text = gs_json_text(ours, 0), *again = gs_json_text(theirs, 0);
        assert_string_equal(text, again);
        gs_free(text), gs_free(again);
        gs_json_destroy(ours), gs_json_destroy(theirs);
        gs_model_destroy(inferred);
        gs_model_destroy(model);
    }
}

static void bytes_are_known_before(void **unused) {
    (void)unused;
    struct gs_model *model = make(&WIDE);
    const struct gs_runner_options run_options = {.batch = 8, .steps = 4096};
    struct gs_runner_options options = {.batch = 8, .steps = 64, .train = true};
    const size_t whole = gs_runner_bytes(model, &options);
    options.recompute_every = 1;
    assert_true(gs_runner_bytes(model, &options) < whole);
    options.steps = 4096;
    assert_true(gs_runner_bytes(model, &run_options) < gs_runner_bytes(model, &options) / 2);
    options.batch = SIZE_MAX / 4;
    assert_int_equal(gs_runner_bytes(model, &options), SIZE_MAX);
    gs_model_destroy(model);
}

int main(void) {
    printf("seed %d\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_is_the_naive_one),
        cmocka_unit_test(gradients_are_finite_differences),
        cmocka_unit_test(windows_go_on),
        cmocka_unit_test(decoded_states_give_the_losses),
        cmocka_unit_test(bits_do_not_depend_on_batch_or_threads),
        cmocka_unit_test(bits_do_not_depend_on_segments),
        cmocka_unit_test(gradient_bits_do_not_depend_on_threads_or_recomputing),
        cmocka_unit_test(lengths_do_not_leak),
        cmocka_unit_test(extreme_gates_give_numbers),
        cmocka_unit_test(wrong_configs_are_named),
        cmocka_unit_test(shapes_say_everything),
        cmocka_unit_test(bytes_are_known_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
