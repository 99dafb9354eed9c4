/* JSON: what is read is written, and read again it is written the same. */
#include "core/base/json.h"
#include "core/base/memory.h"
#include "tests/fuzz/target.h"

#include <string.h>

const struct gs_fuzz_limits gs_fuzz_limits = {512, 1 << 20, false};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct gs_json *json = NULL, *again = NULL;
    struct gs_error error = {0};
    gs_fuzz_begin(size);
    if (gs_fuzz_status(gs_json_parse((const char *)bytes, size, "x", &json, &error), &error)) {
        char *text = gs_json_text(json, 0), *same = NULL;
        if (!text || gs_json_parse(text, strlen(text), "x", &again, &error) != GS_OK ||
            !(same = gs_json_text(again, 0)) || strcmp(text, same) != 0)
            gs_fuzz_fault("JSON that was written is not read as the same");
        gs_free(text);
        gs_free(same);
    }
    gs_json_destroy(again);
    gs_json_destroy(json);
    gs_fuzz_end();
    return 0;
}
