#include "core/checkpoint/tensor_file.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/zip_archive.h"
#include "core/checkpoint/name_map.h"
#include "core/checkpoint/safetensors.h"

#include <stdio.h>
#include <string.h>

struct gs_tensor_file {
    struct gs_mapped_file mapped; /* empty when the bytes are borrowed */
    char *path;
    const char *format;
    struct gs_safetensors *safetensors; /* one of these three */
    struct gs_torch_file *torch;
    struct gs_pickle *pickle;
    struct gs_tensor_source source;
    struct gs_tensor_list list;
    size_t left_out;
};

enum { MOST_ELEMENTS = 4 }; /* for each byte: a bfloat16 shared by eight names */

void gs_tensor_file_close(struct gs_tensor_file *file) {
    if (!file) return;
    gs_tensor_list_clear(&file->list);
    gs_safetensors_close(file->safetensors);
    gs_torch_file_close(file->torch);
    gs_pickle_destroy(file->pickle);
    gs_file_unmap(&file->mapped);
    gs_free(file->path);
    gs_free(file);
}

/* Errors of the readers below name the tensor; the file goes in front. */
static enum gs_status say_file(const struct gs_tensor_file *file, enum gs_status status,
                               struct gs_error *error) {
    if (status == GS_OK || !error || strstr(error->where, file->path)) return status;
    char inside[sizeof error->where];
    memcpy(inside, error->where, sizeof inside);
    gs_error_where(error, "%s%s%s", file->path, inside[0] ? ": " : "", inside);
    return status;
}

/* ---- safetensors ------------------------------------------------------------------------------
 */

static enum gs_element element_of(enum gs_dtype dtype) {
    if (dtype == GS_BF16) return GS_ELEMENT_BFLOAT16;
    return dtype == GS_OTHER ? GS_ELEMENT_OTHER : GS_ELEMENT_FLOAT;
}

static enum gs_status list_safetensors(struct gs_tensor_file *file, struct gs_error *error) {
    static const size_t widths[] = {
        [GS_F32] = 4, [GS_F16] = 2, [GS_BF16] = 2, [GS_F64] = 8, [GS_OTHER] = 1};
    size_t count = gs_safetensors_count(file->safetensors);
    struct gs_tensor_list *list = &file->list;
    enum gs_status status = gs_tensor_list_reserve(list, count, error);
    for (size_t i = 0; i < count && status == GS_OK; i++) {
        const struct gs_safetensors_entry *entry = gs_safetensors_at(file->safetensors, i);
        struct gs_stored_tensor tensor = {.is_tensor = true,
                                          .element = element_of(entry->dtype),
                                          .width = widths[entry->dtype],
                                          .rank = entry->rank,
                                          .bytes = entry->bytes};
        snprintf(tensor.type, sizeof tensor.type, "%s", entry->dtype_name);
        memcpy(tensor.shape, entry->shape, sizeof tensor.shape);
        status = gs_stored_tensor_pack(&tensor, error);
        if (status == GS_OK) status = gs_tensor_list_add(list, &tensor, entry->name, error);
    }
    return status;
}

/* ---- pickles ----------------------------------------------------------------------------------
 */

static enum gs_status fail_no_dict(const struct gs_tensor_file *file, struct gs_error *error) {
    char text[256];
    const struct gs_pickle_value *root = gs_pickle_root(file->source.pickle);
    gs_fail(error, GS_UNSUPPORTED, "what was saved is no dict of tensors");
    gs_error_expected(error, "{name: tensor, …}, or that behind \"params\", \"model\", …");
    gs_error_found(error, "%s", gs_pickle_describe(root, text, sizeof text));
    gs_error_where(error, "%s", file->path);
    gs_error_next(error, file->torch ? "save model.state_dict()" : "save a dict of arrays");
    return GS_UNSUPPORTED;
}

static enum gs_status list_pickle(struct gs_tensor_file *file, size_t bytes,
                                  struct gs_error *error) {
    struct gs_tensor_source *source = &file->source;
    if (!gs_multiply(bytes, MOST_ELEMENTS, &source->most)) source->most = SIZE_MAX;
    const struct gs_pickle_value *tree = gs_tensor_tree_parameters(gs_pickle_root(source->pickle));
    if (!tree) return fail_no_dict(file, error);
    return gs_tensor_tree_list(source, tree, &file->list, error);
}

static enum gs_status open_pickle(struct gs_tensor_file *file, const unsigned char *bytes,
                                  size_t size, struct gs_error *error) {
    size_t used = 0;
    enum gs_status status = gs_pickle_parse(bytes, size, file->path, &file->pickle, &used, error);
    if (status != GS_OK) return status;
    if (used != size) {
        gs_fail(error, GS_FORMAT, "bytes stand behind the end of the pickle");
        gs_error_expected(error, "%zu bytes", used);
        gs_error_found(error, "%zu", size);
        return GS_FORMAT;
    }
    file->format = "pickle";
    file->source.pickle = file->pickle;
    return list_pickle(file, size, error);
}

static enum gs_status open_torch(struct gs_tensor_file *file, const unsigned char *bytes,
                                 size_t size, struct gs_error *error) {
    enum gs_status status = gs_torch_file_open(bytes, size, file->path, &file->torch, error);
    if (status != GS_OK) return status;
    file->format = "PyTorch archive";
    file->source.torch = file->torch;
    file->source.pickle = gs_torch_file_pickle(file->torch);
    return list_pickle(file, gs_torch_file_size(file->torch), error);
}

/* ---- any of them ------------------------------------------------------------------------------
 */

/* Formats that are no checkpoint, and would be called broken ones. */
static enum gs_status refuse_others(const unsigned char *bytes, size_t size,
                                    struct gs_error *error) {
    static const struct {
        const char *first, *what, *next;
    } others[] = {
        {"\x89HDF\r\n\x1a\n", "an HDF5 file is no checkpoint",
         "is it a trace? gpnscope info tells"},
        {"\x93NUMPY", "a single array of numpy is no checkpoint",
         "save a dict of arrays with pickle, or use safetensors"},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        size_t length = strlen(others[i].first);
        if (size < length || memcmp(bytes, others[i].first, length) != 0) continue;
        gs_fail(error, GS_UNSUPPORTED, "%s", others[i].what);
        gs_error_expected(error, "safetensors, a pickle of arrays, or a file of torch.save");
        gs_error_next(error, "%s", others[i].next);
        return GS_UNSUPPORTED;
    }
    return GS_OK;
}

bool gs_tensor_file_recognise(const unsigned char *bytes, size_t size) {
    if (gs_safetensors_recognise(bytes, size)) return false;
    return gs_torch_file_recognise(bytes, size) || gs_pickle_recognise(bytes, size) ||
           gs_torch_refuse_old(bytes, size, "", NULL) != GS_OK;
}

static enum gs_status open_safetensors(struct gs_tensor_file *file, const unsigned char *bytes,
                                       size_t size, struct gs_error *error) {
    file->format = "safetensors";
    enum gs_status status =
        gs_safetensors_open_bytes(bytes, size, file->path, &file->safetensors, error);
    return status == GS_OK ? list_safetensors(file, error) : status;
}

static enum gs_status open_format(struct gs_tensor_file *file, const unsigned char *bytes,
                                  size_t size, struct gs_error *error) {
    if (gs_safetensors_recognise(bytes, size)) return open_safetensors(file, bytes, size, error);
    enum gs_status status = gs_torch_refuse_old(bytes, size, file->path, error);
    if (status == GS_OK) status = refuse_others(bytes, size, error);
    if (status != GS_OK) return status;
    if (gs_zip_recognise(bytes, size)) return open_torch(file, bytes, size, error);
    if (gs_pickle_recognise(bytes, size)) return open_pickle(file, bytes, size, error);
    return open_safetensors(file, bytes, size, error);
}

static enum gs_status open_bytes(struct gs_tensor_file *file, const unsigned char *bytes,
                                 size_t size, const struct gs_tensor_file_options *options,
                                 struct gs_error *error) {
    if (options) file->source.void_is_bfloat16 = options->void_is_bfloat16;
    enum gs_status status = open_format(file, bytes, size, error);
    if (status == GS_OK && options && options->map)
        status = gs_name_map_apply(options->map, &file->list, &file->left_out, error);
    return say_file(file, status, error);
}

static enum gs_status create(const char *path, struct gs_tensor_file **file,
                             struct gs_error *error) {
    *file = gs_calloc(1, sizeof **file);
    if (!*file) return gs_fail_memory(error, sizeof **file, "a checkpoint");
    (*file)->path = gs_strdup(path);
    return (*file)->path ? GS_OK : gs_fail_memory(error, strlen(path), "a path");
}

enum gs_status gs_tensor_file_open_bytes(const unsigned char *bytes, size_t size, const char *path,
                                         const struct gs_tensor_file_options *options,
                                         struct gs_tensor_file **file, struct gs_error *error) {
    struct gs_tensor_file *opened;
    enum gs_status status = create(path, &opened, error);
    if (status == GS_OK) status = open_bytes(opened, bytes, size, options, error);
    if (status == GS_OK)
        *file = opened;
    else
        gs_tensor_file_close(opened);
    return status;
}

enum gs_status gs_tensor_file_open(const char *path, const struct gs_tensor_file_options *options,
                                   struct gs_tensor_file **file, struct gs_error *error) {
    struct gs_tensor_file *opened;
    enum gs_status status = create(path, &opened, error);
    if (status == GS_OK) status = gs_file_map(path, &opened->mapped, error);
    if (status == GS_OK)
        status = open_bytes(opened, opened->mapped.bytes, opened->mapped.size, options, error);
    if (status == GS_OK)
        *file = opened;
    else
        gs_tensor_file_close(opened);
    return status;
}

/* ---- looking in -------------------------------------------------------------------------------
 */

const char *gs_tensor_file_format(const struct gs_tensor_file *file) {
    return file->format;
}

size_t gs_tensor_file_count(const struct gs_tensor_file *file) {
    return file->list.count;
}

const struct gs_stored_tensor *gs_tensor_file_at(const struct gs_tensor_file *file, size_t index) {
    return index < file->list.count ? &file->list.tensors[index] : NULL;
}

const struct gs_tensor_list *gs_tensor_file_list(const struct gs_tensor_file *file) {
    return &file->list;
}

size_t gs_tensor_file_left_out(const struct gs_tensor_file *file) {
    return file->left_out;
}

const char *gs_tensor_file_metadata(const struct gs_tensor_file *file, const char *key) {
    return file->safetensors ? gs_safetensors_metadata(file->safetensors, key) : NULL;
}

struct gs_tensor_source *gs_tensor_file_source(struct gs_tensor_file *file) {
    return file->source.pickle ? &file->source : NULL;
}

bool gs_tensor_file_number(struct gs_tensor_file *file, const char *key, int64_t *number) {
    if (!file->source.pickle) return false;
    const struct gs_pickle_value *root = gs_tensor_dict(gs_pickle_root(file->source.pickle));
    return gs_tensor_whole(&file->source, gs_pickle_get(root, key), number);
}

enum gs_status gs_tensor_file_read(struct gs_tensor_file *file,
                                   const struct gs_stored_tensor *tensor, float *values,
                                   struct gs_error *error) {
    struct gs_stored_tensor loaded = *tensor;
    enum gs_status status = GS_OK;
    if (loaded.is_tensor && !loaded.bytes && file->torch)
        status = gs_torch_file_load(file->torch, &loaded, error);
    if (status == GS_OK) status = gs_stored_tensor_read(&loaded, values, error);
    const unsigned char *mapped = file->mapped.bytes;
    if (status == GS_OK && mapped && !file->torch && loaded.bytes >= mapped &&
        loaded.bytes < mapped + file->mapped.size) {
        size_t begin = (size_t)(loaded.bytes - mapped);
        gs_file_release(&file->mapped, begin, begin + loaded.span);
    }
    return say_file(file, status, error);
}
