/* Evaluation of a GPN+M against the memory bandwidth of the same run: with few sequences side by
 * side, a step is a read of all weights.
 *
 *     bench_eval [B [T [d e f H dk dv V]]]        default: the paper's model, B 1
 *
 * Bytes needed a token: what the recurrence multiplies with (the projections into and out of a
 * layer and the head) is read once a step, for all B sequences; the output matrix and the fusion
 * of tokens do not feed back, so they are read once a stretch of STRETCH steps. The strict figure
 * counts every weight at every step instead. Neither counts the matrix memories, activations and
 * logits, which are read and written beside. The limit is the fastest of many sums over an array
 * as large as the weights, by all threads, each along one or several places at once, in pages of
 * either size. */
#include "core/base/environment.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/models/model.h"
#include "tests/bench/bench.h"
#include "tests/bench/profile.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { STRETCH = 32, ROUNDS = 7 };

struct sizes {
    size_t batch, steps, d, e, f, heads, key, value, vocab;
};

/* ---- the limit ---- */

typedef uint64_t words __attribute__((vector_size(16)));

/* A thread's part as `streams` parts side by side, each with sums of its own, so that only memory
 * can be what is waited for. */
static inline __attribute__((always_inline)) uint64_t sum_streams(const words *from, size_t count,
                                                                  size_t streams) {
    enum { MOST = 8, LINE = 4 };
    const size_t each = count / streams / LINE * LINE;
    words sums[MOST] = {{0}};
    for (size_t i = 0; i < each; i += LINE)
        for (size_t s = 0; s < streams; s++)
            for (size_t j = 0; j < LINE; j++) sums[s] += from[s * each + i + j];
    for (size_t s = 1; s < streams; s++) sums[0] += sums[s];
    return sums[0][0] + sums[0][1];
}

static uint64_t sum_part(const words *from, size_t count, size_t streams) {
    return streams == 1   ? sum_streams(from, count, 1)
           : streams == 4 ? sum_streams(from, count, 4)
                          : sum_streams(from, count, 8);
}

static uint64_t sum_all(const words *array, size_t count, size_t streams) {
    uint64_t total = 0;
    const size_t threads = (size_t)gs_threads_get();
#pragma omp parallel for schedule(static) reduction(+ : total)
    for (size_t i = 0; i < threads; i++) {
        size_t first = count * i / threads, last = count * (i + 1) / threads;
        total += sum_part(array + first, last - first, streams);
    }
    return total;
}

/* Arrays of the weights' size, in pages of the usual size and in large ones. */
struct limit {
    words *plain, *large;
    size_t count;
};

static words *map(size_t bytes, int advice) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        perror("an array as large as the weights");
        exit(3);
    }
    madvise(at, bytes, advice);
    words *array = at;
    for (size_t i = 0; i < bytes / sizeof *array; i++) array[i] = (words){i, 1};
    return array;
}

static void limit_create(struct limit *limit, size_t bytes) {
    *limit = (struct limit){.count = bytes / sizeof(words)};
    limit->plain = map(bytes, MADV_NOHUGEPAGE);
    limit->large = map(bytes, MADV_HUGEPAGE);
}

/* The fastest of one round, bytes a second. */
static double limit_measure(const struct limit *limit) {
    static const size_t streams[] = {1, 4, 8};
    const words *const arrays[] = {limit->plain, limit->large};
    double best = 0;
    for (size_t i = 0; i < 6; i++) {
        double start = bench_now();
        volatile uint64_t sum = sum_all(arrays[i % 2], limit->count, streams[i / 2]);
        (void)sum;
        double rate = (double)(limit->count * sizeof(words)) / (bench_now() - start);
        if (rate > best) best = rate;
    }
    return best;
}

/* ---- the model ---- */

static struct gs_model *make_model(const struct sizes *s) {
    struct gs_error error = {0};
    struct gs_model *model;
    struct gs_json *config = gs_json_new_object();
    const char *const keys[] = {"d_state", "d_emb", "d_ffn",     "n_heads",
                                "d_key",   "d_val", "vocab_size"};
    const size_t values[] = {s->d, s->e, s->f, s->heads, s->key, s->value, s->vocab};
    for (size_t i = 0; i < 7; i++)
        gs_json_set(config, keys[i], gs_json_new_integer((int64_t)values[i]));
    bench_must(gs_model_create("gpn_m", config, &model, &error), &error);
    gs_json_destroy(config);
    gs_parameters_initialise(gs_model_parameters(model), 1);
    return model;
}

/* Bytes of the weights that a step needs, and of those that a stretch needs. */
static void count_bytes(const struct sizes *s, double *step, double *stretch) {
    const double d = (double)s->d, e = (double)s->e, f = (double)s->f;
    const double keys = (double)(s->heads * s->key), values = (double)(s->heads * s->value);
    double in = 2 * f + d + 2 * keys + 2 * values + 2 * (double)s->heads;
    *step = 4 * (d * in + f * d + values * d + d * (d + e));
    *stretch = 4 * (e * d + e * (double)s->vocab);
}

struct run {
    struct gs_runner *runner;
    struct gs_state *state;
    uint32_t *tokens;
    float *nll;
    size_t steps;
};

static double forward(const struct run *run, bool decode) {
    struct gs_error error = {0};
    gs_state_reset(run->state);
    double start = bench_now();
    bench_must(gs_runner_forward(run->runner, run->state, run->tokens, NULL, run->steps, NULL,
                                 decode ? run->nll : NULL, &error),
               &error);
    return bench_now() - start;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds of each round and what could be read in it, bytes a second. */
struct rounds {
    double whole[ROUNDS], recurrence[ROUNDS], limit[ROUNDS];
};

/* One line: bytes read in a run of `seconds`, against the reading of the same round and the fastest
 * of all. */
static void line(const char *what, double bytes, double steps, const double *seconds,
                 const struct rounds *rounds) {
    double share[ROUNDS], fastest = 1e30, limit = 0;
    for (size_t i = 0; i < ROUNDS; i++) {
        share[i] = 100 * bytes / seconds[i] / rounds->limit[i];
        if (seconds[i] < fastest) fastest = seconds[i];
        if (rounds->limit[i] > limit) limit = rounds->limit[i];
    }
    qsort(share, ROUNDS, sizeof *share, ascending);
    printf("%-26s %7.1f MB %7.2f GB/s %6.1f %% of the fastest reading; by round %.1f %% "
           "(%.1f - %.1f)\n",
           what, bytes / steps / 1e6, bytes / fastest / 1e9, 100 * bytes / fastest / limit,
           share[ROUNDS / 2], share[0], share[ROUNDS - 1]);
}

static double least(const double *values) {
    double found = values[0];
    for (size_t i = 1; i < ROUNDS; i++)
        if (values[i] < found) found = values[i];
    return found;
}

static void report(const struct sizes *s, const struct rounds *rounds) {
    double step, stretch, steps = (double)s->steps, tokens = steps * (double)s->batch;
    double whole = least(rounds->whole), recurrence = least(rounds->recurrence);
    count_bytes(s, &step, &stretch);
    double needed = step * steps + stretch * (double)((s->steps + STRETCH - 1) / STRETCH);
    printf("%.2f tokens/s, %.2f ms a step, of which decoding %.1f %%\n", tokens / whole,
           1e3 * whole / steps, 100 * (1 - recurrence / whole));
    line("weights needed a step", needed, steps, rounds->whole, rounds);
    line("  without decoding", step * steps, steps, rounds->recurrence, rounds);
    line("every weight at every step", (step + stretch) * steps, steps, rounds->whole, rounds);
}

int main(int argc, char **argv) {
    struct sizes s = {1, 64, 2496, 768, 6656, 15, 128, 256, 32000};
    size_t *const fields[] = {&s.batch, &s.steps, &s.d,     &s.e,    &s.f,
                              &s.heads, &s.key,   &s.value, &s.vocab};
    for (int i = 1; i < argc && i <= 9; i++) *fields[i - 1] = strtoul(argv[i], NULL, 10);

    struct gs_error error = {0};
    struct gs_model *model = make_model(&s);
    struct run run = {.steps = s.steps};
    struct gs_runner_options options = {.batch = s.batch, .steps = s.steps};
    bench_must(gs_runner_create(model, &options, &run.runner, &error), &error);
    bench_must(gs_state_create(model, s.batch, &run.state, &error), &error);
    run.tokens = gs_calloc(s.batch * s.steps, sizeof *run.tokens);
    run.nll = gs_calloc(s.batch * s.steps, sizeof *run.nll);
    struct gs_random random;
    gs_random_seed(&random, 1, "bench");
    for (size_t i = 0; i < s.batch * s.steps; i++)
        run.tokens[i] = (uint32_t)gs_random_below(&random, s.vocab);
    const size_t parameters = gs_model_parameters(model)->count;
    struct limit limit;
    limit_create(&limit, parameters * sizeof(float) / sizeof(words) * sizeof(words));

    struct rounds rounds;
    double best = 0;
    for (int i = 0; i < ROUNDS; i++) {
        rounds.limit[i] = limit_measure(&limit);
        rounds.whole[i] = forward(&run, true);
        rounds.recurrence[i] = forward(&run, false);
        if (rounds.limit[i] > best) best = rounds.limit[i];
    }
    printf("%.1f M parameters, %zu x %zu tokens, %d threads, reading %.1f MB at %.2f GB/s\n",
           (double)parameters / 1e6, s.batch, s.steps, gs_threads_get(),
           (double)(limit.count * sizeof(words)) / 1e6, best / 1e9);
    report(&s, &rounds);
    bench_profile_begin();
    bench_profile_end("eval", forward(&run, true));

    munmap(limit.plain, limit.count * sizeof(words));
    munmap(limit.large, limit.count * sizeof(words));
    gs_free(run.tokens);
    gs_free(run.nll);
    gs_state_destroy(run.state);
    gs_runner_destroy(run.runner);
    gs_model_destroy(model);
    return 0;
}
