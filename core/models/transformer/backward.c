/* Back through a window, layer by layer. Gradients of the matrices are made for all rows of the
 * window at once, and go straight to the parameters'; those of the norms by blocks of rows, whose
 * sums are added up at the end. */
#include "core/models/transformer/runner.h"

#include "core/kernels/kernels.h"
#include "core/models/parts/row_blocks.h"
#include "core/models/parts/token_rows.h"

#include <string.h>

/* Places of the norms in back.d_norm: of a layer's attention, of its feed-forward, the last one. */
enum { ATTENTION_NORM, FFN_NORM, LAYER_NORMS };

static float *norm_gradient(const struct gs_transformer_runner *r, size_t norm, size_t blocks,
                            size_t block) {
    return r->back.d_norm + (norm * blocks + block) * r->config->width;
}

/* ---- blocks of rows ----------------------------------------------------------------------- */

/* From the gradient of the loss to that of the stream after the last layer. */
static void losses_back(struct gs_transformer_runner *r, float scale, size_t first, size_t last,
                        float *dnorm) {
    const size_t d = r->config->width, predicted = r->steps - 1;
    const float *stream = gs_transformer_stream(r, r->config->layers);
    for (size_t row = first; row < last; row++) {
        const size_t b = row / r->run, t = row % r->run;
        float *to = r->back.upper + row * d, *from = r->d_predicting + (b * predicted + t) * d;
        if (t == predicted) {
            memset(to, 0, d * sizeof *to);
            continue;
        }
        for (size_t j = 0; j < d; j++) from[j] *= scale;
        gs_kernels()->norm_backward(from, stream + row * d, r->tensors.norm->values, d, to, false,
                                    dnorm);
    }
}

/* Through the feed-forward, and on to what attention mixed. */
static void feed_back(struct gs_transformer_runner *r, size_t i,
                      const struct gs_transformer_tape *tape, size_t first, size_t last,
                      float *dnorm) {
    const size_t d = r->config->width, f = r->config->ffn, rows = last - first;
    const struct gs_transformer_weights *w = &r->weights[i];
    const struct gs_transformer_back *back = &r->back;
    gs_feed_forward_rows_back(&w->feed, tape->middle + first * d, tape->gate + first * 2 * f,
                              back->upper + first * d, rows, back->middle + first * d,
                              back->normal + first * d, back->activation + first * f, dnorm,
                              gs_transformer_work(r));
    gs_linear_rows_back(&w->out, back->middle + first * d, d, rows, back->d_mixed + first * d, d,
                        false);
}

/* Through the projections to the layer's input. */
static void project_back(struct gs_transformer_runner *r, size_t i, size_t first, size_t last,
                         float *dnorm) {
    const size_t d = r->config->width, rows = last - first;
    const struct gs_transformer_back *back = &r->back;
    const float *norm = r->tensors.layers[i].attention_norm->values;
    const float *h = gs_transformer_stream(r, i) + first * d;
    float *dnormal = gs_transformer_work(r), *upper = back->upper + first * d;
    gs_linear_rows_back(&r->weights[i].in, back->d_in + first * 3 * d, 3 * d, rows, dnormal, d,
                        false);
    memcpy(upper, back->middle + first * d, rows * d * sizeof *upper);
    for (size_t k = 0; k < rows; k++) {
        gs_kernels()->norm_backward(dnormal + k * d, h + k * d, norm, d, upper + k * d, true,
                                    dnorm);
        gs_kernels()->norm(h + k * d, norm, d, back->normal + (first + k) * d);
    }
}

/* ---- a layer ------------------------------------------------------------------------------ */

/* back.upper: the gradient of the layer's output; becomes that of its input. */
static void layer_back(struct gs_transformer_runner *r, size_t i,
                       const struct gs_parameters *gradients) {
    const struct gs_transformer_tape *tape = gs_transformer_tape(r, i);
    const struct gs_transformer_weights *w = &r->weights[i];
    const struct gs_transformer_back *back = &r->back;
    const size_t rows = r->batch * r->run, blocks = gs_row_blocks(rows), at = i * LAYER_NORMS;
#pragma omp parallel num_threads((int)r->threads)
    {
#pragma omp for schedule(dynamic)
        for (size_t b = 0; b < blocks; b++)
            feed_back(r, i, tape, gs_row_block(rows, blocks, b), gs_row_block(rows, blocks, b + 1),
                      norm_gradient(r, at + FFN_NORM, blocks, b));
        gs_feed_forward_gradients(&w->feed, back->normal, tape->gate, back->activation, back->upper,
                                  rows, gradients);
        gs_transformer_attend_back(r, tape, r->batch);
#pragma omp for schedule(dynamic)
        for (size_t b = 0; b < blocks; b++)
            project_back(r, i, gs_row_block(rows, blocks, b), gs_row_block(rows, blocks, b + 1),
                         norm_gradient(r, at + ATTENTION_NORM, blocks, b));
        gs_linear_gradients(&w->out, tape->mixed, back->middle, rows, gradients);
        gs_linear_gradients(&w->in, back->normal, back->d_in, rows, gradients);
    }
}

/* ---- a window ----------------------------------------------------------------------------- */

static void add_norm(const struct gs_transformer_runner *r, size_t place, size_t blocks,
                     const struct gs_tensor *norm, const struct gs_parameters *gradients) {
    float *to = gs_parameters_find(gradients, norm->name)->values;
    for (size_t j = 0; j < r->config->width; j++) {
        double sum = 0;
        for (size_t b = 0; b < blocks; b++) sum += (double)norm_gradient(r, place, blocks, b)[j];
        to[j] += (float)sum;
    }
}

static void finish(struct gs_transformer_runner *r, float scale,
                   const struct gs_parameters *gradients) {
    const size_t rows = r->batch * r->run, blocks = gs_row_blocks(rows), d = r->config->width;
    const size_t layers = r->config->layers;
    float *embedding = gs_parameters_find(gradients, r->tensors.embedding->name)->values;
    for (size_t i = 0; i < layers; i++) {
        const struct gs_transformer_layer *t = &r->tensors.layers[i];
        add_norm(r, i * LAYER_NORMS + ATTENTION_NORM, blocks, t->attention_norm, gradients);
        add_norm(r, i * LAYER_NORMS + FFN_NORM, blocks, t->ffn_norm, gradients);
    }
    add_norm(r, layers * LAYER_NORMS, blocks, r->tensors.norm, gradients);
#pragma omp parallel num_threads((int)r->threads)
    gs_token_rows_back(r->tokens, rows, d, r->back.upper, embedding);
    gs_output_gradient(&r->output, scale, embedding);
}

enum gs_status gs_transformer_backward(void *runner, float scale, struct gs_parameters *gradients,
                                       struct gs_state *state_gradient, struct gs_error *error) {
    struct gs_transformer_runner *r = runner;
    const size_t rows = r->batch * r->run, blocks = gs_row_blocks(rows);
    const size_t layers = r->config->layers, norms = layers * LAYER_NORMS + 1;
    (void)state_gradient; /* nothing is kept between windows */
    (void)error;
    if (!r->has_losses) return GS_OK; /* a window of one token */
    memset(r->back.d_norm, 0, norms * blocks * r->config->width * sizeof(float));
#pragma omp parallel for schedule(static) num_threads((int)r->threads)
    for (size_t b = 0; b < blocks; b++)
        losses_back(r, scale, gs_row_block(rows, blocks, b), gs_row_block(rows, blocks, b + 1),
                    norm_gradient(r, layers * LAYER_NORMS, blocks, b));
    for (size_t i = layers; i-- > 0;) {
        if (r->options.recompute_every && r->taped != i) gs_transformer_layer_forward(r, i);
        layer_back(r, i, gradients);
    }
    finish(r, scale, gradients);
    r->has_losses = false;
    return GS_OK;
}
