/* packed.h - a weight matrix laid out once for the product kernel.
 *
 * A packed matrix is built from blocks: parts of it may come from different parameters, each scaled
 * by row (a folded norm weight), rounded to bfloat16 first, or transposed. Columns stand in panels
 * of gs_kernels()->panel; the last panel is padded with zeros.
 */
#ifndef GS_CORE_KERNELS_PACKED_H
#define GS_CORE_KERNELS_PACKED_H

#include "core/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct gs_packed {
    size_t inner, columns, panels;
    float *values; /* (panels, inner, panel) */
};

/* Room for a matrix (inner, columns) in a plan, zeroed when it is placed (core/base/arena.h). */
void gs_packed_plan(size_t inner, size_t columns, struct gs_arena *arena, struct gs_packed *packed);

/* What to put into a block of a packed matrix. */
struct gs_block {
    const float *values; /* (rows, columns) of the parameter, row-major with `stride` */
    size_t rows, columns, stride;
    const float *row_scale; /* (rows) or NULL: row i of the parameter times row_scale[i] */
    bool bf16;              /* round the parameter (not the scale) to bfloat16 first */
    bool transpose;         /* put its transpose */
};

/* Put the block with its first element at (row, column) of the packed matrix. */
void gs_packed_put(struct gs_packed *packed, size_t row, size_t column,
                   const struct gs_block *block);

/* y (+)= x W on the panels first … last - 1 with the kernel in use (gs_kernels). */
void gs_packed_product(const struct gs_packed *packed, const float *x, size_t xs, size_t rows,
                       size_t first, size_t last, float *y, size_t ys, bool accumulate);

/* The panels that worker `index` of `count` takes: first … last - 1. */
void gs_packed_share(const struct gs_packed *packed, size_t index, size_t count, size_t *first,
                     size_t *last);

/* The float nearest to x with eight bits of mantissa, ties to even; NaN and Inf as they are. */
float gs_round_bf16(float x);

#endif
