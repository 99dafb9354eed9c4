#include "tests/fuzz/targets/tensors.h"

#include "core/base/memory.h"
#include "core/checkpoint/training_state.h"

static void read_all(struct gs_tensor_file *file) {
    struct gs_error error = {0};
    for (size_t i = 0; i < gs_tensor_file_count(file); i++) {
        const struct gs_stored_tensor *tensor = gs_tensor_file_at(file, i);
        if (!tensor->is_tensor) continue;
        float *values = gs_calloc(tensor->count, sizeof *values);
        if (!values) gs_fuzz_fault("a tensor is larger than memory");
        gs_fuzz_status(gs_tensor_file_read(file, tensor, values, &error), &error);
        gs_free(values);
    }
}

void gs_fuzz_tensors(const uint8_t *bytes, size_t size,
                     const struct gs_tensor_file_options *options) {
    struct gs_tensor_file *file = NULL;
    struct gs_error error = {0};
    int64_t step;
    if (!gs_fuzz_status(gs_tensor_file_open_bytes(bytes, size, "x", options, &file, &error),
                        &error))
        return;
    read_all(file);
    gs_tensor_file_number(file, "step", &step);
    gs_training_state_recognise(file);
    gs_tensor_file_metadata(file, "gpnscope.config");
    gs_tensor_file_close(file);
}
