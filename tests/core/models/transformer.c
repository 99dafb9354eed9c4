/* The transformer against a plain double implementation (naive_transformer), whose finite
 * differences give every gradient; and the promises of model.h: bits that do not depend on batch,
 * threads or recomputing, nothing that leaks. Needs nothing outside the project. */
#include "tests/core/models/naive_transformer.h"
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
    size_t V, d, L, H, f;
    bool bf16;
};

static const struct shape SHAPES[] = {
    {"2 heads, 2 layers", 13, 8, 2, 2, 7, false},
    {"1 head", 11, 6, 1, 1, 5, false},
    {"4 heads of 2", 7, 8, 3, 4, 9, false},
    {"1 of each", 2, 2, 1, 1, 1, false},
    {"bf16", 13, 8, 2, 2, 7, true},
};
enum { SHAPES_COUNT = sizeof SHAPES / sizeof SHAPES[0], SEED = 20261130, BATCH = 3, STEPS = 7 };

static struct gs_json *config_of(const struct shape *s) {
    static const char *const keys[] = {"vocab_size", "hidden_dim", "n_layers", "n_heads",
                                       "ffn_dim"};
    const size_t values[] = {s->V, s->d, s->L, s->H, s->f};
    struct gs_json *config = gs_json_new_object();
    for (size_t i = 0; i < 5; i++)
        assert_true(gs_json_set(config, keys[i], gs_json_new_integer((int64_t)values[i])));
    return config;
}

static struct gs_model *make(const struct shape *s) {
    struct gs_json *config = config_of(s);
    struct gs_model *model;
    struct gs_error error = {0};
    gs_assert_ok(gs_model_create("transformer", config, &model, &error), &error);
    gs_json_destroy(config);
    /* every parameter large enough, so that no term is silent */
    struct gs_parameters *p = gs_model_parameters(model);
    struct gs_random random;
    gs_random_seed(&random, SEED, "test");
    for (size_t i = 0; i < p->tensor_count; i++) {
        struct gs_tensor *t = &p->tensors[i];
        double scale = t->rank > 1 ? 1 / sqrt((double)t->shape[1]) : 0.3;
        for (size_t j = 0; j < t->count; j++)
            t->values[j] = (float)((t->rank == 1) + scale * gs_random_normal(&random));
    }
    return model;
}

static void random_tokens(uint32_t *tokens, size_t count, size_t vocab) {
    struct gs_random random;
    gs_random_seed(&random, SEED, "tokens");
    for (size_t i = 0; i < count; i++) tokens[i] = (uint32_t)gs_random_below(&random, vocab);
}

/* ---- against the naive one ----------------------------------------------------------------- */

static struct naive_transformer naive_of(const struct shape *s, const struct gs_model *model,
                                         double **values) {
    const struct gs_parameters *p = gs_model_parameters(model);
    *values = calloc(p->count, sizeof **values);
    for (size_t i = 0, at = 0; i < p->tensor_count; i++)
        for (size_t j = 0; j < p->tensors[i].count; j++)
            (*values)[at++] = (double)p->tensors[i].values[j];
    return (struct naive_transformer){s->V, s->d, s->L, s->H, s->f, s->bf16, p, *values};
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

/* Of `steps` tokens, which may be more than a block of queries. */
static void check_forward(const struct shape *s, size_t steps) {
    struct gs_error error = {0};
    struct gs_model *model = make(s);
    double *values, *streams = calloc((s->L + 1) * steps * s->d, sizeof *streams);
    double *losses = calloc(steps, sizeof *losses);
    const struct naive_transformer naive = naive_of(s, model, &values);
    struct gs_runner_options options = {.batch = BATCH, .steps = steps, .bf16 = s->bf16};
    struct gs_runner *runner;
    struct gs_state *state;
    struct seen seen;
    uint32_t *tokens = calloc(BATCH * steps, sizeof *tokens);
    float *nll = calloc(BATCH * steps, sizeof *nll);
    random_tokens(tokens, BATCH * steps, s->V);
    gs_assert_ok(gs_runner_create(model, &options, &runner, &error), &error);
    gs_assert_ok(gs_state_create(model, BATCH, &state, &error), &error);
    seen_open(&seen, model, BATCH, steps);
    gs_assert_ok(gs_runner_forward(runner, state, tokens, NULL, steps, &seen.tap, nll, &error),
                 &error);
    for (size_t b = 0; b < BATCH; b++) {
        naive_transformer_run(&naive, tokens + b * steps, steps, streams, losses);
        for (size_t i = 0; i <= s->L; i++)
            compare(seen.channels[i].name, s, seen.values[i] + b * steps * s->d,
                    streams + i * steps * s->d, steps * s->d, 5e-6);
        assert_true(isnan(nll[b * steps]));
        compare("nll", s, nll + b * steps + 1, losses + 1, steps - 1, 5e-6);
    }
    seen_close(&seen);
    gs_state_destroy(state);
    gs_runner_destroy(runner);
    gs_model_destroy(model);
    free(values);
    free(streams);
    free(losses);
    free(tokens);
    free(nll);
}

static void forward_is_the_naive_one(void **unused) {
    (void)unused;
    for (size_t i = 0; i < SHAPES_COUNT; i++) {
        check_forward(&SHAPES[i], STEPS);
        check_forward(&SHAPES[i], 71);
        check_forward(&SHAPES[i], 1);
    }
}

static double naive_total(const struct naive_transformer *naive, const uint32_t *tokens) {
    double total = 0;
    for (size_t b = 0; b < BATCH; b++)
        total += naive_transformer_run(naive, tokens + b * STEPS, STEPS, NULL, NULL);
    return total;
}

/* d total / d each parameter. */
static double *differences(const struct shape *s, const struct gs_model *model,
                           const uint32_t *tokens) {
    const double step = 1e-6;
    double *values;
    const struct naive_transformer naive = naive_of(s, model, &values);
    const size_t count = gs_model_parameters(model)->count;
    double *gradient = calloc(count, sizeof *gradient);
    for (size_t i = 0; i < count; i++) {
        const double kept = values[i];
        values[i] = kept + step;
        const double up = naive_total(&naive, tokens);
        values[i] = kept - step;
        gradient[i] = (up - naive_total(&naive, tokens)) / (2 * step);
        values[i] = kept;
    }
    free(values);
    return gradient;
}

static struct gs_parameters *gradients_of(struct gs_model *model, const uint32_t *tokens,
                                          size_t batch, size_t steps, float scale,
                                          const struct gs_runner_options *more, bool watched) {
    struct gs_error error = {0};
    struct gs_runner *runner;
    struct gs_state *state;
    struct gs_parameters *gradients;
    struct seen seen;
    struct gs_runner_options options = *more;
    options.batch = batch;
    options.steps = steps;
    options.train = true;
    float *nll = calloc(batch * steps, sizeof *nll);
    gs_assert_ok(gs_runner_create(model, &options, &runner, &error), &error);
    gs_assert_ok(gs_state_create(model, batch, &state, &error), &error);
    gs_assert_ok(gs_parameters_like(gs_model_parameters(model), &gradients, &error), &error);
    seen_open(&seen, model, batch, steps);
    for (int i = 0; i < 2; i++) /* what the first one leaves touches nothing */
        gs_assert_ok(gs_runner_forward(runner, state, tokens, NULL, steps,
                                       watched ? &seen.tap : NULL, nll, &error),
                     &error);
    gs_assert_ok(gs_runner_backward(runner, scale, gradients, state, &error), &error);
    seen_close(&seen);
    gs_state_destroy(state);
    gs_runner_destroy(runner);
    free(nll);
    return gradients;
}

static void gradients_are_finite_differences(void **unused) {
    (void)unused;
    uint32_t tokens[BATCH * STEPS];
    const float scale = 0.5f; /* a power of two: dividing by it again is exact */
    for (size_t i = 0; i < SHAPES_COUNT; i++) {
        const struct shape *s = &SHAPES[i];
        if (s->bf16) continue; /* rounding has no derivative to difference */
        struct gs_model *model = make(s);
        random_tokens(tokens, BATCH * STEPS, s->V);
        double *expected = differences(s, model, tokens), largest = 0;
        for (size_t j = 0; j < gs_model_parameters(model)->count; j++)
            largest = fmax(largest, fabs(expected[j]));
        for (size_t k = 0; k < 4; k++) {
            const struct gs_runner_options more = {.recompute_every = k % 2,
                                                   .last_is_target = k > 2};
            struct gs_parameters *ours =
                gradients_of(model, tokens, BATCH, STEPS, scale, &more, k < 2);
            for (size_t t = 0, at = 0; t < ours->tensor_count; at += ours->tensors[t++].count)
                for (size_t j = 0; j < ours->tensors[t].count; j++) {
                    char what[160];
                    snprintf(what, sizeof what, "%s: d %s[%zu]", s->name, ours->tensors[t].name, j);
                    gs_assert_near(what, (double)(ours->tensors[t].values[j] / scale),
                                   expected[at + j], 1e-5 * largest, 2e-4);
                }
            gs_parameters_destroy(ours);
        }
        free(expected);
        gs_model_destroy(model);
    }
}

/* ---- decoding ------------------------------------------------------------------------------ */

/* The rows of every stream decode: final to the losses, the last layer through the norm to the
 * same. */
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
        assert_non_null(strstr(seen.channels[channel].decoder, "output matrix"));
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
                    &error, "decode", "none");
    seen_close(&seen);
    gs_state_destroy(state);
    gs_runner_destroy(runner);
    gs_model_destroy(model);
}

/* ---- bits ---------------------------------------------------------------------------------- */

enum { MANY = 31, LONG = 75 }; /* more rows than go through a layer at once */
static const struct shape WIDE = {"wide", 37, 36, 2, 3, 53, false};

struct run {
    struct seen seen;
    float *nll;
};

static void run(struct run *out, struct gs_model *model, const uint32_t *tokens, size_t first,
                size_t batch, bool train) {
    struct gs_error error = {0};
    struct gs_runner *runner;
    struct gs_state *state;
    struct gs_runner_options options = {.batch = batch, .steps = LONG, .train = train};
    gs_assert_ok(gs_runner_create(model, &options, &runner, &error), &error);
    gs_assert_ok(gs_state_create(model, batch, &state, &error), &error);
    seen_open(&out->seen, model, batch, LONG);
    out->nll = gs_calloc(batch * LONG, sizeof(float));
    gs_assert_ok(gs_runner_forward(runner, state, tokens + first * LONG, NULL, LONG, &out->seen.tap,
                                   out->nll, &error),
                 &error);
    gs_state_destroy(state);
    gs_runner_destroy(runner);
}

static void close_run(struct run *out) {
    seen_close(&out->seen);
    gs_free(out->nll);
}

static void bits_do_not_depend_on_batch_or_threads(void **unused) {
    (void)unused;
    struct gs_model *model = make(&WIDE);
    static uint32_t tokens[MANY * LONG];
    random_tokens(tokens, MANY * LONG, WIDE.V);
    struct run all;
    gs_threads_set(2);
    run(&all, model, tokens, 0, MANY, false);
    for (int threads = 1; threads <= 3; threads++) {
        gs_threads_set(threads);
        for (size_t batch = 1; batch <= MANY; batch += batch < 3 ? 1 : 14) {
            struct run some;
            const size_t first = (MANY - batch) / 2, size = LONG * WIDE.d;
            run(&some, model, tokens, first, batch, batch % 2 == 0);
            for (size_t i = 0; i <= WIDE.L; i++)
                assert_memory_equal(some.seen.values[i], all.seen.values[i] + first * size,
                                    batch * size * sizeof(float));
            assert_memory_equal(some.nll, all.nll + first * LONG, batch * LONG * sizeof(float));
            close_run(&some);
        }
    }
    close_run(&all);
    gs_threads_set(0);
    gs_model_destroy(model);
}

/* On 1, 2 and 3 threads, recomputed or not, the last token run into nothing or not run. */
static void gradient_bits_do_not_depend_on_threads_or_recomputing(void **unused) {
    (void)unused;
    struct gs_model *model = make(&WIDE);
    static uint32_t tokens[MANY * LONG];
    random_tokens(tokens, MANY * LONG, WIDE.V);
    gs_threads_set(1);
    const struct gs_runner_options plain = {0};
    struct gs_parameters *first = gradients_of(model, tokens, MANY, LONG, 1e-3f, &plain, false);
    for (size_t k = 0; k < 4; k++)
        for (int threads = 1; threads <= 3; threads++) {
            const struct gs_runner_options more = {.recompute_every = k % 2 * 40,
                                                   .last_is_target = k > 1};
            gs_threads_set(threads);
            struct gs_parameters *again =
                gradients_of(model, tokens, MANY, LONG, 1e-3f, &more, false);
            assert_memory_equal(again->values, first->values, first->stride * sizeof(float));
            gs_parameters_destroy(again);
        }
    gs_parameters_destroy(first);
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
    random_tokens(tokens, MANY * LONG, WIDE.V);
    struct run whole;
    run(&whole, model, tokens, 0, MANY, false);
    struct gs_runner *runner;
    struct gs_state *state;
    struct gs_runner_options options = {.batch = MANY, .steps = LONG};
    gs_assert_ok(gs_runner_create(model, &options, &runner, &error), &error);
    gs_assert_ok(gs_state_create(model, MANY, &state, &error), &error);
    for (size_t steps = LONG; steps > 24; steps -= 24) {
        size_t lengths[MANY];
        for (size_t b = 0; b < MANY; b++) {
            lengths[b] = (b * 7) % (steps + 1);
            for (size_t t = 0; t < steps; t++)
                part[b * steps + t] = t < lengths[b] ? tokens[b * LONG + t] : UINT32_MAX;
        }
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

/* A tap that refuses a channel ends the run with its status and error; the runner can go on. */
static enum gs_status refuse(void *context, const struct gs_tap_block *block,
                             struct gs_error *error) {
    const size_t *channel = context;
    if (block->channel != *channel) return GS_OK;
    return gs_fail(error, GS_IO, "the disk is full");
}

static void a_refusing_tap_ends_the_run(void **unused) {
    (void)unused;
    const bool wanted[] = {true, true, true};
    struct gs_model *model = make(&SHAPES[0]);
    struct gs_runner_options options = {.batch = BATCH, .steps = STEPS};
    struct gs_error error = {0};
    struct gs_runner *runner;
    struct gs_state *state;
    uint32_t tokens[BATCH * STEPS];
    float nll[BATCH * STEPS];
    random_tokens(tokens, BATCH * STEPS, SHAPES[0].V);
    gs_assert_ok(gs_runner_create(model, &options, &runner, &error), &error);
    gs_assert_ok(gs_state_create(model, BATCH, &state, &error), &error);
    for (size_t channel = 0; channel < 4; channel++) { /* there are three */
        const struct gs_tap tap = {&channel, wanted, refuse};
        enum gs_status status =
            gs_runner_forward(runner, state, tokens, NULL, STEPS, &tap, nll, &error);
        if (channel < 3)
            gs_assert_error(status, GS_IO, &error, "disk", "full");
        else
            gs_assert_ok(status, &error);
    }
    gs_state_destroy(state);
    gs_runner_destroy(runner);
    gs_model_destroy(model);
}

/* ---- configs ------------------------------------------------------------------------------- */

static enum gs_status create(const char *json, struct gs_error *error) {
    struct gs_json *config;
    struct gs_model *model;
    gs_assert_ok(gs_json_parse(json, strlen(json), "test", &config, error), error);
    enum gs_status status = gs_model_create("transformer", config, &model, error);
    gs_model_destroy(model);
    gs_json_destroy(config);
    return status;
}

static void wrong_configs_are_named(void **unused) {
    (void)unused;
    struct gs_error error = {0};
#define GOOD "\"vocab_size\": 9, \"hidden_dim\": 12, \"ffn_dim\": 5"
    gs_assert_ok(create("{" GOOD ", \"n_layers\": 1, \"n_heads\": 3}", &error), &error);
    gs_assert_error(create("{" GOOD ", \"n_heads\": 3}", &error), GS_CONFIG, &error, "n_layers",
                    "missing");
    gs_assert_error(create("{" GOOD ", \"n_layers\": 1, \"n_heads\": 5}", &error), GS_CONFIG,
                    &error, "n_heads", "12 in all");
    gs_assert_error(create("{" GOOD ", \"n_layers\": 1, \"n_heads\": 4}", &error), GS_CONFIG,
                    &error, "n_heads", "even");
    gs_assert_error(create("{" GOOD ", \"n_layers\": 1025, \"n_heads\": 3}", &error), GS_CONFIG,
                    &error, "n_layers", "1024");
#undef GOOD
}

static void shapes_do_not_say_the_heads(void **unused) {
    (void)unused;
    struct gs_error error = {0};
    struct gs_model *model = make(&WIDE), *inferred;
    const struct gs_parameters *p = gs_model_parameters(model);
    gs_assert_error(gs_model_infer(p->tensors, p->tensor_count, &inferred, &error), GS_CONFIG,
                    &error, "heads", "config.json");
    gs_model_destroy(model);
}

/* What a runner says it takes grows with what it is asked, and recomputing takes less. */
static void bytes_are_known_before(void **unused) {
    (void)unused;
    struct gs_model *model = make(&WIDE);
    const struct gs_runner_options run_options = {.batch = 8, .steps = 64};
    struct gs_runner_options options = {.batch = 8, .steps = 64, .train = true};
    const size_t whole = gs_runner_bytes(model, &options);
    options.recompute_every = 1;
    assert_true(gs_runner_bytes(model, &options) < whole);
    assert_true(gs_runner_bytes(model, &run_options) < whole);
    options.batch = SIZE_MAX / 4;
    assert_int_equal(gs_runner_bytes(model, &options), SIZE_MAX);
    gs_model_destroy(model);
}

int main(void) {
    printf("seed %d\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_is_the_naive_one),
        cmocka_unit_test(gradients_are_finite_differences),
        cmocka_unit_test(decoded_states_give_the_losses),
        cmocka_unit_test(bits_do_not_depend_on_batch_or_threads),
        cmocka_unit_test(gradient_bits_do_not_depend_on_threads_or_recomputing),
        cmocka_unit_test(lengths_do_not_leak),
        cmocka_unit_test(a_refusing_tap_ends_the_run),
        cmocka_unit_test(wrong_configs_are_named),
        cmocka_unit_test(shapes_do_not_say_the_heads),
        cmocka_unit_test(bytes_are_known_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
