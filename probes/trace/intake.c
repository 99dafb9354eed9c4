#include "probes/trace/intake.h"

#include "core/base/memory.h"
#include "probes/trace/narrow.h"

#include <string.h>

enum {
    PIECE_BYTES = 64 * 1024,
    WAITING_BYTES = 32 * 1024 * 1024, /* of all datasets: full, and may wait for the next block */
    PARALLEL_BYTES = 256 * 1024,      /* below that threads do not pay */
    START_BYTES = 2 * 1024 * 1024     /* on their way to the disk at a time */
};

/* Rows of one sequence and chunk: where they come from and go. */
struct piece {
    size_t sequence, row, count; /* row: in the dataset */
    uint64_t step;               /* of the first */
    const float *values;
    void *to;
};

/* Rows of a block on their way into their dataset. Threads take pieces in turn and copy them; one
 * thread writes chunks that were full before as long as there are pieces for the others. Only that
 * thread touches the column meanwhile. */
struct intake {
    struct gs_trace_writer *writer;
    struct gs_trace_lane *lane;
    size_t stride; /* of rows, in floats */
    struct piece *pieces;
    size_t count;
    size_t next; /* piece to copy */
    enum gs_status status;
    size_t failed; /* the first piece that failed; `count` when a write did */
    struct gs_error error;
};

/* ---- rows of a piece ---- */

static enum gs_status fail_value(const struct intake *in, const struct piece *piece, size_t row,
                                 size_t column, float value, const char *expected,
                                 struct gs_error *error) {
    gs_fail(error, GS_NUMERIC, "a value that a trace may not hold");
    gs_error_expected(error, "%s", expected);
    gs_error_found(error, "%g", (double)value);
    gs_error_where(error, "%s, %s, sequence %zu, step %llu, column %zu", in->writer->path,
                   gs_column_path(in->lane->column), piece->sequence,
                   (unsigned long long)(piece->step + row), column);
    return GS_NUMERIC;
}

static enum gs_status fail_rule(const struct intake *in, const struct piece *piece, size_t row,
                                size_t column, float value, struct gs_error *error) {
    return fail_value(in, piece, row, column, value, gs_value_rule_text(in->lane->rule), error);
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

static enum gs_status fail_narrow(const struct intake *in, const struct piece *piece, size_t row,
                                  size_t column, float value, struct gs_error *error) {
    bool brain = in->lane->brain;
    fail_value(in, piece, row, column, value,
               brain ? "a value within bfloat16" : "a value within float16 (± 65504)", error);
    gs_error_next(error, "record with --dtype f32%s", brain ? "" : " or bf16");
    return GS_NUMERIC;
}

/* Rows of a sequence stand far apart in a block: the processor does not foresee the next ones. */
static void fetch_ahead(const struct intake *in, const struct piece *piece, size_t row) {
    const size_t line = 16, most = 1024, width = gs_column_width(in->lane->column);
    row += 1 + 8 * line / width;
    if (row >= piece->count) return;
    const float *values = piece->values + row * in->stride;
    for (size_t j = 0; j < width && j < most; j += line) __builtin_prefetch(values + j);
}

static enum gs_status copy_narrow(const struct intake *in, const struct piece *piece,
                                  struct gs_error *error) {
    const size_t width = gs_column_width(in->lane->column);
    uint16_t *to = piece->to;
    for (size_t r = 0; r < piece->count; r++) {
        const float *row = piece->values + r * in->stride;
        fetch_ahead(in, piece, r);
        size_t fault = gs_value_first_fault(in->lane->rule, row, width);
        if (fault < width) return fail_rule(in, piece, r, fault, row[fault], error);
        fault = narrow_row(in->lane, row, width, to + r * width);
        if (fault < width) return fail_narrow(in, piece, r, fault, row[fault], error);
    }
    return GS_OK;
}

/* Rows of the piece where nll says nothing, and any value may stand. */
static size_t free_rows(const struct intake *in, const struct piece *piece) {
    const struct gs_trace_writer *writer = in->writer;
    if (in->lane - writer->lanes != writer->nll || piece->step >= writer->nll_first) return 0;
    size_t rows = (size_t)(writer->nll_first - piece->step);
    return rows < piece->count ? rows : piece->count;
}

/* Copied, then checked in one go. */
static enum gs_status copy_floats(const struct intake *in, const struct piece *piece,
                                  struct gs_error *error) {
    const size_t width = gs_column_width(in->lane->column), count = piece->count * width;
    float *to = piece->to;
    for (size_t r = 0; r < piece->count; r++) {
        fetch_ahead(in, piece, r);
        memcpy(to + r * width, piece->values + r * in->stride, width * sizeof *to);
    }
    size_t fault = free_rows(in, piece) * width;
    fault += gs_value_first_fault(in->lane->rule, to + fault, count - fault);
    if (fault == count) return GS_OK;
    return fail_rule(in, piece, fault / width, fault % width, to[fault], error);
}

/* ---- pieces of a block ---- */

static enum gs_status copy_piece(const struct intake *in, const struct piece *piece,
                                 struct gs_error *error) {
    bool narrow = gs_column_element(in->lane->column) < sizeof *piece->values;
    return narrow ? copy_narrow(in, piece, error) : copy_floats(in, piece, error);
}

static size_t row_bytes(const struct gs_column *column) {
    return gs_column_width(column) * gs_column_element(column);
}

/* Rows of a piece at most: a size that several threads can share. */
static size_t piece_rows(const struct gs_column *column) {
    return PIECE_BYTES / row_bytes(column) + 1;
}

/* The next `count` rows of a sequence, cut at the chunks' borders and to that size. */
static enum gs_status cut(struct intake *in, size_t sequence, size_t count, const float *values,
                          struct gs_error *error) {
    struct gs_column *column = in->lane->column;
    size_t most = piece_rows(column);
    uint64_t step = in->lane->next[sequence];
    while (count > 0) {
        struct piece *piece = &in->pieces[in->count++];
        *piece = (struct piece){
            sequence, (size_t)(in->writer->start[sequence] + step), 0, step, values, NULL};
        piece->to = gs_column_room(column, piece->row, count < most ? count : most, &piece->count);
        if (!piece->to)
            return gs_fail_memory(error, most * row_bytes(column), "a chunk of the trace");
        count -= piece->count;
        step += piece->count;
        values += piece->count * in->stride;
    }
    return GS_OK;
}

/* ---- copying and writing ---- */

/* Of failures the first piece's is kept, so that it does not depend on threads. */
static void keep_failure(struct intake *in, size_t piece, enum gs_status status,
                         const struct gs_error *error) {
#pragma omp critical(gs_intake)
    if (in->status == GS_OK || piece < in->failed) {
        in->status = status;
        in->failed = piece;
        in->error = *error;
    }
}

static void copy_pieces(struct intake *in) {
    for (;;) {
        struct gs_error error;
        size_t i;
#pragma omp atomic capture
        i = in->next++;
        if (i >= in->count) return;
        enum gs_status status = copy_piece(in, &in->pieces[i], &error);
        if (status != GS_OK) keep_failure(in, i, status, &error);
    }
}

static bool all_taken(struct intake *in) {
    size_t next;
#pragma omp atomic read
    next = in->next;
    return next >= in->count;
}

enum gs_status gs_trace_write_some(struct gs_trace_writer *writer, struct gs_trace_lane *lane,
                                   struct gs_error *error) {
    size_t full = gs_column_full_bytes(lane->column);
    enum gs_status status = gs_column_write_some(lane->column, error);
    writer->unflushed += full - gs_column_full_bytes(lane->column);
    if (status != GS_OK) {
        writer->broken = true;
    } else if (writer->unflushed - writer->started >= START_BYTES) {
        gs_h5_start_writing(writer->h5);
        writer->started = writer->unflushed;
    }
    return status;
}

/* While others have rows to copy. */
static void write_meanwhile(struct intake *in) {
    struct gs_error error;
    enum gs_status status = GS_OK;
    while (status == GS_OK && !all_taken(in) &&
           gs_column_full_bytes(in->lane->column) >= GS_COLUMN_RUN_BYTES)
        status = gs_trace_write_some(in->writer, in->lane, &error);
    if (status != GS_OK) keep_failure(in, in->count, status, &error);
}

static size_t waiting_bytes(const struct gs_trace_writer *writer) {
    size_t bytes = 0;
    for (size_t i = 0; i < writer->lane_count; i++)
        bytes += gs_column_full_bytes(writer->lanes[i].column);
    return bytes;
}

/* The rows are there; not too many chunks may wait. */
static enum gs_status enter(struct intake *in, struct gs_error *error) {
    struct gs_trace_writer *writer = in->writer;
    struct gs_column *column = in->lane->column;
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < in->count; i++) {
        const struct piece *piece = &in->pieces[i];
        gs_column_filled(column, piece->row, piece->count);
        in->lane->next[piece->sequence] += piece->count;
        gs_trace_touch(writer, piece->sequence);
    }
    while (status == GS_OK && gs_column_full_bytes(column) > 0 &&
           waiting_bytes(writer) > WAITING_BYTES)
        status = gs_trace_write_some(writer, in->lane, error);
    return status;
}

/* All pieces. */
static enum gs_status take_pieces(struct intake *in, struct gs_error *error) {
    size_t rows = 0, width = gs_column_width(in->lane->column);
    for (size_t i = 0; i < in->count; i++) rows += in->pieces[i].count;
    bool many = in->count > 1 && rows * width * sizeof(float) >= PARALLEL_BYTES;
#pragma omp parallel if (many)
    {
#pragma omp single nowait
        write_meanwhile(in);
        copy_pieces(in);
    }
    if (in->status == GS_OK) return enter(in, error);
    if (error) *error = in->error;
    return in->status;
}

/* Rows from … from + most - 1 of each sequence of the block. */
static enum gs_status take_slice(struct gs_trace_writer *writer, struct gs_trace_lane *lane,
                                 const struct gs_trace_block *block, size_t from, size_t most,
                                 struct gs_error *error) {
    /* of a sequence at most: these rows are in no more than two chunks, each with a last piece */
    const size_t pieces = most / piece_rows(lane->column) + 2, all = block->batch * pieces;
    struct intake in = {.writer = writer, .lane = lane, .stride = block->stride};
    in.pieces = gs_calloc(all, sizeof *in.pieces);
    if (!in.pieces) return gs_fail_memory(error, all * sizeof *in.pieces, "rows of the trace");
    enum gs_status status = GS_OK;
    for (size_t b = 0; status == GS_OK && b < block->batch; b++) {
        size_t count = gs_trace_rows_of(block, b);
        count = count > from ? count - from : 0;
        status = cut(&in, block->first + b, count < most ? count : most,
                     block->values + b * block->batch_stride + from * block->stride, error);
    }
    if (status == GS_OK) status = take_pieces(&in, error);
    gs_free(in.pieces);
    return status;
}

/* No more than a chunk of each sequence at a time, so that few chunks are held. */
enum gs_status gs_trace_take_in(struct gs_trace_writer *writer, struct gs_trace_lane *lane,
                                const struct gs_trace_block *block, struct gs_error *error) {
    size_t longest = 0, most = gs_column_chunk_rows(lane->column);
    enum gs_status status = GS_OK;
    for (size_t b = 0; b < block->batch; b++)
        if (gs_trace_rows_of(block, b) > longest) longest = gs_trace_rows_of(block, b);
    for (size_t from = 0; status == GS_OK && from < longest; from += most)
        status = take_slice(writer, lane, block, from, most, error);
    return status;
}
