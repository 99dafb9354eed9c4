/* LAMBADA against predicting every text alone, and where the last word begins. */
#include "core/evaluation/lambada.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "tests/core/evaluation/evaluation_support.h"
#include "tests/core/text/text_support.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LLAMA2_SUBWORDS = 8808, LLAMA2_LONGEST = 244 };

static struct gs_tokenizer *load_tokenizer(void) {
    struct gs_error error;
    struct gs_tokenizer *tokenizer;
    gs_assert_ok(gs_tokenizer_load(gs_test_tokenizer(), &tokenizer, &error), &error);
    return tokenizer;
}

/* Texts of very unequal lengths. */
static const char *make_file(size_t count) {
    const char *path = gs_scratch_path("lambada.jsonl");
    FILE *stream = fopen(path, "wb");
    struct gs_random random;
    gs_random_seed(&random, 8, "test/lambada");
    for (size_t i = 0; i < count; i++) {
        size_t size;
        char *prose = gs_test_prose(10 + gs_random_below(&random, 300), i, &size);
        for (size_t j = 0; j < size; j++)
            if (prose[j] == '\n') prose[j] = ' ';
        prose[size - 1] = '\0';
        fprintf(stream, "{\"text\": \"so %s\"}\n", prose);
        gs_free(prose);
    }
    assert_int_equal(fclose(stream), 0);
    return path;
}

static void read_examples(const char *path, struct gs_lambada_examples *examples) {
    struct gs_error error;
    struct gs_tokenizer *tokenizer = load_tokenizer();
    gs_assert_ok(gs_lambada_examples_read(path, tokenizer, examples, &error), &error);
    gs_tokenizer_destroy(tokenizer);
}

static struct gs_lambada *evaluate(struct gs_model *model,
                                   const struct gs_lambada_examples *examples, size_t batch) {
    struct gs_error error;
    struct gs_lambada *lambada;
    struct gs_lambada_options options = {.batch = batch};
    gs_assert_ok(gs_evaluate_lambada(model, examples, &options, NULL, &lambada, &error), &error);
    return lambada;
}

/* ---- where the last word begins ---- */

static void assert_border(const char *text, const char *word, size_t early) {
    struct gs_error error;
    struct gs_tokenizer *tokenizer = load_tokenizer();
    char line[256];
    int length = snprintf(line, sizeof line, "{\"text\": \"%s\"}\n", text);
    struct gs_lambada_examples examples;
    read_examples(gs_scratch_file("one.jsonl", line, (size_t)length), &examples);
    assert_int_equal(examples.count, 1);
    assert_int_equal(examples.early, early);
    const struct gs_lambada_example *example = &examples.examples[0];
    assert_int_equal(examples.words, example->count - example->border);
    assert_int_equal(examples.longest, example->count);
    char *bytes;
    size_t size;
    gs_assert_ok(
        gs_tokenizer_decode(tokenizer, example->ids, example->count, &bytes, &size, &error),
        &error);
    assert_string_equal(bytes, text);
    gs_free(bytes);
    /* Decoding takes the space before the first piece away. */
    gs_assert_ok(gs_tokenizer_decode(tokenizer, example->ids + example->border,
                                     example->count - example->border, &bytes, &size, &error),
                 &error);
    assert_string_equal(bytes, word);
    gs_free(bytes);
    gs_lambada_examples_clear(&examples);
    gs_tokenizer_destroy(tokenizer);
}

static void test_borders(void **state) {
    (void)state;
    assert_border("the state of a model", "model", 0);
    assert_border("the state of xylophones", "xylophones", 0);
    assert_border("\xC3\xA9 caf\xC3\xA9", "caf\xC3\xA9", 0);
    assert_border(" word", " word", 0); /* an empty prefix: all is the last word */
    assert_border("state of", "of", 0);
}

static void test_llama2_borders(void **state) {
    (void)state;
    const char *path = gs_shared_path("data/lambada_test.jsonl");
    const char *model = gs_shared_path("data/llama2-tokenizer.model");
    if (!path || !model) skip();
    struct gs_error error;
    struct gs_tokenizer *tokenizer;
    struct gs_lambada_examples examples;
    gs_assert_ok(gs_tokenizer_load(model, &tokenizer, &error), &error);
    gs_assert_ok(gs_lambada_examples_read(path, tokenizer, &examples, &error), &error);
    assert_int_equal(examples.count, 5153);
    assert_int_equal(examples.skipped, 0);
    /* As SentencePiece for Python counts them (test_python_borders). */
    assert_int_equal(examples.words, LLAMA2_SUBWORDS);
    assert_int_equal(examples.longest, LLAMA2_LONGEST);
    assert_int_equal(examples.early, 0);
    /* "… I don't care about signs" */
    const struct gs_lambada_example *first = &examples.examples[0];
    assert_string_equal(gs_tokenizer_piece(tokenizer, first->ids[first->border]),
                        "\xE2\x96\x81signs");
    assert_int_equal(first->count - first->border, 1);
    /* Every last word begins with the space before it. */
    for (size_t i = 0; i < examples.count; i++) {
        const struct gs_lambada_example *example = &examples.examples[i];
        const char *piece = gs_tokenizer_piece(tokenizer, example->ids[example->border]);
        assert_memory_equal(piece, "\xE2\x96\x81", 3);
    }
    gs_lambada_examples_clear(&examples);
    gs_tokenizer_destroy(tokenizer);
}

/* The same by SentencePiece for Python: per example the tokens of the text, and those of the prefix
 * before the last space, which must be how the text begins. */
static const char python_script[] =
    "import json, sys, sentencepiece\n"
    "sp = sentencepiece.SentencePieceProcessor(model_file=sys.argv[1])\n"
    "with open(sys.argv[3], 'w') as out:\n"
    "    for line in open(sys.argv[2], encoding='utf-8'):\n"
    "        text = json.loads(line)['text']\n"
    "        ids, prefix = sp.encode(text), sp.encode(text.rsplit(' ', 1)[0])\n"
    "        assert ids[:len(prefix)] == prefix\n"
    "        print(len(ids), len(prefix), ids[len(prefix)], file=out)\n";

static void test_python_borders(void **state) {
    (void)state;
    const char *path = gs_shared_path("data/lambada_test.jsonl");
    const char *model = gs_shared_path("data/llama2-tokenizer.model");
    if (!path || !model) skip();
    const char *python = getenv("GS_PYTHON") ? getenv("GS_PYTHON") : "python3";
    char command[2048];
    snprintf(command, sizeof command, "'%s' -c 'import sentencepiece' >/dev/null 2>&1", python);
    if (system(command) != 0) {
        print_message("skipped: no Python with sentencepiece (GS_PYTHON names one)\n");
        skip();
    }
    const char *script = gs_scratch_file("borders.py", python_script, sizeof python_script - 1);
    const char *out = gs_scratch_path("borders.txt");
    snprintf(command, sizeof command, "'%s' '%s' '%s' '%s' '%s'", python, script, model, path, out);
    assert_int_equal(system(command), 0);
    struct gs_error error;
    struct gs_tokenizer *tokenizer;
    struct gs_lambada_examples examples;
    gs_assert_ok(gs_tokenizer_load(model, &tokenizer, &error), &error);
    gs_assert_ok(gs_lambada_examples_read(path, tokenizer, &examples, &error), &error);
    FILE *stream = fopen(out, "r");
    assert_non_null(stream);
    size_t count, border, id, read = 0;
    for (; fscanf(stream, "%zu %zu %zu", &count, &border, &id) == 3; read++) {
        assert_true(read < examples.count);
        const struct gs_lambada_example *example = &examples.examples[read];
        assert_int_equal(example->count, count);
        assert_int_equal(example->border, border);
        assert_int_equal(example->ids[border], id);
    }
    fclose(stream);
    assert_int_equal(read, examples.count);
    gs_lambada_examples_clear(&examples);
    gs_tokenizer_destroy(tokenizer);
}

/* The genuine set, its first texts and its longest, on a small model: side by side as one by one.
 */
static void test_llama2_batches(void **state) {
    (void)state;
    enum { SOME = 24 };
    const char *path = gs_shared_path("data/lambada_test.jsonl");
    const char *model_path = gs_shared_path("data/llama2-tokenizer.model");
    if (!path || !model_path) skip();
    struct gs_error error;
    struct gs_tokenizer *tokenizer;
    struct gs_lambada_examples examples;
    gs_assert_ok(gs_tokenizer_load(model_path, &tokenizer, &error), &error);
    gs_assert_ok(gs_lambada_examples_read(path, tokenizer, &examples, &error), &error);
    struct gs_lambada_example swapped = examples.examples[0];
    for (size_t i = 0; i < examples.count; i++)
        if (examples.examples[i].count == examples.longest) {
            examples.examples[0] = examples.examples[i];
            examples.examples[i] = swapped;
            break;
        }
    examples.count = SOME;
    examples.words = 0;
    for (size_t i = 0; i < SOME; i++)
        examples.words += examples.examples[i].count - examples.examples[i].border;
    struct gs_model *model = gs_test_model("gpn_m", gs_tokenizer_size(tokenizer), 15);
    struct gs_lambada *alone = evaluate(model, &examples, 1);
    assert_true(alone->limits.known && alone->limits.low < alone->loss);
    for (size_t batch = 3; batch <= SOME; batch *= 4) {
        struct gs_lambada *lambada = evaluate(model, &examples, batch);
        assert_memory_equal(lambada->nll, alone->nll, SOME * sizeof *alone->nll);
        assert_memory_equal(lambada->hit, alone->hit, SOME * sizeof *alone->hit);
        gs_lambada_destroy(lambada);
    }
    gs_lambada_destroy(alone);
    gs_model_destroy(model);
    gs_lambada_examples_clear(&examples);
    gs_tokenizer_destroy(tokenizer);
}

/* A tokenizer for which two spaces are a piece: the prefix "state " is not how the text begins. */
static void test_early_borders(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_tokenizer *tokenizer;
    struct gs_lambada_examples examples;
    size_t size, wide_size = 0;
    char *prose = gs_test_prose(20000, 2, &size);
    char *wide = gs_calloc(2 * size, 1);
    for (size_t i = 0; i < size; i++) {
        wide[wide_size++] = prose[i];
        if (prose[i] == ' ' && i % 3 == 0) wide[wide_size++] = ' ';
    }
    const char *text = gs_scratch_file("wide.txt", wide, wide_size);
    const char *model = gs_scratch_path("wide.model");
    gs_free(prose);
    gs_free(wide);
    gs_assert_ok(gs_tokenizer_train(&text, 1, 400, model, NULL, &error), &error);
    gs_assert_ok(gs_tokenizer_load(model, &tokenizer, &error), &error);
    static const char lines[] = "{\"text\": \"state  word\"}\n{\"text\": \"state word\"}\n";
    const char *path = gs_scratch_file("wide.jsonl", lines, sizeof lines - 1);
    gs_assert_ok(gs_lambada_examples_read(path, tokenizer, &examples, &error), &error);
    assert_int_equal(examples.early, 1);
    const struct gs_lambada_example *first = &examples.examples[0];
    assert_string_equal(gs_tokenizer_piece(tokenizer, first->ids[first->border]),
                        "\xE2\x96\x81\xE2\x96\x81");
    gs_lambada_examples_clear(&examples);
    gs_tokenizer_destroy(tokenizer);
}

static void assert_refused(const char *text, const char *word, const char *other) {
    struct gs_error error;
    struct gs_lambada_examples examples;
    struct gs_tokenizer *tokenizer = load_tokenizer();
    const char *path = gs_scratch_file("wrong.jsonl", text, strlen(text));
    gs_assert_error(gs_lambada_examples_read(path, tokenizer, &examples, &error), GS_FORMAT, &error,
                    "wrong.jsonl", word, other);
    gs_lambada_examples_clear(&examples);
    gs_tokenizer_destroy(tokenizer);
}

static void test_wrong_files(void **state) {
    (void)state;
    assert_refused("{\"text\": \"a b\"}\n\n{\"text\": \"a b \"}\n", "line 3", "ends in a space");
    assert_refused("{\"text\": \"word\"}\n", "line 1", "without a space");
    assert_refused("{\"text\": \"\"}\n", "no LAMBADA example", "");
    assert_refused("", "no LAMBADA example", "");
    assert_refused("{\"passage\": \"a b\"}\n", "line 1", "no \"text\"");
}

/* ---- the numbers ---- */

static const char *const kinds[] = {"gpn_m", "transformer", "gdn"};

static void assert_one_by_one(const char *kind) {
    enum { COUNT = 23 };
    struct gs_lambada_examples examples;
    read_examples(make_file(COUNT), &examples);
    assert_int_equal(examples.count, COUNT);
    struct gs_model *model = gs_test_model(kind, GS_TEST_PIECES, 12);
    size_t first = gs_model_first(model), vocab = gs_model_vocab(model);
    struct gs_lambada *lambada = evaluate(model, &examples, 5);
    size_t correct = 0, words = 0;
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++) {
        const struct gs_lambada_example *example = &examples.examples[i];
        double *log_probability =
            gs_test_log_probabilities(model, example->ids, example->count, false);
        double nll = 0;
        for (size_t t = example->border; t < example->count; t++)
            nll -= log_probability[(t - first) * vocab + example->ids[t]];
        const double *row = log_probability + (example->border - first) * vocab;
        size_t better = 0;
        for (size_t id = 0; id < vocab; id++)
            better += row[id] > row[example->ids[example->border]];
        assert_int_equal(lambada->hit[i], better == 0);
        gs_assert_near("nll", lambada->nll[i], nll, 0, 5e-6);
        correct += better == 0;
        words += example->count - example->border;
        sum += nll;
        gs_free(log_probability);
    }
    assert_int_equal(lambada->correct, correct);
    assert_int_equal(lambada->words, words);
    gs_assert_near("accuracy", lambada->accuracy, (double)correct / COUNT, 1e-15, 0);
    gs_assert_near("perplexity", lambada->perplexity, exp(sum / (double)words), 0, 1e-5);
    double squares = 0; /* the ratio estimator, written out */
    for (size_t i = 0; i < COUNT; i++) {
        const struct gs_lambada_example *example = &examples.examples[i];
        double rest = lambada->nll[i] - lambada->loss * (double)(example->count - example->border);
        squares += rest * rest;
    }
    double half = gs_student_975(COUNT - 1) * sqrt(squares * COUNT / (COUNT - 1)) / (double)words;
    gs_assert_near("low", lambada->limits.low, lambada->loss - half, 1e-9, 1e-9);
    gs_assert_near("high", lambada->limits.high, lambada->loss + half, 1e-9, 1e-9);
    gs_lambada_destroy(lambada);
    gs_model_destroy(model);
    gs_lambada_examples_clear(&examples);
}

static void test_against_one_by_one(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) assert_one_by_one(kinds[i]);
}

/* A model that always says the same: its output is the first subword of some examples only. */
static void test_hits_are_counted(void **state) {
    (void)state;
    enum { COUNT = 40 };
    struct gs_lambada_examples examples;
    read_examples(make_file(COUNT), &examples);
    struct gs_model *model = gs_test_model("gpn", GS_TEST_PIECES, 13);
    /* Logits are z · embedding: make one token's row point along a z that never changes. */
    struct gs_parameters *parameters = gs_model_parameters(model);
    size_t width = gs_model_embedding_width(model);
    uint32_t favourite = examples.examples[0].ids[examples.examples[0].border];
    struct gs_tensor *embedding = gs_parameters_find(parameters, "embedding");
    struct gs_lambada *lambada = NULL;
    size_t expected = 0;
    for (size_t i = 0; i < COUNT; i++)
        expected += examples.examples[i].ids[examples.examples[i].border] == favourite;
    for (size_t j = 0; j < embedding->count; j++) embedding->values[j] = 0;
    struct gs_tensor *project = gs_parameters_find(parameters, "decode_proj_k");
    for (size_t j = 0; j < project->count; j++) project->values[j] = 0;
    /* All logits are 0: the tie goes to id 0, which is no one's first subword. */
    lambada = evaluate(model, &examples, 7);
    assert_int_equal(lambada->correct, 0);
    gs_assert_near("uniform", lambada->loss, log(GS_TEST_PIECES), 0, 1e-6);
    gs_lambada_destroy(lambada);
    gs_model_destroy(model);
    /* With a decoder bias along which one embedding points, that token is always said. */
    char text[256];
    snprintf(text, sizeof text,
             "{\"vocab_size\": %d, \"d_state\": 8, \"d_emb\": 4, \"d_ffn\": 8, "
             "\"use_decoder_bias\": true}",
             GS_TEST_PIECES);
    struct gs_error error;
    struct gs_json *config;
    gs_assert_ok(gs_json_parse(text, strlen(text), "test", &config, &error), &error);
    gs_assert_ok(gs_model_create("gpn", config, &model, &error), &error);
    gs_json_destroy(config);
    parameters = gs_model_parameters(model);
    width = gs_model_embedding_width(model);
    gs_parameters_find(parameters, "decode_bias")->values[1] = 2;
    gs_parameters_find(parameters, "embedding")->values[favourite * width + 1] = 3;
    /* A later id says it as loudly: the lowest id wins. */
    assert_true(favourite + 1 < GS_TEST_PIECES);
    gs_parameters_find(parameters, "embedding")->values[(favourite + 1) * width + 1] = 3;
    lambada = evaluate(model, &examples, 7);
    assert_in_range(expected, 1, COUNT - 1);
    assert_int_equal(lambada->correct, expected);
    gs_lambada_destroy(lambada);
    /* Saying a word's last subword is no hit, unless the first is the same. */
    float *rows = gs_parameters_find(parameters, "embedding")->values;
    rows[favourite * width + 1] = rows[(favourite + 1) * width + 1] = 0;
    uint32_t last = 0;
    for (size_t i = 0; i < COUNT && last == 0; i++) {
        const struct gs_lambada_example *example = &examples.examples[i];
        uint32_t id = example->ids[example->count - 1];
        if (id != example->ids[example->border]) last = id;
    }
    assert_int_not_equal(last, 0);
    rows[last * width + 1] = 3;
    lambada = evaluate(model, &examples, 7);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(lambada->hit[i],
                         examples.examples[i].ids[examples.examples[i].border] == last);
    gs_lambada_destroy(lambada);
    gs_model_destroy(model);
    gs_lambada_examples_clear(&examples);
}

static void assert_same_in_batches(const char *kind) {
    enum { COUNT = 23 };
    struct gs_lambada_examples examples;
    read_examples(make_file(COUNT), &examples);
    struct gs_model *model = gs_test_model(kind, GS_TEST_PIECES, 14);
    struct gs_lambada *alone = evaluate(model, &examples, 1);
    for (size_t batch = 2; batch <= 30; batch += 7) {
        struct gs_lambada *lambada = evaluate(model, &examples, batch);
        assert_memory_equal(lambada->nll, alone->nll, COUNT * sizeof *alone->nll);
        assert_memory_equal(lambada->hit, alone->hit, COUNT * sizeof *alone->hit);
        assert_memory_equal(&lambada->loss, &alone->loss, sizeof alone->loss);
        gs_lambada_destroy(lambada);
    }
    gs_lambada_destroy(alone);
    gs_model_destroy(model);
    gs_lambada_examples_clear(&examples);
}

static void test_bits_do_not_depend_on_the_batch(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) assert_same_in_batches(kinds[i]);
}

static void test_refusals(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_lambada_examples examples;
    struct gs_lambada *lambada;
    struct gs_lambada_options options = {0};
    read_examples(make_file(3), &examples);
    struct gs_model *model = gs_test_model("gpn", 20, 1);
    gs_assert_error(gs_evaluate_lambada(model, &examples, &options, NULL, &lambada, &error),
                    GS_RANGE, &error, "below 20", "example 1");
    assert_null(lambada);
    gs_model_destroy(model);
    model = gs_test_model("gpn", GS_TEST_PIECES, 1);
    gs_parameters_find(gs_model_parameters(model), "decode_norm_w")->values[0] = NAN;
    gs_assert_error(gs_evaluate_lambada(model, &examples, &options, NULL, &lambada, &error),
                    GS_NUMERIC, &error, "example");
    gs_model_destroy(model);
    gs_lambada_examples_clear(&examples);
    gs_lambada_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_borders),
        cmocka_unit_test(test_llama2_borders),
        cmocka_unit_test(test_python_borders),
        cmocka_unit_test(test_llama2_batches),
        cmocka_unit_test(test_early_borders),
        cmocka_unit_test(test_wrong_files),
        cmocka_unit_test(test_against_one_by_one),
        cmocka_unit_test(test_hits_are_counted),
        cmocka_unit_test(test_bits_do_not_depend_on_the_batch),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
