/* A window forward, layer by layer: ../shared/spec/baselines.md, "Transformer++". */
#include "core/models/transformer/runner.h"

#include "core/kernels/kernels.h"
#include "core/models/parts/row_blocks.h"
#include "core/models/parts/token_rows.h"

#include <string.h>

static void normalise(const float *x, const struct gs_tensor *norm, size_t rows, size_t d,
                      float *y) {
    for (size_t i = 0; i < rows; i++) gs_kernels()->norm(x + i * d, norm->values, d, y + i * d);
}

/* By whichever thread comes first; the caller's region waits at its end. */
static void hand_over(struct gs_transformer_runner *r) {
    struct gs_transformer_handing *handing = &r->handing;
#pragma omp single nowait
    if (handing->tap) {
        const size_t d = r->config->width;
        const struct gs_tap_block block = {.channel = handing->channel,
                                           .steps = r->run,
                                           .batch = r->batch,
                                           .values = handing->values,
                                           .batch_stride = r->run * d,
                                           .step_stride = d};
        const struct gs_tap *tap = handing->tap;
        handing->tap = NULL;
        handing->status = tap->take(tap->context, &block, handing->error);
    }
}

/* ---- a layer ------------------------------------------------------------------------------ */

/* Rows first … last - 1 of a group to the heads' arrays. */
static void project(const struct gs_transformer_runner *r, size_t i,
                    const struct gs_transformer_tape *tape, const float *h, size_t first,
                    size_t last) {
    const size_t d = r->config->width, rows = last - first;
    float *normal = gs_transformer_work(r), *projected = normal + rows * d;
    normalise(h + first * d, r->tensors.layers[i].attention_norm, rows, d, normal);
    gs_linear_rows(&r->weights[i].in, normal, d, rows, projected, 3 * d, false);
    gs_transformer_split(r, tape, first, last, projected);
}

/* What attention gave back to the stream, and the feed-forward. */
static void finish_rows(const struct gs_transformer_runner *r, size_t i,
                        const struct gs_transformer_tape *tape, const float *h, size_t first,
                        size_t last, float *out) {
    const size_t d = r->config->width, f = r->config->ffn, rows = last - first;
    const struct gs_transformer_weights *w = &r->weights[i];
    float *middle = tape->middle ? tape->middle + first * d : out + first * d;
    float *work = gs_transformer_work(r);
    float *gate =
        tape->gate ? tape->gate + first * 2 * f : work + gs_feed_forward_work(d, f, GS_BLOCK_ROWS);
    memcpy(middle, h + first * d, rows * d * sizeof *middle);
    gs_linear_rows(&w->out, tape->mixed + first * d, d, rows, middle, d, true);
    gs_feed_forward_rows(&w->feed, middle, rows, out + first * d, gate, work);
}

static void group_forward(struct gs_transformer_runner *r, size_t i, size_t sequences,
                          const float *h, float *out) {
    const struct gs_transformer_tape *tape = gs_transformer_tape(r, i);
    const size_t rows = sequences * r->run, blocks = gs_row_blocks(rows);
#pragma omp parallel num_threads((int)r->threads)
    {
        hand_over(r);
#pragma omp for schedule(dynamic)
        for (size_t b = 0; b < blocks; b++)
            project(r, i, tape, h, gs_row_block(rows, blocks, b),
                    gs_row_block(rows, blocks, b + 1));
        gs_transformer_attend(r, tape, sequences);
#pragma omp for schedule(dynamic)
        for (size_t b = 0; b < blocks; b++)
            finish_rows(r, i, tape, h, gs_row_block(rows, blocks, b),
                        gs_row_block(rows, blocks, b + 1), out);
    }
}

void gs_transformer_layer_forward(struct gs_transformer_runner *r, size_t i) {
    const size_t width = r->run * r->config->width;
    const float *h = gs_transformer_stream(r, i);
    float *out = gs_transformer_stream(r, i + 1);
    for (size_t from = 0; from < r->batch; from += r->group) {
        const size_t count = r->batch - from < r->group ? r->batch - from : r->group;
        group_forward(r, i, count, h + from * width, out + from * width);
    }
    r->taped = i;
}

/* ---- a window ----------------------------------------------------------------------------- */

static bool wants(const struct gs_transformer_runner *r, const struct gs_tap *tap) {
    for (size_t i = 0; tap && i <= r->config->layers; i++)
        if (tap->wanted[i]) return true;
    return false;
}

/* The next region hands this over. */
static void set_handing(struct gs_transformer_runner *r, const struct gs_tap *tap, size_t channel,
                        const float *values, struct gs_error *error) {
    r->handing = (struct gs_transformer_handing){.tap = tap && tap->wanted[channel] ? tap : NULL,
                                                 .channel = channel,
                                                 .values = values,
                                                 .error = error,
                                                 .status = GS_OK};
}

/* The tokens that are run, and those that they predict. */
static void take_tokens(struct gs_transformer_runner *r, const uint32_t *tokens) {
    const size_t predicted = r->steps - 1;
    for (size_t b = 0; b < r->batch; b++) {
        memcpy(r->tokens + b * r->run, tokens + b * r->steps, r->run * sizeof *tokens);
        memcpy(r->targets + b * predicted, tokens + b * r->steps + 1, predicted * sizeof *tokens);
    }
}

static void embed(const struct gs_transformer_runner *r) {
    const size_t rows = r->batch * r->run, blocks = gs_row_blocks(rows), d = r->config->width;
    float *stream = gs_transformer_stream(r, 0);
#pragma omp parallel for schedule(static) num_threads((int)r->threads)
    for (size_t b = 0; b < blocks; b++) {
        size_t first = gs_row_block(rows, blocks, b), last = gs_row_block(rows, blocks, b + 1);
        gs_token_rows(r->tensors.embedding, r->options.bf16, r->tokens + first, last - first,
                      stream + first * d);
    }
}

static void finish_stream(struct gs_transformer_runner *r) {
    const size_t rows = r->batch * r->run, blocks = gs_row_blocks(rows), d = r->config->width;
    const float *stream = gs_transformer_stream(r, r->config->layers);
#pragma omp parallel num_threads((int)r->threads)
    {
        hand_over(r);
#pragma omp for schedule(dynamic)
        for (size_t b = 0; b < blocks; b++) {
            size_t first = gs_row_block(rows, blocks, b), last = gs_row_block(rows, blocks, b + 1);
            normalise(stream + first * d, r->tensors.norm, last - first, d, r->final + first * d);
        }
    }
}

/* The last token of a sequence predicts nothing in this window. */
static const float *predicting_rows(const struct gs_transformer_runner *r) {
    const size_t d = r->config->width, predicted = r->steps - 1;
    if (r->run == predicted) return r->final;
    for (size_t b = 0; b < r->batch; b++)
        memcpy(r->predicting + b * predicted * d, r->final + b * r->run * d,
               predicted * d * sizeof(float));
    return r->predicting;
}

static void find_losses(struct gs_transformer_runner *r, float *nll) {
    const size_t predicted = r->steps - 1;
    const float *rows = predicting_rows(r);
    gs_output_losses(&r->output, rows, r->targets, r->batch * predicted, r->losses,
                     r->d_predicting);
    for (size_t b = 0; b < r->batch; b++)
        memcpy(nll + b * r->steps + 1, r->losses + b * predicted, predicted * sizeof *nll);
    r->has_losses = r->options.train;
}

enum gs_status gs_transformer_forward(void *runner, struct gs_state *state, const uint32_t *tokens,
                                      size_t steps, const struct gs_tap *tap, float *nll,
                                      struct gs_error *error) {
    struct gs_transformer_runner *r = runner;
    const bool watched = wants(r, tap);
    r->batch = state->batch;
    r->steps = steps;
    r->run = watched && !r->options.last_is_target ? steps : steps - 1;
    if (r->has_losses) gs_output_clear(&r->output); /* a window whose backward never came */
    r->has_losses = false;
    if (r->run == 0 || (!watched && !nll)) return GS_OK;
    take_tokens(r, tokens);
    embed(r);
    r->handing = (struct gs_transformer_handing){.status = GS_OK};
    for (size_t i = 0; i < r->config->layers && r->handing.status == GS_OK; i++) {
        gs_transformer_layer_forward(r, i);
        if (r->handing.status == GS_OK)
            set_handing(r, tap, i, gs_transformer_stream(r, i + 1), error);
    }
    if (r->handing.status == GS_OK) finish_stream(r);
    if (r->handing.status == GS_OK) {
        set_handing(r, tap, r->config->layers, r->final, error);
        hand_over(r);
    }
    if (r->handing.status != GS_OK) return r->handing.status;
    if (nll && steps > 1) find_losses(r, nll);
    return GS_OK;
}

/* ---- decoding ----------------------------------------------------------------------------- */

void gs_transformer_decode_embedding(void *runner, const float *vectors, size_t rows,
                                     float *logits) {
    const struct gs_transformer_runner *r = runner;
    gs_output_logits(&r->output, vectors, rows, logits);
}

void gs_transformer_decode(void *runner, size_t channel, const float *states, size_t rows,
                           float *logits) {
    enum { ROWS = 12 };
    const struct gs_transformer_runner *r = runner;
    const size_t d = r->config->width, V = r->config->vocab;
    if (channel == gs_transformer_final_channel(r->config)) {
        gs_output_logits(&r->output, states, rows, logits);
        return;
    }
#pragma omp parallel for schedule(static) num_threads((int)r->threads)
    for (size_t from = 0; from < rows; from += ROWS) {
        const size_t count = rows - from < ROWS ? rows - from : ROWS;
        float *normal = gs_transformer_work(r);
        normalise(states + from * d, r->tensors.norm, count, d, normal);
        gs_output_rows(&r->output, normal, d, count, logits + from * V);
    }
}
