/* A window backward, layer by layer from the last. */
#include "core/kernels/kernels.h"
#include "core/models/gdn/runner.h"
#include "core/models/parts/row_blocks.h"
#include "core/models/parts/token_rows.h"

#include <omp.h>
#include <string.h>

static struct gs_gdn_work *own_work(const struct gs_gdn_runner *r) {
    return &r->work[omp_get_thread_num()];
}

static float *gradient_of(const struct gs_parameters *gradients, const struct gs_tensor *tensor) {
    return gs_parameters_find(gradients, tensor->name)->values;
}

/* gradient (d) += the blocks' sums, in their order. */
static void add_blocks(const float *sums, size_t blocks, size_t d, float *gradient) {
    for (size_t j = 0; j < d; j++) {
        double sum = 0;
        for (size_t i = 0; i < blocks; i++) sum += (double)sums[i * d + j];
        gradient[j] += (float)sum;
    }
}

/* ---- from the losses to h ----------------------------------------------------------------- */

/* Row i of the window: back through the final norm, or nothing where nothing was predicted. */
static void finish_row_back(const struct gs_gdn_runner *r, size_t i, float scale, float *dh,
                            float *dnorm) {
    const size_t d = r->config->width, predicting = gs_gdn_predicting(r, 0, r->run);
    const size_t b = i / r->run, t = i % r->run;
    if (t >= predicting) {
        memset(dh, 0, d * sizeof *dh);
        return;
    }
    float *dz = r->dz + (b * predicting + t) * d;
    for (size_t j = 0; j < d; j++) dz[j] *= scale;
    gs_kernels()->norm_backward(dz, r->layers[r->config->layers - 1].after + i * d,
                                r->weights.tensors.norm->values, d, dh, false, dnorm);
}

static void finish_back(const struct gs_gdn_runner *r, float scale,
                        const struct gs_parameters *gradients) {
    const size_t d = r->config->width, rows = r->batch * r->run, blocks = gs_row_blocks(rows);
    float *norms = r->back.norms[0];
#pragma omp parallel for schedule(dynamic) num_threads((int)r->threads)
    for (size_t block = 0; block < blocks; block++) {
        memset(norms + block * d, 0, d * sizeof *norms);
        for (size_t i = gs_row_block(rows, blocks, block);
             i < gs_row_block(rows, blocks, block + 1); i++)
            finish_row_back(r, i, scale, r->back.h[0] + i * d, norms + block * d);
    }
    add_blocks(norms, blocks, d, gradient_of(gradients, r->weights.tensors.norm));
}

/* ---- a layer ------------------------------------------------------------------------------ */

/* What the parts of a layer's backward share. */
struct step {
    const struct gs_gdn_runner *r;
    const struct gs_parameters *gradients;
    size_t layer, rows, blocks;
    float *after, *between, *before; /* gradients of h */
};

static void feed_block(const struct step *s, size_t block) {
    const struct gs_gdn_runner *r = s->r;
    const size_t d = r->config->width, f = r->config->ffn;
    const size_t first = gs_row_block(s->rows, s->blocks, block);
    const size_t rows = gs_row_block(s->rows, s->blocks, block + 1) - first;
    const struct gs_gdn_tape *tape = &r->layers[s->layer];
    float *dnorm = r->back.norms[0] + block * d;
    memset(dnorm, 0, d * sizeof *dnorm);
    gs_feed_forward_rows_back(&r->weights.layers[s->layer].feed, tape->between + first * d,
                              tape->gu + first * 2 * f, s->after + first * d, rows,
                              s->between + first * d, r->back.normal[1] + first * d,
                              r->back.activation + first * f, dnorm, own_work(r)->rows);
    const size_t values = r->config->heads * r->config->value;
    gs_linear_rows_back(&r->weights.layers[s->layer].out, s->between + first * d, d, rows,
                        r->back.read + first * values, values, false);
}

static void project_block(const struct step *s, size_t block) {
    const struct gs_gdn_runner *r = s->r;
    const size_t d = r->config->width, count = r->columns.count;
    const size_t first = gs_row_block(s->rows, s->blocks, block);
    const size_t last = gs_row_block(s->rows, s->blocks, block + 1);
    const struct gs_gdn_tape *tape = &r->layers[s->layer];
    const float *weight = r->weights.tensors.layers[s->layer].norm->values;
    float *dnorm = r->back.norms[1] + block * d, *dnormal = own_work(r)->rows;
    memset(dnorm, 0, d * sizeof *dnorm);
    gs_linear_rows_back(&r->weights.layers[s->layer].in, tape->in + first * count, count,
                        last - first, dnormal, d, false);
    memcpy(s->before + first * d, s->between + first * d, (last - first) * d * sizeof(float));
    for (size_t i = first; i < last; i++) {
        const float *h = tape->before + i * d;
        gs_kernels()->norm(h, weight, d, r->back.normal[0] + i * d);
        gs_kernels()->norm_backward(dnormal + (i - first) * d, h, weight, d, s->before + i * d,
                                    true, dnorm);
    }
}

static void weights_back(const struct step *s) {
    const struct gs_gdn_runner *r = s->r;
    const struct gs_gdn_layer_weights *w = &r->weights.layers[s->layer];
    gs_linear_gradients(&w->in, r->back.normal[0], r->layers[s->layer].in, s->rows, s->gradients);
    gs_linear_gradients(&w->out, r->back.read, s->between, s->rows, s->gradients);
}

static void layer_back(const struct step *s) {
    const struct gs_gdn_runner *r = s->r;
    const struct gs_gdn_layer *t = &r->weights.tensors.layers[s->layer];
    const size_t H = r->config->heads, d = r->config->width;
#pragma omp parallel num_threads((int)r->threads)
    {
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < s->blocks; i++) feed_block(s, i);
        gs_feed_forward_gradients(&r->weights.layers[s->layer].feed, r->back.normal[1],
                                  r->layers[s->layer].gu, r->back.activation, s->after, s->rows,
                                  s->gradients);
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < r->batch * H; i++) {
            const struct gs_gdn_unit unit = {r, own_work(r), s->layer, i / H, i % H, r->run};
            gs_gdn_unit_backward(&unit);
        }
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < s->blocks; i++) project_block(s, i);
        weights_back(s);
    }
    add_blocks(r->back.norms[0], s->blocks, d, gradient_of(s->gradients, t->ffn_norm));
    add_blocks(r->back.norms[1], s->blocks, d, gradient_of(s->gradients, t->norm));
}

static void embed_back(const struct gs_gdn_runner *r, const float *dh,
                       const struct gs_parameters *gradients) {
    const size_t d = r->config->width;
    float *gradient = gradient_of(gradients, r->weights.tensors.embedding);
#pragma omp parallel num_threads((int)r->threads)
    for (size_t b = 0; b < r->batch; b++)
        gs_token_rows_back(r->tokens + b * r->steps, r->run, d, dh + b * r->run * d, gradient);
}

void gs_gdn_window_backward(struct gs_gdn_runner *r, float scale,
                            const struct gs_parameters *gradients) {
    const size_t rows = r->batch * r->run;
    struct step s = {.r = r,
                     .gradients = gradients,
                     .rows = rows,
                     .blocks = gs_row_blocks(rows),
                     .after = r->back.h[0],
                     .between = r->back.h[1],
                     .before = r->back.h[2]};
    finish_back(r, scale, gradients);
    for (size_t layer = r->config->layers; layer-- > 0;) {
        /* the last one is still on the tape */
        if (r->saved_memory && layer + 1 < r->config->layers)
            gs_gdn_layer_forward(r, layer, r->run);
        s.layer = layer;
        layer_back(&s);
        float *free = s.after;
        s.after = s.before;
        s.before = free;
    }
    embed_back(r, s.after, gradients);
}

/* ---- over the window ---------------------------------------------------------------------- */

/* Gradients of the convolutions' weights, sequence by sequence. */
static void taps_finish(const struct gs_gdn_runner *r, size_t layer,
                        const struct gs_parameters *gradients) {
    const size_t channels = gs_gdn_channels(r->config), size = GS_CONV_WIDTH * channels;
    const float *taps = r->back.taps + layer * r->options.batch * size;
    struct gs_gdn_conv convs[3];
    gs_gdn_convs(r->config, &r->weights.tensors.layers[layer], convs);
    for (size_t k = 0; k < 3; k++) {
        float *to = gradient_of(gradients, convs[k].weight);
        for (size_t j = 0; j < convs[k].weight->shape[0]; j++)
            for (size_t tap = 0; tap < GS_CONV_WIDTH; tap++) {
                double sum = 0;
                for (size_t b = 0; b < r->batch; b++)
                    sum += (double)taps[b * size + tap * channels + convs[k].column + j];
                to[j * GS_CONV_WIDTH + tap] += (float)sum;
            }
    }
}

static void heads_finish(const struct gs_gdn_runner *r, size_t layer,
                         const struct gs_parameters *gradients) {
    const struct gs_gdn_layer *t = &r->weights.tensors.layers[layer];
    const size_t H = r->config->heads, dv = r->config->value, units = r->options.batch * H;
    const float *norms = r->back.read_norm + layer * units * dv;
    const double *gates = r->back.gates + layer * units * 2;
    add_blocks(norms, r->batch * H, dv, gradient_of(gradients, t->read_norm));
    for (size_t h = 0; h < H; h++) {
        double sums[2] = {0};
        for (size_t b = 0; b < r->batch; b++)
            for (size_t k = 0; k < 2; k++) sums[k] += gates[(b * H + h) * 2 + k];
        gradient_of(gradients, t->a_log)[h] += (float)sums[0];
        gradient_of(gradients, t->dt_bias)[h] += (float)sums[1];
    }
}

void gs_gdn_gradients_finish(struct gs_gdn_runner *r, float scale,
                             const struct gs_parameters *gradients) {
    for (size_t layer = 0; layer < r->config->layers; layer++) {
        taps_finish(r, layer, gradients);
        heads_finish(r, layer, gradients);
    }
    gs_output_gradient(&r->weights.output, scale,
                       gradient_of(gradients, r->weights.tensors.output));
}
