/* A chunk of the gated delta rule, backward; see delta.h. With Y the gradient of what (I + A) X
 * equals:
 *     (I + A)' Y = P' dO + (D[last] * b * K) dS;   dV = Y
 *     dA = -Y X' (strictly lower);   dP = dO X' (lower);   F = D * (dP * Q K' + dA * K K')
 *     dQ = d * (dO S') + (dP * D * b') K
 *     dK = -d * (Y S') + (dA * D * b') K + (dP * D * b')' Q + (dA * D * b')' K
 *          + D[last] * b * (X dS')
 *     dS <- d[last] dS + (d * Q)' dO - (d * K)' Y
 *
 * D[t, j] feels every decay after j up to t. With E = F * b', the logarithm of the decay of s
 * receives the sum of E over j < s <= t: rows of E are added at t, columns taken away at j, and
 * what stands at s or later is summed. */
#include "core/kernels/delta_chunk.h"

struct parts {
    struct decays d;
    float kk[C * C], qk[C * C];
    float A[C * C], P[C * C]; /* later the factors of keys and queries, dA * D * b', dP * D * b' */
    float log_before[C];      /* gradients of log d, before they are summed */
    float left[C];            /* D[last] * b */
};

/* The sum of x * y over n, a multiple of a vector. */
static float dot(const float *x, const float *y, size_t n) {
    lanes sum = fill(0);
    for (size_t i = 0; i < n; i += GS_LANES) sum += load(x + i) * load(y + i);
    return sum_lanes(sum);
}

/* Forward's matrices once more. */
static void find_parts(const struct gs_delta_chunk *c, struct parts *p) {
    find_decays(c->decay, &p->d);
    key_products(c, c->work, p->kk, p->qk);
    damp(p->kk, &p->d, c->strength, true, p->A);
    damp(p->qk, &p->d, c->strength, false, p->P);
    const float *last = p->d.between + (C - 1) * C;
    for (size_t t = 0; t < C; t++) p->left[t] = last[t] * c->strength[t];
}

/* Y, into dv. */
static void find_y(const struct gs_delta_chunk *c, const struct gs_delta_gradient *g,
                   const struct parts *p) {
    float *scaled = c->work;
    struct gs_small m = {.x = p->P,
                         .xs = C,
                         .w = g->d_o,
                         .ws = c->values,
                         .y = g->dv,
                         .ys = c->values,
                         .rows = C,
                         .columns = c->values,
                         .inner = C};
    small_product(&m, true, false, GS_ZERO, GS_UPPER);
    scale_rows(c->k, p->left, NULL, c->keys, scaled);
    m.x = scaled;
    m.xs = c->keys;
    m.w = g->dS;
    m.inner = c->keys;
    small_product(&m, false, false, GS_SUM, GS_WHOLE);
    solve_turned(p->A, g->dv, c->values);
}

/* Row t of dA and dP times D and b, and what the strengths (all of F's columns, into `whole`) and
 * the decays (E without the diagonal: D[t, t] is 1 whatever the decays) have of it. */
GS_INLINE void triangle_row(const struct gs_delta_chunk *c, struct parts *p, size_t t,
                            lanes whole[C / GS_LANES], lanes off[C / GS_LANES]) {
    float row[C];
    lanes sum = fill(0);
    p->A[t * C + t] = 0;
    for (size_t j = 0; j < C / GS_LANES; j++) {
        const size_t at = t * C + j * GS_LANES;
        const lanes between = load(p->d.between + at), strength = load(c->strength + j * GS_LANES);
        const lanes dp = load(p->P + at) * between, da = load(p->A + at) * between;
        const lanes f = dp * load(p->qk + at) + da * load(p->kk + at);
        store(p->P + at, dp * strength);
        store(p->A + at, da * strength);
        store(row + j * GS_LANES, f * strength);
        whole[j] += f;
    }
    row[t] = 0;
    for (size_t j = 0; j < C / GS_LANES; j++) {
        const lanes e = load(row + j * GS_LANES);
        off[j] += e;
        sum += e;
    }
    p->log_before[t] = sum_lanes(sum);
}

static void find_triangles(const struct gs_delta_chunk *c, const struct gs_delta_gradient *g,
                           struct parts *p) {
    float *turned = c->work; /* X' (values, C) */
    lanes whole[C / GS_LANES], off[C / GS_LANES];
    small_turn(g->x, c->values, C, c->values, turned, C);
    struct gs_small m = {.x = g->d_o, .xs = c->values, .w = turned, .ws = C, .y = p->P, .ys = C};
    m.rows = m.columns = C;
    m.inner = c->values;
    small_product(&m, false, false, GS_ZERO, GS_WHOLE);
    m.x = g->dv;
    m.y = p->A;
    small_product(&m, false, true, GS_ZERO, GS_WHOLE);
    for (size_t j = 0; j < C / GS_LANES; j++) whole[j] = off[j] = fill(0);
    for (size_t t = 0; t < C; t++) triangle_row(c, p, t, whole, off);
    for (size_t j = 0; j < C / GS_LANES; j++) {
        float *log_before = p->log_before + j * GS_LANES;
        store(g->dstrength + j * GS_LANES, whole[j]);
        store(log_before, load(log_before) - off[j]);
    }
}

/* What queries and keys receive through the memory before the chunk. */
static void through_start(const struct gs_delta_chunk *c, const struct gs_delta_gradient *g,
                          struct parts *p) {
    float *turned = c->work, *scaled = turned + c->keys * c->values; /* S', (C, values) */
    small_turn(g->S, c->values, c->keys, c->values, turned, c->keys);
    struct gs_small m = {.x = scaled,
                         .xs = c->values,
                         .w = turned,
                         .ws = c->keys,
                         .y = g->dq,
                         .ys = c->keys,
                         .rows = C,
                         .columns = c->keys,
                         .inner = c->values};
    scale_rows(g->d_o, p->d.before, NULL, c->values, scaled);
    small_product(&m, false, false, GS_ZERO, GS_WHOLE);
    scale_rows(g->dv, p->d.before, NULL, c->values, scaled);
    m.y = g->dk;
    small_product(&m, false, true, GS_ZERO, GS_WHOLE);
    for (size_t t = 0; t < C; t++)
        p->log_before[t] += dot(c->q + t * c->keys, g->dq + t * c->keys, c->keys) +
                            dot(c->k + t * c->keys, g->dk + t * c->keys, c->keys);
}

/* What they receive through each other. */
static void through_chunk(const struct gs_delta_chunk *c, const struct gs_delta_gradient *g,
                          const struct parts *p) {
    struct gs_small m = {.x = p->P,
                         .xs = C,
                         .w = c->k,
                         .ws = c->keys,
                         .y = g->dq,
                         .ys = c->keys,
                         .rows = C,
                         .columns = c->keys,
                         .inner = C};
    small_product(&m, false, false, GS_SUM, GS_LOWER);
    m.x = p->A;
    m.y = g->dk;
    small_product(&m, false, false, GS_SUM, GS_LOWER);
    small_product(&m, true, false, GS_SUM, GS_UPPER);
    m.x = p->P;
    m.w = c->q;
    small_product(&m, true, false, GS_SUM, GS_UPPER);
}

/* What keys, strengths and decays receive through the memory after the chunk. */
static void through_end(const struct gs_delta_chunk *c, const struct gs_delta_gradient *g,
                        struct parts *p) {
    float *turned = c->work, *z = turned + c->keys * c->values; /* dS', X dS' (C, keys) */
    const float *last = p->d.between + (C - 1) * C;
    small_turn(g->dS, c->values, c->keys, c->values, turned, c->keys);
    const struct gs_small m = {.x = g->x,
                               .xs = c->values,
                               .w = turned,
                               .ws = c->keys,
                               .y = z,
                               .ys = c->keys,
                               .rows = C,
                               .columns = c->keys,
                               .inner = c->values};
    small_product(&m, false, false, GS_ZERO, GS_WHOLE);
    float whole = p->d.before[C - 1] * dot(g->dS, g->S, c->keys * c->values);
    for (size_t t = 0; t < C; t++) {
        float *dk = g->dk + t * c->keys;
        const float *row = z + t * c->keys;
        const lanes left = fill(p->left[t]);
        const float along = last[t] * dot(c->k + t * c->keys, row, c->keys);
        for (size_t j = 0; j < c->keys; j += GS_LANES)
            store(dk + j, load(dk + j) + left * load(row + j));
        g->dstrength[t] += along;
        if (t + 1 == C) continue; /* D[last, last] is 1, whatever the decays */
        p->log_before[t] -= along * c->strength[t];
        whole += along * c->strength[t];
    }
    p->log_before[C - 1] += whole;
}

/* dS before the chunk. */
static void find_ds(const struct gs_delta_chunk *c, const struct gs_delta_gradient *g,
                    const struct parts *p) {
    const size_t size = c->keys * c->values;
    float *scaled = c->work;
    const lanes total = fill(p->d.before[C - 1]);
    for (size_t i = 0; i < size; i += GS_LANES) store(g->dS + i, load(g->dS + i) * total);
    struct gs_small m = {.x = scaled,
                         .xs = c->keys,
                         .w = g->d_o,
                         .ws = c->values,
                         .y = g->dS,
                         .ys = c->values,
                         .rows = c->keys,
                         .columns = c->values,
                         .inner = C};
    scale_rows(c->q, p->d.before, NULL, c->keys, scaled);
    small_product(&m, true, false, GS_SUM, GS_WHOLE);
    scale_rows(c->k, p->d.before, NULL, c->keys, scaled);
    m.w = g->dv;
    small_product(&m, true, true, GS_SUM, GS_WHOLE);
}

void GS_KERNEL(delta_backward)(const struct gs_delta_chunk *c, const struct gs_delta_gradient *g) {
    struct parts p;
    find_parts(c, &p);
    find_y(c, g, &p);
    find_triangles(c, g, &p);
    through_start(c, g, &p);
    through_chunk(c, g, &p);
    through_end(c, g, &p);
    find_ds(c, g, &p);
    float sum = 0;
    for (size_t t = C; t-- > 0;) g->dlog_decay[t] = sum += p.log_before[t];
}
