/* Reading rows of an open trace, each value held against the rules of the format. */
#include "probes/trace/reader.h"

#include "core/base/memory.h"
#include "core/base/progress.h"
#include "core/base/utf8.h"
#include "probes/trace/narrow.h"
#include "probes/trace/trace_file.h"
#include "probes/trace/values.h"

#include <stdio.h>
#include <string.h>

enum {
    PIECE_BYTES = 4 * 1024 * 1024, /* read at a time in a check of everything */
    CACHE_BYTES = 256 * 1024       /* what a thread reads and then checks */
};

const struct gs_trace_info *gs_trace_info(const struct gs_trace *trace) {
    return &trace->info;
}

/* ---- finding ---- */

/* "no stream X; there are a, b": `names` are `stride` bytes apart. */
static enum gs_status fail_find(const struct gs_trace *trace, const char *what, const char *name,
                                const char *names, size_t stride, size_t count,
                                struct gs_error *error) {
    char list[200] = "none";
    size_t used = 0;
    for (size_t i = 0; i < count && used + GS_TRACE_NAME + 8 < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                                 names + i * stride);
    if (name)
        gs_fail(error, GS_MISSING, "no %s named \"%s\"", what, name);
    else
        gs_fail(error, GS_MISSING, "no %s in the trace", what);
    gs_error_found(error, "%s", list);
    gs_error_where(error, "%s", trace->path);
    return GS_MISSING;
}

static bool has_stream(const struct gs_trace_info *info, const char *name, size_t *index) {
    for (*index = 0; *index < info->stream_count; ++*index)
        if (strcmp(info->streams[*index].name, name) == 0) return true;
    return false;
}

enum gs_status gs_trace_find_stream(const struct gs_trace *trace, const char *name, size_t *index,
                                    struct gs_error *error) {
    static const char *const usual[] = {"predicted", "final"};
    const struct gs_trace_info *info = &trace->info;
    if (name && has_stream(info, name, index)) return GS_OK;
    for (size_t i = 0; !name && i < sizeof usual / sizeof *usual; i++)
        if (has_stream(info, usual[i], index)) return GS_OK;
    *index = 0;
    if (!name) return GS_OK; /* at least one is there */
    return fail_find(trace, "state stream", name, info->streams[0].name, sizeof *info->streams,
                     info->stream_count, error);
}

enum gs_status gs_trace_find_memory(const struct gs_trace *trace, const char *name, size_t *index,
                                    struct gs_error *error) {
    const struct gs_trace_info *info = &trace->info;
    *index = 0;
    if (!name && info->memory_count > 0) return GS_OK;
    for (size_t i = 0; name && i < info->memory_count; i++) {
        *index = i;
        if (strcmp(info->memories[i].name, name) == 0) return GS_OK;
    }
    *index = 0;
    return fail_find(trace, "memory", name, info->memory_count ? info->memories[0].name : "",
                     sizeof *info->memories, info->memory_count, error);
}

/* ---- which rows may be read ---- */

/* The last sequence that begins at or before `row`. */
static size_t sequence_of(const struct gs_trace_info *info, uint64_t row) {
    size_t low = 0, high = info->sequences;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (info->start[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static enum gs_status check_rows(const struct gs_trace *trace, uint64_t first, size_t count,
                                 const char *dataset, struct gs_error *error) {
    const struct gs_trace_info *info = &trace->info;
    if (first > info->rows || count > info->rows - first) {
        gs_fail(error, GS_RANGE, "rows outside the trace");
        gs_error_expected(error, "rows below %llu", (unsigned long long)info->rows);
        gs_error_found(error, "%zu rows from row %llu on", count, (unsigned long long)first);
        gs_error_where(error, "%s, %s", trace->path, dataset);
        return GS_RANGE;
    }
    if (count == 0) return GS_OK;
    for (size_t i = sequence_of(info, first); i < info->sequences; i++) {
        if (info->start[i] >= first + count) break;
        uint64_t end = info->start[i + 1] < first + count ? info->start[i + 1] : first + count;
        uint64_t written = info->start[i] + info->rows_written[i];
        if (end <= written) continue;
        gs_fail(error, GS_RANGE, "rows that were not written: the recording stopped before them");
        gs_error_expected(error, "rows below %llu of sequence %zu", (unsigned long long)written, i);
        gs_error_found(error, "%zu rows from row %llu on", count, (unsigned long long)first);
        gs_error_where(error, "%s, %s", trace->path, dataset);
        return GS_RANGE;
    }
    return GS_OK;
}

/* ---- values ---- */

static enum gs_status fail_value(const struct gs_trace *trace, const char *dataset, uint64_t row,
                                 size_t column, double value, const char *expected,
                                 struct gs_error *error) {
    gs_fail(error, GS_RANGE, "a value that a trace may not hold");
    gs_error_expected(error, "%s", expected);
    gs_error_found(error, "%g", value);
    gs_error_where(error, "%s, %s, row %llu, column %zu", trace->path, dataset,
                   (unsigned long long)row, column);
    return GS_RANGE;
}

static enum gs_status check_values(const struct gs_trace *trace, const char *dataset,
                                   enum gs_value_rule rule, uint64_t first, size_t count,
                                   size_t width, const float *values, struct gs_error *error) {
    size_t fault = gs_value_first_fault(rule, values, count * width);
    if (fault == count * width) return GS_OK;
    return fail_value(trace, dataset, first + fault / width, fault % width, (double)values[fault],
                      gs_value_rule_text(rule), error);
}

static enum gs_status fail_missing(const struct gs_trace *trace, const char *dataset,
                                   struct gs_error *error) {
    gs_fail(error, GS_MISSING, "the trace has no such dataset");
    gs_error_where(error, "%s, %s", trace->path, dataset);
    return GS_MISSING;
}

/* Rows as floats: as they are, or bfloat16 as it stands in HDF5 1.10, the bits as uint16. */
static enum gs_status read_plain(struct gs_h5_data *data, uint64_t first, size_t count,
                                 float *values, struct gs_error *error) {
    if (gs_h5_data_shape(data)->family != GS_H5_INTEGER)
        return gs_h5_data_f32(data, (size_t)first, count, values, error);
    size_t width = gs_h5_data_shape(data)->row, piece = CACHE_BYTES / sizeof *values / width + 1;
    uint16_t *bits = gs_calloc(piece * width, sizeof *bits);
    if (!bits) return gs_fail_memory(error, piece * width * sizeof *bits, "rows of a stream");
    enum gs_status status = GS_OK;
    for (size_t row = 0; status == GS_OK && row < count; row += piece) {
        size_t rows = count - row < piece ? count - row : piece;
        status = gs_h5_data_u16(data, (size_t)first + row, rows, bits, error);
        if (status == GS_OK) gs_bf16_to_f32s(bits, rows * width, values + row * width);
    }
    gs_free(bits);
    return status;
}

static enum gs_status read_checked(const struct gs_trace *trace, struct gs_h5_data *data,
                                   const char *dataset, enum gs_value_rule rule, uint64_t first,
                                   size_t count, float *values, struct gs_error *error) {
    enum gs_status status = read_plain(data, first, count, values, error);
    if (status != GS_OK) return status;
    return check_values(trace, dataset, rule, first, count, gs_h5_data_shape(data)->row, values,
                        error);
}

/* The same in pieces by all threads, each checked while it is in the thread's cache. The first
 * piece that fails is gone through again for its error. */
static enum gs_status read_side_by_side(const struct gs_trace *trace, struct gs_h5_data *data,
                                        const char *dataset, enum gs_value_rule rule,
                                        uint64_t first, size_t count, size_t piece, float *values,
                                        struct gs_error *error) {
    size_t width = gs_h5_data_shape(data)->row, failed = count;
#pragma omp parallel for schedule(dynamic) reduction(min : failed)
    for (size_t row = 0; row < count; row += piece) {
        size_t rows = count - row < piece ? count - row : piece;
        if (read_checked(trace, data, dataset, rule, first + row, rows, values + row * width,
                         NULL) != GS_OK &&
            row < failed)
            failed = row;
    }
    if (failed == count) return GS_OK;
    size_t rows = count - failed < piece ? count - failed : piece;
    return read_checked(trace, data, dataset, rule, first + failed, rows, values + failed * width,
                        error);
}

/* Floats of a dataset, checked. */
static enum gs_status read_floats(struct gs_trace *trace, struct gs_h5_data *data,
                                  const char *dataset, enum gs_value_rule rule, uint64_t first,
                                  size_t count, float *values, struct gs_error *error) {
    enum gs_status status = check_rows(trace, first, count, dataset, error);
    if (status != GS_OK) return status;
    size_t width = gs_h5_data_shape(data)->row, piece = CACHE_BYTES / sizeof *values / width + 1;
    if (gs_h5_data_is_direct(data) && count >= 2 * piece)
        return read_side_by_side(trace, data, dataset, rule, first, count, piece, values, error);
    return read_checked(trace, data, dataset, rule, first, count, values, error);
}

bool gs_trace_state_is_direct(const struct gs_trace *trace, size_t stream) {
    return stream < trace->info.stream_count && gs_h5_data_is_direct(trace->states[stream]);
}

bool gs_trace_memory_is_direct(const struct gs_trace *trace, size_t memory,
                               enum gs_memory_field field) {
    if (memory >= trace->info.memory_count) return false;
    const struct gs_h5_data *data = trace->gates[memory * GS_MEMORY_FIELDS + field];
    return data && gs_h5_data_is_direct(data);
}

enum gs_status gs_trace_read_state(struct gs_trace *trace, size_t stream, uint64_t first,
                                   size_t count, float *values, struct gs_error *error) {
    char dataset[GS_TRACE_NAME + 16];
    if (stream >= trace->info.stream_count) return fail_missing(trace, "state/…", error);
    struct gs_h5_data *data = trace->states[stream];
    snprintf(dataset, sizeof dataset, "state/%s", trace->streams[stream].name);
    return read_floats(trace, data, dataset, GS_VALUE_FINITE, first, count, values, error);
}

enum gs_status gs_trace_read_memory(struct gs_trace *trace, size_t memory,
                                    enum gs_memory_field field, uint64_t first, size_t count,
                                    float *values, struct gs_error *error) {
    char dataset[GS_TRACE_NAME + 32];
    if (memory >= trace->info.memory_count) return fail_missing(trace, "memory/…", error);
    struct gs_h5_data *data = trace->gates[memory * GS_MEMORY_FIELDS + field];
    snprintf(dataset, sizeof dataset, "memory/%s/%s", trace->memories[memory].name,
             gs_memory_field_name(field));
    if (!data) return fail_missing(trace, dataset, error);
    return read_floats(trace, data, dataset, gs_memory_field_rule(field), first, count, values,
                       error);
}

enum gs_status gs_trace_read_share(struct gs_trace *trace, size_t read, uint64_t first,
                                   size_t count, float *values, struct gs_error *error) {
    char dataset[GS_TRACE_NAME + 16];
    if (read >= trace->info.read_count) return fail_missing(trace, "read/…", error);
    snprintf(dataset, sizeof dataset, "read/%s/share", trace->reads[read].name);
    return read_floats(trace, trace->shares[read], dataset, GS_VALUE_FINITE, first, count, values,
                       error);
}

enum gs_status gs_trace_read_token(struct gs_trace *trace, uint64_t first, size_t count,
                                   uint32_t *ids, struct gs_error *error) {
    if (!trace->token) return fail_missing(trace, "token", error);
    enum gs_status status = check_rows(trace, first, count, "token", error);
    if (status == GS_OK) status = gs_h5_data_u32(trace->token, (size_t)first, count, ids, error);
    size_t vocab = trace->info.vocab;
    if (status != GS_OK || vocab == 0) return status;
    char expected[64];
    snprintf(expected, sizeof expected, "a token id below %zu (vocab_size)", vocab);
    for (size_t i = 0; i < count; i++)
        if (ids[i] >= vocab)
            return fail_value(trace, "token", first + i, 0, ids[i], expected, error);
    return GS_OK;
}

/* Beyond the first rows of each sequence nll is finite. */
static enum gs_status check_nll(const struct gs_trace *trace, uint64_t first, size_t count,
                                const float *nll, struct gs_error *error) {
    const struct gs_trace_info *info = &trace->info;
    for (size_t i = sequence_of(info, first); i < info->sequences; i++) {
        if (info->start[i] >= first + count) break;
        uint64_t end = info->start[i + 1], head = info->start[i] + info->nll_first;
        if (head < first) head = first;
        if (end > first + count) end = first + count;
        if (head >= end) continue;
        enum gs_status status = check_values(trace, "nll", GS_VALUE_FINITE, head,
                                             (size_t)(end - head), 1, nll + (head - first), error);
        if (status != GS_OK) return status;
    }
    return GS_OK;
}

enum gs_status gs_trace_read_nll(struct gs_trace *trace, uint64_t first, size_t count, float *nll,
                                 struct gs_error *error) {
    if (!trace->nll) return fail_missing(trace, "nll", error);
    enum gs_status status =
        read_floats(trace, trace->nll, "nll", GS_VALUE_ANY, first, count, nll, error);
    return status == GS_OK ? check_nll(trace, first, count, nll, error) : status;
}

enum gs_status gs_trace_sequence_name(struct gs_trace *trace, size_t sequence, char **name,
                                      struct gs_error *error) {
    *name = NULL;
    if (!trace->names) return GS_OK;
    return gs_h5_data_text(trace->names, sequence, name, error);
}

/* ---- every value ---- */

/* One dataset as gs_trace_check goes through it. */
struct sweep {
    enum { TOKEN, NLL, STATE, GATE, SHARE } what;
    size_t index;
    enum gs_memory_field field;
    size_t width;
};

static enum gs_status read_piece(struct gs_trace *trace, const struct sweep *sweep, uint64_t first,
                                 size_t count, void *room, struct gs_error *error) {
    switch (sweep->what) {
    case TOKEN:
        return gs_trace_read_token(trace, first, count, room, error);
    case NLL:
        return gs_trace_read_nll(trace, first, count, room, error);
    case STATE:
        return gs_trace_read_state(trace, sweep->index, first, count, room, error);
    case GATE:
        return gs_trace_read_memory(trace, sweep->index, sweep->field, first, count, room, error);
    case SHARE:
        break;
    }
    return gs_trace_read_share(trace, sweep->index, first, count, room, error);
}

/* The next stretch of rows, from `row` on, that are all written; empty at the end of the file. */
static void next_stretch(const struct gs_trace_info *info, uint64_t row, uint64_t *first,
                         uint64_t *end) {
    size_t i = row < info->rows ? sequence_of(info, row) : info->sequences;
    *first = *end = row;
    for (; i < info->sequences; i++) {
        uint64_t written = info->start[i] + info->rows_written[i];
        if (*end == *first) *first = *end = info->start[i] > row ? info->start[i] : row;
        if (written > *end) *end = written;
        if (written < info->start[i + 1] && *end > *first) return;
    }
}

static enum gs_status sweep_dataset(struct gs_trace *trace, const struct sweep *sweep, double done,
                                    double total, const struct gs_progress *progress,
                                    struct gs_error *error) {
    size_t piece = PIECE_BYTES / sizeof(float) / sweep->width;
    if (piece == 0) piece = 1;
    void *room = gs_calloc(piece * sweep->width, sizeof(float));
    if (!room) return gs_fail_memory(error, PIECE_BYTES, "rows of the trace");
    enum gs_status status = GS_OK;
    uint64_t row = 0, end = 0;
    for (next_stretch(&trace->info, 0, &row, &end); status == GS_OK && row < end;) {
        size_t count = end - row < piece ? (size_t)(end - row) : piece;
        status = read_piece(trace, sweep, row, count, room, error);
        row += count;
        gs_progress_report(progress, done + (double)row, total, NULL);
        if (gs_progress_stop(progress)) status = gs_fail(error, GS_INTERRUPTED, "stopped");
        if (row == end) next_stretch(&trace->info, row, &row, &end);
    }
    gs_free(room);
    return status;
}

static enum gs_status check_names(struct gs_trace *trace, struct gs_error *error) {
    for (size_t i = 0; trace->names && i < trace->info.sequences; i++) {
        char *name;
        enum gs_status status = gs_trace_sequence_name(trace, i, &name, error);
        if (status != GS_OK) return status;
        bool good = gs_utf8_valid(name, strlen(name)) == strlen(name);
        gs_free(name);
        if (good) continue;
        gs_fail(error, GS_FORMAT, "a name that is not UTF-8");
        gs_error_where(error, "%s, sequence/name, row %zu", trace->path, i);
        return GS_FORMAT;
    }
    return GS_OK;
}

/* All datasets in the order in which faults are to be told. Returns how many. */
static size_t list_sweeps(const struct gs_trace *trace, struct sweep *sweeps) {
    const struct gs_trace_info *info = &trace->info;
    size_t count = 0;
    if (trace->token) sweeps[count++] = (struct sweep){.what = TOKEN, .width = 1};
    if (trace->nll) sweeps[count++] = (struct sweep){.what = NLL, .width = 1};
    for (size_t i = 0; i < info->stream_count; i++)
        sweeps[count++] =
            (struct sweep){.what = STATE, .index = i, .width = info->streams[i].width};
    for (size_t i = 0; i < info->memory_count; i++)
        for (int field = 0; field < GS_MEMORY_FIELDS; field++)
            if (info->memories[i].has[field])
                sweeps[count++] =
                    (struct sweep){GATE, i, (enum gs_memory_field)field, info->memories[i].heads};
    for (size_t i = 0; i < info->read_count; i++)
        sweeps[count++] = (struct sweep){.what = SHARE, .index = i, .width = info->reads[i].layers};
    return count;
}

enum gs_status gs_trace_check(struct gs_trace *trace, const struct gs_progress *progress,
                              struct gs_error *error) {
    const struct gs_trace_info *info = &trace->info;
    size_t most = 2 + info->stream_count + info->memory_count * GS_MEMORY_FIELDS + info->read_count;
    struct sweep *sweeps = gs_calloc(most, sizeof *sweeps);
    if (!sweeps) return gs_fail_memory(error, most * sizeof *sweeps, "datasets");
    size_t count = list_sweeps(trace, sweeps);
    enum gs_status status = check_names(trace, error);
    double rows = (double)info->rows;
    for (size_t i = 0; status == GS_OK && i < count; i++)
        status = sweep_dataset(trace, &sweeps[i], (double)i * rows, (double)count * rows, progress,
                               error);
    gs_free(sweeps);
    return status;
}
