/* The models that GPN is held against, against the known answers of ../shared/reference: streams,
 * gates and losses within 1e-5, gradients within 1e-4 of a tensor's largest value. */
#include "tests/core/models/known_case.h"
#include "tests/core/models/seen.h"
#include "tests/support/support.h"

#include "core/base/memory.h"
#include "core/models/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double FORWARD = 1e-5, GRADIENT = 1e-4;

/* A dataset (batch, rows, width) against the first rows of what was seen: theirs ran a gdn without
 * the window's last token. */
static void compare_rows(const struct known *known, const char *dataset, const float *values,
                         size_t width) {
    struct gs_error error = {0};
    size_t rank, shape[GS_H5_MAX_RANK];
    float *expected;
    gs_assert_ok(gs_h5_read_f32(known->answers, dataset, &expected, &rank, shape, &error), &error);
    gs_free(expected);
    assert_int_equal(rank, 3);
    assert_true(shape[1] + 1 >= known->steps && shape[1] <= known->steps);
    const size_t count = shape[1] * width;
    float *first = gs_calloc(known->batch * count, sizeof *first);
    for (size_t b = 0; b < known->batch; b++)
        memcpy(first + b * count, values + b * known->steps * width, count * sizeof *first);
    compare(known, dataset, first, known->batch * count, FORWARD);
    gs_free(first);
}

static void check_channels(const struct known *known, const struct seen *seen) {
    for (size_t i = 0; i < seen->count; i++) {
        const struct gs_channel *channel = &seen->channels[i];
        char dataset[96];
        if (channel->group == GS_CHANNEL_STATE)
            snprintf(dataset, sizeof dataset, "state/%s", channel->name);
        else
            snprintf(dataset, sizeof dataset, "memory/%s/%s", channel->name, seen_name(channel));
        compare_rows(known, dataset, seen->values[i], channel->width);
    }
}

/* The first token is not predicted; the others against nll_next (batch, steps - 1). */
static void check_losses(const struct known *known, const float *nll) {
    const size_t predicted = known->steps - 1;
    float *next = gs_calloc(known->batch * predicted, sizeof *next);
    for (size_t b = 0; b < known->batch; b++) {
        assert_true(isnan(nll[b * known->steps]));
        memcpy(next + b * predicted, nll + b * known->steps + 1, predicted * sizeof *next);
    }
    compare(known, "nll_next", next, known->batch * predicted, FORWARD);
    gs_free(next);
}

static void check_gradients(const struct known *known, const struct gs_parameters *gradients) {
    for (size_t i = 0; i < gradients->tensor_count; i++) {
        const struct gs_tensor *tensor = &gradients->tensors[i];
        char path[160];
        snprintf(path, sizeof path, "grad/%s", tensor->name);
        compare(known, path, tensor->values, tensor->count, GRADIENT);
    }
}

static void run_case(const char *name, size_t recompute_every, bool watched, bool last_is_target) {
    struct known known;
    struct gs_error error = {0};
    if (!open_case(name, &known)) skip();
    struct gs_runner_options options = {.batch = known.batch,
                                        .steps = known.steps,
                                        .train = true,
                                        .recompute_every = recompute_every,
                                        .last_is_target = last_is_target};
    struct gs_runner *runner;
    struct gs_state *state;
    struct gs_parameters *gradients;
    gs_assert_ok(gs_runner_create(known.model, &options, &runner, &error), &error);
    gs_assert_ok(gs_state_create(known.model, known.batch, &state, &error), &error);
    gs_assert_ok(gs_parameters_like(gs_model_parameters(known.model), &gradients, &error), &error);
    struct seen seen;
    seen_open(&seen, known.model, known.batch, known.steps);
    float *nll = gs_calloc(known.batch * known.steps, sizeof(float));
    gs_assert_ok(gs_runner_forward(runner, state, known.tokens, NULL, known.steps,
                                   watched ? &seen.tap : NULL, nll, &error),
                 &error);
    check_losses(&known, nll);
    if (watched) check_channels(&known, &seen);
    float scale = 1.0f / (float)(known.batch * (known.steps - 1));
    gs_assert_ok(gs_runner_backward(runner, scale, gradients, NULL, &error), &error);
    check_gradients(&known, gradients);
    seen_close(&seen);
    gs_free(nll);
    gs_parameters_destroy(gradients);
    gs_state_destroy(state);
    gs_runner_destroy(runner);
    close_case(&known);
}

static void transformer(void **unused) {
    (void)unused;
    run_case("transformer", 0, true, false);
    run_case("transformer", 0, false, true);
}

static void transformer_recomputed(void **unused) {
    (void)unused;
    run_case("transformer", 1, true, false);
    run_case("transformer", 16, false, true);
}

static void gdn(void **unused) {
    (void)unused;
    run_case("gdn", 0, true, false);
    run_case("gdn", 0, false, true);
}

static void gdn_recomputed(void **unused) {
    (void)unused;
    run_case("gdn", 1, true, false);
    run_case("gdn", 32, false, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transformer),
        cmocka_unit_test(transformer_recomputed),
        cmocka_unit_test(gdn),
        cmocka_unit_test(gdn_recomputed),
    };
    if (!gs_shared_path("reference")) return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
