#include "core/models/parts/feed_forward.h"

#include "core/kernels/kernels.h"

#include <string.h>

void gs_feed_forward_plan(size_t width, size_t between, bool train, struct gs_arena *arena,
                          struct gs_feed_forward *feed) {
    feed->width = width;
    feed->between = between;
    gs_linear_plan(width, 2 * between, train, arena, &feed->in);
    gs_linear_plan(between, width, train, arena, &feed->out);
}

void gs_feed_forward_bind(const struct gs_tensor *norm, const struct gs_tensor *const *in,
                          size_t in_count, const struct gs_tensor *out, bool bf16,
                          struct gs_feed_forward *feed) {
    feed->norm = norm;
    gs_linear_bind(in, in_count, bf16, &feed->in);
    gs_linear_bind(&out, 1, bf16, &feed->out);
}

void gs_feed_forward_refresh(struct gs_feed_forward *feed) {
    gs_linear_refresh(&feed->in);
    gs_linear_refresh(&feed->out);
}

size_t gs_feed_forward_work(size_t width, size_t between, size_t rows) {
    return rows * (width + between);
}

void gs_feed_forward_rows(const struct gs_feed_forward *feed, const float *h, size_t rows,
                          float *out, float *gu, float *work) {
    const size_t d = feed->width, f = feed->between;
    const struct gs_kernels *k = gs_kernels();
    float *normal = work, *activation = work + rows * d;
    for (size_t i = 0; i < rows; i++) k->norm(h + i * d, feed->norm->values, d, normal + i * d);
    gs_linear_rows(&feed->in, normal, d, rows, gu, 2 * f, false);
    for (size_t i = 0; i < rows; i++) {
        const float *gate = gu + i * 2 * f;
        k->swiglu(gate, gate + f, 1.0f, f, activation + i * f);
    }
    if (out != h) memcpy(out, h, rows * d * sizeof *out);
    gs_linear_rows(&feed->out, activation, f, rows, out, d, true);
}

void gs_feed_forward_rows_back(const struct gs_feed_forward *feed, const float *h, float *gu,
                               const float *dout, size_t rows, float *dh, float *normal,
                               float *activation, float *dnorm, float *work) {
    const size_t d = feed->width, f = feed->between;
    const struct gs_kernels *k = gs_kernels();
    float *dnormal = work, *dactivation = work + rows * d;
    gs_linear_rows_back(&feed->out, dout, d, rows, dactivation, f, false);
    for (size_t i = 0; i < rows; i++) {
        float *gate = gu + i * 2 * f, *value = gate + f;
        k->swiglu_backward(gate, value, 1.0f, dactivation + i * f, f, gate, value,
                           activation + i * f);
        k->norm(h + i * d, feed->norm->values, d, normal + i * d);
    }
    gs_linear_rows_back(&feed->in, gu, 2 * f, rows, dnormal, d, false);
    memcpy(dh, dout, rows * d * sizeof *dh);
    for (size_t i = 0; i < rows; i++)
        k->norm_backward(dnormal + i * d, h + i * d, feed->norm->values, d, dh + i * d, true,
                         dnorm);
}

void gs_feed_forward_gradients(const struct gs_feed_forward *feed, const float *normal,
                               const float *dgu, const float *activation, const float *dout,
                               size_t rows, const struct gs_parameters *gradients) {
    gs_linear_gradients(&feed->in, normal, dgu, rows, gradients);
    gs_linear_gradients(&feed->out, activation, dout, rows, gradients);
}
