#include "core/text/token_text.h"

#include "core/base/memory.h"
#include "core/text/tokenizer_parts.h"

#include <string.h>

/* One piece, as far as counting goes. */
struct piece {
    size_t bytes;
    size_t words;       /* words that begin in it where white space stands before */
    bool begins_inside; /* its first byte belongs to a word */
    bool ends_in_space;
    bool prefixed; /* at a document's beginning its first byte is the space put there */
    enum gs_piece_kind kind;
};

struct gs_token_text {
    size_t count;
    struct piece pieces[];
};

static bool is_space(char byte) {
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static void look_at(const struct gs_tokenizer *tokenizer, uint32_t id, char *bytes,
                    struct piece *piece) {
    *piece = (struct piece){.kind = gs_tokenizer_piece_kind(tokenizer, id)};
    if (piece->kind == GS_PIECE_CONTROL || piece->kind == GS_PIECE_UNKNOWN) return;
    piece->bytes = gs_tokenizer_piece_text(tokenizer, id, bytes);
    bool space = true;
    for (size_t i = 0; i < piece->bytes; i++) {
        piece->words += space && !is_space(bytes[i]);
        space = is_space(bytes[i]);
    }
    if (piece->bytes == 0) return;
    piece->begins_inside = !is_space(bytes[0]);
    piece->ends_in_space = space;
    piece->prefixed =
        piece->kind == GS_PIECE_TEXT && bytes[0] == ' ' && gs_tokenizer_dummy_prefix(tokenizer);
}

enum gs_status gs_token_text_create(const struct gs_tokenizer *tokenizer,
                                    struct gs_token_text **text, struct gs_error *error) {
    size_t count = gs_tokenizer_size(tokenizer), longest = 1;
    for (size_t id = 0; id < count; id++) {
        size_t bytes = gs_tokenizer_piece_bytes(tokenizer, (uint32_t)id);
        if (bytes > longest) longest = bytes;
    }
    struct gs_token_text *made = gs_calloc(1, sizeof *made + count * sizeof made->pieces[0]);
    char *bytes = gs_calloc(longest, 1);
    if (made && bytes) {
        made->count = count;
        for (size_t id = 0; id < count; id++)
            look_at(tokenizer, (uint32_t)id, bytes, &made->pieces[id]);
    }
    gs_free(bytes);
    *text = made && bytes ? made : NULL;
    if (*text) return GS_OK;
    gs_free(made);
    return gs_fail_memory(error, count * sizeof made->pieces[0], "the texts of pieces");
}

void gs_token_text_destroy(struct gs_token_text *text) {
    gs_free(text);
}

static enum gs_status check_id(const struct gs_token_text *text, uint32_t id,
                               struct gs_error *error) {
    if (id < text->count) return GS_OK;
    gs_fail(error, GS_RANGE, "the data has ids that the tokenizer does not have");
    gs_error_expected(error, "ids below %zu, the tokenizer's pieces", text->count);
    gs_error_found(error, "%lu", (unsigned long)id);
    gs_error_next(error, "give the tokenizer that made the data");
    return GS_RANGE;
}

/* The first token before `at` that has bytes, or ends a document, decides. */
enum gs_status gs_token_text_place(const struct gs_token_text *text, const struct gs_tokens *tokens,
                                   uint64_t at, struct gs_text_place *place,
                                   struct gs_error *error) {
    *place = (struct gs_text_place){true, true};
    while (at > 0) {
        uint32_t id;
        enum gs_status status = gs_tokens_read(tokens, --at, 1, &id, error);
        if (status == GS_OK) status = check_id(text, id, error);
        if (status != GS_OK) return status;
        const struct piece *piece = &text->pieces[id];
        if (piece->kind == GS_PIECE_CONTROL) return GS_OK;
        if (piece->kind != GS_PIECE_UNKNOWN && piece->bytes == 0) continue;
        *place = (struct gs_text_place){false, piece->ends_in_space};
        return GS_OK;
    }
    return GS_OK;
}

static void add_one(const struct piece *piece, struct gs_text_place *place,
                    struct gs_text_amount *amount) {
    switch (piece->kind) {
    case GS_PIECE_CONTROL:
        amount->special++;
        *place = (struct gs_text_place){true, true};
        return;
    case GS_PIECE_UNKNOWN:
        amount->unknown++;
        *place = (struct gs_text_place){false, false};
        return;
    case GS_PIECE_BYTE:
    case GS_PIECE_TEXT:
        break;
    }
    if (piece->bytes == 0) return;
    amount->bytes += piece->bytes - (place->document && piece->prefixed);
    amount->words += piece->words - (piece->begins_inside && !place->space);
    *place = (struct gs_text_place){false, piece->ends_in_space};
}

enum gs_status gs_token_text_add(const struct gs_token_text *text, const uint32_t *ids,
                                 size_t count, struct gs_text_place *place,
                                 struct gs_text_amount *amount, struct gs_error *error) {
    struct gs_text_amount passed = {0};
    for (size_t i = 0; i < count; i++) {
        enum gs_status status = check_id(text, ids[i], error);
        if (status != GS_OK) return status;
        add_one(&text->pieces[ids[i]], place, amount ? amount : &passed);
    }
    return GS_OK;
}

enum gs_status gs_token_text_check(const struct gs_tokenizer *tokenizer,
                                   const struct gs_tokens *tokens, struct gs_error *error) {
    const char *said = gs_tokens_tokenizer_sha256(tokens);
    const char *own = gs_tokenizer_sha256(tokenizer);
    size_t vocab = gs_tokens_vocab(tokens), pieces = gs_tokenizer_size(tokenizer);
    if (vocab > 0 && vocab != pieces) {
        gs_fail(error, GS_RANGE, "the tokenizer is not the one of the data");
        gs_error_expected(error, "%zu pieces, as the data's meta.json says", vocab);
        gs_error_found(error, "%zu", pieces);
    } else if (*said && strcmp(said, own) != 0) {
        gs_fail(error, GS_FORMAT, "the tokenizer is not the one of the data");
        gs_error_expected(error, "SHA-256 %.16s…, as the data's meta.json says", said);
        gs_error_found(error, "%.16s…", own);
    } else {
        return GS_OK;
    }
    gs_error_next(error,
                  "give the tokenizer that made the data; `gpnscope tokenize` puts it beside "
                  "the shards, as tokenizer.model");
    return vocab != pieces ? GS_RANGE : GS_FORMAT;
}
