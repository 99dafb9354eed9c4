#include "core/evaluation/loss.h"

#include "core/base/memory.h"
#include "core/evaluation/by_document.h"

#include <math.h>
#include <string.h>

struct work {
    const struct gs_tokens *tokens;
    const struct gs_progress *progress;
    struct gs_loss *loss;
    struct gs_by_document documents;
    struct gs_model *model;
    struct gs_runner *runner;
    size_t batch;
    uint32_t *ids; /* (batch, length) */
    float *nll;    /* (batch, length) */
};

static enum gs_status not_finite(uint64_t window, size_t position, float nll,
                                 struct gs_error *error) {
    gs_fail(error, GS_NUMERIC, "the loss is not finite");
    gs_error_found(error, "%g in window %llu, position %zu", (double)nll,
                   (unsigned long long)window, position);
    gs_error_next(error, "look at the checkpoint with `gpnscope check`");
    return GS_NUMERIC;
}

/* One more loss at a position of the `number`th window: its sum, and its squared deviations by
 * Welford's update. */
static void add_loss(struct gs_loss *loss, uint64_t number, size_t position, double nll) {
    double before = number ? loss->by_position[position] / (double)number : 0;
    loss->by_position[position] += nll;
    double after = loss->by_position[position] / (double)(number + 1);
    loss->squares[position] += (nll - before) * (nll - after);
    loss->by_window[number] += nll;
}

/* Added window by window, so that the sums do not depend on the batch. */
static enum gs_status add_windows(struct work *work, uint64_t first_window, size_t count,
                                  struct gs_error *error) {
    struct gs_loss *loss = work->loss;
    size_t length = loss->windows.length;
    for (size_t i = 0; i < count; i++)
        for (size_t t = loss->first; t < length; t++) {
            float nll = work->nll[i * length + t];
            if (!isfinite(nll)) return not_finite(first_window + i, t, nll, error);
            add_loss(loss, first_window + i, t, (double)nll);
            gs_by_document_add(&work->documents, loss,
                               gs_window_start(&loss->windows, first_window + i) + t, (double)nll);
        }
    return GS_OK;
}

static enum gs_status run_batch(struct work *work, uint64_t first_window, size_t count,
                                struct gs_error *error) {
    size_t length = work->loss->windows.length;
    enum gs_status status =
        gs_tokens_read(work->tokens, gs_window_start(&work->loss->windows, first_window),
                       count * length, work->ids, error);
    if (status != GS_OK) return status;
    struct gs_state *state;
    status = gs_state_create(work->model, count, &state, error);
    if (status != GS_OK) return status;
    status =
        gs_runner_forward(work->runner, state, work->ids, NULL, length, NULL, work->nll, error);
    gs_state_destroy(state);
    return status == GS_OK ? add_windows(work, first_window, count, error) : status;
}

static enum gs_status run_all(struct work *work, struct gs_error *error) {
    uint64_t total = work->loss->windows.count;
    for (uint64_t done = 0; done < total;) {
        size_t count = total - done < work->batch ? (size_t)(total - done) : work->batch;
        enum gs_status status = run_batch(work, done, count, error);
        if (status != GS_OK) return status;
        done += count;
        gs_progress_report(work->progress, (double)(done * work->loss->windows.length),
                           (double)work->loss->windows.used, "tokens");
        if (done < total && gs_progress_stop(work->progress))
            return gs_fail(error, GS_INTERRUPTED, "stopped during the evaluation");
    }
    return GS_OK;
}

/* Over windows: their means, which all weigh the same. */
static struct gs_limits limits_of(const struct gs_loss *loss) {
    double squares = 0, width = (double)(loss->windows.length - loss->first);
    for (uint64_t i = 0; i < loss->windows.count; i++) {
        double rest = loss->by_window[i] / width - loss->loss;
        squares += rest * rest;
    }
    return gs_mean_limits(loss->loss, squares, loss->windows.count);
}

/* From sums to means. */
static void finish(struct gs_loss *loss) {
    for (size_t t = 0; t < loss->windows.length; t++) {
        if (t < loss->first) {
            loss->by_position[t] = NAN;
            continue;
        }
        loss->sum += loss->by_position[t];
        loss->by_position[t] /= (double)loss->windows.count;
    }
    loss->loss = loss->sum / (double)loss->tokens;
    loss->perplexity = exp(loss->loss);
    loss->limits = limits_of(loss);
    gs_by_document_finish(loss);
}

static enum gs_status plan(struct gs_loss *loss, const struct gs_tokens *tokens,
                           const struct gs_loss_options *options, size_t models_first,
                           struct gs_error *error) {
    const size_t first = options->first > models_first ? options->first : models_first;
    enum gs_status status = gs_windows_plan(gs_tokens_count(tokens), options->length, options->skip,
                                            options->sequences, &loss->windows, error);
    if (status != GS_OK) return status;
    loss->first = first;
    if (loss->windows.length > first) {
        loss->tokens = loss->windows.count * (loss->windows.length - first);
        return GS_OK;
    }
    gs_fail(error, GS_RANGE, "nothing is predicted in so short a window");
    gs_error_expected(error, "a --length above %zu", first);
    gs_error_found(error, "%zu", loss->windows.length);
    return GS_RANGE;
}

static enum gs_status prepare(struct work *work, bool bf16, struct gs_error *error) {
    size_t length = work->loss->windows.length, count;
    if (work->batch > work->loss->windows.count) work->batch = (size_t)work->loss->windows.count;
    if (!gs_multiply(work->batch, length, &count))
        return gs_fail_memory(error, SIZE_MAX, "a batch of windows");
    work->ids = gs_calloc(count, sizeof *work->ids);
    work->nll = gs_calloc(count, sizeof *work->nll);
    work->loss->by_position = gs_calloc(length, sizeof *work->loss->by_position);
    work->loss->squares = gs_calloc(length, sizeof *work->loss->squares);
    work->loss->by_window =
        gs_calloc((size_t)work->loss->windows.count, sizeof *work->loss->by_window);
    if (!work->ids || !work->nll || !work->loss->by_position || !work->loss->squares ||
        !work->loss->by_window)
        return gs_fail_memory(error, count * sizeof *work->ids, "a batch of windows");
    struct gs_runner_options options = {.batch = work->batch, .steps = length, .bf16 = bf16};
    return gs_runner_create(work->model, &options, &work->runner, error);
}

enum gs_status gs_evaluate_loss(struct gs_model *model, const struct gs_tokens *tokens,
                                const struct gs_loss_options *options,
                                const struct gs_progress *progress, struct gs_loss **loss,
                                struct gs_error *error) {
    *loss = NULL;
    struct gs_loss *made = gs_calloc(1, sizeof *made);
    if (!made) return gs_fail_memory(error, sizeof *made, "a loss");
    struct work work = {.tokens = tokens,
                        .progress = progress,
                        .loss = made,
                        .model = model,
                        .batch = options->batch ? options->batch : GS_EVALUATION_BATCH};
    enum gs_status status = plan(made, tokens, options, gs_model_first(model), error);
    if (status == GS_OK) status = gs_tokens_check(tokens, gs_model_vocab(model), error);
    if (status == GS_OK) status = gs_by_document_begin(&work.documents, made, tokens, error);
    if (status == GS_OK) status = prepare(&work, options->bf16, error);
    if (status == GS_OK) status = run_all(&work, error);
    gs_runner_destroy(work.runner);
    gs_free(work.ids);
    gs_free(work.nll);
    if (status == GS_OK) {
        finish(made);
        *loss = made;
    } else {
        gs_loss_destroy(made);
    }
    return status;
}

void gs_loss_destroy(struct gs_loss *loss) {
    if (!loss) return;
    gs_free(loss->by_position);
    gs_free(loss->squares);
    gs_free(loss->by_window);
    gs_free(loss->by_document);
    gs_free(loss->document_tokens);
    gs_free(loss);
}
