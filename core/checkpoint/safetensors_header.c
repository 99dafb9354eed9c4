#include "core/checkpoint/safetensors_header.h"

#include "core/base/memory.h"
#include "core/checkpoint/float_formats.h"

#include <string.h>

enum { LENGTH_BYTES = 8, MAX_NAME = 1024 };
enum { MAX_RANK = sizeof((struct gs_safetensors_entry *)0)->shape / sizeof(size_t) };

enum gs_status gs_safetensors_parse_header(const unsigned char *bytes, size_t size,
                                           const char *path, struct gs_json **header,
                                           size_t *data_start, struct gs_error *error) {
    if (size < LENGTH_BYTES) {
        gs_fail(error, GS_FORMAT, "not a safetensors file: too short for a header length");
        gs_error_expected(error, "at least %d bytes", LENGTH_BYTES);
        gs_error_found(error, "%zu bytes", size);
        gs_error_where(error, "%s", path);
        return GS_FORMAT;
    }
    uint64_t length = gs_load_u64(bytes);
    uint64_t room = size - LENGTH_BYTES;
    if (length > GS_SAFETENSORS_MAX_HEADER) {
        gs_fail(error, GS_FORMAT, "not a safetensors file: the header length is over the limit");
        gs_error_expected(error, "at most %d bytes", GS_SAFETENSORS_MAX_HEADER);
        gs_error_found(error, "%llu", (unsigned long long)length);
        gs_error_where(error, "%s", path);
        return GS_FORMAT;
    }
    if (length > room) {
        gs_fail(error, GS_FORMAT, "the safetensors header reaches beyond the end of the file");
        gs_error_expected(error, "a header of at most %llu bytes", (unsigned long long)room);
        gs_error_found(error, "%llu", (unsigned long long)length);
        gs_error_where(error, "%s", path);
        gs_error_next(error, "the file may be cut off: copy it again");
        return GS_FORMAT;
    }
    const char *text = (const char *)bytes + LENGTH_BYTES;
    if (length < 2 || text[0] != '{') {
        gs_fail(error, GS_FORMAT, "the safetensors header is not a JSON object");
        gs_error_expected(error, "'{' as its first byte");
        if (length)
            gs_error_found(error, "byte 0x%02x", (unsigned char)text[0]);
        else
            gs_error_found(error, "an empty header");
        gs_error_where(error, "%s", path);
        return GS_FORMAT;
    }
    char where[512];
    snprintf(where, sizeof where, "%s: header", path);
    enum gs_status status = gs_json_parse(text, (size_t)length, where, header, error);
    if (status == GS_OK) *data_start = LENGTH_BYTES + (size_t)length;
    return status;
}

/* ---- one entry ---------------------------------------------------------------------------- */

static const struct dtype_row {
    const char *name;
    enum gs_dtype dtype;
    size_t bits;
} dtypes[] = {
    {"F32", GS_F32, 32},      {"F16", GS_F16, 16},      {"BF16", GS_BF16, 16},
    {"F64", GS_F64, 64},      {"BOOL", GS_OTHER, 8},    {"U8", GS_OTHER, 8},
    {"I8", GS_OTHER, 8},      {"U16", GS_OTHER, 16},    {"I16", GS_OTHER, 16},
    {"U32", GS_OTHER, 32},    {"I32", GS_OTHER, 32},    {"U64", GS_OTHER, 64},
    {"I64", GS_OTHER, 64},    {"C64", GS_OTHER, 64},    {"F8_E4M3", GS_OTHER, 8},
    {"F8_E5M2", GS_OTHER, 8}, {"F8_E8M0", GS_OTHER, 8}, {"F6_E2M3", GS_OTHER, 6},
    {"F6_E3M2", GS_OTHER, 6}, {"F4", GS_OTHER, 4},
};

/* Where the entry being read stands, for errors. */
struct place {
    const char *path, *name;
};

static enum gs_status fail_at(const struct place *place, enum gs_status status, const char *what,
                              struct gs_error *error) {
    gs_fail(error, status, "%s", what);
    gs_error_where(error, "%s: tensor \"%.200s\"", place->path, place->name);
    return status;
}

static enum gs_status check_members(const struct place *place, const struct gs_json *json,
                                    struct gs_error *error) {
    static const char *const known[] = {"dtype", "shape", "data_offsets"};
    if (gs_json_type(json) != GS_JSON_OBJECT) {
        fail_at(place, GS_FORMAT, "the tensor's entry is not a JSON object", error);
        gs_error_found(error, "%s", gs_json_type_name(gs_json_type(json)));
        return GS_FORMAT;
    }
    for (size_t k = 0; k < 3; k++) {
        if (gs_json_get(json, known[k])) continue;
        fail_at(place, GS_FORMAT, "the tensor's entry lacks a member", error);
        gs_error_expected(error, "\"%s\"", known[k]);
        return GS_FORMAT;
    }
    /* The members are listed only when there is one too many: a walk through this object makes the
     * walk through the header around it begin again. */
    if (gs_json_size(json) == 3) return GS_OK;
    const char *unknown = "";
    for (size_t i = 0; i < gs_json_size(json); i++) {
        const char *key = gs_json_key_at(json, i);
        bool found = false;
        for (size_t k = 0; k < 3; k++) found = found || strcmp(key, known[k]) == 0;
        if (!found) unknown = key;
    }
    fail_at(place, GS_FORMAT, "the tensor's entry has an unknown member", error);
    gs_error_expected(error, "dtype, shape and data_offsets only");
    gs_error_found(error, "\"%.100s\"", unknown);
    return GS_FORMAT;
}

static enum gs_status read_dtype(const struct place *place, const struct gs_json *json,
                                 struct gs_safetensors_entry *entry, size_t *bits,
                                 struct gs_error *error) {
    const char *name = gs_json_string(json);
    for (size_t i = 0; name && i < sizeof dtypes / sizeof dtypes[0]; i++) {
        if (strcmp(name, dtypes[i].name) != 0) continue;
        entry->dtype = dtypes[i].dtype;
        entry->dtype_name = dtypes[i].name;
        *bits = dtypes[i].bits;
        return GS_OK;
    }
    fail_at(place, GS_FORMAT, "unknown dtype", error);
    gs_error_expected(error, "a dtype of the safetensors format, such as \"F32\" or \"BF16\"");
    if (name)
        gs_error_found(error, "\"%.60s\"", name);
    else
        gs_error_found(error, "%s", gs_json_type_name(gs_json_type(json)));
    return GS_FORMAT;
}

/* A whole number from 0 on; `what` names it. */
static enum gs_status read_size(const struct place *place, const struct gs_json *json,
                                const char *what, size_t *size, struct gs_error *error) {
    int64_t number;
    if (gs_json_integer(json, &number) && number >= 0 && (uint64_t)number <= SIZE_MAX) {
        *size = (size_t)number;
        return GS_OK;
    }
    fail_at(place, GS_FORMAT, what, error);
    gs_error_expected(error, "a whole number, 0 or more");
    if (gs_json_integer(json, &number))
        gs_error_found(error, "%lld", (long long)number);
    else
        gs_error_found(error, "%s", gs_json_type_name(gs_json_type(json)));
    return GS_FORMAT;
}

static enum gs_status read_shape(const struct place *place, const struct gs_json *json,
                                 struct gs_safetensors_entry *entry, struct gs_error *error) {
    if (gs_json_type(json) != GS_JSON_ARRAY)
        return fail_at(place, GS_FORMAT, "the shape is not an array", error);
    entry->rank = gs_json_size(json);
    if (entry->rank > MAX_RANK) {
        fail_at(place, GS_FORMAT, "the tensor has too many dimensions", error);
        gs_error_expected(error, "at most %d", (int)MAX_RANK);
        gs_error_found(error, "%zu", entry->rank);
        return GS_FORMAT;
    }
    bool empty = false;
    for (size_t i = 0; i < entry->rank; i++) {
        enum gs_status status = read_size(place, gs_json_at(json, i), "wrong dimension in shape",
                                          &entry->shape[i], error);
        if (status != GS_OK) return status;
        empty = empty || entry->shape[i] == 0;
    }
    entry->count = empty ? 0 : 1;
    for (size_t i = 0; i < entry->rank && !empty; i++)
        if (!gs_multiply(entry->count, entry->shape[i], &entry->count))
            return fail_at(place, GS_FORMAT, "the shape has more elements than memory addresses",
                           error);
    return GS_OK;
}

static enum gs_status read_offsets(const struct place *place, const struct gs_json *json,
                                   size_t data_size, size_t *begin, size_t *end,
                                   struct gs_error *error) {
    if (gs_json_type(json) != GS_JSON_ARRAY || gs_json_size(json) != 2) {
        fail_at(place, GS_FORMAT, "data_offsets is not a pair", error);
        gs_error_expected(error, "[begin, end]");
        if (gs_json_type(json) != GS_JSON_ARRAY)
            gs_error_found(error, "%s", gs_json_type_name(gs_json_type(json)));
        else
            gs_error_found(error, "%zu members", gs_json_size(json));
        return GS_FORMAT;
    }
    enum gs_status status =
        read_size(place, gs_json_at(json, 0), "wrong data_offsets", begin, error);
    if (status == GS_OK)
        status = read_size(place, gs_json_at(json, 1), "wrong data_offsets", end, error);
    if (status != GS_OK) return status;
    if (*begin <= *end && *end <= data_size) return GS_OK;
    fail_at(place, GS_FORMAT,
            *begin > *end ? "data_offsets run backwards"
                          : "the tensor's bytes reach beyond the end of the file",
            error);
    gs_error_expected(error, "0 <= begin <= end <= %zu", data_size);
    gs_error_found(error, "[%zu, %zu]", *begin, *end);
    if (*end > data_size) gs_error_next(error, "the file may be cut off: copy it again");
    return GS_FORMAT;
}

/* dtype × shape = bytes. */
static enum gs_status check_size(const struct place *place,
                                 const struct gs_safetensors_entry *entry, size_t bits,
                                 struct gs_error *error) {
    size_t needed = 0;
    bool fits = gs_multiply(entry->count, bits, &needed);
    if (fits && needed % 8 == 0 && needed / 8 == entry->size) return GS_OK;
    fail_at(place, GS_FORMAT, "data_offsets do not fit dtype and shape", error);
    if (!fits)
        gs_error_expected(error, "%zu elements of %zu bits", entry->count, bits);
    else if (needed % 8)
        gs_error_expected(error, "%zu bits, which are no whole bytes", needed);
    else
        gs_error_expected(error, "%zu bytes", needed / 8);
    gs_error_found(error, "%zu bytes", entry->size);
    return GS_FORMAT;
}

enum gs_status gs_safetensors_read_entry(const char *name, const struct gs_json *json,
                                         const unsigned char *data, size_t data_size,
                                         const char *path, struct gs_safetensors_entry *entry,
                                         struct gs_error *error) {
    struct place place = {path, name};
    memset(entry, 0, sizeof *entry);
    if (strlen(name) > MAX_NAME) {
        fail_at(&place, GS_FORMAT, "the tensor's name is too long", error);
        gs_error_expected(error, "at most %d bytes", MAX_NAME);
        gs_error_found(error, "%zu bytes", strlen(name));
        return GS_FORMAT;
    }
    entry->name = name;
    size_t bits = 0, begin = 0, end = 0;
    enum gs_status status = check_members(&place, json, error);
    if (status == GS_OK)
        status = read_dtype(&place, gs_json_get(json, "dtype"), entry, &bits, error);
    if (status == GS_OK) status = read_shape(&place, gs_json_get(json, "shape"), entry, error);
    if (status == GS_OK)
        status =
            read_offsets(&place, gs_json_get(json, "data_offsets"), data_size, &begin, &end, error);
    if (status != GS_OK) return status;
    entry->bytes = data + begin;
    entry->size = end - begin;
    return check_size(&place, entry, bits, error);
}
