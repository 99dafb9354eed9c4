#include "core/text/shards.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/text/folder_swap.h"
#include "core/text/shard_folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct gs_shards {
    struct gs_folder_swap *swap;
    size_t shard_tokens;
    uint64_t tokens, documents;
    size_t count;      /* shards begun */
    FILE *bin, *index; /* of the present shard; NULL before the first */
    char *bin_path, *index_path;
    uint64_t in_shard; /* tokens in the present shard */
};

static bool belongs(const char *name) {
    size_t shard;
    return gs_shard_parse_name(name, ".bin", &shard) ||
           gs_shard_parse_name(name, ".index.json", &shard) || strcmp(name, "meta.json") == 0 ||
           strcmp(name, "tokenizer.model") == 0;
}

enum gs_status gs_shards_create(const char *path, size_t shard_tokens, bool force,
                                struct gs_shards **shards, struct gs_error *error) {
    *shards = NULL;
    struct gs_shards *made = gs_calloc(1, sizeof *made);
    if (!made) return gs_fail_memory(error, sizeof *made, "a shard writer");
    made->shard_tokens = shard_tokens ? shard_tokens : GS_SHARD_TOKENS_DEFAULT;
    enum gs_status status = gs_folder_swap_open(path, force, belongs, &made->swap, error);
    if (status != GS_OK) {
        gs_free(made);
        return status;
    }
    *shards = made;
    return GS_OK;
}

void gs_shards_destroy(struct gs_shards *shards) {
    if (!shards) return;
    if (shards->bin) fclose(shards->bin);
    if (shards->index) fclose(shards->index);
    gs_folder_swap_close(shards->swap);
    gs_free(shards->bin_path);
    gs_free(shards->index_path);
    gs_free(shards);
}

const char *gs_shards_folder(const struct gs_shards *shards) {
    return gs_folder_swap_path(shards->swap);
}

uint64_t gs_shards_tokens(const struct gs_shards *shards) {
    return shards->tokens;
}

uint64_t gs_shards_documents(const struct gs_shards *shards) {
    return shards->documents;
}

size_t gs_shards_count(const struct gs_shards *shards) {
    return shards->count;
}

/* ---- one shard ---- */

static enum gs_status close_stream(FILE **stream, const char *path, struct gs_error *error) {
    FILE *open = *stream;
    *stream = NULL;
    int failed = 0;
    if (fflush(open) != 0 || fsync(fileno(open)) != 0) failed = errno;
    if (fclose(open) != 0 && !failed) failed = errno;
    return failed ? gs_fail_errno(error, failed, "cannot write", path) : GS_OK;
}

static enum gs_status close_shard(struct gs_shards *shards, struct gs_error *error) {
    if (!shards->bin) return GS_OK;
    enum gs_status status = close_stream(&shards->bin, shards->bin_path, error);
    if (status != GS_OK) return status;
    if (fputs("]\n", shards->index) < 0)
        return gs_fail_errno(error, errno, "cannot write", shards->index_path);
    return close_stream(&shards->index, shards->index_path, error);
}

static enum gs_status open_stream(const struct gs_shards *shards, const char *name, FILE **stream,
                                  char **path, struct gs_error *error) {
    gs_free(*path);
    *path = gs_path_join(gs_shards_folder(shards), name);
    if (!*path) return gs_fail_memory(error, strlen(name), "a path");
    *stream = fopen(*path, "wbx");
    return *stream ? GS_OK : gs_fail_errno(error, errno, "cannot create", *path);
}

static enum gs_status open_shard(struct gs_shards *shards, struct gs_error *error) {
    enum gs_status status = close_shard(shards, error);
    if (status != GS_OK) return status;
    if (shards->count == GS_SHARDS_MAX) {
        gs_fail(error, GS_RANGE, "too many shards");
        gs_error_expected(error, "at most %d, so that four digits name each", GS_SHARDS_MAX);
        gs_error_found(error, "text for more of %zu tokens", shards->shard_tokens);
        gs_error_next(error, "ask for larger ones with --shard-tokens");
        return GS_RANGE;
    }
    char name[GS_SHARD_NAME];
    gs_shard_bin_name(shards->count, name);
    status = open_stream(shards, name, &shards->bin, &shards->bin_path, error);
    if (status != GS_OK) return status;
    gs_shard_index_name(shards->count, name);
    status = open_stream(shards, name, &shards->index, &shards->index_path, error);
    if (status != GS_OK) return status;
    shards->count++;
    shards->in_shard = 0;
    return GS_OK;
}

static bool write_ids(FILE *stream, const uint32_t *ids, size_t count) {
    enum { BLOCK = 4096 };
    unsigned char bytes[BLOCK * 4];
    while (count > 0) {
        size_t now = count < BLOCK ? count : BLOCK;
        for (size_t i = 0; i < now; i++)
            for (size_t j = 0; j < 4; j++) bytes[4 * i + j] = (unsigned char)(ids[i] >> 8 * j);
        if (fwrite(bytes, 4, now, stream) != now) return false;
        ids += now;
        count -= now;
    }
    return true;
}

enum gs_status gs_shards_add(struct gs_shards *shards, const uint32_t *ids, size_t count,
                             struct gs_error *error) {
    bool full = shards->in_shard > 0 && (shards->in_shard >= shards->shard_tokens ||
                                         count > shards->shard_tokens - shards->in_shard);
    if (!shards->bin || full) {
        enum gs_status status = open_shard(shards, error);
        if (status != GS_OK) return status;
    }
    if (!write_ids(shards->bin, ids, count))
        return gs_fail_errno(error, errno, "cannot write", shards->bin_path);
    if (fprintf(shards->index, "%s%zu", shards->in_shard ? ", " : "[", count) < 0)
        return gs_fail_errno(error, errno, "cannot write", shards->index_path);
    shards->in_shard += count;
    shards->tokens += count;
    shards->documents++;
    return GS_OK;
}

/* ---- meta.json ---- */

static enum gs_status write_meta(const struct gs_shards *shards, const char *tokenizer,
                                 const char *sha256, size_t vocab, struct gs_error *error) {
    struct gs_json *meta = gs_json_new_object();
    char *path = gs_path_join(gs_shards_folder(shards), "meta.json");
    bool made = meta && path && gs_json_set(meta, "tokenizer", gs_json_new_string(tokenizer)) &&
                gs_json_set(meta, "vocab_size", gs_json_new_integer((int64_t)vocab)) &&
                gs_json_set(meta, "total_tokens", gs_json_new_integer((int64_t)shards->tokens)) &&
                gs_json_set(meta, "total_docs", gs_json_new_integer((int64_t)shards->documents)) &&
                gs_json_set(meta, "num_shards", gs_json_new_integer((int64_t)shards->count)) &&
                (!sha256 || gs_json_set(meta, "tokenizer_sha256", gs_json_new_string(sha256)));
    char *text = made ? gs_json_text(meta, 2) : NULL;
    enum gs_status status = text ? gs_file_write(path, false, text, strlen(text), error)
                                 : gs_fail_memory(error, 1024, "meta.json");
    gs_free(text);
    gs_free(path);
    gs_json_destroy(meta);
    return status;
}

enum gs_status gs_shards_finish(struct gs_shards *shards, const char *tokenizer,
                                const char *tokenizer_sha256, size_t vocab,
                                struct gs_error *error) {
    if (shards->documents == 0) {
        gs_fail(error, GS_RANGE, "there is nothing to write: no document holds text");
        gs_error_expected(error, "at least one document");
        return GS_RANGE;
    }
    enum gs_status status = close_shard(shards, error);
    if (status == GS_OK) status = write_meta(shards, tokenizer, tokenizer_sha256, vocab, error);
    return status == GS_OK ? gs_folder_swap_commit(shards->swap, error) : status;
}
