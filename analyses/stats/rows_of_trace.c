#include "analyses/stats/rows.h"
#include "core/base/memory.h"
#include "core/results/results.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum gs_status read_state(const struct gs_rows *rows, uint64_t first, size_t count,
                                 float *values, struct gs_error *error) {
    return gs_trace_read_state(rows->trace, rows->index, first, count, values, error);
}

static enum gs_status read_memory(const struct gs_rows *rows, uint64_t first, size_t count,
                                  float *values, struct gs_error *error) {
    return gs_trace_read_memory(rows->trace, rows->index, rows->field, first, count, values, error);
}

static enum gs_status read_share(const struct gs_rows *rows, uint64_t first, size_t count,
                                 float *values, struct gs_error *error) {
    return gs_trace_read_share(rows->trace, rows->index, first, count, values, error);
}

static struct gs_rows of_trace(struct gs_trace *trace, size_t index, size_t width) {
    const struct gs_trace_info *info = gs_trace_info(trace);
    return (struct gs_rows){.sequences = info->sequences,
                            .width = width,
                            .start = info->start,
                            .length = info->rows_written,
                            .trace = trace,
                            .index = index};
}

struct gs_rows gs_rows_of_state(struct gs_trace *trace, size_t stream) {
    struct gs_rows rows = of_trace(trace, stream, gs_trace_info(trace)->streams[stream].width);
    rows.read = read_state;
    rows.side_by_side = gs_trace_state_is_direct(trace, stream);
    return rows;
}

struct gs_rows gs_rows_of_memory(struct gs_trace *trace, size_t memory,
                                 enum gs_memory_field field) {
    struct gs_rows rows = of_trace(trace, memory, gs_trace_info(trace)->memories[memory].heads);
    rows.read = read_memory;
    rows.field = field;
    rows.side_by_side = gs_trace_memory_is_direct(trace, memory, field);
    return rows;
}

struct gs_rows gs_rows_of_share(struct gs_trace *trace, size_t read) {
    struct gs_rows rows = of_trace(trace, read, gs_trace_info(trace)->reads[read].layers);
    rows.read = read_share;
    return rows;
}

enum gs_status gs_rows_note_incomplete(const struct gs_trace *trace, struct gs_results *results,
                                       struct gs_error *error) {
    const struct gs_trace_info *info = gs_trace_info(trace);
    if (info->complete) return GS_OK;
    uint64_t written = 0;
    for (size_t s = 0; s < info->sequences; s++) written += info->rows_written[s];
    size_t size = strlen(info->path) + 128;
    char *text = gs_calloc(size, 1);
    if (!text) return gs_fail_memory(error, size, "a note");
    snprintf(text, size,
             "%s is not complete: its recording was cut short, and only the %" PRIu64 " of %" PRIu64
             " rows that are safely on disk are measured",
             info->path, written, info->rows);
    enum gs_status status = gs_results_note(results, text, error);
    gs_free(text);
    return status;
}
