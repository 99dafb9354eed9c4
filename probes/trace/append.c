/* Rows on their way into a trace: checked, narrowed, copied into their chunks by all threads. */
#include "core/base/memory.h"
#include "probes/trace/narrow.h"
#include "probes/trace/trace_being_written.h"

#include <string.h>

static enum gs_status fail_value(const struct gs_trace_writer *writer,
                                 const struct gs_trace_lane *lane, size_t sequence, uint64_t step,
                                 size_t column, float value, const char *expected,
                                 struct gs_error *error) {
    gs_fail(error, GS_NUMERIC, "a value that a trace may not hold");
    gs_error_expected(error, "%s", expected);
    gs_error_found(error, "%g", (double)value);
    gs_error_where(error, "%s, %s, sequence %zu, step %llu, column %zu", writer->path,
                   gs_column_path(lane->column), sequence, (unsigned long long)step, column);
    return GS_NUMERIC;
}

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

/* Narrow one row into `bits`; the index of what became infinite, `width` when nothing did. */
static size_t narrow_row(const struct gs_trace_lane *lane, const float *row, size_t width,
                         uint16_t *bits) {
    uint16_t infinity = lane->brain ? 0x7f80u : 0x7c00u;
    (lane->brain ? gs_bf16_from_f32s : gs_f16_from_f32s)(row, width, bits);
    for (size_t j = 0; j < width; j++)
        if ((bits[j] & 0x7fffu) >= infinity) return j;
    return width;
}

/* One row of floats, checked by the lane's rule, into its chunk. */
static enum gs_status put_row(const struct gs_trace_writer *writer,
                              const struct gs_trace_lane *lane, size_t sequence, uint64_t step,
                              const float *row, void *to, struct gs_error *error) {
    size_t width = gs_column_width(lane->column);
    bool free_row = (int)(lane - writer->lanes) == writer->nll && step < writer->nll_first;
    enum gs_value_rule rule = free_row ? GS_VALUE_ANY : lane->rule;
    size_t fault = gs_value_first_fault(rule, row, width);
    if (fault < width)
        return fail_value(writer, lane, sequence, step, fault, row[fault], gs_value_rule_text(rule),
                          error);
    if (gs_column_element(lane->column) == sizeof *row) {
        memcpy(to, row, width * sizeof *row);
        return GS_OK;
    }
    fault = narrow_row(lane, row, width, to);
    if (fault == width) return GS_OK;
    fail_value(writer, lane, sequence, step, fault, row[fault],
               lane->brain ? "a value within bfloat16" : "a value within float16 (± 65504)", error);
    gs_error_next(error, "record with --dtype f32%s", lane->brain ? "" : " or bf16");
    return GS_NUMERIC;
}

static void touch(struct gs_trace_writer *writer, size_t sequence) {
    if (sequence + 1 > writer->above) writer->above = sequence + 1;
    if (sequence < writer->lowest) writer->lowest = sequence;
}

/* ---- a block of rows ---- */

/* Rows of one sequence and chunk: where they come from and go. */
struct piece {
    size_t sequence, row, count; /* row: in the dataset */
    uint64_t step;               /* of the first */
    const float *values;
    size_t stride;
    unsigned char *to;
};

/* Pieces of a block as they are collected. */
struct pieces {
    struct piece *list;
    size_t count, limit;
};

enum {
    PIECE_BYTES = 64 * 1024,
    PARALLEL_BYTES = 256 * 1024,   /* below that threads do not pay */
    START_BYTES = 16 * 1024 * 1024 /* on their way to the disk at a time */
};

static size_t row_bytes(const struct gs_trace_lane *lane) {
    return gs_column_width(lane->column) * gs_column_element(lane->column);
}

static enum gs_status add_piece(struct pieces *pieces, const struct piece *piece,
                                struct gs_error *error) {
    if (pieces->count == pieces->limit) {
        size_t limit = pieces->limit ? 2 * pieces->limit : 64;
        struct piece *list = gs_calloc(limit, sizeof *list);
        if (!list) return gs_fail_memory(error, limit * sizeof *list, "rows of the trace");
        if (pieces->count) memcpy(list, pieces->list, pieces->count * sizeof *list);
        gs_free(pieces->list);
        pieces->list = list;
        pieces->limit = limit;
    }
    pieces->list[pieces->count++] = *piece;
    return GS_OK;
}

/* The next `count` rows of a sequence, cut at the chunks' borders and to a size that several
 * threads can share. */
static enum gs_status cut(const struct gs_trace_writer *writer, struct gs_trace_lane *lane,
                          size_t sequence, size_t count, const float *values, size_t stride,
                          struct pieces *pieces, struct gs_error *error) {
    uint64_t step = lane->next[sequence];
    size_t most = PIECE_BYTES / row_bytes(lane) + 1;
    enum gs_status status = GS_OK;
    while (status == GS_OK && count > 0) {
        size_t row = (size_t)(writer->start[sequence] + step), granted;
        struct piece piece = {sequence, row, 0, step, values, stride, NULL};
        piece.to = gs_column_room(lane->column, row, count < most ? count : most, &granted);
        if (!piece.to) return gs_fail_memory(error, most * row_bytes(lane), "a chunk of the trace");
        piece.count = granted;
        status = add_piece(pieces, &piece, error);
        count -= granted;
        step += granted;
        values += granted * stride;
    }
    return status;
}

static enum gs_status put_piece(const struct gs_trace_writer *writer,
                                const struct gs_trace_lane *lane, const struct piece *piece,
                                struct gs_error *error) {
    enum gs_status status = GS_OK;
    size_t bytes = row_bytes(lane);
    for (size_t r = 0; status == GS_OK && r < piece->count; r++)
        status = put_row(writer, lane, piece->sequence, piece->step + r,
                         piece->values + r * piece->stride, piece->to + r * bytes, error);
    return status;
}

/* All pieces, by all threads. The first one's error is kept, so that it does not depend on them. */
static enum gs_status put_pieces(const struct gs_trace_writer *writer,
                                 const struct gs_trace_lane *lane, const struct pieces *pieces,
                                 struct gs_error *error) {
    enum gs_status status = GS_OK;
    size_t failed = pieces->count, rows = 0;
    for (size_t i = 0; i < pieces->count; i++) rows += pieces->list[i].count;
    bool many = pieces->count > 1 && rows * row_bytes(lane) >= PARALLEL_BYTES;
#pragma omp parallel for schedule(dynamic) if (many)
    for (size_t i = 0; i < pieces->count; i++) {
        struct gs_error own;
        enum gs_status put = put_piece(writer, lane, &pieces->list[i], &own);
        if (put == GS_OK) continue;
#pragma omp critical(gs_append_error)
        if (i < failed) {
            failed = i;
            status = put;
            if (error) *error = own;
        }
    }
    return status;
}

static enum gs_status write_full(struct gs_trace_writer *writer, struct gs_trace_lane *lane,
                                 struct gs_error *error) {
    enum gs_status status = gs_column_write_full(lane->column, &writer->unflushed, error);
    if (status != GS_OK) writer->broken = true;
    if (status == GS_OK && writer->unflushed - writer->started >= START_BYTES) {
        gs_h5_start_writing(writer->h5);
        writer->started = writer->unflushed;
    }
    return status;
}

static enum gs_status finish_pieces(struct gs_trace_writer *writer, struct gs_trace_lane *lane,
                                    const struct pieces *pieces, struct gs_error *error) {
    for (size_t i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->list[i];
        gs_column_filled(lane->column, piece->row, piece->count);
        lane->next[piece->sequence] += piece->count;
        touch(writer, piece->sequence);
    }
    return write_full(writer, lane, error);
}

/* Rows from … from + most - 1 of each sequence of the block. */
static enum gs_status append_slice(struct gs_trace_writer *writer, struct gs_trace_lane *lane,
                                   const struct gs_trace_block *block, size_t from, size_t most,
                                   struct gs_error *error) {
    struct pieces pieces = {NULL, 0, 0};
    enum gs_status status = GS_OK;
    for (size_t b = 0; status == GS_OK && b < block->batch; b++) {
        size_t count = block->counts ? block->counts[b] : block->rows;
        count = count > from ? count - from : 0;
        status = cut(writer, lane, block->first + b, count < most ? count : most,
                     block->values + b * block->batch_stride + from * block->stride, block->stride,
                     &pieces, error);
    }
    if (status == GS_OK) status = put_pieces(writer, lane, &pieces, error);
    if (status == GS_OK) status = finish_pieces(writer, lane, &pieces, error);
    gs_free(pieces.list);
    return status;
}

/* No more than a chunk of each sequence at a time, so that few chunks are held. */
static enum gs_status append(struct gs_trace_writer *writer, size_t index,
                             const struct gs_trace_block *block, struct gs_error *error) {
    struct gs_trace_lane *lane = &writer->lanes[index];
    size_t longest = block->counts ? 0 : block->rows, most = gs_column_chunk_rows(lane->column);
    enum gs_status status = GS_OK;
    for (size_t b = 0; status == GS_OK && b < block->batch; b++) {
        size_t count = block->counts ? block->counts[b] : block->rows;
        status = check_room(writer, lane, block->first + b, count, error);
        if (count > longest) longest = count;
    }
    for (size_t from = 0; status == GS_OK && from < longest; from += most)
        status = append_slice(writer, lane, block, from, most, error);
    return status;
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
        touch(writer, sequence);
        ids += granted;
        count -= granted;
    }
    return status == GS_OK ? write_full(writer, lane, error) : status;
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
