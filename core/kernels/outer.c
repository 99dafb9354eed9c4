/* Sums of outer products, c += a' b: the gradient of a weight matrix over a stretch of steps. Both
 * sides are copied into the order in which the register tile reads them, a block at a time: a into
 * strips of four columns, b into a panel; the panel stays in the first cache, the strips in the
 * second. */
#include "core/kernels/tile.h"

enum {
    STEPS = 256,     /* of the sums, in one block */
    MOST_STRIPS = 66 /* 66 strips of 256 steps: 264 KiB */
};

/* (strip, step, GS_TILE_ROWS): columns of a, zeros beyond the last one. */
static void copy_strips(const float *a, size_t as, size_t steps, size_t rows, float *to) {
    for (size_t i = 0; i < rows; i += GS_TILE_ROWS) {
        size_t count = rows - i < GS_TILE_ROWS ? rows - i : GS_TILE_ROWS;
        for (size_t k = 0; k < steps; k++, to += GS_TILE_ROWS) {
            const float *from = a + k * as + i;
            if (count == GS_TILE_ROWS)
                memcpy(to, from, GS_TILE_ROWS * sizeof(float));
            else
                memcpy(to, from, count * sizeof(float));
        }
    }
}

/* (step, GS_PANEL): columns of b, zeros beyond the last one. */
static void copy_panel(const float *b, size_t bs, size_t steps, size_t width, float *to) {
    for (size_t k = 0; k < steps; k++, to += GS_PANEL) {
        for (size_t j = 0; j < GS_PANEL; j += GS_LANES)
            if (j < width) store(to + j, load_row(b + k * bs, j, width));
    }
}

/* Lines `first` … `last` of the next panel of b, and the part of c that comes next. */
static void fetch(const float *b, size_t bs, size_t first, size_t last, const float *c, size_t cs,
                  size_t rows) {
    for (size_t k = first; k < last; k++)
        for (size_t j = 0; j < GS_PANEL; j += 16) __builtin_prefetch(b + k * bs + j);
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < GS_PANEL; j += 16) __builtin_prefetch(c + r * cs + j);
}

/* One panel of c against all strips. `next` is where b's next panel stands. */
static void strips_by_panel(const float *strips, size_t rows, const float *panel, size_t steps,
                            const float *next, size_t bs, float *c, size_t cs, size_t width) {
    const size_t count = (rows + GS_TILE_ROWS - 1) / GS_TILE_ROWS;
    struct tile t = {.xs = 1,
                     .panel = panel,
                     .inner = steps,
                     .ys = cs,
                     .accumulate = true,
                     .lines = GS_TILE_ROWS * GS_UNROLLED / GS_LINE};
    for (size_t i = 0; i < count; i++) {
        size_t row = i * GS_TILE_ROWS, left = rows - row;
        t.x = strips + row * steps;
        t.ahead = t.x + GS_TILE_ROWS * steps;
        t.y = c + row * cs;
        fetch(next, bs, steps * i / count, steps * (i + 1) / count, t.y + GS_TILE_ROWS * cs, cs,
              left > GS_TILE_ROWS ? GS_TILE_ROWS : 0);
        size_t taken = left < GS_TILE_ROWS ? left : GS_TILE_ROWS;
        multiply_panel(taken, GS_TILE_ROWS, width, &t);
    }
}

/* At most MOST_STRIPS strips of rows of c, at most STEPS steps. */
static void block(const float *a, size_t as, const float *b, size_t bs, size_t steps, size_t rows,
                  size_t columns, float *c, size_t cs) {
    float strips[MOST_STRIPS * GS_TILE_ROWS * STEPS] __attribute__((aligned(64)));
    float panel[GS_PANEL * STEPS] __attribute__((aligned(64)));
    copy_strips(a, as, steps, rows, strips);
    for (size_t j = 0; j < columns; j += GS_PANEL) {
        size_t width = columns - j < GS_PANEL ? columns - j : GS_PANEL;
        copy_panel(b + j, bs, steps, width, panel);
        strips_by_panel(strips, rows, panel, steps, b + j + GS_PANEL, bs, c + j, cs, width);
    }
}

void GS_KERNEL(outer)(const float *a, size_t as, const float *b, size_t bs, size_t steps,
                      size_t rows, size_t columns, float *c, size_t cs) {
    const size_t strips = (rows + GS_TILE_ROWS - 1) / GS_TILE_ROWS;
    const size_t blocks = (strips + MOST_STRIPS - 1) / MOST_STRIPS;
    for (size_t k = 0; k < steps; k += STEPS)
        for (size_t i = 0; i < blocks; i++) {
            size_t row = strips * i / blocks * GS_TILE_ROWS;
            size_t end = strips * (i + 1) / blocks * GS_TILE_ROWS;
            block(a + k * as + row, as, b + k * bs, bs, steps - k < STEPS ? steps - k : STEPS,
                  (end < rows ? end : rows) - row, columns, c + row * cs, cs);
        }
}
