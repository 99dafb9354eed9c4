#include "core/checkpoint/safetensors.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/checkpoint/float_formats.h"
#include "core/checkpoint/safetensors_header.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gs_safetensors {
    struct gs_mapped_file file;
    bool borrowed;          /* the bytes are somebody else's */
    struct gs_json *header; /* owns every name and metadata string */
    char *path;
    size_t count;
    struct gs_safetensors_entry *entries;        /* in the order of their bytes */
    const struct gs_safetensors_entry **by_name; /* sorted */
};

static const char METADATA[] = "__metadata__";

void gs_safetensors_close(struct gs_safetensors *file) {
    if (!file) return;
    if (!file->borrowed) gs_file_unmap(&file->file);
    gs_json_destroy(file->header);
    gs_free(file->path);
    gs_free(file->entries);
    gs_free(file->by_name);
    gs_free(file);
}

static enum gs_status check_metadata(const struct gs_safetensors *file, struct gs_error *error) {
    const struct gs_json *metadata = gs_json_get(file->header, METADATA);
    if (!metadata) return GS_OK;
    if (gs_json_type(metadata) != GS_JSON_OBJECT) {
        gs_fail(error, GS_FORMAT, "%s is not a JSON object", METADATA);
        gs_error_found(error, "%s", gs_json_type_name(gs_json_type(metadata)));
        gs_error_where(error, "%s", file->path);
        return GS_FORMAT;
    }
    for (size_t i = 0; i < gs_json_size(metadata); i++) {
        const struct gs_json *value = gs_json_value_at(metadata, i);
        if (gs_json_type(value) == GS_JSON_STRING) continue;
        gs_fail(error, GS_FORMAT, "a value of %s is not a string", METADATA);
        gs_error_expected(error, "a string");
        gs_error_found(error, "%s", gs_json_type_name(gs_json_type(value)));
        gs_error_where(error, "%s: %s \"%.200s\"", file->path, METADATA,
                       gs_json_key_at(metadata, i));
        return GS_FORMAT;
    }
    return GS_OK;
}

/* By begin, then end, so that an empty tensor stands before the one that begins where it does. */
static int compare_bytes(const void *a, const void *b) {
    const struct gs_safetensors_entry *left = a, *right = b;
    if (left->bytes != right->bytes) return left->bytes < right->bytes ? -1 : 1;
    if (left->size != right->size) return left->size < right->size ? -1 : 1;
    return strcmp(left->name, right->name);
}

static int compare_names(const void *a, const void *b) {
    const struct gs_safetensors_entry *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

/* The entries cover the data without gap or overlap; they are sorted by their bytes. */
static enum gs_status check_cover(const struct gs_safetensors *file, const unsigned char *data,
                                  size_t data_size, struct gs_error *error) {
    size_t reached = 0;
    for (size_t i = 0; i < file->count; i++) {
        const struct gs_safetensors_entry *entry = &file->entries[i];
        size_t begin = (size_t)(entry->bytes - data);
        if (begin != reached) {
            gs_fail(error, GS_FORMAT,
                    begin > reached ? "there is a gap in front of a tensor's bytes"
                                    : "two tensors share bytes");
            gs_error_expected(error, "begin at %zu", reached);
            gs_error_found(error, "%zu", begin);
            gs_error_where(error, "%s: tensor \"%.200s\"", file->path, entry->name);
            return GS_FORMAT;
        }
        reached += entry->size;
    }
    if (reached == data_size) return GS_OK;
    gs_fail(error, GS_FORMAT, "bytes stand behind the last tensor");
    gs_error_expected(error, "%zu bytes of tensors", reached);
    gs_error_found(error, "%zu", data_size);
    gs_error_where(error, "%s", file->path);
    return GS_FORMAT;
}

static enum gs_status read_entries(struct gs_safetensors *file, size_t data_start,
                                   struct gs_error *error) {
    const unsigned char *data = file->file.bytes + data_start;
    size_t data_size = file->file.size - data_start;
    size_t members = gs_json_size(file->header);
    file->entries = gs_calloc(members, sizeof *file->entries);
    file->by_name = gs_calloc(members, sizeof *file->by_name);
    if (!file->entries || !file->by_name)
        return gs_fail_memory(error, members * sizeof *file->entries, "tensor entries");
    for (size_t i = 0; i < members; i++) {
        const char *name = gs_json_key_at(file->header, i);
        if (strcmp(name, METADATA) == 0) continue;
        enum gs_status status =
            gs_safetensors_read_entry(name, gs_json_value_at(file->header, i), data, data_size,
                                      file->path, &file->entries[file->count], error);
        if (status != GS_OK) return status;
        file->count++;
    }
    qsort(file->entries, file->count, sizeof *file->entries, compare_bytes);
    for (size_t i = 0; i < file->count; i++) file->by_name[i] = &file->entries[i];
    qsort(file->by_name, file->count, sizeof *file->by_name, compare_names);
    return check_cover(file, data, data_size, error);
}

/* `bytes` NULL: those of the file. */
static enum gs_status open_file(const unsigned char *bytes, size_t size, const char *path,
                                struct gs_safetensors **file, struct gs_error *error) {
    struct gs_safetensors *opened = gs_calloc(1, sizeof *opened);
    if (!opened) return gs_fail_memory(error, sizeof *opened, "a safetensors file");
    size_t data_start = 0;
    enum gs_status status = GS_OK;
    opened->borrowed = bytes != NULL;
    opened->file = (struct gs_mapped_file){bytes, size};
    opened->path = gs_strdup(path);
    if (!opened->path) status = gs_fail_memory(error, strlen(path), "a path");
    if (status == GS_OK && !bytes) status = gs_file_map(path, &opened->file, error);
    if (status == GS_OK)
        status = gs_safetensors_parse_header(opened->file.bytes, opened->file.size, path,
                                             &opened->header, &data_start, error);
    if (status == GS_OK) status = check_metadata(opened, error);
    if (status == GS_OK) status = read_entries(opened, data_start, error);
    if (status != GS_OK) {
        gs_safetensors_close(opened);
        return status;
    }
    *file = opened;
    return GS_OK;
}

enum gs_status gs_safetensors_open(const char *path, struct gs_safetensors **file,
                                   struct gs_error *error) {
    return open_file(NULL, 0, path, file, error);
}

bool gs_safetensors_recognise(const unsigned char *bytes, size_t size) {
    if (size <= 8 || bytes[8] != '{') return false;
    uint64_t header = 0;
    for (size_t i = 8; i-- > 0;) header = header << 8 | bytes[i];
    return header > 0 && header <= size - 8;
}

enum gs_status gs_safetensors_open_bytes(const unsigned char *bytes, size_t size, const char *path,
                                         struct gs_safetensors **file, struct gs_error *error) {
    return open_file(bytes, size, path, file, error);
}

size_t gs_safetensors_count(const struct gs_safetensors *file) {
    return file->count;
}

const struct gs_safetensors_entry *gs_safetensors_at(const struct gs_safetensors *file,
                                                     size_t index) {
    return index < file->count ? &file->entries[index] : NULL;
}

const struct gs_safetensors_entry *gs_safetensors_find(const struct gs_safetensors *file,
                                                       const char *name) {
    struct gs_safetensors_entry key = {.name = name};
    const struct gs_safetensors_entry *pointer = &key;
    const struct gs_safetensors_entry **found =
        bsearch(&pointer, file->by_name, file->count, sizeof *file->by_name, compare_names);
    return found ? *found : NULL;
}

const char *gs_safetensors_metadata(const struct gs_safetensors *file, const char *key) {
    return gs_json_string(gs_json_get(gs_json_get(file->header, METADATA), key));
}

/* ---- values ------------------------------------------------------------------------------- */

static enum gs_status narrow_doubles(const struct gs_safetensors *file,
                                     const struct gs_safetensors_entry *entry, float *values,
                                     struct gs_error *error) {
    for (size_t i = 0; i < entry->count; i++) {
        double wide = gs_double_from_bits(gs_load_u64(entry->bytes + 8 * i));
        values[i] = (float)wide;
        if (!isinf(values[i]) || isinf(wide)) continue;
        gs_fail(error, GS_RANGE, "a float64 value does not fit in float32");
        gs_error_found(error, "%g at index %zu", wide, i);
        gs_error_where(error, "%s: tensor \"%.200s\"", file->path, entry->name);
        return GS_RANGE;
    }
    return GS_OK;
}

static enum gs_status read_values(const struct gs_safetensors *file,
                                  const struct gs_safetensors_entry *entry, float *values,
                                  struct gs_error *error) {
    const unsigned char *bytes = entry->bytes;
    switch (entry->dtype) {
    case GS_F32:
        for (size_t i = 0; i < entry->count; i++)
            values[i] = gs_float_from_bits(gs_load_u32(bytes + 4 * i));
        return GS_OK;
    case GS_F16:
        for (size_t i = 0; i < entry->count; i++)
            values[i] = gs_float_from_f16(gs_load_u16(bytes + 2 * i));
        return GS_OK;
    case GS_BF16:
        for (size_t i = 0; i < entry->count; i++)
            values[i] = gs_float_from_bf16(gs_load_u16(bytes + 2 * i));
        return GS_OK;
    case GS_F64:
        return narrow_doubles(file, entry, values, error);
    case GS_OTHER:
        break;
    }
    gs_fail(error, GS_UNSUPPORTED,
            "the tensor's dtype is no floating-point type that is read here");
    gs_error_expected(error, "F32, F16, BF16 or F64");
    gs_error_found(error, "%s", entry->dtype_name);
    gs_error_where(error, "%s: tensor \"%.200s\"", file->path, entry->name);
    return GS_UNSUPPORTED;
}

enum gs_status gs_safetensors_read(const struct gs_safetensors *file,
                                   const struct gs_safetensors_entry *entry, float *values,
                                   struct gs_error *error) {
    enum gs_status status = read_values(file, entry, values, error);
    size_t begin = (size_t)(entry->bytes - file->file.bytes);
    if (!file->borrowed) gs_file_release(&file->file, begin, begin + entry->size);
    return status;
}
