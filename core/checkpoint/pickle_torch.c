#include "core/checkpoint/pickle_torch.h"

#include "core/base/memory.h"

#include <stdio.h>
#include <string.h>

typedef struct gs_pickle_value value;

static bool is_rebuild(const value *v, const char *name) {
    return gs_pickle_is(v, "torch._utils", name);
}

bool gs_torch_recognise(const value *v) {
    if (gs_pickle_type(v) != GS_PICKLE_CALL) return false;
    return is_rebuild(v, "_rebuild_tensor_v2") || is_rebuild(v, "_rebuild_tensor") ||
           is_rebuild(v, "_rebuild_tensor_v3") || is_rebuild(v, "_rebuild_parameter");
}

static enum gs_status fail(const struct gs_stored_tensor *tensor, enum gs_status status,
                           const char *what, const value *found, struct gs_error *error) {
    char text[256];
    gs_fail(error, status, "%s", what);
    if (found) gs_error_found(error, "%s", gs_pickle_describe(found, text, sizeof text));
    gs_error_where(error, "tensor \"%.200s\"", tensor->name ? tensor->name : "");
    return status;
}

/* ---- types ---------------------------------------------------------------------------------- */

static const struct type_row {
    const char *storage, *dtype;
    enum gs_element element;
    size_t width;
} types[] = {
    {"FloatStorage", "float32", GS_ELEMENT_FLOAT, 4},
    {"DoubleStorage", "float64", GS_ELEMENT_FLOAT, 8},
    {"HalfStorage", "float16", GS_ELEMENT_FLOAT, 2},
    {"BFloat16Storage", "bfloat16", GS_ELEMENT_BFLOAT16, 2},
    {"LongStorage", "int64", GS_ELEMENT_SIGNED, 8},
    {"IntStorage", "int32", GS_ELEMENT_SIGNED, 4},
    {"ShortStorage", "int16", GS_ELEMENT_SIGNED, 2},
    {"CharStorage", "int8", GS_ELEMENT_SIGNED, 1},
    {"ByteStorage", "uint8", GS_ELEMENT_UNSIGNED, 1},
    {"BoolStorage", "bool", GS_ELEMENT_UNSIGNED, 1},
    {"ComplexFloatStorage", "complex64", GS_ELEMENT_OTHER, 8},
    {"ComplexDoubleStorage", "complex128", GS_ELEMENT_OTHER, 16},
    {"Float8_e4m3fnStorage", "float8_e4m3fn", GS_ELEMENT_OTHER, 1},
    {"Float8_e5m2Storage", "float8_e5m2", GS_ELEMENT_OTHER, 1},
    {"QInt8Storage", "qint8", GS_ELEMENT_OTHER, 1},
    {"QUInt8Storage", "quint8", GS_ELEMENT_OTHER, 1},
    {"QInt32Storage", "qint32", GS_ELEMENT_OTHER, 4},
};

static bool set_type(const value *global, bool is_storage, struct gs_stored_tensor *tensor) {
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (!gs_pickle_is(global, "torch", is_storage ? types[i].storage : types[i].dtype))
            continue;
        tensor->element = types[i].element;
        tensor->width = types[i].width;
        snprintf(tensor->type, sizeof tensor->type, "%s", types[i].dtype);
        return true;
    }
    return false;
}

/* ---- the storage ---------------------------------------------------------------------------- */

/* ("storage", torch.FloatStorage, key, place, elements) */
static enum gs_status read_storage(const value *reference, const value *dtype,
                                   struct gs_stored_tensor *tensor,
                                   struct gs_torch_storage *storage, struct gs_error *error) {
    const value *id = gs_pickle_id(reference), *type = gs_pickle_at(id, 1);
    int64_t elements = 0;
    if (gs_pickle_count(id) != 5 || !gs_pickle_text_is(gs_pickle_at(id, 0), "storage") ||
        !gs_pickle_integer(gs_pickle_at(id, 4), &elements) || elements < 0)
        return fail(tensor, GS_FORMAT, "a tensor of PyTorch without its storage", reference, error);
    bool untyped = gs_pickle_is(type, "torch.storage", "UntypedStorage");
    if (!(untyped ? set_type(dtype, false, tensor) : set_type(type, true, tensor)))
        return fail(tensor, GS_UNSUPPORTED, "a type of PyTorch that is not read here",
                    untyped ? dtype : type, error);
    const value *key = gs_pickle_at(id, 2);
    storage->key = (const char *)gs_pickle_bytes(key, &storage->key_size);
    if (!storage->key || gs_pickle_type(key) != GS_PICKLE_TEXT || storage->key_size == 0 ||
        storage->key_size > 64 || memchr(storage->key, 0, storage->key_size))
        return fail(tensor, GS_FORMAT, "the key of a tensor's storage is no short text", key,
                    error);
    if (!gs_multiply((size_t)elements, untyped ? 1 : tensor->width, &storage->size))
        return fail(tensor, GS_FORMAT, "a storage larger than memory addresses", NULL, error);
    return GS_OK;
}

/* ---- its window into it ---------------------------------------------------------------------- */

static enum gs_status read_lengths(const value *tuple, const char *what, size_t *lengths,
                                   struct gs_stored_tensor *tensor, struct gs_error *error) {
    for (size_t i = 0; i < tensor->rank; i++) {
        int64_t length;
        if (!gs_pickle_integer(gs_pickle_at(tuple, i), &length) || length < 0) {
            fail(tensor, GS_FORMAT, "a tensor's size or stride is no list of lengths",
                 gs_pickle_at(tuple, i), error);
            gs_error_expected(error, "%s of whole numbers, 0 or more", what);
            return GS_FORMAT;
        }
        lengths[i] = (size_t)length;
    }
    return GS_OK;
}

/* torch.Size(…) of some versions is a call with the tuple in it. */
static const value *plain_tuple(const value *v) {
    if (gs_pickle_type(v) == GS_PICKLE_CALL && gs_pickle_is(v, "torch", "Size"))
        return gs_pickle_at(gs_pickle_arguments(v), 0);
    return v;
}

static enum gs_status check_window(const struct gs_stored_tensor *tensor, int64_t offset,
                                   const struct gs_torch_storage *storage, struct gs_error *error) {
    size_t end;
    const size_t begin = tensor->offset;
    if (tensor->count == 0) return GS_OK;
    if (!gs_add(begin, tensor->span, &end)) end = SIZE_MAX;
    if (end > storage->size) {
        fail(tensor, GS_SHAPE, "a tensor reaches beyond its storage", NULL, error);
        gs_error_expected(error, "at most %zu bytes", storage->size);
        gs_error_found(error, "%zu, from element %lld on", end, (long long)offset);
        return GS_SHAPE;
    }
    if (tensor->count <= storage->size / tensor->width) return GS_OK;
    fail(tensor, GS_UNSUPPORTED, "a tensor has more elements than its storage", NULL, error);
    gs_error_expected(error, "at most %zu elements", storage->size / tensor->width);
    gs_error_found(error, "%zu", tensor->count);
    gs_error_next(error, "it was expanded: save tensor.contiguous()");
    return GS_UNSUPPORTED;
}

static enum gs_status read_window(const value *arguments, struct gs_stored_tensor *tensor,
                                  const struct gs_torch_storage *storage, struct gs_error *error) {
    const value *size = plain_tuple(gs_pickle_at(arguments, 2));
    const value *stride = plain_tuple(gs_pickle_at(arguments, 3));
    int64_t offset = 0;
    tensor->rank = gs_pickle_count(size);
    if (gs_pickle_type(size) != GS_PICKLE_TUPLE || gs_pickle_type(stride) != GS_PICKLE_TUPLE ||
        gs_pickle_count(stride) != tensor->rank)
        return fail(tensor, GS_FORMAT, "a tensor's size and stride are no tuples of one length",
                    size, error);
    if (tensor->rank > GS_STORED_RANK)
        return fail(tensor, GS_UNSUPPORTED, "a tensor has more than 8 axes", NULL, error);
    if (!gs_pickle_integer(gs_pickle_at(arguments, 1), &offset) || offset < 0 ||
        !gs_multiply((size_t)offset, tensor->width, &tensor->offset))
        return fail(tensor, GS_FORMAT, "a tensor's offset into its storage is none",
                    gs_pickle_at(arguments, 1), error);
    enum gs_status status = read_lengths(size, "a size", tensor->shape, tensor, error);
    if (status == GS_OK) status = read_lengths(stride, "a stride", tensor->stride, tensor, error);
    if (status == GS_OK) status = gs_stored_tensor_measure(tensor, error);
    return status == GS_OK ? check_window(tensor, offset, storage, error) : status;
}

enum gs_status gs_torch_read(const value *v, struct gs_stored_tensor *tensor,
                             struct gs_torch_storage *storage, struct gs_error *error) {
    if (is_rebuild(v, "_rebuild_parameter")) {
        const value *inner = gs_pickle_at(gs_pickle_arguments(v), 0);
        if (!gs_torch_recognise(inner) || is_rebuild(inner, "_rebuild_parameter"))
            return fail(tensor, GS_FORMAT, "a parameter of PyTorch without its tensor", inner,
                        error);
        v = inner;
    }
    const value *arguments = gs_pickle_arguments(v);
    const value *dtype = is_rebuild(v, "_rebuild_tensor_v3") ? gs_pickle_at(arguments, 6) : NULL;
    tensor->is_tensor = true;
    enum gs_status status = read_storage(gs_pickle_at(arguments, 0), dtype, tensor, storage, error);
    return status == GS_OK ? read_window(arguments, tensor, storage, error) : status;
}
