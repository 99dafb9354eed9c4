#include "core/text/piece_model.h"

/* One field of a protocol buffer: a number, or a run of bytes. */
struct field {
    uint64_t number;
    uint64_t integer;
    const unsigned char *bytes;
    size_t size;
};

struct cursor {
    const unsigned char *bytes;
    size_t size, at;
};

static bool read_varint(struct cursor *cursor, uint64_t *value) {
    *value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (cursor->at >= cursor->size) return false;
        unsigned char byte = cursor->bytes[cursor->at++];
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return true;
    }
    return false;
}

static bool take(struct cursor *cursor, uint64_t size, struct field *field) {
    if (size > cursor->size - cursor->at) return false;
    field->bytes = cursor->bytes + cursor->at;
    field->size = (size_t)size;
    cursor->at += (size_t)size;
    return true;
}

/* Wire types: 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes. Groups (3, 4) are of
 * another age and no part of this format. */
static bool read_field(struct cursor *cursor, struct field *field) {
    uint64_t tag, length;
    *field = (struct field){0};
    if (!read_varint(cursor, &tag)) return false;
    field->number = tag >> 3;
    if (field->number == 0) return false;
    switch (tag & 7) {
    case 0:
        return read_varint(cursor, &field->integer);
    case 1:
        return take(cursor, 8, field);
    case 2:
        return read_varint(cursor, &length) && take(cursor, length, field);
    case 5:
        return take(cursor, 4, field);
    default:
        return false;
    }
}

static bool read_trainer(const struct field *message, struct gs_piece_model *model) {
    enum { MODEL_TYPE = 3, WHITESPACE_AS_SUFFIX = 24, BPE = 2 };
    struct cursor cursor = {message->bytes, message->size, 0};
    struct field field;
    while (cursor.at < cursor.size) {
        if (!read_field(&cursor, &field)) return false;
        if (field.number == MODEL_TYPE) model->bpe = field.integer == BPE;
        if (field.number == WHITESPACE_AS_SUFFIX) model->whitespace_suffix = field.integer != 0;
    }
    return true;
}

static bool read_normalizer(const struct field *message, struct gs_piece_model *model) {
    enum { CHARSMAP = 2, DUMMY_PREFIX = 3, EXTRA_WHITESPACES = 4, ESCAPE = 5, RULES = 6 };
    struct cursor cursor = {message->bytes, message->size, 0};
    struct field field;
    while (cursor.at < cursor.size) {
        if (!read_field(&cursor, &field)) return false;
        if (field.number == CHARSMAP || field.number == RULES) model->charsmap |= field.size > 0;
        if (field.number == DUMMY_PREFIX) model->add_dummy_prefix = field.integer != 0;
        if (field.number == EXTRA_WHITESPACES) model->remove_extra_whitespaces = field.integer != 0;
        if (field.number == ESCAPE) model->escape_whitespaces = field.integer != 0;
    }
    return true;
}

static enum gs_status refuse(const char *path, const char *found, size_t offset,
                             struct gs_error *error) {
    gs_fail(error, GS_FORMAT, "this is not a whole SentencePiece model");
    gs_error_expected(error, "pieces, then the trainer's and the normalizer's settings, "
                             "as spm_train or `gpnscope tokenize --train` writes them");
    gs_error_found(error, "%s", found);
    gs_error_where(error, "%s, byte %zu", path, offset);
    gs_error_next(error, "copy the model file again");
    return GS_FORMAT;
}

enum gs_status gs_piece_model_read(const unsigned char *bytes, size_t size, const char *path,
                                   struct gs_piece_model *model, struct gs_error *error) {
    enum { PIECE = 1, TRAINER = 2, NORMALIZER = 3 };
    *model = (struct gs_piece_model){
        .add_dummy_prefix = true, .remove_extra_whitespaces = true, .escape_whitespaces = true};
    if (size == 0) return refuse(path, "an empty file", 0, error);
    struct cursor cursor = {bytes, size, 0};
    struct field field;
    bool trainer = false, normalizer = false;
    while (cursor.at < size) {
        size_t start = cursor.at;
        if (!read_field(&cursor, &field))
            return refuse(path,
                          model->pieces ? "a field that does not end inside the file"
                                        : "bytes that are not its format",
                          start, error);
        bool good = true;
        if (field.number == PIECE) model->pieces++;
        if (field.number == TRAINER) trainer = good = read_trainer(&field, model);
        if (field.number == NORMALIZER) normalizer = good = read_normalizer(&field, model);
        if (!good) return refuse(path, "settings that do not read", start, error);
    }
    if (model->pieces == 0) return refuse(path, "no pieces", size, error);
    if (!trainer)
        return refuse(path, "no trainer settings before the end of the file", size, error);
    if (!normalizer)
        return refuse(path, "no normalizer settings before the end of the file", size, error);
    return GS_OK;
}
