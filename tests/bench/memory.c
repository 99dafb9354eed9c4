/* What training takes of memory, by part: predicted before, counted by the system after a step.
 *
 *     bench_memory [d e f H dk dv V B T recompute_every [limit in MB]]
 *
 * Default: the paper's 129 M parameters, B 4, T 64, recomputing every 8, against 4,500 MB. Then how
 * the prediction grows with T, with recomputing and without. */
#include "core/base/memory.h"
#include "core/base/environment.h"
#include "core/base/memory_room.h"
#include "core/base/random.h"
#include "core/training/adamw.h"
#include "core/training/memory.h"
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIZES = 11 };
static size_t sizes[SIZES] = {2496, 768, 6656, 15, 128, 256, 32000, 4, 64, 8, 4500};
enum { VOCAB = 6, BATCH, STEPS, EVERY, LIMIT };

static struct gs_model *make_model(void) {
    static const char *const keys[] = {"d_state", "d_emb", "d_ffn",     "n_heads",
                                       "d_key",   "d_val", "vocab_size"};
    struct gs_error error = {0};
    struct gs_model *model = NULL;
    struct gs_json *config = gs_json_new_object();
    for (size_t i = 0; i < 7; i++)
        gs_json_set(config, keys[i], gs_json_new_integer((int64_t)sizes[i]));
    bench_must(gs_model_create("gpn_m", config, &model, &error), &error);
    gs_json_destroy(config);
    gs_parameters_initialise(gs_model_parameters(model), 1);
    return model;
}

/* One step on random tokens, with everything that a training run holds. */
static void step(struct gs_model *model, const struct gs_training_setting *setting) {
    struct gs_error error = {0};
    const struct gs_runner_options options = {.batch = setting->batch_size,
                                              .steps = setting->seq_len,
                                              .train = true,
                                              .recompute_every = setting->recompute_every};
    const struct gs_adamw_options adam = {
        .beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8, .weight_decay = 0.1, .clip_norm = 1.0};
    const size_t count = setting->batch_size * setting->seq_len;
    struct gs_parameters *parameters = gs_model_parameters(model), *gradients = NULL;
    struct gs_runner *runner = NULL;
    struct gs_state *state = NULL;
    struct gs_adamw *adamw = NULL;
    bench_must(gs_runner_create(model, &options, &runner, &error), &error);
    bench_must(gs_state_create(model, setting->batch_size, &state, &error), &error);
    bench_must(gs_parameters_like(parameters, &gradients, &error), &error);
    bench_must(gs_adamw_create(parameters, &adam, &adamw, &error), &error);
    uint32_t *tokens = gs_calloc(count, sizeof *tokens);
    float *nll = gs_calloc(count, sizeof *nll);
    struct gs_random random;
    gs_random_seed(&random, 1, "bench");
    for (size_t i = 0; i < count; i++) tokens[i] = (uint32_t)gs_random_below(&random, sizes[VOCAB]);
    bench_must(gs_runner_forward(runner, state, tokens, NULL, setting->seq_len, NULL, nll, &error),
               &error);
    bench_must(gs_runner_backward(runner, 1e-5f, gradients, NULL, &error), &error);
    gs_adamw_update(adamw, parameters, gradients, gs_adamw_norm(adamw, gradients), 1e-4);
    bench_must(gs_runner_refresh(runner, &error), &error);
    gs_free(tokens);
    gs_free(nll);
    gs_adamw_destroy(adamw);
    gs_parameters_destroy(gradients);
    gs_state_destroy(state);
    gs_runner_destroy(runner);
}

static void line(const char *what, size_t bytes, size_t whole) {
    printf("%-44s %10.1f MB %6.1f %%\n", what, (double)bytes / 1e6,
           100 * (double)bytes / (double)whole);
}

/* The prediction for windows of several lengths. */
static void print_growth(const struct gs_model *model, struct gs_training_setting setting) {
    struct gs_training_memory memory;
    size_t every = setting.recompute_every ? setting.recompute_every : 32;
    printf("\n%8s %22s %22s\n", "T", "recomputing", "all activations");
    for (size_t steps = 64; steps <= 4096; steps *= 4) {
        setting.seq_len = steps;
        printf("%8zu", steps);
        for (int all = 0; all < 2; all++) {
            setting.recompute_every = all ? 0 : every;
            gs_training_memory_predict(model, &setting, 0, &memory);
            printf(" %19.1f MB", (double)memory.total / 1e6);
        }
        printf("\n");
    }
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc && i <= SIZES; i++) sizes[i - 1] = strtoul(argv[i], NULL, 10);
    const struct gs_training_setting setting = {.batch_size = sizes[BATCH],
                                                .grad_accum = 1,
                                                .seq_len = sizes[STEPS],
                                                .recompute_every = sizes[EVERY]};
    size_t held = gs_memory_resident();
    struct gs_model *model = make_model();
    struct gs_training_memory memory;
    gs_training_memory_predict(model, &setting, held, &memory);
    step(model, &setting);
    const size_t peak = gs_memory_peak(), values = 4 * gs_model_parameters(model)->count;
    printf("%.2f M parameters, batch %zu x %zu, recomputing every %zu, %d threads\n",
           (double)values / 4e6, sizes[BATCH], sizes[STEPS], sizes[EVERY], gs_threads_get());
    line("parameters, gradients, moments", memory.parameters, memory.total);
    line("packed weights, activations, states, tokens", memory.batch, memory.total);
    line("the program", memory.program, memory.total);
    line("predicted", memory.total, memory.total);
    line("counted (peak resident)", peak, memory.total);
    printf("predicted over counted %.3f; counted over the limit of %zu MB %.3f\n",
           (double)memory.total / (double)peak, sizes[LIMIT],
           (double)peak / 1e6 / (double)sizes[LIMIT]);
    print_growth(model, setting);
    gs_model_destroy(model);
    return 0;
}
