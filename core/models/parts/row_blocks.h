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
    GS_BLOCK_PARTS = 8,  /* blocks there are at least, rows allowing */
    GS_BLOCK_LAST = 4    /* parts of the last block, so that threads end together */
};

/* Rows of a block. */
static inline size_t gs_row_block_size(size_t rows) {
    const size_t even = rows / GS_BLOCK_PARTS;
    return even < GS_BLOCK_FEW ? GS_BLOCK_FEW : even > GS_BLOCK_ROWS ? GS_BLOCK_ROWS : even;
}

/* Blocks: of equal size, and the last one cut up. */
static inline size_t gs_row_blocks(size_t rows) {
    const size_t size = gs_row_block_size(rows);
    if (rows <= GS_BLOCK_LAST * GS_BLOCK_FEW) return (rows + size - 1) / size;
    return (rows - size + size - 1) / size + GS_BLOCK_LAST;
}

/* The most blocks that `rows` or fewer are cut into: sizes are rounded down, so that a few rows
 * less may make one more. */
static inline size_t gs_row_blocks_most(size_t rows) {
    return gs_row_blocks(rows) + 1;
}

/* First row of a block; that of block `blocks` (gs_row_blocks) is `rows`. */
static inline size_t gs_row_block(size_t rows, size_t blocks, size_t index) {
    if (rows <= GS_BLOCK_LAST * GS_BLOCK_FEW) return rows * index / blocks;
    const size_t whole = blocks - GS_BLOCK_LAST, last = gs_row_block_size(rows);
    if (index < whole) return (rows - last) * index / whole;
    return rows - last + last * (index - whole) / GS_BLOCK_LAST;
}

#endif
