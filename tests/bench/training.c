/* Training and forward speed of a GPN+M against the sgemm peak of the same run.
 *
 *     bench_training [d e f H dk dv V B T [recompute_every]]
 *
 * FLOPs of training are 6 · parameters · tokens, of a forward 2 · parameters · tokens, and nothing
 * else. Each figure is the best of a few rounds: the machines are shared. */
#include "core/base/environment.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/kernels/blas.h"
#include "core/models/model.h"
#include "core/training/adamw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(enum gs_status status, const struct gs_error *error) {
    char text[2048];
    if (status == GS_OK) return;
    fprintf(stderr, "%s\n", gs_error_text(error, text, sizeof text));
    exit(gs_status_exit_code(status));
}

/* GFLOP/s of a square sgemm, the best of a few. */
static double sgemm_peak(void) {
    const size_t n = 2048;
    float *a = gs_calloc(n * n, 4), *b = gs_calloc(n * n, 4), *c = gs_calloc(n * n, 4);
    for (size_t i = 0; i < n * n; i++) a[i] = b[i] = (float)(i % 7) - 3;
    double best = 1e30;
    for (int round = 0; round < 5; round++) {
        double start = now();
        gs_blas_sgemm(GS_PLAIN, GS_PLAIN, n, n, n, 1, a, n, b, n, 0, c, n, NULL);
        double taken = now() - start;
        if (taken < best) best = taken;
    }
    gs_free(a);
    gs_free(b);
    gs_free(c);
    return 2.0 * (double)n * (double)n * (double)n / best / 1e9;
}

struct sizes {
    size_t d, e, f, heads, key, value, vocab, batch, steps, recompute;
};

static struct gs_model *make_model(const struct sizes *s) {
    struct gs_error error = {0};
    struct gs_model *model;
    struct gs_json *config = gs_json_new_object();
    const char *const keys[] = {"d_state", "d_emb", "d_ffn",     "n_heads",
                                "d_key",   "d_val", "vocab_size"};
    const size_t values[] = {s->d, s->e, s->f, s->heads, s->key, s->value, s->vocab};
    for (size_t i = 0; i < 7; i++)
        gs_json_set(config, keys[i], gs_json_new_integer((int64_t)values[i]));
    must(gs_model_create("gpn_m", config, &model, &error), &error);
    gs_json_destroy(config);
    gs_parameters_initialise(gs_model_parameters(model), 1);
    return model;
}

static void line(const char *what, double seconds, double tokens, double flops, double peak) {
    double rate = flops / seconds / 1e9;
    printf("%-28s %10.1f tokens/s %8.1f GFLOP/s %6.1f %% of sgemm\n", what, tokens / seconds, rate,
           100 * rate / peak);
}

static double best_of(double best, double value) {
    return value < best ? value : best;
}

int main(int argc, char **argv) {
    struct sizes s = {256, 128, 688, 8, 32, 64, 1024, 32, 256, 0};
    size_t *const fields[] = {&s.d,     &s.e,     &s.f,     &s.heads, &s.key,
                              &s.value, &s.vocab, &s.batch, &s.steps, &s.recompute};
    for (int i = 1; i < argc && i <= 10; i++) *fields[i - 1] = strtoul(argv[i], NULL, 10);

    struct gs_error error = {0};
    struct gs_model *model = make_model(&s);
    struct gs_parameters *parameters = gs_model_parameters(model), *gradients;
    struct gs_runner *training, *running;
    struct gs_state *state;
    struct gs_adamw *adamw;
    struct gs_runner_options options = {
        .batch = s.batch, .steps = s.steps, .train = true, .recompute_every = s.recompute};
    must(gs_runner_create(model, &options, &training, &error), &error);
    printf("a training runner takes %.1f MB\n", (double)gs_runner_bytes(model, &options) / 1e6);
    options.train = false;
    must(gs_runner_create(model, &options, &running, &error), &error);
    must(gs_state_create(model, s.batch, &state, &error), &error);
    must(gs_parameters_like(parameters, &gradients, &error), &error);
    struct gs_adamw_options adam = {0.9, 0.95, 1e-8, 0.1, 1.0};
    must(gs_adamw_create(parameters, &adam, &adamw, &error), &error);

    struct gs_random random;
    gs_random_seed(&random, 1, "bench");
    uint32_t *tokens = gs_calloc(s.batch * s.steps, sizeof *tokens);
    for (size_t i = 0; i < s.batch * s.steps; i++)
        tokens[i] = (uint32_t)gs_random_below(&random, s.vocab);
    float *nll = gs_calloc(s.batch * s.steps, sizeof *nll);

    double peak = sgemm_peak(), forward = 1e30, both = 1e30, whole = 1e30, alone = 1e30;
    for (int round = 0; round < 4; round++) {
        double start = now();
        gs_state_reset(state);
        must(gs_runner_forward(training, state, tokens, NULL, s.steps, NULL, nll, &error), &error);
        forward = best_of(forward, now() - start);
        must(gs_runner_backward(training, 1e-5f, gradients, NULL, &error), &error);
        both = best_of(both, now() - start);
        double norm = gs_adamw_norm(adamw, gradients);
        gs_adamw_update(adamw, parameters, gradients, norm, 1e-4);
        memset(gradients->values, 0, gradients->stride * sizeof(float));
        must(gs_runner_refresh(training, &error), &error);
        whole = best_of(whole, now() - start);
        start = now();
        gs_state_reset(state);
        must(gs_runner_forward(running, state, tokens, NULL, s.steps, NULL, nll, &error), &error);
        alone = best_of(alone, now() - start);
        peak = peak > sgemm_peak() ? peak : sgemm_peak();
    }
    double count = (double)(s.batch * s.steps), n = (double)parameters->count;
    printf("%.2f M parameters, batch %zu x %zu, %d threads, sgemm %.1f GFLOP/s\n", n / 1e6, s.batch,
           s.steps, gs_threads_get(), peak);
    line("forward (eval)", alone, count, 2 * n * count, peak);
    line("forward (training)", forward, count, 2 * n * count, peak);
    line("forward and backward", both, count, 6 * n * count, peak);
    line("whole training step", whole, count, 6 * n * count, peak);
    gs_free(tokens);
    gs_free(nll);
    gs_adamw_destroy(adamw);
    gs_parameters_destroy(gradients);
    gs_state_destroy(state);
    gs_runner_destroy(training);
    gs_runner_destroy(running);
    gs_model_destroy(model);
    return 0;
}
