#include "probes/arrays/to_trace.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "probes/arrays/array_file.h"
#include "probes/arrays/import_parts.h"
#include "probes/trace/writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PIECE_BYTES = 1024 * 1024 };

/* ---- copying ---- */

/* States and gates of one piece of one sequence. */
struct piece {
    size_t sequence, step, count;
    uint64_t first; /* row of the file */
};

static enum gs_status fail_value(const struct gs_import_array *array, const struct piece *piece,
                                 size_t index, float value, struct gs_error *error) {
    gs_fail(error, GS_RANGE, "a value that a trace may not hold");
    gs_error_expected(error, "a finite number%s", isinf(value) ? " in the range of float32" : "");
    gs_error_found(error, isnan(value) ? "NaN" : value > 0 ? "Inf" : "-Inf");
    gs_error_where(error, "%s, sequence %zu, step %zu, column %zu", array->where, piece->sequence,
                   piece->step + index / array->width, index % array->width);
    return GS_RANGE;
}

/* What the writer found wrong with numbers that came from a file is the file's fault. */
static enum gs_status blame(enum gs_status status, const struct gs_import_array *array,
                            struct gs_error *error) {
    if (status != GS_NUMERIC) return status;
    if (error) error->status = GS_RANGE;
    gs_error_next(error, "the values come from %s", array->where);
    return GS_RANGE;
}

static enum gs_status append_floats(struct gs_trace_writer *writer,
                                    const struct gs_import_array *array, const struct piece *piece,
                                    float *values, struct gs_error *error) {
    size_t count = piece->count * array->width;
    gs_npy_f32(array->npy, (size_t)piece->first * array->width, count, values);
    for (size_t i = 0; array->place.role == GS_ROLE_STREAM && i < count; i++)
        if (!isfinite(values[i])) return fail_value(array, piece, i, values[i], error);
    switch (array->place.role) {
    case GS_ROLE_STREAM:
        return gs_trace_append_state(writer, array->target, piece->sequence, piece->count, values,
                                     array->width, error);
    case GS_ROLE_GATE:
        return gs_trace_append_memory(writer, array->target, array->place.field, piece->sequence,
                                      piece->count, values, array->width, error);
    case GS_ROLE_SHARE:
        return gs_trace_append_share(writer, array->target, piece->sequence, piece->count, values,
                                     array->width, error);
    default:
        return gs_trace_append_nll(writer, piece->sequence, piece->count, values, error);
    }
}

static enum gs_status append_ids(struct gs_trace_writer *writer,
                                 const struct gs_import_array *array, const struct piece *piece,
                                 uint64_t *wide, struct gs_error *error) {
    enum gs_status status = gs_npy_u64(array->npy, (size_t)piece->first, piece->count, UINT32_MAX,
                                       array->where, wide, error);
    if (status != GS_OK) return status;
    uint32_t *ids = (uint32_t *)(wide + piece->count);
    for (size_t i = 0; i < piece->count; i++) ids[i] = (uint32_t)wide[i];
    return gs_trace_append_token(writer, piece->sequence, piece->count, ids, error);
}

static enum gs_status append_piece(struct gs_import *import, struct gs_trace_writer *writer,
                                   const struct piece *piece, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < import->count; i++) {
        const struct gs_import_array *array = &import->arrays[i];
        if (array->place.role == GS_ROLE_TOKEN)
            status = append_ids(writer, array, piece, import->room, error);
        else if (array->place.role != GS_ROLE_START && array->place.role != GS_ROLE_NAME)
            status = append_floats(writer, array, piece, import->room, error);
        status = blame(status, array, error);
    }
    return status;
}

static enum gs_status copy(struct gs_import *import, struct gs_trace_writer *writer,
                           const struct gs_progress *progress, struct gs_error *error) {
    size_t most = PIECE_BYTES / sizeof(float) / import->widest, cells;
    if (most == 0) most = 1;
    /* floats of the widest array, or ids twice: as 64 and as 32 bits */
    if (!gs_multiply(most, import->widest + 3, &cells) ||
        !(import->room = gs_calloc(cells, sizeof(float))))
        return gs_fail_memory(error, most * import->widest, "rows of arrays");
    enum gs_status status = GS_OK;
    for (size_t sequence = 0; sequence < import->sequences; sequence++)
        for (uint64_t row = import->start[sequence]; row < import->start[sequence + 1];) {
            uint64_t left = import->start[sequence + 1] - row;
            struct piece piece = {sequence, (size_t)(row - import->start[sequence]),
                                  left < most ? (size_t)left : most, row};
            status = append_piece(import, writer, &piece, error);
            if (status == GS_OK) status = gs_trace_writer_flush_if_due(writer, error);
            if (status == GS_OK && gs_progress_stop(progress))
                status = gs_fail(error, GS_INTERRUPTED, "stopped");
            if (status != GS_OK) return status;
            row += piece.count;
            gs_progress_report(progress, (double)row, (double)import->rows, NULL);
        }
    return GS_OK;
}

/* ---- the whole ---- */

static enum gs_status write_trace(struct gs_import *import, const char *output,
                                  const struct gs_progress *progress, struct gs_error *error) {
    struct gs_trace_plan plan;
    struct gs_trace_writer *writer;
    enum gs_status status = gs_import_plan(import, &plan, error);
    if (status == GS_OK) status = gs_output_check(output, import->options->force, error);
    /* under a name of its own until it is whole */
    if (status == GS_OK) status = gs_trace_writer_create(output, true, &plan, &writer, error);
    if (status != GS_OK) return status;
    status = copy(import, writer, progress, error);
    if (status == GS_OK) return gs_trace_writer_close(writer, error);
    gs_trace_writer_abandon(writer, false);
    return status;
}

enum gs_status gs_arrays_to_trace(const struct gs_arrays_import *options, const char *output,
                                  struct gs_arrays_imported *imported,
                                  const struct gs_progress *progress, struct gs_error *error) {
    struct gs_import import = {.options = options};
    *imported = (struct gs_arrays_imported){0};
    enum gs_status status = gs_import_open(&import, error);
    if (status == GS_OK) status = gs_import_layout(&import, error);
    if (status == GS_OK) status = write_trace(&import, output, progress, error);
    if (status == GS_OK) {
        *imported = (struct gs_arrays_imported){
            .sequences = import.sequences, .streams = import.stream_count, .rows = import.rows};
        snprintf(imported->passed_over, sizeof imported->passed_over, "%s", import.passed_over);
    }
    gs_import_free(&import);
    return status;
}
