#include "probes/arrays/from_trace.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "probes/arrays/export_parts.h"

#include <math.h>
#include <string.h>

/* ---- what goes out ---- */

static enum gs_status add_stream(struct gs_export *export, size_t stream) {
    const struct gs_trace_stream *of = &gs_trace_info(export->trace)->streams[stream];
    export->datasets[export->count++] =
        (struct gs_export_dataset){.what = GS_EXPORT_STATE,
                                   .index = stream,
                                   .width = of->width,
                                   .half = strcmp(of->dtype, "float16") == 0};
    return GS_OK;
}

static enum gs_status add_streams(struct gs_export *export, struct gs_error *error) {
    const struct gs_arrays_export *options = export->options;
    const struct gs_trace_info *info = gs_trace_info(export->trace);
    bool all = options->stream_count == 0 && options->format == GS_ARRAYS_NPZ;
    for (size_t i = 0; all && i < info->stream_count; i++) add_stream(export, i);
    if (all) return GS_OK;
    size_t wanted = options->stream_count ? options->stream_count : 1;
    if (wanted > 1 && options->format != GS_ARRAYS_NPZ) {
        gs_fail(error, GS_USAGE, "several streams for one array");
        gs_error_next(error, "name one, or write an .npz");
        return GS_USAGE;
    }
    for (size_t i = 0; i < wanted; i++) {
        size_t index;
        const char *name = options->stream_count ? options->streams[i] : NULL;
        enum gs_status status = gs_trace_find_stream(export->trace, name, &index, error);
        if (status != GS_OK) return status;
        for (size_t j = 0; j < i; j++)
            if (export->datasets[j].index == index)
                return gs_fail(error, GS_USAGE, "stream %s is named twice",
                               info->streams[index].name);
        add_stream(export, index);
    }
    return GS_OK;
}

static void add_others(struct gs_export *export) {
    const struct gs_trace_info *info = gs_trace_info(export->trace);
    if (info->has_token)
        export->datasets[export->count++] =
            (struct gs_export_dataset){.what = GS_EXPORT_TOKEN, .width = 1};
    if (info->has_nll)
        export->datasets[export->count++] =
            (struct gs_export_dataset){.what = GS_EXPORT_NLL, .width = 1};
    for (size_t i = 0; i < info->memory_count; i++)
        for (int field = 0; field < GS_MEMORY_FIELDS; field++)
            if (info->memories[i].has[field])
                export->datasets[export->count++] =
                    (struct gs_export_dataset){.what = GS_EXPORT_GATE,
                                               .index = i,
                                               .field = (enum gs_memory_field)field,
                                               .width = info->memories[i].heads};
    for (size_t i = 0; i < info->read_count; i++)
        export->datasets[export->count++] = (struct gs_export_dataset){
            .what = GS_EXPORT_SHARE, .index = i, .width = info->reads[i].layers};
}

static enum gs_status list_datasets(struct gs_export *export, struct gs_error *error) {
    const struct gs_trace_info *info = gs_trace_info(export->trace);
    size_t most = 2 + export->options->stream_count + info->stream_count +
                  info->memory_count * GS_MEMORY_FIELDS + info->read_count;
    export->datasets = gs_calloc(most, sizeof *export->datasets);
    if (!export->datasets) return gs_fail_memory(error, most, "datasets");
    enum gs_status status = add_streams(export, error);
    if (status == GS_OK && export->options->format == GS_ARRAYS_NPZ) add_others(export);
    return status;
}

static enum gs_status find_rows(struct gs_export *export, struct gs_error *error) {
    const struct gs_arrays_export *options = export->options;
    const struct gs_trace_info *info = gs_trace_info(export->trace);
    export->first = options->first;
    export->end = options->first == 0 && options->end == 0 ? info->rows : options->end;
    if (export->first < export->end && export->end <= info->rows) return GS_OK;
    gs_fail(error, GS_RANGE, "rows that are not there");
    gs_error_expected(error, "at least one of 0 … %llu", (unsigned long long)info->rows);
    gs_error_found(error, "%llu to %llu", (unsigned long long)export->first,
                   (unsigned long long)export->end);
    gs_error_where(error, "%s", info->path);
    return GS_RANGE;
}

/* ---- reading ---- */

enum gs_status gs_export_read(struct gs_export *export, const struct gs_export_dataset *dataset,
                              uint64_t first, size_t count, void *room, struct gs_error *error) {
    switch (dataset->what) {
    case GS_EXPORT_STATE:
        return gs_trace_read_state(export->trace, dataset->index, first, count, room, error);
    case GS_EXPORT_GATE:
        return gs_trace_read_memory(export->trace, dataset->index, dataset->field, first, count,
                                    room, error);
    case GS_EXPORT_SHARE:
        return gs_trace_read_share(export->trace, dataset->index, first, count, room, error);
    case GS_EXPORT_TOKEN:
        return gs_trace_read_token(export->trace, first, count, room, error);
    case GS_EXPORT_NLL:
        break;
    }
    return gs_trace_read_nll(export->trace, first, count, room, error);
}

enum gs_status gs_export_step(struct gs_export *export, size_t count,
                              const struct gs_progress *progress, struct gs_error *error) {
    export->done += (double)count;
    gs_progress_report(progress, export->done, export->total, NULL);
    if (gs_progress_stop(progress)) return gs_fail(error, GS_INTERRUPTED, "stopped");
    /* a disk that is full is found when it fills up, not hours later */
    if (ferror(export->stream)) return gs_fail(error, GS_IO, "cannot write");
    return GS_OK;
}

/* ---- the whole ---- */

static enum gs_status write_all(struct gs_export *export, const struct gs_progress *progress,
                                struct gs_error *error) {
    size_t widest = 1;
    for (size_t i = 0; i < export->count; i++)
        if (export->datasets[i].width > widest) widest = export->datasets[i].width;
    export->piece = GS_EXPORT_PIECE / sizeof(float) / widest;
    if (export->piece == 0) export->piece = 1;
    export->room = gs_calloc(export->piece * widest, sizeof(float));
    export->total = (double)(export->end - export->first) * (double)export->count;
    if (!export->room) return gs_fail_memory(error, export->piece * widest, "rows of the trace");
    switch (export->options->format) {
    case GS_ARRAYS_CSV:
        return gs_export_csv(export, progress, error);
    case GS_ARRAYS_NPY:
        return gs_export_npy(export, progress, error);
    case GS_ARRAYS_NPZ:
        break;
    }
    return gs_export_npz(export, progress, error);
}

static enum gs_status write_file(struct gs_export *export, const char *output,
                                 const struct gs_progress *progress, struct gs_error *error) {
    struct gs_output out;
    enum gs_status status = gs_output_open(&out, output, export->options->force, error);
    if (status != GS_OK) return status;
    export->stream = out.stream;
    status = write_all(export, progress, error);
    /* a failed write is worded by the commit, which fails, too */
    if (status == GS_OK || ferror(out.stream)) status = gs_output_commit(&out, error);
    gs_output_abandon(&out);
    return status;
}

enum gs_status gs_trace_to_arrays(struct gs_trace *trace, const struct gs_arrays_export *options,
                                  const char *output, const struct gs_progress *progress,
                                  struct gs_error *error) {
    struct gs_export export = {.trace = trace, .options = options};
    enum gs_status status = list_datasets(&export, error);
    if (status == GS_OK) status = find_rows(&export, error);
    if (status == GS_OK) status = write_file(&export, output, progress, error);
    gs_free(export.datasets);
    gs_free(export.room);
    return status;
}
