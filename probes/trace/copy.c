#include "probes/trace/copy.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "probes/trace/writer.h"

#include <stdio.h>
#include <string.h>

enum { PIECE_BYTES = 1024 * 1024 };

struct copy {
    struct gs_trace *trace;
    const struct gs_trace_info *info;
    struct gs_trace_stream *streams; /* with the types they are written in */
    char **names;                    /* (sequences) or NULL */
    struct gs_trace_writer *writer;
    size_t piece; /* rows in memory */
    void *room;
};

/* ---- the plan ---- */

static enum gs_status read_names(struct copy *copy, struct gs_error *error) {
    size_t count = copy->info->sequences;
    enum gs_status status = GS_OK;
    if (!copy->info->has_names) return GS_OK;
    copy->names = gs_calloc(count, sizeof *copy->names);
    if (!copy->names) return gs_fail_memory(error, count * sizeof *copy->names, "names");
    for (size_t i = 0; status == GS_OK && i < count; i++)
        status = gs_trace_sequence_name(copy->trace, i, &copy->names[i], error);
    return status;
}

static bool is_written(const char *dtype) {
    return strcmp(dtype, "float16") == 0 || strcmp(dtype, "bfloat16") == 0;
}

static enum gs_status plan_streams(struct copy *copy, struct gs_error *error) {
    size_t count = copy->info->stream_count;
    copy->streams = gs_calloc(count, sizeof *copy->streams);
    if (!copy->streams) return gs_fail_memory(error, count * sizeof *copy->streams, "streams");
    for (size_t i = 0; i < count; i++) {
        copy->streams[i] = copy->info->streams[i];
        if (!is_written(copy->streams[i].dtype))
            snprintf(copy->streams[i].dtype, sizeof copy->streams[i].dtype, "float32");
    }
    return GS_OK;
}

static void plan_labels(const struct gs_trace_info *info, struct gs_trace_labels *labels) {
    *labels = (struct gs_trace_labels){.model = info->model,
                                       .config = info->config,
                                       .creator = info->creator,
                                       .command = info->command,
                                       .created = info->created,
                                       .checkpoint_sha256 = info->checkpoint_sha256,
                                       .tokenizer_sha256 = info->tokenizer_sha256,
                                       .source_sha256 = info->source_sha256,
                                       .blas_core = info->blas_core,
                                       .weights = info->weights,
                                       .step = info->step,
                                       .seed = info->seed,
                                       .threads = info->threads};
}

static enum gs_status open_writer(struct copy *copy, const char *output, bool force, int deflate,
                                  struct gs_error *error) {
    const struct gs_trace_info *info = copy->info;
    enum gs_status status = gs_output_check(output, force, error);
    if (status == GS_OK) status = read_names(copy, error);
    if (status == GS_OK) status = plan_streams(copy, error);
    if (status != GS_OK) return status;
    struct gs_trace_plan plan = {.sequences = info->sequences,
                                 .start = info->start,
                                 .names = (const char *const *)copy->names,
                                 .token = info->has_token,
                                 .nll = info->has_nll,
                                 .nll_first = info->nll_first,
                                 .stream_count = info->stream_count,
                                 .streams = copy->streams,
                                 .memory_count = info->memory_count,
                                 .memories = info->memories,
                                 .read_count = info->read_count,
                                 .reads = info->reads,
                                 .deflate = deflate};
    plan_labels(info, &plan.labels);
    return gs_trace_writer_create(output, true, &plan, &copy->writer, error);
}

/* ---- rows ---- */

static enum gs_status copy_lone(struct copy *copy, size_t sequence, uint64_t first, size_t count,
                                struct gs_error *error) {
    enum gs_status status = GS_OK;
    if (copy->info->has_token) {
        status = gs_trace_read_token(copy->trace, first, count, copy->room, error);
        if (status == GS_OK)
            status = gs_trace_append_token(copy->writer, sequence, count, copy->room, error);
    }
    if (status == GS_OK && copy->info->has_nll) {
        status = gs_trace_read_nll(copy->trace, first, count, copy->room, error);
        if (status == GS_OK)
            status = gs_trace_append_nll(copy->writer, sequence, count, copy->room, error);
    }
    return status;
}

static enum gs_status copy_memory(struct copy *copy, size_t memory, size_t sequence, uint64_t first,
                                  size_t count, struct gs_error *error) {
    const struct gs_trace_memory *of = &copy->info->memories[memory];
    enum gs_status status = GS_OK;
    for (int i = 0; status == GS_OK && i < GS_MEMORY_FIELDS; i++) {
        enum gs_memory_field field = (enum gs_memory_field)i;
        if (!of->has[field]) continue;
        status = gs_trace_read_memory(copy->trace, memory, field, first, count, copy->room, error);
        if (status == GS_OK)
            status = gs_trace_append_memory(copy->writer, memory, field, sequence, count,
                                            copy->room, of->heads, error);
    }
    return status;
}

static enum gs_status copy_piece(struct copy *copy, size_t sequence, uint64_t first, size_t count,
                                 struct gs_error *error) {
    const struct gs_trace_info *info = copy->info;
    enum gs_status status = copy_lone(copy, sequence, first, count, error);
    for (size_t i = 0; status == GS_OK && i < info->stream_count; i++) {
        status = gs_trace_read_state(copy->trace, i, first, count, copy->room, error);
        if (status == GS_OK)
            status = gs_trace_append_state(copy->writer, i, sequence, count, copy->room,
                                           info->streams[i].width, error);
    }
    for (size_t i = 0; status == GS_OK && i < info->memory_count; i++)
        status = copy_memory(copy, i, sequence, first, count, error);
    for (size_t i = 0; status == GS_OK && i < info->read_count; i++) {
        status = gs_trace_read_share(copy->trace, i, first, count, copy->room, error);
        if (status == GS_OK)
            status = gs_trace_append_share(copy->writer, i, sequence, count, copy->room,
                                           info->reads[i].layers, error);
    }
    return status;
}

static enum gs_status make_room(struct copy *copy, struct gs_error *error) {
    const struct gs_trace_info *info = copy->info;
    size_t widest = 1, cells;
    for (size_t i = 0; i < info->stream_count; i++)
        if (info->streams[i].width > widest) widest = info->streams[i].width;
    for (size_t i = 0; i < info->memory_count; i++)
        if (info->memories[i].heads > widest) widest = info->memories[i].heads;
    for (size_t i = 0; i < info->read_count; i++)
        if (info->reads[i].layers > widest) widest = info->reads[i].layers;
    copy->piece = PIECE_BYTES / sizeof(float) / widest;
    if (copy->piece == 0) copy->piece = 1;
    if (gs_multiply(copy->piece, widest, &cells)) copy->room = gs_calloc(cells, sizeof(float));
    return copy->room ? GS_OK : gs_fail_memory(error, widest, "rows of a trace");
}

static enum gs_status copy_rows(struct copy *copy, const struct gs_progress *progress,
                                struct gs_error *error) {
    const struct gs_trace_info *info = copy->info;
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < info->sequences; i++)
        for (uint64_t row = info->start[i]; row < info->start[i + 1];) {
            uint64_t left = info->start[i + 1] - row;
            size_t count = left < copy->piece ? (size_t)left : copy->piece;
            status = copy_piece(copy, i, row, count, error);
            if (status == GS_OK) status = gs_trace_writer_flush_if_due(copy->writer, error);
            if (status == GS_OK && gs_progress_stop(progress))
                status = gs_fail(error, GS_INTERRUPTED, "stopped");
            if (status != GS_OK) return status;
            row += count;
            gs_progress_report(progress, (double)row, (double)info->rows, NULL);
        }
    return GS_OK;
}

enum gs_status gs_trace_copy(struct gs_trace *trace, const char *output, bool force, int deflate,
                             const struct gs_progress *progress, struct gs_error *error) {
    struct copy copy = {.trace = trace, .info = gs_trace_info(trace)};
    if (!copy.info->complete) {
        gs_fail(error, GS_CHECK_FAILED, "the trace is not complete");
        gs_error_where(error, "%s", copy.info->path);
        return GS_CHECK_FAILED;
    }
    enum gs_status status = make_room(&copy, error);
    if (status == GS_OK) status = open_writer(&copy, output, force, deflate, error);
    if (status == GS_OK) {
        status = copy_rows(&copy, progress, error);
        if (status == GS_OK)
            status = gs_trace_writer_close(copy.writer, error);
        else
            gs_trace_writer_abandon(copy.writer, false);
    }
    for (size_t i = 0; copy.names && i < copy.info->sequences; i++) gs_free(copy.names[i]);
    gs_free(copy.names);
    gs_free(copy.streams);
    gs_free(copy.room);
    return status;
}
