/* delta_chunk.h - what both directions of a chunk of the delta rule need: decays between its steps,
 * the two triangular matrices, the triangular systems. Included only by the files that are compiled
 * once per instruction set. Notation: delta.h. */
#ifndef GS_CORE_KERNELS_DELTA_CHUNK_H
#define GS_CORE_KERNELS_DELTA_CHUNK_H

#include "core/kernels/delta_isa.h"
#include "core/kernels/small_product.h"

#define C GS_DELTA_CHUNK

/* The decays between the steps of a chunk. */
struct decays {
    float between[C * C]; /* D[t, j], 0 where j > t */
    float before[C];      /* d[t]: of all steps up to t */
};

GS_INLINE void find_decays(const float *decay, struct decays *d) {
    memset(d->between, 0, sizeof d->between);
    for (size_t t = 0; t < C; t++) {
        float *row = d->between + t * C;
        if (t > 0)
            for (size_t j = 0; j < C; j += GS_LANES) store(row + j, load(row - C + j) * decay[t]);
        row[t] = 1;
        d->before[t] = t > 0 ? d->before[t - 1] * decay[t] : decay[0];
    }
}

/* y[t, j] = x[t, j] D[t, j] b[j], so zero above the diagonal; also on it when `strict`. y may be x.
 */
GS_INLINE void damp(const float *x, const struct decays *d, const float *strength, bool strict,
                    float *y) {
    for (size_t t = 0; t < C; t++) {
        for (size_t j = 0; j < C; j += GS_LANES) {
            const size_t at = t * C + j;
            store(y + at, load(x + at) * load(d->between + at) * load(strength + j));
        }
        if (strict) y[t * C + t] = 0;
    }
}

/* y[t] = x[t] f[t] g[t] over rows of n, a multiple of a vector; g may be NULL. */
GS_INLINE void scale_rows(const float *x, const float *f, const float *g, size_t n, float *y) {
    for (size_t t = 0; t < C; t++) {
        const lanes factor = fill(g ? f[t] * g[t] : f[t]);
        for (size_t j = 0; j < n; j += GS_LANES) store(y + t * n + j, load(x + t * n + j) * factor);
    }
}

/* K K' and Q K' (C, C). turned: (keys, C) scratch for K'. */
GS_INLINE void key_products(const struct gs_delta_chunk *c, float *turned, float *kk, float *qk) {
    small_turn(c->k, c->keys, C, c->keys, turned, C);
    struct gs_small m = {.x = c->k, .xs = c->keys, .w = turned, .ws = C, .y = kk, .ys = C};
    m.rows = m.columns = C;
    m.inner = c->keys;
    small_product(&m, false, false, GS_ZERO, GS_WHOLE);
    m.x = c->q;
    m.y = qk;
    small_product(&m, false, false, GS_ZERO, GS_WHOLE);
}

/* (I + A) X = R in place, two vectors of columns of one tile: what earlier tiles have, then one row
 * after the other in registers. */
GS_INLINE void solve_tile(size_t R, const float *A, float *x, size_t xs, size_t row) {
    lanes sum[GS_SMALL_ROWS][2];
    small_load(R, x + row * xs, xs, sum);
    small_sums(R, false, true, A + row * C, C, x, xs, row, sum);
    for (size_t r = 1; r < R; r++)
        for (size_t s = 0; s < r; s++) {
            const lanes factor = fill(A[(row + r) * C + row + s]);
            sum[r][0] -= factor * sum[s][0];
            sum[r][1] -= factor * sum[s][1];
        }
    small_store(R, x + row * xs, xs, sum);
}

/* (I + A)' Y = R the same way, from the last tile to the first. */
GS_INLINE void solve_turned_tile(size_t R, const float *A, float *x, size_t xs, size_t row) {
    lanes sum[GS_SMALL_ROWS][2];
    const size_t behind = row + R;
    small_load(R, x + row * xs, xs, sum);
    small_sums(R, true, true, A + behind * C + row, C, x + behind * xs, xs, C - behind, sum);
    for (size_t r = R - 1; r-- > 0;)
        for (size_t s = r + 1; s < R; s++) {
            const lanes factor = fill(A[(row + s) * C + row + r]);
            sum[r][0] -= factor * sum[s][0];
            sum[r][1] -= factor * sum[s][1];
        }
    small_store(R, x + row * xs, xs, sum);
}

GS_INLINE void solve(const float *A, float *x, size_t columns) {
    for (size_t j = 0; j < columns; j += GS_PAIR)
        for (size_t row = 0, count; row < C; row += count) {
            count = small_tile(row, C);
            if (count == GS_SMALL_ROWS)
                solve_tile(GS_SMALL_ROWS, A, x + j, columns, row);
            else
                solve_tile(4, A, x + j, columns, row);
        }
}

/* 32 rows are four tiles of six, then two of four. */
_Static_assert(C == 32, "solve_turned knows where the tiles of a chunk end");
GS_INLINE void solve_turned(const float *A, float *x, size_t columns) {
    for (size_t j = 0; j < columns; j += GS_PAIR)
        for (size_t row = C; row > 0;) {
            const size_t count = row > C - 2 * 4 ? 4 : GS_SMALL_ROWS;
            row -= count;
            if (count == 4)
                solve_turned_tile(4, A, x + j, columns, row);
            else
                solve_turned_tile(GS_SMALL_ROWS, A, x + j, columns, row);
        }
}

#endif
