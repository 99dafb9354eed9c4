/* A segment forward, layer by layer; rows in blocks, units one by one, by whichever thread is free.
 */
#include "core/kernels/kernels.h"
#include "core/models/gdn/runner.h"
#include "core/models/parts/row_blocks.h"
#include "core/models/parts/token_rows.h"

#include <omp.h>
#include <string.h>

static struct gs_gdn_work *own_work(const struct gs_gdn_runner *r) {
    return &r->work[omp_get_thread_num()];
}

void gs_gdn_embed(const struct gs_gdn_runner *r, size_t begin, size_t steps) {
    const size_t d = r->config->width;
#pragma omp parallel for schedule(static) num_threads((int)r->threads)
    for (size_t b = 0; b < r->batch; b++)
        gs_token_rows(r->weights.tensors.embedding, r->weights.bf16,
                      r->tokens + b * r->steps + begin, steps, r->layers[0].before + b * steps * d);
}

/* Rows first … last - 1 to what the layer makes of rms(h). */
static void project(const struct gs_gdn_runner *r, size_t layer, size_t first, size_t last) {
    const size_t d = r->config->width, count = r->columns.count;
    const float *weight = r->weights.tensors.layers[layer].norm->values;
    const struct gs_gdn_tape *tape = &r->layers[layer];
    float *normal = own_work(r)->rows;
    for (size_t i = first; i < last; i++)
        gs_kernels()->norm(tape->before + i * d, weight, d, normal + (i - first) * d);
    gs_linear_rows(&r->weights.layers[layer].in, normal, d, last - first, tape->in + first * count,
                   count, false);
}

/* What was read, and the feed-forward, onto h. */
static void add_branches(const struct gs_gdn_runner *r, size_t layer, size_t first, size_t last) {
    const size_t d = r->config->width, values = r->config->heads * r->config->value;
    const struct gs_gdn_layer_weights *w = &r->weights.layers[layer];
    const struct gs_gdn_tape *tape = &r->layers[layer];
    const size_t rows = last - first;
    float *between = tape->between + first * d;
    if (tape->between != tape->before)
        memcpy(between, tape->before + first * d, rows * d * sizeof *between);
    gs_linear_rows(&w->out, r->read + first * values, values, rows, between, d, true);
    float *gu = r->options.train
                    ? tape->gu + first * 2 * r->config->ffn
                    : own_work(r)->rows + gs_feed_forward_work(d, r->config->ffn, rows);
    gs_feed_forward_rows(&w->feed, between, rows, tape->after + first * d, gu, own_work(r)->rows);
}

void gs_gdn_layer_forward(struct gs_gdn_runner *r, size_t layer, size_t steps) {
    const size_t rows = r->batch * steps, blocks = gs_row_blocks(rows), H = r->config->heads;
#pragma omp parallel num_threads((int)r->threads)
    {
        gs_gdn_hand_over(r);
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < blocks; i++)
            project(r, layer, gs_row_block(rows, blocks, i), gs_row_block(rows, blocks, i + 1));
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < r->batch * H; i++) {
            const struct gs_gdn_unit unit = {r, own_work(r), layer, i / H, i % H, steps};
            gs_gdn_unit_forward(&unit);
        }
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < blocks; i++)
            add_branches(r, layer, gs_row_block(rows, blocks, i),
                         gs_row_block(rows, blocks, i + 1));
    }
}

void gs_gdn_finish(struct gs_gdn_runner *r, size_t steps) {
    const size_t rows = r->batch * steps, d = r->config->width;
    const float *weight = r->weights.tensors.norm->values;
    const float *h = r->layers[r->config->layers - 1].after;
#pragma omp parallel num_threads((int)r->threads)
    {
        gs_gdn_hand_over(r);
#pragma omp for schedule(dynamic, 64)
        for (size_t i = 0; i < rows; i++)
            gs_kernels()->norm(h + i * d, weight, d, r->final + i * d);
    }
}

/* Rows that predict something stand closely: the last token of a window does not. */
static size_t gather(struct gs_gdn_runner *r, size_t begin, size_t steps) {
    const size_t d = r->config->width, predicting = gs_gdn_predicting(r, begin, steps);
    for (size_t b = 0; b < r->batch; b++) {
        memmove(r->final + b * predicting * d, r->final + b * steps * d,
                predicting * d * sizeof *r->final);
        memcpy(r->targets + b * predicting, r->tokens + b * r->steps + begin + 1,
               predicting * sizeof *r->targets);
    }
    return predicting;
}

void gs_gdn_losses(struct gs_gdn_runner *r, size_t begin, size_t steps, float *nll) {
    const size_t predicting = gather(r, begin, steps);
    gs_output_losses(&r->weights.output, r->final, r->targets, r->batch * predicting,
                     r->segment_nll, r->dz);
    for (size_t b = 0; b < r->batch; b++)
        memcpy(nll + b * r->steps + begin + 1, r->segment_nll + b * predicting,
               predicting * sizeof *nll);
}
