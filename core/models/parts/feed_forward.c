#include "core/models/parts/feed_forward.h"

#include "core/kernels/kernels.h"

#include <string.h>

enum gs_status gs_feed_forward_create(const struct gs_tensor *norm,
                                      const struct gs_tensor *const *in, size_t in_count,
                                      const struct gs_tensor *out, bool train, bool bf16,
                                      struct gs_feed_forward *feed, struct gs_error *error) {
    *feed =
        (struct gs_feed_forward){.norm = norm, .width = out->shape[0], .between = out->shape[1]};
    enum gs_status status = gs_linear_create_direct(in, in_count, train, bf16, &feed->in, error);
    return status == GS_OK ? gs_linear_create_direct(&out, 1, train, bf16, &feed->out, error)
                           : status;
}

void gs_feed_forward_destroy(struct gs_feed_forward *feed) {
    gs_linear_destroy(&feed->in);
    gs_linear_destroy(&feed->out);
}

size_t gs_feed_forward_floats(size_t width, size_t between, bool train) {
    return gs_linear_direct_floats(width, 2 * between, train) +
           gs_linear_direct_floats(between, width, train);
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
