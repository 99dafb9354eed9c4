#include "core/checkpoint/pickle_numpy.h"

#include "core/base/memory.h"

#include <stdio.h>
#include <string.h>

typedef struct gs_pickle_value value;

/* ---- which call ----------------------------------------------------------------------------- */

/* A function of numpy's multiarray or numeric, by either path. */
static bool is_numpy(const value *called, const char *module, const char *name) {
    char old[64], new[64];
    snprintf(old, sizeof old, "numpy.core.%s", module);
    snprintf(new, sizeof new, "numpy._core.%s", module);
    return gs_pickle_is(called, old, name) || gs_pickle_is(called, new, name);
}

static bool is_array(const value *v) {
    return is_numpy(v, "multiarray", "_reconstruct");
}
static bool is_scalar(const value *v) {
    return is_numpy(v, "multiarray", "scalar");
}
static bool is_buffer(const value *v) {
    return is_numpy(v, "numeric", "_frombuffer");
}
static bool is_jax(const value *v) {
    return gs_pickle_module_begins(v, "jax") && gs_pickle_is(v, NULL, "_reconstruct_array");
}

bool gs_numpy_recognise(const value *v) {
    if (gs_pickle_type(v) != GS_PICKLE_CALL) return false;
    return is_array(v) || is_scalar(v) || is_buffer(v) || is_jax(v);
}

static enum gs_status fail(const struct gs_stored_tensor *tensor, enum gs_status status,
                           const char *what, const value *found, struct gs_error *error) {
    char text[256];
    gs_fail(error, status, "%s", what);
    if (found) gs_error_found(error, "%s", gs_pickle_describe(found, text, sizeof text));
    gs_error_where(error, "tensor \"%.200s\"", tensor->name ? tensor->name : "");
    return status;
}

/* ---- dtype ---------------------------------------------------------------------------------- */

/* numpy's letter and width: "f4", "V2". */
static bool parse_letters(const char *text, size_t size, struct gs_stored_tensor *tensor) {
    if (size != 2 || text[1] < '1' || text[1] > '8') return false;
    tensor->width = (size_t)(text[1] - '0');
    bool power = (tensor->width & (tensor->width - 1)) == 0;
    switch (text[0]) {
    case 'f':
        tensor->element = GS_ELEMENT_FLOAT;
        return power && tensor->width > 1;
    case 'i':
        tensor->element = GS_ELEMENT_SIGNED;
        return power;
    case 'u':
        tensor->element = GS_ELEMENT_UNSIGNED;
        return power;
    case 'b':
        tensor->element = GS_ELEMENT_UNSIGNED;
        return tensor->width == 1;
    default:
        return false;
    }
}

static enum gs_status ask_for_name(const struct gs_stored_tensor *tensor, struct gs_error *error) {
    fail(tensor, GS_UNSUPPORTED, "the elements are two bytes of a type that has lost its name",
         NULL, error);
    gs_error_found(error, "dtype V2");
    gs_error_next(error, "if it is bfloat16, say so: gpnscope convert --bfloat16");
    return GS_UNSUPPORTED;
}

/* The name of the type: a text, or the class of a type of others (ml_dtypes.bfloat16). */
static enum gs_status read_type(const value *name, bool void_is_bfloat16,
                                struct gs_stored_tensor *tensor, struct gs_error *error) {
    size_t size;
    const char *text = (const char *)gs_pickle_bytes(name, &size);
    if (gs_pickle_type(name) == GS_PICKLE_GLOBAL && gs_pickle_is(name, NULL, "bfloat16")) {
        tensor->element = GS_ELEMENT_BFLOAT16;
        tensor->width = 2;
        snprintf(tensor->type, sizeof tensor->type, "bfloat16");
        return GS_OK;
    }
    if (text && size == 2 && memcmp(text, "V2", 2) == 0) {
        if (!void_is_bfloat16) return ask_for_name(tensor, error);
        tensor->element = GS_ELEMENT_BFLOAT16;
        tensor->width = 2;
        snprintf(tensor->type, sizeof tensor->type, "V2 as bfloat16");
        return GS_OK;
    }
    if (text && parse_letters(text, size, tensor)) {
        snprintf(tensor->type, sizeof tensor->type, "%.2s", text);
        return GS_OK;
    }
    fail(tensor, GS_UNSUPPORTED, "a dtype of numpy that is not read here", name, error);
    gs_error_expected(error, "floating point or whole numbers of 1 to 8 bytes");
    if (text) gs_error_found(error, "\"%.*s\"", size < 60 ? (int)size : 60, text);
    return GS_UNSUPPORTED;
}

/* numpy.dtype("f4", False, True) with the state (3, "<", None, …). */
static enum gs_status read_dtype(const value *dtype, bool void_is_bfloat16,
                                 struct gs_stored_tensor *tensor, struct gs_error *error) {
    if (gs_pickle_type(dtype) != GS_PICKLE_CALL || !gs_pickle_is(dtype, "numpy", "dtype"))
        return fail(tensor, GS_UNSUPPORTED, "a dtype of numpy that is not read here", dtype, error);
    const value *state = gs_pickle_state(dtype), *order = gs_pickle_at(state, 1);
    tensor->big_endian = gs_pickle_text_is(order, ">");
    if (state && !tensor->big_endian && !gs_pickle_text_is(order, "<") &&
        !gs_pickle_text_is(order, "|") && !gs_pickle_text_is(order, "="))
        return fail(tensor, GS_FORMAT, "a dtype's byte order is none", order, error);
    enum gs_status status =
        read_type(gs_pickle_at(gs_pickle_arguments(dtype), 0), void_is_bfloat16, tensor, error);
    size_t size = strlen(tensor->type);
    if (status == GS_OK && tensor->width > 1)
        snprintf(tensor->type + size, sizeof tensor->type - size, "%s",
                 tensor->big_endian ? " big-endian" : "");
    return status;
}

/* ---- shape and bytes ------------------------------------------------------------------------- */

static enum gs_status read_shape(const value *shape, struct gs_stored_tensor *tensor,
                                 struct gs_error *error) {
    int64_t single, size;
    tensor->rank = gs_pickle_count(shape);
    if (gs_pickle_integer(shape, &single))
        tensor->rank = 1; /* as numpy takes it */
    else if (gs_pickle_type(shape) != GS_PICKLE_TUPLE)
        return fail(tensor, GS_FORMAT, "an array's shape is no tuple", shape, error);
    if (tensor->rank > GS_STORED_RANK)
        return fail(tensor, GS_UNSUPPORTED, "an array has more than 8 axes", NULL, error);
    for (size_t i = 0; i < tensor->rank; i++) {
        const value *axis =
            gs_pickle_type(shape) == GS_PICKLE_TUPLE ? gs_pickle_at(shape, i) : shape;
        if (!gs_pickle_integer(axis, &size) || size < 0)
            return fail(tensor, GS_FORMAT, "an array's shape is no list of lengths", axis, error);
        tensor->shape[i] = (size_t)size;
    }
    return GS_OK;
}

/* The bytes of a value: themselves, a text behind _codecs.encode(text, "latin1"), or bytes(). */
static bool find_bytes(const value *holder, struct gs_stored_tensor *tensor, size_t *size) {
    tensor->is_latin1 = false;
    if (gs_pickle_type(holder) == GS_PICKLE_CALL) {
        const value *arguments = gs_pickle_arguments(holder);
        if (gs_pickle_is(holder, "_codecs", "encode") && gs_pickle_count(arguments) == 2 &&
            gs_pickle_text_is(gs_pickle_at(arguments, 1), "latin1")) {
            tensor->is_latin1 = true;
            tensor->bytes = gs_pickle_bytes(gs_pickle_at(arguments, 0), size);
            return tensor->bytes != NULL;
        }
        bool named = gs_pickle_is(holder, "__builtin__", "bytes") ||
                     gs_pickle_is(holder, "builtins", "bytes") ||
                     gs_pickle_is(holder, "builtins", "bytearray");
        if (!named || gs_pickle_count(arguments) > 1) return false;
        tensor->bytes = (const unsigned char *)"";
        *size = 0;
        if (gs_pickle_count(arguments) == 0) return true;
        holder = gs_pickle_at(arguments, 0);
    }
    if (gs_pickle_type(holder) != GS_PICKLE_BYTES) return false;
    tensor->bytes = gs_pickle_bytes(holder, size);
    return true;
}

static enum gs_status read_bytes(const value *holder, struct gs_stored_tensor *tensor,
                                 struct gs_error *error) {
    size_t size = 0, needed = tensor->span;
    if (!find_bytes(holder, tensor, &size))
        return fail(tensor, GS_UNSUPPORTED, "an array's content is no bytes", holder, error);
    /* what text really holds is seen when it is read */
    bool fits = tensor->is_latin1 ? size >= needed && size / 2 <= needed : size == needed;
    if (!fits) {
        fail(tensor, GS_SHAPE, "an array's bytes do not fit its shape and dtype", NULL, error);
        gs_error_expected(error, "%zu bytes", needed);
        gs_error_found(error, "%zu", size);
        return GS_SHAPE;
    }
    if (tensor->is_latin1) tensor->span = size;
    return GS_OK;
}

/* ---- the four ways -------------------------------------------------------------------------- */

/* (version, shape, dtype, Fortran order?, bytes) */
static enum gs_status from_state(const value *state, bool void_is_bfloat16,
                                 struct gs_stored_tensor *tensor, struct gs_error *error) {
    bool columns = false;
    if (gs_pickle_type(state) != GS_PICKLE_TUPLE || gs_pickle_count(state) != 5)
        return fail(tensor, GS_FORMAT, "an array of numpy without its state", state, error);
    gs_pickle_truth(gs_pickle_at(state, 3), &columns);
    enum gs_status status = read_dtype(gs_pickle_at(state, 2), void_is_bfloat16, tensor, error);
    if (status == GS_OK) status = read_shape(gs_pickle_at(state, 1), tensor, error);
    if (status == GS_OK)
        status = columns ? gs_stored_tensor_pack_columns(tensor, error)
                         : gs_stored_tensor_pack(tensor, error);
    if (status == GS_OK) status = read_bytes(gs_pickle_at(state, 4), tensor, error);
    return status;
}

/* _frombuffer(bytes, dtype, shape, order) */
static enum gs_status from_buffer(const value *arguments, bool void_is_bfloat16,
                                  struct gs_stored_tensor *tensor, struct gs_error *error) {
    const value *order = gs_pickle_at(arguments, 3);
    bool columns = gs_pickle_text_is(order, "F");
    if (gs_pickle_count(arguments) != 4 || (!columns && !gs_pickle_text_is(order, "C")))
        return fail(tensor, GS_FORMAT, "an array of numpy from a buffer without its order", order,
                    error);
    enum gs_status status = read_dtype(gs_pickle_at(arguments, 1), void_is_bfloat16, tensor, error);
    if (status == GS_OK) status = read_shape(gs_pickle_at(arguments, 2), tensor, error);
    if (status == GS_OK)
        status = columns ? gs_stored_tensor_pack_columns(tensor, error)
                         : gs_stored_tensor_pack(tensor, error);
    if (status == GS_OK) status = read_bytes(gs_pickle_at(arguments, 0), tensor, error);
    return status;
}

static enum gs_status from_scalar(const value *arguments, bool void_is_bfloat16,
                                  struct gs_stored_tensor *tensor, struct gs_error *error) {
    enum gs_status status = read_dtype(gs_pickle_at(arguments, 0), void_is_bfloat16, tensor, error);
    tensor->rank = 0;
    if (status == GS_OK) status = gs_stored_tensor_pack(tensor, error);
    if (status == GS_OK) status = read_bytes(gs_pickle_at(arguments, 1), tensor, error);
    return status;
}

enum gs_status gs_numpy_read(const value *v, bool void_is_bfloat16, struct gs_stored_tensor *tensor,
                             struct gs_error *error) {
    const value *arguments = gs_pickle_arguments(v);
    tensor->is_tensor = true;
    if (is_array(v)) return from_state(gs_pickle_state(v), void_is_bfloat16, tensor, error);
    if (is_buffer(v)) return from_buffer(arguments, void_is_bfloat16, tensor, error);
    if (is_scalar(v)) return from_scalar(arguments, void_is_bfloat16, tensor, error);
    /* jax: (numpy's function, its arguments, its state, what jax keeps beside) */
    return from_state(gs_pickle_at(arguments, 2), void_is_bfloat16, tensor, error);
}
