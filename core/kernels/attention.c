/* The table of attention kernels that belongs to the table of kernels in use. */
#include "core/kernels/attention.h"

#include "core/kernels/kernels.h"

#include <stdatomic.h>
#include <string.h>

extern const struct gs_attention_kernels gs_attention_generic;
#if defined(__x86_64__)
extern const struct gs_attention_kernels gs_attention_avx2;
extern const struct gs_attention_kernels gs_attention_avx512;
#endif

static const struct gs_attention_kernels *table_of(const struct gs_kernels *kernels) {
    if (!kernels) return NULL;
#if defined(__x86_64__)
    if (strcmp(kernels->isa, gs_attention_avx512.isa) == 0) return &gs_attention_avx512;
    if (strcmp(kernels->isa, gs_attention_avx2.isa) == 0) return &gs_attention_avx2;
#endif
    return &gs_attention_generic;
}

static _Atomic(const struct gs_attention_kernels *) replaced;

const struct gs_attention_kernels *gs_attention_kernels(void) {
    const struct gs_attention_kernels *table =
        atomic_load_explicit(&replaced, memory_order_relaxed);
    return table ? table : table_of(gs_kernels());
}

void gs_attention_kernels_replace(const struct gs_attention_kernels *table) {
    atomic_store(&replaced, table);
}

const struct gs_attention_kernels *gs_attention_kernels_at(size_t index) {
    return table_of(gs_kernels_at(index));
}

size_t gs_attention_width(const struct gs_attention_kernels *kernels, size_t c) {
    const size_t pair = 2 * kernels->lanes;
    return (c + pair - 1) / pair * pair;
}

/* An odd number of cache lines: columns of many rows then spread over all sets of a cache. */
size_t gs_attention_stride(const struct gs_attention_kernels *kernels, size_t c) {
    enum { LINE = 16 };
    const size_t lines = (gs_attention_width(kernels, c) + LINE - 1) / LINE;
    return (lines | 1) * LINE;
}

size_t gs_attention_rows(size_t n) {
    return (n + GS_ATTENTION_QUERIES - 1) / GS_ATTENTION_QUERIES * GS_ATTENTION_QUERIES;
}

/* Scores and their gradients, queries and their gradients turned. */
size_t gs_attention_work(size_t rows, size_t width) {
    return GS_ATTENTION_QUERIES * (2 * rows + 2 * width);
}
