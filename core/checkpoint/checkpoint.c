#include "core/checkpoint/checkpoint.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/checkpoint/safetensors.h"
#include "core/checkpoint/which_model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char STEP_KEY[] = "gpnscope.step";
static const char SEED_KEY[] = "gpnscope.seed";

/* ---- its parameters ----------------------------------------------------------------------- */

static void shape_text(const size_t *shape, size_t rank, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "(");
    for (size_t i = 0; i < rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, i ? ", %zu" : "%zu", shape[i]);
    if (used < size) snprintf(text + used, size - used, ")");
}

static enum gs_status fail_unknown(const char *path, const char *name,
                                   const struct gs_parameters *parameters, const char *kind,
                                   struct gs_error *error) {
    gs_fail(error, GS_FORMAT, "the checkpoint holds a tensor that is no parameter of its model");
    gs_error_expected(error, "the %zu parameters of a %s", parameters->tensor_count, kind);
    gs_error_found(error, "\"%.200s\"", name);
    gs_error_where(error, "%s", path);
    const char **names = gs_calloc(parameters->tensor_count, sizeof *names);
    for (size_t i = 0; names && i < parameters->tensor_count; i++)
        names[i] = parameters->tensors[i].name;
    const char *nearest = names ? gs_nearest_name(name, names, parameters->tensor_count) : NULL;
    if (nearest) gs_error_next(error, "the nearest parameter is \"%s\"", nearest);
    gs_free(names);
    return GS_FORMAT;
}

static enum gs_status check_shape(const char *path, const struct gs_safetensors_entry *entry,
                                  const struct gs_tensor *tensor, struct gs_error *error) {
    if (entry->rank == tensor->rank &&
        memcmp(entry->shape, tensor->shape, tensor->rank * sizeof tensor->shape[0]) == 0)
        return GS_OK;
    char expected[128], found[256];
    shape_text(tensor->shape, tensor->rank, expected, sizeof expected);
    shape_text(entry->shape, entry->rank, found, sizeof found);
    gs_fail(error, GS_SHAPE, "a tensor of the checkpoint has the wrong shape");
    gs_error_expected(error, "%s", expected);
    gs_error_found(error, "%s", found);
    gs_error_where(error, "%s: tensor \"%.200s\"", path, entry->name);
    return GS_SHAPE;
}

static enum gs_status check_finite(const char *path, const struct gs_safetensors_entry *entry,
                                   const float *values, struct gs_error *error) {
    for (size_t i = 0; i < entry->count; i++) {
        if (isfinite(values[i])) continue;
        gs_fail(error, GS_RANGE, "a parameter of the checkpoint is not finite");
        gs_error_expected(error, "finite values");
        gs_error_found(error, "%g at index %zu", (double)values[i], i);
        gs_error_where(error, "%s: tensor \"%.200s\"", path, entry->name);
        return GS_RANGE;
    }
    return GS_OK;
}

static enum gs_status check_missing(const char *path, const struct gs_parameters *parameters,
                                    const bool *seen, const char *kind, struct gs_error *error) {
    for (size_t i = 0; i < parameters->tensor_count; i++) {
        if (seen[i]) continue;
        gs_fail(error, GS_MISSING, "the checkpoint lacks a parameter");
        gs_error_expected(error, "\"%s\" and the other parameters of a %s",
                          parameters->tensors[i].name, kind);
        gs_error_where(error, "%s", path);
        return GS_MISSING;
    }
    return GS_OK;
}

/* One entry of the file into its parameter. */
static enum gs_status read_parameter(const char *path, const struct gs_safetensors *file,
                                     const struct gs_safetensors_entry *entry,
                                     const struct gs_model *model, size_t wrapper, bool *seen,
                                     struct gs_error *error) {
    struct gs_parameters *parameters = gs_model_parameters(model);
    struct gs_tensor *tensor =
        gs_parameters_find(parameters, gs_model_own_name(model, entry->name + wrapper));
    if (!tensor) return fail_unknown(path, entry->name, parameters, gs_model_kind(model), error);
    bool *mark = &seen[tensor - parameters->tensors];
    if (*mark) {
        gs_fail(error, GS_FORMAT, "the checkpoint holds a parameter twice under two names");
        gs_error_found(error, "\"%.200s\" is \"%s\"", entry->name, tensor->name);
        gs_error_where(error, "%s", path);
        return GS_FORMAT;
    }
    *mark = true;
    enum gs_status status = check_shape(path, entry, tensor, error);
    if (status == GS_OK) status = gs_safetensors_read(file, entry, tensor->values, error);
    if (status == GS_OK) status = check_finite(path, entry, tensor->values, error);
    return status;
}

static enum gs_status read_parameters(const char *path, const struct gs_safetensors *file,
                                      const struct gs_model *model, struct gs_error *error) {
    const struct gs_parameters *parameters = gs_model_parameters(model);
    bool *seen = gs_calloc(parameters->tensor_count, sizeof *seen);
    if (!seen) return gs_fail_memory(error, parameters->tensor_count, "a list of parameters");
    const size_t wrapper = gs_wrapper_of(file, model);
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < gs_safetensors_count(file) && status == GS_OK; i++)
        status =
            read_parameter(path, file, gs_safetensors_at(file, i), model, wrapper, seen, error);
    if (status == GS_OK)
        status = check_missing(path, parameters, seen, gs_model_kind(model), error);
    gs_free(seen);
    return status;
}

/* ---- where it is ---------------------------------------------------------------------------- */

enum gs_status gs_checkpoint_file(const char *path, char **file, struct gs_error *error) {
    const bool folder = gs_path_is_folder(path);
    *file = folder ? gs_path_join(path, "model.safetensors") : gs_strdup(path);
    if (!*file) return gs_fail_memory(error, strlen(path), "a path");
    if (!folder || gs_path_exists(*file)) return GS_OK;
    char *index = gs_path_join(path, "model.safetensors.index.json");
    bool split = index && gs_path_exists(index);
    gs_free(index);
    gs_free(*file);
    *file = NULL;
    gs_fail(error, split ? GS_UNSUPPORTED : GS_MISSING,
            split ? "the checkpoint is split over several files"
                  : "the folder holds no checkpoint");
    gs_error_expected(error, "model.safetensors in the folder");
    gs_error_where(error, "%s", path);
    if (split)
        gs_error_next(error, "save it as one file: save_pretrained with a larger "
                             "max_shard_size");
    return split ? GS_UNSUPPORTED : GS_MISSING;
}

/* ---- load and save ------------------------------------------------------------------------ */

/* A whole number of the metadata; -1 when it is not said. */
static enum gs_status read_number(const char *path, const struct gs_safetensors *file,
                                  const char *key, int64_t *number, struct gs_error *error) {
    *number = -1;
    const char *text = gs_safetensors_metadata(file, key);
    if (!text) return GS_OK;
    char end = 0;
    if (sscanf(text, "%18" SCNd64 "%c", number, &end) == 1 && *number >= 0) return GS_OK;
    gs_fail(error, GS_FORMAT, "a number in the metadata cannot be read");
    gs_error_expected(error, "a whole number, 0 or more");
    gs_error_found(error, "\"%.60s\"", text);
    gs_error_where(error, "%s: metadata \"%s\"", path, key);
    return GS_FORMAT;
}

static enum gs_status read_info(const char *path, const struct gs_safetensors *file,
                                struct gs_checkpoint_info *info, struct gs_error *error) {
    enum gs_status status = read_number(path, file, STEP_KEY, &info->step, error);
    if (status == GS_OK) status = read_number(path, file, SEED_KEY, &info->seed, error);
    if (status == GS_OK) status = gs_sha256_path(path, info->sha256, error);
    return status;
}

static enum gs_status load(const char *path, struct gs_model **model,
                           struct gs_checkpoint_info *info, struct gs_error *error) {
    struct gs_safetensors *file = NULL;
    struct gs_model *loaded = NULL;
    const char *source = "";
    enum gs_status status = gs_safetensors_open(path, &file, error);
    if (status == GS_OK) status = gs_which_model(path, file, &loaded, &source, error);
    if (status == GS_OK) status = read_parameters(path, file, loaded, error);
    if (status == GS_OK && info) {
        memset(info, 0, sizeof *info);
        info->config_source = source;
        status = read_info(path, file, info, error);
    }
    gs_safetensors_close(file);
    if (status != GS_OK) {
        gs_model_destroy(loaded);
        return status;
    }
    *model = loaded;
    return GS_OK;
}

enum gs_status gs_checkpoint_load(const char *path, struct gs_model **model,
                                  struct gs_checkpoint_info *info, struct gs_error *error) {
    char *file = NULL;
    enum gs_status status = gs_checkpoint_file(path, &file, error);
    if (status == GS_OK) status = load(file, model, info, error);
    gs_free(file);
    return status;
}

enum gs_status gs_checkpoint_save(const char *path, bool force, const struct gs_model *model,
                                  int64_t step, int64_t seed, struct gs_error *error) {
    struct gs_json *config = gs_model_config(model);
    char *text = config ? gs_json_text(config, 0) : NULL;
    gs_json_destroy(config);
    if (!text) return gs_fail_memory(error, 0, "a config");
    char step_text[32], seed_text[32];
    const char *pairs[7] = {GS_CHECKPOINT_CONFIG, text};
    size_t used = 2;
    if (step >= 0) {
        snprintf(step_text, sizeof step_text, "%" PRId64, step);
        pairs[used++] = STEP_KEY;
        pairs[used++] = step_text;
    }
    if (seed >= 0) {
        snprintf(seed_text, sizeof seed_text, "%" PRId64, seed);
        pairs[used++] = SEED_KEY;
        pairs[used++] = seed_text;
    }
    enum gs_status status =
        gs_safetensors_write(path, force, gs_model_parameters(model), pairs, error);
    gs_free(text);
    return status;
}
