/* Documents: every kind of splitting on hostile text, against documents written down by hand. */
#include "core/text/documents.h"
#include "core/base/memory.h"
#include "core/base/utf8.h"
#include "core/text/sentences.h"
#include "tests/core/text/text_support.h"
#include "tests/support/support.h"

#include <string.h>
#include <unistd.h>

struct expected {
    const char *bytes;
    size_t size;
};
#define DOC(text)                                                                                  \
    { text, sizeof(text) - 1 }

static void assert_documents_at(const char *text, size_t size, enum gs_docs docs,
                                const struct expected *expected, size_t count, uint64_t skipped,
                                int line) {
    struct gs_error error;
    struct gs_documents *documents;
    const char *path = gs_scratch_file("documents.txt", text, size);
    gs_assert_ok(gs_documents_open(path, docs, &documents, &error), &error);
    assert_int_equal(gs_documents_total(documents), size);
    const char *bytes;
    size_t length;
    bool found;
    for (size_t i = 0; i < count; i++) {
        gs_assert_ok(gs_documents_next(documents, &bytes, &length, &found, &error), &error);
        if (!found || length != expected[i].size || memcmp(bytes, expected[i].bytes, length) != 0) {
            print_error("line %d: document %zu: \"%.*s\"\n", line, i, found ? (int)length : 6,
                        found ? bytes : "(none)");
            fail();
        }
    }
    gs_assert_ok(gs_documents_next(documents, &bytes, &length, &found, &error), &error);
    assert_false(found);
    gs_assert_ok(gs_documents_next(documents, &bytes, &length, &found, &error), &error);
    assert_false(found);
    assert_int_equal(gs_documents_skipped(documents), skipped);
    assert_int_equal(gs_documents_read(documents), size);
    gs_documents_close(documents);
}

#define SPLIT(text, docs, skipped, ...)                                                            \
    do {                                                                                           \
        const struct expected list[] = {__VA_ARGS__};                                              \
        assert_documents_at(text, sizeof(text) - 1, docs, list, sizeof list / sizeof list[0],      \
                            skipped, __LINE__);                                                    \
    } while (0)
#define NOTHING(text, docs, skipped)                                                               \
    assert_documents_at(text, sizeof(text) - 1, docs, NULL, 0, skipped, __LINE__)

static void test_lines(void **state) {
    (void)state;
    SPLIT("one\ntwo\n", GS_DOCS_LINES, 0, DOC("one"), DOC("two"));
    SPLIT("one\r\n\r\ntwo", GS_DOCS_LINES, 1, DOC("one"), DOC("two"));
    SPLIT("\xEF\xBB\xBFmark\n", GS_DOCS_LINES, 0, DOC("mark"));
    SPLIT("a\0b\n\0\n", GS_DOCS_LINES, 0, DOC("a\0b"), DOC("\0"));
    SPLIT(" \n  x \n", GS_DOCS_LINES, 0, DOC(" "), DOC("  x "));
    SPLIT("\xFF\xFD\n\xE2\x96", GS_DOCS_LINES, 0, DOC("\xFF\xFD"), DOC("\xE2\x96"));
    SPLIT("carriage\rreturn\n", GS_DOCS_LINES, 0, DOC("carriage\rreturn"));
    SPLIT("end\r", GS_DOCS_LINES, 0, DOC("end\r"));
    NOTHING("", GS_DOCS_LINES, 0);
    NOTHING("\n\n\r\n", GS_DOCS_LINES, 3);
    NOTHING("\xEF\xBB\xBF", GS_DOCS_LINES, 0);
}

static void test_blank(void **state) {
    (void)state;
    SPLIT("a\nb\n\nc\n", GS_DOCS_BLANK, 0, DOC("a\nb"), DOC("c"));
    SPLIT("\n\n \t\na\n \n\t\nb", GS_DOCS_BLANK, 0, DOC("a"), DOC("b"));
    SPLIT("a\r\nb\r\n\r\nc\r\n", GS_DOCS_BLANK, 0, DOC("a\nb"), DOC("c"));
    SPLIT("  a\n b \n\n", GS_DOCS_BLANK, 0, DOC("  a\n b "));
    SPLIT("a\rb\r\nc", GS_DOCS_BLANK, 0, DOC("a\rb\nc"));
    SPLIT("\xEF\xBB\xBF\na\0\n\0b", GS_DOCS_BLANK, 0, DOC("a\0\n\0b"));
    NOTHING("", GS_DOCS_BLANK, 0);
    NOTHING(" \n\r\n\t", GS_DOCS_BLANK, 0);
}

static void test_file(void **state) {
    (void)state;
    SPLIT("a\r\nb\n\nc\n", GS_DOCS_FILE, 0, DOC("a\r\nb\n\nc\n"));
    SPLIT("\xEF\xBB\xBF\0", GS_DOCS_FILE, 0, DOC("\0"));
    NOTHING("", GS_DOCS_FILE, 1);
    NOTHING("\xEF\xBB\xBF", GS_DOCS_FILE, 1);
}

static void test_jsonl(void **state) {
    (void)state;
    SPLIT("{\"text\": \"one\"}\n{\"id\": 4, \"text\": \"t\\u0077o\\n\"}", GS_DOCS_JSONL, 0,
          DOC("one"), DOC("two\n"));
    SPLIT("\xEF\xBB\xBF{\"text\": \"\\ud83d\\ude00\"}\r\n\r\n{\"text\":\"\"}\n{\"text\":\" \"}\n",
          GS_DOCS_JSONL, 1, DOC("\xF0\x9F\x98\x80"), DOC(" "));
    NOTHING("", GS_DOCS_JSONL, 0);
}

static void assert_json_refused(const char *text, const char *place, const char *word) {
    struct gs_error error;
    struct gs_documents *documents;
    const char *path = gs_scratch_file("wrong.jsonl", text, strlen(text));
    gs_assert_ok(gs_documents_open(path, GS_DOCS_JSONL, &documents, &error), &error);
    const char *bytes;
    size_t size;
    bool found = true;
    enum gs_status status = GS_OK;
    while (status == GS_OK && found)
        status = gs_documents_next(documents, &bytes, &size, &found, &error);
    gs_assert_error(status, GS_FORMAT, &error, "wrong.jsonl", place, word);
    gs_documents_close(documents);
}

static void test_wrong_json(void **state) {
    (void)state;
    assert_json_refused("{\"text\": \"a\"}\n\n[1]\n", "line 3", "array");
    assert_json_refused("{\"txt\": \"a\"}\n", "line 1", "no \"text\"");
    assert_json_refused("{\"text\": 7}\n", "line 1", "not a string");
    assert_json_refused("{\"text\": \"a\"}\n{\"text\": \"b\n", "line 2", "wrong.jsonl");
    assert_json_refused("{\"text\": \"\xFF\"}\n", "line 1", "wrong.jsonl");
    assert_json_refused("{\"text\": \"a\", \"text\": \"b\"}\n", "line 1", "wrong.jsonl");
}

static void test_names(void **state) {
    (void)state;
    struct gs_error error;
    enum gs_docs docs;
    for (int i = 0; i < 4; i++) {
        gs_assert_ok(gs_docs_parse(gs_docs_name((enum gs_docs)i), &docs, &error), &error);
        assert_int_equal(docs, i);
    }
    gs_assert_error(gs_docs_parse("pages", &docs, &error), GS_USAGE, &error, "pages", "blank");
    assert_int_equal(gs_docs_of_path("a/b.jsonl"), GS_DOCS_JSONL);
    assert_int_equal(gs_docs_of_path("b.ndjson"), GS_DOCS_JSONL);
    assert_int_equal(gs_docs_of_path("a.txt"), GS_DOCS_FILE);
    assert_int_equal(gs_docs_of_path("jsonl"), GS_DOCS_FILE);
    struct gs_documents *documents;
    gs_assert_error(gs_documents_open(gs_scratch_path("none"), docs, &documents, &error),
                    GS_MISSING, &error, "none");
}

/* ---- training sentences ---- */

/* All sentences of a file, in order, are its text; no character is cut. */
static size_t assert_sentences(const char *path, const char *expected, size_t size) {
    bool valid = gs_utf8_valid(expected, size) == size;
    struct gs_error error;
    struct gs_sentences *sentences;
    gs_assert_ok(gs_sentences_open(&path, 1, NULL, &sentences, &error), &error);
    size_t at = 0, count = 0;
    for (;;) {
        const char *bytes;
        size_t length;
        bool found;
        gs_assert_ok(gs_sentences_next(sentences, &bytes, &length, &found, &error), &error);
        if (!found) break;
        assert_in_range(length, 1, GS_SENTENCE_BYTES);
        /* Between two sentences stand only line ends, or one space that a cut dropped. */
        while (at < size && memchr("\r\n ", expected[at], 3) && expected[at] != bytes[0]) at++;
        assert_true(at + length <= size);
        assert_memory_equal(expected + at, bytes, length);
        assert_null(memchr(bytes, '\n', length));
        if (valid) assert_int_equal(gs_utf8_valid(bytes, length), length);
        at += length;
        count++;
    }
    while (at < size && memchr("\r\n ", expected[at], 3)) at++;
    assert_int_equal(at, size);
    gs_sentences_close(sentences);
    return count;
}

static void test_sentences(void **state) {
    (void)state;
    static const char lines[] = "one\r\n\n two \nthree";
    assert_int_equal(assert_sentences(gs_scratch_file("lines.txt", lines, sizeof lines - 1), lines,
                                      sizeof lines - 1),
                     3);
    size_t size;
    char *prose = gs_test_prose(50000, 11, &size);
    for (size_t i = 0; i < size; i++)
        if (prose[i] == '\n') prose[i] = ' '; /* one long line */
    prose[size - 1] = '.';
    size_t count = assert_sentences(gs_scratch_file("line.txt", prose, size), prose, size);
    assert_in_range(count, size / GS_SENTENCE_BYTES, 2 * size / GS_SENTENCE_BYTES);
    gs_free(prose);
    /* No space anywhere: every cut lies between two characters. */
    enum { CHARACTERS = 5000 };
    static char dense[1 + 4 * CHARACTERS] = "a"; /* so that none lies at a multiple of 4 */
    for (size_t i = 0; i < CHARACTERS; i++) memcpy(dense + 1 + 4 * i, "\xF0\x9F\x98\x80", 4);
    const char *path = gs_scratch_file("dense.txt", dense, sizeof dense);
    assert_int_equal(assert_sentences(path, dense, sizeof dense), 5);
    memset(dense, 0x80, sizeof dense); /* no characters at all */
    path = gs_scratch_file("dense.txt", dense, sizeof dense);
    assert_int_equal(assert_sentences(path, dense, sizeof dense), 5);
}

/* More text than is trained on is thinned evenly: of a file of twice the limit (holes on most file
 * systems, so it takes no room), every second sentence. */
static void test_sentences_are_thinned(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_sentences *sentences;
    const char *path = gs_scratch_file("huge.txt", "", 0);
    off_t size = 2 * (off_t)GS_SENTENCES_TOTAL;
    assert_int_equal(truncate(path, size), 0);
    gs_assert_ok(gs_sentences_open(&path, 1, NULL, &sentences, &error), &error);
    size_t count = 0;
    for (;;) {
        const char *bytes;
        size_t length;
        bool found;
        gs_assert_ok(gs_sentences_next(sentences, &bytes, &length, &found, &error), &error);
        if (!found) break;
        assert_int_equal(length, GS_SENTENCE_BYTES);
        count++;
    }
    assert_int_equal(count, size / GS_SENTENCE_BYTES / 2);
    gs_sentences_close(sentences);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),      cmocka_unit_test(test_blank),
        cmocka_unit_test(test_file),       cmocka_unit_test(test_jsonl),
        cmocka_unit_test(test_wrong_json), cmocka_unit_test(test_names),
        cmocka_unit_test(test_sentences),  cmocka_unit_test(test_sentences_are_thinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
