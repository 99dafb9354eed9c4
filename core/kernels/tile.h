/* tile.h - the register tile of the products: up to six rows by whole panels of columns, the sums
 * in registers. Included only by the files that are compiled once per instruction set. */
#ifndef GS_CORE_KERNELS_TILE_H
#define GS_CORE_KERNELS_TILE_H

#include "core/kernels/per_isa.h"

/* Floats in a row of a panel: two vectors. */
enum { GS_PANEL = 2 * GS_LANES };

struct tile {
    const float *x; /* value k of row r at x[r * xs + k * step]: 1 when rows stand as they are */
    size_t xs;
    const float *panel;
    size_t apart; /* floats from one panel to the next */
    size_t inner;
    float *y; /* rows, ys apart */
    size_t ys;
    bool accumulate;
    const float *ahead; /* what to fetch meanwhile: `lines` cache lines every GS_UNROLLED steps */
    size_t lines;
};

/* Steps of the inner dimension between two branches: every instruction that is no multiply-add
 * counts where a processor's core is shared. */
enum { GS_UNROLLED = 16, GS_LINE = 16 };

/* Where the operands of a step stand: pointers that move together, so that the steps between two
 * branches address them with constants. */
struct operands {
    const float *x[GS_TILE_ROWS], *weight[4];
};

/* Step i from where the operands stand, of R rows against P panels. */
GS_INLINE void multiply_step(size_t R, size_t P, size_t step, size_t i, const struct operands *at,
                             lanes sum[GS_TILE_ROWS][2 * 4]) {
    lanes weight[2 * 4];
    for (size_t j = 0; j < 2 * P; j++)
        weight[j] = load(at->weight[j / 2] + i * GS_PANEL + j % 2 * GS_LANES);
    for (size_t r = 0; r < R; r++) {
        lanes value = fill(at->x[r][i * step]);
        for (size_t j = 0; j < 2 * P; j++) sum[r][j] += value * weight[j];
    }
}

GS_INLINE void move_on(size_t R, size_t P, size_t step, size_t steps, struct operands *at) {
    for (size_t r = 0; r < R; r++) at->x[r] += steps * step;
    for (size_t j = 0; j < P; j++) at->weight[j] += steps * GS_PANEL;
}

/* R rows of x against P panels. R, P and step are constants at every call, so the loops unroll and
 * the sums live in registers. Each sum is one chain over k, whatever R and P are. */
GS_INLINE void multiply(size_t R, size_t P, size_t step, const struct tile *t) {
    lanes sum[GS_TILE_ROWS][2 * 4];
    struct operands at;
    for (size_t r = 0; r < R; r++) at.x[r] = t->x + r * t->xs;
    for (size_t j = 0; j < P; j++) at.weight[j] = t->panel + j * t->apart;
    for (size_t r = 0; r < R; r++)
        for (size_t j = 0; j < 2 * P; j++)
            sum[r][j] = t->accumulate ? load(t->y + r * t->ys + j * GS_LANES) : fill(0);
    const float *ahead = t->ahead;
    size_t left = t->inner;
    for (; left >= GS_UNROLLED; left -= GS_UNROLLED) {
        for (size_t line = 0; line < t->lines; line++, ahead += GS_LINE) __builtin_prefetch(ahead);
#pragma GCC unroll 16
        for (size_t i = 0; i < GS_UNROLLED; i++) multiply_step(R, P, step, i, &at, sum);
        move_on(R, P, step, GS_UNROLLED, &at);
    }
    for (; left; left--) {
        multiply_step(R, P, step, 0, &at, sum);
        move_on(R, P, step, 1, &at);
    }
    for (size_t r = 0; r < R; r++)
        for (size_t j = 0; j < 2 * P; j++) store(t->y + r * t->ys + j * GS_LANES, sum[r][j]);
}

GS_INLINE void multiply_rows(size_t rows, size_t step, const struct tile *t) {
    switch (rows) {
    case 1:
        multiply(1, 1, step, t);
        break;
    case 2:
        multiply(2, 1, step, t);
        break;
    case 3:
        multiply(3, 1, step, t);
        break;
    case 4:
        multiply(4, 1, step, t);
        break;
    case 5:
        multiply(5, 1, step, t);
        break;
    default:
        multiply(GS_TILE_ROWS, 1, step, t);
        break;
    }
}

/* The last panel of a matrix may be only partly there. */
GS_INLINE void multiply_part(size_t rows, size_t step, size_t width, const struct tile *t) {
    float whole[GS_TILE_ROWS * GS_PANEL] = {0};
    struct tile inside = *t;
    inside.y = whole;
    inside.ys = GS_PANEL;
    for (size_t r = 0; r < rows && t->accumulate; r++)
        memcpy(whole + r * GS_PANEL, t->y + r * t->ys, width * sizeof(float));
    multiply_rows(rows, step, &inside);
    for (size_t r = 0; r < rows; r++)
        memcpy(t->y + r * t->ys, whole + r * GS_PANEL, width * sizeof(float));
}

#endif
