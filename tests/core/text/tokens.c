/* Token streams: reading across shard borders, text, and every fault of shards and meta.json. */
#include "core/text/tokens.h"
#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/text/shards.h"
#include "core/text/tokenizer.h"
#include "tests/core/text/text_support.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TOKENS = 300, VOCAB = 50 };

static void make_ids(uint32_t *ids) {
    struct gs_random random;
    gs_random_seed(&random, 2, "test/tokens");
    for (size_t i = 0; i < TOKENS; i++) ids[i] = (uint32_t)gs_random_below(&random, VOCAB);
}

/* A folder of shards of 70 tokens, documents of 10, made by the writer. */
static const char *make_folder(const char *name) {
    struct gs_error error;
    struct gs_shards *shards;
    uint32_t ids[TOKENS];
    make_ids(ids);
    const char *path = gs_scratch_path("%s", name);
    gs_assert_ok(gs_shards_create(path, 70, true, &shards, &error), &error);
    for (size_t i = 0; i < TOKENS; i += 10)
        gs_assert_ok(gs_shards_add(shards, ids + i, 10, &error), &error);
    gs_assert_ok(gs_shards_finish(shards, "test", NULL, VOCAB, &error), &error);
    gs_shards_destroy(shards);
    return path;
}

static struct gs_tokens *open_tokens(const char *path, const char *tokenizer) {
    struct gs_error error;
    struct gs_tokens *tokens;
    gs_assert_ok(gs_tokens_open(path, tokenizer, &tokens, &error), &error);
    return tokens;
}

/* Every window of every length against the plain array. */
static void assert_windows(const struct gs_tokens *tokens, const uint32_t *ids, size_t count) {
    struct gs_error error;
    uint32_t window[TOKENS];
    assert_int_equal(gs_tokens_count(tokens), count);
    for (size_t length = 0; length <= count; length += length < 75 ? 1 : 29)
        for (size_t first = 0; first + length <= count; first++) {
            memset(window, 0xAA, sizeof window);
            gs_assert_ok(gs_tokens_read(tokens, first, length, window, &error), &error);
            assert_memory_equal(window, ids + first, length * sizeof *ids);
            if (length < TOKENS) assert_int_equal(window[length], 0xAAAAAAAA);
        }
    gs_assert_error(gs_tokens_read(tokens, count, 1, window, &error), GS_RANGE, &error, "300",
                    "1 tokens from 300");
    gs_assert_error(gs_tokens_read(tokens, 1, count, window, &error), GS_RANGE, &error, "300");
    gs_assert_error(gs_tokens_read(tokens, UINT64_MAX, SIZE_MAX, window, &error), GS_RANGE, &error,
                    "300");
}

static void test_windows_cross_shards(void **state) {
    (void)state;
    uint32_t ids[TOKENS];
    make_ids(ids);
    struct gs_tokens *tokens = open_tokens(make_folder("folder"), NULL);
    assert_windows(tokens, ids, TOKENS);
    assert_int_equal(gs_tokens_vocab(tokens), VOCAB);
    assert_int_equal(strlen(gs_tokens_sha256(tokens)), 64);
    size_t documents;
    const uint64_t *starts = gs_tokens_documents(tokens, &documents);
    assert_int_equal(documents, 30);
    for (size_t i = 0; i < documents; i++) assert_int_equal(starts[i], 10 * i);
    gs_tokens_close(tokens);
    gs_tokens_close(NULL);
}

static void test_single_file(void **state) {
    (void)state;
    uint32_t ids[TOKENS];
    make_ids(ids);
    struct gs_tokens *tokens = open_tokens(gs_scratch_file("ids.bin", ids, sizeof ids), NULL);
    assert_windows(tokens, ids, TOKENS);
    assert_int_equal(gs_tokens_vocab(tokens), 0);
    size_t documents;
    assert_null(gs_tokens_documents(tokens, &documents));
    assert_int_equal(documents, 0);
    gs_tokens_close(tokens);
}

static void test_reference_shards(void **state) {
    (void)state;
    const char *path = gs_shared_path("reference/train_gpn/data");
    if (!path) skip();
    struct gs_error error;
    struct gs_tokens *tokens = open_tokens(path, NULL);
    assert_int_equal(gs_tokens_count(tokens), 12000);
    assert_int_equal(gs_tokens_vocab(tokens), 64);
    size_t documents;
    gs_tokens_documents(tokens, &documents);
    assert_int_equal(documents, 124);
    gs_assert_ok(gs_tokens_check(tokens, 64, &error), &error);
    gs_tokens_close(tokens);
}

static void test_vocabulary(void **state) {
    (void)state;
    struct gs_error error;
    uint32_t ids[TOKENS];
    uint64_t counts[VOCAB], naive[VOCAB] = {0};
    make_ids(ids);
    for (size_t i = 0; i < TOKENS; i++) naive[ids[i]]++;
    struct gs_tokens *tokens = open_tokens(make_folder("folder"), NULL);
    gs_assert_ok(gs_tokens_check(tokens, VOCAB, &error), &error);
    memset(counts, 0xFF, sizeof counts);
    gs_assert_ok(gs_tokens_histogram(tokens, VOCAB, counts, &error), &error);
    assert_memory_equal(counts, naive, sizeof naive);
    size_t first = 0;
    while (ids[first] < 40) first++;
    char place[64];
    snprintf(place, sizeof place, "%u at token %zu", ids[first], first);
    gs_assert_error(gs_tokens_check(tokens, 40, &error), GS_RANGE, &error, "folder", "below 40",
                    place);
    gs_assert_error(gs_tokens_histogram(tokens, 40, counts, &error), GS_RANGE, &error, place);
    gs_tokens_close(tokens);
}

/* ---- text ---- */

/* What the stream must be: each document encoded alone, and EOS. */
static void assert_text(const struct gs_tokens *tokens, const char *const *documents,
                        size_t count) {
    struct gs_error error;
    struct gs_tokenizer *tokenizer;
    gs_assert_ok(gs_tokenizer_load(gs_test_tokenizer(), &tokenizer, &error), &error);
    size_t document_count;
    const uint64_t *starts = gs_tokens_documents(tokens, &document_count);
    assert_int_equal(document_count, count);
    uint64_t at = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t *ids, read[4096];
        size_t length;
        gs_assert_ok(gs_tokenizer_encode(tokenizer, documents[i], strlen(documents[i]), &ids,
                                         &length, &error),
                     &error);
        assert_int_equal(starts[i], at);
        gs_assert_ok(gs_tokens_read(tokens, at, length + 1, read, &error), &error);
        assert_memory_equal(read, ids, length * sizeof *ids);
        assert_int_equal(read[length], 2);
        at += length + 1;
        gs_free(ids);
    }
    assert_int_equal(gs_tokens_count(tokens), at);
    assert_int_equal(gs_tokens_vocab(tokens), GS_TEST_PIECES);
    gs_tokenizer_destroy(tokenizer);
}

static void test_text(void **state) {
    (void)state;
    struct gs_error error;
    const char *tokenizer = gs_test_tokenizer();
    static const char whole[] = "the state\n\nof a model\n";
    const char *path = gs_scratch_file("text.txt", whole, sizeof whole - 1);
    struct gs_tokens *tokens = open_tokens(path, tokenizer);
    assert_text(tokens, (const char *const[]){whole}, 1);
    gs_tokens_close(tokens);
    static const char lines[] =
        "{\"text\": \"the state\"}\n{\"text\": \"\"}\n{\"text\": \" of\\n\"}";
    tokens = open_tokens(gs_scratch_file("text.jsonl", lines, sizeof lines - 1), tokenizer);
    assert_text(tokens, (const char *const[]){"the state", " of\n"}, 2);
    gs_tokens_close(tokens);
    gs_assert_error(gs_tokens_open(path, NULL, &tokens, &error), GS_USAGE, &error, "text.txt",
                    "--tokenizer");
    path = gs_scratch_file("empty.txt", "", 0);
    gs_assert_error(gs_tokens_open(path, tokenizer, &tokens, &error), GS_FORMAT, &error,
                    "empty.txt", "empty");
    assert_null(tokens);
}

static void test_many_documents(void **state) {
    (void)state;
    /* More documents than a batch holds, and one longer than a batch. */
    enum { DOCUMENTS = 1500, LONG = 1200000 };
    size_t size;
    char *prose = gs_test_prose(LONG, 4, &size);
    for (size_t i = 0; i < size; i++)
        if (prose[i] == '\n') prose[i] = ' ';
    const char *path = gs_scratch_path("many.jsonl");
    FILE *stream = fopen(path, "wb");
    for (size_t i = 0; i < DOCUMENTS; i++)
        if (i == 700)
            fprintf(stream, "{\"text\": \"%s\"}\n", prose);
        else
            fprintf(stream, "{\"text\": \"the %zu\"}\n", i);
    assert_int_equal(fclose(stream), 0);
    struct gs_tokens *tokens = open_tokens(path, gs_test_tokenizer());
    size_t count;
    const uint64_t *starts = gs_tokens_documents(tokens, &count);
    assert_int_equal(count, DOCUMENTS);
    struct gs_error error;
    struct gs_tokenizer *tokenizer;
    gs_assert_ok(gs_tokenizer_load(gs_test_tokenizer(), &tokenizer, &error), &error);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        if (i == 700) continue;
        uint32_t ids[64];
        size_t length =
            (size_t)((i + 1 < count ? starts[i + 1] : gs_tokens_count(tokens)) - starts[i]);
        char *text, expected[32];
        gs_assert_ok(gs_tokens_read(tokens, starts[i], length, ids, &error), &error);
        assert_int_equal(ids[length - 1], 2);
        gs_assert_ok(gs_tokenizer_decode(tokenizer, ids, length, &text, &size, &error), &error);
        snprintf(expected, sizeof expected, "the %zu", i);
        assert_string_equal(text, expected);
        gs_free(text);
    }
    gs_tokenizer_destroy(tokenizer);
    gs_tokens_close(tokens);
    gs_free(prose);
}

/* ---- faults ---- */

#define REFUSED(path, status, ...)                                                                 \
    do {                                                                                           \
        struct gs_error refusal;                                                                   \
        struct gs_tokens *refused;                                                                 \
        gs_assert_error(gs_tokens_open(path, NULL, &refused, &refusal), status, &refusal,          \
                        __VA_ARGS__);                                                              \
        assert_null(refused);                                                                      \
    } while (0)

static void replace_in(const char *folder, const char *name, const void *bytes, size_t size) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    gs_scratch_file(path + strlen(gs_scratch_folder()) + 1, bytes, size);
}

static void test_files_of_ids(void **state) {
    (void)state;
    REFUSED(gs_scratch_file("none.bin", "", 0), GS_FORMAT, "none.bin", "empty", "0 bytes");
    REFUSED(gs_scratch_file("odd.bin", "1234567", 7), GS_FORMAT, "odd.bin", "7 bytes",
            "3 more than 1");
    REFUSED(gs_scratch_path("absent.bin"), GS_MISSING, "absent.bin");
    REFUSED(gs_scratch_file("data.csv", "1,2", 3), GS_UNSUPPORTED, "data.csv", ".bin");
}

static void test_shard_faults(void **state) {
    (void)state;
    const char *path = make_folder("faults");
    replace_in(path, "data_0001.bin", "", 0);
    REFUSED(path, GS_FORMAT, "data_0001.bin", "0 bytes");
    replace_in(path, "data_0001.bin", "12345", 5);
    REFUSED(path, GS_FORMAT, "data_0001.bin", "5 bytes");
    replace_in(path, "data_0001.bin", "12345678", 8);
    REFUSED(path, GS_FORMAT, "data_0001.index.json", "2 tokens", "10 tokens");
    path = make_folder("faults");
    unlink(gs_scratch_path("faults/data_0002.bin"));
    REFUSED(path, GS_MISSING, "faults", "gap", "data_0002.bin");
    path = make_folder("faults");
    unlink(gs_scratch_path("faults/data_0004.bin"));
    REFUSED(path, GS_FORMAT, "meta.json", "num_shards 5", "found 4");
    path = make_folder("faults");
    for (int i = 0; i < 5; i++) unlink(gs_scratch_path("faults/data_%04d.bin", i));
    REFUSED(path, GS_MISSING, "faults", "data_0000.bin");
}

static void assert_index_refused(const char *text, const char *word, const char *other) {
    const char *path = make_folder("faults");
    replace_in(path, "data_0000.index.json", text, strlen(text));
    REFUSED(path, GS_FORMAT, "data_0000.index.json", word, other);
}

static void test_index_faults(void **state) {
    (void)state;
    assert_index_refused("[60, 9]", "70 tokens", "69 tokens");
    assert_index_refused("[60, 11]", "70 tokens", "at least 71");
    assert_index_refused("[9223372036854775807, 9223372036854775807]", "70 tokens", "at least");
    assert_index_refused("[70, 0]", "entry 1", "found 0");
    assert_index_refused("[80, -10]", "70 tokens", "80");
    assert_index_refused("[-10, 80]", "entry 0", "-10");
    assert_index_refused("[70.0]", "entry 0", "above 0");
    assert_index_refused("{\"a\": 70}", "object", "array");
    assert_index_refused("[70", "data_0000.index.json", "");
    const char *path = make_folder("faults");
    unlink(gs_scratch_path("faults/data_0003.index.json"));
    REFUSED(path, GS_MISSING, "data_0003.index.json");
}

static void assert_meta_refused(const char *text, enum gs_status status, const char *word,
                                const char *other) {
    const char *path = make_folder("faults");
    replace_in(path, "meta.json", text, strlen(text));
    REFUSED(path, status, "meta.json", word, other);
}

static void test_meta_faults(void **state) {
    (void)state;
    assert_meta_refused("{\"vocab_size\": 50, \"total_tokens\": 301, \"total_docs\": 30, "
                        "\"num_shards\": 5}",
                        GS_FORMAT, "total_tokens 301", "found 300");
    assert_meta_refused("{\"vocab_size\": 50, \"total_tokens\": 300, \"total_docs\": 31, "
                        "\"num_shards\": 5}",
                        GS_FORMAT, "total_docs 31", "found 30");
    assert_meta_refused("{\"vocab_size\": 50, \"total_tokens\": 300, \"total_docs\": 30, "
                        "\"num_shards\": 6}",
                        GS_FORMAT, "num_shards 6", "found 5");
    assert_meta_refused("{\"total_tokens\": 300, \"total_docs\": 30, \"num_shards\": 5}",
                        GS_MISSING, "vocab_size", "no \"vocab_size\"");
    assert_meta_refused("{\"vocab_size\": \"50\", \"total_tokens\": 300, \"total_docs\": 30, "
                        "\"num_shards\": 5}",
                        GS_FORMAT, "vocab_size", "string");
    assert_meta_refused("{\"vocab_size\": -1, \"total_tokens\": 300, \"total_docs\": 30, "
                        "\"num_shards\": 5}",
                        GS_FORMAT, "vocab_size", "-1");
    assert_meta_refused("", GS_FORMAT, "meta.json", "");
    const char *path = make_folder("faults");
    unlink(gs_scratch_path("faults/meta.json"));
    REFUSED(path, GS_MISSING, "meta.json", "gpnscope tokenize");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows_cross_shards),
        cmocka_unit_test(test_single_file),
        cmocka_unit_test(test_reference_shards),
        cmocka_unit_test(test_vocabulary),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_many_documents),
        cmocka_unit_test(test_files_of_ids),
        cmocka_unit_test(test_shard_faults),
        cmocka_unit_test(test_index_faults),
        cmocka_unit_test(test_meta_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
