/* Rows of one head of a Gated DeltaNet: unit vectors and the gated norm, forward beside backward.
 * Partial vectors go through the same operations as whole ones. */
#include "core/kernels/delta_isa.h"

#include <math.h>

GS_INLINE float dot_rows(const float *x, const float *y, size_t n) {
    lanes sum = fill(0);
    for (size_t i = 0; i < n; i += GS_LANES) sum += load_row(x, i, n) * load_row(y, i, n);
    return sum_lanes(sum);
}

float GS_KERNEL(unit)(const float *x, size_t n, float scale, float *y) {
    const float f = scale / sqrtf(dot_rows(x, x, n) + 1e-6f);
    for (size_t i = 0; i < n; i += GS_LANES) store_row(y, i, n, load_row(x, i, n) * f);
    return f;
}

void GS_KERNEL(unit_backward)(const float *dy, const float *y, float f, float scale, size_t n,
                              float *dx) {
    const float along = dot_rows(dy, y, n) / (scale * scale);
    for (size_t i = 0; i < n; i += GS_LANES)
        store_row(dx, i, n, (load_row(dy, i, n) - load_row(y, i, n) * along) * f);
}

GS_INLINE float norm_scale(const float *x, size_t n) {
    return 1.0f / sqrtf(dot_rows(x, x, n) / (float)n + 1e-6f);
}

void GS_KERNEL(gated_norm)(const float *x, const float *w, const float *g, size_t n, float *y) {
    const float s = norm_scale(x, n);
    for (size_t i = 0; i < n; i += GS_LANES) {
        const lanes gate = load_row(g, i, n);
        store_row(y, i, n,
                  load_row(x, i, n) * s * load_row(w, i, n) * (gate * sigmoid_lanes(gate)));
    }
}

void GS_KERNEL(gated_norm_backward)(const float *x, const float *w, const float *g, const float *dy,
                                    size_t n, float *dx, float *dg, float *dw, float *y) {
    const float s = norm_scale(x, n);
    lanes along = fill(0); /* of what reaches the unit-scaled x, with it */
    for (size_t i = 0; i < n; i += GS_LANES) {
        const lanes gate = load_row(g, i, n), sigmoid = sigmoid_lanes(gate);
        const lanes silu = gate * sigmoid, d = load_row(dy, i, n);
        const lanes weight = load_row(w, i, n), normal = load_row(x, i, n) * s;
        const lanes through = d * silu * weight;
        store_row(y, i, n, normal * weight * silu);
        store_row(dg, i, n, d * normal * weight * (sigmoid + silu * (1.0f - sigmoid)));
        store_row(dw, i, n, load_row(dw, i, n) + d * silu * normal);
        store_row(dx, i, n, through);
        along += through * normal;
    }
    const lanes mean = fill(sum_lanes(along) / (float)n);
    for (size_t i = 0; i < n; i += GS_LANES)
        store_row(dx, i, n, (load_row(dx, i, n) - load_row(x, i, n) * s * mean) * s);
}
