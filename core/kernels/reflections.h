/* reflections.h - Householder reflections of GS_REFLECTION numbers on small blocks in the first
 * cache: what chases a band matrix into a tridiagonal one. Blocks are column-major; kernels.h has
 * the rules.
 */
#ifndef GS_CORE_KERNELS_REFLECTIONS_H
#define GS_CORE_KERNELS_REFLECTIONS_H

#include <stddef.h>

enum { GS_REFLECTION = 32 };

/* H = I − tau v vᵀ with v[0] = 1; tau 0 is H = I. */
struct gs_reflection {
    double v[GS_REFLECTION], tau;
};

struct gs_reflection_kernels {
    /* The H that leaves only the first of x: x becomes H x = (±‖x‖, 0, …). Squares of x may
     * underflow to 0: what is smaller than about 1e-154 counts as 0. */
    void (*make)(double *x, struct gs_reflection *h);
    /* A = H A H, of which the lower triangle stands in `block`; what is above is not touched. */
    void (*both_sides)(double *block, size_t stride, const struct gs_reflection *h);
    /* A = A R; then L is made so that L A has a first column of (x, 0, …), and A = L A. */
    void (*chase)(double *block, size_t stride, const struct gs_reflection *right,
                  struct gs_reflection *left);
};

/* The table in use: the one of gs_kernels; and the one for gs_kernels_at(index), or NULL. */
const struct gs_reflection_kernels *gs_reflection_kernels(void);
const struct gs_reflection_kernels *gs_reflection_kernels_at(size_t index);

#endif
