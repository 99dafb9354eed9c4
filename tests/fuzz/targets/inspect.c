/* A file of any kind, as gpnscope info and check look into it. */
#include "probes/inspect/check.h"
#include "probes/inspect/describe.h"
#include "tests/fuzz/target.h"

const struct gs_fuzz_limits gs_fuzz_limits = {64 * (128 + 4), 160 << 20, true};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const char *path = gs_fuzz_file(bytes, size);
    struct gs_results *results = NULL;
    struct gs_error error = {0};
    char summary[512];
    gs_fuzz_begin(size);
    gs_fuzz_status(gs_describe_file(path, &results, &error), &error);
    gs_results_destroy(results);
    gs_fuzz_status(gs_check_file(path, NULL, summary, sizeof summary, &error), &error);
    gs_fuzz_end();
    return 0;
}
