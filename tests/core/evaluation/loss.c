/* The loss on a token stream against decoding every state alone and summing in double. */
#include "core/evaluation/loss.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/checkpoint/checkpoint.h"
#include "core/text/shards.h"
#include "tests/core/evaluation/evaluation_support.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VOCAB = 31, TOKENS = 203 };

/* Tokens in shards of 37, so that windows cross borders. */
static struct gs_tokens *make_tokens(uint32_t *ids) {
    struct gs_error error;
    struct gs_shards *shards;
    struct gs_tokens *tokens;
    struct gs_random random;
    gs_random_seed(&random, 9, "test/loss");
    for (size_t i = 0; i < TOKENS; i++) ids[i] = (uint32_t)gs_random_below(&random, VOCAB);
    const char *path = gs_scratch_path("tokens");
    gs_assert_ok(gs_shards_create(path, 37, true, &shards, &error), &error);
    for (size_t i = 0; i < TOKENS; i += 29)
        gs_assert_ok(gs_shards_add(shards, ids + i, 29, &error), &error);
    gs_assert_ok(gs_shards_finish(shards, "test", NULL, VOCAB, &error), &error);
    gs_shards_destroy(shards);
    gs_assert_ok(gs_tokens_open(path, NULL, &tokens, &error), &error);
    return tokens;
}

static struct gs_loss *evaluate(struct gs_model *model, const struct gs_tokens *tokens,
                                struct gs_loss_options options) {
    struct gs_error error;
    struct gs_loss *loss;
    gs_assert_ok(gs_evaluate_loss(model, tokens, &options, NULL, &loss, &error), &error);
    return loss;
}

static void assert_against_naive(const char *kind, struct gs_loss_options options) {
    uint32_t ids[TOKENS];
    struct gs_tokens *tokens = make_tokens(ids);
    struct gs_model *model = gs_test_model(kind, VOCAB, 3);
    struct gs_loss *loss = evaluate(model, tokens, options);
    size_t length = loss->windows.length, first = gs_model_first(model);
    double *by_position = gs_calloc(length, sizeof *by_position), sum = 0;
    uint64_t count = 0;
    for (uint64_t w = 0; w < loss->windows.count; w++) {
        const uint32_t *window = ids + (options.skip + w) * length;
        double *log_probability = gs_test_log_probabilities(model, window, length, options.bf16);
        for (size_t t = 0; t + first < length; t++) {
            double nll = -log_probability[t * VOCAB + window[t + first]];
            by_position[t + first] += nll;
            sum += nll;
            count++;
        }
        gs_free(log_probability);
    }
    assert_int_equal(loss->tokens, count);
    gs_assert_near("loss", loss->loss, sum / (double)count, 0, 2e-6);
    gs_assert_near("perplexity", loss->perplexity, exp(sum / (double)count), 0, 1e-5);
    for (size_t t = first; t < length; t++)
        gs_assert_near("by position", loss->by_position[t],
                       by_position[t] / (double)loss->windows.count, 1e-6, 5e-6);
    assert_true(loss->loss > 0.5); /* a model that says something, and not the right thing */
    gs_free(by_position);
    gs_loss_destroy(loss);
    gs_model_destroy(model);
    gs_tokens_close(tokens);
}

static void test_against_naive(void **state) {
    (void)state;
    assert_against_naive("gpn", (struct gs_loss_options){.length = 40});
    assert_against_naive("gpn_m", (struct gs_loss_options){.length = 40, .batch = 2});
    assert_against_naive("gpn_m",
                         (struct gs_loss_options){.length = 13, .skip = 2, .sequences = 5});
    assert_against_naive("gpn_m", (struct gs_loss_options){.length = 50, .bf16 = true});
    assert_against_naive("gpn_m", (struct gs_loss_options){0});
    assert_against_naive("gpn", (struct gs_loss_options){.length = 1});
}

/* Models that predict the next token: the first one of a window is not predicted. */
static void test_next_token(void **state) {
    (void)state;
    static const char *const kinds[] = {"transformer", "gdn"};
    for (size_t i = 0; i < 2; i++) {
        assert_against_naive(kinds[i], (struct gs_loss_options){.length = 40, .batch = 2});
        assert_against_naive(kinds[i], (struct gs_loss_options){.length = 13, .skip = 2});
        assert_against_naive(kinds[i], (struct gs_loss_options){.length = 50, .bf16 = true});
        assert_against_naive(kinds[i], (struct gs_loss_options){.length = 2});
        struct gs_error error;
        uint32_t ids[TOKENS];
        struct gs_tokens *tokens = make_tokens(ids);
        struct gs_model *model = gs_test_model(kinds[i], VOCAB, 3);
        struct gs_loss *loss;
        struct gs_loss_options one = {.length = 1};
        gs_assert_error(gs_evaluate_loss(model, tokens, &one, NULL, &loss, &error), GS_RANGE,
                        &error, "above 1", "found 1");
        gs_model_destroy(model);
        gs_tokens_close(tokens);
    }
}

static void assert_same_in_batches(const char *kind) {
    uint32_t ids[TOKENS];
    struct gs_tokens *tokens = make_tokens(ids);
    struct gs_model *model = gs_test_model(kind, VOCAB, 4);
    struct gs_loss *alone =
        evaluate(model, tokens, (struct gs_loss_options){.length = 20, .batch = 1});
    for (size_t batch = 2; batch <= 11; batch += 3) {
        struct gs_loss *loss =
            evaluate(model, tokens, (struct gs_loss_options){.length = 20, .batch = batch});
        assert_memory_equal(&loss->loss, &alone->loss, sizeof loss->loss);
        for (size_t t = loss->first; t < 20; t++)
            assert_memory_equal(&loss->by_position[t], &alone->by_position[t], sizeof(double));
        gs_loss_destroy(loss);
    }
    gs_loss_destroy(alone);
    gs_model_destroy(model);
    gs_tokens_close(tokens);
}

static void test_bits_do_not_depend_on_the_batch(void **state) {
    (void)state;
    static const char *const kinds[] = {"gpn_m", "transformer", "gdn"};
    for (size_t i = 0; i < 3; i++) assert_same_in_batches(kinds[i]);
}

static bool always(void *context) {
    (void)context;
    return true;
}

static void test_refusals(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_loss *loss;
    uint32_t ids[TOKENS];
    struct gs_tokens *tokens = make_tokens(ids);
    struct gs_model *model = gs_test_model("gpn", VOCAB, 5);
    struct gs_loss_options options = {.length = TOKENS + 1};
    gs_assert_error(gs_evaluate_loss(model, tokens, &options, NULL, &loss, &error), GS_RANGE,
                    &error, "203", "204");
    assert_null(loss);
    options = (struct gs_loss_options){.length = 10, .batch = 1};
    struct gs_progress progress = {.stop = always};
    gs_assert_error(gs_evaluate_loss(model, tokens, &options, &progress, &loss, &error),
                    GS_INTERRUPTED, &error, "stopped");
    struct gs_parameters *parameters = gs_model_parameters(model);
    gs_parameters_find(parameters, "decode_norm_w")->values[0] = NAN;
    gs_assert_error(gs_evaluate_loss(model, tokens, &options, NULL, &loss, &error), GS_NUMERIC,
                    &error, "window 0", "position 0");
    gs_model_destroy(model);
    model = gs_test_model("gpn", 20, 5);
    gs_assert_error(gs_evaluate_loss(model, tokens, &options, NULL, &loss, &error), GS_RANGE,
                    &error, "below 20", "tokens");
    assert_null(loss);
    gs_loss_destroy(NULL);
    gs_model_destroy(model);
    gs_tokens_close(tokens);
}

static void test_first_token_costs(void **state) {
    (void)state;
    /* A window of one token is predicted from the state 0 alone: the same distribution each time,
     * so the loss is the cross-entropy of the unigram counts with it. */
    struct gs_error error;
    uint32_t ids[TOKENS];
    struct gs_tokens *tokens = make_tokens(ids);
    struct gs_model *model = gs_test_model("gpn_m", VOCAB, 6);
    struct gs_loss *loss = evaluate(model, tokens, (struct gs_loss_options){.length = 1});
    uint64_t counts[VOCAB];
    gs_assert_ok(gs_tokens_histogram(tokens, VOCAB, counts, &error), &error);
    double *log_probability = gs_test_log_probabilities(model, ids, 1, false), expected = 0;
    for (size_t id = 0; id < VOCAB; id++) expected -= (double)counts[id] * log_probability[id];
    gs_assert_near("loss", loss->loss, expected / TOKENS, 0, 2e-6);
    gs_free(log_probability);
    gs_loss_destroy(loss);
    gs_model_destroy(model);
    gs_tokens_close(tokens);
}

/* Losses of the authors' code on cases that start from the state 0: `loss` (mean of `nll_next`) of
 * expected.h5 in the same folders. */
static void assert_reference(const char *name, size_t length, bool bf16, double expected) {
    char path[128];
    struct gs_error error;
    struct gs_model *model;
    struct gs_tokens *tokens;
    snprintf(path, sizeof path, "reference/%s/params.safetensors", name);
    const char *checkpoint = gs_shared_path(path);
    snprintf(path, sizeof path, "reference/%s/tokens.bin", name);
    const char *data = gs_shared_path(path);
    if (!checkpoint || !data) skip();
    gs_assert_ok(gs_checkpoint_load(checkpoint, &model, NULL, &error), &error);
    gs_assert_ok(gs_tokens_open(data, NULL, &tokens, &error), &error);
    struct gs_loss *loss =
        evaluate(model, tokens, (struct gs_loss_options){.length = length, .bf16 = bf16});
    assert_int_equal(gs_windows_dropped(&loss->windows), 0);
    gs_assert_near(name, loss->loss, expected, 0, 1e-6);
    gs_loss_destroy(loss);
    gs_tokens_close(tokens);
    gs_model_destroy(model);
}

static void test_reference(void **state) {
    (void)state;
    assert_reference("transformer", 37, false, 7.073902755975723);
    assert_reference("gdn", 41, false, 6.653174068033695);
    assert_reference("gpn_bias", 64, false, 4.493269920349121);
    assert_reference("gpnm1_bf16", 24, true, 5.356164455413818);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_naive),
        cmocka_unit_test(test_next_token),
        cmocka_unit_test(test_bits_do_not_depend_on_the_batch),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_first_token_costs),
        cmocka_unit_test(test_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
