/* States to logits to losses. Decoding does not feed back, so a segment's positions go through it
 * together (parts/output.h). */
#include "core/models/gpn/runner.h"

#include "core/kernels/kernels.h"

#include <omp.h>
#include <string.h>

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

void gs_gpn_segment_losses(struct gs_gpn_runner *r, size_t begin, size_t steps, float *nll) {
    const size_t positions = steps * r->batch, stretch = r->stretch * r->batch;
    const size_t e = r->config->embedding;
    float *dz = r->options.train ? r->loss_gradient + begin * r->batch * e : NULL;
    gather(r, begin, steps);
    /* Blocks never reach over a stretch's end, so that where they begin does not depend on
     * segments. */
    for (size_t from = 0; from < positions; from += stretch)
        gs_output_losses(&r->weights.output, r->decoded + from * e, r->targets + from,
                         positions - from < stretch ? positions - from : stretch,
                         r->segment_nll + from, dz ? dz + from * e : NULL);
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
    gs_output_rows(&r->weights.output, head + d, wide, rows, logits);
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
    gs_output_logits(&r->weights.output, vectors, rows, logits);
}
