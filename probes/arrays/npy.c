/* The header of a .npy file: preamble, dictionary, checks. */
#include "probes/arrays/npy.h"

#include "core/base/memory.h"

#include <stdio.h>
#include <string.h>

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

bool gs_npy_recognise(const unsigned char *bytes, size_t size) {
    return size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

static enum gs_status fail_npy(struct gs_error *error, enum gs_status status, const char *where,
                               const char *what) {
    gs_fail(error, status, "%s", what);
    gs_error_where(error, "%s", where);
    return status;
}

/* ---- a dictionary of Python's ---- */

/* What is left to read. */
struct text {
    const char *at, *end;
};

static void skip_blanks(struct text *text) {
    while (text->at < text->end && memchr(" \t\r\n", *text->at, 4)) text->at++;
}

static bool take(struct text *text, char wanted) {
    skip_blanks(text);
    if (text->at == text->end || *text->at != wanted) return false;
    text->at++;
    return true;
}

/* 'abc' or "abc" without escapes, of fewer than `size` bytes. */
static bool take_string(struct text *text, char *value, size_t size) {
    skip_blanks(text);
    if (text->at == text->end || (*text->at != '\'' && *text->at != '"')) return false;
    const char *begin = text->at + 1;
    const char *stop = memchr(begin, *text->at, (size_t)(text->end - begin));
    if (!stop || (size_t)(stop - begin) >= size || memchr(begin, '\\', (size_t)(stop - begin)) ||
        memchr(begin, '\0', (size_t)(stop - begin)))
        return false;
    memcpy(value, begin, (size_t)(stop - begin));
    value[stop - begin] = '\0';
    text->at = stop + 1;
    return true;
}

static bool take_word(struct text *text, const char *word) {
    size_t length = strlen(word);
    skip_blanks(text);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0)
        return false;
    text->at += length;
    return true;
}

/* A whole number; Python 2 wrote an L behind it. False, too, when it does not fit. */
static bool take_size(struct text *text, size_t *value) {
    size_t number = 0;
    skip_blanks(text);
    if (text->at == text->end || *text->at < '0' || *text->at > '9') return false;
    for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++)
        if (!gs_multiply(number, 10, &number) ||
            !gs_add(number, (size_t)(*text->at - '0'), &number))
            return false;
    if (text->at < text->end && *text->at == 'L') text->at++;
    *value = number;
    return true;
}

/* (), (3,), (3, 4) and (3, 4,). */
static bool take_shape(struct text *text, struct gs_npy *array, bool *too_many) {
    size_t length;
    if (!take(text, '(')) return false;
    array->rank = 0;
    while (!take(text, ')')) {
        if (array->rank > 0 && !take(text, ',')) return false;
        if (take(text, ')')) return array->rank > 0;
        if (!take_size(text, &length)) return false;
        *too_many = array->rank == GS_NPY_MAX_RANK;
        if (*too_many) return false;
        array->shape[array->rank++] = length;
    }
    return true;
}

/* ---- the type ---- */

static bool is_number_of(const char *digits, size_t *bytes) {
    struct text text = {digits, digits + strlen(digits)};
    return take_size(&text, bytes) && text.at == text.end;
}

/* "<f4": byte order, kind, bytes. False when it is not even of that form. */
static bool read_descr(struct gs_npy *array) {
    const char *descr = array->descr;
    size_t bytes;
    if (!descr[0] || !strchr("<>|=", descr[0]) || !descr[1] || !is_number_of(descr + 2, &bytes) ||
        bytes == 0)
        return false;
    bool whole = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    array->big_endian = descr[0] == '>';
    array->element = bytes;
    array->family = GS_NPY_OTHER;
    if (descr[1] == 'f' && (bytes == 2 || bytes == 4 || bytes == 8)) array->family = GS_NPY_FLOAT;
    if ((descr[1] == 'i' || descr[1] == 'u') && whole) array->family = GS_NPY_INTEGER;
    if (descr[1] == 'b' && bytes == 1) array->family = GS_NPY_INTEGER;
    if (descr[1] == 'V' && bytes == 2) array->family = GS_NPY_RAW;
    if (descr[1] == 'S' || descr[1] == 'U') array->family = GS_NPY_TEXT;
    if (descr[1] == 'U' && !gs_multiply(bytes, 4, &array->element)) return false;
    array->is_signed = descr[1] == 'i';
    return true;
}

/* ---- the header ---- */

static enum gs_status fail_header(struct gs_error *error, const char *where, const char *expected,
                                  const struct text *text) {
    size_t left = (size_t)(text->end - text->at);
    fail_npy(error, GS_FORMAT, where, "a header that numpy does not write");
    gs_error_expected(error, "%s", expected);
    gs_error_found(error, "%.*s", (int)(left < 40 ? left : 40), left ? text->at : "its end");
    return GS_FORMAT;
}

static enum gs_status read_descr_value(struct text *text, const char *where, struct gs_npy *array,
                                       struct gs_error *error) {
    skip_blanks(text);
    if (text->at < text->end && (*text->at == '[' || *text->at == '('))
        return fail_npy(error, GS_UNSUPPORTED, where, "a structured array (with named fields)");
    struct text begin = *text;
    if (!take_string(text, array->descr, sizeof array->descr))
        return fail_header(error, where, "a short text behind 'descr'", text);
    if (strncmp(array->descr, "|O", 2) == 0 || array->descr[0] == 'O') {
        fail_npy(error, GS_UNSUPPORTED, where,
                 "an array of Python objects: a pickle, which is not read here");
        gs_error_next(error, "save it as numbers: numpy.asarray(x, dtype='float32')");
        return GS_UNSUPPORTED;
    }
    if (!read_descr(array))
        return fail_header(error, where, "a type such as '<f4' behind 'descr'", &begin);
    return GS_OK;
}

static enum gs_status read_value(struct text *text, const char *key, const char *where,
                                 struct gs_npy *array, unsigned *seen, struct gs_error *error) {
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    unsigned which = 0;
    while (which < 3 && strcmp(key, keys[which]) != 0) which++;
    if (which == 3 || (*seen & 1u << which))
        return fail_header(error, where, "'descr', 'fortran_order' and 'shape', once each", text);
    *seen |= 1u << which;
    if (which == 0) return read_descr_value(text, where, array, error);
    if (which == 1) {
        array->fortran = take_word(text, "True");
        if (array->fortran || take_word(text, "False")) return GS_OK;
        return fail_header(error, where, "True or False behind 'fortran_order'", text);
    }
    bool too_many = false;
    if (take_shape(text, array, &too_many)) return GS_OK;
    if (too_many) {
        fail_npy(error, GS_UNSUPPORTED, where, "an array of too many axes");
        gs_error_expected(error, "at most %d", (int)GS_NPY_MAX_RANK);
        return GS_UNSUPPORTED;
    }
    return fail_header(error, where, "lengths below 2^64 in brackets behind 'shape'", text);
}

static enum gs_status read_dictionary(struct text text, const char *where, struct gs_npy *array,
                                      struct gs_error *error) {
    unsigned seen = 0;
    char key[GS_NPY_DESCR];
    if (!take(&text, '{')) return fail_header(error, where, "a dictionary", &text);
    while (!take(&text, '}')) {
        if (seen && !take(&text, ',')) return fail_header(error, where, "a comma", &text);
        if (seen && take(&text, '}')) break;
        if (!take_string(&text, key, sizeof key) || !take(&text, ':'))
            return fail_header(error, where, "a key and a colon", &text);
        enum gs_status status = read_value(&text, key, where, array, &seen, error);
        if (status != GS_OK) return status;
    }
    skip_blanks(&text);
    if (seen != 7) return fail_header(error, where, "descr, fortran_order and shape", &text);
    if (text.at < text.end) return fail_header(error, where, "nothing behind the }", &text);
    return GS_OK;
}

/* Elements, and that the file holds them and nothing else. */
static enum gs_status check_size(size_t file_size, const char *where, struct gs_npy *array,
                                 struct gs_error *error) {
    size_t bytes = 0;
    bool fits = true, empty = false;
    array->count = 1;
    for (size_t axis = 0; axis < array->rank; axis++) {
        empty = empty || array->shape[axis] == 0;
        fits = fits && gs_multiply(array->count, array->shape[axis], &array->count);
    }
    if (empty) array->count = 0; /* whatever the product of the others is */
    fits = (fits || empty) && gs_multiply(array->count, array->element, &bytes);
    if (fits && bytes == file_size - array->header) return GS_OK;
    fail_npy(error, GS_SHAPE, where, "the shape does not fit the bytes of the array");
    if (fits)
        gs_error_expected(error, "%zu bytes (%zu elements of %s)", bytes, array->count,
                          array->descr);
    else
        gs_error_expected(error, "a shape whose bytes fit into 64 bits");
    gs_error_found(error, "%zu bytes", file_size - array->header);
    return GS_SHAPE;
}

/* Where the dictionary stands: behind the version and a length of 2 or 4 bytes. */
static enum gs_status find_dictionary(const unsigned char *bytes, size_t size, size_t file_size,
                                      const char *where, struct text *text, struct gs_npy *array,
                                      struct gs_error *error) {
    if (!gs_npy_recognise(bytes, size) || size < 10)
        return fail_npy(error, GS_FORMAT, where, "not an array of numpy's (.npy)");
    unsigned version = bytes[6];
    if (version < 1 || version > 3) {
        fail_npy(error, GS_UNSUPPORTED, where, "an array of an unknown version");
        gs_error_expected(error, "1, 2 or 3");
        gs_error_found(error, "%u", version);
        return GS_UNSUPPORTED;
    }
    size_t start = version == 1 ? 10 : 12;
    size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (version > 1 && size >= 12) length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (file_size < start || length > file_size - start || length > GS_NPY_MAX_HEADER ||
        start + length > size) {
        fail_npy(error, GS_FORMAT, where, "a header that is too long");
        gs_error_expected(error, "at most %d bytes, inside the file of %zu", (int)GS_NPY_MAX_HEADER,
                          file_size);
        gs_error_found(error, "%zu", length);
        return GS_FORMAT;
    }
    *text = (struct text){(const char *)bytes + start, (const char *)bytes + start + length};
    array->header = start + length;
    return GS_OK;
}

enum gs_status gs_npy_header(const unsigned char *bytes, size_t size, size_t file_size,
                             const char *where, struct gs_npy *array, struct gs_error *error) {
    struct text text;
    *array = (struct gs_npy){0};
    enum gs_status status = find_dictionary(bytes, size, file_size, where, &text, array, error);
    if (status == GS_OK) status = read_dictionary(text, where, array, error);
    if (status == GS_OK) status = check_size(file_size, where, array, error);
    return status;
}

enum gs_status gs_npy_read(const unsigned char *bytes, size_t size, const char *where,
                           struct gs_npy *array, struct gs_error *error) {
    enum gs_status status = gs_npy_header(bytes, size, size, where, array, error);
    if (status == GS_OK) array->data = bytes + array->header;
    return status;
}

enum gs_status gs_npy_want_floats(const struct gs_npy *array, bool bfloat16, const char *where,
                                  struct gs_error *error) {
    if (array->family == GS_NPY_FLOAT || (bfloat16 && array->family == GS_NPY_RAW)) return GS_OK;
    fail_npy(error, GS_UNSUPPORTED, where, "no floating point numbers");
    gs_error_expected(error, "f2, f4 or f8, of either byte order");
    gs_error_found(error, "%s", array->descr);
    if (array->family == GS_NPY_RAW)
        gs_error_next(error, "numpy loses the name of bfloat16: say --bfloat16 where it is");
    return GS_UNSUPPORTED;
}
