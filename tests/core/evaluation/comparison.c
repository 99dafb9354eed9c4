/* Differences of two models against sums over single tokens, document by document. */
#include "core/evaluation/comparison.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/text/shards.h"
#include "tests/core/evaluation/evaluation_support.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VOCAB = 31, TOKENS = 203, DOCUMENTS = 7, LENGTH = 20 };
/* windows of 20 cut the second and hold the last ones; three tokens are in no window */
static const size_t sizes[DOCUMENTS] = {25, 90, 3, 2, 40, 39, 4};

static void make_ids(uint32_t *ids) {
    struct gs_random random;
    gs_random_seed(&random, 9, "test/comparison");
    for (size_t i = 0; i < TOKENS; i++) ids[i] = (uint32_t)gs_random_below(&random, VOCAB);
}

static struct gs_tokens *make_documents(const uint32_t *ids) {
    struct gs_error error;
    struct gs_shards *shards;
    struct gs_tokens *tokens;
    const char *path = gs_scratch_path("tokens");
    gs_assert_ok(gs_shards_create(path, 100, true, &shards, &error), &error);
    for (size_t i = 0, at = 0; i < DOCUMENTS; at += sizes[i++])
        gs_assert_ok(gs_shards_add(shards, ids + at, sizes[i], &error), &error);
    gs_assert_ok(gs_shards_finish(shards, "test", NULL, VOCAB, &error), &error);
    gs_shards_destroy(shards);
    gs_assert_ok(gs_tokens_open(path, NULL, &tokens, &error), &error);
    assert_int_equal(gs_tokens_count(tokens), TOKENS);
    return tokens;
}

static struct gs_tokens *make_plain(const uint32_t *ids) {
    struct gs_error error;
    struct gs_tokens *tokens;
    unsigned char bytes[4 * TOKENS];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(ids[i / 4] >> (8 * (i % 4)));
    const char *path = gs_scratch_file("plain.bin", bytes, sizeof bytes);
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

/* The loss of every token that counts, NaN for the others. */
static void naive_losses(struct gs_model *model, const uint32_t *ids, size_t skip, size_t first,
                         double *nll) {
    const size_t own = gs_model_first(model);
    for (size_t i = 0; i < TOKENS; i++) nll[i] = NAN;
    for (size_t start = skip * LENGTH; start + LENGTH <= TOKENS; start += LENGTH) {
        double *log_probability = gs_test_log_probabilities(model, ids + start, LENGTH, false);
        for (size_t t = first; t < LENGTH; t++)
            nll[start + t] = -log_probability[(t - own) * VOCAB + ids[start + t]];
        gs_free(log_probability);
    }
}

struct naive {
    double difference, low, high;
    size_t n;
};

/* Σ of differences over Σ of tokens in groups, with the limits of the ratio estimator, written for
 * reading. group[i]: that of token i. */
static struct naive naive_difference(const double *a, const double *b, const size_t *group,
                                     size_t groups) {
    double sums[TOKENS] = {0}, counts[TOKENS] = {0}, sum = 0, total = 0, squares = 0;
    struct naive result = {0};
    for (size_t i = 0; i < TOKENS; i++) {
        if (isnan(a[i])) continue;
        sums[group[i]] += a[i] - b[i];
        counts[group[i]] += 1;
        sum += a[i] - b[i];
        total += 1;
    }
    result.difference = sum / total;
    for (size_t g = 0; g < groups; g++) {
        if (!(counts[g] > 0)) continue;
        squares += pow(sums[g] - result.difference * counts[g], 2);
        result.n++;
    }
    double n = (double)result.n;
    double half = gs_student_975(result.n - 1) * sqrt(n / (n - 1) * squares) / total;
    result.low = result.difference - half;
    result.high = result.difference + half;
    return result;
}

static void assert_difference(const char *kind, const char *other, size_t skip, size_t first,
                              bool documents) {
    uint32_t ids[TOKENS];
    size_t group[TOKENS];
    double a[TOKENS], b[TOKENS];
    make_ids(ids);
    struct gs_tokens *tokens = documents ? make_documents(ids) : make_plain(ids);
    struct gs_model *one = gs_test_model(kind, VOCAB, 3), *two = gs_test_model(other, VOCAB, 4);
    struct gs_loss_options options = {.length = LENGTH, .skip = skip, .first = first, .batch = 3};
    size_t most =
        gs_model_first(one) > gs_model_first(two) ? gs_model_first(one) : gs_model_first(two);
    if (options.first < most) options.first = most;
    struct gs_loss *left = evaluate(one, tokens, options), *right = evaluate(two, tokens, options);
    naive_losses(one, ids, skip, options.first, a);
    naive_losses(two, ids, skip, options.first, b);
    for (size_t i = 0, document = 0, end = sizes[0]; i < TOKENS; i++) {
        if (i == end) end += sizes[++document];
        group[i] = documents ? document : i / LENGTH;
    }
    struct naive naive = naive_difference(a, b, group, TOKENS);
    struct gs_difference difference;
    struct gs_error error;
    gs_assert_ok(gs_loss_difference(left, right, &difference, &error), &error);
    assert_int_equal(difference.n, naive.n);
    assert_true(difference.documents == documents);
    gs_assert_near("difference", difference.value, naive.difference, 1e-6, 1e-5);
    gs_assert_near("as of the losses", difference.value, left->loss - right->loss, 1e-12, 1e-12);
    gs_assert_near("low", difference.limits.low, naive.low, 1e-6, 1e-5);
    gs_assert_near("high", difference.limits.high, naive.high, 1e-6, 1e-5);
    struct gs_difference back;
    gs_assert_ok(gs_loss_difference(right, left, &back, &error), &error);
    gs_assert_near("the other way round", back.limits.low, -difference.limits.high, 0, 1e-12);
    gs_loss_destroy(left);
    gs_loss_destroy(right);
    gs_model_destroy(one);
    gs_model_destroy(two);
    gs_tokens_close(tokens);
}

/* A model that predicts every token against those that do not predict the first. */
static void test_other_kinds(void **state) {
    (void)state;
    for (int documents = 0; documents < 2; documents++) {
        assert_difference("gpn_m", "transformer", 0, 0, documents);
        assert_difference("gdn", "gpn", 2, 0, documents);
        assert_difference("gdn", "transformer", 0, 3, documents);
    }
}

static void test_losses(void **state) {
    (void)state;
    for (int documents = 0; documents < 2; documents++) {
        assert_difference("gpn", "gpn_m", 0, 0, documents);
        assert_difference("gpn_m", "gpn", 2, 1, documents);
        assert_difference("gpn", "gpn", 0, 19, documents);
    }
}

/* Positions that a model does not predict are left out by the other, too: the same mean as over its
 * own losses by position. */
static void test_left_out(void **state) {
    (void)state;
    uint32_t ids[TOKENS];
    make_ids(ids);
    struct gs_tokens *tokens = make_plain(ids);
    struct gs_model *model = gs_test_model("gpn_m", VOCAB, 5);
    struct gs_loss *whole = evaluate(model, tokens, (struct gs_loss_options){.length = LENGTH});
    struct gs_loss *part =
        evaluate(model, tokens, (struct gs_loss_options){.length = LENGTH, .first = 3});
    double sum = 0;
    for (size_t t = 3; t < LENGTH; t++) sum += whole->by_position[t];
    gs_assert_near("loss", part->loss, sum / (LENGTH - 3), 0, 1e-12);
    assert_int_equal(part->tokens, part->windows.count * (LENGTH - 3));
    assert_true(isnan(part->by_position[2]));
    struct gs_difference difference;
    struct gs_error error;
    gs_assert_error(gs_loss_difference(whole, part, &difference, &error), GS_SHAPE, &error,
                    "predicted tokens");
    gs_loss_destroy(whole);
    gs_loss_destroy(part);
    struct gs_loss_options options = {.length = LENGTH, .first = LENGTH};
    gs_assert_error(gs_evaluate_loss(model, tokens, &options, NULL, &part, &error), GS_RANGE,
                    &error, "above 20", "20");
    gs_model_destroy(model);
    gs_tokens_close(tokens);
}

/* Documents: each counts the tokens of it that stand in windows and count. */
static void test_document_tokens(void **state) {
    (void)state;
    uint32_t ids[TOKENS];
    make_ids(ids);
    struct gs_tokens *tokens = make_documents(ids);
    struct gs_model *model = gs_test_model("gpn", VOCAB, 6);
    struct gs_loss *loss =
        evaluate(model, tokens, (struct gs_loss_options){.length = LENGTH, .first = 1});
    /* 200 tokens in ten windows, of which each first one does not count: tokens 0, 20, 40 … */
    const double expected[DOCUMENTS] = {23, 86, 3, 2, 38, 37, 1};
    double sum = 0, total = 0;
    assert_int_equal(loss->documents, DOCUMENTS);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        gs_assert_near("tokens", loss->document_tokens[i], expected[i], 0, 0);
        sum += loss->by_document[i];
        total += expected[i];
    }
    assert_int_equal(loss->tokens, (uint64_t)total);
    gs_assert_near("sum", sum, loss->sum, 0, 1e-12);
    gs_loss_destroy(loss);
    /* two windows of the second document alone */
    loss = evaluate(model, tokens,
                    (struct gs_loss_options){.length = LENGTH, .skip = 2, .sequences = 2});
    assert_int_equal(loss->documents, 1);
    gs_assert_near("tokens", loss->document_tokens[0], 2 * LENGTH, 0, 0);
    gs_loss_destroy(loss);
    gs_model_destroy(model);
    gs_tokens_close(tokens);
}

static void test_lambada(void **state) {
    (void)state;
    enum { N = 6 };
    double a[N] = {1, 2, 3, 4, 5, 6}, b[N] = {2, 2, 1, 4, 9, 5}, words[N] = {1, 2, 1, 1, 3, 1};
    bool hit[N] = {true, true, false, false, true, true};
    bool other[N] = {true, false, false, true, false, false};
    struct gs_lambada one = {.examples = N, .accuracy = 4 / 6.0, .words = 9},
                      two = {.examples = N, .accuracy = 2 / 6.0, .words = 9};
    one.nll = a, two.nll = b, one.hit = hit, two.hit = other, one.subwords = two.subwords = words;
    struct gs_difference difference;
    struct gs_error error;
    gs_assert_ok(gs_lambada_accuracy_difference(&one, &two, &difference, &error), &error);
    gs_assert_near("accuracy", difference.value, 1 / 3.0, 0, 1e-15);
    /* differences 0 1 0 -1 1 1: squares about 1/3 are 4 - 6/9, over 6 · 5 */
    double half = 2.57058 * sqrt((4 - 6 / 9.0) / 30);
    gs_assert_near("accuracy's limit", difference.limits.high, 1 / 3.0 + half, 0, 1e-4);
    assert_int_equal(difference.n, N);
    gs_assert_ok(gs_lambada_loss_difference(&one, &two, &difference, &error), &error);
    gs_assert_near("loss", difference.value, (21.0 - 23) / 9, 0, 1e-15);
    double rest = 0, ratio = -2 / 9.0;
    for (size_t i = 0; i < N; i++) rest += pow(a[i] - b[i] - ratio * words[i], 2);
    half = 2.57058 * sqrt(6.0 / 5 * rest) / 9;
    gs_assert_near("loss's limit", difference.limits.low, ratio - half, 0, 1e-4);
    double more[N] = {1, 2, 1, 1, 2, 2};
    two.subwords = more;
    gs_assert_error(gs_lambada_loss_difference(&one, &two, &difference, &error), GS_SHAPE, &error,
                    "examples");
    gs_assert_error(gs_lambada_accuracy_difference(&one, &two, &difference, &error), GS_SHAPE,
                    &error, "examples");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_losses),   cmocka_unit_test(test_other_kinds),
        cmocka_unit_test(test_left_out), cmocka_unit_test(test_document_tokens),
        cmocka_unit_test(test_lambada),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
