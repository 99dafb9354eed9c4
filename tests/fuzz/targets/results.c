/* The results of a measurement: what is read is written, and that is read again. */
#include "core/results/results.h"
#include "core/base/json.h"
#include "tests/fuzz/target.h"

const struct gs_fuzz_limits gs_fuzz_limits = {1024, 1 << 20, false};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct gs_results *results = NULL, *again = NULL;
    struct gs_json *json = NULL, *written = NULL;
    struct gs_error error = {0};
    gs_fuzz_begin(size);
    if (gs_fuzz_status(gs_json_parse((const char *)bytes, size, "x", &json, &error), &error) &&
        gs_fuzz_status(gs_results_from_json(json, "x", &results, &error), &error)) {
        written = gs_results_json(results);
        if (!written || gs_results_from_json(written, "x", &again, &error) != GS_OK ||
            gs_results_count(again) != gs_results_count(results) ||
            gs_results_table_count(again) != gs_results_table_count(results))
            gs_fuzz_fault("results that were written are not read as the same");
    }
    gs_results_destroy(again);
    gs_results_destroy(results);
    gs_json_destroy(written);
    gs_json_destroy(json);
    gs_fuzz_end();
    return 0;
}
