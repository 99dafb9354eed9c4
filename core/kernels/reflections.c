/* Small reflections; see reflections.h. A column is a handful of vectors that stay in registers. */
#include "core/kernels/reflections.h"

#include "core/kernels/lanes.h"

#include <math.h>

enum { N = GS_REFLECTION, HALF = GS_LANES / 2, VECTORS = N / HALF };

typedef double wide __attribute__((vector_size(4 * GS_LANES)));
typedef double wide_memory __attribute__((vector_size(4 * GS_LANES), aligned(8), may_alias));

GS_INLINE wide load_wide(const double *from) {
    return *(const wide_memory *)from;
}
GS_INLINE void store_wide(double *to, wide value) {
    *(wide_memory *)to = value;
}
GS_INLINE double sum_wide(wide value) {
    double part[HALF];
    store_wide(part, value);
    for (size_t width = HALF / 2; width; width /= 2)
        for (size_t i = 0; i < width; i++) part[i] += part[i + width];
    return part[0];
}

GS_INLINE void load_column(wide to[VECTORS], const double *from) {
    for (size_t i = 0; i < VECTORS; i++) to[i] = load_wide(from + i * HALF);
}

GS_INLINE double dot_columns(const wide x[VECTORS], const wide y[VECTORS]) {
    wide first = {0}, second = {0};
    for (size_t i = 0; i < VECTORS; i += 2) {
        first += x[i] * y[i];
        second += x[i + 1] * y[i + 1];
    }
    return sum_wide(first + second);
}

static void make(double *x, struct gs_reflection *h) {
    double rest = 0, first = x[0];
    for (size_t i = 1; i < N; i++) rest += x[i] * x[i];
    h->tau = 0;
    h->v[0] = 1;
    if (rest > 0) {
        double beta = first > 0 ? -sqrt(first * first + rest) : sqrt(first * first + rest);
        double scale = 1 / (first - beta);
        for (size_t i = 1; i < N; i++) h->v[i] = x[i] * scale;
        h->tau = (beta - first) / beta;
        x[0] = beta;
    }
    for (size_t i = 1; i < N; i++) {
        if (!(rest > 0)) h->v[i] = 0;
        x[i] = 0;
    }
}

/* With y = tau A v and w = y − (tau/2)(vᵀy) v: H A H = A − v wᵀ − w vᵀ. */
static void both_sides(double *block, size_t stride, const struct gs_reflection *h) {
    double whole[N * N], w[N];
    wide v[VECTORS], y[VECTORS];
    if (h->tau == 0) return;
    for (size_t j = 0; j < N; j++)
        for (size_t i = j; i < N; i++) whole[j * N + i] = whole[i * N + j] = block[j * stride + i];
    load_column(v, h->v);
    for (size_t i = 0; i < VECTORS; i++) y[i] = (wide){0};
    for (size_t j = 0; j < N; j++) {
        double factor = h->tau * h->v[j];
        for (size_t i = 0; i < VECTORS; i++) y[i] += factor * load_wide(whole + j * N + i * HALF);
    }
    double share = h->tau / 2 * dot_columns(v, y);
    for (size_t i = 0; i < VECTORS; i++) store_wide(w + i * HALF, y[i] - share * v[i]);
    for (size_t j = 0; j < N; j++)
        for (size_t i = j; i < N; i++) block[j * stride + i] -= h->v[i] * w[j] + w[i] * h->v[j];
}

static void chase(double *block, size_t stride, const struct gs_reflection *right,
                  struct gs_reflection *left) {
    wide y[VECTORS], v[VECTORS], column[VECTORS];
    for (size_t i = 0; i < VECTORS; i++) y[i] = (wide){0};
    for (size_t j = 0; j < N; j++) {
        double factor = right->tau * right->v[j];
        for (size_t i = 0; i < VECTORS; i++)
            y[i] += factor * load_wide(block + j * stride + i * HALF);
    }
    for (size_t i = 0; i < VECTORS; i++) {
        double *first = block + i * HALF;
        store_wide(first, load_wide(first) - y[i]); /* right->v[0] is 1 */
    }
    make(block, left);
    load_column(v, left->v);
    for (size_t j = 1; j < N; j++) {
        double *to = block + j * stride, factor = right->v[j];
        for (size_t i = 0; i < VECTORS; i++) column[i] = load_wide(to + i * HALF) - factor * y[i];
        double along = left->tau * dot_columns(v, column);
        for (size_t i = 0; i < VECTORS; i++) store_wide(to + i * HALF, column[i] - along * v[i]);
    }
}

const struct gs_reflection_kernels GS_KERNEL(reflections) = {make, both_sides, chase};
