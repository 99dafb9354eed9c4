/* The product with packed weights: register tiles of up to four rows by three vectors of columns
 * (../shared/spec/performance.md). The inner dimension goes in blocks: short ones where the weights
 * come from far, so that a block of a panel stays in the first cache while all rows pass over it;
 * long ones where they are near, since each tile takes some fifty cycles to begin and to end. The
 * next block is fetched to the second cache meanwhile: even weights that are read at every step
 * come late now and then, from a third cache that others use, too. Between blocks the sums rest in
 * y: each stays one chain over k, whatever the blocks are. */
#include "core/kernels/tile.h"

enum {
    BLOCK = 1536 / GS_LANES, /* steps of the inner dimension: 18 KiB of a panel */
    NEAR_BLOCK = 5 * BLOCK,  /* of weights that are near */
    FEW_ROWS = 2,            /* too few for one panel's sums to hide the latency of their chains */
    L2_FLOATS = 96 * 1024,   /* of x that may be read again for each panel */
    NEAR_FLOATS = 1 << 20    /* weights that caches hold from step to step */
};

/* Where a tile's sums will go, while they are being made: often memory not touched for long. */
static void fetch_rows(const float *y, size_t ys, size_t rows) {
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < GS_PANEL; j += GS_LINE) __builtin_prefetch(y + r * ys + j, 1);
}

/* How many of the rows left the next tile takes: four, and never a rest of one, which would wait
 * for its few chains. */
static size_t next_tile(size_t left) {
    return left == GS_TILE_ROWS + 1 ? 3 : left < GS_TILE_ROWS ? left : GS_TILE_ROWS;
}

/* All rows against one block of one panel, of which `width` columns are there. */
static void block_of_panel(size_t rows, size_t width, const struct tile *block) {
    const size_t tiles = (rows + GS_TILE_ROWS - 1) / GS_TILE_ROWS;
    const size_t lines = (block->lines + tiles - 1) / tiles;
    struct tile t = *block;
    t.ahead = block->panel + block->inner * GS_PANEL;
    t.lines = lines;
    for (size_t first = 0, count; first < rows; first += count) {
        count = next_tile(rows - first);
        t.x = block->x + first * t.xs;
        t.y = block->y + first * t.ys;
        if (!t.accumulate) fetch_rows(t.y, t.ys, count);
        multiply_panel(count, 1, width, &t);
        t.ahead += block->inner / GS_UNROLLED * lines * GS_LINE;
    }
}

/* One or two rows: the weights are read once, so they come from memory and several panels at a time
 * keep enough chains and lines on the way. */
static size_t few_rows(size_t rows, const struct tile *block, size_t panels) {
    struct tile t = *block;
    const size_t together = rows == 1 ? 4 : 2;
    size_t done = 0;
    for (; done + together <= panels; done += together) {
        t.ahead = t.panel + 4 * t.apart;
        if (rows == 1)
            multiply(1, 4 * GS_PANEL_VECTORS, 1, &t);
        else
            multiply(2, 2 * GS_PANEL_VECTORS, 1, &t);
        t.panel += together * t.apart;
        t.y += together * GS_PANEL;
    }
    return done;
}

/* The panels first … last - 1 of one block of the inner dimension. */
static void block_of_panels(size_t rows, size_t columns, size_t first, size_t last,
                            const struct tile *block) {
    struct tile t = *block;
    size_t whole = columns / GS_PANEL < last ? columns / GS_PANEL : last;
    size_t p = first;
    if (rows <= FEW_ROWS && first < whole) p += few_rows(rows, block, whole - first);
    for (; p < last; p++) {
        size_t width = columns - p * GS_PANEL < GS_PANEL ? columns - p * GS_PANEL : GS_PANEL;
        t.panel = block->panel + (p - first) * t.apart;
        t.y = block->y + (p - first) * GS_PANEL;
        block_of_panel(rows, width, &t);
    }
}

void GS_KERNEL(product)(const float *x, size_t xs, size_t rows, const float *packed, size_t inner,
                        size_t first, size_t last, size_t columns, float *y, size_t ys,
                        bool accumulate) {
    /* Whole panels one after the other while x stays in the second cache (or there is one row,
     * which stays in any); else all panels of a block before the next block. */
    const size_t group = rows <= FEW_ROWS || rows * inner > L2_FLOATS ? last - first : 1;
    const bool far = inner * columns > NEAR_FLOATS;
    const size_t block = rows <= FEW_ROWS ? inner : far ? BLOCK : NEAR_BLOCK;
    for (size_t p = first; p < last; p += group)
        for (size_t k = 0; k < inner || k == 0; k += block) {
            struct tile t = {.x = x + k,
                             .xs = xs,
                             .panel = packed + (p * inner + k) * GS_PANEL,
                             .apart = inner * GS_PANEL,
                             .inner = inner - k < block ? inner - k : block,
                             .y = y + p * GS_PANEL,
                             .ys = ys,
                             .accumulate = accumulate || k > 0,
                             .lines = GS_PANEL * GS_UNROLLED / GS_LINE};
            block_of_panels(rows, columns, p, p + group, &t);
            if (block == 0) break;
        }
}
