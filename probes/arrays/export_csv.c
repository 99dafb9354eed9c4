/* A stream of a trace as comma-separated values. */
#include "core/base/memory.h"
#include "core/base/numbers.h"
#include "probes/arrays/export_parts.h"

#include <inttypes.h>
#include <math.h>

enum { FLOAT_DIGITS = 9 }; /* read back as the same float32 */

static void put_head(const struct gs_export *export, size_t width) {
    const struct gs_trace_info *info = gs_trace_info(export->trace);
    fprintf(export->stream, "row,sequence,step%s%s", info->has_token ? ",token" : "",
            info->has_nll ? ",nll" : "");
    for (size_t j = 0; j < width; j++) fprintf(export->stream, ",%zu", j);
    fputc('\n', export->stream);
}

static void put_number(FILE *stream, float value) {
    char text[GS_NUMBER_TEXT];
    fputc(',', stream);
    if (isfinite(value)) fputs(gs_number_short((double)value, FLOAT_DIGITS, text), stream);
}

/* Tokens and nll of as many rows as the states in export->room. */
struct beside {
    uint32_t *ids;
    float *nll;
};

static enum gs_status read_piece(struct gs_export *export, uint64_t first, size_t count,
                                 const struct beside *beside, struct gs_error *error) {
    const struct gs_trace_info *info = gs_trace_info(export->trace);
    enum gs_status status =
        gs_export_read(export, &export->datasets[0], first, count, export->room, error);
    if (status == GS_OK && info->has_token)
        status = gs_trace_read_token(export->trace, first, count, beside->ids, error);
    if (status == GS_OK && info->has_nll)
        status = gs_trace_read_nll(export->trace, first, count, beside->nll, error);
    return status;
}

static void put_rows(const struct gs_export *export, uint64_t first, size_t count,
                     const struct beside *beside, size_t *sequence) {
    const struct gs_trace_info *info = gs_trace_info(export->trace);
    size_t width = export->datasets[0].width;
    const float *states = export->room;
    for (size_t i = 0; i < count; i++) {
        uint64_t row = first + i;
        while (info->start[*sequence + 1] <= row) ++*sequence;
        fprintf(export->stream, "%" PRIu64 ",%zu,%" PRIu64, row, *sequence,
                row - info->start[*sequence]);
        if (info->has_token) fprintf(export->stream, ",%" PRIu32, beside->ids[i]);
        if (info->has_nll) put_number(export->stream, beside->nll[i]);
        for (size_t j = 0; j < width; j++) put_number(export->stream, states[i * width + j]);
        fputc('\n', export->stream);
    }
}

static enum gs_status put_all(struct gs_export *export, const struct beside *beside,
                              const struct gs_progress *progress, struct gs_error *error) {
    size_t sequence = 0;
    put_head(export, export->datasets[0].width);
    for (uint64_t row = export->first; row < export->end;) {
        uint64_t left = export->end - row;
        size_t count = left < export->piece ? (size_t)left : export->piece;
        enum gs_status status = read_piece(export, row, count, beside, error);
        if (status != GS_OK) return status;
        put_rows(export, row, count, beside, &sequence);
        status = gs_export_step(export, count, progress, error);
        if (status != GS_OK) return status;
        row += count;
    }
    return GS_OK;
}

enum gs_status gs_export_csv(struct gs_export *export, const struct gs_progress *progress,
                             struct gs_error *error) {
    struct beside beside = {gs_calloc(export->piece, sizeof *beside.ids),
                            gs_calloc(export->piece, sizeof *beside.nll)};
    enum gs_status status = beside.ids && beside.nll
                                ? put_all(export, &beside, progress, error)
                                : gs_fail_memory(error, export->piece * 8, "rows of the trace");
    gs_free(beside.ids);
    gs_free(beside.nll);
    return status;
}
