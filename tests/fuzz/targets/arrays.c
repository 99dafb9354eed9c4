/* numpy's arrays, .npy and .npz: every number of every array. */
#include "core/base/memory.h"
#include "probes/arrays/array_file.h"
#include "tests/fuzz/target.h"

/* An entry of an archive unpacks to 1032 times its bytes at most. Where a directory goes on behind
 * the entries it tells of, libzip takes room for 65,536 more at once: two megabytes. */
const struct gs_fuzz_limits gs_fuzz_limits = {1032 + 200, 4 << 20, false};

static void read_numbers(const struct gs_npy *array) {
    enum { PIECE = 512 };
    struct gs_error error = {0};
    double wide[PIECE];
    float floats[PIECE];
    uint64_t whole[PIECE];
    for (size_t first = 0; first < array->count; first += PIECE) {
        size_t count = array->count - first < PIECE ? array->count - first : PIECE;
        if (array->family == GS_NPY_FLOAT || array->family == GS_NPY_RAW)
            gs_npy_f32(array, first, count, floats);
        if (array->family <= GS_NPY_RAW) gs_npy_f64(array, first, count, wide);
        if (array->family == GS_NPY_INTEGER)
            gs_fuzz_status(gs_npy_u64(array, first, count, 100000, "x", whole, &error), &error);
    }
}

static void read_texts(const struct gs_npy *array) {
    struct gs_error error = {0};
    for (size_t i = 0; i < array->count && i < 1000; i++) {
        char *text = NULL;
        gs_fuzz_status(gs_npy_text(array, i, "x", &text, &error), &error);
        gs_free(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct gs_array_file *file = NULL;
    struct gs_error error = {0};
    gs_fuzz_begin(size);
    if (gs_fuzz_status(gs_array_file_of_bytes(bytes, size, "x", &file, &error), &error)) {
        for (size_t i = 0; i < gs_array_file_count(file); i++) {
            if (gs_fuzz_status(gs_array_file_load(file, i, &error), &error)) {
                const struct gs_npy *array = gs_array_file_at(file, i);
                if (array->family == GS_NPY_TEXT)
                    read_texts(array);
                else
                    read_numbers(array);
            }
            gs_array_file_unload(file, i);
        }
    }
    gs_array_file_close(file);
    gs_fuzz_end();
    return 0;
}
