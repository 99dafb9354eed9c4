/* small_product.h - products of matrices that all stand in the caches: nothing is packed. Included
 * only by the files that are compiled once per instruction set.
 *
 * Rows go in tiles of six and four, the first tiles being sixes, so that the tiles of a matrix's
 * first rows do not depend on how many follow. Widths are multiples of GS_PAIR.
 */
#ifndef GS_CORE_KERNELS_SMALL_PRODUCT_H
#define GS_CORE_KERNELS_SMALL_PRODUCT_H

#include "core/kernels/lanes.h"

#include <stdbool.h>

enum { GS_PAIR = 2 * GS_LANES, GS_SMALL_ROWS = 6 };

/* Which steps of the inner dimension a tile of rows takes: all; those up to its own last row (the
 * left side is lower triangular); those from its first row on (upper). */
enum gs_shape { GS_WHOLE, GS_LOWER, GS_UPPER };

/* y (=, +=, -=) x w. */
struct gs_small {
    const float *x; /* (rows, inner), or turned: (inner, rows) */
    size_t xs;
    const float *w; /* (inner, columns) */
    size_t ws;
    float *y; /* (rows, columns) */
    size_t ys;
    size_t rows, columns, inner;
};

/* Rows of the tile at `row` of `rows` (even, at least four). */
GS_INLINE size_t small_tile(size_t row, size_t rows) {
    size_t left = rows - row;
    return left % GS_SMALL_ROWS && left <= 8 ? 4 : left >= GS_SMALL_ROWS ? GS_SMALL_ROWS : left;
}

/* sum (R, 2) += or -= x w over `inner` steps. R, turned and minus are constants at every call. */
GS_INLINE void small_sums(size_t R, bool turned, bool minus, const float *x, size_t xs,
                          const float *w, size_t ws, size_t inner, lanes sum[GS_SMALL_ROWS][2]) {
#pragma GCC unroll 4
    for (size_t k = 0; k < inner; k++) {
        const lanes first = load(w), second = load(w + GS_LANES);
        for (size_t r = 0; r < R; r++) {
            const lanes value = fill(turned ? x[r] : x[r * xs]);
            if (minus) {
                sum[r][0] -= value * first;
                sum[r][1] -= value * second;
            } else {
                sum[r][0] += value * first;
                sum[r][1] += value * second;
            }
        }
        x += turned ? xs : 1;
        w += ws;
    }
}

GS_INLINE void small_load(size_t R, const float *y, size_t ys, lanes sum[GS_SMALL_ROWS][2]) {
    for (size_t r = 0; r < R; r++) {
        sum[r][0] = load(y + r * ys);
        sum[r][1] = load(y + r * ys + GS_LANES);
    }
}

GS_INLINE void small_store(size_t R, float *y, size_t ys, lanes sum[GS_SMALL_ROWS][2]) {
    for (size_t r = 0; r < R; r++) {
        store(y + r * ys, sum[r][0]);
        store(y + r * ys + GS_LANES, sum[r][1]);
    }
}

/* What the sums begin with. */
enum gs_begin { GS_ZERO, GS_SUM };

GS_INLINE void small_tile_product(size_t R, bool turned, bool minus, enum gs_begin begin,
                                  const struct gs_small *m, size_t row, size_t from, size_t to) {
    const float *x = turned ? m->x + from * m->xs + row : m->x + row * m->xs + from;
    for (size_t j = 0; j < m->columns; j += GS_PAIR) {
        lanes sum[GS_SMALL_ROWS][2];
        float *y = m->y + row * m->ys + j;
        if (begin == GS_SUM)
            small_load(R, y, m->ys, sum);
        else
            for (size_t r = 0; r < R; r++) sum[r][0] = sum[r][1] = fill(0);
        small_sums(R, turned, minus, x, m->xs, m->w + from * m->ws + j, m->ws, to - from, sum);
        small_store(R, y, m->ys, sum);
    }
}

GS_INLINE void small_product(const struct gs_small *m, bool turned, bool minus, enum gs_begin begin,
                             enum gs_shape shape) {
    for (size_t row = 0, count; row < m->rows; row += count) {
        count = small_tile(row, m->rows);
        const size_t from = shape == GS_UPPER ? row : 0;
        const size_t to = shape == GS_LOWER ? row + count : m->inner;
        if (count == GS_SMALL_ROWS)
            small_tile_product(GS_SMALL_ROWS, turned, minus, begin, m, row, from, to);
        else
            small_tile_product(4, turned, minus, begin, m, row, from, to);
    }
}

/* y (columns, ys) = x' of x (rows, xs); rows and columns are multiples of four. */
GS_INLINE void small_turn(const float *x, size_t xs, size_t rows, size_t columns, float *y,
                          size_t ys) {
    for (size_t i = 0; i < rows; i += 4)
        for (size_t j = 0; j < columns; j += 4) {
            quad row[4];
            for (size_t r = 0; r < 4; r++) row[r] = *(const quad_memory *)(x + (i + r) * xs + j);
            const quad low01 = GS_SHUFFLE(row[0], row[1], 0, 4, 1, 5);
            const quad high01 = GS_SHUFFLE(row[0], row[1], 2, 6, 3, 7);
            const quad low23 = GS_SHUFFLE(row[2], row[3], 0, 4, 1, 5);
            const quad high23 = GS_SHUFFLE(row[2], row[3], 2, 6, 3, 7);
            float *to = y + j * ys + i;
            *(quad_memory *)to = GS_SHUFFLE(low01, low23, 0, 1, 4, 5);
            *(quad_memory *)(to + ys) = GS_SHUFFLE(low01, low23, 2, 3, 6, 7);
            *(quad_memory *)(to + 2 * ys) = GS_SHUFFLE(high01, high23, 0, 1, 4, 5);
            *(quad_memory *)(to + 3 * ys) = GS_SHUFFLE(high01, high23, 2, 3, 6, 7);
        }
}

#endif
