#include "core/training/micro_batch.h"

#include "core/base/memory.h"

#include <string.h>

static enum gs_status allocate(struct gs_micro_batch *m, struct gs_error *error) {
    size_t ids = 0;
    if (!gs_multiply(m->options.batch, m->window, &ids)) ids = SIZE_MAX; /* fails below */
    m->ids = gs_calloc(ids, sizeof *m->ids);
    if (!m->ids) return gs_fail_memory(error, ids, "the tokens of a batch");
    size_t piece = m->options.batch * (m->piece + m->first);
    m->piece_ids = gs_calloc(piece, sizeof *m->piece_ids);
    m->nll = gs_calloc(piece, sizeof *m->nll);
    m->metrics = gs_calloc(m->metric_count, sizeof *m->metrics);
    if (!m->piece_ids || !m->nll || !m->metrics)
        return gs_fail_memory(error, 8 * piece, "the tokens of a batch");
    return GS_OK;
}

static bool is_cut(const struct gs_micro_batch_options *options) {
    return options->truncate > 0 && options->truncate < options->predicted;
}

static size_t piece_of(const struct gs_micro_batch_options *options) {
    return is_cut(options) ? options->truncate : options->predicted;
}

static struct gs_runner_options runner_options(const struct gs_micro_batch_options *options,
                                               size_t first) {
    return (struct gs_runner_options){.batch = options->batch,
                                      .steps = piece_of(options) + first,
                                      .train = true,
                                      .bf16 = options->bf16,
                                      .recompute_every = options->recompute_every,
                                      .last_is_target = true};
}

/* *sum += batch * steps * size; false when it wraps. */
static bool add_bytes(size_t *sum, size_t batch, size_t steps, size_t size) {
    size_t bytes;
    return gs_multiply(batch, steps, &bytes) && gs_multiply(bytes, size, &bytes) &&
           gs_add(*sum, bytes, sum);
}

size_t gs_micro_batch_bytes(const struct gs_model *model,
                            const struct gs_micro_batch_options *options) {
    const struct gs_runner_options runner = runner_options(options, gs_model_first(model));
    const size_t window = options->predicted + gs_model_first(model);
    size_t bytes = gs_runner_bytes(model, &runner);
    bool good = add_bytes(&bytes, options->batch, window, sizeof(uint32_t)) &&
                add_bytes(&bytes, options->batch, runner.steps, sizeof(uint32_t) + sizeof(float)) &&
                add_bytes(&bytes, options->batch, gs_model_state_floats(model), sizeof(float));
    return good ? bytes : SIZE_MAX;
}

enum gs_status gs_micro_batch_create(struct gs_model *model,
                                     const struct gs_micro_batch_options *options,
                                     struct gs_micro_batch **micro_batch, struct gs_error *error) {
    if (is_cut(options) && gs_model_state_floats(model) == 0) {
        gs_fail(error, GS_UNSUPPORTED,
                "the gradient of a %s cannot be cut inside a window: it has no state that could be "
                "carried on",
                gs_model_kind(model));
        gs_error_expected(error, "training.truncate_bptt 0");
        gs_error_found(error, "%zu", options->truncate);
        return GS_UNSUPPORTED;
    }
    struct gs_micro_batch *m = gs_calloc(1, sizeof *m);
    if (!m) return gs_fail_memory(error, sizeof *m, "a batch");
    m->options = *options;
    m->first = gs_model_first(model);
    m->window = options->predicted + m->first;
    m->piece = piece_of(options);
    const struct gs_runner_options runner = runner_options(options, m->first);
    enum gs_status status = gs_runner_create(model, &runner, &m->runner, error);
    if (status == GS_OK) status = gs_state_create(model, options->batch, &m->state, error);
    if (status == GS_OK) {
        gs_runner_metrics(m->runner, &m->metric_count);
        status = allocate(m, error);
    }
    if (status != GS_OK) {
        gs_micro_batch_destroy(m);
        return status;
    }
    *micro_batch = m;
    return GS_OK;
}

void gs_micro_batch_destroy(struct gs_micro_batch *m) {
    if (!m) return;
    gs_runner_destroy(m->runner);
    gs_state_destroy(m->state);
    gs_free(m->ids);
    gs_free(m->piece_ids);
    gs_free(m->nll);
    gs_free(m->metrics);
    gs_free(m);
}

/* Sum of the losses of a piece; its first positions are not predicted. */
static double sum_losses(const struct gs_micro_batch *m, size_t steps) {
    double sum = 0;
    for (size_t b = 0; b < m->options.batch; b++)
        for (size_t t = m->first; t < steps; t++) sum += (double)m->nll[b * steps + t];
    return sum;
}

/* The piece that predicts `count` tokens of every window, forward and backward. Where the model
 * predicts the next token, `start` is the token before them, the last one of the piece before. */
static enum gs_status run_piece(struct gs_micro_batch *m, size_t start, size_t count, float scale,
                                struct gs_parameters *gradients, double *sum,
                                struct gs_error *error) {
    const size_t steps = count + m->first;
    for (size_t b = 0; b < m->options.batch; b++)
        memcpy(m->piece_ids + b * steps, m->ids + b * m->window + start,
               steps * sizeof *m->piece_ids);
    enum gs_status status =
        gs_runner_forward(m->runner, m->state, m->piece_ids, NULL, steps, NULL, m->nll, error);
    if (status == GS_OK) status = gs_runner_backward(m->runner, scale, gradients, NULL, error);
    if (status != GS_OK) return status;
    *sum += sum_losses(m, steps);
    size_t metric_count;
    const struct gs_metric *metrics = gs_runner_metrics(m->runner, &metric_count);
    double share = (double)count / (double)m->options.predicted;
    for (size_t i = 0; i < m->metric_count; i++) m->metrics[i] += share * metrics[i].value;
    return GS_OK;
}

enum gs_status gs_micro_batch_run(struct gs_micro_batch *m, const struct gs_tokens *tokens,
                                  uint64_t index, double weight, struct gs_parameters *gradients,
                                  double *loss, struct gs_error *error) {
    size_t size = m->options.batch * m->window;
    enum gs_status status = gs_tokens_read(tokens, index * size, size, m->ids, error);
    if (status != GS_OK) return status;
    double count = (double)m->options.batch * (double)m->options.predicted;
    float scale = (float)(weight / count);
    double sum = 0;
    gs_state_reset(m->state);
    memset(m->metrics, 0, m->metric_count * sizeof *m->metrics);
    for (size_t start = 0; start < m->options.predicted && status == GS_OK; start += m->piece) {
        size_t left = m->options.predicted - start, part = left < m->piece ? left : m->piece;
        status = run_piece(m, start, part, scale, gradients, &sum, error);
    }
    *loss = sum / count;
    return status;
}
