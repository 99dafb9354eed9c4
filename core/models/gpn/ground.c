/* Grounding depends on the token alone, so it is computed once for each distinct token of a stretch
 * of steps, forward and backward (../shared/spec/performance.md). */
#include "core/models/gpn/runner.h"

#include "core/kernels/kernels.h"

#include <omp.h>
#include <string.h>

static void collect_tokens(struct gs_gpn_runner *r, size_t begin, size_t steps) {
    struct gs_gpn_ground *g = &r->ground;
    g->count = 0;
    for (size_t t = 0; t < steps; t++)
        for (size_t b = 0; b < r->batch; b++) {
            uint32_t token = r->tokens[b * r->steps + begin + t];
            if (!g->slot[token]) {
                g->token[g->count++] = token;
                g->slot[token] = (uint32_t)g->count;
            }
            g->row[t * r->batch + b] = g->slot[token] - 1;
        }
    for (size_t i = 0; i < g->count; i++) g->slot[g->token[i]] = 0;
}

/* rms of the token's embedding; in bf16 mode from rounded weights, and rounded again. */
static void normalise_embedding(const struct gs_gpn_runner *r, size_t i) {
    const size_t e = r->config->embedding;
    const float *embedding = r->weights.tensors.embedding->values + r->ground.token[i] * e;
    float *normal = r->ground.normal + i * e;
    for (size_t j = 0; j < e; j++)
        normal[j] = r->weights.bf16 ? gs_round_bf16(embedding[j]) : embedding[j];
    r->ground.scale[i] = gs_kernels()->rms(normal, e, normal);
    for (size_t j = 0; j < e && r->weights.bf16; j++) normal[j] = gs_round_bf16(normal[j]);
}

/* Rows of the distinct tokens that a thread takes at once. */
enum { ROWS = 24 };

void gs_gpn_ground_collect(struct gs_gpn_runner *r, size_t begin, size_t steps) {
    collect_tokens(r, begin, steps);
    for (size_t i = 0; i < r->ground.count; i++) normalise_embedding(r, i);
}

void gs_gpn_ground_forward(struct gs_gpn_runner *r, size_t begin, size_t steps) {
    const size_t d = r->config->width, e = r->config->embedding;
    const struct gs_packed *fuse = &r->weights.fuse.forward;
    collect_tokens(r, begin, steps);
#pragma omp parallel for schedule(static)
    for (size_t from = 0; from < r->ground.count; from += ROWS) {
        size_t rows = r->ground.count - from < ROWS ? r->ground.count - from : ROWS;
        for (size_t i = from; i < from + rows; i++) normalise_embedding(r, i);
        gs_packed_product(fuse, r->ground.normal + from * e, e, rows, 0, fuse->panels,
                          r->ground.ground + from * d, d, false);
    }
}

void gs_gpn_ground_scatter(struct gs_gpn_runner *r, size_t steps) {
    enum { CHUNK = 64 };
    const size_t d = r->config->width;
#pragma omp for schedule(static) nowait
    for (size_t from = 0; from < d; from += CHUNK) {
        size_t width = d - from < CHUNK ? d - from : CHUNK;
        for (size_t i = 0; i < steps * r->batch; i++) {
            size_t token = r->ground.row[i];
            gs_kernels()->add(r->back.now->ground + i * d + from, width,
                              r->ground_gradient + token * d + from);
        }
    }
}

void gs_gpn_ground_backward(struct gs_gpn_runner *r) {
    const size_t d = r->config->width, e = r->config->embedding;
    const struct gs_packed *back = &r->weights.fuse.backward;
#pragma omp parallel
    gs_matrix_accumulate(&r->weights.fuse, r->ground.normal, r->ground_gradient, r->ground.count);
#pragma omp parallel for schedule(static)
    for (size_t from = 0; from < r->ground.count; from += ROWS) {
        size_t rows = r->ground.count - from < ROWS ? r->ground.count - from : ROWS;
        gs_packed_product(back, r->ground_gradient + from * d, d, rows, 0, back->panels,
                          r->embedding_row + from * e, e, false);
        for (size_t i = from; i < from + rows; i++)
            gs_kernels()->rms_backward(r->embedding_row + i * e, r->ground.normal + i * e,
                                       r->ground.scale[i], e,
                                       r->weights.output.gradient + r->ground.token[i] * e, true);
    }
}
