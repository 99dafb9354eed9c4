/* Text that is not UTF-8: every encoding with and without its mark, made from ASCII, Greek and
 * Chinese by hand; and what must pass: NULs, holes, invalid bytes. */
#include "core/text/encoding.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/text/documents.h"
#include "tests/core/text/text_support.h"
#include "tests/support/support.h"

#include <string.h>

static const struct {
    const char *name;
    size_t width;
    bool little;
} encodings[] = {
    {"UTF-16LE", 2, true}, {"UTF-16BE", 2, false}, {"UTF-32LE", 4, true}, {"UTF-32BE", 4, false}};
enum { ENCODINGS = sizeof encodings / sizeof *encodings };

/* `count` characters of the basic plane, with a byte order mark or without. Bytes written. */
static size_t encode(const uint32_t *characters, size_t count, size_t encoding, bool mark,
                     unsigned char *bytes) {
    size_t size = 0;
    for (size_t i = 0; i < count + mark; i++) {
        uint32_t value = mark && i == 0 ? 0xFEFF : characters[i - mark];
        for (size_t j = 0; j < encodings[encoding].width; j++) {
            size_t shift = encodings[encoding].little ? j : encodings[encoding].width - 1 - j;
            bytes[size++] = (unsigned char)(value >> (8 * shift));
        }
    }
    return size;
}

/* Words of `letters` letters from `base` on, with ASCII spaces, full stops and line ends between.
 */
static void write(uint32_t base, size_t letters, uint32_t *characters, size_t count) {
    struct gs_random random;
    gs_random_seed(&random, base, "test/encoding");
    for (size_t i = 0; i < count; i++) {
        bool letter = i % (letters + 1) < letters;
        characters[i] = letter ? base + (uint32_t)gs_random_below(&random, 60) : i % 7 ? ' ' : '\n';
    }
}

static void test_other_encodings(void **state) {
    (void)state;
    enum { COUNT = 1000 };
    static uint32_t characters[COUNT];
    static unsigned char bytes[4 * COUNT + 4];
    static const struct {
        uint32_t base;
        size_t letters;
    } scripts[] = {{'a', 5}, {0x3B1, 5}, {0x4E00, 6}};
    struct gs_error error;
    for (size_t script = 0; script < 3; script++) {
        write(scripts[script].base, scripts[script].letters, characters, COUNT);
        for (size_t i = 0; i < 2 * (size_t)ENCODINGS; i++) {
            size_t encoding = i / 2;
            size_t size = encode(characters, COUNT, encoding, i % 2, bytes);
            gs_assert_error(gs_text_check_encoding(bytes, size, "a.txt", &error), GS_FORMAT, &error,
                            "a.txt", encodings[encoding].name, i % 2 ? "mark" : "NUL", "iconv");
        }
    }
    /* a mark alone is enough, also where a document would be empty */
    gs_assert_error(gs_text_check_encoding((const unsigned char *)"\xFF\xFE", 2, "a", &error),
                    GS_FORMAT, &error, "UTF-16LE");
}

static void assert_passes(const void *bytes, size_t size) {
    struct gs_error error;
    gs_assert_ok(gs_text_check_encoding(bytes, size, "a.txt", &error), &error);
}

static void test_what_passes(void **state) {
    (void)state;
    enum { SIZE = 100000 };
    unsigned char *bytes = gs_calloc(SIZE, 1);
    struct gs_random random;
    gs_random_seed(&random, 3, "test/encoding");
    assert_passes(bytes, SIZE); /* a hole */
    assert_passes(bytes, 0);
    assert_passes("\xEF\xBB\xBF", 3);
    assert_passes("\xFF", 1);
    assert_passes("a\0b\0c\0", 6); /* few */
    for (size_t trial = 0; trial < 20; trial++) {
        size_t rate = 2 + trial * trial; /* NULs at random, from every second byte on */
        for (size_t i = 0; i < SIZE; i++)
            bytes[i] = gs_random_below(&random, rate) ? (unsigned char)('a' + i % 26) : 0;
        assert_passes(bytes, SIZE);
    }
    for (size_t i = 0; i < SIZE; i++) bytes[i] = (unsigned char)gs_random_below(&random, 256);
    bytes[0] = 'a';
    assert_passes(bytes, SIZE);
    for (size_t i = 0; i < SIZE; i++) bytes[i] = i % 64 < 40 ? 'x' : 0; /* padded records */
    assert_passes(bytes, SIZE);
    gs_free(bytes);
}

/* Every way a text is opened refuses. */
static void test_documents_refuse(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_documents *documents;
    static const char text[] = "\xFF\xFEh\0i\0\n\0";
    const char *path = gs_scratch_file("wide.txt", text, sizeof text - 1);
    for (int docs = 0; docs <= GS_DOCS_JSONL; docs++) {
        gs_assert_error(gs_documents_open(path, (enum gs_docs)docs, &documents, &error), GS_FORMAT,
                        &error, "wide.txt", "UTF-16LE", "UTF-8");
        assert_null(documents);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_encodings),
        cmocka_unit_test(test_what_passes),
        cmocka_unit_test(test_documents_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
