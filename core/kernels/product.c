/* The product with packed weights: register tiles of up to ROWS rows by two vectors of columns,
 * the whole inner dimension in registers (../shared/spec/performance.md). */
#include "core/kernels/per_isa.h"

enum { PANEL = 2 * GS_LANES };

/* One tile: R rows of x against one panel. R is a constant at every call, so the loops unroll and
 * the accumulators live in registers. Each accumulator is one chain over k, whatever R is. */
GS_INLINE void tile(size_t R, const float *x, size_t xs, const float *panel, size_t inner, float *y,
                    size_t ys, bool accumulate) {
    lanes left[GS_TILE_ROWS], right[GS_TILE_ROWS];
    for (size_t r = 0; r < R; r++) {
        left[r] = accumulate ? load(y + r * ys) : fill(0);
        right[r] = accumulate ? load(y + r * ys + GS_LANES) : fill(0);
    }
    for (size_t k = 0; k < inner; k++) {
        lanes a = load(panel + k * PANEL), b = load(panel + k * PANEL + GS_LANES);
        for (size_t r = 0; r < R; r++) {
            lanes value = fill(x[r * xs + k]);
            left[r] += value * a;
            right[r] += value * b;
        }
    }
    for (size_t r = 0; r < R; r++) {
        store(y + r * ys, left[r]);
        store(y + r * ys + GS_LANES, right[r]);
    }
}

/* R rows of one panel; the last panel of a matrix may be only partly there. */
GS_INLINE void panel_rows(size_t R, const float *x, size_t xs, const float *panel, size_t inner,
                          size_t width, float *y, size_t ys, bool accumulate) {
    if (width == PANEL) {
        tile(R, x, xs, panel, inner, y, ys, accumulate);
        return;
    }
    float whole[GS_TILE_ROWS * PANEL] = {0};
    if (accumulate)
        for (size_t r = 0; r < R; r++) memcpy(whole + r * PANEL, y + r * ys, width * sizeof(float));
    tile(R, x, xs, panel, inner, whole, PANEL, accumulate);
    for (size_t r = 0; r < R; r++) memcpy(y + r * ys, whole + r * PANEL, width * sizeof(float));
}

static void rest_rows(size_t rows, const float *x, size_t xs, const float *panel, size_t inner,
                      size_t width, float *y, size_t ys, bool accumulate) {
    switch (rows) {
    case 1:
        panel_rows(1, x, xs, panel, inner, width, y, ys, accumulate);
        break;
    case 2:
        panel_rows(2, x, xs, panel, inner, width, y, ys, accumulate);
        break;
    case 3:
        panel_rows(3, x, xs, panel, inner, width, y, ys, accumulate);
        break;
    case 4:
        panel_rows(4, x, xs, panel, inner, width, y, ys, accumulate);
        break;
    case 5:
        panel_rows(5, x, xs, panel, inner, width, y, ys, accumulate);
        break;
    default:
        break;
    }
}

void GS_KERNEL(product)(const float *x, size_t xs, size_t rows, const float *packed, size_t inner,
                        size_t first, size_t last, size_t columns, float *y, size_t ys,
                        bool accumulate) {
    for (size_t p = first; p < last; p++) {
        const float *panel = packed + p * inner * PANEL;
        size_t column = p * PANEL;
        size_t width = columns - column < PANEL ? columns - column : PANEL;
        size_t r = 0;
        for (; r + GS_TILE_ROWS <= rows; r += GS_TILE_ROWS)
            panel_rows(GS_TILE_ROWS, x + r * xs, xs, panel, inner, width, y + r * ys + column, ys,
                       accumulate);
        rest_rows(rows - r, x + r * xs, xs, panel, inner, width, y + r * ys + column, ys,
                  accumulate);
    }
}
