#include "core/models/parts/accumulate.h"

#include "core/kernels/kernels.h"

/* Blocks that the threads take one by one: small enough that all end at about the same time, large
 * enough that what the kernel copies is used often, and whole panels wide. No bit depends on them.
 */
enum { ROW_BLOCK = 264, COLUMN_BLOCK = 288, SMALL_BLOCK = 96, SMALL = 64 * 1024 };

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

void gs_accumulate(const float *a, size_t as, const float *b, size_t bs, size_t steps, size_t rows,
                   size_t columns, float *c, size_t cs) {
    const size_t wide = rows * columns > SMALL ? COLUMN_BLOCK : SMALL_BLOCK;
    const size_t across = (columns + wide - 1) / wide, down = (rows + ROW_BLOCK - 1) / ROW_BLOCK;
#pragma omp for schedule(dynamic) nowait
    for (size_t block = 0; block < across * down; block++) {
        size_t row = block / across * ROW_BLOCK, column = block % across * wide;
        gs_kernels()->outer(a + row, as, b + column, bs, steps, smaller(ROW_BLOCK, rows - row),
                            smaller(wide, columns - column), c + row * cs + column, cs);
    }
}
