#include "core/kernels/packed.h"

#include "core/kernels/kernels.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

void gs_packed_plan(size_t inner, size_t columns, struct gs_arena *arena,
                    struct gs_packed *packed) {
    const size_t panel = gs_kernels()->panel, panels = (columns + panel - 1) / panel;
    *packed = (struct gs_packed){.inner = inner,
                                 .columns = columns,
                                 .panels = panels,
                                 .values = gs_arena_floats(arena, panels, inner, panel)};
}

float gs_round_bf16(float x) {
    if (!isfinite(x)) return x;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits += 0x7fffu + ((bits >> 16) & 1u);
    bits &= 0xffff0000u;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Row i of the block: along a row of the packed matrix, or down one of its columns. */
static void put_row(struct gs_packed *packed, size_t row, size_t column,
                    const struct gs_block *block, size_t i) {
    const size_t panel = gs_kernels()->panel, inner = packed->inner;
    const float *from = block->values + i * block->stride;
    const float scale = block->row_scale ? block->row_scale[i] : 1.0f;
    size_t r = row + (block->transpose ? 0 : i), c = column + (block->transpose ? i : 0);
    float *to = packed->values + (c / panel * inner + r) * panel + c % panel;
    size_t left = panel - c % panel; /* columns left in this panel */
    for (size_t j = 0; j < block->columns; j++) {
        *to = (block->bf16 ? gs_round_bf16(from[j]) : from[j]) * scale;
        if (block->transpose) {
            to += panel;
        } else if (--left) {
            to++;
        } else {
            to += (inner - 1) * panel + 1; /* the same row of the next panel */
            left = panel;
        }
    }
}

void gs_packed_put(struct gs_packed *packed, size_t row, size_t column,
                   const struct gs_block *block) {
#pragma omp parallel for schedule(static) if (block->rows * block->columns > 65536)
    for (size_t i = 0; i < block->rows; i++) put_row(packed, row, column, block, i);
}

void gs_packed_product(const struct gs_packed *packed, const float *x, size_t xs, size_t rows,
                       size_t first, size_t last, float *y, size_t ys, bool accumulate) {
    gs_kernels()->product(x, xs, rows, packed->values, packed->inner, first, last, packed->columns,
                          y, ys, accumulate);
}

void gs_packed_share(const struct gs_packed *packed, size_t index, size_t count, size_t *first,
                     size_t *last) {
    *first = packed->panels * index / count;
    *last = packed->panels * (index + 1) / count;
}
