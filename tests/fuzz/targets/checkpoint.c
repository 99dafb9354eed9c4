/* A checkpoint of any format as a model: its config, from metadata or names and shapes, and its
 * parameters. */
#include "core/checkpoint/checkpoint.h"
#include "tests/fuzz/target.h"

/* As pickle.c, and the model: no larger than what the file holds, and some room for a comparison of
 * shapes. */
const struct gs_fuzz_limits gs_fuzz_limits = {64 * (128 + 4), 160 << 20, false};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const char *path = gs_fuzz_file(bytes, size);
    struct gs_checkpoint_info info;
    struct gs_model *model = NULL;
    struct gs_error error = {0};
    gs_fuzz_begin(size);
    gs_fuzz_status(gs_checkpoint_load(path, &model, &info, &error), &error);
    gs_model_destroy(model);
    gs_fuzz_end();
    return 0;
}
