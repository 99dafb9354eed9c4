/* accumulate.h - the gradient of a weight matrix over many rows, shared by the threads. */
#ifndef GS_CORE_MODELS_PARTS_ACCUMULATE_H
#define GS_CORE_MODELS_PARTS_ACCUMULATE_H

#include <stddef.h>

/* c (rows, columns) += a' b, with c's rows `cs` apart; a (steps, rows) with its rows `as` apart, b
 * (steps, columns) with `bs`. Called by all threads of a parallel region (or outside of one), which
 * share it in blocks; does not wait for the others. Each sum is one chain over the steps that
 * begins at c, whatever the threads. */
void gs_accumulate(const float *a, size_t as, const float *b, size_t bs, size_t steps, size_t rows,
                   size_t columns, float *c, size_t cs);

#endif
