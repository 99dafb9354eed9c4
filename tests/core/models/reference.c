/* GPN and GPN+M against the known answers of ../shared/reference (its README says how they were
 * made): forward within 1e-5, gradients within 1e-4 of a tensor's largest value. */
#include "tests/core/models/known_case.h"
#include "tests/core/models/seen.h"
#include "tests/support/support.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/models/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double FORWARD = 1e-5, GRADIENT = 1e-4;
/* The authors sum the gradients of bfloat16 weights in bfloat16, one addition a step; ours are
 * float32 sums (model.md: all sums stay float32). Their rounding is all that this allows. */
static const double BF16_GRADIENT = 2e-2;

/* The state that the case begins with, and the one it must end with. */
static void read_state(const struct known *known, const char *group, struct gs_state *state) {
    struct gs_error error = {0};
    enum gs_h5_object object;
    gs_assert_ok(gs_h5_look(known->answers, group, &object, &error), &error);
    if (object == GS_H5_ABSENT) return;
    for (size_t i = 0; i < state->part_count; i++) {
        char path[64];
        float *values;
        snprintf(path, sizeof path, "%s/%s", group, state->parts[i].name);
        gs_assert_ok(gs_h5_read_f32(known->answers, path, &values, NULL, NULL, &error), &error);
        memcpy(state->parts[i].values, values,
               state->batch * state->parts[i].width * sizeof(float));
        gs_free(values);
    }
}

static void compare_state(const struct known *known, const char *group,
                          const struct gs_state *state, double tolerance) {
    for (size_t i = 0; i < state->part_count; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", group, state->parts[i].name);
        compare(known, path, state->parts[i].values, state->batch * state->parts[i].width,
                tolerance);
    }
}

static void check_channels(const struct known *known, const struct seen *seen) {
    for (size_t i = 0; i < seen->count; i++)
        compare(known, seen_name(&seen->channels[i]), seen->values[i],
                known->batch * known->steps * seen->channels[i].width, FORWARD);
}

static void check_metrics(const struct known *known, struct gs_runner *runner) {
    size_t count;
    const struct gs_metric *metrics = gs_runner_metrics(runner, &count);
    for (size_t i = 0; i < count; i++) {
        char path[64];
        struct gs_error error = {0};
        float *expected;
        snprintf(path, sizeof path, "metric/%s", metrics[i].name);
        gs_assert_ok(gs_h5_read_f32(known->answers, path, &expected, NULL, NULL, &error), &error);
        gs_assert_near(path, metrics[i].value, (double)expected[0], 1e-6, 3e-5);
        gs_free(expected);
    }
}

static void check_gradients(const struct known *known, const struct gs_parameters *gradients) {
    for (size_t i = 0; i < gradients->tensor_count; i++) {
        const struct gs_tensor *tensor = &gradients->tensors[i];
        char path[160];
        snprintf(path, sizeof path, "grad/%s", tensor->name);
        compare(known, path, tensor->values, tensor->count,
                known->bf16 && tensor->rank > 1 ? BF16_GRADIENT : GRADIENT);
    }
}

static void run_case(const char *name, size_t recompute_every) {
    struct known known;
    struct gs_error error = {0};
    if (!open_case(name, &known)) skip();
    struct gs_runner_options options = {.batch = known.batch,
                                        .steps = known.steps,
                                        .train = true,
                                        .bf16 = known.bf16,
                                        .recompute_every = recompute_every};
    struct gs_runner *runner;
    struct gs_state *state, *state_gradient;
    struct gs_parameters *gradients;
    gs_assert_ok(gs_runner_create(known.model, &options, &runner, &error), &error);
    gs_assert_ok(gs_state_create(known.model, known.batch, &state, &error), &error);
    gs_assert_ok(gs_state_create(known.model, known.batch, &state_gradient, &error), &error);
    gs_assert_ok(gs_parameters_like(gs_model_parameters(known.model), &gradients, &error), &error);
    read_state(&known, "init", state);

    struct seen seen;
    seen_open(&seen, known.model, known.batch, known.steps);
    float *nll = gs_calloc(known.batch * known.steps, sizeof(float));
    gs_assert_ok(
        gs_runner_forward(runner, state, known.tokens, NULL, known.steps, &seen.tap, nll, &error),
        &error);
    compare(&known, "nll", nll, known.batch * known.steps, FORWARD);
    check_channels(&known, &seen);
    compare_state(&known, "final", state, FORWARD);
    check_metrics(&known, runner);

    float scale = 1.0f / (float)(known.batch * known.steps);
    gs_assert_ok(gs_runner_backward(runner, scale, gradients, state_gradient, &error), &error);
    check_gradients(&known, gradients);
    enum gs_h5_object object;
    gs_assert_ok(gs_h5_look(known.answers, "grad_init", &object, &error), &error);
    if (object != GS_H5_ABSENT) compare_state(&known, "grad_init", state_gradient, GRADIENT);

    seen_close(&seen);
    gs_free(nll);
    gs_parameters_destroy(gradients);
    gs_state_destroy(state);
    gs_state_destroy(state_gradient);
    gs_runner_destroy(runner);
    close_case(&known);
}

static void gpn(void **unused) {
    (void)unused;
    run_case("gpn", 0);
}

static void gpn_with_decoder_bias(void **unused) {
    (void)unused;
    run_case("gpn_bias", 0);
}

static void gpn_m(void **unused) {
    (void)unused;
    run_case("gpnm1", 0);
}

static void gpn_m_of_two_layers_with_decoder_bias(void **unused) {
    (void)unused;
    run_case("gpnm2_bias", 0);
}

static void gpn_m_with_rounded_weights(void **unused) {
    (void)unused;
    run_case("gpnm1_bf16", 0);
}

static void gpn_m_recomputed(void **unused) {
    (void)unused;
    run_case("gpnm1", 7);
    run_case("gpnm2_bias", 1);
    run_case("gpn", 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpn),
        cmocka_unit_test(gpn_with_decoder_bias),
        cmocka_unit_test(gpn_m),
        cmocka_unit_test(gpn_m_of_two_layers_with_decoder_bias),
        cmocka_unit_test(gpn_m_with_rounded_weights),
        cmocka_unit_test(gpn_m_recomputed),
    };
    if (!gs_shared_path("reference")) return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
