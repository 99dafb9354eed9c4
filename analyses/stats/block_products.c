#include "analyses/stats/block_products.h"

#include "core/base/memory.h"
#include "core/kernels/blas.h"
#include "core/kernels/rows.h"

#include <string.h>

enum {
    STRIP = 64, /* columns that one thread centres at a time: whole panels of any kernel */
    WIDE_TILE = 512,
    /* float32: a panel of a slab stays in the first cache, a tile and its left panels in the
     * second */
    SLAB = 256,
    ROWS = 96,
    COLUMNS = 512
};

static size_t at_most(size_t value, size_t limit) {
    return value < limit ? value : limit;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

static void add_tile(struct gs_block_products *p, size_t row, size_t rows, size_t column,
                     size_t columns) {
    if (p->tiles) p->tiles[p->tile_count] = (struct gs_product_tile){row, rows, column, columns};
    p->tile_count++;
}

/* Whole tiles first: they take twice as long as those on the diagonal, and what is handed out last
 * should be short. */
static void cut_wide(struct gs_block_products *p) {
    size_t parts = (p->dims + WIDE_TILE - 1) / WIDE_TILE;
    if (parts < 2 && p->dims >= 64) parts = 2;
    size_t edge = (p->dims + parts - 1) / parts;
    edge = (edge + 15) / 16 * 16;
    parts = (p->dims + edge - 1) / edge;
    for (size_t apart = parts; apart-- > 0;)
        for (size_t i = 0; i + apart < parts; i++) {
            size_t row = i * edge, column = (i + apart) * edge;
            add_tile(p, row, at_most(p->dims - row, edge), column, at_most(p->dims - column, edge));
        }
}

static void cut_narrow(struct gs_block_products *p) {
    for (size_t row = 0; row < p->dims; row += ROWS) {
        size_t rows = at_most(p->dims - row, ROWS);
        for (size_t column = row / STRIP * STRIP; column < p->dims; column += COLUMNS)
            add_tile(p, row, rows, column, at_most(p->dims - column, COLUMNS));
    }
}

static enum gs_status cut_tiles(struct gs_block_products *p, struct gs_error *error) {
    void (*cut)(struct gs_block_products *) = p->wide ? cut_wide : cut_narrow;
    cut(p);
    p->tiles = gs_calloc(p->tile_count, sizeof *p->tiles);
    if (!p->tiles) return gs_fail_memory(error, p->tile_count * sizeof *p->tiles, "tiles");
    p->tile_count = 0;
    cut(p);
    return GS_OK;
}

/* ---- making ---------------------------------------------------------------------------------- */

enum gs_status gs_block_products_create(struct gs_block_products *p, size_t dims, size_t capacity,
                                        bool wide, struct gs_error *error) {
    size_t panel = gs_row_kernels()->panel;
    size_t slabs = (capacity + SLAB - 1) / SLAB;
    *p = (struct gs_block_products){.dims = dims, .capacity = capacity, .wide = wide};
    p->panel = panel;
    p->panels = (dims + panel - 1) / panel;
    p->stride = wide ? dims : p->panels * panel; /* whole panels: no product is cut at an edge */
    size_t square = p->stride * p->stride;
    size_t packed = wide ? 0 : slabs * p->panels * SLAB * panel;
    size_t centred = wide ? capacity * dims : 0;
    p->product = gs_calloc(square, wide ? sizeof(double) : sizeof(float));
    p->centred = gs_calloc(centred, sizeof *p->centred);
    p->packed = gs_calloc(packed, sizeof *p->packed);
    p->mean = gs_calloc(3 * dims, sizeof *p->mean);
    if (!p->product || !p->centred || !p->packed || !p->mean)
        return gs_fail_memory(error, 8 * centred + 4 * packed + (wide ? 8 : 4) * square,
                              "products of a block of states");
    p->scale = p->mean + dims;
    p->squares = p->scale + dims;
    return cut_tiles(p, error);
}

void gs_block_products_release(struct gs_block_products *p) {
    gs_free(p->product);
    gs_free(p->centred);
    gs_free(p->packed);
    gs_free(p->mean);
    gs_free(p->tiles);
    *p = (struct gs_block_products){0};
}

/* ---- float64 --------------------------------------------------------------------------------- */

static void centre_wide(struct gs_block_products *p, const float *rows, size_t count, size_t first,
                        size_t columns) {
    double sum[STRIP] = {0};
    const double *mean = p->mean + first, *scale = p->scale + first;
    for (size_t r = 0; r < count; r++) {
        const float *row = rows + r * p->dims + first;
        double *centred = p->centred + r * p->dims + first;
        for (size_t c = 0; c < columns; c++) {
            centred[c] = ((double)row[c] - mean[c]) * scale[c];
            sum[c] += centred[c] * centred[c];
        }
    }
    memcpy(p->squares + first, sum, columns * sizeof *sum);
}

static enum gs_status multiply_wide(const struct gs_block_products *p,
                                    const struct gs_product_tile *t, size_t count) {
    size_t d = p->dims;
    double *product = (double *)p->product + t->row * d + t->column;
    const double *x = p->centred;
    if (t->row == t->column)
        return gs_blas_dsyrk(GS_UPPER, GS_TRANSPOSED, t->rows, count, 1, x + t->row, d, 0, product,
                             d, NULL);
    return gs_blas_dgemm(GS_TRANSPOSED, GS_PLAIN, t->rows, t->columns, count, 1, x + t->row, d,
                         x + t->column, d, 0, product, d, NULL);
}

/* ---- float32 --------------------------------------------------------------------------------- */

static float *panel_of(const struct gs_block_products *p, size_t slab, size_t inner, size_t place) {
    return p->packed + (slab * p->panels * SLAB + place * inner) * p->panel;
}

/* The strip's columns, slab by slab, panel by panel. Inside a slab of fewer rows panels stand
 * closer together. */
static void centre_narrow(struct gs_block_products *p, const float *rows, size_t count,
                          size_t first, size_t columns) {
    const struct gs_row_kernels *kernels = gs_row_kernels();
    size_t panel = kernels->panel;
    memset(p->squares + first, 0, columns * sizeof *p->squares);
    for (size_t row = 0; row < count; row += SLAB) {
        size_t inner = at_most(count - row, SLAB);
        for (size_t c = first; c < first + columns; c += panel)
            kernels->centre(rows + row * p->dims + c, p->dims, inner, at_most(p->dims - c, panel),
                            p->mean + c, p->scale + c, p->squares + c,
                            panel_of(p, row / SLAB, inner, c / panel));
    }
}

/* Panels of one slab: a right one with every left one of the tile that does not stand behind it. */
static void multiply_slab(const struct gs_block_products *p, const struct gs_product_tile *t,
                          size_t slab, size_t inner) {
    void (*multiply)(const struct gs_panel_pair *) = gs_row_kernels()->panel_product;
    size_t panel = p->panel, ys = p->stride;
    size_t first = t->row / panel, end = (t->row + t->rows + panel - 1) / panel;
    size_t last = (t->column + t->columns + panel - 1) / panel;
    for (size_t j = t->column / panel; j < last; j++) {
        const float *right = panel_of(p, slab, inner, j);
        for (size_t i = first; i < end && i <= j; i++) {
            struct gs_panel_pair pair = {.left = panel_of(p, slab, inner, i),
                                         .right = right,
                                         .inner = inner,
                                         .y = (float *)p->product + i * panel * ys + j * panel,
                                         .ys = ys,
                                         .accumulate = slab > 0,
                                         .ahead = i == first && j + 1 < last ? right + inner * panel
                                                                             : right};
            multiply(&pair);
        }
    }
}

static void multiply_narrow(const struct gs_block_products *p, const struct gs_product_tile *t,
                            size_t count) {
    for (size_t row = 0; row < count; row += SLAB)
        multiply_slab(p, t, row / SLAB, at_most(count - row, SLAB));
}

/* ---- both ------------------------------------------------------------------------------------ */

void gs_block_products_centre(struct gs_block_products *p, const float *rows, size_t count) {
    size_t strips = (p->dims + STRIP - 1) / STRIP;
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t s = 0; s < strips; s++) {
        size_t first = s * STRIP, columns = at_most(p->dims - first, STRIP);
        if (p->wide)
            centre_wide(p, rows, count, first, columns);
        else
            centre_narrow(p, rows, count, first, columns);
    }
}

enum gs_status gs_block_products_multiply(struct gs_block_products *p, size_t count,
                                          struct gs_error *error) {
    enum gs_status worst = GS_OK;
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t t = 0; t < p->tile_count; t++) {
        enum gs_status status = GS_OK;
        if (p->wide)
            status = multiply_wide(p, &p->tiles[t], count);
        else
            multiply_narrow(p, &p->tiles[t], count);
        if (status != GS_OK) {
#pragma omp critical(gs_block_products)
            worst = status;
        }
    }
    if (worst == GS_OK) return GS_OK;
    return gs_fail(error, worst, "BLAS refused a product of %zu rows of %zu dimensions", count,
                   p->dims);
}
