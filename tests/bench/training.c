/* Training and forward speed of a model against the sgemm peak of the same run.
 *
 *     bench_training [d e f H dk dv V B T [recompute_every [rounds]]]     a GPN+M
 *     bench_training KIND [KEY=VALUE …]           any kind: keys of its config's model object, and
 *                                                 batch, steps, recompute, rounds
 *     bench_training transformer vocab_size=1024 hidden_dim=256 n_layers=6 n_heads=4 ffn_dim=688
 *
 * FLOPs of training are 6 · parameters · tokens, of a forward 2 · parameters · tokens, and nothing
 * else. The machines are shared, so each round is measured beside a sgemm of the same length; the
 * figures are medians over the rounds. */
#include "core/base/environment.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/checkpoint/checkpoint.h"
#include "core/kernels/blas.h"
#include "core/models/model.h"
#include "core/training/adamw.h"
#include "tests/bench/bench.h"
#include "tests/bench/profile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the limit ---------------------------------------------------------------------------- */

enum { SQUARE = 2048, MOST_ROUNDS = 25 };

/* GFLOP/s of square products through BLAS for about `seconds`. */
static double sgemm_rate(double seconds) {
    static float *a, *b, *c;
    const size_t n = SQUARE;
    for (float **matrix[3] = {&a, &b, &c}, ***m = matrix; !*matrix[2] && m < matrix + 3; m++) {
        **m = gs_calloc(n * n, sizeof(float));
        for (size_t i = 0; i < n * n; i++) (**m)[i] = (float)(i % 7) - 3;
    }
    double start = bench_now(), taken = 0, flops = 0;
    do {
        gs_blas_sgemm(GS_PLAIN, GS_PLAIN, n, n, n, 1, a, n, b, n, 0, c, n, NULL);
        flops += 2.0 * (double)n * (double)n * (double)n;
        taken = bench_now() - start;
    } while (taken < seconds);
    return flops / taken / 1e9;
}

/* What is asked for: the model's own keys, and how it is run. */
struct asked {
    const char *kind;
    struct gs_json *model;
    size_t batch, steps, recompute, rounds; /* steps: predicted tokens of a window */
};

static void set_number(struct gs_json *config, const char *key, const char *value) {
    if (strchr(value, '.'))
        gs_json_set(config, key, gs_json_new_number(strtod(value, NULL)));
    else
        gs_json_set(config, key, gs_json_new_integer(strtoll(value, NULL, 10)));
}

/* Numbers alone: a GPN+M. */
static void read_numbers(int argc, char **argv, struct asked *asked) {
    static const char *const keys[] = {"d_state", "d_emb", "d_ffn",     "n_heads",
                                       "d_key",   "d_val", "vocab_size"};
    static const char *const usual[] = {"256", "128", "688", "8", "32", "64", "1024"};
    size_t *const rest[] = {&asked->batch, &asked->steps, &asked->recompute, &asked->rounds};
    for (int i = 0; i < 7; i++)
        set_number(asked->model, keys[i], i + 1 < argc ? argv[i + 1] : usual[i]);
    for (int i = 8; i < argc && i < 12; i++) *rest[i - 8] = strtoul(argv[i], NULL, 10);
}

static void read_words(int argc, char **argv, struct asked *asked) {
    static const char *const names[] = {"batch", "steps", "recompute", "rounds"};
    size_t *const fields[] = {&asked->batch, &asked->steps, &asked->recompute, &asked->rounds};
    asked->kind = argv[1];
    for (int i = 2; i < argc; i++) {
        char key[64];
        const char *equals = strchr(argv[i], '=');
        if (!equals) continue;
        snprintf(key, sizeof key, "%.*s", (int)(equals - argv[i]), argv[i]);
        size_t own = 0;
        while (own < 4 && strcmp(key, names[own]) != 0) own++;
        if (own < 4)
            *fields[own] = strtoul(equals + 1, NULL, 10);
        else
            set_number(asked->model, key, equals + 1);
    }
}

static struct asked read_arguments(int argc, char **argv) {
    struct asked asked = {"gpn_m", gs_json_new_object(), 32, 256, 0, 9};
    if (argc > 1 && (argv[1][0] < '0' || argv[1][0] > '9'))
        read_words(argc, argv, &asked);
    else
        read_numbers(argc, argv, &asked);
    if (asked.rounds < 1 || asked.rounds > MOST_ROUNDS) asked.rounds = MOST_ROUNDS;
    return asked;
}

/* What each round gave: GFLOP/s, and its ratio to the sgemm of the same moment. */
struct figure {
    const char *what;
    double rate[MOST_ROUNDS], ratio[MOST_ROUNDS];
};

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_figure(struct figure *f, size_t rounds, double flops_per_token) {
    qsort(f->rate, rounds, sizeof(double), ascending);
    qsort(f->ratio, rounds, sizeof(double), ascending);
    printf("%-24s %9.1f tokens/s %7.1f GFLOP/s  %5.1f %% of sgemm (rounds %.1f - %.1f %%)\n",
           f->what, f->rate[rounds / 2] * 1e9 / flops_per_token, f->rate[rounds / 2],
           100 * f->ratio[rounds / 2], 100 * f->ratio[0], 100 * f->ratio[rounds - 1]);
}

/* ---- what is measured --------------------------------------------------------------------- */

struct bench {
    struct asked asked;
    size_t window; /* tokens of a sequence: steps, and those that are not predicted */
    struct gs_model *model;
    struct gs_parameters *parameters, *gradients;
    struct gs_runner *training, *running;
    struct gs_state *state;
    struct gs_adamw *adamw;
    uint32_t *tokens;
    float *nll;
};

static void run(struct bench *b, struct gs_runner *runner) {
    struct gs_error error = {0};
    gs_state_reset(b->state);
    bench_must(
        gs_runner_forward(runner, b->state, b->tokens, NULL, b->window, NULL, b->nll, &error),
        &error);
}

static void evaluate(struct bench *b) {
    run(b, b->running);
}
static void forward(struct bench *b) {
    run(b, b->training);
}
static void backward(struct bench *b) {
    struct gs_error error = {0};
    bench_must(gs_runner_backward(b->training, 1e-5f, b->gradients, NULL, &error), &error);
}
static void optimise(struct bench *b) {
    struct gs_error error = {0};
    gs_adamw_update(b->adamw, b->parameters, b->gradients, gs_adamw_norm(b->adamw, b->gradients),
                    1e-4);
    memset(b->gradients->values, 0, b->gradients->stride * sizeof(float));
    bench_must(gs_runner_refresh(b->training, &error), &error);
}
static void step(struct bench *b) {
    forward(b);
    backward(b);
    optimise(b);
}

static void measure(struct bench *b, void (*work)(struct bench *), double flops, size_t round,
                    struct figure *figure) {
    double start = bench_now();
    work(b);
    double taken = bench_now() - start;
    figure->rate[round] = flops / taken / 1e9;
    /* Beside it, as long: noise of the machine then meets both. */
    figure->ratio[round] = figure->rate[round] / sgemm_rate(taken < 1 ? taken : 1);
}

static void profile(struct bench *b, void (*work)(struct bench *), const char *what) {
    bench_profile_vocabulary(gs_model_vocab(b->model));
    bench_profile_begin();
    double start = bench_now();
    work(b);
    double taken = bench_now() - start;
    bench_profile_end(what, taken);
    printf("    sgemm right after: %.1f GFLOP/s\n", sgemm_rate(taken < 1 ? taken : 1));
}

/* A checkpoint and a plain write of as many bytes, both to the disk's own confirmation. */
static void measure_saving(struct bench *b) {
    struct gs_error error = {0};
    const char *folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/bench_training_%ld.safetensors", folder ? folder : "/tmp",
             (long)getpid());
    double start = bench_now();
    bench_must(gs_checkpoint_save(path, true, b->model, 0, 0, &error), &error);
    double saving = bench_now() - start;
    const char *bytes = (const char *)b->parameters->values;
    size_t left = b->parameters->stride * sizeof(float), size = left;
    start = bench_now();
    int file = open(path, O_WRONLY | O_TRUNC);
    while (file >= 0 && left > 0) {
        ssize_t done = write(file, bytes + (size - left), left);
        if (done <= 0) break;
        left -= (size_t)done;
    }
    if (file < 0 || left || fsync(file) || close(file)) perror(path);
    double plain = bench_now() - start;
    unlink(path);
    printf("saving a checkpoint of %.1f MB, %.3f s: %.0f %% of a plain write's speed\n",
           (double)size / 1e6, saving, 100 * plain / saving);
}

static void make(struct bench *b) {
    struct gs_error error = {0};
    const struct asked *s = &b->asked;
    bench_must(gs_model_create(s->kind, s->model, &b->model, &error), &error);
    b->parameters = gs_model_parameters(b->model);
    gs_parameters_initialise(b->parameters, 1);
    b->window = s->steps + gs_model_first(b->model);
    struct gs_runner_options options = {.batch = s->batch,
                                        .steps = b->window,
                                        .train = true,
                                        .recompute_every = s->recompute,
                                        .last_is_target = true};
    bench_must(gs_runner_create(b->model, &options, &b->training, &error), &error);
    printf("%s, %.2f M parameters, batch %zu x %zu, %d threads; a training runner takes %.1f MB\n",
           s->kind, (double)b->parameters->count / 1e6, s->batch, s->steps, gs_threads_get(),
           (double)gs_runner_bytes(b->model, &options) / 1e6);
    options.train = false;
    bench_must(gs_runner_create(b->model, &options, &b->running, &error), &error);
    bench_must(gs_state_create(b->model, s->batch, &b->state, &error), &error);
    bench_must(gs_parameters_like(b->parameters, &b->gradients, &error), &error);
    struct gs_adamw_options adam = {
        .beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8, .weight_decay = 0.1, .clip_norm = 1.0};
    bench_must(gs_adamw_create(b->parameters, &adam, &b->adamw, &error), &error);
    struct gs_random random;
    gs_random_seed(&random, 1, "bench");
    b->tokens = gs_calloc(s->batch * b->window, sizeof *b->tokens);
    for (size_t i = 0; i < s->batch * b->window; i++)
        b->tokens[i] = (uint32_t)gs_random_below(&random, gs_model_vocab(b->model));
    b->nll = gs_calloc(s->batch * b->window, sizeof *b->nll);
}

static void release(struct bench *b) {
    gs_free(b->tokens);
    gs_free(b->nll);
    gs_adamw_destroy(b->adamw);
    gs_parameters_destroy(b->gradients);
    gs_state_destroy(b->state);
    gs_runner_destroy(b->training);
    gs_runner_destroy(b->running);
    gs_model_destroy(b->model);
    gs_json_destroy(b->asked.model);
}

int main(int argc, char **argv) {
    struct bench b = {.asked = read_arguments(argc, argv)};
    const struct asked *s = &b.asked;
    make(&b);
    step(&b);
    static struct figure evaluating = {.what = "forward (eval)"},
                         training = {.what = "training step"};
    const double count = (double)(s->batch * s->steps), n = (double)b.parameters->count;
    for (size_t round = 0; round < s->rounds; round++) {
        measure(&b, evaluate, 2 * n * count, round, &evaluating);
        measure(&b, step, 6 * n * count, round, &training);
    }
    print_figure(&evaluating, s->rounds, 2 * n);
    print_figure(&training, s->rounds, 6 * n);
    profile(&b, evaluate, "forward (eval)");
    profile(&b, forward, "forward");
    profile(&b, backward, "backward");
    profile(&b, optimise, "optimiser and packing");
    measure_saving(&b);
    release(&b);
    return 0;
}
