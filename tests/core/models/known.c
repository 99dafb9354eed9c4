/* The models against fixtures/known, answers that were computed once in double by other code and
 * then committed: they hold even where the plain model beside this test is changed. */
#include "tests/core/models/seen.h"
#include "tests/support/support.h"

#include "core/base/memory.h"
#include "core/checkpoint/checkpoint.h"
#include "core/models/model.h"

#include <stdio.h>
#include <string.h>

enum { STEPS = 9 };

static void compare(const struct gs_json *answers, const char *name, const float *values,
                    size_t count, double tolerance) {
    const struct gs_json *array = gs_json_get(answers, name);
    assert_int_equal(gs_json_size(array), count);
    float *expected = gs_calloc(count, sizeof(float));
    for (size_t i = 0; i < count; i++) {
        double number;
        assert_true(gs_json_number(gs_json_at(array, i), &number));
        expected[i] = (float)number;
    }
    gs_assert_close(name, values, expected, count, tolerance);
    gs_free(expected);
}

static void check(const char *name) {
    char path[128];
    struct gs_error error = {0};
    struct gs_model *model;
    struct gs_json *answers;
    snprintf(path, sizeof path, "fixtures/known/%s.safetensors", name);
    gs_assert_ok(gs_checkpoint_load(gs_source_path(path), &model, NULL, &error), &error);
    snprintf(path, sizeof path, "fixtures/known/%s.json", name);
    gs_assert_ok(gs_json_read_file(gs_source_path(path), &answers, &error), &error);

    uint32_t tokens[STEPS];
    float nll[STEPS];
    for (size_t t = 0; t < STEPS; t++) {
        double id;
        assert_true(gs_json_number(gs_json_at(gs_json_get(answers, "tokens"), t), &id));
        tokens[t] = (uint32_t)id;
    }
    struct seen seen;
    seen_open(&seen, model, 1, STEPS);

    struct gs_runner *runner;
    struct gs_state *state;
    struct gs_parameters *gradients;
    struct gs_runner_options options = {.batch = 1, .steps = STEPS, .train = true};
    gs_assert_ok(gs_runner_create(model, &options, &runner, &error), &error);
    gs_assert_ok(gs_state_create(model, 1, &state, &error), &error);
    gs_assert_ok(gs_parameters_like(gs_model_parameters(model), &gradients, &error), &error);
    gs_assert_ok(gs_runner_forward(runner, state, tokens, NULL, STEPS, &seen.tap, nll, &error),
                 &error);
    gs_assert_ok(gs_runner_backward(runner, 1, gradients, NULL, &error), &error);

    compare(answers, "nll", nll, STEPS, 3e-6);
    for (size_t i = 0; i < seen.count; i++)
        if (seen.channels[i].group != GS_CHANNEL_READ_SHARE) /* not among the answers */
            compare(answers, seen_name(&seen.channels[i]), seen.values[i],
                    STEPS * seen.channels[i].width, 1e-5);
    for (size_t i = 0; i < gradients->tensor_count; i++)
        compare(gs_json_get(answers, "gradients"), gradients->tensors[i].name,
                gradients->tensors[i].values, gradients->tensors[i].count, 2e-4);

    seen_close(&seen);
    gs_parameters_destroy(gradients);
    gs_state_destroy(state);
    gs_runner_destroy(runner);
    gs_json_destroy(answers);
    gs_model_destroy(model);
}

static void gpn(void **unused) {
    (void)unused;
    check("gpn");
}

static void gpn_m(void **unused) {
    (void)unused;
    check("gpn_m");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(gpn), cmocka_unit_test(gpn_m)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
