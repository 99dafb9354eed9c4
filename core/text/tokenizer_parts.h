/* tokenizer_parts.h - between the parts of the tokenizer: what the C++ shim (tokenizer.cc) does
 * for the C files beside it. Not for others. Nothing here throws. */
#ifndef GS_CORE_TEXT_TOKENIZER_PARTS_H
#define GS_CORE_TEXT_TOKENIZER_PARTS_H

#include "core/text/sentences.h"
#include "core/text/tokenizer.h"

#include <stdbool.h>

enum gs_piece_kind {
    GS_PIECE_TEXT,    /* stands for its own characters */
    GS_PIECE_BYTE,    /* "<0xF0>": one byte */
    GS_PIECE_CONTROL, /* <s>, </s>: no text */
    GS_PIECE_UNKNOWN  /* <unk> */
};

/* `id` must be in range. */
enum gs_piece_kind gs_tokenizer_piece_kind(const struct gs_tokenizer *tokenizer, uint32_t id);
/* The bytes that a piece stands for, to `out` when that is not NULL ("▁the" is " the", <unk> is
 * " ⁇ " as SentencePiece has it, control pieces have none). Their number. */
size_t gs_tokenizer_piece_text(const struct gs_tokenizer *tokenizer, uint32_t id, char *out);
/* True when the model puts a space before the text. */
bool gs_tokenizer_dummy_prefix(const struct gs_tokenizer *tokenizer);
/* True when a text may be cut before any space that follows a character other than a space, the
 * space dropped, and the parts encoded one by one with the same result (codec.c says why). */
bool gs_tokenizer_splittable(const struct gs_tokenizer *tokenizer);
/* The whole text in one call of SentencePiece. May run on several threads. */
enum gs_status gs_tokenizer_encode_part(const struct gs_tokenizer *tokenizer, const char *bytes,
                                        size_t size, uint32_t **ids, size_t *count,
                                        struct gs_error *error);

#endif
