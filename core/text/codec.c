/* Text to ids and back, around the shim.
 *
 * SentencePiece needs about 100 bytes of memory and a microsecond a byte, more the longer the text,
 * and uses one thread. A long text is therefore cut and its parts are encoded side by side. The
 * cut changes nothing where
 *   - the model is BPE, so that a piece only grows by joining two neighbours into another piece;
 *   - no piece holds U+2581 (a space) behind a character other than U+2581, so that nothing ever
 *     joins across the place between such a character and a space;
 *   - the text is taken as it is but for a space before it, so that the part behind the cut may
 *     be given without its first space, which comes back.
 * gs_tokenizer_splittable says whether all this holds; it does for LLaMA's models and our own.
 * Other models encode each text in one call.
 */
#include "core/base/memory.h"
#include "core/text/tokenizer.h"
#include "core/text/tokenizer_parts.h"

#include <stdio.h>
#include <string.h>

enum { PART_BYTES = 8192 };

static const char unknown_text[] = " \xE2\x81\x87 "; /* U+2047, as SentencePiece decodes <unk> */
static const char space[] = "\xE2\x96\x81";
enum { SPACE_BYTES = sizeof space - 1 };

/* ---- cutting ---- */

struct part {
    struct gs_text text;
    size_t owner; /* index of the text it is of */
    uint32_t *ids;
    size_t count;
    enum gs_status status;
    struct gs_error error;
};

static bool may_cut(const struct gs_text *text, size_t at) {
    const char *here = text->bytes + at;
    if (*here != ' ' || here[-1] == ' ') return false;
    return at < SPACE_BYTES || memcmp(here - SPACE_BYTES, space, SPACE_BYTES) != 0;
}

/* Where the part that begins at `start` ends: text->size, or a place of a space to be dropped. */
static size_t part_end(const struct gs_text *text, size_t start, bool splittable) {
    if (!splittable || text->size - start <= PART_BYTES) return text->size;
    for (size_t at = start + PART_BYTES; at < text->size; at++)
        if (may_cut(text, at)) return at;
    return text->size;
}

/* The parts of all texts, in order; counted only when `parts` is NULL. */
static size_t cut(const struct gs_text *texts, size_t count, bool splittable, struct part *parts) {
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        size_t start = 0;
        for (;;) {
            size_t end = part_end(&texts[i], start, splittable);
            if (parts)
                parts[made] =
                    (struct part){.text = {texts[i].bytes + start, end - start}, .owner = i};
            made++;
            if (end == texts[i].size) break;
            start = end + 1;
        }
    }
    return made;
}

/* ---- encoding ---- */

static void encode_parts(const struct gs_tokenizer *tokenizer, struct part *parts, size_t count) {
#pragma omp parallel for schedule(dynamic) if (count > 1)
    for (size_t i = 0; i < count; i++)
        parts[i].status =
            gs_tokenizer_encode_part(tokenizer, parts[i].text.bytes, parts[i].text.size,
                                     &parts[i].ids, &parts[i].count, &parts[i].error);
}

static enum gs_status join(const struct part *parts, size_t part_count, uint32_t **ids,
                           size_t *ends, struct gs_error *error) {
    size_t total = 0;
    for (size_t i = 0; i < part_count; i++) {
        if (parts[i].status != GS_OK) {
            if (error) *error = parts[i].error;
            return parts[i].status;
        }
        total += parts[i].count;
    }
    uint32_t *joined = gs_calloc(total, sizeof *joined);
    if (!joined) return gs_fail_memory(error, total * sizeof *joined, "token ids");
    size_t at = 0;
    for (size_t i = 0; i < part_count; i++) {
        if (parts[i].count > 0) memcpy(joined + at, parts[i].ids, parts[i].count * sizeof *joined);
        at += parts[i].count;
        ends[parts[i].owner] = at;
    }
    *ids = joined;
    return GS_OK;
}

enum gs_status gs_tokenizer_encode_all(const struct gs_tokenizer *tokenizer,
                                       const struct gs_text *texts, size_t count, uint32_t **ids,
                                       size_t *ends, struct gs_error *error) {
    *ids = NULL;
    bool splittable = gs_tokenizer_splittable(tokenizer);
    size_t part_count = cut(texts, count, splittable, NULL);
    struct part *parts = gs_calloc(part_count, sizeof *parts);
    if (!parts) return gs_fail_memory(error, part_count * sizeof *parts, "parts of a text");
    cut(texts, count, splittable, parts);
    encode_parts(tokenizer, parts, part_count);
    enum gs_status status = join(parts, part_count, ids, ends, error);
    for (size_t i = 0; i < part_count; i++) gs_free(parts[i].ids);
    gs_free(parts);
    return status;
}

enum gs_status gs_tokenizer_encode(const struct gs_tokenizer *tokenizer, const char *bytes,
                                   size_t size, uint32_t **ids, size_t *count,
                                   struct gs_error *error) {
    struct gs_text text = {bytes ? bytes : "", size};
    *count = 0;
    return gs_tokenizer_encode_all(tokenizer, &text, 1, ids, count, error);
}

/* ---- decoding ---- */

/* The byte of "<0xF0>". */
static char byte_of(const char *piece) {
    unsigned byte = 0;
    sscanf(piece, "<0x%2x>", &byte);
    return (char)(unsigned char)byte;
}

/* A piece's text with U+2581 as a space, to `out` when that is not NULL. The number of bytes. */
static size_t piece_text(const char *piece, char *out) {
    size_t size = 0;
    while (*piece) {
        bool is_space = strncmp(piece, space, SPACE_BYTES) == 0;
        if (out) out[size] = is_space ? ' ' : *piece;
        size++;
        piece += is_space ? (size_t)SPACE_BYTES : 1;
    }
    return size;
}

size_t gs_tokenizer_piece_text(const struct gs_tokenizer *tokenizer, uint32_t id, char *out) {
    const char *piece = gs_tokenizer_piece(tokenizer, id);
    switch (gs_tokenizer_piece_kind(tokenizer, id)) {
    case GS_PIECE_BYTE:
        if (out) *out = byte_of(piece);
        return 1;
    case GS_PIECE_CONTROL:
        return 0;
    case GS_PIECE_UNKNOWN:
        if (out) memcpy(out, unknown_text, sizeof unknown_text - 1);
        return sizeof unknown_text - 1;
    case GS_PIECE_TEXT:
        break;
    }
    return piece_text(piece, out);
}

static enum gs_status check_ids(const struct gs_tokenizer *tokenizer, const uint32_t *ids,
                                size_t count, struct gs_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (ids[i] < gs_tokenizer_size(tokenizer)) continue;
        gs_fail(error, GS_RANGE, "a token id is not in the tokenizer");
        gs_error_expected(error, "an id below %zu", gs_tokenizer_size(tokenizer));
        gs_error_found(error, "%lu at position %zu", (unsigned long)ids[i], i);
        return GS_RANGE;
    }
    return GS_OK;
}

/* True when the text begins with the space that encoding put there. */
static bool has_dummy_prefix(const struct gs_tokenizer *tokenizer, const uint32_t *ids,
                             size_t count) {
    if (!gs_tokenizer_dummy_prefix(tokenizer)) return false;
    for (size_t i = 0; i < count; i++) {
        enum gs_piece_kind kind = gs_tokenizer_piece_kind(tokenizer, ids[i]);
        if (kind == GS_PIECE_CONTROL) continue;
        return kind == GS_PIECE_TEXT &&
               strncmp(gs_tokenizer_piece(tokenizer, ids[i]), space, SPACE_BYTES) == 0;
    }
    return false;
}

enum gs_status gs_tokenizer_decode(const struct gs_tokenizer *tokenizer, const uint32_t *ids,
                                   size_t count, char **bytes, size_t *size,
                                   struct gs_error *error) {
    *bytes = NULL;
    *size = 0;
    enum gs_status status = check_ids(tokenizer, ids, count, error);
    if (status != GS_OK) return status;
    size_t total = 0;
    for (size_t i = 0; i < count; i++) total += gs_tokenizer_piece_text(tokenizer, ids[i], NULL);
    char *text = gs_calloc(total + 1, 1);
    if (!text) return gs_fail_memory(error, total + 1, "decoded text");
    size_t at = 0;
    for (size_t i = 0; i < count; i++) at += gs_tokenizer_piece_text(tokenizer, ids[i], text + at);
    if (has_dummy_prefix(tokenizer, ids, count)) memmove(text, text + 1, total--);
    *bytes = text;
    *size = total;
    return GS_OK;
}

size_t gs_tokenizer_piece_bytes(const struct gs_tokenizer *tokenizer, uint32_t id) {
    if (id >= gs_tokenizer_size(tokenizer)) return 0;
    enum gs_piece_kind kind = gs_tokenizer_piece_kind(tokenizer, id);
    if (kind == GS_PIECE_UNKNOWN) return 0;
    return gs_tokenizer_piece_text(tokenizer, id, NULL);
}
