/* Every entry of a safetensors file. */
#include "core/checkpoint/safetensors.h"
#include "core/base/memory.h"
#include "tests/fuzz/target.h"

/* An entry of float16 is twice as large in memory; the header's JSON costs far more than its text.
 */
const struct gs_fuzz_limits gs_fuzz_limits = {200, 1 << 20, false};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct gs_safetensors *file = NULL;
    struct gs_error error = {0};
    gs_fuzz_begin(size);
    if (gs_fuzz_status(gs_safetensors_open_bytes(bytes, size, "x", &file, &error), &error)) {
        for (size_t i = 0; i < gs_safetensors_count(file); i++) {
            const struct gs_safetensors_entry *entry = gs_safetensors_at(file, i);
            float *values = gs_calloc(entry->count, sizeof *values);
            if (!values) gs_fuzz_fault("an entry is larger than memory");
            gs_fuzz_status(gs_safetensors_read(file, entry, values, &error), &error);
            gs_free(values);
            if (gs_safetensors_find(file, entry->name) != entry) gs_fuzz_fault("an entry is lost");
        }
        gs_safetensors_metadata(file, "gpnscope.config");
    }
    gs_safetensors_close(file);
    gs_fuzz_end();
    return 0;
}
