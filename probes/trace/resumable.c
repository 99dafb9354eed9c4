#include "probes/trace/resumable.h"

#include "core/base/file.h"

#include <stdio.h>
#include <string.h>

static enum gs_status fail_differs(const char *path, const char *what, const char *planned,
                                   const char *found, struct gs_error *error) {
    gs_fail(error, GS_CONFIG, "cannot resume: the trace there was made with another %s", what);
    gs_error_expected(error, "%s", planned);
    gs_error_found(error, "%s", found);
    gs_error_where(error, "%s", path);
    gs_error_next(error, "give the same inputs as before, or overwrite with --force");
    return GS_CONFIG;
}

static enum gs_status compare_texts(const struct gs_trace_info *info,
                                    const struct gs_trace_labels *labels, struct gs_error *error) {
    const struct {
        const char *name, *planned, *found;
    } texts[] = {
        {"model", labels->model, info->model},
        {"config", labels->config, info->config},
        {"checkpoint (checkpoint_sha256)", labels->checkpoint_sha256, info->checkpoint_sha256},
        {"tokenizer (tokenizer_sha256)", labels->tokenizer_sha256, info->tokenizer_sha256},
        {"text (source_sha256)", labels->source_sha256, info->source_sha256},
        {"kind of weights", labels->weights, info->weights},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *planned = texts[i].planned ? texts[i].planned : "none";
        const char *found = texts[i].found ? texts[i].found : "none";
        if (strcmp(planned, found) != 0)
            return fail_differs(info->path, texts[i].name, planned, found, error);
    }
    return GS_OK;
}

static enum gs_status compare_counts(const struct gs_trace_info *info, const char *what,
                                     uint64_t planned, uint64_t found, struct gs_error *error) {
    char texts[2][32];
    if (planned == found) return GS_OK;
    snprintf(texts[0], sizeof texts[0], "%llu", (unsigned long long)planned);
    snprintf(texts[1], sizeof texts[1], "%llu", (unsigned long long)found);
    return fail_differs(info->path, what, texts[0], texts[1], error);
}

static enum gs_status compare_sequences(const struct gs_trace_info *info,
                                        const struct gs_trace_plan *plan, struct gs_error *error) {
    enum gs_status status =
        compare_counts(info, "number of sequences", plan->sequences, info->sequences, error);
    for (size_t i = 0; status == GS_OK && i <= plan->sequences; i++)
        status = compare_counts(info, "length of sequences", plan->start[i], info->start[i], error);
    if (status == GS_OK)
        status =
            compare_counts(info, "choice of datasets (token)", plan->token, info->has_token, error);
    if (status == GS_OK)
        status = compare_counts(info, "choice of datasets (nll)", plan->nll, info->has_nll, error);
    if (status == GS_OK && plan->nll)
        status = compare_counts(info, "count of rows without nll", plan->nll_first, info->nll_first,
                                error);
    return status;
}

static const struct gs_trace_stream *find_stream(const struct gs_trace_info *info,
                                                 const char *name) {
    for (size_t i = 0; i < info->stream_count; i++)
        if (strcmp(info->streams[i].name, name) == 0) return &info->streams[i];
    return NULL;
}

static enum gs_status compare_streams(const struct gs_trace_info *info,
                                      const struct gs_trace_plan *plan, struct gs_error *error) {
    enum gs_status status =
        compare_counts(info, "choice of streams", plan->stream_count, info->stream_count, error);
    for (size_t i = 0; status == GS_OK && i < plan->stream_count; i++) {
        const struct gs_trace_stream *planned = &plan->streams[i];
        const struct gs_trace_stream *found = find_stream(info, planned->name);
        if (!found)
            return fail_differs(info->path, "choice of streams", planned->name, "none", error);
        status = compare_counts(info, "width of states", planned->width, found->width, error);
        if (status == GS_OK && strcmp(planned->dtype, found->dtype) != 0)
            status =
                fail_differs(info->path, "dtype of states", planned->dtype, found->dtype, error);
    }
    return status;
}

static const struct gs_trace_memory *find_memory(const struct gs_trace_info *info,
                                                 const char *name) {
    for (size_t i = 0; i < info->memory_count; i++)
        if (strcmp(info->memories[i].name, name) == 0) return &info->memories[i];
    return NULL;
}

static enum gs_status compare_memories(const struct gs_trace_info *info,
                                       const struct gs_trace_plan *plan, struct gs_error *error) {
    enum gs_status status =
        compare_counts(info, "number of memories", plan->memory_count, info->memory_count, error);
    for (size_t i = 0; status == GS_OK && i < plan->memory_count; i++) {
        const struct gs_trace_memory *planned = &plan->memories[i];
        const struct gs_trace_memory *found = find_memory(info, planned->name);
        if (!found) return fail_differs(info->path, "memory", planned->name, "none", error);
        status = compare_counts(info, "number of heads", planned->heads, found->heads, error);
        for (size_t field = 0; status == GS_OK && field < GS_MEMORY_FIELDS; field++)
            status = compare_counts(info, "choice of a memory's datasets", planned->has[field],
                                    found->has[field], error);
    }
    return status;
}

static enum gs_status compare_reads(const struct gs_trace_info *info,
                                    const struct gs_trace_plan *plan, struct gs_error *error) {
    enum gs_status status =
        compare_counts(info, "number of reads", plan->read_count, info->read_count, error);
    for (size_t i = 0; status == GS_OK && i < plan->read_count; i++) {
        const struct gs_trace_read *found = NULL;
        for (size_t n = 0; n < info->read_count; n++)
            if (strcmp(info->reads[n].name, plan->reads[i].name) == 0) found = &info->reads[n];
        if (!found) return fail_differs(info->path, "read", plan->reads[i].name, "none", error);
        status =
            compare_counts(info, "number of layers", plan->reads[i].layers, found->layers, error);
    }
    return status;
}

static enum gs_status compare(const struct gs_trace_info *info, const struct gs_trace_plan *plan,
                              struct gs_error *error) {
    enum gs_status status = compare_texts(info, &plan->labels, error);
    if (status == GS_OK) status = compare_sequences(info, plan, error);
    if (status == GS_OK) status = compare_streams(info, plan, error);
    if (status == GS_OK) status = compare_memories(info, plan, error);
    if (status == GS_OK) status = compare_reads(info, plan, error);
    return status;
}

enum gs_status gs_trace_resumable(const char *path, const struct gs_trace_plan *plan,
                                  size_t *unfinished, struct gs_error *error) {
    struct gs_trace *trace;
    enum gs_status status = gs_trace_open(path, &trace, error);
    if (status != GS_OK) return status;
    const struct gs_trace_info *info = gs_trace_info(trace);
    status = compare(info, plan, error);
    *unfinished = 0;
    while (status == GS_OK && *unfinished < info->sequences &&
           info->rows_written[*unfinished] ==
               info->start[*unfinished + 1] - info->start[*unfinished])
        ++*unfinished;
    gs_trace_close(trace);
    return status;
}
