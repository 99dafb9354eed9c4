/* The table of the delta rule's kernels that belongs to the table of kernels in use. */
#include "core/kernels/delta.h"

#include "core/kernels/kernels.h"

#include <stdatomic.h>
#include <string.h>

extern const struct gs_delta_kernels gs_delta_table_generic;
#if defined(__x86_64__)
extern const struct gs_delta_kernels gs_delta_table_avx2;
extern const struct gs_delta_kernels gs_delta_table_avx512;
#endif

static const struct gs_delta_kernels *table_of(const struct gs_kernels *kernels) {
    if (!kernels) return NULL;
#if defined(__x86_64__)
    if (strcmp(kernels->isa, gs_delta_table_avx512.isa) == 0) return &gs_delta_table_avx512;
    if (strcmp(kernels->isa, gs_delta_table_avx2.isa) == 0) return &gs_delta_table_avx2;
#endif
    return &gs_delta_table_generic;
}

static _Atomic(const struct gs_delta_kernels *) replacement;

const struct gs_delta_kernels *gs_delta_kernels(void) {
    const struct gs_delta_kernels *other = atomic_load_explicit(&replacement, memory_order_relaxed);
    return other ? other : table_of(gs_kernels());
}

void gs_delta_kernels_replace(const struct gs_delta_kernels *table) {
    atomic_store(&replacement, table);
}

const struct gs_delta_kernels *gs_delta_kernels_at(size_t index) {
    return table_of(gs_kernels_at(index));
}

size_t gs_delta_width(const struct gs_delta_kernels *kernels, size_t n) {
    const size_t pair = 2 * kernels->lanes;
    return (n + pair - 1) / pair * pair;
}

/* A turned memory and a chunk of the wider side. */
size_t gs_delta_work(size_t keys, size_t values) {
    return keys * values + GS_DELTA_CHUNK * (keys > values ? keys : values);
}
