/* A pickle: its values one by one, and, as a checkpoint, its tensors. */
#include "core/checkpoint/pickle.h"
#include "tests/fuzz/targets/tensors.h"

/* 128 bytes for each of opcodes, 100,000 tensors' descriptions at most but no more than opcodes
 * name, and 4 bytes of float32 for each element of one byte. */
const struct gs_fuzz_limits gs_fuzz_limits = {1024, 4 << 20, false};

static void look(const struct gs_pickle_value *root) {
    char text[200];
    gs_pickle_describe(root, text, sizeof text);
    for (size_t i = 0; i < gs_pickle_count(root); i++)
        gs_pickle_describe(gs_pickle_at(root, i), text, sizeof text);
    gs_pickle_get(root, "params");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct gs_pickle *pickle = NULL;
    struct gs_error error = {0};
    size_t used = 0;
    gs_fuzz_begin(size);
    if (gs_fuzz_status(gs_pickle_parse(bytes, size, "x", &pickle, &used, &error), &error)) {
        if (used > size) gs_fuzz_fault("a pickle is longer than its bytes");
        look(gs_pickle_root(pickle));
    }
    gs_pickle_destroy(pickle);
    if (gs_tensor_file_recognise(bytes, size)) {
        const struct gs_tensor_file_options void_is = {.void_is_bfloat16 = true};
        gs_fuzz_tensors(bytes, size, NULL);
        gs_fuzz_tensors(bytes, size, &void_is);
    }
    gs_fuzz_end();
    return 0;
}
