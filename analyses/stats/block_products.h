/* block_products.h - centred products of the columns of one block of rows. Inside stats only.
 *
 * float64: BLAS on tiles. float32: centring packs the rows into panels of columns, once a
 * block, and a kernel of our own (core/kernels/rows.h) multiplies panels: BLAS would pack them
 * again for every tile.
 */
#ifndef GS_ANALYSES_STATS_BLOCK_PRODUCTS_H
#define GS_ANALYSES_STATS_BLOCK_PRODUCTS_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct gs_product_tile {
    size_t row, rows, column, columns; /* of the product */
};

struct gs_block_products {
    size_t dims, capacity;
    bool wide;            /* float64 */
    double *centred;      /* wide: (capacity, dims) */
    float *packed;        /* else: (slabs, panels, SLAB, panel) */
    size_t stride;        /* of the product's rows */
    void *product;        /* (dims, stride) upper, float or double; below: anything */
    double *mean, *scale; /* (dims) what is subtracted from a column, and then its factor */
    double *squares;      /* (dims) sums of squares of centred, scaled columns */
    struct gs_product_tile *tiles;
    size_t tile_count, panel, panels; /* columns of a panel, panels */
};

/* For blocks of up to `capacity` rows. GS_NO_MEMORY; release also after failure. */
enum gs_status gs_block_products_create(struct gs_block_products *products, size_t dims,
                                        size_t capacity, bool wide, struct gs_error *error);
void gs_block_products_release(struct gs_block_products *products);

/* The first `count` rows (capacity, dims), (row - mean) * scale each, and their squares; then the
 * product of what was centred last, of as many rows. Tiles and strips are fixed and each is one
 * thread's: same bits on any number of threads. */
void gs_block_products_centre(struct gs_block_products *products, const float *rows, size_t count);
enum gs_status gs_block_products_multiply(struct gs_block_products *products, size_t count,
                                          struct gs_error *error);

#endif
