#include "core/text/tokens.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/text/documents.h"
#include "core/text/encode_documents.h"
#include "core/text/shard_folder.h"
#include "core/text/tokenizer.h"

#include <errno.h>
#include <string.h>

/* Ids lie in mapped shards (a .bin file is one shard) or, for text, in memory. */
struct gs_tokens {
    char *path;
    char sha256[GS_SHA256_TEXT];
    uint64_t count;
    size_t vocab;
    struct gs_shard_folder folder;
    uint32_t *ids; /* text only */
    size_t capacity;
    uint64_t *starts; /* text only: where documents begin */
    size_t document_count, start_capacity;
};

/* ---- text ---- */

static enum gs_status grow(void **array, size_t *capacity, size_t needed, size_t size,
                           struct gs_error *error) {
    if (needed <= *capacity) return GS_OK;
    size_t larger = needed + needed / 2;
    void *grown = gs_calloc(larger, size);
    if (!grown) return gs_fail_memory(error, larger * size, "token ids");
    if (*capacity > 0) memcpy(grown, *array, *capacity * size);
    gs_free(*array);
    *array = grown;
    *capacity = larger;
    return GS_OK;
}

static enum gs_status take_document(void *context, const uint32_t *ids, size_t count, size_t bytes,
                                    struct gs_error *error) {
    (void)bytes;
    struct gs_tokens *tokens = context;
    size_t total;
    if (!gs_add((size_t)tokens->count, count, &total))
        return gs_fail_memory(error, SIZE_MAX, "token ids");
    void *array = tokens->ids, *starts = tokens->starts;
    enum gs_status status = grow(&array, &tokens->capacity, total, sizeof *ids, error);
    tokens->ids = array;
    if (status != GS_OK) return status;
    status = grow(&starts, &tokens->start_capacity, tokens->document_count + 1,
                  sizeof *tokens->starts, error);
    tokens->starts = starts;
    if (status != GS_OK) return status;
    memcpy(tokens->ids + tokens->count, ids, count * sizeof *ids);
    tokens->starts[tokens->document_count++] = tokens->count;
    tokens->count = total;
    return GS_OK;
}

static enum gs_status encode_file(struct gs_tokens *tokens, const struct gs_tokenizer *tokenizer,
                                  struct gs_error *error) {
    struct gs_documents *documents;
    enum gs_status status =
        gs_documents_open(tokens->path, gs_docs_of_path(tokens->path), &documents, error);
    if (status != GS_OK) return status;
    struct gs_document_sink sink = {tokens, take_document};
    status = gs_encode_documents(documents, tokenizer, &sink, NULL, error);
    gs_documents_close(documents);
    if (status != GS_OK || tokens->count > 0) return status;
    gs_fail(error, GS_FORMAT, "the text is empty");
    gs_error_expected(error, "at least one document with text");
    gs_error_where(error, "%s", tokens->path);
    return GS_FORMAT;
}

static enum gs_status open_text(struct gs_tokens *tokens, const char *tokenizer_path,
                                struct gs_error *error) {
    if (!tokenizer_path) {
        gs_fail(error, GS_USAGE, "text needs a tokenizer to become tokens");
        gs_error_where(error, "%s", tokens->path);
        gs_error_next(error, "give --tokenizer FILE, or token shards made by `gpnscope tokenize`");
        return GS_USAGE;
    }
    struct gs_tokenizer *tokenizer;
    enum gs_status status = gs_tokenizer_load(tokenizer_path, &tokenizer, error);
    if (status != GS_OK) return status;
    tokens->vocab = gs_tokenizer_size(tokenizer);
    memcpy(tokens->folder.tokenizer_sha256, gs_tokenizer_sha256(tokenizer), GS_SHA256_TEXT);
    tokens->folder.tokenizer = gs_strdup(tokenizer_path);
    status = encode_file(tokens, tokenizer, error);
    gs_tokenizer_destroy(tokenizer);
    return status;
}

/* ---- opening ---- */

static enum gs_status open_shards(struct gs_tokens *tokens, struct gs_error *error) {
    enum gs_status status = gs_shard_folder_open(tokens->path, &tokens->folder, error);
    tokens->count = tokens->folder.tokens;
    tokens->vocab = tokens->folder.vocab;
    return status;
}

static enum gs_status open_ids(struct gs_tokens *tokens, struct gs_error *error) {
    struct gs_shard *shard = gs_calloc(1, sizeof *shard);
    if (!shard) return gs_fail_memory(error, sizeof *shard, "a token file");
    tokens->folder.shards = shard;
    tokens->folder.shard_count = 1;
    enum gs_status status = gs_shard_map(tokens->path, shard, error);
    tokens->count = shard->count;
    return status;
}

static bool ends_in(const char *path, const char *ending) {
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

static enum gs_status open_any(struct gs_tokens *tokens, const char *tokenizer_path,
                               struct gs_error *error) {
    const char *path = tokens->path;
    if (!gs_path_exists(path)) return gs_fail_errno(error, ENOENT, "cannot open data", path);
    if (gs_path_is_folder(path)) return open_shards(tokens, error);
    if (ends_in(path, ".bin")) return open_ids(tokens, error);
    if (ends_in(path, ".txt") || gs_docs_of_path(path) == GS_DOCS_JSONL)
        return open_text(tokens, tokenizer_path, error);
    gs_fail(error, GS_UNSUPPORTED, "this is no data that is known by its name");
    gs_error_expected(error, "a shard folder, a .bin file of ids, or text (.txt, .jsonl)");
    gs_error_where(error, "%s", path);
    gs_error_next(error, "give the file the ending that says what it is");
    return GS_UNSUPPORTED;
}

enum gs_status gs_tokens_open(const char *path, const char *tokenizer_path,
                              struct gs_tokens **tokens, struct gs_error *error) {
    *tokens = NULL;
    struct gs_tokens *made = gs_calloc(1, sizeof *made);
    if (!made) return gs_fail_memory(error, sizeof *made, "tokens");
    made->path = gs_strdup(path);
    enum gs_status status = made->path ? open_any(made, tokenizer_path, error)
                                       : gs_fail_memory(error, strlen(path), "a path");
    if (status == GS_OK) status = gs_sha256_path(path, made->sha256, error);
    if (status == GS_OK)
        *tokens = made;
    else
        gs_tokens_close(made);
    return status;
}

void gs_tokens_close(struct gs_tokens *tokens) {
    if (!tokens) return;
    gs_shard_folder_close(&tokens->folder);
    gs_free(tokens->ids);
    gs_free(tokens->starts);
    gs_free(tokens->path);
    gs_free(tokens);
}

/* ---- reading ---- */

uint64_t gs_tokens_count(const struct gs_tokens *tokens) {
    return tokens->count;
}

/* The shard that holds token `position`. */
static size_t find_shard(const struct gs_shard_folder *folder, uint64_t position) {
    size_t low = 0, high = folder->shard_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (folder->shards[middle].first <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void copy_ids(const unsigned char *bytes, size_t count, uint32_t *ids) {
    for (size_t i = 0; i < count; i++, bytes += 4)
        ids[i] = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                 (uint32_t)bytes[3] << 24;
}

static void read_shards(const struct gs_shard_folder *folder, uint64_t first, size_t count,
                        uint32_t *ids) {
    for (size_t number = find_shard(folder, first); count > 0; number++) {
        const struct gs_shard *shard = &folder->shards[number];
        uint64_t offset = first - shard->first, left = shard->count - offset;
        size_t now = left < count ? (size_t)left : count;
        copy_ids(shard->file.bytes + offset * sizeof *ids, now, ids);
        gs_file_release(&shard->file, (size_t)offset * sizeof *ids,
                        ((size_t)offset + now) * sizeof *ids);
        first += now;
        ids += now;
        count -= now;
    }
}

enum gs_status gs_tokens_read(const struct gs_tokens *tokens, uint64_t first, size_t count,
                              uint32_t *ids, struct gs_error *error) {
    if (first > tokens->count || count > tokens->count - first) {
        gs_fail(error, GS_RANGE, "tokens are asked for that are not there");
        gs_error_expected(error, "a range inside %llu tokens", (unsigned long long)tokens->count);
        gs_error_found(error, "%zu tokens from %llu on", count, (unsigned long long)first);
        gs_error_where(error, "%s", tokens->path);
        return GS_RANGE;
    }
    if (count == 0) return GS_OK;
    if (tokens->ids)
        memcpy(ids, tokens->ids + first, count * sizeof *ids);
    else
        read_shards(&tokens->folder, first, count, ids);
    return GS_OK;
}

static enum gs_status too_large(const struct gs_tokens *tokens, uint64_t position, uint32_t id,
                                size_t vocab, struct gs_error *error) {
    gs_fail(error, GS_RANGE, "a token id is beyond the vocabulary");
    gs_error_expected(error, "ids below %zu", vocab);
    gs_error_found(error, "%lu at token %llu", (unsigned long)id, (unsigned long long)position);
    gs_error_where(error, "%s", tokens->path);
    gs_error_next(error, "use the data and the tokenizer that belong to this model");
    return GS_RANGE;
}

/* Every id once; counts (vocab) may be NULL. */
static enum gs_status walk(const struct gs_tokens *tokens, size_t vocab, uint64_t *counts,
                           struct gs_error *error) {
    enum { BLOCK = 4096 };
    uint32_t ids[BLOCK];
    for (uint64_t at = 0; at < tokens->count; at += BLOCK) {
        uint64_t left = tokens->count - at;
        size_t count = left < BLOCK ? (size_t)left : BLOCK;
        enum gs_status status = gs_tokens_read(tokens, at, count, ids, error);
        if (status != GS_OK) return status;
        for (size_t i = 0; i < count; i++) {
            if (ids[i] >= vocab) return too_large(tokens, at + i, ids[i], vocab, error);
            if (counts) counts[ids[i]]++;
        }
    }
    return GS_OK;
}

enum gs_status gs_tokens_check(const struct gs_tokens *tokens, size_t vocab,
                               struct gs_error *error) {
    return walk(tokens, vocab, NULL, error);
}

enum gs_status gs_tokens_histogram(const struct gs_tokens *tokens, size_t vocab, uint64_t *counts,
                                   struct gs_error *error) {
    if (vocab > 0) memset(counts, 0, vocab * sizeof *counts);
    return walk(tokens, vocab, counts, error);
}

const uint64_t *gs_tokens_documents(const struct gs_tokens *tokens, size_t *count) {
    *count = tokens->ids ? tokens->document_count : tokens->folder.document_count;
    return tokens->ids ? tokens->starts : tokens->folder.starts;
}

size_t gs_tokens_vocab(const struct gs_tokens *tokens) {
    return tokens->vocab;
}

const char *gs_tokens_sha256(const struct gs_tokens *tokens) {
    return tokens->sha256;
}

const char *gs_tokens_tokenizer(const struct gs_tokens *tokens) {
    return tokens->folder.tokenizer ? tokens->folder.tokenizer : "";
}

const char *gs_tokens_tokenizer_sha256(const struct gs_tokens *tokens) {
    return tokens->folder.tokenizer_sha256;
}
