/* Bytes and words of tokens against the text they were made from: a token's bytes by decoding what
 * lies before and behind it, words by splitting the text. */
#include "core/text/token_text.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/text/documents.h"
#include "core/text/shards.h"
#include "tests/core/text/text_support.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <string.h>

enum { SEED = 20261129, MOST = 4096 };

static struct gs_tokenizer *load(const char *path) {
    struct gs_error error;
    struct gs_tokenizer *tokenizer;
    gs_assert_ok(gs_tokenizer_load(path, &tokenizer, &error), &error);
    return tokenizer;
}

static struct gs_token_text *look(const struct gs_tokenizer *tokenizer) {
    struct gs_error error;
    struct gs_token_text *text;
    gs_assert_ok(gs_token_text_create(tokenizer, &text, &error), &error);
    return text;
}

/* Words of `text` that begin in bytes from … to - 1, by looking at each byte and the one before. */
static size_t words_between(const char *text, size_t from, size_t to) {
    static const char white[] = " \t\n\v\f\r";
    size_t words = 0;
    for (size_t i = from; i < to; i++) {
        bool space = text[i] && strchr(white, text[i]);
        bool before = i == 0 || (text[i - 1] && strchr(white, text[i - 1]));
        words += before && !space;
    }
    return words;
}

/* The documents of a test, and what the stream's tokens must hold. */
struct stream {
    uint32_t ids[MOST];
    uint64_t bytes[MOST], words[MOST]; /* of each token */
    size_t count;
};

/* One document's tokens: what is decoded up to each of them says which bytes it stands for. */
static void add_document(const struct gs_tokenizer *tokenizer, const char *text, size_t size,
                         struct stream *stream) {
    struct gs_error error;
    uint32_t *ids;
    size_t count, before = 0;
    gs_assert_ok(gs_tokenizer_encode(tokenizer, text, size, &ids, &count, &error), &error);
    assert_true(stream->count + count < MOST);
    for (size_t i = 0; i < count; i++) {
        char *decoded;
        size_t after;
        gs_assert_ok(gs_tokenizer_decode(tokenizer, ids, i + 1, &decoded, &after, &error), &error);
        assert_true(after <= size && memcmp(decoded, text, after) == 0);
        gs_free(decoded);
        stream->ids[stream->count] = ids[i];
        stream->bytes[stream->count] = after - before;
        stream->words[stream->count++] = words_between(text, before, after);
        before = after;
    }
    assert_int_equal(before, size);
    gs_free(ids);
    stream->ids[stream->count] = (uint32_t)gs_tokenizer_eos(tokenizer);
    stream->bytes[stream->count] = stream->words[stream->count] = 0;
    stream->count++;
}

static void make_stream(const struct gs_tokenizer *tokenizer, struct stream *stream) {
    static const char *const hostile[] = {"one",
                                          "  two  spaces ",
                                          " leading",
                                          "tab\tand\nline\r\nend\v\f.",
                                          "\xF0\x9F\x98\x80 emoji",
                                          "\xC2\xA0no-break\xE2\x80\x83"
                                          "em",
                                          "trailing   ",
                                          "\n\n",
                                          "a",
                                          "\xE2\x96\x81 sign"};
    stream->count = 0;
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        if (i == 9) continue; /* U+2581 itself is a space to SentencePiece: another text */
        add_document(tokenizer, hostile[i], strlen(hostile[i]), stream);
        size_t size;
        char *prose = gs_test_prose(150, i, &size);
        for (size_t j = 3; j < size; j += 17)
            if ((prose[j] & 0x80) == 0) prose[j] = i % 2 ? '\t' : ' ';
        add_document(tokenizer, prose, size, stream);
        gs_free(prose);
    }
}

static struct gs_tokens *make_tokens(const struct stream *stream, const char *name,
                                     const char *sha256, size_t vocab) {
    struct gs_error error;
    struct gs_shards *shards;
    struct gs_tokens *tokens;
    const char *path = gs_scratch_path("%s", name);
    gs_assert_ok(gs_shards_create(path, 500, true, &shards, &error), &error);
    gs_assert_ok(gs_shards_add(shards, stream->ids, stream->count, &error), &error);
    gs_assert_ok(gs_shards_finish(shards, "a tokenizer", sha256, vocab, &error), &error);
    gs_shards_destroy(shards);
    gs_assert_ok(gs_tokens_open(path, NULL, &tokens, &error), &error);
    return tokens;
}

/* Any stretch of the stream, entered by looking back. */
static void test_stretches(void **state) {
    (void)state;
    static struct stream stream;
    struct gs_error error;
    struct gs_tokenizer *tokenizer = load(gs_test_tokenizer());
    struct gs_token_text *text = look(tokenizer);
    make_stream(tokenizer, &stream);
    struct gs_tokens *tokens = make_tokens(&stream, "stretches", NULL, GS_TEST_PIECES);
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/token_text");
    print_message("seed %d, %zu tokens\n", SEED, stream.count);
    for (size_t trial = 0; trial < 3000; trial++) {
        size_t first = gs_random_below(&random, stream.count);
        size_t count = gs_random_below(&random, stream.count - first + 1);
        if (trial % 2 && count > 3) count = 3;
        if (trial == 0) first = 0, count = stream.count;
        struct gs_text_place place;
        struct gs_text_amount amount = {0}, expected = {0};
        gs_assert_ok(gs_token_text_place(text, tokens, first, &place, &error), &error);
        size_t part = count / 2; /* in two calls */
        gs_assert_ok(gs_token_text_add(text, stream.ids + first, part, &place, &amount, &error),
                     &error);
        gs_assert_ok(gs_token_text_add(text, stream.ids + first + part, count - part, &place,
                                       &amount, &error),
                     &error);
        for (size_t i = first; i < first + count; i++) {
            expected.bytes += stream.bytes[i];
            expected.words += stream.words[i];
            expected.special += stream.ids[i] == 2;
        }
        if (memcmp(&amount, &expected, sizeof amount) != 0) {
            print_error("tokens %zu to %zu: %llu bytes, %llu words, %llu special\n", first,
                        first + count, (unsigned long long)amount.bytes,
                        (unsigned long long)amount.words, (unsigned long long)amount.special);
            fail();
        }
    }
    gs_tokens_close(tokens);
    gs_token_text_destroy(text);
    gs_tokenizer_destroy(tokenizer);
}

/* Passing over tokens moves on as adding them does. */
static void test_passing_over(void **state) {
    (void)state;
    static struct stream stream;
    struct gs_error error;
    struct gs_tokenizer *tokenizer = load(gs_test_tokenizer());
    struct gs_token_text *text = look(tokenizer);
    make_stream(tokenizer, &stream);
    struct gs_text_place place = {true, true};
    struct gs_text_amount amount = {0};
    uint64_t bytes = 0, words = 0;
    for (size_t i = 0; i < stream.count; i++) {
        bool counted = i % 3 == 0;
        gs_assert_ok(
            gs_token_text_add(text, stream.ids + i, 1, &place, counted ? &amount : NULL, &error),
            &error);
        bytes += counted ? stream.bytes[i] : 0;
        words += counted ? stream.words[i] : 0;
    }
    assert_int_equal(amount.bytes, bytes);
    assert_int_equal(amount.words, words);
    gs_token_text_destroy(text);
    gs_tokenizer_destroy(tokenizer);
}

static void test_unknown_and_wrong_ids(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_tokenizer *tokenizer = load(gs_test_tokenizer());
    struct gs_token_text *text = look(tokenizer);
    const uint32_t ids[] = {0, 2, 0, GS_TEST_PIECES};
    struct gs_text_place place = {true, true};
    struct gs_text_amount amount = {0};
    gs_assert_ok(gs_token_text_add(text, ids, 3, &place, &amount, &error), &error);
    assert_int_equal(amount.unknown, 2);
    assert_int_equal(amount.special, 1);
    assert_int_equal(amount.bytes + amount.words, 0);
    assert_false(place.document || place.space);
    gs_assert_error(gs_token_text_add(text, ids, 4, &place, &amount, &error), GS_RANGE, &error,
                    "below 400", "found 400");
    gs_token_text_destroy(text);
    gs_token_text_destroy(NULL);
    gs_tokenizer_destroy(tokenizer);
}

/* The tokenizer of the data, another of another size, another of the same size. */
static void test_check(void **state) {
    (void)state;
    static struct stream stream;
    struct gs_error error;
    size_t size;
    struct gs_tokenizer *tokenizer = load(gs_test_tokenizer()), *other;
    const char *sha256 = gs_tokenizer_sha256(tokenizer);
    make_stream(tokenizer, &stream);
    struct gs_tokens *named = make_tokens(&stream, "named", sha256, GS_TEST_PIECES);
    struct gs_tokens *nameless = make_tokens(&stream, "nameless", NULL, GS_TEST_PIECES);
    assert_string_equal(gs_tokens_tokenizer_sha256(named), sha256);
    assert_string_equal(gs_tokens_tokenizer_sha256(nameless), "");
    assert_string_equal(gs_tokens_tokenizer(nameless), "a tokenizer");
    gs_assert_ok(gs_token_text_check(tokenizer, named, &error), &error);
    gs_assert_ok(gs_token_text_check(tokenizer, nameless, &error), &error);

    char *prose = gs_test_prose(30000, 77, &size);
    const char *text = gs_scratch_file("other.txt", prose, size);
    const char *path = gs_scratch_path("other.model");
    gs_free(prose);
    gs_assert_ok(gs_tokenizer_train(&text, 1, GS_TEST_PIECES, path, NULL, &error), &error);
    other = load(path);
    gs_assert_error(gs_token_text_check(other, named, &error), GS_FORMAT, &error, "SHA-256",
                    "tokenizer.model");
    gs_assert_ok(gs_token_text_check(other, nameless, &error), &error); /* nothing to see */
    gs_tokenizer_destroy(other);
    path = gs_scratch_path("smaller.model");
    gs_assert_ok(gs_tokenizer_train(&text, 1, 350, path, NULL, &error), &error);
    other = load(path);
    gs_assert_error(gs_token_text_check(other, nameless, &error), GS_RANGE, &error, "400", "350");
    gs_tokenizer_destroy(other);
    gs_tokens_close(named);
    gs_tokens_close(nameless);
    gs_tokenizer_destroy(tokenizer);
}

/* Real text with a real tokenizer: together the tokens have the text's bytes and words. */
static void test_real_text(void **state) {
    (void)state;
    const char *data = gs_shared_path("data/lambada_test.jsonl");
    const char *model = gs_shared_path("data/llama2-tokenizer.model");
    if (!data || !model) skip();
    struct gs_error error;
    struct gs_documents *documents;
    uint64_t bytes = 0, words = 0, count = 0;
    gs_assert_ok(gs_documents_open(data, GS_DOCS_JSONL, &documents, &error), &error);
    for (;;) {
        const char *text;
        size_t size;
        bool found;
        gs_assert_ok(gs_documents_next(documents, &text, &size, &found, &error), &error);
        if (!found) break;
        bytes += size;
        words += words_between(text, 0, size);
        count++;
    }
    gs_documents_close(documents);

    struct gs_tokens *tokens;
    gs_assert_ok(gs_tokens_open(data, model, &tokens, &error), &error);
    struct gs_tokenizer *tokenizer = load(model);
    struct gs_token_text *text = look(tokenizer);
    size_t total = (size_t)gs_tokens_count(tokens);
    uint32_t *ids = gs_calloc(total, sizeof *ids);
    gs_assert_ok(gs_tokens_read(tokens, 0, total, ids, &error), &error);
    struct gs_text_place place = {true, true};
    struct gs_text_amount amount = {0};
    gs_assert_ok(gs_token_text_check(tokenizer, tokens, &error), &error);
    gs_assert_ok(gs_token_text_add(text, ids, total, &place, &amount, &error), &error);
    print_message("%zu tokens, %llu bytes, %llu words\n", total, (unsigned long long)bytes,
                  (unsigned long long)words);
    assert_int_equal(amount.bytes, bytes);
    assert_int_equal(amount.words, words);
    assert_int_equal(amount.special, count);
    assert_int_equal(amount.unknown, 0);
    gs_free(ids);
    gs_token_text_destroy(text);
    gs_tokenizer_destroy(tokenizer);
    gs_tokens_close(tokens);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stretches),
        cmocka_unit_test(test_passing_over),
        cmocka_unit_test(test_unknown_and_wrong_ids),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_real_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
