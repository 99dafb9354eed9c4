/* States to logits to losses. Decoding does not feed back, so a segment's positions go through it
 * together, a block of logits at a time; in training the softmax's gradient is made in place. */
#include "core/models/gpn/runner.h"

#include "core/kernels/kernels.h"

#include <omp.h>
#include <string.h>

enum { VOCAB_BLOCK = 264 };

static void decode_rows(const struct gs_gpn_runner *r, const float *z, size_t zs, size_t rows,
                        float *logits) {
    const struct gs_packed *w = &r->weights.logits;
    gs_packed_product(w, z, zs, rows, 0, w->panels, logits, r->config->vocab, false);
}

/* Losses of rows first … of the block, and, in training, softmax - onehot in place and its way
 * back to z. */
static void block_rows(struct gs_gpn_runner *r, size_t block, size_t first, size_t rows,
                       float *dz) {
    const size_t V = r->config->vocab, e = r->config->embedding, at = block + first;
    float *logits = r->logits + first * V;
    decode_rows(r, r->decoded + at * e, e, rows, logits);
    for (size_t i = 0; i < rows; i++)
        r->segment_nll[at + i] =
            gs_kernels()->cross_entropy(logits + i * V, V, r->targets[at + i], r->options.train);
    if (r->options.train) {
        const struct gs_packed *back = &r->weights.logits_back;
        gs_packed_product(back, logits, V, rows, 0, back->panels, dz + at * e, e, false);
    }
}

/* embedding gradient += (softmax - onehot)' z, a block of the vocabulary at a time. */
static void embedding_products(struct gs_gpn_runner *r, size_t block, size_t rows) {
    const size_t V = r->config->vocab, e = r->config->embedding;
#pragma omp for schedule(dynamic)
    for (size_t v = 0; v < V; v += VOCAB_BLOCK) {
        size_t count = V - v < VOCAB_BLOCK ? V - v : VOCAB_BLOCK;
        gs_kernels()->outer(r->logits + v, V, r->decoded + block * e, e, rows, count, e,
                            r->weights.embedding_gradient + v * e, e);
    }
}

/* z of every position without the gates beside it, and the targets, in the tape's order. */
static void gather(struct gs_gpn_runner *r, size_t begin, size_t steps) {
    const size_t d = r->config->width, e = r->config->embedding;
#pragma omp parallel for schedule(static)
    for (size_t t = 0; t < steps; t++)
        for (size_t b = 0; b < r->batch; b++) {
            size_t i = t * r->batch + b;
            memcpy(r->decoded + i * e, gs_at(r, &r->tape.head, t) + b * (d + e) + d,
                   e * sizeof(float));
            r->targets[i] = r->tokens[b * r->steps + begin + t];
        }
}

/* Rows that a thread decodes at once: many, since it reads all of the output matrix for them, but
 * as many for each thread. No bit depends on it. */
static size_t decoded_together(size_t rows) {
    enum { MOST = 48 };
    const size_t threads = (size_t)omp_get_max_threads();
    size_t parts = threads * ((rows + threads * MOST - 1) / (threads * MOST));
    return (rows + parts - 1) / parts;
}

/* Blocks never reach over a stretch's end, so that where they begin does not depend on segments. */
static void stretch_losses(struct gs_gpn_runner *r, size_t from, size_t end, float *dz) {
#pragma omp parallel
    for (size_t block = from; block < end; block += r->decode_rows) {
        size_t count = end - block < r->decode_rows ? end - block : r->decode_rows;
        size_t together = decoded_together(count);
#pragma omp for schedule(dynamic)
        for (size_t first = 0; first < count; first += together)
            block_rows(r, block, first, count - first < together ? count - first : together, dz);
        if (r->options.train) embedding_products(r, block, count);
    }
}

void gs_gpn_segment_losses(struct gs_gpn_runner *r, size_t begin, size_t steps, float *nll) {
    const size_t positions = steps * r->batch, stretch = r->stretch * r->batch;
    float *dz =
        r->options.train ? r->loss_gradient + begin * r->batch * r->config->embedding : NULL;
    gather(r, begin, steps);
    for (size_t from = 0; from < positions; from += stretch)
        stretch_losses(r, from, positions - from < stretch ? positions : from + stretch, dz);
    for (size_t t = 0; t < steps; t++)
        for (size_t b = 0; b < r->batch; b++)
            nll[b * r->steps + begin + t] = r->segment_nll[t * r->batch + b];
}

/* A few states that come from outside, in workspaces of the calling thread. */
static void decode_states(const struct gs_gpn_runner *r, const float *states, size_t rows,
                          float *normal, float *head, float *logits) {
    const size_t d = r->config->width, e = r->config->embedding, wide = d + e;
    const struct gs_packed *w = &r->weights.head.forward;
    for (size_t i = 0; i < rows; i++) gs_kernels()->rms(states + i * d, d, normal + i * d);
    gs_packed_product(w, normal, d, rows, d / gs_kernels()->panel, w->panels, head, wide, false);
    if (r->weights.tensors.decode_bias)
        for (size_t i = 0; i < rows; i++)
            gs_kernels()->add(r->weights.tensors.decode_bias->values, e, head + i * wide + d);
    decode_rows(r, head + d, wide, rows, logits);
}

void gs_gpn_decode(void *runner, const float *states, size_t rows, float *logits) {
    const struct gs_gpn_runner *r = runner;
    const size_t d = r->config->width, wide = d + r->config->embedding, V = r->config->vocab;
#pragma omp parallel for schedule(static) num_threads((int)r->threads)
    for (size_t from = 0; from < rows; from += GS_DECODE_ROWS) {
        size_t thread = (size_t)omp_get_thread_num() * GS_DECODE_ROWS;
        size_t count = rows - from < GS_DECODE_ROWS ? rows - from : GS_DECODE_ROWS;
        decode_states(r, states + from * d, count, r->work.decode_normal + thread * d,
                      r->work.decode_head + thread * wide, logits + from * V);
    }
}

void gs_gpn_decode_embedding(void *runner, const float *vectors, size_t rows, float *logits) {
    const struct gs_gpn_runner *r = runner;
    const size_t e = r->config->embedding, V = r->config->vocab;
#pragma omp parallel for schedule(static)
    for (size_t from = 0; from < rows; from += GS_DECODE_ROWS)
        decode_rows(r, vectors + from * e, e,
                    rows - from < GS_DECODE_ROWS ? rows - from : GS_DECODE_ROWS, logits + from * V);
}
