/* A training run against a naive one, and what must be the same bits whatever the circumstances. */
#include "tests/core/training/small_run.h"

#include "core/base/environment.h"
#include "core/base/file.h"
#include "core/checkpoint/checkpoint.h"
#include "core/training/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the naive run: the model's own gradients, everything else anew and in double ------------ */

struct naive {
    struct gs_model *model;
    double *p, *m, *v, *g; /* as many as the parameters' one allocation holds */
};

/* Add the gradient of the mean loss of micro-batch `index`, `cut` tokens at a time. */
static double naive_gradient(struct naive *naive, const struct gs_training_config *c, size_t index,
                             size_t cut) {
    struct gs_error error = {0};
    struct gs_runner *runner = NULL;
    struct gs_state *state = NULL;
    struct gs_parameters *parameters = gs_model_parameters(naive->model), *gradients = NULL;
    const struct gs_runner_options options = {
        .batch = 1, .steps = cut, .train = true, .bf16 = c->bf16};
    gs_assert_ok(gs_runner_create(naive->model, &options, &runner, &error), &error);
    gs_assert_ok(gs_parameters_like(parameters, &gradients, &error), &error);
    double loss = 0;
    for (size_t b = 0; b < c->batch_size; b++) { /* one sequence at a time */
        const uint32_t *window = small_tokens() + (index * c->batch_size + b) * c->seq_len;
        gs_assert_ok(gs_state_create(naive->model, 1, &state, &error), &error);
        for (size_t start = 0; start < c->seq_len; start += cut) {
            size_t steps = c->seq_len - start < cut ? c->seq_len - start : cut;
            float nll[64];
            gs_assert_ok(
                gs_runner_forward(runner, state, window + start, NULL, steps, NULL, nll, &error),
                &error);
            gs_assert_ok(gs_runner_backward(runner, 1, gradients, NULL, &error), &error);
            for (size_t t = 0; t < steps; t++) loss += (double)nll[t];
        }
        gs_state_destroy(state);
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
    if (!isnan(c->clip_epsilon)) norm += c->clip_epsilon;
    double clip = norm > c->grad_clip_norm ? c->grad_clip_norm / norm : 1;
    struct gs_schedule schedule = {GS_COSINE_AFTER_WARMUP, c->learning_rate, c->min_lr_ratio,
                                   c->warmup_steps, c->total_steps};
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

static void compare_with_naive(const char *folder, const char *const *sets, size_t cut) {
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

static void test_against_naive(void **state) {
    (void)state;
    compare_with_naive("naive", NULL, 6);
}

/* The other recipe for a GPN; the epsilon is large so that it shows. */
static void test_recipe(void **state) {
    (void)state;
    const char *torch[] = {"optimizer.schedule=cosine_from_start", "optimizer.clip_epsilon=0.2",
                           NULL};
    compare_with_naive("torch", torch, 6);
    small_train_ok("optax", NULL);
    assert_false(small_same_weights("torch", "final", "optax", "final"));
}

/* Weights are rounded where they are used; what is updated is not. */
static void test_bf16(void **state) {
    (void)state;
    const char *bf16[] = {"training.bf16=true", "training.checkpoint_every=2", NULL};
    compare_with_naive("bf16_naive", bf16, 6);
    const char *all[] = {"training.bf16=true", "training.truncate_bptt=4", "training.grad_accum=3",
                         "training.batch_size=1", NULL};
    compare_with_naive("bf16_cut", all, 4);
}

static void test_truncated(void **state) {
    (void)state;
    const char *cut[] = {"training.truncate_bptt=4", NULL}; /* pieces of 4 and 2 */
    compare_with_naive("cut", cut, 4);
    /* cut at the window's end is not cut; cut earlier is another gradient */
    const char *whole[] = {"training.truncate_bptt=6", NULL};
    small_train_ok("uncut", whole);
    small_train_ok("never", NULL);
    small_assert_same_weights("uncut", "final", "never", "final");
    assert_false(small_same_weights("cut", "final", "never", "final"));
}

/* ---- the same in other ways ------------------------------------------------------------------ */

/* The norms of the gradient in a run's log. Adam and clipping hide the gradient's scale from the
 * weights, so the scale shows here alone. */
static size_t read_norms(const char *folder, double *norms, size_t most) {
    FILE *stream = fopen(gs_scratch_path("%s/run_train_log.csv", folder), "rb");
    assert_non_null(stream);
    char line[512];
    size_t count = 0;
    assert_non_null(fgets(line, sizeof line, stream));
    while (count < most && fgets(line, sizeof line, stream))
        assert_int_equal(sscanf(line, "%*d,%*f,%*[^,],%lf", &norms[count++]), 1);
    fclose(stream);
    return count;
}

static void assert_same_norms(const char *folder, const char *other) {
    double a[8], b[8];
    assert_int_equal(read_norms(folder, a, 8), 2);
    assert_int_equal(read_norms(other, b, 8), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(a[i] > 0.01);
        gs_assert_near("grad_norm", a[i], b[i], 1.1e-4, 1e-4); /* four digits are given */
    }
}

/* Two micro-batches of two windows are one of four, or four of one. */
static void test_accumulation(void **state) {
    (void)state;
    const char *one[] = {"training.batch_size=4", "training.grad_accum=1", NULL};
    const char *four[] = {"training.batch_size=1", "training.grad_accum=4", NULL};
    small_train_ok("accum_2", NULL);
    small_train_ok("accum_1", one);
    small_train_ok("accum_4", four);
    assert_same_norms("accum_2", "accum_1");
    assert_same_norms("accum_4", "accum_1");
    struct gs_model *models[] = {small_model("accum_2", "final"), small_model("accum_1", "final"),
                                 small_model("accum_4", "final")};
    const struct gs_parameters *a = gs_model_parameters(models[0]);
    for (size_t k = 1; k < 3; k++) {
        const struct gs_parameters *b = gs_model_parameters(models[k]);
        for (size_t t = 0; t < a->tensor_count; t++)
            gs_assert_close(a->tensors[t].name, b->tensors[t].values, a->tensors[t].values,
                            a->tensors[t].count, 1e-3);
    }
    for (size_t k = 0; k < 3; k++) gs_model_destroy(models[k]);
}

/* Two shards whose border lies inside a window are the same data as one file. */
static void test_shards(void **state) {
    (void)state;
    struct gs_error error = {0};
    gs_assert_ok(gs_folder_create(gs_scratch_path("shards"), &error), &error);
    small_config();
    struct gs_mapped_file tokens;
    gs_assert_ok(gs_file_map(gs_scratch_path("tokens.bin"), &tokens, &error), &error);
    gs_scratch_file("shards/data_0000.bin", tokens.bytes, 4 * 25);
    gs_scratch_file("shards/data_0001.bin", tokens.bytes + 4 * 25, tokens.size - 4 * 25);
    gs_file_unmap(&tokens);
    gs_scratch_file("shards/data_0000.index.json", "[25]", 4);
    gs_scratch_file("shards/data_0001.index.json", "[100, 175]", 10);
    static const char meta[] = "{\"tokenizer\":\"none\",\"vocab_size\":13,\"total_tokens\":300,"
                               "\"total_docs\":3,\"num_shards\":2}";
    gs_scratch_file("shards/meta.json", meta, sizeof meta - 1);
    const char *sets[] = {"dirs.data=shards", NULL};
    small_train_ok("from_shards", sets);
    small_train_ok("from_file", NULL);
    small_assert_same_weights("from_shards", "final", "from_file", "final");
}

static void test_start(void **state) {
    (void)state;
    small_train_ok("start", NULL);
    struct gs_model *zero = small_model("start", "0"), *again = small_model("start", "final");
    gs_parameters_initialise(gs_model_parameters(again), 5); /* the config's seed */
    const struct gs_parameters *p = gs_model_parameters(zero), *q = gs_model_parameters(again);
    assert_memory_equal(p->values, q->values, p->stride * sizeof *p->values);
    gs_model_destroy(zero);
    gs_model_destroy(again);
    /* the untrained model as init, under another seed, is the same run */
    const char *sets[] = {"init=start/run_0.safetensors", "training.seed=6", NULL};
    small_train_ok("from_init", sets);
    small_assert_same_weights("start", "final", "from_init", "final");
    const char *seed[] = {"training.seed=6", NULL};
    small_train_ok("other_seed", seed);
    assert_false(small_same_weights("start", "0", "other_seed", "0"));
    /* where a checkpoint comes from stands in it */
    struct gs_error error = {0};
    struct gs_checkpoint_info info;
    struct gs_model *model = NULL;
    const char *path = gs_scratch_path("start/run_6.safetensors");
    gs_assert_ok(gs_checkpoint_load(path, &model, &info, &error), &error);
    assert_int_equal(info.step, 6);
    assert_int_equal(info.seed, 5);
    gs_model_destroy(model);
}

/* ---- how a run ends -------------------------------------------------------------------------- */

static void test_report(void **state) {
    (void)state;
    struct gs_error error = {0};
    struct gs_training_report report;
    const char *steps[] = {"training.run_steps=5", NULL};
    gs_assert_ok(small_train("short", steps, false, false, NULL, &report, &error), &error);
    assert_int_equal(report.step, 5);
    assert_int_equal(report.tokens_used, 5 * 24);
    assert_int_equal(report.tokens_dropped, 0);
    assert_false(report.exhausted);
    assert_true(isfinite(report.loss) && report.tokens_a_second > 0);
}

/* 300 tokens are 25 micro-batches of 12, or 12 steps of two; half a step is left over. */
static void test_exhausted(void **state) {
    (void)state;
    struct gs_error error = {0};
    struct gs_training_report report;
    const char *long_run[] = {"training.total_steps=100", NULL};
    gs_assert_ok(small_train("exhausted", long_run, false, false, NULL, &report, &error), &error);
    assert_int_equal(report.step, 12);
    assert_int_equal(report.tokens_used, 288);
    assert_int_equal(report.tokens_dropped, 12);
    assert_true(report.exhausted);
    assert_true(gs_path_exists(gs_scratch_path("exhausted/run_final.safetensors")));
    gs_assert_error(small_train("exhausted", long_run, false, true, NULL, &report, &error),
                    GS_RANGE, &error, "tokens.bin", "2 batches", "found 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_naive), cmocka_unit_test(test_recipe),
        cmocka_unit_test(test_truncated),     cmocka_unit_test(test_bf16),
        cmocka_unit_test(test_accumulation),  cmocka_unit_test(test_shards),
        cmocka_unit_test(test_start),         cmocka_unit_test(test_report),
        cmocka_unit_test(test_exhausted),
    };
    gs_threads_set(1); /* tiny models: waiting for each other is all that more would do */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
