/* A trace: every value, as gpnscope check reads it, and names and rows as analyses do. */
#include "core/base/memory.h"
#include "probes/trace/reader.h"
#include "tests/fuzz/target.h"

/* HDF5 keeps up to a megabyte of each dataset's chunks, and deflate unpacks 1032 times. */
const struct gs_fuzz_limits gs_fuzz_limits = {1032 + 200, 64 << 20, true};

static void read_some(struct gs_trace *trace) {
    const struct gs_trace_info *info = gs_trace_info(trace);
    struct gs_error error = {0};
    for (size_t s = 0; s < info->stream_count; s++) {
        size_t width = info->streams[s].width, count;
        float *values = gs_calloc(width, sizeof *values);
        if (!values) gs_fuzz_fault("a row is larger than memory");
        count = info->rows ? 1 : 0;
        gs_fuzz_status(gs_trace_read_state(trace, s, 0, count, values, &error), &error);
        gs_free(values);
    }
    for (size_t i = 0; i < info->sequences && i < 100; i++) {
        char *name = NULL;
        gs_fuzz_status(gs_trace_sequence_name(trace, i, &name, &error), &error);
        gs_free(name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const char *path = gs_fuzz_file(bytes, size);
    struct gs_trace *trace = NULL;
    struct gs_error error = {0};
    gs_fuzz_begin(size);
    if (gs_fuzz_status(gs_trace_open(path, &trace, &error), &error)) {
        read_some(trace);
        gs_fuzz_status(gs_trace_check(trace, NULL, &error), &error);
    }
    gs_trace_close(trace);
    gs_fuzz_end();
    return 0;
}
