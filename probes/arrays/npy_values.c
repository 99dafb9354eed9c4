/* The numbers and texts of a .npy array, in row-major order. */
#include "probes/arrays/npy.h"

#include "core/base/memory.h"
#include "core/base/utf8.h"
#include "probes/trace/narrow.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- where elements stand ---- */

/* Goes through elements in row-major order; `place` is the element's number in the file. */
struct walk {
    size_t index[GS_NPY_MAX_RANK], step[GS_NPY_MAX_RANK]; /* of each axis */
    size_t place;
};

/* At element `first` of an array that is not empty. */
static struct walk walk_from(const struct gs_npy *array, size_t first) {
    struct walk walk = {.place = 0};
    size_t step = 1;
    for (size_t i = 0; i < array->rank; i++) {
        size_t axis = array->fortran ? i : array->rank - 1 - i;
        walk.step[axis] = step;
        step *= array->shape[axis];
    }
    for (size_t axis = array->rank; axis-- > 0;) {
        walk.index[axis] = first % array->shape[axis];
        first /= array->shape[axis];
        walk.place += walk.index[axis] * walk.step[axis];
    }
    return walk;
}

static void walk_on(const struct gs_npy *array, struct walk *walk) {
    for (size_t axis = array->rank; axis-- > 0;) {
        walk->place += walk->step[axis];
        if (++walk->index[axis] < array->shape[axis]) return;
        walk->place -= walk->index[axis] * walk->step[axis];
        walk->index[axis] = 0;
    }
}

/* The bits of an element of at most 8 bytes. */
static uint64_t bits_at(const struct gs_npy *array, size_t place) {
    const unsigned char *bytes = array->data + place * array->element;
    uint64_t bits = 0;
    for (size_t i = 0; i < array->element; i++) {
        size_t byte = array->big_endian ? i : array->element - 1 - i;
        bits = bits << 8 | bytes[byte];
    }
    return bits;
}

/* ---- numbers ---- */

static double real_of(const struct gs_npy *array, uint64_t bits) {
    double wide;
    float single;
    uint32_t half = (uint32_t)bits;
    if (array->family == GS_NPY_RAW) return (double)gs_bf16_to_f32((uint16_t)bits);
    if (array->element == 2) return (double)gs_f16_to_f32((uint16_t)bits);
    if (array->element == 4) {
        memcpy(&single, &half, sizeof single);
        return (double)single;
    }
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}

/* Two's complement of the element's width. */
static int64_t signed_of(const struct gs_npy *array, uint64_t bits) {
    unsigned unused = (unsigned)(64 - 8 * array->element);
    uint64_t top = bits << unused;
    int64_t whole;
    memcpy(&whole, &top, sizeof whole);
    return whole / ((int64_t)1 << unused);
}

static double number_of(const struct gs_npy *array, uint64_t bits) {
    if (array->family != GS_NPY_INTEGER) return real_of(array, bits);
    return array->is_signed ? (double)signed_of(array, bits) : (double)bits;
}

/* Rounds to nearest; what is too large becomes infinity, as a cast to float need not say. */
static float narrowed(double wide) {
    if (fabs(wide) < 0x1.ffffffp127) return (float)wide;
    return isnan(wide) ? NAN : wide > 0 ? INFINITY : -INFINITY;
}

static bool is_here(const struct gs_npy *array) {
    uint32_t one = 1;
    unsigned char low;
    memcpy(&low, &one, 1);
    return !array->fortran && array->family == GS_NPY_FLOAT && array->element == 4 &&
           array->big_endian == (low == 0);
}

void gs_npy_f32(const struct gs_npy *array, size_t first, size_t count, float *values) {
    if (count == 0) return;
    if (is_here(array)) {
        memcpy(values, array->data + first * sizeof *values, count * sizeof *values);
        return;
    }
    struct walk walk = walk_from(array, first);
    for (size_t i = 0; i < count; i++, walk_on(array, &walk))
        values[i] = narrowed(real_of(array, bits_at(array, walk.place)));
}

void gs_npy_f64(const struct gs_npy *array, size_t first, size_t count, double *values) {
    if (count == 0) return;
    struct walk walk = walk_from(array, first);
    for (size_t i = 0; i < count; i++, walk_on(array, &walk))
        values[i] = number_of(array, bits_at(array, walk.place));
}

static enum gs_status fail_whole(const struct gs_npy *array, uint64_t bits, size_t index,
                                 uint64_t most, const char *where, struct gs_error *error) {
    gs_fail(error, GS_RANGE, "a whole number out of range");
    gs_error_expected(error, "0 … %llu", (unsigned long long)most);
    if (array->is_signed)
        gs_error_found(error, "%lld", (long long)signed_of(array, bits));
    else
        gs_error_found(error, "%llu", (unsigned long long)bits);
    gs_error_where(error, "%s, element %zu", where, index);
    return GS_RANGE;
}

enum gs_status gs_npy_u64(const struct gs_npy *array, size_t first, size_t count, uint64_t most,
                          const char *where, uint64_t *values, struct gs_error *error) {
    if (array->family != GS_NPY_INTEGER) {
        gs_fail(error, GS_UNSUPPORTED, "no whole numbers");
        gs_error_expected(error, "integers of any width, of either byte order");
        gs_error_found(error, "%s", array->descr);
        gs_error_where(error, "%s", where);
        return GS_UNSUPPORTED;
    }
    if (count == 0) return GS_OK;
    struct walk walk = walk_from(array, first);
    for (size_t i = 0; i < count; i++, walk_on(array, &walk)) {
        uint64_t bits = bits_at(array, walk.place);
        if ((array->is_signed && signed_of(array, bits) < 0) || bits > most)
            return fail_whole(array, bits, first + i, most, where, error);
        values[i] = bits;
    }
    return GS_OK;
}

/* ---- text ---- */

/* UTF-8 of a character; the number of bytes, 0 when it is none. */
static size_t encode(uint32_t character, char *bytes) {
    if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000)) return 0;
    size_t length = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    static const unsigned char marks[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length; i-- > 1; character >>= 6) bytes[i] = (char)(0x80 | (character & 0x3f));
    bytes[0] = (char)(marks[length] | character);
    return length;
}

/* False when a character is none. */
static bool utf8_of(const struct gs_npy *array, size_t place, char *text) {
    bool wide = array->descr[1] == 'U';
    size_t used = 0, unit = wide ? 4 : 1;
    const unsigned char *bytes = array->data + place * array->element;
    struct gs_npy one = {.element = unit, .big_endian = array->big_endian, .data = bytes};
    for (size_t i = 0; i < array->element / unit; i++) {
        uint64_t character = bits_at(&one, i);
        if (character == 0) break;
        size_t length = 1;
        if (wide)
            length = encode((uint32_t)character, text + used);
        else
            text[used] = (char)character;
        if (length == 0) return false;
        used += length;
    }
    text[used] = '\0';
    return gs_utf8_valid(text, used) == used;
}

enum gs_status gs_npy_text(const struct gs_npy *array, size_t index, const char *where, char **text,
                           struct gs_error *error) {
    *text = NULL;
    if (array->family != GS_NPY_TEXT) {
        gs_fail(error, GS_FORMAT, "no text");
        gs_error_found(error, "%s", array->descr);
        gs_error_where(error, "%s", where);
        return GS_FORMAT;
    }
    char *made = gs_calloc(array->element + 1, 1); /* UTF-8 is never longer than UTF-32 */
    if (!made) return gs_fail_memory(error, array->element, "a text");
    if (utf8_of(array, walk_from(array, index).place, made)) {
        *text = made;
        return GS_OK;
    }
    gs_free(made);
    gs_fail(error, GS_FORMAT, "a text that is not Unicode");
    gs_error_where(error, "%s, element %zu", where, index);
    return GS_FORMAT;
}
