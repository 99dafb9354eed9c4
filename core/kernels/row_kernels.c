/* The tables of row, reflection and gate kernels that belong to the table of kernels in use. */
#include "core/kernels/gates.h"
#include "core/kernels/kernels.h"
#include "core/kernels/reflections.h"
#include "core/kernels/rows.h"

#include <string.h>

extern const struct gs_row_kernels gs_rows_generic;
extern const struct gs_reflection_kernels gs_reflections_generic;
extern const struct gs_gate_kernels gs_gates_generic;
#if defined(__x86_64__)
extern const struct gs_row_kernels gs_rows_avx2;
extern const struct gs_row_kernels gs_rows_avx512;
extern const struct gs_reflection_kernels gs_reflections_avx2;
extern const struct gs_reflection_kernels gs_reflections_avx512;
extern const struct gs_gate_kernels gs_gates_avx2;
extern const struct gs_gate_kernels gs_gates_avx512;
#endif

static const struct gs_row_kernels *table_of(const struct gs_kernels *kernels) {
    if (!kernels) return NULL;
#if defined(__x86_64__)
    if (strcmp(kernels->isa, gs_rows_avx512.isa) == 0) return &gs_rows_avx512;
    if (strcmp(kernels->isa, gs_rows_avx2.isa) == 0) return &gs_rows_avx2;
#endif
    return &gs_rows_generic;
}

const struct gs_row_kernels *gs_row_kernels(void) {
    return table_of(gs_kernels());
}

const struct gs_row_kernels *gs_row_kernels_at(size_t index) {
    return table_of(gs_kernels_at(index));
}

static const struct gs_reflection_kernels *reflections_of(const struct gs_row_kernels *rows) {
    if (!rows) return NULL;
#if defined(__x86_64__)
    if (rows == &gs_rows_avx512) return &gs_reflections_avx512;
    if (rows == &gs_rows_avx2) return &gs_reflections_avx2;
#endif
    return &gs_reflections_generic;
}

const struct gs_reflection_kernels *gs_reflection_kernels(void) {
    return reflections_of(gs_row_kernels());
}

const struct gs_reflection_kernels *gs_reflection_kernels_at(size_t index) {
    return reflections_of(gs_row_kernels_at(index));
}

static const struct gs_gate_kernels *gates_of(const struct gs_row_kernels *rows) {
    if (!rows) return NULL;
#if defined(__x86_64__)
    if (rows == &gs_rows_avx512) return &gs_gates_avx512;
    if (rows == &gs_rows_avx2) return &gs_gates_avx2;
#endif
    return &gs_gates_generic;
}

const struct gs_gate_kernels *gs_gate_kernels(void) {
    return gates_of(gs_row_kernels());
}

const struct gs_gate_kernels *gs_gate_kernels_at(size_t index) {
    return gates_of(gs_row_kernels_at(index));
}
