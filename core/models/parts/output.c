#include "core/models/parts/output.h"

#include "core/base/memory.h"
#include "core/kernels/kernels.h"

#include <omp.h>
#include <string.h>

enum { VOCAB_BLOCK = 264, FEW_ROWS = 12 };

/* ---- planned and packed ------------------------------------------------------------------- */

/* Rows that stand a multiple of some KiB apart fall into few lines of each cache and drive each
 * other out. */
static size_t stride_of(size_t vocab) {
    enum { APART = 256, LINE = 16 };
    return vocab % APART ? vocab : vocab + LINE;
}

void gs_output_plan(size_t vocab, size_t width, bool train, size_t block_rows,
                    struct gs_arena *arena, struct gs_output *output) {
    output->vocab = vocab;
    output->width = width;
    output->train = train;
    gs_packed_plan(width, vocab, arena, &output->logits);
    if (train) gs_packed_plan(vocab, width, arena, &output->back);
    if (train) output->gradient = gs_arena_floats(arena, vocab, width, 1);
    output->block_rows = block_rows;
    output->stride = stride_of(vocab);
    output->block = gs_arena_floats(arena, block_rows, output->stride, 1);
}

void gs_output_bind(const struct gs_tensor *matrix, bool bf16, struct gs_output *output) {
    output->matrix = matrix;
    output->bf16 = bf16;
}

void gs_output_refresh(struct gs_output *output) {
    struct gs_block block = {.values = output->matrix->values,
                             .rows = output->vocab,
                             .columns = output->width,
                             .stride = output->width,
                             .bf16 = output->bf16,
                             .transpose = true};
    gs_packed_put(&output->logits, 0, 0, &block);
    if (!output->train) return;
    block.transpose = false;
    gs_packed_put(&output->back, 0, 0, &block);
}

/* ---- losses ------------------------------------------------------------------------------- */

static void logits_of(const struct gs_output *o, const float *z, size_t zs, size_t rows,
                      float *logits, size_t stride) {
    gs_packed_product(&o->logits, z, zs, rows, 0, o->logits.panels, logits, stride, false);
}

void gs_output_rows(const struct gs_output *output, const float *z, size_t zs, size_t rows,
                    float *logits) {
    logits_of(output, z, zs, rows, logits, output->vocab);
}

/* Losses of some rows of a block, whose logits become softmax - onehot and go back to dz. */
static void block_rows(const struct gs_output *o, const float *z, const uint32_t *targets,
                       size_t rows, float *logits, float *nll, float *dz) {
    const size_t V = o->vocab, stride = o->stride;
    logits_of(o, z, o->width, rows, logits, stride);
    for (size_t i = 0; i < rows; i++)
        nll[i] = gs_kernels()->cross_entropy(logits + i * stride, V, targets[i], o->train);
    if (o->train)
        gs_packed_product(&o->back, logits, stride, rows, 0, o->back.panels, dz, o->width, false);
}

/* gradient += (softmax - onehot)' z, a block of the vocabulary at a time. */
static void matrix_products(const struct gs_output *o, const float *z, size_t rows) {
    const size_t V = o->vocab, e = o->width;
#pragma omp for schedule(dynamic)
    for (size_t v = 0; v < V; v += VOCAB_BLOCK) {
        size_t count = V - v < VOCAB_BLOCK ? V - v : VOCAB_BLOCK;
        gs_kernels()->outer(o->block + v, o->stride, z, e, rows, count, e, o->gradient + v * e, e);
    }
}

/* Rows that a thread decodes at once: many, since it reads all of the output matrix for them, but
 * as many for each thread. No bit depends on it. */
static size_t decoded_together(size_t rows) {
    enum { MOST = 48, TILE = 4 }; /* whole tiles of the product */
    const size_t threads = (size_t)omp_get_max_threads();
    size_t parts = threads * ((rows + threads * MOST - 1) / (threads * MOST));
    return (rows + parts * TILE - 1) / (parts * TILE) * TILE;
}

void gs_output_share(const struct gs_output *output, const float *z, const uint32_t *targets,
                     size_t rows, float *nll, float *dz) {
    const size_t e = output->width;
    for (size_t block = 0; block < rows; block += output->block_rows) {
        size_t count = rows - block < output->block_rows ? rows - block : output->block_rows;
        size_t together = decoded_together(count);
#pragma omp for schedule(dynamic)
        for (size_t first = 0; first < count; first += together) {
            size_t at = block + first;
            block_rows(output, z + at * e, targets + at,
                       count - first < together ? count - first : together,
                       output->block + first * output->stride, nll + at, dz ? dz + at * e : NULL);
        }
        if (output->train) matrix_products(output, z + block * e, count);
    }
}

void gs_output_losses(const struct gs_output *output, const float *z, const uint32_t *targets,
                      size_t rows, float *nll, float *dz) {
#pragma omp parallel
    gs_output_share(output, z, targets, rows, nll, dz);
}

void gs_output_logits(const struct gs_output *output, const float *z, size_t rows, float *logits) {
    const size_t e = output->width, V = output->vocab;
#pragma omp parallel for schedule(static)
    for (size_t from = 0; from < rows; from += FEW_ROWS)
        gs_output_rows(output, z + from * e, e, rows - from < FEW_ROWS ? rows - from : FEW_ROWS,
                       logits + from * V);
}

void gs_output_gradient(const struct gs_output *output, float scale, float *to) {
    const size_t count = output->vocab * output->width;
#pragma omp parallel for schedule(static)
    for (size_t j = 0; j < count; j++) to[j] += scale * output->gradient[j];
    gs_output_clear(output);
}

void gs_output_clear(const struct gs_output *output) {
    memset(output->gradient, 0, output->vocab * output->width * sizeof(float));
}
