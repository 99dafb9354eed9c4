/* From what a stretch of steps kept to the gradients of the parameters. */
#include "core/models/gpn/runner.h"

#include "core/kernels/kernels.h"

#include <string.h>

/* sums[j] += column j of dy (rows, width), first <= j < last, in float64 and row order. */
static void add_columns(double *sums, const float *dy, size_t rows, size_t width, size_t first,
                        size_t last) {
    enum { CHUNK = 128 };
#pragma omp for schedule(static) nowait
    for (size_t from = first; from < last; from += CHUNK) {
        size_t end = last - from < CHUNK ? last : from + CHUNK;
        for (size_t row = 0; row < rows; row++)
            for (size_t j = from; j < end; j++) sums[j] += (double)dy[row * width + j];
    }
}

/* Those columns of layer i's gradients that have a bias: gate and query, key, decay. */
static void add_biases(struct gs_gpn_runner *r, size_t i, const float *dy, size_t rows) {
    const struct gs_gpn_columns *col = gs_columns(r, i);
    add_columns(r->bias_in[i], dy, rows, col->count, col->gate, col->read_gate);
    if (i > 0 || !r->config->heads) return;
    add_columns(r->bias_in[i], dy, rows, col->count, col->key, col->strength);
    add_columns(r->bias_in[i], dy, rows, col->count, col->decay, col->count);
}

void gs_gpn_stretch_flush(struct gs_gpn_runner *r, const struct gs_gpn_left *left) {
    const struct gs_gpn_config *c = r->config;
    const size_t at = left->at, rows = left->steps * r->batch, d = c->width;
    for (size_t i = 0; i < c->layers; i++) {
        gs_matrix_accumulate(&r->weights.in[i], gs_at(r, &r->tape.layers[i].normal, at),
                             left->in[i], rows);
        gs_matrix_accumulate(&r->weights.ffn_out[i], left->activation[i], left->out[i], rows);
        if (c->heads)
            gs_matrix_accumulate(&r->weights.read_out[i], left->read[i], left->out[i], rows);
    }
    gs_matrix_accumulate(&r->weights.head, gs_at(r, &r->tape.predicted_normal, at), left->head,
                         rows);
    /* small parts last: threads then end together */
    for (size_t i = 0; i < c->layers; i++) add_biases(r, i, left->in[i], rows);
    const size_t wide = d + c->embedding;
    add_columns(r->bias_head, left->head, rows, wide, 0, c->decoder_bias ? wide : d);
    if (c->heads) add_columns(r->a_log_sum, left->a_log, rows, c->heads, 0, c->heads);
    /* the region's end is the barrier */
}

/* The key of the window's first step comes from s_prev, not from a step on the tape. */
void gs_gpn_first_key_backward(struct gs_gpn_runner *r, float *previous) {
    const struct gs_gpn_config *c = r->config;
    const size_t d = c->width, keys = c->heads * c->key, at = r->weights.first.key;
    const struct gs_packed *back = &r->weights.key_back;
    for (size_t b = 0; b < r->batch; b++) {
        const float *dkey = r->back.key + b * keys, *normal = r->work.previous_normal + b * d;
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < keys; j++)
                r->weights.in[0].gradient[i * r->weights.first.count + at + j] +=
                    normal[i] * dkey[j];
        for (size_t j = 0; j < keys; j++) r->bias_in[0][at + j] += (double)dkey[j];
        if (!previous) continue;
        gs_packed_product(back, dkey, keys, 1, 0, back->panels, r->back.normal + b * d, d, false);
        gs_kernels()->rms_backward(r->back.normal + b * d, normal, r->work.previous_scale[b], d,
                                   previous + b * d, false);
    }
}

static void add_sums(double *sums, size_t count, float scale, const struct gs_tensor *tensor,
                     const struct gs_parameters *gradients) {
    if (!tensor) return;
    float *values = gs_parameters_find(gradients, tensor->name)->values;
    for (size_t j = 0; j < count; j++) values[j] += scale * (float)sums[j];
}

static void finish_biases(struct gs_gpn_runner *r, float scale,
                          const struct gs_parameters *gradients) {
    const struct gs_gpn_config *c = r->config;
    const struct gs_gpn_tensors *t = &r->weights.tensors;
    const size_t keys = c->heads * c->key;
    for (size_t i = 0; i < c->layers; i++) {
        const struct gs_gpn_columns *col = gs_columns(r, i);
        add_sums(r->bias_in[i] + col->gate, c->width, scale, t->layers[i].gate_bias, gradients);
        add_sums(r->bias_in[i] + col->query, keys, scale, t->layers[i].query_bias, gradients);
    }
    add_sums(r->bias_in[0] + r->weights.first.key, keys, scale, t->key_bias, gradients);
    add_sums(r->bias_in[0] + r->weights.first.decay, c->heads, scale, t->dt_bias, gradients);
    add_sums(r->a_log_sum, c->heads, scale, t->a_log, gradients);
    add_sums(r->bias_head, c->width, scale, t->ground_bias, gradients);
    add_sums(r->bias_head + c->width, c->embedding, scale, t->decode_bias, gradients);
    for (size_t i = 0; i < c->layers; i++) {
        size_t columns = gs_columns(r, i)->count;
        memset(r->bias_in[i], 0, columns * sizeof(double));
    }
    memset(r->bias_head, 0, (c->width + c->embedding) * sizeof(double));
    memset(r->a_log_sum, 0, c->heads * sizeof(double));
}

void gs_gpn_gradients_finish(struct gs_gpn_runner *r, float scale,
                             const struct gs_parameters *gradients) {
    const struct gs_gpn_config *c = r->config;
    for (size_t i = 0; i < c->layers; i++) {
        gs_matrix_unfold(&r->weights.in[i], r->weights.bf16, scale, gradients);
        gs_matrix_unfold(&r->weights.ffn_out[i], r->weights.bf16, scale, gradients);
        if (c->heads) gs_matrix_unfold(&r->weights.read_out[i], r->weights.bf16, scale, gradients);
    }
    gs_matrix_unfold(&r->weights.head, r->weights.bf16, scale, gradients);
    gs_matrix_unfold(&r->weights.fuse, r->weights.bf16, scale, gradients);
    finish_biases(r, scale, gradients);
    gs_output_gradient(&r->weights.output, scale,
                       gs_parameters_find(gradients, r->weights.tensors.embedding->name)->values);
}
