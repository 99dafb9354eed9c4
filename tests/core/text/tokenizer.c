/* The tokenizer: round trips on hostile text, known LLaMA-2 ids, cutting against one call,
 * training, and model files that are none. */
#include "core/text/tokenizer.h"
#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/text/tokenizer_parts.h"
#include "tests/core/text/text_support.h"
#include "tests/support/support.h"

#include <string.h>

static struct gs_tokenizer *load(const char *path) {
    struct gs_error error;
    struct gs_tokenizer *tokenizer;
    gs_assert_ok(gs_tokenizer_load(path, &tokenizer, &error), &error);
    return tokenizer;
}

/* decode(encode(text)) is the text. */
static void assert_round_trip(const struct gs_tokenizer *tokenizer, const char *text, size_t size) {
    struct gs_error error;
    uint32_t *ids;
    size_t count, back_size;
    char *back;
    gs_assert_ok(gs_tokenizer_encode(tokenizer, text, size, &ids, &count, &error), &error);
    gs_assert_ok(gs_tokenizer_decode(tokenizer, ids, count, &back, &back_size, &error), &error);
    assert_int_equal(back_size, size);
    if (size > 0) assert_memory_equal(back, text, size);
    assert_int_equal(back[back_size], '\0');
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) bytes += gs_tokenizer_piece_bytes(tokenizer, ids[i]);
    if (size > 0) assert_int_equal(bytes, size + 1); /* and the space that encoding adds */
    gs_free(ids);
    gs_free(back);
}

#define ROUND_TRIP(tokenizer, text) assert_round_trip(tokenizer, text, sizeof(text) - 1)

static void assert_hostile_round_trips(const struct gs_tokenizer *tokenizer) {
    ROUND_TRIP(tokenizer, "");
    ROUND_TRIP(tokenizer, " ");
    ROUND_TRIP(tokenizer, "     ");
    ROUND_TRIP(tokenizer, "word");
    ROUND_TRIP(tokenizer, " leading space");
    ROUND_TRIP(tokenizer, "  two leading, two trailing  ");
    ROUND_TRIP(tokenizer, "nul \0 inside\0");
    ROUND_TRIP(tokenizer, "\0");
    ROUND_TRIP(tokenizer, "tab\tline\nreturn\r\nend\n\n");
    ROUND_TRIP(tokenizer, "emoji \xF0\x9F\x98\x80 and \xE6\xB0\xB4 and caf\xC3\xA9");
    ROUND_TRIP(tokenizer, "</s> <unk> <s> <0x41> is text here");
    ROUND_TRIP(tokenizer, "\xEF\xBB\xBF is a mark");
    ROUND_TRIP(tokenizer, "0123456789 1234567890");
}

static void test_round_trips(void **state) {
    (void)state;
    struct gs_tokenizer *tokenizer = load(gs_test_tokenizer());
    assert_int_equal(gs_tokenizer_size(tokenizer), GS_TEST_PIECES);
    assert_int_equal(gs_tokenizer_bos(tokenizer), 1);
    assert_int_equal(gs_tokenizer_eos(tokenizer), 2);
    assert_string_equal(gs_tokenizer_piece(tokenizer, 0), "<unk>");
    assert_string_equal(gs_tokenizer_piece(tokenizer, 3), "<0x00>");
    assert_string_equal(gs_tokenizer_piece(tokenizer, 258), "<0xFF>");
    assert_null(gs_tokenizer_piece(tokenizer, GS_TEST_PIECES));
    assert_null(gs_tokenizer_piece(tokenizer, UINT32_MAX));
    assert_int_equal(gs_tokenizer_piece_bytes(tokenizer, 2), 0);
    assert_int_equal(gs_tokenizer_piece_bytes(tokenizer, 243), 1);
    assert_int_equal(gs_tokenizer_piece_bytes(tokenizer, GS_TEST_PIECES), 0);
    assert_int_equal(strlen(gs_tokenizer_sha256(tokenizer)), 64);
    assert_hostile_round_trips(tokenizer);
    gs_tokenizer_destroy(tokenizer);
    gs_tokenizer_destroy(NULL);
}

static void test_bytes_that_are_no_text(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_tokenizer *tokenizer = load(gs_test_tokenizer());
    /* A part of an emoji's bytes decodes to those bytes. */
    uint32_t part[] = {3 + 0xF0, 3 + 0x9F};
    char *bytes;
    size_t size;
    gs_assert_ok(gs_tokenizer_decode(tokenizer, part, 2, &bytes, &size, &error), &error);
    assert_int_equal(size, 2);
    assert_memory_equal(bytes, "\xF0\x9F", 2);
    gs_free(bytes);
    /* Control pieces are no text; the prefix is taken off behind them. */
    uint32_t controls[] = {1, 2};
    gs_assert_ok(gs_tokenizer_decode(tokenizer, controls, 2, &bytes, &size, &error), &error);
    assert_int_equal(size, 0);
    gs_free(bytes);
    /* Invalid UTF-8 is encoded as U+FFFD, a byte each. */
    uint32_t *ids;
    size_t count;
    gs_assert_ok(gs_tokenizer_encode(tokenizer, "a\xFF\xFE", 3, &ids, &count, &error), &error);
    gs_assert_ok(gs_tokenizer_decode(tokenizer, ids, count, &bytes, &size, &error), &error);
    assert_int_equal(size, 7);
    assert_memory_equal(bytes, "a\xEF\xBF\xBD\xEF\xBF\xBD", 7);
    gs_free(ids);
    gs_free(bytes);
    uint32_t wrong[] = {5, GS_TEST_PIECES};
    gs_assert_error(gs_tokenizer_decode(tokenizer, wrong, 2, &bytes, &size, &error), GS_RANGE,
                    &error, "400", "position 1");
    assert_null(bytes);
    gs_tokenizer_destroy(tokenizer);
}

static void test_llama2(void **state) {
    (void)state;
    const char *path = gs_shared_path("data/llama2-tokenizer.model");
    if (!path) skip();
    struct gs_error error;
    struct gs_tokenizer *tokenizer = load(path);
    assert_int_equal(gs_tokenizer_size(tokenizer), 32000);
    assert_true(gs_tokenizer_splittable(tokenizer));
    assert_memory_equal(gs_tokenizer_sha256(tokenizer), "9e556afd", 8);
    uint32_t *ids;
    size_t count;
    gs_assert_ok(gs_tokenizer_encode(tokenizer, "Hello world", 11, &ids, &count, &error), &error);
    assert_int_equal(count, 2);
    assert_int_equal(ids[0], 15043);
    assert_int_equal(ids[1], 3186);
    gs_free(ids);
    /* U+1F600 is no piece of LLaMA-2: its four bytes are, at 3 + byte. */
    gs_assert_ok(gs_tokenizer_encode(tokenizer, "\xF0\x9F\xA6\xA9\n", 5, &ids, &count, &error),
                 &error);
    uint32_t expected[] = {29871, 3 + 0xF0, 3 + 0x9F, 3 + 0xA6, 3 + 0xA9, 13};
    assert_int_equal(count, 6);
    assert_memory_equal(ids, expected, sizeof expected);
    gs_free(ids);
    assert_hostile_round_trips(tokenizer);
    gs_tokenizer_destroy(tokenizer);
}

/* ---- cutting ---- */

static void assert_same_as_one_call(const struct gs_tokenizer *tokenizer, const char *text,
                                    size_t size) {
    struct gs_error error;
    uint32_t *parts, *whole;
    size_t part_count, whole_count;
    gs_assert_ok(gs_tokenizer_encode(tokenizer, text, size, &parts, &part_count, &error), &error);
    gs_assert_ok(gs_tokenizer_encode_part(tokenizer, text, size, &whole, &whole_count, &error),
                 &error);
    assert_int_equal(part_count, whole_count);
    assert_memory_equal(parts, whole, whole_count * sizeof *whole);
    gs_free(parts);
    gs_free(whole);
}

/* Text of the characters that could go wrong at a cut: spaces, runs of them, U+2581 itself, halves
 * of characters, NUL, line ends. */
static void fill_hostile(char *text, size_t size, uint64_t seed) {
    static const char *const bits[] = {" ",  " ",    "  ",           "\xE2\x96\x81",
                                       "a",  "the",  "\xE2\x96",     "\n",
                                       "\t", "\xFF", "\xE6\xB0\xB4", " state"};
    struct gs_random random;
    gs_random_seed(&random, seed, "test/hostile");
    for (size_t at = 0; at < size;) {
        const char *bit = bits[gs_random_below(&random, sizeof bits / sizeof bits[0])];
        size_t length = strlen(bit);
        if (length > size - at) length = size - at;
        memcpy(text + at, bit, length);
        at += length;
        if (gs_random_below(&random, 20) == 0 && at < size) text[at++] = '\0';
    }
}

static void test_cutting_changes_nothing(void **state) {
    (void)state;
    struct gs_tokenizer *own = load(gs_test_tokenizer());
    assert_true(gs_tokenizer_splittable(own));
    const char *llama = gs_shared_path("data/llama2-tokenizer.model");
    struct gs_tokenizer *theirs = llama ? load(llama) : NULL;
    enum { SIZE = 60000 };
    char *text = gs_calloc(SIZE, 1);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        print_message("seed %d\n", (int)seed);
        fill_hostile(text, SIZE, seed);
        assert_same_as_one_call(own, text, SIZE);
        if (theirs) assert_same_as_one_call(theirs, text, SIZE);
        size_t size;
        char *prose = gs_test_prose(SIZE, seed, &size);
        assert_same_as_one_call(own, prose, size);
        if (theirs) assert_same_as_one_call(theirs, prose, size);
        gs_free(prose);
    }
    memset(text, ' ', SIZE); /* no place to cut at all */
    assert_same_as_one_call(own, text, SIZE);
    gs_free(text);
    gs_tokenizer_destroy(own);
    gs_tokenizer_destroy(theirs);
}

static void test_many_texts_as_one_by_one(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_tokenizer *tokenizer = load(gs_test_tokenizer());
    size_t size;
    char *prose = gs_test_prose(30000, 3, &size);
    struct gs_text texts[] = {{prose, 10}, {prose, 0}, {prose, size}, {prose + 5, 100}, {"", 0}};
    enum { COUNT = sizeof texts / sizeof texts[0] };
    uint32_t *all;
    size_t ends[COUNT], start = 0;
    gs_assert_ok(gs_tokenizer_encode_all(tokenizer, texts, COUNT, &all, ends, &error), &error);
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t *ids;
        size_t count;
        gs_assert_ok(gs_tokenizer_encode_part(tokenizer, texts[i].bytes, texts[i].size, &ids,
                                              &count, &error),
                     &error);
        assert_int_equal(ends[i] - start, count);
        if (count > 0) assert_memory_equal(all + start, ids, count * sizeof *ids);
        start = ends[i];
        gs_free(ids);
    }
    gs_free(all);
    gs_free(prose);
    gs_tokenizer_destroy(tokenizer);
}

/* ---- training ---- */

static void test_training_is_deterministic(void **state) {
    (void)state;
    struct gs_error error;
    gs_test_tokenizer();
    const char *text = gs_scratch_path("prose.txt");
    const char *again = gs_scratch_path("again.model");
    gs_assert_ok(gs_tokenizer_train(&text, 1, GS_TEST_PIECES, again, NULL, &error), &error);
    struct gs_tokenizer *a = load(gs_test_tokenizer()), *b = load(again);
    assert_string_equal(gs_tokenizer_sha256(a), gs_tokenizer_sha256(b));
    gs_tokenizer_destroy(a);
    gs_tokenizer_destroy(b);
    /* An existing model is not overwritten. */
    gs_assert_error(gs_tokenizer_train(&text, 1, GS_TEST_PIECES, again, NULL, &error), GS_EXISTS,
                    &error, "again.model");
}

static void test_training_on_one_long_line(void **state) {
    (void)state;
    struct gs_error error;
    /* One line of 100 kB without any space, of three-byte characters that no cut may split: were
     * they split, U+FFFD would become a piece. */
    enum { CHARACTERS = 33000 };
    static char text[3 * CHARACTERS];
    for (size_t i = 0; i < CHARACTERS; i++)
        memcpy(text + 3 * i, i % 7 < 3 ? "\xE6\xB0\xB4" : "\xE5\xB1\xB1", 3);
    const char *path = gs_scratch_file("long.txt", text, sizeof text);
    const char *model = gs_scratch_path("long.model");
    gs_assert_ok(gs_tokenizer_train(&path, 1, 264, model, NULL, &error), &error);
    struct gs_tokenizer *tokenizer = load(model);
    bool character = false;
    for (uint32_t id = 0; id < 264; id++) {
        assert_null(strstr(gs_tokenizer_piece(tokenizer, id), "\xEF\xBF\xBD"));
        character |= strcmp(gs_tokenizer_piece(tokenizer, id), "\xE6\xB0\xB4") == 0;
    }
    assert_true(character);
    gs_tokenizer_destroy(tokenizer);
}

static void test_training_sizes(void **state) {
    (void)state;
    struct gs_error error;
    gs_test_tokenizer();
    const char *text = gs_scratch_path("prose.txt");
    const char *model = gs_scratch_path("sizes.model");
    gs_assert_error(gs_tokenizer_train(&text, 1, 100, model, NULL, &error), GS_RANGE, &error, "100",
                    "260");
    gs_assert_error(gs_tokenizer_train(&text, 1, 270, model, NULL, &error), GS_RANGE, &error, "270",
                    "at least 287", "prose.txt");
    gs_assert_error(gs_tokenizer_train(&text, 1, 9000, model, NULL, &error), GS_RANGE, &error,
                    "9000", "ask for at most", "prose.txt");
    const char *empty = gs_scratch_file("empty.txt", "\n\n\r\n", 4);
    gs_assert_error(gs_tokenizer_train(&empty, 1, 300, model, NULL, &error), GS_RANGE, &error,
                    "no text", "empty.txt");
    const char *absent = gs_scratch_path("absent.txt");
    gs_assert_error(gs_tokenizer_train(&absent, 1, 300, model, NULL, &error), GS_MISSING, &error,
                    "absent.txt");
    const char *json = gs_scratch_file("bad.jsonl", "{\"text\": 3}\n", 12);
    gs_assert_error(gs_tokenizer_train(&json, 1, 300, model, NULL, &error), GS_FORMAT, &error,
                    "bad.jsonl, line 1");
    assert_false(gs_path_exists(model));
}

static bool always(void *context) {
    (void)context;
    return true;
}

static void test_training_stops_on_request(void **state) {
    (void)state;
    struct gs_error error;
    gs_test_tokenizer();
    const char *text = gs_scratch_path("prose.txt");
    const char *model = gs_scratch_path("stopped.model");
    struct gs_progress progress = {.stop = always};
    gs_assert_error(gs_tokenizer_train(&text, 1, GS_TEST_PIECES, model, &progress, &error),
                    GS_INTERRUPTED, &error, "stopped");
    assert_false(gs_path_exists(model));
}

/* ---- files that are no model ---- */

static void assert_refused(const char *name, const void *bytes, size_t size) {
    struct gs_error error;
    struct gs_tokenizer *tokenizer;
    const char *path = gs_scratch_file(name, bytes, size);
    gs_assert_error(gs_tokenizer_load(path, &tokenizer, &error), GS_FORMAT, &error, name);
    assert_null(tokenizer);
}

static void test_broken_files(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_tokenizer *tokenizer;
    assert_refused("empty.model", "", 0);
    assert_refused("text.model", "This is not a tokenizer at all.\n", 32);
    assert_refused("zeros.model", "\0\0\0\0\0\0\0\0", 8);
    const char *absent = gs_scratch_path("absent.model");
    gs_assert_error(gs_tokenizer_load(absent, &tokenizer, &error), GS_MISSING, &error,
                    "absent.model");
    gs_assert_error(gs_tokenizer_load(gs_scratch_folder(), &tokenizer, &error), GS_IO, &error,
                    "folder");
    /* No part of a model is a model. */
    struct gs_mapped_file file;
    gs_assert_ok(gs_file_map(gs_test_tokenizer(), &file, &error), &error);
    for (size_t size = 1; size < file.size; size += size < 64 || size + 64 > file.size ? 1 : 37)
        assert_refused("cut.model", file.bytes, size);
    gs_file_unmap(&file);
}

/* A flipped byte may leave a model; it must never crash or hang. */
static void test_flipped_bytes(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_mapped_file file;
    gs_assert_ok(gs_file_map(gs_test_tokenizer(), &file, &error), &error);
    char *bytes = gs_calloc(file.size, 1);
    struct gs_random random;
    gs_random_seed(&random, 5, "test/flips");
    for (int i = 0; i < 300; i++) {
        memcpy(bytes, file.bytes, file.size);
        bytes[gs_random_below(&random, file.size)] = (char)gs_random_below(&random, 256);
        const char *path = gs_scratch_file("flipped.model", bytes, file.size);
        struct gs_tokenizer *tokenizer;
        enum gs_status status = gs_tokenizer_load(path, &tokenizer, &error);
        if (status != GS_OK) {
            gs_assert_error(status, error.status, &error, "flipped.model");
            continue;
        }
        uint32_t *ids;
        size_t count;
        status = gs_tokenizer_encode(tokenizer, "state \xF0\x9F\x98\x80", 10, &ids, &count, &error);
        if (status == GS_OK) gs_free(ids);
        gs_tokenizer_destroy(tokenizer);
    }
    gs_free(bytes);
    gs_file_unmap(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_bytes_that_are_no_text),
        cmocka_unit_test(test_llama2),
        cmocka_unit_test(test_cutting_changes_nothing),
        cmocka_unit_test(test_many_texts_as_one_by_one),
        cmocka_unit_test(test_training_is_deterministic),
        cmocka_unit_test(test_training_on_one_long_line),
        cmocka_unit_test(test_training_sizes),
        cmocka_unit_test(test_training_stops_on_request),
        cmocka_unit_test(test_broken_files),
        cmocka_unit_test(test_flipped_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
