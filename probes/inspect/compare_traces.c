/* A trace's datasets as named arrays. */
#include "core/base/memory.h"
#include "probes/inspect/compare_parts.h"
#include "probes/trace/reader.h"
#include "probes/trace/values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Which dataset a part is: the kind in the low digits, the index above. */
enum { START, TOKEN, NLL, STATE, SHARE, GATE, KINDS = GATE + GS_MEMORY_FIELDS };

static void read_start(const struct gs_trace_info *info, size_t first, size_t rows,
                       double *values) {
    for (size_t i = 0; i < rows; i++) values[i] = (double)info->start[first + i];
}

static enum gs_status read_token(struct gs_trace *trace, size_t first, size_t rows, double *values,
                                 struct gs_error *error) {
    uint32_t *ids = gs_calloc(rows, sizeof *ids);
    if (!ids) return gs_fail_memory(error, rows * sizeof *ids, "tokens");
    enum gs_status status = gs_trace_read_token(trace, first, rows, ids, error);
    for (size_t i = 0; status == GS_OK && i < rows; i++) values[i] = (double)ids[i];
    gs_free(ids);
    return status;
}

static enum gs_status read_floats(struct gs_trace *trace, size_t kind, size_t index, size_t first,
                                  size_t rows, float *values, struct gs_error *error) {
    if (kind == NLL) return gs_trace_read_nll(trace, first, rows, values, error);
    if (kind == STATE) return gs_trace_read_state(trace, index, first, rows, values, error);
    if (kind == SHARE) return gs_trace_read_share(trace, index, first, rows, values, error);
    return gs_trace_read_memory(trace, index, (enum gs_memory_field)(kind - GATE), first, rows,
                                values, error);
}

/* Nothing is predicted at the head of a sequence: there nll is no number. */
static enum gs_status read_part(struct gs_side *side, const struct gs_part *part, size_t first,
                                size_t rows, double *values, unsigned char *none,
                                struct gs_error *error) {
    struct gs_trace *trace = side->context;
    size_t kind = part->source % KINDS, count = rows * gs_part_row(part);
    if (kind == START) read_start(gs_trace_info(trace), first, rows, values);
    if (kind == START) return GS_OK;
    if (kind == TOKEN) return read_token(trace, first, rows, values, error);
    float *narrow = gs_calloc(count, sizeof *narrow);
    if (!narrow) return gs_fail_memory(error, count * sizeof *narrow, "rows of a trace");
    enum gs_status status =
        read_floats(trace, kind, part->source / KINDS, first, rows, narrow, error);
    for (size_t i = 0; status == GS_OK && i < count; i++) {
        values[i] = (double)narrow[i];
        none[i] = kind == NLL && isnan(narrow[i]);
    }
    gs_free(narrow);
    return status;
}

static void place_of(const struct gs_side *side, const struct gs_part *part, size_t index,
                     char *text, size_t size) {
    const struct gs_trace_info *info = gs_trace_info(side->context);
    size_t row = gs_part_row(part), at = index / row, sequence = 0;
    if (part->source % KINDS == START) {
        snprintf(text, size, "sequence %zu", at);
        return;
    }
    while (sequence + 1 < info->sequences && info->start[sequence + 1] <= at) sequence++;
    int used = snprintf(text, size, "row %zu (sequence %zu, step %zu)", at, sequence,
                        (size_t)(at - info->start[sequence]));
    if (part->rank > 1) snprintf(text + used, size - (size_t)used, ", column %zu", index % row);
}

static void close_trace(struct gs_side *side) {
    gs_trace_close(side->context);
}

static enum gs_status add(struct gs_side *side, const char *name, size_t kind, size_t index,
                          size_t width, struct gs_error *error) {
    const struct gs_trace_info *info = gs_trace_info(side->context);
    size_t shape[2] = {kind == START ? info->sequences + 1 : (size_t)info->rows, width};
    return gs_side_add(side, name, width ? 2 : 1, shape, index * KINDS + kind, error);
}

static enum gs_status add_memory(struct gs_side *side, size_t index, struct gs_error *error) {
    const struct gs_trace_memory *memory = &gs_trace_info(side->context)->memories[index];
    enum gs_status status = GS_OK;
    char name[GS_TRACE_NAME + 48];
    for (size_t field = 0; status == GS_OK && field < GS_MEMORY_FIELDS; field++) {
        if (!memory->has[field]) continue;
        snprintf(name, sizeof name, "memory/%s/%s", memory->name,
                 gs_memory_field_name((enum gs_memory_field)field));
        status = add(side, name, GATE + field, index, memory->heads, error);
    }
    return status;
}

static enum gs_status list_datasets(struct gs_side *side, struct gs_error *error) {
    const struct gs_trace_info *info = gs_trace_info(side->context);
    char name[GS_TRACE_NAME + 48];
    enum gs_status status = add(side, "sequence/start", START, 0, 0, error);
    if (status == GS_OK && info->has_token) status = add(side, "token", TOKEN, 0, 0, error);
    if (status == GS_OK && info->has_nll) status = add(side, "nll", NLL, 0, 0, error);
    for (size_t i = 0; status == GS_OK && i < info->stream_count; i++) {
        snprintf(name, sizeof name, "state/%s", info->streams[i].name);
        status = add(side, name, STATE, i, info->streams[i].width, error);
    }
    for (size_t i = 0; status == GS_OK && i < info->memory_count; i++)
        status = add_memory(side, i, error);
    for (size_t i = 0; status == GS_OK && i < info->read_count; i++) {
        snprintf(name, sizeof name, "read/%s/share", info->reads[i].name);
        status = add(side, name, SHARE, i, info->reads[i].layers, error);
    }
    return status;
}

enum gs_status gs_side_trace(struct gs_side *side, const char *path, struct gs_error *error) {
    struct gs_trace *trace;
    enum gs_status status = gs_trace_open(path, &trace, error);
    if (status != GS_OK) return status;
    side->context = trace;
    side->read = read_part;
    side->place = place_of;
    side->close = close_trace;
    side->config = gs_strdup(gs_trace_info(trace)->config);
    return list_datasets(side, error);
}
