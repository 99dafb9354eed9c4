/* Rows that arrive: is there room for them, and where do they belong? */
#include "probes/trace/intake.h"

#include <string.h>

/* May `count` more rows come? */
static enum gs_status check_room(const struct gs_trace_writer *writer,
                                 const struct gs_trace_lane *lane, size_t sequence, size_t count,
                                 struct gs_error *error) {
    if (sequence < writer->sequences) {
        uint64_t length = writer->start[sequence + 1] - writer->start[sequence];
        if (count <= length - lane->next[sequence]) return GS_OK;
        gs_fail(error, GS_RANGE, "more rows than sequence %zu has", sequence);
        gs_error_expected(error, "%llu rows", (unsigned long long)length);
        gs_error_found(error, "%zu rows after %llu", count,
                       (unsigned long long)lane->next[sequence]);
    } else {
        gs_fail(error, GS_RANGE, "no sequence %zu", sequence);
        gs_error_expected(error, "0 … %zu", writer->sequences - 1);
    }
    gs_error_where(error, "%s, %s", writer->path, gs_column_path(lane->column));
    return GS_RANGE;
}

static enum gs_status append(struct gs_trace_writer *writer, size_t index,
                             const struct gs_trace_block *block, struct gs_error *error) {
    struct gs_trace_lane *lane = &writer->lanes[index];
    enum gs_status status = GS_OK;
    for (size_t b = 0; status == GS_OK && b < block->batch; b++)
        status = check_room(writer, lane, block->first + b, gs_trace_rows_of(block, b), error);
    return status == GS_OK ? gs_trace_take_in(writer, lane, block, error) : status;
}

/* Token ids are copied as they are. */
static enum gs_status append_ids(struct gs_trace_writer *writer, size_t sequence, size_t count,
                                 const uint32_t *ids, struct gs_error *error) {
    struct gs_trace_lane *lane = &writer->lanes[writer->token];
    enum gs_status status = check_room(writer, lane, sequence, count, error);
    while (status == GS_OK && count > 0) {
        size_t row = (size_t)(writer->start[sequence] + lane->next[sequence]), granted;
        void *to = gs_column_room(lane->column, row, count, &granted);
        if (!to) return gs_fail_memory(error, count * sizeof *ids, "a chunk of the trace");
        memcpy(to, ids, granted * sizeof *ids);
        gs_column_filled(lane->column, row, granted);
        lane->next[sequence] += granted;
        gs_trace_touch(writer, sequence);
        ids += granted;
        count -= granted;
    }
    while (status == GS_OK && gs_column_full_bytes(lane->column) >= GS_COLUMN_RUN_BYTES)
        status = gs_trace_write_some(writer, lane, error);
    return status;
}

static enum gs_status fail_absent(const struct gs_trace_writer *writer, const char *what,
                                  struct gs_error *error) {
    gs_fail(error, GS_MISSING, "the trace was not planned to hold %s", what);
    gs_error_where(error, "%s", writer->path);
    return GS_MISSING;
}

/* One sequence as a block. */
static struct gs_trace_block alone(size_t sequence, size_t count, const float *values,
                                   size_t stride) {
    return (struct gs_trace_block){
        .first = sequence, .batch = 1, .rows = count, .values = values, .stride = stride};
}

enum gs_status gs_trace_append_state_block(struct gs_trace_writer *writer, size_t stream,
                                           const struct gs_trace_block *block,
                                           struct gs_error *error) {
    return append(writer, writer->first_stream + stream, block, error);
}

enum gs_status gs_trace_append_memory_block(struct gs_trace_writer *writer, size_t memory,
                                            enum gs_memory_field field,
                                            const struct gs_trace_block *block,
                                            struct gs_error *error) {
    int lane = memory < writer->memory_count ? writer->fields[memory * GS_MEMORY_FIELDS + field]
                                             : GS_NO_LANE;
    if (lane == GS_NO_LANE) return fail_absent(writer, gs_memory_field_name(field), error);
    return append(writer, (size_t)lane, block, error);
}

enum gs_status gs_trace_append_share_block(struct gs_trace_writer *writer, size_t read,
                                           const struct gs_trace_block *block,
                                           struct gs_error *error) {
    return append(writer, writer->first_read + read, block, error);
}

enum gs_status gs_trace_append_state(struct gs_trace_writer *writer, size_t stream, size_t sequence,
                                     size_t count, const float *values, size_t stride,
                                     struct gs_error *error) {
    struct gs_trace_block block = alone(sequence, count, values, stride);
    return gs_trace_append_state_block(writer, stream, &block, error);
}

enum gs_status gs_trace_append_memory(struct gs_trace_writer *writer, size_t memory,
                                      enum gs_memory_field field, size_t sequence, size_t count,
                                      const float *values, size_t stride, struct gs_error *error) {
    struct gs_trace_block block = alone(sequence, count, values, stride);
    return gs_trace_append_memory_block(writer, memory, field, &block, error);
}

enum gs_status gs_trace_append_share(struct gs_trace_writer *writer, size_t read, size_t sequence,
                                     size_t count, const float *values, size_t stride,
                                     struct gs_error *error) {
    struct gs_trace_block block = alone(sequence, count, values, stride);
    return gs_trace_append_share_block(writer, read, &block, error);
}

enum gs_status gs_trace_append_token(struct gs_trace_writer *writer, size_t sequence, size_t count,
                                     const uint32_t *ids, struct gs_error *error) {
    if (writer->token == GS_NO_LANE) return fail_absent(writer, "tokens", error);
    return append_ids(writer, sequence, count, ids, error);
}

enum gs_status gs_trace_append_nll(struct gs_trace_writer *writer, size_t sequence, size_t count,
                                   const float *nll, struct gs_error *error) {
    if (writer->nll == GS_NO_LANE) return fail_absent(writer, "nll", error);
    struct gs_trace_block block = alone(sequence, count, nll, 1);
    return append(writer, (size_t)writer->nll, &block, error);
}
