/* The JSON of a name map, on a small checkpoint of other names. */
#include "core/base/json.h"
#include "tests/core/checkpoint/hostile_bytes.h"
#include "tests/fuzz/targets/tensors.h"

#include <string.h>

const struct gs_fuzz_limits gs_fuzz_limits = {1024, 1 << 20, false};

static const char header[] =
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
    "\"b.weight\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[24,32]},"
    "\"c\":{\"dtype\":\"F32\",\"shape\":[1,1,1],\"data_offsets\":[32,36]}}";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct bytes file = {0};
    struct gs_error error = {0};
    struct gs_json *map = NULL;
    static const unsigned char zeros[36];
    put_count(&file, strlen(header), 8);
    put(&file, header, strlen(header));
    put(&file, zeros, sizeof zeros);
    gs_fuzz_begin(size);
    if (gs_fuzz_status(gs_json_parse((const char *)bytes, size, "map", &map, &error), &error)) {
        const struct gs_tensor_file_options options = {.map = map};
        gs_fuzz_tensors(file.at, file.size, &options);
    }
    gs_json_destroy(map);
    gs_fuzz_end();
    clear(&file);
    return 0;
}
