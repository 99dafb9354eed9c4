#include "probes/trace/recording.h"

#include "core/base/environment.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"

#include <stdio.h>

struct run {
    struct gs_model *model;
    const struct gs_tokens *tokens;
    const struct gs_recording *recording;
    struct gs_recorded recorded;
    size_t batch;
    struct gs_runner *runner;
    struct gs_state *state; /* of a full batch, or of the last one */
    struct gs_recorder *recorder;
    struct gs_trace_writer *writer;
    char *config;
    uint64_t *start;
    uint32_t *ids; /* (batch, length) */
    float *nll;    /* (batch, length) */
};

/* ---- preparing ---- */

static enum gs_status allocate(struct run *run, struct gs_error *error) {
    size_t sequences = (size_t)run->recorded.windows.count, length = run->recorded.windows.length;
    size_t cells;
    if (!gs_multiply(run->batch, length, &cells))
        return gs_fail_memory(error, SIZE_MAX, "a batch of windows");
    run->start = gs_calloc(sequences + 1, sizeof *run->start);
    run->ids = gs_calloc(cells, sizeof *run->ids);
    run->nll = gs_calloc(cells, sizeof *run->nll);
    struct gs_json *config = gs_model_config(run->model);
    run->config = config ? gs_json_text(config, 0) : NULL;
    gs_json_destroy(config);
    if (!run->start || !run->ids || !run->nll || !run->config)
        return gs_fail_memory(error, cells * sizeof *run->nll, "a batch of windows");
    for (size_t i = 0; i <= sequences; i++) run->start[i] = (uint64_t)i * length;
    return GS_OK;
}

static void fill_labels(const struct run *run, struct gs_trace_labels *labels) {
    struct gs_environment environment;
    gs_environment_read(&environment);
    *labels = run->recording->labels;
    labels->model = gs_model_kind(run->model);
    labels->config = run->config;
    labels->source_sha256 = gs_tokens_sha256(run->tokens);
    labels->weights = run->recording->bf16 ? "bf16" : "f32";
    if (!labels->blas_core) labels->blas_core = environment.blas_core;
    if (labels->threads < 0) labels->threads = environment.threads;
}

static enum gs_status open_writer(struct run *run, const char *path, bool force,
                                  struct gs_error *error) {
    struct gs_trace_plan plan = {.sequences = (size_t)run->recorded.windows.count,
                                 .start = run->start,
                                 .token = true,
                                 .nll = true,
                                 .nll_first = gs_model_first(run->model),
                                 .deflate = run->recording->deflate};
    fill_labels(run, &plan.labels);
    gs_recorder_plan(run->recorder, &plan);
    run->recorded.bytes = gs_trace_bytes(&plan);
    enum gs_status status;
    if (run->recording->resume && gs_path_exists(path))
        status = gs_trace_writer_resume(path, &plan, &run->writer, &run->recorded.first, error);
    else
        status = gs_trace_writer_create(path, force, &plan, &run->writer, error);
    if (status == GS_OK) gs_recorder_attach(run->recorder, run->writer);
    return status;
}

static enum gs_status prepare(struct run *run, struct gs_error *error) {
    const struct gs_recording *recording = run->recording;
    struct gs_windows *windows = &run->recorded.windows;
    size_t channel_count;
    const struct gs_channel *channels = gs_model_channels(run->model, &channel_count);
    enum gs_status status = gs_windows_plan(gs_tokens_count(run->tokens), recording->length,
                                            recording->skip, recording->sequences, windows, error);
    if (status != GS_OK) return status;
    run->batch = recording->batch < windows->count ? recording->batch : (size_t)windows->count;
    status = gs_tokens_check(run->tokens, gs_model_vocab(run->model), error);
    if (status == GS_OK)
        status =
            gs_recorder_create(channels, channel_count, &recording->choice, &run->recorder, error);
    if (status == GS_OK) status = allocate(run, error);
    struct gs_runner_options options = {
        .batch = run->batch, .steps = windows->length, .bf16 = recording->bf16};
    if (status == GS_OK) status = gs_runner_create(run->model, &options, &run->runner, error);
    return status;
}

/* ---- running ---- */

/* A reset state for `batch` windows; the last batch may be smaller. */
static enum gs_status reset_state(struct run *run, size_t batch, struct gs_error *error) {
    if (run->state && run->state->batch == batch) {
        gs_state_reset(run->state);
        return GS_OK;
    }
    gs_state_destroy(run->state);
    run->state = NULL;
    return gs_state_create(run->model, batch, &run->state, error);
}

static void count_nll(struct run *run, size_t batch) {
    size_t length = run->recorded.windows.length;
    for (size_t b = 0; b < batch; b++)
        for (size_t t = gs_model_first(run->model); t < length; t++) {
            run->recorded.nll_sum += (double)run->nll[b * length + t];
            run->recorded.nll_count++;
        }
}

static enum gs_status run_batch(struct run *run, size_t first, size_t batch,
                                struct gs_error *error) {
    size_t length = run->recorded.windows.length;
    uint64_t from = gs_window_start(&run->recorded.windows, first);
    enum gs_status status = reset_state(run, batch, error);
    if (status == GS_OK)
        status = gs_tokens_read(run->tokens, from, batch * length, run->ids, error);
    if (status != GS_OK) return status;
    gs_recorder_window(run->recorder, first, NULL);
    status = gs_runner_forward(run->runner, run->state, run->ids, NULL, length,
                               gs_recorder_tap(run->recorder), run->nll, error);
    for (size_t b = 0; status == GS_OK && b < batch; b++) {
        status =
            gs_trace_append_token(run->writer, first + b, length, run->ids + b * length, error);
        if (status == GS_OK)
            status =
                gs_trace_append_nll(run->writer, first + b, length, run->nll + b * length, error);
    }
    if (status != GS_OK) return status;
    count_nll(run, batch);
    if (run->recording->flush_each_batch) return gs_trace_writer_flush(run->writer, error);
    return gs_trace_writer_flush_if_due(run->writer, error);
}

static enum gs_status run_all(struct run *run, const struct gs_progress *progress,
                              struct gs_error *error) {
    size_t all = (size_t)run->recorded.windows.count, batch = run->batch;
    for (size_t first = run->recorded.first; first < all; first += batch) {
        if (batch > all - first) batch = all - first;
        if (gs_progress_stop(progress)) {
            gs_fail(error, GS_INTERRUPTED, "stopped after %zu of %zu sequences", first, all);
            return GS_INTERRUPTED;
        }
        enum gs_status status = run_batch(run, first, batch, error);
        if (status != GS_OK) return status;
        gs_progress_report(progress, (double)(first + batch), (double)all, NULL);
    }
    return GS_OK;
}

/* The writer's end: whole, incomplete but kept, or no file. */
static enum gs_status finish(struct run *run, enum gs_status status, struct gs_error *error) {
    if (!run->writer) return status; /* finished before */
    if (status == GS_OK) return gs_trace_writer_close(run->writer, error);
    bool broken = gs_trace_writer_broken(run->writer);
    uint64_t rows = gs_trace_writer_safe_rows(run->writer);
    if (broken && rows > 0)
        gs_error_next(error, "%llu rows had been flushed and stay readable in %s",
                      (unsigned long long)rows, gs_trace_writer_file(run->writer));
    else if (!broken && status == GS_INTERRUPTED)
        gs_error_next(error, "what was recorded stands in %s; go on with --resume, or measure it",
                      gs_trace_writer_file(run->writer));
    gs_trace_writer_abandon(run->writer,
                            broken || run->recording->resume || status == GS_INTERRUPTED);
    return status;
}

static void release(struct run *run) {
    gs_runner_destroy(run->runner);
    gs_state_destroy(run->state);
    gs_recorder_destroy(run->recorder);
    gs_free(run->config);
    gs_free(run->start);
    gs_free(run->ids);
    gs_free(run->nll);
}

enum gs_status gs_record(struct gs_model *model, const struct gs_tokens *tokens,
                         const struct gs_recording *recording, const char *path, bool force,
                         const struct gs_progress *progress, struct gs_recorded *recorded,
                         struct gs_error *error) {
    struct run run = {.model = model, .tokens = tokens, .recording = recording};
    enum gs_status status = prepare(&run, error);
    if (status == GS_OK) status = open_writer(&run, path, force, error);
    if (status == GS_OK) status = finish(&run, run_all(&run, progress, error), error);
    if (recorded) *recorded = run.recorded;
    release(&run);
    return status;
}
