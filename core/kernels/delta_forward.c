/* A chunk of the gated delta rule, forward; see delta.h. */
#include "core/kernels/delta_chunk.h"

#include <math.h>

/* S <- total S + (rows)' x: rows (C, keys) are the keys with what is left of each write. */
static void update(const struct gs_delta_chunk *c, float total, const float *rows, const float *x,
                   float *S) {
    const size_t size = c->keys * c->values;
    for (size_t i = 0; i < size; i += GS_LANES) store(S + i, load(S + i) * total);
    const struct gs_small m = {.x = rows,
                               .xs = c->keys,
                               .w = x,
                               .ws = c->values,
                               .y = S,
                               .ys = c->values,
                               .rows = c->keys,
                               .columns = c->values,
                               .inner = C};
    small_product(&m, true, false, GS_SUM, GS_WHOLE);
}

void GS_KERNEL(delta_forward)(const struct gs_delta_chunk *c, float *x, float *o, float *S) {
    struct decays d;
    float A[C * C] __attribute__((aligned(64))), P[C * C] __attribute__((aligned(64)));
    float *scaled = c->work;
    find_decays(c->decay, &d);
    key_products(c, scaled, A, P);
    damp(A, &d, c->strength, true, A);
    damp(P, &d, c->strength, false, P);

    struct gs_small m = {.x = scaled,
                         .xs = c->keys,
                         .w = S,
                         .ws = c->values,
                         .y = x,
                         .ys = c->values,
                         .rows = C,
                         .columns = c->values,
                         .inner = c->keys};
    scale_rows(c->k, d.before, NULL, c->keys, scaled);
    small_product(&m, false, true, GS_SUM, GS_WHOLE);
    solve(A, x, c->values);
    scale_rows(c->q, d.before, NULL, c->keys, scaled);
    m.y = o;
    small_product(&m, false, false, GS_ZERO, GS_WHOLE);
    m.x = P;
    m.xs = C;
    m.w = x;
    m.inner = C;
    small_product(&m, false, false, GS_SUM, GS_LOWER);

    scale_rows(c->k, d.between + (C - 1) * C, c->strength, c->keys, scaled);
    update(c, d.before[C - 1], scaled, x, S);
}

static double wide_dot(const float *x, const float *y, size_t n) {
    double sum[4] = {0};
    for (size_t i = 0; i < n; i += 4)
        for (size_t j = 0; j < 4; j++) sum[j] += (double)x[i + j] * (double)y[i + j];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* m.x = v.x - x.x. Rounding may leave a little less than nothing of a memory that was erased. */
void GS_KERNEL(delta_norms)(const struct gs_delta_chunk *c, const float *S, const float *v,
                            const float *x, float *norms) {
    double square = wide_dot(S, S, c->keys * c->values);
    for (size_t t = 0; t < C; t++) {
        const float *vt = v + t * c->values, *xt = x + t * c->values, *kt = c->k + t * c->keys;
        const double decay = (double)c->decay[t], strength = (double)c->strength[t];
        const double lacking = wide_dot(xt, xt, c->values);
        const double along = wide_dot(vt, xt, c->values) - lacking;
        square = decay * decay * square + 2 * strength * along +
                 strength * strength * wide_dot(kt, kt, c->keys) * lacking;
        if (square < 0) square = 0; /* this way round NaN is kept */
        norms[t] = (float)sqrt(square);
    }
}
