/* The config of a training run, and the model it describes, as an outline. */
#include "core/training/config.h"
#include "core/checkpoint/model_config.h"
#include "tests/fuzz/target.h"

const struct gs_fuzz_limits gs_fuzz_limits = {512, 4 << 20, false};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const char *path = gs_fuzz_file(bytes, size);
    struct gs_training_config *config = NULL;
    struct gs_model *model = NULL;
    struct gs_error error = {0};
    gs_fuzz_begin(size);
    if (gs_fuzz_status(gs_training_config_read(path, NULL, &config, &error), &error)) {
        enum gs_status status = gs_model_outline_from_config(config->object, "x", &model, &error);
        gs_fuzz_status(status, &error);
        gs_model_destroy(model);
    }
    gs_training_config_destroy(config);
    gs_fuzz_end();
    return 0;
}
