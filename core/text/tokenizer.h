/* tokenizer.h - SentencePiece behind a C face. C++ exceptions stop in tokenizer.cc. */
#ifndef GS_CORE_TEXT_TOKENIZER_H
#define GS_CORE_TEXT_TOKENIZER_H

#include "core/base/hash.h"
#include "core/base/progress.h"
#include "core/base/status.h"

#include <stddef.h>
#include <stdint.h>

struct gs_tokenizer;

/* A text with its length: NUL bytes and invalid UTF-8 are legal. */
struct gs_text {
    const char *bytes;
    size_t size;
};

/* What gs_tokenizer_train accepts: <unk>, <s>, </s>, 256 bytes and one character at least. */
enum { GS_TOKENIZER_MIN_PIECES = 260, GS_TOKENIZER_MAX_PIECES = 10 * 1000 * 1000 };

enum gs_status gs_tokenizer_load(const char *path, struct gs_tokenizer **tokenizer,
                                 struct gs_error *error);
void gs_tokenizer_destroy(struct gs_tokenizer *tokenizer); /* NULL is fine */

size_t gs_tokenizer_size(const struct gs_tokenizer *tokenizer); /* pieces */
/* Ids of the control pieces; -1 when the model has none. */
int64_t gs_tokenizer_eos(const struct gs_tokenizer *tokenizer);
int64_t gs_tokenizer_bos(const struct gs_tokenizer *tokenizer);
const char *gs_tokenizer_sha256(const struct gs_tokenizer *tokenizer); /* of the file */

/* Ids of `size` bytes (NUL bytes included), without BOS or EOS; *ids is freed by gs_free. */
enum gs_status gs_tokenizer_encode(const struct gs_tokenizer *tokenizer, const char *bytes,
                                   size_t size, uint32_t **ids, size_t *count,
                                   struct gs_error *error);
/* The same for many texts side by side on all threads: *ids holds those of all texts one behind the
 * other, and text i's end at ends[i] (count entries). The ids are those of encoding one by one. */
enum gs_status gs_tokenizer_encode_all(const struct gs_tokenizer *tokenizer,
                                       const struct gs_text *texts, size_t count, uint32_t **ids,
                                       size_t *ends, struct gs_error *error);
/* The bytes of `count` ids, NUL-terminated behind *size bytes; freed by gs_free. */
enum gs_status gs_tokenizer_decode(const struct gs_tokenizer *tokenizer, const uint32_t *ids,
                                   size_t count, char **bytes, size_t *size,
                                   struct gs_error *error);
/* The piece as the model writes it, borrowed ("▁the", "<0xF0>"); NULL when id is out of range. */
const char *gs_tokenizer_piece(const struct gs_tokenizer *tokenizer, uint32_t id);
/* Bytes that the piece stands for in text ("▁the" is " the"), for perplexity per byte. */
size_t gs_tokenizer_piece_bytes(const struct gs_tokenizer *tokenizer, uint32_t id);

/* Train a BPE model of `pieces` pieces with byte fallback on text files, and write it to `path`
 * (temporary file, rename). Deterministic: one thread, no sampling. Pieces: <unk> 0, <s> 1,
 * </s> 2, 256 bytes, then the merges, as LLaMA's. */
enum gs_status gs_tokenizer_train(const char *const *text_paths, size_t path_count, size_t pieces,
                                  const char *path, const struct gs_progress *progress,
                                  struct gs_error *error);

#endif
