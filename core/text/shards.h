/* shards.h - write a folder of token shards (shard_folder.h says what is in one).
 *
 * Everything is written into a folder beside the target, which takes the target's place by a rename
 * when all is on disk (folder_swap.h): a kill at any moment leaves the previous target or the new
 * one, whole, and what it left beside is swept by the next writer.
 */
#ifndef GS_CORE_TEXT_SHARDS_H
#define GS_CORE_TEXT_SHARDS_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GS_SHARD_TOKENS_DEFAULT = 100 * 1000 * 1000 }; /* 400 MB */

struct gs_shards; /* a writer */

/* Start writing what will be the folder `path`. An existing one is refused (GS_EXISTS) unless
 * `force`, and with `force`, too, when it holds anything that is no part of a shard folder. A shard
 * holds whole documents: a new one begins where a document would take it over `shard_tokens`
 * (0: the default). */
enum gs_status gs_shards_create(const char *path, size_t shard_tokens, bool force,
                                struct gs_shards **shards, struct gs_error *error);
/* Everything not finished is removed. NULL is fine. */
void gs_shards_destroy(struct gs_shards *shards);

/* The folder being written: other files that belong in the target (tokenizer.model) may be put into
 * it before gs_shards_finish. Borrowed. */
const char *gs_shards_folder(const struct gs_shards *shards);

/* One document's ids, its EOS included; count > 0. */
enum gs_status gs_shards_add(struct gs_shards *shards, const uint32_t *ids, size_t count,
                             struct gs_error *error);
uint64_t gs_shards_tokens(const struct gs_shards *shards);
uint64_t gs_shards_documents(const struct gs_shards *shards);
size_t gs_shards_count(const struct gs_shards *shards);

/* Close the last shard, write meta.json and put the folder in its place. `tokenizer` names the
 * tokenizer in meta.json, `vocab` its pieces; `tokenizer_sha256` may be NULL. GS_RANGE when no
 * document was added. */
enum gs_status gs_shards_finish(struct gs_shards *shards, const char *tokenizer,
                                const char *tokenizer_sha256, size_t vocab, struct gs_error *error);

#endif
