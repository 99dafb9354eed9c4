/* A block of queries against all keys up to them; see attention.h. */
#include "core/kernels/attention.h"
#include "core/kernels/small_product.h"

#include <math.h>

#define N GS_ATTENTION_QUERIES
enum { VECTORS = N / GS_LANES, HALF = N / 2 };

/* The last HALF keys are not seen by the first HALF queries of a block: no product is made there.
 * What stands there is not read, or is weighed by zero. */

/* scores (keys, N) = K q', the queries of the block side by side. turned: (width, N) scratch. */
static void find_scores(const float *rows, const float *queries, const struct gs_attention *a,
                        size_t keys, float *turned, float *scores) {
    small_turn(queries, a->stride, N, a->width, turned, N);
    struct gs_small m = {.x = rows,
                         .xs = a->stride,
                         .w = turned,
                         .ws = N,
                         .y = scores,
                         .ys = N,
                         .rows = keys - HALF,
                         .columns = N,
                         .inner = a->head};
    small_product(&m, false, false, GS_ZERO, GS_WHOLE);
    const size_t skipped = (size_t)GS_PAIR <= HALF ? HALF : 0; /* columns */
    m.x += m.rows * a->stride;
    m.w += skipped;
    m.y += m.rows * N + skipped;
    m.rows = HALF;
    m.columns = N - skipped;
    small_product(&m, false, false, GS_ZERO, GS_WHOLE);
}

/* The last N keys are the block's own tokens: key j is not seen by the queries before it. */
static void hide_later(float *scores, size_t keys) {
    for (size_t j = 1; j < N; j++)
        for (size_t i = 0; i < j; i++) scores[(keys - N + j) * N + i] = -INFINITY;
}

/* scores become exp(score - largest of its column); sums of the columns, and log of the sum of
 * exp. */
static void exponentials(float *scores, size_t keys, float *sums, float *log_sum) {
    lanes top[VECTORS], total[VECTORS];
    for (size_t l = 0; l < VECTORS; l++) {
        top[l] = load(scores + l * GS_LANES);
        total[l] = fill(0);
    }
    for (size_t j = 1; j < keys; j++)
        for (size_t l = 0; l < VECTORS; l++) {
            const lanes value = load(scores + j * N + l * GS_LANES);
            top[l] = select(value > top[l], value, top[l]);
        }
    for (size_t j = 0; j < keys; j++)
        for (size_t l = 0; l < VECTORS; l++) {
            float *at = scores + j * N + l * GS_LANES;
            const lanes value = exp_lanes(load(at) - top[l]);
            store(at, value);
            total[l] += value;
        }
    for (size_t l = 0; l < VECTORS; l++) {
        store(sums + l * GS_LANES, total[l]);
        store(log_sum + l * GS_LANES, top[l]);
    }
    for (size_t i = 0; i < N; i++) log_sum[i] += logf(sums[i]);
}

/* y (N, width) = S' rows: S (keys, N), rows of `keys` tokens. */
static void mix(const float *scores, const float *rows, const struct gs_attention *a, size_t keys,
                float *y, size_t ys) {
    struct gs_small m = {.x = scores,
                         .xs = N,
                         .w = rows,
                         .ws = a->stride,
                         .y = y,
                         .ys = ys,
                         .rows = HALF,
                         .columns = a->width,
                         .inner = keys - HALF};
    small_product(&m, true, false, GS_ZERO, GS_WHOLE);
    m.x += HALF;
    m.y += HALF * ys;
    m.inner = keys;
    small_product(&m, true, false, GS_ZERO, GS_WHOLE);
}

static void forward(const struct gs_attention *a, size_t first, float *o, float *log_sum) {
    const size_t keys = first + N;
    float *turned = a->work, *scores = turned + a->width * N, sums[N];
    find_scores(a->k, a->q + first * a->stride, a, keys, turned, scores);
    hide_later(scores, keys);
    exponentials(scores, keys, sums, log_sum);
    mix(scores, a->v, a, keys, o, a->width);
    for (size_t i = 0; i < N; i++) {
        const lanes share = fill(1.0f / sums[i]);
        float *row = o + i * a->width;
        for (size_t c = 0; c < a->width; c += GS_LANES) store(row + c, load(row + c) * share);
    }
}

/* scores become P, and scores' gradient dP becomes dS = P (dP - along). */
static void back_through_softmax(float *scores, float *gradient, size_t keys, const float *log_sum,
                                 const float *along) {
    lanes shift[VECTORS], mean[VECTORS];
    for (size_t l = 0; l < VECTORS; l++) {
        shift[l] = load(log_sum + l * GS_LANES);
        mean[l] = load(along + l * GS_LANES);
    }
    for (size_t j = 0; j < keys; j++)
        for (size_t l = 0; l < VECTORS; l++) {
            const size_t at = j * N + l * GS_LANES;
            const lanes share = exp_lanes(load(scores + at) - shift[l]);
            store(scores + at, share);
            store(gradient + at, share * (load(gradient + at) - mean[l]));
        }
}

/* y (keys, width) += S queries: S (keys, N), rows of the block's queries. */
static void spread(const float *scores, const float *queries, const struct gs_attention *a,
                   size_t keys, float *y) {
    struct gs_small m = {.x = scores,
                         .xs = N,
                         .w = queries,
                         .ws = a->stride,
                         .y = y,
                         .ys = a->stride,
                         .rows = keys - HALF,
                         .columns = a->width,
                         .inner = N};
    small_product(&m, false, false, GS_SUM, GS_WHOLE);
    m.x += m.rows * N + HALF;
    m.w += HALF * a->stride;
    m.y += m.rows * a->stride;
    m.rows = HALF;
    m.inner = HALF;
    small_product(&m, false, false, GS_SUM, GS_WHOLE);
}

static void backward(const struct gs_attention *a, size_t first,
                     const struct gs_attention_gradient *g) {
    const size_t keys = first + N;
    const float *q = a->q + first * a->stride, *d_o = g->d_o + first * a->stride;
    float *turned = a->work, *scores = turned + a->width * N, *gradient = scores + keys * N;
    find_scores(a->k, q, a, keys, turned, scores);
    hide_later(scores, keys);
    find_scores(a->v, d_o, a, keys, turned, gradient);
    back_through_softmax(scores, gradient, keys, g->log_sum + first, g->along + first);
    spread(scores, d_o, a, keys, g->dv);
    spread(gradient, q, a, keys, g->dk);
    mix(gradient, a->k, a, keys, g->dq, a->stride);
}

static void rotate(const float *x, const float *cos, const float *sin, size_t half, float scale,
                   bool back, float *y) {
    const float *other = x + half;
    const float turn = back ? -scale : scale;
    for (size_t i = 0; i < half; i += GS_LANES) {
        const lanes a = load_row(x, i, half), b = load_row(other, i, half);
        const lanes along = load_row(cos, i, half) * scale, across = load_row(sin, i, half) * turn;
        store_row(y, i, half, a * along - b * across);
        store_row(y + half, i, half, b * along + a * across);
    }
}

#define GS_TEXT2(name) #name
#define GS_TEXT(name) GS_TEXT2(name)

extern const struct gs_attention_kernels GS_KERNEL(attention);
const struct gs_attention_kernels GS_KERNEL(attention) = {.isa = GS_TEXT(GS_ISA),
                                                          .lanes = GS_LANES,
                                                          .forward = forward,
                                                          .backward = backward,
                                                          .rotate = rotate};
