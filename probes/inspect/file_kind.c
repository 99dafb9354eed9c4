#include "probes/inspect/file_kind.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/base/zip_archive.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/tensor_file.h"
#include "probes/arrays/array_file.h"
#include "probes/inspect/claims_file.h"
#include "probes/trace/hdf5_file.h"

#include <string.h>

const char *gs_file_kind_name(enum gs_file_kind kind) {
    switch (kind) {
    case GS_KIND_SAFETENSORS:
        return "a safetensors file";
    case GS_KIND_PICKLED:
        return "a checkpoint of Python's";
    case GS_KIND_TRACE:
        return "a trace";
    case GS_KIND_HDF5:
        return "an HDF5 file";
    case GS_KIND_ARRAYS:
        return "arrays of numpy's";
    case GS_KIND_SHARDS:
        return "a folder of token shards";
    case GS_KIND_IDS:
        return "a file of token ids";
    case GS_KIND_CONFIG:
        return "a training config";
    case GS_KIND_RESULTS:
        return "results";
    case GS_KIND_CLAIMS:
        return "claims";
    case GS_KIND_JSON:
        return "JSON";
    case GS_KIND_TOKENIZER:
        return "a SentencePiece tokenizer";
    }
    return "unknown";
}

static enum gs_status fail_unknown(const char *path, const char *found, struct gs_error *error) {
    gs_fail(error, GS_UNSUPPORTED, "a file of no known kind");
    gs_error_expected(error,
                      "a checkpoint (.safetensors, .pkl, .pt), trace, token shards, file of ids, "
                      "training config, tokenizer, results, claims, or arrays of numpy's");
    gs_error_found(error, "%s", found);
    gs_error_where(error, "%s", path);
    return GS_UNSUPPORTED;
}

static enum gs_status recognise_folder(const char *path, enum gs_file_kind *kind,
                                       struct gs_error *error) {
    char **names;
    size_t count;
    enum gs_status status = gs_folder_list(path, &names, &count, error);
    if (status != GS_OK) return status;
    bool shards = false, checkpoint = false, safetensors = false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], "meta.json") == 0 || strncmp(names[i], "data_0", 6) == 0)
            shards = true;
        if (gs_checkpoint_in_folder(names[i])) checkpoint = true;
        if (strncmp(names[i], "model.safetensors", 17) == 0) safetensors = true;
    }
    gs_free_names(names, count);
    *kind = safetensors ? GS_KIND_SAFETENSORS : GS_KIND_PICKLED;
    if (checkpoint && !shards) return GS_OK;
    *kind = GS_KIND_SHARDS;
    return shards ? GS_OK
                  : fail_unknown(path, "a folder without token shards or a checkpoint", error);
}

static enum gs_status recognise_hdf5(const char *path, enum gs_file_kind *kind,
                                     struct gs_error *error) {
    struct gs_h5 *file;
    char *format = NULL;
    (void)error; /* what is wrong with it, its reader says */
    *kind = GS_KIND_TRACE;
    if (gs_h5_open(path, &file, NULL) != GS_OK) return GS_OK;
    if (gs_h5_text(file, "/", "format", &format, NULL) != GS_OK || !format ||
        strcmp(format, "gpn-trace") != 0)
        *kind = GS_KIND_HDF5;
    gs_free(format);
    gs_h5_close(file, NULL);
    return GS_OK;
}

static enum gs_file_kind recognise_json(const struct gs_mapped_file *file) {
    struct gs_json *json;
    if (gs_json_parse((const char *)file->bytes, file->size, "", &json, NULL) != GS_OK)
        return GS_KIND_JSON;
    const char *schema = gs_json_string(gs_json_get(json, "schema"));
    enum gs_file_kind kind = GS_KIND_JSON;
    if (schema && strcmp(schema, GS_CLAIMS_SCHEMA) == 0)
        kind = GS_KIND_CLAIMS;
    else if (schema && strncmp(schema, "gpnscope", 8) == 0)
        kind = GS_KIND_RESULTS;
    else if (gs_json_get(json, "model") || gs_json_get(json, "training"))
        kind = GS_KIND_CONFIG;
    gs_json_destroy(json);
    return kind;
}

/* The first byte that is no white space; 0 when there is none. */
static unsigned char first_character(const struct gs_mapped_file *file) {
    size_t i = 0;
    while (i < file->size && i < 4096 && memchr(" \t\r\n", file->bytes[i], 4)) i++;
    return i < file->size ? file->bytes[i] : 0;
}

/* Ids below 2^24: the fourth byte of each is 0, which text never has, whatever ids come first: 123
 * begins like JSON, and as the third like a safetensors header. */
static bool looks_like_ids(const struct gs_mapped_file *file) {
    size_t count = file->size / 4;
    if (count > 4096) count = 4096;
    for (size_t i = 0; i < count; i++)
        if (file->bytes[4 * i + 3] != 0) return false;
    return count > 0;
}

/* A header length of 8 bytes, then the JSON header. */
static bool looks_like_safetensors(const struct gs_mapped_file *file) {
    if (file->size >= 12 && looks_like_ids(file)) return false;
    return file->size > 8 && file->bytes[8] == '{' && file->bytes[6] == 0 && file->bytes[7] == 0;
}

/* Field 1 (pieces), of which field 1 is the piece: 0a <length> 0a <length> …; as ids these bytes
 * would be above 655,360. */
static bool looks_like_tokenizer(const struct gs_mapped_file *file) {
    return file->size > 4 && file->bytes[0] == 0x0a && file->bytes[2] == 0x0a &&
           file->bytes[1] < 0x80;
}

/* An archive of no known content: mostly one that is damaged, and then what is wrong with it. */
static enum gs_status fail_archive(const char *path, const struct gs_mapped_file *file,
                                   struct gs_error *error) {
    struct gs_zip *zip;
    enum gs_status status = gs_zip_open(file->bytes, file->size, path, &zip, error);
    if (status != GS_OK) return status;
    gs_zip_close(zip);
    return fail_unknown(path, "an archive that is neither PyTorch's nor numpy's", error);
}

static enum gs_status recognise_bytes(const char *path, const struct gs_mapped_file *file,
                                      enum gs_file_kind *kind, struct gs_error *error) {
    if (file->size == 0) return fail_unknown(path, "an empty file", error);
    if (gs_npy_recognise(file->bytes, file->size) || gs_array_archive(file->bytes, file->size))
        *kind = GS_KIND_ARRAYS;
    else if (looks_like_safetensors(file))
        *kind = GS_KIND_SAFETENSORS;
    else if (gs_tensor_file_recognise(file->bytes, file->size))
        *kind = GS_KIND_PICKLED;
    else if (first_character(file) == '{' && !looks_like_ids(file))
        *kind = recognise_json(file);
    else if (looks_like_tokenizer(file))
        *kind = GS_KIND_TOKENIZER;
    else if (looks_like_ids(file))
        *kind = GS_KIND_IDS;
    else if (gs_zip_recognise(file->bytes, file->size))
        return fail_archive(path, file, error);
    else
        return fail_unknown(path, "bytes of none of these", error);
    return GS_OK;
}

enum gs_status gs_file_recognise(const char *path, enum gs_file_kind *kind,
                                 struct gs_error *error) {
    *kind = GS_KIND_IDS;
    if (gs_path_is_folder(path)) return recognise_folder(path, kind, error);
    if (gs_h5_recognise(path)) return recognise_hdf5(path, kind, error);
    struct gs_mapped_file file;
    enum gs_status status = gs_file_map(path, &file, error);
    if (status != GS_OK) return status;
    status = recognise_bytes(path, &file, kind, error);
    gs_file_unmap(&file);
    return status;
}
