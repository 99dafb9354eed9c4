/* The short causal convolution of each channel with what stands around it, forward beside backward:
 * a row of channels at a time. Partial vectors go through the same operations as whole ones. */
#include "core/kernels/delta_isa.h"

enum { W = GS_CONV_WIDTH };

GS_INLINE lanes taps(const float *const x[W], const float *weights, size_t stride, size_t i,
                     size_t n) {
    lanes sum = fill(0);
    for (size_t tap = 0; tap < W; tap++)
        sum += load_row(weights + tap * stride, i, n) * load_row(x[tap], i, n);
    return sum;
}

void GS_KERNEL(conv)(const float *const x[W], const float *weights, size_t stride, size_t n,
                     float *y) {
    for (size_t i = 0; i < n; i += GS_LANES) {
        const lanes pre = taps(x, weights, stride, i, n);
        store_row(y, i, n, pre * sigmoid_lanes(pre));
    }
}

void GS_KERNEL(conv_backward)(const float *const x[W], const float *weights, size_t stride,
                              const float *dy, size_t n, float *dpre, float *dweights) {
    for (size_t i = 0; i < n; i += GS_LANES) {
        const lanes pre = taps(x, weights, stride, i, n), sigmoid = sigmoid_lanes(pre);
        const lanes d = load_row(dy, i, n) * (sigmoid + pre * sigmoid * (1.0f - sigmoid));
        store_row(dpre, i, n, d);
        for (size_t tap = 0; tap < W; tap++) {
            float *at = dweights + tap * stride;
            store_row(at, i, n, load_row(at, i, n) + d * load_row(x[tap], i, n));
        }
    }
}

void GS_KERNEL(conv_inputs)(const float *const dpre[W], const float *weights, size_t stride,
                            size_t n, float *dx) {
    for (size_t i = 0; i < n; i += GS_LANES) store_row(dx, i, n, taps(dpre, weights, stride, i, n));
}
