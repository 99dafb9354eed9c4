/* Which table runs: the best that the processor has. */
#include "core/kernels/kernels.h"

#include "core/kernels/isa.h"

#include <stdatomic.h>

extern const struct gs_kernels gs_table_generic;
#if defined(__x86_64__)
extern const struct gs_kernels gs_table_avx2;
extern const struct gs_kernels gs_table_avx512;
#endif

enum { MOST_TABLES = 3 };

static size_t available(const struct gs_kernels *tables[MOST_TABLES]) {
    size_t count = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        tables[count++] = &gs_table_avx512;
    if (avx2) tables[count++] = &gs_table_avx2;
#endif
    tables[count++] = &gs_table_generic;
    return count;
}

size_t gs_kernels_count(void) {
    const struct gs_kernels *tables[MOST_TABLES];
    return available(tables);
}

const struct gs_kernels *gs_kernels_at(size_t index) {
    const struct gs_kernels *tables[MOST_TABLES];
    return index < available(tables) ? tables[index] : NULL;
}

/* NULL: not asked for yet. Whoever comes first stores the same pointer as anybody else. */
static _Atomic(const struct gs_kernels *) in_use;

const struct gs_kernels *gs_kernels(void) {
    const struct gs_kernels *table = atomic_load_explicit(&in_use, memory_order_relaxed);
    if (table) return table;
    table = gs_kernels_at(0);
    atomic_store_explicit(&in_use, table, memory_order_relaxed);
    return table;
}

void gs_kernels_replace(const struct gs_kernels *table) {
    atomic_store(&in_use, table);
}

const char *gs_kernels_isa(void) {
    return gs_kernels()->isa;
}
