#include "core/text/shard_folder.h"

#include "core/base/json.h"
#include "core/base/memory.h"

#include <stdio.h>
#include <string.h>

void gs_shard_bin_name(size_t shard, char name[GS_SHARD_NAME]) {
    snprintf(name, GS_SHARD_NAME, "data_%04u.bin", (unsigned)shard);
}

void gs_shard_index_name(size_t shard, char name[GS_SHARD_NAME]) {
    snprintf(name, GS_SHARD_NAME, "data_%04u.index.json", (unsigned)shard);
}

bool gs_shard_parse_name(const char *name, const char *ending, size_t *shard) {
    static const char prefix[] = "data_";
    enum { PREFIX = sizeof prefix - 1, DIGITS = 4 };
    if (strncmp(name, prefix, PREFIX) != 0) return false;
    *shard = 0;
    for (size_t i = PREFIX; i < PREFIX + DIGITS; i++) {
        if (name[i] < '0' || name[i] > '9') return false;
        *shard = *shard * 10 + (size_t)(name[i] - '0');
    }
    return strcmp(name + PREFIX + DIGITS, ending) == 0;
}

enum gs_status gs_shard_map(const char *path, struct gs_shard *shard, struct gs_error *error) {
    *shard = (struct gs_shard){0};
    enum gs_status status = gs_file_map(path, &shard->file, error);
    if (status != GS_OK) return status;
    shard->count = shard->file.size / sizeof(uint32_t);
    if (shard->file.size > 0 && shard->file.size % sizeof(uint32_t) == 0) return GS_OK;
    gs_fail(error, GS_FORMAT,
            shard->file.size == 0 ? "a token file is empty" : "a token file ends inside a token");
    gs_error_expected(error, "ids of %zu bytes each", sizeof(uint32_t));
    if (shard->file.size == 0)
        gs_error_found(error, "0 bytes");
    else
        gs_error_found(error, "%zu bytes, %zu more than %llu ids", shard->file.size,
                       shard->file.size % sizeof(uint32_t), (unsigned long long)shard->count);
    gs_error_where(error, "%s", path);
    gs_error_next(error, "copy the file again, or make it anew with `gpnscope tokenize`");
    gs_file_unmap(&shard->file);
    return GS_FORMAT;
}

/* ---- which shards there are ---- */

static enum gs_status missing_shard(const char *path, size_t shard, struct gs_error *error) {
    char name[GS_SHARD_NAME];
    gs_shard_bin_name(shard, name);
    gs_fail(error, GS_MISSING,
            shard == 0 ? "the folder holds no token shards"
                       : "the numbering of the shards has a gap");
    gs_error_expected(error, "%s", name);
    gs_error_where(error, "%s", path);
    gs_error_next(error, shard == 0 ? "make one with `gpnscope tokenize`"
                                    : "bring the missing shard back, or tokenize anew");
    return GS_MISSING;
}

/* Names come in byte order, so the numbers must be 0, 1, 2, … */
static enum gs_status count_shards(const char *path, size_t *count, struct gs_error *error) {
    char **names;
    size_t name_count, shard;
    *count = 0;
    enum gs_status status = gs_folder_list(path, &names, &name_count, error);
    if (status != GS_OK) return status;
    for (size_t i = 0; i < name_count && status == GS_OK; i++) {
        if (!gs_shard_parse_name(names[i], ".bin", &shard)) continue;
        if (shard == *count)
            ++*count;
        else
            status = missing_shard(path, *count, error);
    }
    if (status == GS_OK && *count == 0) status = missing_shard(path, 0, error);
    gs_free_names(names, name_count);
    return status;
}

/* ---- the index of a shard ---- */

/* A document of length 0 would share its start with the next one: it is refused. */
static enum gs_status wrong_length(const struct gs_json *value, size_t document, const char *path,
                                   struct gs_error *error) {
    int64_t length = 0;
    gs_fail(error, GS_FORMAT, "a document's length in the index is no length");
    gs_error_expected(error, "a whole number above 0");
    if (gs_json_integer(value, &length))
        gs_error_found(error, "%lld", (long long)length);
    else
        gs_error_found(error, "%s", gs_json_type_name(gs_json_type(value)));
    gs_error_where(error, "%s, entry %zu", path, document);
    return GS_FORMAT;
}

static enum gs_status index_disagrees(uint64_t sum, uint64_t tokens, const char *path,
                                      struct gs_error *error) {
    gs_fail(error, GS_FORMAT, "a shard and its index disagree");
    gs_error_expected(error, "%llu tokens, as the shard has", (unsigned long long)tokens);
    gs_error_found(error, "documents of %s%llu tokens", sum > tokens ? "at least " : "",
                   (unsigned long long)sum);
    gs_error_where(error, "%s", path);
    gs_error_next(error, "copy shard and index again, or tokenize anew");
    return GS_FORMAT;
}

static enum gs_status grow_starts(struct gs_shard_folder *folder, size_t more,
                                  struct gs_error *error) {
    size_t count, bytes;
    uint64_t *starts = NULL;
    if (gs_add(folder->document_count, more, &count) && gs_multiply(count, sizeof *starts, &bytes))
        starts = gs_calloc(count, sizeof *starts);
    if (!starts) return gs_fail_memory(error, more * sizeof *starts, "places of documents");
    if (folder->document_count > 0)
        memcpy(starts, folder->starts, folder->document_count * sizeof *starts);
    gs_free(folder->starts);
    folder->starts = starts;
    return GS_OK;
}

static enum gs_status add_index(struct gs_shard_folder *folder, const struct gs_shard *shard,
                                const struct gs_json *index, const char *path,
                                struct gs_error *error) {
    if (gs_json_type(index) != GS_JSON_ARRAY) {
        gs_fail(error, GS_FORMAT, "a shard's index is not a list of lengths");
        gs_error_expected(error, "a JSON array");
        gs_error_found(error, "%s", gs_json_type_name(gs_json_type(index)));
        gs_error_where(error, "%s", path);
        return GS_FORMAT;
    }
    size_t count = gs_json_size(index);
    enum gs_status status = grow_starts(folder, count, error);
    if (status != GS_OK) return status;
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t length;
        const struct gs_json *value = gs_json_at(index, i);
        if (!gs_json_integer(value, &length) || length <= 0)
            return wrong_length(value, i, path, error);
        folder->starts[folder->document_count++] = shard->first + sum;
        if ((uint64_t)length > shard->count - sum)
            return index_disagrees(sum + (uint64_t)length, shard->count, path, error);
        sum += (uint64_t)length;
    }
    return sum == shard->count ? GS_OK : index_disagrees(sum, shard->count, path, error);
}

static enum gs_status read_index(struct gs_shard_folder *folder, size_t number, const char *path,
                                 struct gs_error *error) {
    char name[GS_SHARD_NAME];
    gs_shard_index_name(number, name);
    char *index_path = gs_path_join(path, name);
    if (!index_path) return gs_fail_memory(error, strlen(path), "a path");
    struct gs_json *index = NULL;
    enum gs_status status = gs_json_read_file(index_path, &index, error);
    if (status == GS_OK)
        status = add_index(folder, &folder->shards[number], index, index_path, error);
    gs_json_destroy(index);
    gs_free(index_path);
    return status;
}

static enum gs_status read_shard(struct gs_shard_folder *folder, size_t number, const char *path,
                                 struct gs_error *error) {
    char name[GS_SHARD_NAME];
    gs_shard_bin_name(number, name);
    char *bin_path = gs_path_join(path, name);
    if (!bin_path) return gs_fail_memory(error, strlen(path), "a path");
    struct gs_shard *shard = &folder->shards[number];
    enum gs_status status = gs_shard_map(bin_path, shard, error);
    gs_free(bin_path);
    if (status != GS_OK) return status;
    shard->first = folder->tokens;
    folder->tokens += shard->count;
    return read_index(folder, number, path, error);
}

/* ---- meta.json ---- */

static enum gs_status meta_number(const struct gs_json *meta, const char *key, const char *path,
                                  uint64_t *number, struct gs_error *error) {
    const struct gs_json *value = gs_json_get(meta, key);
    int64_t found = 0;
    if (gs_json_integer(value, &found) && found >= 0) {
        *number = (uint64_t)found;
        return GS_OK;
    }
    gs_fail(error, value ? GS_FORMAT : GS_MISSING, "meta.json does not say %s", key);
    gs_error_expected(error, "\"%s\": a whole number of at least 0", key);
    if (!value)
        gs_error_found(error, "no \"%s\"", key);
    else if (gs_json_type(value) == GS_JSON_INTEGER)
        gs_error_found(error, "%lld", (long long)found);
    else
        gs_error_found(error, "%s", gs_json_type_name(gs_json_type(value)));
    gs_error_where(error, "%s", path);
    return value ? GS_FORMAT : GS_MISSING;
}

static enum gs_status check_meta_number(const struct gs_json *meta, const char *key,
                                        const char *path, uint64_t found, struct gs_error *error) {
    uint64_t said;
    enum gs_status status = meta_number(meta, key, path, &said, error);
    if (status != GS_OK || said == found) return status;
    gs_fail(error, GS_FORMAT, "meta.json and the shards disagree");
    gs_error_expected(error, "%s %llu, as meta.json says", key, (unsigned long long)said);
    gs_error_found(error, "%llu", (unsigned long long)found);
    gs_error_where(error, "%s", path);
    gs_error_next(error, "bring missing or replaced shards back, or tokenize anew");
    return GS_FORMAT;
}

/* What meta.json says of the tokenizer; a hash that is none is as good as not said. */
static void note_tokenizer(struct gs_shard_folder *folder, const struct gs_json *meta) {
    const char *sha256 = gs_json_string(gs_json_get(meta, "tokenizer_sha256"));
    folder->tokenizer = gs_strdup(gs_json_string(gs_json_get(meta, "tokenizer")));
    if (sha256 && strlen(sha256) == GS_SHA256_TEXT - 1)
        memcpy(folder->tokenizer_sha256, sha256, GS_SHA256_TEXT);
}

static enum gs_status check_meta(struct gs_shard_folder *folder, const struct gs_json *meta,
                                 const char *path, struct gs_error *error) {
    uint64_t vocab = 0;
    enum gs_status status = check_meta_number(meta, "num_shards", path, folder->shard_count, error);
    if (status == GS_OK)
        status = check_meta_number(meta, "total_tokens", path, folder->tokens, error);
    if (status == GS_OK)
        status = check_meta_number(meta, "total_docs", path, folder->document_count, error);
    if (status == GS_OK) status = meta_number(meta, "vocab_size", path, &vocab, error);
    folder->vocab = (size_t)vocab;
    if (status == GS_OK) note_tokenizer(folder, meta);
    return status;
}

static enum gs_status open_folder(const char *path, const struct gs_json *meta,
                                  const char *meta_path, struct gs_shard_folder *folder,
                                  struct gs_error *error) {
    enum gs_status status = count_shards(path, &folder->shard_count, error);
    if (status != GS_OK) return status;
    folder->shards = gs_calloc(folder->shard_count, sizeof *folder->shards);
    if (!folder->shards) return gs_fail_memory(error, sizeof *folder->shards, "token shards");
    for (size_t i = 0; i < folder->shard_count && status == GS_OK; i++)
        status = read_shard(folder, i, path, error);
    return status == GS_OK ? check_meta(folder, meta, meta_path, error) : status;
}

enum gs_status gs_shard_folder_open(const char *path, struct gs_shard_folder *folder,
                                    struct gs_error *error) {
    *folder = (struct gs_shard_folder){0};
    char *meta_path = gs_path_join(path, "meta.json");
    if (!meta_path) return gs_fail_memory(error, strlen(path), "a path");
    struct gs_json *meta = NULL;
    enum gs_status status = gs_json_read_file(meta_path, &meta, error);
    if (status == GS_MISSING)
        gs_error_next(error, "a shard folder has a meta.json; make one with `gpnscope tokenize`, "
                             "or give one .bin file");
    if (status == GS_OK) status = open_folder(path, meta, meta_path, folder, error);
    gs_json_destroy(meta);
    gs_free(meta_path);
    return status;
}

void gs_shard_folder_close(struct gs_shard_folder *folder) {
    for (size_t i = 0; folder->shards && i < folder->shard_count; i++)
        gs_file_unmap(&folder->shards[i].file);
    gs_free(folder->shards);
    gs_free(folder->starts);
    gs_free(folder->tokenizer);
    *folder = (struct gs_shard_folder){0};
}
