/* shard_folder.h - what a folder of token shards is made of, read strictly.
 *
 * Format of the authors' tools (../shared/spec/model.md): data_0000.bin, data_0001.bin, … of
 * little-endian uint32 ids, data_0000.index.json, … with the lengths of the shard's documents, and
 * meta.json {tokenizer, vocab_size, total_tokens, total_docs, num_shards}. Read in name order as
 * one stream. Shards, indices and meta.json must agree.
 */
#ifndef GS_CORE_TEXT_SHARD_FOLDER_H
#define GS_CORE_TEXT_SHARD_FOLDER_H

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GS_SHARDS_MAX = 10000, GS_SHARD_NAME = 32 }; /* four digits in a name */

/* "data_0007.bin" and "data_0007.index.json". */
void gs_shard_bin_name(size_t shard, char name[GS_SHARD_NAME]);
void gs_shard_index_name(size_t shard, char name[GS_SHARD_NAME]);
/* True for data_<four digits>.bin or .index.json, and the number. */
bool gs_shard_parse_name(const char *name, const char *ending, size_t *shard);

/* Ids of one mapped file: little-endian, not aligned, read by copy. */
struct gs_shard {
    struct gs_mapped_file file;
    uint64_t first; /* position of its first token in the stream */
    uint64_t count; /* tokens */
};

struct gs_shard_folder {
    size_t shard_count;
    struct gs_shard *shards;
    uint64_t tokens;
    uint64_t *starts; /* where each document begins; NULL and 0 when not known */
    size_t document_count;
    size_t vocab;                          /* of meta.json */
    char *tokenizer;                       /* its name in meta.json; NULL when there is none */
    char tokenizer_sha256[GS_SHA256_TEXT]; /* of meta.json, "" when there is none (our own key) */
};

/* Map one file of ids. GS_FORMAT for an empty one or one that is not whole ids long. */
enum gs_status gs_shard_map(const char *path, struct gs_shard *shard, struct gs_error *error);

/* Open the folder; close it in any case. */
enum gs_status gs_shard_folder_open(const char *path, struct gs_shard_folder *folder,
                                    struct gs_error *error);
void gs_shard_folder_close(struct gs_shard_folder *folder);

#endif
