/* token_text.h - how much text tokens stand for, so that losses of models with different tokenizers
 * can be compared.
 *
 * Bytes are those of the text as the tokenizer took it: "▁the" is 4, a byte piece is 1. The space
 * that encoding puts before a document (dummy prefix) is no byte of it. Special (control) pieces
 * such as EOS have none; a document begins at the stream's start and behind each of them. So all
 * tokens of a text have together the text's bytes, unless the tokenizer changes the text
 * (normalisation).
 *
 * A word is a longest run of bytes other than ASCII white space (" \t\n\v\f\r"), as Python's
 * bytes.split() has it, within a document. It counts once, at the token in which it begins,
 * wherever it ends: behind a window's end, too.
 *
 * <unk> stands for bytes that nobody knows: it is counted, and a sum with any is no sum.
 */
#ifndef GS_CORE_TEXT_TOKEN_TEXT_H
#define GS_CORE_TEXT_TOKEN_TEXT_H

#include "core/base/status.h"
#include "core/text/tokenizer.h"
#include "core/text/tokens.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gs_token_text; /* what is known of each piece of a tokenizer */

enum gs_status gs_token_text_create(const struct gs_tokenizer *tokenizer,
                                    struct gs_token_text **text, struct gs_error *error);
void gs_token_text_destroy(struct gs_token_text *text); /* NULL is fine */

/* What stands before a token. */
struct gs_text_place {
    bool document; /* a document begins here */
    bool space;    /* white space, or a document's beginning */
};

struct gs_text_amount {
    uint64_t special; /* control pieces */
    uint64_t unknown; /* <unk> */
    uint64_t bytes, words;
};

/* What stands before token `at` of the stream, found by looking back. */
enum gs_status gs_token_text_place(const struct gs_token_text *text, const struct gs_tokens *tokens,
                                   uint64_t at, struct gs_text_place *place,
                                   struct gs_error *error);
/* Go over `count` ids from `place` on, which moves with them; add them to `amount` unless that is
 * NULL. GS_RANGE, with both numbers, for an id that the tokenizer does not have. */
enum gs_status gs_token_text_add(const struct gs_token_text *text, const uint32_t *ids,
                                 size_t count, struct gs_text_place *place,
                                 struct gs_text_amount *amount, struct gs_error *error);

/* Refuse a tokenizer that cannot be the one of these tokens (GS_RANGE, GS_FORMAT), where the source
 * says something of it: another number of pieces, or another SHA-256 than meta.json has. */
enum gs_status gs_token_text_check(const struct gs_tokenizer *tokenizer,
                                   const struct gs_tokens *tokens, struct gs_error *error);

#endif
