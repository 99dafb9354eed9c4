/* row_blocks.h - the rows of a window (each token of each sequence) cut into blocks, which the
 * threads of a region take one by one: what is made for a row is used while it is in the caches.
 *
 * The cut depends on the number of rows alone, so sums made block by block (gradients of norms) do
 * not depend on the threads.
 */
#ifndef GS_CORE_MODELS_PARTS_ROW_BLOCKS_H
#define GS_CORE_MODELS_PARTS_ROW_BLOCKS_H

#include <stddef.h>

enum {
    GS_BLOCK_ROWS = 128, /* most rows of a block: a large matrix is read once for so many */
    GS_BLOCK_FEW = 12,   /* fewer rows than this are not worth a thread */
    GS_BLOCK_EVEN = 4    /* blocks come in multiples of this, so that threads end together */
};

static inline size_t gs_row_blocks(size_t rows) {
    size_t blocks = (rows + GS_BLOCK_ROWS - 1) / GS_BLOCK_ROWS;
    blocks = (blocks + GS_BLOCK_EVEN - 1) / GS_BLOCK_EVEN * GS_BLOCK_EVEN;
    size_t most = rows / GS_BLOCK_FEW;
    if (most < 1) most = 1;
    return blocks < most ? blocks : most;
}

/* First row of a block; that of block `blocks` is `rows`. */
static inline size_t gs_row_block(size_t rows, size_t blocks, size_t index) {
    return rows * index / blocks;
}

#endif
