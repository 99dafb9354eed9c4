#include "core/checkpoint/safetensors.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/checkpoint/float_formats.h"

#include <errno.h>
#include <string.h>

static struct gs_json *metadata_object(const char *const *pairs) {
    struct gs_json *object = gs_json_new_object();
    bool good = object != NULL;
    for (size_t i = 0; good && pairs && pairs[i]; i += 2)
        good = gs_json_set(object, pairs[i], gs_json_new_string(pairs[i + 1]));
    if (good) return object;
    gs_json_destroy(object);
    return NULL;
}

/* {"dtype": "F32", "shape": […], "data_offsets": [begin, end]} */
static struct gs_json *entry_object(const struct gs_tensor *tensor, size_t begin) {
    struct gs_json *entry = gs_json_new_object();
    struct gs_json *shape = gs_json_new_array(), *offsets = gs_json_new_array();
    /* setting hands over also when it fails: all three sets must run */
    bool good = gs_json_set(entry, "dtype", gs_json_new_string("F32"));
    good = gs_json_set(entry, "shape", shape) && good;
    good = gs_json_set(entry, "data_offsets", offsets) && good;
    for (size_t i = 0; i < tensor->rank && good; i++)
        good = gs_json_append(shape, gs_json_new_integer((int64_t)tensor->shape[i]));
    good = good && gs_json_append(offsets, gs_json_new_integer((int64_t)begin)) &&
           gs_json_append(offsets, gs_json_new_integer((int64_t)(begin + 4 * tensor->count)));
    if (good) return entry;
    gs_json_destroy(entry);
    return NULL;
}

/* The header as text; NULL when memory is short. */
static char *header_text(const struct gs_parameters *parameters, const char *const *metadata) {
    struct gs_json *header = gs_json_new_object();
    bool good = header != NULL;
    if (good && metadata && metadata[0])
        good = gs_json_set(header, "__metadata__", metadata_object(metadata));
    size_t begin = 0;
    for (size_t i = 0; i < parameters->tensor_count && good; i++) {
        const struct gs_tensor *tensor = &parameters->tensors[i];
        good = gs_json_set(header, tensor->name, entry_object(tensor, begin));
        begin += 4 * tensor->count;
    }
    char *text = good ? gs_json_text(header, 0) : NULL;
    gs_json_destroy(header);
    return text;
}

/* fwrite sets errno on the systems we know; a short write without it is EIO. */
static enum gs_status put(struct gs_output *out, const void *bytes, size_t size,
                          struct gs_error *error) {
    errno = 0;
    if (fwrite(bytes, 1, size, out->stream) == size) return GS_OK;
    return gs_fail_errno(error, errno ? errno : EIO, "writing", out->path);
}

/* Length, JSON, and blanks up to a multiple of 8. */
static enum gs_status put_header(struct gs_output *out, const char *text, struct gs_error *error) {
    static const char blanks[] = "        ";
    size_t length = strlen(text), padding = (8 - length % 8) % 8;
    if (length + padding > GS_SAFETENSORS_MAX_HEADER) {
        gs_fail(error, GS_UNSUPPORTED, "the safetensors header would be over the limit");
        gs_error_expected(error, "at most %d bytes", GS_SAFETENSORS_MAX_HEADER);
        gs_error_found(error, "%zu", length);
        gs_error_where(error, "%s", out->path);
        return GS_UNSUPPORTED;
    }
    unsigned char number[8];
    gs_store_u64(number, length + padding);
    enum gs_status status = put(out, number, sizeof number, error);
    if (status == GS_OK) status = put(out, text, length, error);
    if (status == GS_OK) status = put(out, blanks, padding, error);
    return status;
}

static enum gs_status put_values(struct gs_output *out, const float *values, size_t count,
                                 struct gs_error *error) {
    enum { BLOCK = 4096 };
    unsigned char bytes[4 * BLOCK];
    for (size_t first = 0; first < count; first += BLOCK) {
        size_t part = count - first < BLOCK ? count - first : BLOCK;
        for (size_t i = 0; i < part; i++)
            gs_store_u32(bytes + 4 * i, gs_bits_from_float(values[first + i]));
        enum gs_status status = put(out, bytes, 4 * part, error);
        if (status != GS_OK) return status;
    }
    return GS_OK;
}

enum gs_status gs_safetensors_write(const char *path, bool force,
                                    const struct gs_parameters *parameters,
                                    const char *const *metadata, struct gs_error *error) {
    struct gs_output out = {0};
    enum gs_status status = gs_output_open(&out, path, force, error);
    if (status != GS_OK) return status;
    char *text = header_text(parameters, metadata);
    status =
        text ? put_header(&out, text, error) : gs_fail_memory(error, 0, "a safetensors header");
    gs_free(text);
    for (size_t i = 0; i < parameters->tensor_count && status == GS_OK; i++)
        status =
            put_values(&out, parameters->tensors[i].values, parameters->tensors[i].count, error);
    if (status == GS_OK) status = gs_output_commit(&out, error);
    gs_output_abandon(&out);
    return status;
}
