#include "tests/core/training/naive_run.h"

#include "core/training/schedule.h"
#include "tests/core/training/small_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct naive {
    struct gs_model *model;
    double *p, *m, *v, *g; /* as many as the parameters' one allocation holds */
};

/* The state behind the first `steps` tokens, by a runner that does not train. */
static struct gs_state *naive_state(struct gs_model *model, const uint32_t *tokens, size_t steps,
                                    bool bf16) {
    struct gs_error error = {0};
    struct gs_state *state = NULL;
    struct gs_runner *runner = NULL;
    const struct gs_runner_options options = {.batch = 1, .steps = steps, .bf16 = bf16};
    gs_assert_ok(gs_state_create(model, 1, &state, &error), &error);
    if (steps == 0) return state;
    gs_assert_ok(gs_runner_create(model, &options, &runner, &error), &error);
    gs_assert_ok(gs_runner_forward(runner, state, tokens, NULL, steps, NULL, NULL, &error), &error);
    gs_runner_destroy(runner);
    return state;
}

/* Add the gradient of the mean loss of micro-batch `index`, `cut` predicted tokens at a time. */
static double naive_gradient(struct naive *naive, const struct gs_training_config *c, size_t index,
                             size_t cut) {
    struct gs_error error = {0};
    struct gs_runner *runner = NULL;
    struct gs_parameters *parameters = gs_model_parameters(naive->model), *gradients = NULL;
    const size_t first = gs_model_first(naive->model);
    const struct gs_runner_options options = {
        .batch = 1, .steps = cut + first, .train = true, .bf16 = c->bf16};
    gs_assert_ok(gs_runner_create(naive->model, &options, &runner, &error), &error);
    gs_assert_ok(gs_parameters_like(parameters, &gradients, &error), &error);
    double loss = 0;
    for (size_t b = 0; b < c->batch_size; b++) { /* one sequence at a time */
        const uint32_t *window =
            small_tokens() + (index * c->batch_size + b) * (c->seq_len + first);
        for (size_t start = 0; start < c->seq_len; start += cut) {
            size_t count = c->seq_len - start < cut ? c->seq_len - start : cut;
            float nll[64];
            struct gs_state *state = naive_state(naive->model, window, start, c->bf16);
            gs_assert_ok(gs_runner_forward(runner, state, window + start, NULL, count + first, NULL,
                                           nll, &error),
                         &error);
            gs_assert_ok(gs_runner_backward(runner, 1, gradients, NULL, &error), &error);
            for (size_t t = first; t < count + first; t++) loss += (double)nll[t];
            gs_state_destroy(state);
        }
    }
    double count = (double)(c->batch_size * c->seq_len);
    for (size_t i = 0; i < parameters->stride; i++)
        naive->g[i] += (double)gradients->values[i] / count;
    gs_parameters_destroy(gradients);
    gs_runner_destroy(runner);
    return loss / count;
}

static void naive_adamw(struct naive *naive, const struct gs_training_config *c, size_t step) {
    struct gs_parameters *parameters = gs_model_parameters(naive->model);
    double norm = 0;
    for (size_t i = 0; i < parameters->stride; i++) norm += naive->g[i] * naive->g[i];
    norm = sqrt(norm);
    /* models that predict the next token are trained as torch does */
    const bool torch = gs_model_first(naive->model) > 0;
    norm += !isnan(c->clip_epsilon) ? c->clip_epsilon : torch ? 1e-6 : 0;
    double clip = norm > c->grad_clip_norm ? c->grad_clip_norm / norm : 1;
    struct gs_schedule schedule = {torch ? GS_COSINE_FROM_START : GS_COSINE_AFTER_WARMUP,
                                   c->learning_rate, c->min_lr_ratio, c->warmup_steps,
                                   c->total_steps};
    if (c->schedule) assert_true(gs_cosine_named(c->schedule, &schedule.cosine));
    double rate = gs_schedule_rate(&schedule, step), n = (double)step + 1;
    for (size_t t = 0; t < parameters->tensor_count; t++) {
        const struct gs_tensor *tensor = &parameters->tensors[t];
        bool decay = tensor->rank >= 2; /* A_log and dt_bias have one dimension */
        size_t first = (size_t)(tensor->values - parameters->values);
        for (size_t i = first; i < first + tensor->count; i++) {
            double g = clip * naive->g[i];
            naive->m[i] = c->adam_beta1 * naive->m[i] + (1 - c->adam_beta1) * g;
            naive->v[i] = c->adam_beta2 * naive->v[i] + (1 - c->adam_beta2) * g * g;
            double m = naive->m[i] / (1 - pow(c->adam_beta1, n));
            double v = naive->v[i] / (1 - pow(c->adam_beta2, n));
            naive->p[i] -=
                rate * (m / (sqrt(v) + 1e-8) + (decay ? c->weight_decay : 0) * naive->p[i]);
            parameters->values[i] = (float)naive->p[i];
        }
    }
}

void naive_compare(const char *folder, const char *const *sets, size_t cut) {
    struct gs_error error = {0};
    struct gs_training_report report;
    gs_assert_ok(small_train(folder, sets, false, false, NULL, &report, &error), &error);
    struct gs_training_config *config = small_configure(folder, sets);
    struct naive naive = {.model = small_model(folder, "0")};
    struct gs_parameters *parameters = gs_model_parameters(naive.model);
    double **arrays[] = {&naive.p, &naive.m, &naive.v, &naive.g};
    for (size_t i = 0; i < 4; i++) *arrays[i] = calloc(parameters->stride, sizeof(double));
    for (size_t i = 0; i < parameters->stride; i++) naive.p[i] = (double)parameters->values[i];
    double loss = 0;
    for (size_t step = 0; step < config->total_steps; step++) {
        memset(naive.g, 0, parameters->stride * sizeof *naive.g);
        loss = 0;
        for (size_t part = 0; part < config->grad_accum; part++)
            loss += naive_gradient(&naive, config, step * config->grad_accum + part, cut) /
                    (double)config->grad_accum;
        for (size_t i = 0; i < parameters->stride; i++) naive.g[i] /= (double)config->grad_accum;
        naive_adamw(&naive, config, step);
    }
    gs_assert_near("loss of the last step", report.loss, loss, 0, 1e-5);
    struct gs_model *final = small_model(folder, "final");
    const struct gs_parameters *end = gs_model_parameters(final);
    for (size_t t = 0; t < end->tensor_count; t++)
        gs_assert_close(end->tensors[t].name, end->tensors[t].values, parameters->tensors[t].values,
                        end->tensors[t].count, 1e-3);
    for (size_t i = 0; i < 4; i++) free(*arrays[i]);
    gs_model_destroy(final);
    gs_model_destroy(naive.model);
    gs_training_config_destroy(config);
}
