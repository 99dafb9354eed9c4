/* band_reduction.h - the first stage of tridiagonal.h, for one type of number. Included once by
 * each file that defines what it is made of: NUMBER, REDUCE (the function's name), PRODUCT (of
 * BLAS) and REFLECTION (gs_block_reflection or its float32 brother). */
#ifndef GS_ANALYSES_LINALG_BAND_REDUCTION_H
#define GS_ANALYSES_LINALG_BAND_REDUCTION_H

#include "analyses/linalg/band.h"
#include "core/base/memory.h"
#include "core/kernels/blas.h"

#include <string.h>

enum {
    BAND = GS_BAND,
    TILE = 128 /* of the matrix, at fixed places: one thread's work */
};

/* One panel: rows `first` … of the matrix, behind BAND rows that are done with. */
struct panel {
    size_t n, first, rows, count; /* rows = n − first; reflections */
    NUMBER *matrix;
    NUMBER *stack;  /* (3 · BAND, rows): V, W, V, each `count` rows */
    NUMBER *factor; /* (count, count) Tᵀ */
    NUMBER *middle; /* (BAND, BAND) twice */
    NUMBER *tau, *work;
};

/* Where tile t begins and ends, counted from the panel's first row; tiles stand at multiples of
 * TILE of the whole matrix, so that those on the diagonal stay full squares from panel to panel. */
static size_t tile_begin(const struct panel *p, size_t t) {
    size_t at = (p->first / TILE + t) * TILE;
    return at > p->first ? at - p->first : 0;
}
static size_t tile_end(const struct panel *p, size_t t) {
    size_t at = (p->first / TILE + t + 1) * TILE - p->first;
    return at < p->rows ? at : p->rows;
}
static size_t tile_count(const struct panel *p) {
    return (p->n + TILE - 1) / TILE - p->first / TILE;
}

static NUMBER *at(const struct panel *p, size_t row, size_t column) {
    return p->matrix + (p->first + row) * p->n + p->first + column;
}

/* Columns of tile t of (V T)ᵀ A, into the place of W. The matrix is read above its diagonal, and
 * where a tile crosses it. */
static void project_tile(const struct panel *p, size_t t) {
    size_t begin = tile_begin(p, t), end = tile_end(p, t), m = p->rows, k = p->count;
    NUMBER y[BAND * TILE], *x = p->stack + k * m + begin;
    const NUMBER *v = p->stack;
    PRODUCT(GS_PLAIN, GS_PLAIN, k, end - begin, end, 1, v, m, at(p, 0, begin), p->n, 0, y, TILE,
            NULL);
    PRODUCT(GS_PLAIN, GS_TRANSPOSED, k, end - begin, m - end, 1, v + end, m, at(p, begin, end),
            p->n, 1, y, TILE, NULL);
    PRODUCT(GS_PLAIN, GS_PLAIN, k, end - begin, k, 1, p->factor, k, y, TILE, 0, x, m, NULL);
}

/* With X = A V T and M = Vᵀ X: W = X − V (Tᵀ M) / 2. Here all stand on their sides. */
static void find_middle(const struct panel *p) {
    size_t m = p->rows, k = p->count;
    NUMBER *product = p->middle, *half = p->middle + BAND * BAND;
    const NUMBER *v = p->stack, *x = p->stack + k * m;
    PRODUCT(GS_PLAIN, GS_TRANSPOSED, k, k, m, 1, v, m, x, m, 0, product, BAND, NULL);
    PRODUCT(GS_PLAIN, GS_PLAIN, k, k, k, 0.5, p->factor, k, product, BAND, 0, half, BAND, NULL);
}

static void correct_tile(const struct panel *p, size_t t) {
    size_t begin = tile_begin(p, t), end = tile_end(p, t), m = p->rows, k = p->count;
    const NUMBER *v = p->stack + begin;
    PRODUCT(GS_PLAIN, GS_PLAIN, k, end - begin, k, -1, p->middle + BAND * BAND, BAND, v, m, 1,
            p->stack + k * m + begin, m, NULL);
}

/* A − V Wᵀ − W Vᵀ on a tile's rows from the diagonal on. */
static void update_tile(const struct panel *p, size_t t) {
    size_t begin = tile_begin(p, t), end = tile_end(p, t), m = p->rows, k = p->count;
    PRODUCT(GS_TRANSPOSED, GS_PLAIN, end - begin, m - begin, 2 * k, -1, p->stack + begin, m,
            p->stack + k * m + begin, m, 1, at(p, begin, begin), p->n, NULL);
}

static void for_tiles(const struct panel *p, int threads,
                      void (*work)(const struct panel *, size_t)) {
    size_t tiles = tile_count(p);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
    for (size_t t = 0; t < tiles; t++) work(p, t);
}

static enum gs_status reduce_panel(struct panel *p, int threads, struct gs_error *error) {
    size_t m = p->rows;
    NUMBER *panel = p->matrix + (p->first - BAND) * p->n + p->first;
    p->count = m < BAND ? m : BAND;
    enum gs_status status =
        REFLECTION(m, BAND, panel, p->n, p->stack, p->factor, p->tau, p->work, error);
    if (status != GS_OK) return status;
    memcpy(p->stack + 2 * p->count * m, p->stack, p->count * m * sizeof *p->stack);
    for_tiles(p, threads, project_tile);
    find_middle(p);
    for_tiles(p, threads, correct_tile);
    for_tiles(p, threads, update_tile);
    return GS_OK;
}

static void mirror_tiles(size_t n, NUMBER *matrix) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = i / TILE * TILE; j < i; j++) matrix[i * n + j] = matrix[j * n + i];
}

enum gs_status REDUCE(size_t n, NUMBER *matrix, int threads, struct gs_error *error) {
    size_t numbers = 3 * BAND * n + 3 * BAND * BAND + BAND + 64 * BAND;
    NUMBER *all = gs_calloc(numbers, sizeof *all);
    if (!all) return gs_fail_memory(error, numbers * sizeof *all, "a band reduction");
    struct panel p = {.n = n, .matrix = matrix, .stack = all};
    p.factor = all + 3 * BAND * n;
    p.middle = p.factor + BAND * BAND;
    p.tau = p.middle + 2 * BAND * BAND;
    p.work = p.tau + BAND;
    mirror_tiles(n, matrix);
    enum gs_status status = GS_OK;
    for (p.first = BAND; status == GS_OK && p.first + 1 < n; p.first += BAND) {
        p.rows = n - p.first;
        status = reduce_panel(&p, threads, error);
    }
    gs_free(all);
    return status;
}

#endif
