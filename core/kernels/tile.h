/* tile.h - the register tile of the products: up to four rows by whole panels of columns, the sums
 * in registers. Included only by the files that are compiled once per instruction set. */
#ifndef GS_CORE_KERNELS_TILE_H
#define GS_CORE_KERNELS_TILE_H

#include "core/kernels/per_isa.h"

/* Floats in a row of a panel: three vectors. */
enum { GS_PANEL_VECTORS = 3, GS_PANEL = GS_PANEL_VECTORS * GS_LANES };

struct tile {
    const float *x; /* value k of row r at x[r * xs + k * step]: 1 when rows stand as they are */
    size_t xs;
    const float *panel;
    size_t apart; /* floats from one panel to the next */
    size_t inner;
    float *y; /* rows, ys apart */
    size_t ys;
    bool accumulate;
    const float *ahead; /* what to fetch meanwhile: `lines` cache lines every GS_UNROLLED steps; to
                           the second cache for tiles of one panel's products, else to the first,
                           since it is needed soon or stands in the second already */
    size_t lines;
};

/* Steps of the inner dimension between two branches: every instruction that is no multiply-add
 * counts where a processor's core is shared. */
enum { GS_UNROLLED = 16, GS_LINE = 16 };

/* Most vectors of sums a row may have: four panels, for one row. */
enum { MOST_VECTORS = 4 * GS_PANEL_VECTORS };

/* Where the operands of a step stand: pointers that move together, so that the steps between two
 * branches address them with constants. */
struct operands {
    const float *x[GS_TILE_ROWS], *weight[MOST_VECTORS / GS_PANEL_VECTORS];
};

GS_INLINE lanes load_weight(const struct operands *at, size_t i, size_t j) {
    return load(at->weight[j / GS_PANEL_VECTORS] + i * GS_PANEL + j % GS_PANEL_VECTORS * GS_LANES);
}

/* Step i from where the operands stand, of R rows against V vectors of columns: weights that all
 * rows share wait in registers, or else the rows' values do. */
GS_INLINE void multiply_step(size_t R, size_t V, size_t step, size_t i, const struct operands *at,
                             lanes sum[GS_TILE_ROWS][MOST_VECTORS]) {
    lanes weight[GS_PANEL_VECTORS], value[GS_TILE_ROWS];
    if (V > GS_PANEL_VECTORS) {
        for (size_t r = 0; r < R; r++) value[r] = fill(at->x[r][i * step]);
        for (size_t j = 0; j < V; j++) {
            lanes w = load_weight(at, i, j);
            for (size_t r = 0; r < R; r++) sum[r][j] += value[r] * w;
        }
        return;
    }
    for (size_t j = 0; j < V; j++) {
        weight[j] = load_weight(at, i, j);
        GS_IN_REGISTER(weight[j]);
    }
    for (size_t r = 0; r < R; r++) {
        lanes x = fill(at->x[r][i * step]);
        GS_IN_REGISTER(x);
        for (size_t j = 0; j < V; j++) sum[r][j] += x * weight[j];
    }
}

GS_INLINE void move_on(size_t R, size_t V, size_t step, size_t steps, struct operands *at) {
    for (size_t r = 0; r < R; r++) at->x[r] += steps * step;
    for (size_t j = 0; j < V; j += GS_PANEL_VECTORS)
        at->weight[j / GS_PANEL_VECTORS] += steps * GS_PANEL;
}

/* R rows of x against V vectors of columns: of one panel, or of whole ones side by side. R, V and
 * step are constants at every call, so the loops unroll and the sums live in registers. Each sum is
 * one chain over k, whatever R and V are. */
GS_INLINE void multiply(size_t R, size_t V, size_t step, const struct tile *t) {
    lanes sum[GS_TILE_ROWS][MOST_VECTORS];
    struct operands at;
    for (size_t r = 0; r < R; r++) at.x[r] = t->x + r * t->xs;
    for (size_t j = 0; j < V; j += GS_PANEL_VECTORS)
        at.weight[j / GS_PANEL_VECTORS] = t->panel + j / GS_PANEL_VECTORS * t->apart;
    for (size_t r = 0; r < R; r++)
        for (size_t j = 0; j < V; j++)
            sum[r][j] = t->accumulate ? load(t->y + r * t->ys + j * GS_LANES) : fill(0);
    const float *ahead = t->ahead;
    size_t left = t->inner;
    for (; left >= GS_UNROLLED; left -= GS_UNROLLED) {
        for (size_t line = 0; line < t->lines; line++, ahead += GS_LINE)
            step == 1 && V <= GS_PANEL_VECTORS ? __builtin_prefetch(ahead, 0, 2)
                                               : __builtin_prefetch(ahead);
#pragma GCC unroll 16
        for (size_t i = 0; i < GS_UNROLLED; i++) multiply_step(R, V, step, i, &at, sum);
        move_on(R, V, step, GS_UNROLLED, &at);
    }
    for (; left; left--) {
        multiply_step(R, V, step, 0, &at, sum);
        move_on(R, V, step, 1, &at);
    }
    for (size_t r = 0; r < R; r++)
        for (size_t j = 0; j < V; j++) store(t->y + r * t->ys + j * GS_LANES, sum[r][j]);
}

/* V is a constant at every call. */
GS_INLINE void multiply_rows(size_t rows, size_t V, size_t step, const struct tile *t) {
    switch (rows) {
    case 1:
        multiply(1, V, step, t);
        break;
    case 2:
        multiply(2, V, step, t);
        break;
    case 3:
        multiply(3, V, step, t);
        break;
    default:
        multiply(GS_TILE_ROWS, V, step, t);
        break;
    }
}

/* The last panel of a matrix may be only partly there: no more vectors than needed, and through a
 * buffer where the last of them has columns that are not there. */
static void multiply_part(size_t rows, size_t step, size_t width, const struct tile *t) {
    float whole[GS_TILE_ROWS * GS_PANEL] = {0};
    struct tile inside = *t;
    const bool through = width % GS_LANES;
    if (through) {
        inside.y = whole;
        inside.ys = GS_PANEL;
        for (size_t r = 0; r < rows && t->accumulate; r++)
            memcpy(whole + r * GS_PANEL, t->y + r * t->ys, width * sizeof(float));
    }
    switch ((width + GS_LANES - 1) / GS_LANES) {
    case 1:
        multiply_rows(rows, 1, step, &inside);
        break;
    case 2:
        multiply_rows(rows, 2, step, &inside);
        break;
    default:
        multiply_rows(rows, GS_PANEL_VECTORS, step, &inside);
        break;
    }
    for (size_t r = 0; r < rows && through; r++)
        memcpy(t->y + r * t->ys, whole + r * GS_PANEL, width * sizeof(float));
}

/* All columns of a panel, of which `width` are there. */
GS_INLINE void multiply_panel(size_t rows, size_t step, size_t width, const struct tile *t) {
    if (width == GS_PANEL)
        multiply_rows(rows, GS_PANEL_VECTORS, step, t);
    else
        multiply_part(rows, step, width, t);
}

#endif
