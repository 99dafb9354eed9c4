#include "core/models/parts/token_rows.h"

#include "core/kernels/kernels.h"
#include "core/kernels/packed.h"

#include <string.h>

void gs_token_rows(const struct gs_tensor *embedding, bool bf16, const uint32_t *tokens,
                   size_t rows, float *h) {
    const size_t d = embedding->shape[1];
    for (size_t i = 0; i < rows; i++, h += d) {
        const float *from = embedding->values + (size_t)tokens[i] * d;
        if (!bf16) memcpy(h, from, d * sizeof *h);
        for (size_t j = 0; j < d && bf16; j++) h[j] = gs_round_bf16(from[j]);
    }
}

/* Each thread takes columns: two rows of the same token then never meet. */
void gs_token_rows_back(const uint32_t *tokens, size_t rows, size_t width, const float *dh,
                        float *gradient) {
    enum { CHUNK = 64 };
#pragma omp for schedule(static) nowait
    for (size_t from = 0; from < width; from += CHUNK) {
        size_t count = width - from < CHUNK ? width - from : CHUNK;
        for (size_t i = 0; i < rows; i++)
            gs_kernels()->add(dh + i * width + from, count,
                              gradient + (size_t)tokens[i] * width + from);
    }
}
