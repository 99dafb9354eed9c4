#include "analyses/stats/rows.h"

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
    return rows;
}

struct gs_rows gs_rows_of_memory(struct gs_trace *trace, size_t memory,
                                 enum gs_memory_field field) {
    struct gs_rows rows = of_trace(trace, memory, gs_trace_info(trace)->memories[memory].heads);
    rows.read = read_memory;
    rows.field = field;
    return rows;
}

struct gs_rows gs_rows_of_share(struct gs_trace *trace, size_t read) {
    struct gs_rows rows = of_trace(trace, read, gs_trace_info(trace)->reads[read].layers);
    rows.read = read_share;
    return rows;
}
