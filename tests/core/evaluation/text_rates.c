/* The loss per byte and per word: closed forms on a model that says nothing, and any model against
 * losses decoded one by one and text decoded window by window. */
#include "core/evaluation/text_rates.h"
#include "core/base/memory.h"
#include "tests/core/evaluation/evaluation_support.h"
#include "tests/core/text/text_support.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DOCUMENTS = 12, MOST = 20000 };

struct data {
    struct gs_tokenizer *tokenizer;
    struct gs_tokens *tokens;
    char text[MOST]; /* all documents, one behind the other */
    size_t size, words;
    uint32_t ids[MOST];
    size_t count;
};

static size_t count_words(const char *text, size_t size) {
    size_t words = 0;
    bool inside = false;
    for (size_t i = 0; i < size; i++) {
        bool space = text[i] == ' ' || text[i] == '\n';
        words += !space && !inside;
        inside = !space;
    }
    return words;
}

/* Documents of JSON Lines, as a stream with EOS behind each. */
static void make_data(struct data *data) {
    struct gs_error error;
    const char *path = gs_scratch_path("rates.jsonl");
    FILE *stream = fopen(path, "wb");
    memset(data, 0, sizeof *data);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        size_t size;
        char *prose = gs_test_prose(80 + 97 * i % 400, i, &size);
        for (size_t j = 0; j < size; j++)
            if (prose[j] == '\n' || prose[j] == '"') prose[j] = ' ';
        fprintf(stream, "{\"text\": \"%.*s\"}\n", (int)size, prose);
        memcpy(data->text + data->size, prose, size);
        data->size += size;
        data->words += count_words(prose, size);
        gs_free(prose);
    }
    assert_int_equal(fclose(stream), 0);
    gs_assert_ok(gs_tokenizer_load(gs_test_tokenizer(), &data->tokenizer, &error), &error);
    gs_assert_ok(gs_tokens_open(path, gs_test_tokenizer(), &data->tokens, &error), &error);
    data->count = (size_t)gs_tokens_count(data->tokens);
    gs_assert_ok(gs_tokens_read(data->tokens, 0, data->count, data->ids, &error), &error);
}

static void clear_data(struct data *data) {
    gs_tokens_close(data->tokens);
    gs_tokenizer_destroy(data->tokenizer);
}

static struct gs_loss *evaluate(struct gs_model *model, const struct data *data,
                                struct gs_loss_options options, struct gs_text_rates *rates) {
    struct gs_error error;
    struct gs_loss *loss;
    gs_assert_ok(gs_evaluate_loss(model, data->tokens, &options, NULL, &loss, &error), &error);
    gs_assert_ok(gs_evaluate_text_rates(loss, data->tokens, data->tokenizer, rates, &error),
                 &error);
    return loss;
}

/* A model of zeros gives each of V tokens 1 / V, so that all losses are log V: perplexity per byte
 * is V^(tokens / bytes), EOS among the tokens. */
static void test_uniform(void **state) {
    (void)state;
    static struct data data;
    make_data(&data);
    struct gs_model *model = gs_test_model("gpn", GS_TEST_PIECES, 1);
    struct gs_tensor *embedding = gs_parameters_find(gs_model_parameters(model), "embedding");
    for (size_t i = 0; i < embedding->count; i++) embedding->values[i] = 0;
    struct gs_text_rates rates;
    struct gs_loss *loss = evaluate(model, &data, (struct gs_loss_options){.length = 1}, &rates);
    double nats = log(GS_TEST_PIECES) * (double)data.count;
    assert_int_equal(rates.amount.bytes, data.size);
    assert_int_equal(rates.amount.words, data.words);
    assert_int_equal(rates.amount.special, DOCUMENTS);
    gs_assert_near("per byte", rates.byte.nats, nats / (double)data.size, 0, 1e-6);
    gs_assert_near("per word", rates.word.nats, nats / (double)data.words, 0, 1e-6);
    assert_true(rates.byte.limits.known && rates.byte.limits.low < rates.byte.nats);
    assert_true(rates.byte.nats < rates.byte.limits.high);
    gs_loss_destroy(loss);
    gs_model_destroy(model);
    clear_data(&data);
}

/* Bytes of the stream's first `count` tokens: each document decoded by itself. */
static size_t bytes_before(const struct data *data, size_t count) {
    struct gs_error error;
    size_t bytes = 0;
    for (size_t start = 0; start < count;) {
        size_t end = start, size;
        char *decoded;
        while (end < count && data->ids[end] != 2) end++;
        gs_assert_ok(gs_tokenizer_decode(data->tokenizer, data->ids + start, end - start, &decoded,
                                         &size, &error),
                     &error);
        assert_memory_equal(decoded, data->text + bytes, size);
        gs_free(decoded);
        bytes += size;
        start = end + 1;
    }
    return bytes;
}

/* Words that begin in the bytes between, documents taken into account by where they begin. */
static size_t words_before(const struct data *data, size_t count) {
    size_t words = 0, at = 0;
    for (size_t start = 0; start < count;) {
        size_t end = start;
        while (end < count && data->ids[end] != 2) end++;
        size_t bytes = bytes_before(data, end) - at;
        words += count_words(data->text + at, bytes);
        at += bytes;
        start = end + 1;
    }
    return words;
}

/* Limits of the ratio by the jackknife, another estimate of the same spread. */
static double jackknife_half(const double *a, const double *b, size_t n) {
    double above = 0, below = 0, mean = 0, squares = 0;
    double *left = gs_calloc(n, sizeof *left);
    for (size_t i = 0; i < n; i++) {
        above += a[i];
        below += b[i];
    }
    for (size_t i = 0; i < n; i++) {
        left[i] = (above - a[i]) / (below - b[i]);
        mean += left[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) squares += (left[i] - mean) * (left[i] - mean);
    gs_free(left);
    return sqrt((double)(n - 1) / (double)n * squares);
}

static void assert_against_naive(const struct data *data, const char *kind,
                                 struct gs_loss_options options) {
    struct gs_model *model = gs_test_model(kind, GS_TEST_PIECES, 21);
    struct gs_text_rates rates;
    struct gs_loss *loss = evaluate(model, data, options, &rates);
    const size_t length = loss->windows.length, first = loss->first;
    const size_t windows = (size_t)loss->windows.count;
    double *nll = gs_calloc(windows, sizeof *nll), *bytes = gs_calloc(windows, sizeof *bytes);
    double sum = 0, total = 0;
    size_t words = 0;
    for (size_t w = 0; w < windows; w++) {
        size_t start = (options.skip + w) * length;
        double *log_probability =
            gs_test_log_probabilities(model, data->ids + start, length, options.bf16);
        for (size_t t = 0; t + first < length; t++)
            nll[w] -= log_probability[t * GS_TEST_PIECES + data->ids[start + t + first]];
        gs_free(log_probability);
        bytes[w] = (double)(bytes_before(data, start + length) - bytes_before(data, start + first));
        words += words_before(data, start + length) - words_before(data, start + first);
        sum += nll[w];
        total += bytes[w];
        gs_assert_near("window", loss->by_window[w], nll[w], 0, 5e-6);
    }
    assert_int_equal(rates.amount.bytes, total);
    assert_int_equal(rates.amount.words, words);
    gs_assert_near("per byte", rates.byte.nats, sum / total, 0, 2e-6);
    gs_assert_near("per word", rates.word.nats, sum / (double)words, 0, 2e-6);
    if (windows > 15)
        gs_assert_near("spread", (rates.byte.limits.high - rates.byte.limits.low) / 2,
                       gs_student_975(windows - 1) * jackknife_half(nll, bytes, windows), 0, 0.1);
    assert_int_equal(rates.byte.limits.known, windows > 1);
    gs_free(nll);
    gs_free(bytes);
    gs_loss_destroy(loss);
    gs_model_destroy(model);
}

static void test_against_naive(void **state) {
    (void)state;
    static struct data data;
    make_data(&data);
    assert_against_naive(&data, "gpn", (struct gs_loss_options){.length = 40});
    assert_against_naive(&data, "gpn_m", (struct gs_loss_options){.length = 7, .skip = 11});
    assert_against_naive(&data, "gpn_m",
                         (struct gs_loss_options){.length = 33, .skip = 2, .sequences = 5});
    assert_against_naive(&data, "gpn",
                         (struct gs_loss_options){.length = 64, .sequences = 1, .bf16 = true});
    assert_against_naive(&data, "gpn", (struct gs_loss_options){.length = 1, .skip = 30});
    clear_data(&data);
}

/* Limits of the loss and of each position against plain two-pass sums. */
static void test_limits_of_the_loss(void **state) {
    (void)state;
    static struct data data;
    make_data(&data);
    enum { LENGTH = 16 };
    struct gs_model *model = gs_test_model("gpn_m", GS_TEST_PIECES, 5);
    struct gs_text_rates rates;
    struct gs_loss *loss =
        evaluate(model, &data, (struct gs_loss_options){.length = LENGTH}, &rates);
    const size_t windows = (size_t)loss->windows.count;
    double squares = 0, by_position[LENGTH] = {0};
    for (size_t w = 0; w < windows; w++) {
        double *log_probability =
                   gs_test_log_probabilities(model, data.ids + w * LENGTH, LENGTH, false),
               mean = 0;
        for (size_t t = 0; t < LENGTH; t++) {
            double nll = -log_probability[t * GS_TEST_PIECES + data.ids[w * LENGTH + t]];
            by_position[t] += (nll - loss->by_position[t]) * (nll - loss->by_position[t]);
            mean += nll / LENGTH;
        }
        squares += (mean - loss->loss) * (mean - loss->loss);
        gs_free(log_probability);
    }
    double half =
        gs_student_975(windows - 1) * sqrt(squares / (double)(windows - 1) / (double)windows);
    gs_assert_near("low", loss->limits.low, loss->loss - half, 1e-6, 1e-6);
    gs_assert_near("high", loss->limits.high, loss->loss + half, 1e-6, 1e-6);
    for (size_t t = 0; t < LENGTH; t++)
        gs_assert_near("squares", loss->squares[t], by_position[t], 1e-6, 1e-5);
    gs_loss_destroy(loss);
    gs_model_destroy(model);
    clear_data(&data);
}

/* <unk> in the data: no rate, and the reason is in the amount. */
static void test_unknown(void **state) {
    (void)state;
    static struct data data;
    struct gs_error error;
    struct gs_text_rates rates;
    make_data(&data);
    static const unsigned char ids[] = {5, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0};
    struct gs_tokens *tokens;
    struct gs_loss *loss;
    struct gs_model *model = gs_test_model("gpn", GS_TEST_PIECES, 5);
    gs_assert_ok(gs_tokens_open(gs_scratch_file("unk.bin", ids, sizeof ids), NULL, &tokens, &error),
                 &error);
    struct gs_loss_options options = {.length = 3};
    gs_assert_ok(gs_evaluate_loss(model, tokens, &options, NULL, &loss, &error), &error);
    gs_assert_ok(gs_evaluate_text_rates(loss, tokens, data.tokenizer, &rates, &error), &error);
    assert_int_equal(rates.amount.unknown, 1);
    assert_true(isnan(rates.byte.nats) && isnan(rates.word.nats));
    assert_false(rates.byte.limits.known);
    gs_loss_destroy(loss);
    gs_model_destroy(model);
    gs_tokens_close(tokens);
    clear_data(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_against_naive),
        cmocka_unit_test(test_limits_of_the_loss),
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
