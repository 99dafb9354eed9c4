/* Checkpoints as named arrays: of a model that is known, or as they stand in the file. */
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/tensor_file.h"
#include "core/models/model.h"
#include "probes/inspect/compare_parts.h"

#include <string.h>

static enum gs_status read_parameter(struct gs_side *side, const struct gs_part *part, size_t first,
                                     size_t rows, double *values, unsigned char *none,
                                     struct gs_error *error) {
    (void)none, (void)error;
    const struct gs_model *model = side->context;
    size_t row = gs_part_row(part);
    const float *from = gs_model_parameters(model)->tensors[part->source].values + first * row;
    for (size_t i = 0; i < rows * row; i++) values[i] = (double)from[i];
    return GS_OK;
}

static void close_model(struct gs_side *side) {
    gs_model_destroy(side->context);
}

enum gs_status gs_side_model(struct gs_side *side, const char *path, struct gs_error *error) {
    struct gs_model *model;
    enum gs_status status = gs_checkpoint_load(path, &model, NULL, error);
    if (status != GS_OK) return status;
    side->context = model;
    side->read = read_parameter;
    side->close = close_model;
    struct gs_json *config = gs_model_config(model);
    side->config = config ? gs_json_text(config, 0) : NULL;
    gs_json_destroy(config);
    const struct gs_parameters *parameters = gs_model_parameters(model);
    for (size_t i = 0; status == GS_OK && i < parameters->tensor_count; i++) {
        const struct gs_tensor *tensor = &parameters->tensors[i];
        status = gs_side_add(side, tensor->name, tensor->rank, tensor->shape, i, error);
    }
    return status;
}

/* ---- tensors of a file ---- */

struct tensors {
    struct gs_tensor_file *file;
    float *values; /* of the tensor that is being read */
    size_t loaded; /* which that is; SIZE_MAX: none */
};

static enum gs_status read_tensor(struct gs_side *side, const struct gs_part *part, size_t first,
                                  size_t rows, double *values, unsigned char *none,
                                  struct gs_error *error) {
    (void)none;
    struct tensors *tensors = side->context;
    size_t row = gs_part_row(part);
    if (tensors->loaded != part->source) {
        gs_free(tensors->values);
        tensors->loaded = SIZE_MAX;
        tensors->values = gs_calloc(part->count, sizeof *tensors->values);
        if (!tensors->values) return gs_fail_memory(error, part->count * 4, part->name);
        enum gs_status status = gs_tensor_file_read(
            tensors->file, gs_tensor_file_at(tensors->file, part->source), tensors->values, error);
        if (status != GS_OK) return status;
        tensors->loaded = part->source;
    }
    for (size_t i = 0; i < rows * row; i++) values[i] = (double)tensors->values[first * row + i];
    return GS_OK;
}

static void close_tensors(struct gs_side *side) {
    struct tensors *tensors = side->context;
    gs_tensor_file_close(tensors->file);
    gs_free(tensors->values);
    gs_free(tensors);
}

enum gs_status gs_side_tensors(struct gs_side *side, const char *path, struct gs_error *error) {
    struct tensors *tensors = gs_calloc(1, sizeof *tensors);
    char *file = NULL;
    if (!tensors) return gs_fail_memory(error, sizeof *tensors, "tensors");
    tensors->loaded = SIZE_MAX;
    side->context = tensors;
    side->read = read_tensor;
    side->close = close_tensors;
    enum gs_status status = gs_checkpoint_file(path, &file, error);
    if (status == GS_OK) status = gs_tensor_file_open(file, NULL, &tensors->file, error);
    gs_free(file);
    for (size_t i = 0; status == GS_OK && i < gs_tensor_file_count(tensors->file); i++) {
        const struct gs_stored_tensor *tensor = gs_tensor_file_at(tensors->file, i);
        if (tensor->is_tensor)
            status = gs_side_add(side, tensor->name, tensor->rank, tensor->shape, i, error);
    }
    return status;
}
