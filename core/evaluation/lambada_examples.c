#include "core/evaluation/lambada_examples.h"

#include "core/base/memory.h"
#include "core/text/documents.h"

#include <string.h>

/* The texts of a file, one behind the other. */
struct texts {
    char *bytes;
    size_t used, room;
    size_t *ends; /* where each text ends */
    size_t count, end_room;
};

static bool grow(void **array, size_t *room, size_t needed, size_t size) {
    if (needed <= *room) return true;
    size_t larger = needed + needed / 2;
    void *grown = gs_calloc(larger, size);
    if (!grown) return false;
    if (*room) memcpy(grown, *array, *room * size);
    gs_free(*array);
    *array = grown;
    *room = larger;
    return true;
}

static enum gs_status add_text(struct texts *texts, const char *bytes, size_t size,
                               struct gs_error *error) {
    void *room = texts->bytes, *ends = texts->ends;
    bool grown = grow(&room, &texts->room, texts->used + size, 1);
    texts->bytes = room;
    grown = grown && grow(&ends, &texts->end_room, texts->count + 1, sizeof *texts->ends);
    texts->ends = ends;
    if (!grown) return gs_fail_memory(error, size, "LAMBADA's texts");
    memcpy(texts->bytes + texts->used, bytes, size);
    texts->used += size;
    texts->ends[texts->count++] = texts->used;
    return GS_OK;
}

/* Bytes before the last space. */
static size_t prefix_size(const char *bytes, size_t size) {
    while (size > 0 && bytes[size - 1] != ' ') size--;
    return size > 0 ? size - 1 : 0;
}

static enum gs_status check_text(const char *bytes, size_t size, const char *path, uint64_t line,
                                 struct gs_error *error) {
    bool space = memchr(bytes, ' ', size) != NULL;
    if (space && bytes[size - 1] != ' ') return GS_OK;
    gs_fail(error, GS_FORMAT, "a LAMBADA text has no last word");
    gs_error_expected(error, "a text with a space and a word behind the last one");
    gs_error_found(error, space ? "a text that ends in a space" : "a text without a space");
    gs_error_where(error, "%s, line %llu", path, (unsigned long long)line);
    return GS_FORMAT;
}

static enum gs_status read_texts(struct gs_documents *documents, const char *path,
                                 struct texts *texts, struct gs_error *error) {
    for (;;) {
        const char *bytes;
        size_t size;
        bool found;
        enum gs_status status = gs_documents_next(documents, &bytes, &size, &found, error);
        if (status != GS_OK || !found) return status;
        status = check_text(bytes, size, path, gs_documents_line(documents), error);
        if (status == GS_OK) status = add_text(texts, bytes, size, error);
        if (status != GS_OK) return status;
    }
}

/* ids of the whole text and of its prefix, to an example. */
static void set_example(struct gs_lambada_examples *examples, size_t index, const uint32_t *ids,
                        size_t count, const uint32_t *prefix, size_t prefix_count) {
    size_t border = 0;
    while (border < prefix_count && border + 1 < count && ids[border] == prefix[border]) border++;
    if (border != prefix_count) examples->early++;
    examples->examples[index] = (struct gs_lambada_example){ids, count, border};
    if (count > examples->longest) examples->longest = count;
    examples->words += count - border;
}

/* Texts 2i and 2i + 1 of `pairs` are text i and its prefix. */
static enum gs_status encode_pairs(const struct gs_tokenizer *tokenizer,
                                   const struct gs_text *pairs, size_t *ends,
                                   struct gs_lambada_examples *examples, struct gs_error *error) {
    enum gs_status status =
        gs_tokenizer_encode_all(tokenizer, pairs, 2 * examples->count, &examples->ids, ends, error);
    if (status != GS_OK) return status;
    size_t start = 0;
    for (size_t i = 0; i < examples->count; i++) {
        size_t middle = ends[2 * i], end = ends[2 * i + 1];
        if (middle == start) {
            gs_fail(error, GS_FORMAT, "the tokenizer gives no token for a LAMBADA text");
            gs_error_where(error, "example %zu", i + 1);
            return GS_FORMAT;
        }
        set_example(examples, i, examples->ids + start, middle - start, examples->ids + middle,
                    end - middle);
        start = end;
    }
    return GS_OK;
}

static enum gs_status encode_texts(const struct gs_tokenizer *tokenizer, const struct texts *texts,
                                   struct gs_lambada_examples *examples, struct gs_error *error) {
    examples->count = texts->count;
    examples->examples = gs_calloc(texts->count, sizeof *examples->examples);
    struct gs_text *pairs = gs_calloc(2 * texts->count, sizeof *pairs);
    size_t *ends = gs_calloc(2 * texts->count, sizeof *ends);
    enum gs_status status = GS_OK;
    if (!examples->examples || !pairs || !ends)
        status = gs_fail_memory(error, 2 * texts->count * sizeof *pairs, "LAMBADA's texts");
    for (size_t i = 0, start = 0; i < texts->count && status == GS_OK; start = texts->ends[i++]) {
        const char *bytes = texts->bytes + start;
        size_t size = texts->ends[i] - start;
        pairs[2 * i] = (struct gs_text){bytes, size};
        pairs[2 * i + 1] = (struct gs_text){bytes, prefix_size(bytes, size)};
    }
    if (status == GS_OK) status = encode_pairs(tokenizer, pairs, ends, examples, error);
    gs_free(pairs);
    gs_free(ends);
    return status;
}

enum gs_status gs_lambada_examples_read(const char *path, const struct gs_tokenizer *tokenizer,
                                        struct gs_lambada_examples *examples,
                                        struct gs_error *error) {
    *examples = (struct gs_lambada_examples){0};
    struct gs_documents *documents;
    enum gs_status status = gs_documents_open(path, GS_DOCS_JSONL, &documents, error);
    if (status != GS_OK) return status;
    struct texts texts = {0};
    status = read_texts(documents, path, &texts, error);
    examples->skipped = (size_t)gs_documents_skipped(documents);
    gs_documents_close(documents);
    if (status == GS_OK && texts.count == 0) {
        status = gs_fail(error, GS_FORMAT, "there is no LAMBADA example");
        gs_error_expected(error, "JSON Lines with the string \"text\"");
        gs_error_where(error, "%s", path);
    }
    if (status == GS_OK) status = encode_texts(tokenizer, &texts, examples, error);
    gs_free(texts.bytes);
    gs_free(texts.ends);
    return status;
}

void gs_lambada_examples_clear(struct gs_lambada_examples *examples) {
    gs_free(examples->examples);
    gs_free(examples->ids);
    *examples = (struct gs_lambada_examples){0};
}
