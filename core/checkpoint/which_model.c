#include "core/checkpoint/which_model.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/checkpoint/model_config.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Values in all tensors of the file, which its size bounds. */
static size_t count_values(const struct gs_tensor_file *file) {
    size_t values = 0;
    for (size_t i = 0; i < gs_tensor_file_count(file); i++)
        if (!gs_add(values, gs_tensor_file_at(file, i)->count, &values)) return SIZE_MAX;
    return values;
}

static enum gs_status model_from_metadata(const char *path, const char *text, size_t values,
                                          struct gs_model **model, struct gs_error *error) {
    char where[512];
    snprintf(where, sizeof where, "%s: metadata \"%s\"", path, GS_CHECKPOINT_CONFIG);
    struct gs_json *config = NULL;
    enum gs_status status = gs_json_parse(text, strlen(text), where, &config, error);
    if (status == GS_OK) status = gs_model_from_config_within(config, where, values, model, error);
    gs_json_destroy(config);
    return status;
}

static enum gs_status model_from_file(const char *path, size_t values, struct gs_model **model,
                                      struct gs_error *error) {
    struct gs_json *config = NULL;
    enum gs_status status = gs_json_read_file(path, &config, error);
    if (status == GS_OK) status = gs_model_from_config_within(config, path, values, model, error);
    gs_json_destroy(config);
    return status;
}

/* Name and shape of an entry as a gs_tensor. */
static enum gs_status describe(const char *path, const struct gs_stored_tensor *entry,
                               struct gs_tensor *tensor, struct gs_error *error) {
    if (entry->rank < 1 || entry->rank > GS_MAX_RANK || strlen(entry->name) >= GS_PARAMETER_NAME) {
        gs_fail(error, GS_CONFIG, "the tensor cannot be a parameter of a model");
        gs_error_expected(error, "1 to %d dimensions and a name below %d bytes", GS_MAX_RANK,
                          GS_PARAMETER_NAME);
        gs_error_found(error, "%zu dimensions, %zu bytes", entry->rank, strlen(entry->name));
        gs_error_where(error, "%s: tensor \"%.200s\"", path, entry->name);
        return GS_CONFIG;
    }
    snprintf(tensor->name, sizeof tensor->name, "%s", entry->name);
    tensor->rank = entry->rank;
    tensor->count = entry->count;
    memcpy(tensor->shape, entry->shape, entry->rank * sizeof entry->shape[0]);
    return GS_OK;
}

/* Length of the prefix up to the last '.' that all names share; 0 for less than two names. */
static size_t shared_prefix(const struct gs_tensor_file *file) {
    const size_t count = gs_tensor_file_count(file);
    if (count < 2) return 0;
    const char *first = gs_tensor_file_at(file, 0)->name;
    size_t length = strlen(first);
    for (size_t i = 1; i < count; i++) {
        const char *name = gs_tensor_file_at(file, i)->name;
        size_t same = 0;
        while (same < length && name[same] == first[same]) same++;
        length = same;
    }
    while (length > 0 && first[length - 1] != '.') length--;
    return length;
}

size_t gs_wrapper_of(const struct gs_tensor_file *file, const struct gs_model *model) {
    const struct gs_parameters *parameters = gs_model_parameters(model);
    for (size_t i = 0; i < gs_tensor_file_count(file); i++)
        if (gs_parameters_find(parameters,
                               gs_model_own_name(model, gs_tensor_file_at(file, i)->name)))
            return 0;
    return shared_prefix(file);
}

static enum gs_status infer(const char *path, const struct gs_tensor_file *file, size_t wrapper,
                            struct gs_model **model, struct gs_error *error) {
    size_t entries = gs_tensor_file_count(file), count = 0;
    struct gs_tensor *tensors = gs_calloc(entries, sizeof *tensors);
    if (!tensors) return gs_fail_memory(error, entries * sizeof *tensors, "a list of tensors");
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < entries && status == GS_OK; i++) {
        struct gs_stored_tensor entry = *gs_tensor_file_at(file, i);
        if (!entry.is_tensor) continue; /* where it is missed, reading names it */
        entry.name += wrapper;
        status = describe(path, &entry, &tensors[count++], error);
    }
    if (status == GS_OK) status = gs_model_infer(tensors, count, model, error);
    gs_free(tensors);
    return status;
}

/* An object among the tensors may be the one that is missed. */
static void say_object(const struct gs_tensor_file *file, struct gs_error *error) {
    for (size_t i = 0; i < gs_tensor_file_count(file); i++) {
        const struct gs_stored_tensor *entry = gs_tensor_file_at(file, i);
        if (entry->is_tensor) continue;
        gs_error_next(error, "\"%.80s\" is no tensor but %.140s", entry->name, entry->type);
        return;
    }
}

/* With the names as they are, or without a wrapper's prefix. */
static enum gs_status model_from_shapes(const char *path, const struct gs_tensor_file *file,
                                        struct gs_model **model, struct gs_error *error) {
    const size_t wrapper = shared_prefix(file);
    if (wrapper && infer(path, file, wrapper, model, NULL) == GS_OK) return GS_OK;
    enum gs_status status = infer(path, file, 0, model, error);
    if (status == GS_OK || !error) return status;
    if (!error->where[0]) gs_error_where(error, "%s", path);
    say_object(file, error);
    if (!error->next[0])
        gs_error_next(error, "put the config.json of the training beside the file");
    return status;
}

/* The config beside the file, or that of the shapes. */
static enum gs_status model_without_metadata(const char *path, const struct gs_tensor_file *file,
                                             struct gs_model **model, const char **source,
                                             struct gs_error *error) {
    char *folder = gs_path_folder(path);
    char *beside = folder ? gs_path_join(folder, "config.json") : NULL;
    gs_free(folder);
    if (!beside) return gs_fail_memory(error, strlen(path), "a path");
    enum gs_status status;
    if (gs_path_exists(beside)) {
        *source = "config.json";
        status = model_from_file(beside, count_values(file), model, error);
    } else {
        *source = "shapes";
        status = model_from_shapes(path, file, model, error);
    }
    gs_free(beside);
    return status;
}

enum gs_status gs_which_model(const char *path, const struct gs_tensor_file *file,
                              const struct gs_given_config *given, struct gs_model **model,
                              const char **source, struct gs_error *error) {
    const char *text = gs_tensor_file_metadata(file, GS_CHECKPOINT_CONFIG);
    size_t values = count_values(file);
    if (given) {
        *source = "the config given";
        return gs_model_from_config_within(given->config, given->name, values, model, error);
    }
    if (!text) return model_without_metadata(path, file, model, source, error);
    *source = "metadata";
    return model_from_metadata(path, text, values, model, error);
}
