/* One row at a time: norms, gates and activations, forward beside backward. The last, partial
 * vector goes through the same operations as the whole ones (load_row, store_row), so that a
 * value's bits do not depend on where in the row it stands. */
#include "core/kernels/per_isa.h"

#include <math.h>

GS_INLINE float dot_lanes(const float *x, const float *y, size_t n) {
    lanes total[4] = {fill(0), fill(0), fill(0), fill(0)};
    size_t i = 0;
    for (; i + 4 * GS_LANES <= n; i += 4 * GS_LANES)
        for (size_t j = 0; j < 4; j++)
            total[j] += load(x + i + j * GS_LANES) * load(y + i + j * GS_LANES);
    for (; i < n; i += GS_LANES) total[0] += load_row(x, i, n) * load_row(y, i, n);
    return sum_lanes((total[0] + total[1]) + (total[2] + total[3]));
}

/* y = x * s */
GS_INLINE void scale_row(const float *x, float s, size_t n, float *y) {
    for (size_t i = 0; i < n; i += GS_LANES) store_row(y, i, n, load_row(x, i, n) * s);
}

double GS_KERNEL(squares)(const float *x, size_t n) {
    return (double)dot_lanes(x, x, n);
}

double GS_KERNEL(dot)(const float *x, const float *y, size_t n) {
    return (double)dot_lanes(x, y, n);
}

void GS_KERNEL(add)(const float *x, size_t n, float *y) {
    for (size_t i = 0; i < n; i += GS_LANES)
        store_row(y, i, n, load_row(y, i, n) + load_row(x, i, n));
}

GS_INLINE float rms_scale(const float *x, size_t n) {
    return 1.0f / sqrtf(dot_lanes(x, x, n) / (float)n + 1e-6f);
}

float GS_KERNEL(rms)(const float *x, size_t n, float *y) {
    const float s = rms_scale(x, n);
    scale_row(x, s, n, y);
    return s;
}

void GS_KERNEL(rms_backward)(const float *dy, const float *y, float s, size_t n, float *dx,
                             bool accumulate) {
    const lanes mean = fill(dot_lanes(dy, y, n) / (float)n);
    for (size_t i = 0; i < n; i += GS_LANES) {
        lanes d = (load_row(dy, i, n) - load_row(y, i, n) * mean) * s;
        if (accumulate) d += load_row(dx, i, n);
        store_row(dx, i, n, d);
    }
}

void GS_KERNEL(norm)(const float *x, const float *w, size_t n, float *y) {
    const float s = rms_scale(x, n);
    for (size_t i = 0; i < n; i += GS_LANES)
        store_row(y, i, n, load_row(x, i, n) * s * load_row(w, i, n));
}

void GS_KERNEL(norm_backward)(const float *dy, const float *x, const float *w, size_t n, float *dx,
                              bool accumulate, float *dw) {
    const float s = rms_scale(x, n);
    lanes along = fill(0);
    for (size_t i = 0; i < n; i += GS_LANES)
        along += load_row(dy, i, n) * load_row(w, i, n) * load_row(x, i, n);
    const lanes back = fill(sum_lanes(along) / (float)n * s * s);
    for (size_t i = 0; i < n; i += GS_LANES) {
        lanes d = load_row(dy, i, n), value = load_row(x, i, n);
        store_row(dw, i, n, load_row(dw, i, n) + d * value * s);
        lanes to = (d * load_row(w, i, n) - value * back) * s;
        if (accumulate) to += load_row(dx, i, n);
        store_row(dx, i, n, to);
    }
}

float GS_KERNEL(unit_relu)(const float *x, const float *bias, size_t n, float *y) {
    const lanes zero = fill(0);
    for (size_t i = 0; i < n; i += GS_LANES) {
        lanes v = load_row(x, i, n) + load_row(bias, i, n);
        store_row(y, i, n, select(v <= zero, zero, v)); /* this way round NaN is kept */
    }
    float s = 1.0f / sqrtf(dot_lanes(y, y, n) + 1e-12f);
    scale_row(y, s, n, y);
    return s;
}

void GS_KERNEL(unit_relu_backward)(const float *dy, const float *y, float s, size_t n, float *dx) {
    const lanes along = fill(dot_lanes(dy, y, n)), zero = fill(0);
    for (size_t i = 0; i < n; i += GS_LANES) {
        lanes unit = load_row(y, i, n);
        lanes d = (load_row(dy, i, n) - unit * along) * s;
        store_row(dx, i, n, select(unit > zero, d, zero));
    }
}

void GS_KERNEL(sigmoid)(const float *x, const float *bias, size_t n, float *y) {
    for (size_t i = 0; i < n; i += GS_LANES)
        store_row(y, i, n, sigmoid_lanes(load_row(x, i, n) + load_row(bias, i, n)));
}

void GS_KERNEL(swiglu)(const float *gate, const float *x, float scale, size_t n, float *y) {
    for (size_t i = 0; i < n; i += GS_LANES) {
        lanes g = load_row(gate, i, n);
        store_row(y, i, n, g * sigmoid_lanes(g) * (load_row(x, i, n) * scale));
    }
}

void GS_KERNEL(swiglu_backward)(const float *gate, const float *x, float scale, const float *dy,
                                size_t n, float *dgate, float *dx, float *y) {
    for (size_t i = 0; i < n; i += GS_LANES) {
        lanes g = load_row(gate, i, n), d = load_row(dy, i, n);
        lanes scaled = load_row(x, i, n) * scale;
        lanes sigmoid = sigmoid_lanes(g);
        lanes silu = g * sigmoid;
        store_row(dgate, i, n, d * scaled * (sigmoid + silu * (1.0f - sigmoid)));
        store_row(dx, i, n, d * silu);
        store_row(y, i, n, silu * scaled);
    }
}

void GS_KERNEL(gated_sum)(const float *gate, const float *x, const float *a, const float *b,
                          size_t n, float *y) {
    for (size_t i = 0; i < n; i += GS_LANES) {
        lanes v = load_row(gate, i, n) * load_row(x, i, n) + load_row(a, i, n);
        if (b) v += load_row(b, i, n);
        store_row(y, i, n, v);
    }
}

void GS_KERNEL(gated_sum_measured)(const float *gate, const float *x, const float *a,
                                   const float *b, size_t n, float *y, float sums[3]) {
    lanes without = fill(0), alone = fill(0), across = fill(0);
    for (size_t i = 0; i < n; i += GS_LANES) {
        lanes base = load_row(gate, i, n) * load_row(x, i, n) + load_row(a, i, n);
        lanes more = load_row(b, i, n);
        without += base * base;
        alone += more * more;
        across += base * more;
        store_row(y, i, n, base + more);
    }
    sums[0] = sum_lanes(without);
    sums[1] = sum_lanes(alone);
    sums[2] = sum_lanes(across);
}

void GS_KERNEL(gate_backward)(const float *gate, const float *x, float xscale, const float *dy,
                              size_t n, float *dpre, float *dx) {
    for (size_t i = 0; i < n; i += GS_LANES) {
        lanes g = load_row(gate, i, n), d = load_row(dy, i, n);
        store_row(dpre, i, n, d * (load_row(x, i, n) * xscale) * (g * (1.0f - g)));
        store_row(dx, i, n, d * g);
    }
}

/* The largest value; NaN when one of them is not finite. */
static float largest(const float *x, size_t n) {
    lanes top = fill(x[0]), strange = fill(0);
    size_t i = 0;
    for (; i + GS_LANES <= n; i += GS_LANES) {
        lanes v = load(x + i);
        top = select(v > top, v, top);
        strange += v - v; /* NaN from NaN and Inf, else 0 */
    }
    float buffer[GS_LANES], best = x[0], rest = sum_lanes(strange);
    store(buffer, top);
    for (size_t j = 0; j < GS_LANES; j++)
        if (buffer[j] > best) best = buffer[j];
    for (; i < n; i++) {
        if (x[i] > best) best = x[i];
        rest += x[i] - x[i];
    }
    return rest == 0 ? best : NAN;
}

/* Sum of exp(x - top) over at most 64 vectors, in float; x becomes the exponentials. */
GS_INLINE float exponentials(float *x, size_t n, float top) {
    lanes total = fill(0);
    size_t i = 0;
    for (; i + GS_LANES <= n; i += GS_LANES) {
        lanes e = exp_lanes(load(x + i) - top);
        store(x + i, e);
        total += e;
    }
    if (i < n) {
        store_row(x, i, n, exp_lanes(load_row(x, i, n) - top));
        total += load_row(x, i, n); /* zeros where the row has ended */
    }
    return sum_lanes(total);
}

float GS_KERNEL(cross_entropy)(float *logits, size_t n, size_t target, bool gradient) {
    const float top = largest(logits, n), aim = logits[target];
    double sum = 0;
    /* Vocabularies are long: stretches in float, their totals in double. */
    enum { STRETCH = 64 * GS_LANES };
    for (size_t begin = 0; begin < n; begin += STRETCH)
        sum += (double)exponentials(logits + begin, n - begin < STRETCH ? n - begin : STRETCH, top);
    if (gradient) {
        scale_row(logits, (float)(1.0 / sum), n, logits);
        logits[target] -= 1.0f;
    }
    return (float)(log(sum) - ((double)aim - (double)top));
}
