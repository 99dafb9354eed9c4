/* States to logits to losses (parts/output.h). */
#include "core/models/gpn/runner.h"

#include "core/kernels/kernels.h"

#include <omp.h>
#include <string.h>

void gs_gpn_targets(struct gs_gpn_runner *r, size_t begin, size_t steps) {
    for (size_t t = 0; t < steps; t++)
        for (size_t b = 0; b < r->batch; b++)
            r->targets[t * r->batch + b] = r->tokens[b * r->steps + begin + t];
}

/* Blocks of logits never reach over a stretch's end, so that where they begin does not depend on
 * segments. */
void gs_gpn_stretch_losses(struct gs_gpn_runner *r, size_t begin, size_t at, size_t steps) {
    const size_t from = at * r->batch, e = r->config->embedding;
    float *dz = r->options.train ? r->loss_gradient + (begin * r->batch + from) * e : NULL;
    gs_output_share(&r->weights.output, r->decoded + from * e, r->targets + from, steps * r->batch,
                    r->segment_nll + from, dz);
}

void gs_gpn_spread_losses(const struct gs_gpn_runner *r, size_t begin, size_t steps, float *nll) {
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

void gs_gpn_decode(void *runner, size_t channel, const float *states, size_t rows, float *logits) {
    (void)channel; /* only one decodes */
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
