#include "core/checkpoint/stored_tensor.h"

#include "core/base/memory.h"
#include "core/checkpoint/float_formats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

char *gs_shape_text(const size_t *shape, size_t rank, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "(");
    for (size_t i = 0; i < rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, i ? ", %zu" : "%zu", shape[i]);
    if (used < size) snprintf(text + used, size - used, ")");
    return text;
}

/* ---- shapes --------------------------------------------------------------------------------- */

static enum gs_status fail_tensor(const struct gs_stored_tensor *tensor, enum gs_status status,
                                  const char *what, struct gs_error *error) {
    char shape[200];
    gs_fail(error, status, "%s", what);
    gs_error_found(error, "%s of %s", tensor->type,
                   gs_shape_text(tensor->shape, tensor->rank, shape, sizeof shape));
    gs_error_where(error, "tensor \"%.200s\"", tensor->name ? tensor->name : "");
    return status;
}

enum gs_status gs_stored_tensor_measure(struct gs_stored_tensor *tensor, struct gs_error *error) {
    size_t last = 0;
    bool fits = true, empty = false;
    tensor->count = 1;
    for (size_t i = 0; i < tensor->rank; i++) empty = empty || tensor->shape[i] == 0;
    for (size_t i = 0; i < tensor->rank && !empty; i++) {
        size_t reach = 0;
        fits = fits && gs_multiply(tensor->count, tensor->shape[i], &tensor->count) &&
               gs_multiply(tensor->shape[i] - 1, tensor->stride[i], &reach) &&
               gs_add(last, reach, &last);
    }
    if (empty) tensor->count = tensor->span = 0;
    size_t bytes;
    if (!empty)
        fits = fits && gs_add(last, 1, &last) && gs_multiply(last, tensor->width, &tensor->span) &&
               gs_multiply(tensor->count, sizeof(double), &bytes);
    if (fits) return GS_OK;
    return fail_tensor(tensor, GS_SHAPE, "a tensor has more elements than memory addresses", error);
}

/* A product that does not fit is found by measure; until then it stays. */
static size_t times(size_t a, size_t b) {
    size_t product;
    return gs_multiply(a, b, &product) ? product : SIZE_MAX;
}

enum gs_status gs_stored_tensor_pack(struct gs_stored_tensor *tensor, struct gs_error *error) {
    size_t stride = 1;
    for (size_t i = tensor->rank; i > 0; i--) {
        tensor->stride[i - 1] = stride;
        stride = times(stride, tensor->shape[i - 1]);
    }
    return gs_stored_tensor_measure(tensor, error);
}

enum gs_status gs_stored_tensor_pack_columns(struct gs_stored_tensor *tensor,
                                             struct gs_error *error) {
    size_t stride = 1;
    for (size_t i = 0; i < tensor->rank; i++) {
        tensor->stride[i] = stride;
        stride = times(stride, tensor->shape[i]);
    }
    return gs_stored_tensor_measure(tensor, error);
}

enum gs_status gs_stored_tensor_transpose(struct gs_stored_tensor *tensor, struct gs_error *error) {
    if (tensor->rank < 2) return GS_OK;
    if (tensor->rank > 2)
        return fail_tensor(tensor, GS_SHAPE, "only a matrix can be transposed", error);
    size_t shape = tensor->shape[0], stride = tensor->stride[0];
    tensor->shape[0] = tensor->shape[1];
    tensor->stride[0] = tensor->stride[1];
    tensor->shape[1] = shape;
    tensor->stride[1] = stride;
    return GS_OK;
}

/* ---- elements ------------------------------------------------------------------------------- */

/* An element's bits. */
static uint64_t load(const struct gs_stored_tensor *tensor, const unsigned char *bytes) {
    uint64_t bits = 0;
    for (size_t i = 0; i < tensor->width; i++)
        bits |= (uint64_t)bytes[i] << (8 * (tensor->big_endian ? tensor->width - 1 - i : i));
    return bits;
}

static bool is_float(const struct gs_stored_tensor *tensor) {
    const size_t width = tensor->width;
    return (tensor->element == GS_ELEMENT_BFLOAT16 && width == 2) ||
           (tensor->element == GS_ELEMENT_FLOAT && (width == 2 || width == 4 || width == 8));
}

static float to_float(const struct gs_stored_tensor *tensor, uint64_t bits) {
    if (tensor->element == GS_ELEMENT_BFLOAT16) return gs_float_from_bf16((uint16_t)bits);
    if (tensor->width == 2) return gs_float_from_f16((uint16_t)bits);
    if (tensor->width == 4) return gs_float_from_bits((uint32_t)bits);
    return (float)gs_double_from_bits(bits);
}

static enum gs_status check_narrowed(const struct gs_stored_tensor *tensor, uint64_t bits,
                                     size_t index, struct gs_error *error) {
    double wide = gs_double_from_bits(bits);
    if (!isinf((float)wide) || isinf(wide)) return GS_OK;
    gs_fail(error, GS_RANGE, "a float64 value does not fit in float32");
    gs_error_found(error, "%g at index %zu", wide, index);
    gs_error_where(error, "tensor \"%.200s\"", tensor->name ? tensor->name : "");
    return GS_RANGE;
}

/* `count` elements `stride` apart. */
static enum gs_status read_run(const struct gs_stored_tensor *tensor, const unsigned char *bytes,
                               size_t stride, size_t count, size_t first, float *values,
                               struct gs_error *error) {
    if (tensor->width == 4 && !tensor->big_endian) { /* the usual one, and quick */
        for (size_t i = 0; i < count; i++)
            values[i] = gs_float_from_bits(gs_load_u32(bytes + 4 * i * stride));
        return GS_OK;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = load(tensor, bytes + i * stride * tensor->width);
        values[i] = to_float(tensor, bits);
        if (tensor->width < 8) continue;
        enum gs_status status = check_narrowed(tensor, bits, first + i, error);
        if (status != GS_OK) return status;
    }
    return GS_OK;
}

/* Row by row of the last axis; the others count like an odometer. */
static enum gs_status read_strided(const struct gs_stored_tensor *tensor,
                                   const unsigned char *bytes, float *values,
                                   struct gs_error *error) {
    const size_t outer = tensor->rank ? tensor->rank - 1 : 0;
    const size_t run = tensor->rank ? tensor->shape[outer] : 1;
    const size_t stride = tensor->rank ? tensor->stride[outer] : 1;
    size_t index[GS_STORED_RANK] = {0}, at = 0;
    for (size_t done = 0; done < tensor->count; done += run) {
        enum gs_status status =
            read_run(tensor, bytes + at * tensor->width, stride, run, done, values + done, error);
        if (status != GS_OK) return status;
        for (size_t axis = outer; axis > 0; axis--) {
            at += tensor->stride[axis - 1];
            if (++index[axis - 1] < tensor->shape[axis - 1]) break;
            at -= index[axis - 1] * tensor->stride[axis - 1];
            index[axis - 1] = 0;
        }
    }
    return GS_OK;
}

/* ---- bytes that stand as text -----------------------------------------------------------------
 */

/* Each character up to U+00FF is a byte: "é" (c3 a9) is e9. False when it is anything else. */
static bool decode_latin1(const unsigned char *text, size_t size, unsigned char *bytes,
                          size_t count) {
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (at >= size) return false;
        unsigned char byte = text[at++];
        if (byte >= 0x80) {
            if ((byte != 0xc2 && byte != 0xc3) || at >= size || (text[at] & 0xc0) != 0x80)
                return false;
            byte = (unsigned char)(((byte & 3u) << 6) | (text[at++] & 0x3fu));
        }
        bytes[i] = byte;
    }
    return at == size;
}

/* Text takes one or two bytes for each of those it stands for. */
static enum gs_status read_latin1(const struct gs_stored_tensor *tensor, size_t needed,
                                  unsigned char *bytes, struct gs_error *error) {
    if (decode_latin1(tensor->bytes, tensor->span, bytes, needed)) return GS_OK;
    return fail_tensor(tensor, GS_FORMAT,
                       "the text that holds a tensor's bytes does not fit its shape", error);
}

static enum gs_status read_text(const struct gs_stored_tensor *tensor, float *values,
                                struct gs_error *error) {
    size_t needed = times(tensor->count, tensor->width);
    unsigned char *bytes = gs_calloc(needed, 1);
    if (!bytes) return gs_fail_memory(error, needed, "a tensor's bytes");
    enum gs_status status = read_latin1(tensor, needed, bytes, error);
    if (status == GS_OK) status = read_strided(tensor, bytes, values, error);
    gs_free(bytes);
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

enum gs_status gs_stored_tensor_read(const struct gs_stored_tensor *tensor, float *values,
                                     struct gs_error *error) {
    if (!tensor->is_tensor || !is_float(tensor)) {
        gs_fail(error, GS_UNSUPPORTED, "%s",
                tensor->is_tensor ? "the tensor's dtype is no floating-point type that is read here"
                                  : "there is an object where a tensor is needed");
        gs_error_expected(error, "float16, bfloat16, float32 or float64");
        gs_error_found(error, "%s", tensor->type);
        gs_error_where(error, "tensor \"%.200s\"", tensor->name ? tensor->name : "");
        return GS_UNSUPPORTED;
    }
    if (tensor->count == 0) return GS_OK;
    if (tensor->is_latin1) return read_text(tensor, values, error);
    return read_strided(tensor, tensor->bytes, values, error);
}

bool gs_stored_tensor_integer(const struct gs_stored_tensor *tensor, int64_t *number) {
    unsigned char decoded[8];
    const unsigned char *bytes = tensor->bytes;
    const size_t width = tensor->width;
    if (!tensor->is_tensor || tensor->count != 1 || width < 1 || width > 8 || !bytes) return false;
    if (tensor->is_latin1) {
        if (!decode_latin1(bytes, tensor->span, decoded, width)) return false;
        bytes = decoded;
    }
    uint64_t bits = load(tensor, bytes);
    if (tensor->element == GS_ELEMENT_SIGNED && width < 8 && bits >> (8 * width - 1))
        bits |= UINT64_MAX << (8 * width);
    if (tensor->element == GS_ELEMENT_SIGNED || tensor->element == GS_ELEMENT_UNSIGNED) {
        if (tensor->element == GS_ELEMENT_UNSIGNED && bits > INT64_MAX) return false;
        memcpy(number, &bits, sizeof bits);
        return true;
    }
    if (!is_float(tensor)) return false;
    double real = width == 8 ? gs_double_from_bits(bits) : (double)to_float(tensor, bits);
    if (!(fabs(real) <= 9007199254740992.0) || real != floor(real)) return false;
    *number = (int64_t)real;
    return true;
}
