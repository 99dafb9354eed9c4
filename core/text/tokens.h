/* tokens.h - a stream of token ids, wherever it comes from: a shard folder, one .bin file of
 * little-endian uint32, or text (.txt, .jsonl) with a tokenizer. Windows cross shard borders.
 */
#ifndef GS_CORE_TEXT_TOKENS_H
#define GS_CORE_TEXT_TOKENS_H

#include "core/base/hash.h"
#include "core/base/status.h"

#include <stddef.h>
#include <stdint.h>

struct gs_tokens;

/* tokenizer_path: needed for text, ignored (may be NULL) for ids. Text is encoded document by
 * document (the file, or each line's "text" of JSON Lines), each ending in EOS. Shards are checked
 * against their index and meta.json. */
enum gs_status gs_tokens_open(const char *path, const char *tokenizer_path,
                              struct gs_tokens **tokens, struct gs_error *error);
void gs_tokens_close(struct gs_tokens *tokens); /* NULL is fine */

uint64_t gs_tokens_count(const struct gs_tokens *tokens);
/* `count` ids from `first` on; the range must lie inside (GS_RANGE). */
enum gs_status gs_tokens_read(const struct gs_tokens *tokens, uint64_t first, size_t count,
                              uint32_t *ids, struct gs_error *error);
/* GS_RANGE, naming position and id, when an id is ≥ vocab. Reads everything once. */
enum gs_status gs_tokens_check(const struct gs_tokens *tokens, size_t vocab,
                               struct gs_error *error);
/* Documents, when the source knows them: document i begins at token starts[i], i < count; borrowed.
 * count 0 and NULL when it does not. */
const uint64_t *gs_tokens_documents(const struct gs_tokens *tokens, size_t *count);
/* vocab_size of meta.json or the tokenizer; 0 when not known. */
size_t gs_tokens_vocab(const struct gs_tokens *tokens);
const char *gs_tokens_sha256(const struct gs_tokens *tokens); /* of the source; computed at open */
/* The tokenizer that made them, as far as the source says: its name in meta.json (or the path given
 * with text) and its SHA-256; "" where not known. Borrowed. */
const char *gs_tokens_tokenizer(const struct gs_tokens *tokens);
const char *gs_tokens_tokenizer_sha256(const struct gs_tokens *tokens);
/* Occurrences of each id: counts (vocab) is overwritten. */
enum gs_status gs_tokens_histogram(const struct gs_tokens *tokens, size_t vocab, uint64_t *counts,
                                   struct gs_error *error);

#endif
