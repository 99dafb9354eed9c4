#include "tests/core/evaluation/evaluation_support.h"

#include "core/base/memory.h"
#include "core/base/random.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The sizes of each kind, without the vocabulary. */
static const struct {
    const char *kind, *sizes;
} models[] = {
    {"gpn", "\"d_state\": 20, \"d_emb\": 12, \"d_ffn\": 24"},
    {"gpn_m", "\"d_state\": 20, \"d_emb\": 12, \"d_ffn\": 24, \"n_heads\": 2, \"d_key\": 5, "
              "\"d_val\": 6"},
    {"transformer", "\"hidden_dim\": 20, \"n_layers\": 2, \"n_heads\": 2, \"ffn_dim\": 24"},
    {"gdn", "\"hidden_dim\": 20, \"n_layers\": 2, \"n_heads\": 2, \"head_dim\": 5, \"expand_v\": "
            "2.0, \"ffn_dim\": 24"},
};

struct gs_model *gs_test_model(const char *kind, size_t vocab, uint64_t seed) {
    char text[256];
    size_t at = 0;
    while (strcmp(models[at].kind, kind) != 0) at++;
    snprintf(text, sizeof text, "{\"vocab_size\": %zu, %s}", vocab, models[at].sizes);
    struct gs_error error;
    struct gs_json *config;
    struct gs_model *model;
    gs_assert_ok(gs_json_parse(text, strlen(text), "test", &config, &error), &error);
    gs_assert_ok(gs_model_create(kind, config, &model, &error), &error);
    gs_json_destroy(config);
    struct gs_parameters *parameters = gs_model_parameters(model);
    gs_parameters_initialise(parameters, seed);
    struct gs_random random;
    gs_random_seed(&random, seed, "test/model");
    for (size_t i = 0; i < parameters->tensor_count; i++) {
        struct gs_tensor *tensor = &parameters->tensors[i];
        double size = strncmp(tensor->name, "embedding", 9) == 0 ? 0.7 : 0.2;
        for (size_t j = 0; j < tensor->count; j++)
            tensor->values[j] += (float)(size * gs_random_normal(&random));
    }
    return model;
}

/* Copies the decodable channel of the one sequence. */
struct copy {
    size_t channel, width;
    float *states;
};

static enum gs_status take(void *context, const struct gs_tap_block *block,
                           struct gs_error *error) {
    (void)error;
    struct copy *copy = context;
    if (block->channel != copy->channel) return GS_OK;
    for (size_t t = 0; t < block->steps; t++)
        memcpy(copy->states + (block->first_step + t) * copy->width,
               block->values + t * block->step_stride, copy->width * sizeof(float));
    return GS_OK;
}

static void log_softmax(const float *logits, size_t vocab, double *out) {
    double largest = -INFINITY, sum = 0;
    for (size_t id = 0; id < vocab; id++) largest = fmax(largest, (double)logits[id]);
    for (size_t id = 0; id < vocab; id++) sum += exp((double)logits[id] - largest);
    for (size_t id = 0; id < vocab; id++) out[id] = (double)logits[id] - largest - log(sum);
}

double *gs_test_log_probabilities(struct gs_model *model, const uint32_t *ids, size_t count,
                                  bool bf16) {
    struct gs_error error;
    struct gs_runner *runner;
    struct gs_state *state;
    size_t channels, vocab = gs_model_vocab(model), width = gs_model_state_width(model);
    gs_model_channels(model, &channels);
    bool *wanted = gs_calloc(channels, sizeof *wanted);
    struct copy copy = {gs_model_decodable_channel(model), width,
                        gs_calloc(count * width, sizeof(float))};
    wanted[copy.channel] = true;
    struct gs_tap tap = {&copy, wanted, take};
    struct gs_runner_options options = {.batch = 1, .steps = count, .bf16 = bf16};
    gs_assert_ok(gs_runner_create(model, &options, &runner, &error), &error);
    gs_assert_ok(gs_state_create(model, 1, &state, &error), &error);
    gs_assert_ok(gs_runner_forward(runner, state, ids, NULL, count, &tap, NULL, &error), &error);
    double *log_probability = gs_calloc(count * vocab, sizeof *log_probability);
    float *logits = gs_calloc(vocab, sizeof *logits);
    for (size_t t = 0; t < count; t++) {
        gs_assert_ok(
            gs_runner_decode(runner, copy.channel, copy.states + t * width, 1, logits, &error),
            &error);
        log_softmax(logits, vocab, log_probability + t * vocab);
    }
    gs_free(logits);
    gs_free(copy.states);
    gs_free(wanted);
    gs_state_destroy(state);
    gs_runner_destroy(runner);
    return log_probability;
}
