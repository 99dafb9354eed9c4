/* The parameters of a model out of a checkpoint's tensors. */
#include "core/checkpoint/read_parameters.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/checkpoint/which_model.h"

#include <math.h>
#include <string.h>

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

static enum gs_status check_shape(const char *path, const struct gs_stored_tensor *entry,
                                  const struct gs_tensor *tensor, struct gs_error *error) {
    if (entry->rank == tensor->rank &&
        memcmp(entry->shape, tensor->shape, tensor->rank * sizeof tensor->shape[0]) == 0)
        return GS_OK;
    char expected[128], found[256];
    gs_shape_text(tensor->shape, tensor->rank, expected, sizeof expected);
    gs_shape_text(entry->shape, entry->rank, found, sizeof found);
    gs_fail(error, GS_SHAPE, "a tensor of the checkpoint has the wrong shape");
    gs_error_expected(error, "%s", expected);
    gs_error_found(error, "%s", found);
    gs_error_where(error, "%s: tensor \"%.200s\"", path, entry->name);
    return GS_SHAPE;
}

static enum gs_status check_finite(const char *path, const struct gs_stored_tensor *entry,
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

/* What is being read, and where to. */
struct reading {
    const char *path;
    struct gs_tensor_file *file;
    const struct gs_model *model;
    struct gs_parameters *target;
    size_t wrapper;
    bool *seen;
};

/* One entry of the file into its parameter. */
static enum gs_status read_parameter(const struct reading *reading,
                                     const struct gs_stored_tensor *entry, struct gs_error *error) {
    struct gs_parameters *parameters = reading->target;
    const struct gs_model *model = reading->model;
    const char *path = reading->path;
    struct gs_tensor *tensor =
        gs_parameters_find(parameters, gs_model_own_name(model, entry->name + reading->wrapper));
    if (!tensor && !entry->is_tensor) return GS_OK; /* an object that nobody misses */
    if (!tensor) return fail_unknown(path, entry->name, parameters, gs_model_kind(model), error);
    bool *mark = &reading->seen[tensor - parameters->tensors];
    if (*mark) {
        gs_fail(error, GS_FORMAT, "the checkpoint holds a parameter twice under two names");
        gs_error_found(error, "\"%.200s\" is \"%s\"", entry->name, tensor->name);
        gs_error_where(error, "%s", path);
        return GS_FORMAT;
    }
    *mark = true;
    enum gs_status status = entry->is_tensor ? check_shape(path, entry, tensor, error)
                                             : GS_OK; /* read says what it is */
    if (status == GS_OK) status = gs_tensor_file_read(reading->file, entry, tensor->values, error);
    if (status == GS_OK) status = check_finite(path, entry, tensor->values, error);
    return status;
}

enum gs_status gs_checkpoint_read_list(const char *path, struct gs_tensor_file *file,
                                       const struct gs_tensor_list *list, size_t wrapper,
                                       const struct gs_model *model, struct gs_parameters *target,
                                       struct gs_error *error) {
    bool *seen = gs_calloc(target->tensor_count, sizeof *seen);
    if (!seen) return gs_fail_memory(error, target->tensor_count, "a list of parameters");
    const struct reading reading = {path, file, model, target, wrapper, seen};
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < list->count && status == GS_OK; i++)
        status = read_parameter(&reading, &list->tensors[i], error);
    if (status == GS_OK) status = check_missing(path, target, seen, gs_model_kind(model), error);
    gs_free(seen);
    return status;
}

enum gs_status gs_checkpoint_read_parameters(const char *path, struct gs_tensor_file *file,
                                             const struct gs_model *model, struct gs_error *error) {
    return gs_checkpoint_read_list(path, file, gs_tensor_file_list(file),
                                   gs_wrapper_of(file, model), model, gs_model_parameters(model),
                                   error);
}
