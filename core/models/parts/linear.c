#include "core/models/parts/linear.h"

#include "core/models/parts/accumulate.h"

void gs_linear_plan(size_t inner, size_t outputs, bool train, struct gs_arena *arena,
                    struct gs_linear *linear) {
    linear->inner = inner;
    linear->outputs = outputs;
    linear->train = train;
    gs_packed_plan(inner, outputs, arena, &linear->forward);
    if (train) gs_packed_plan(outputs, inner, arena, &linear->backward);
}

void gs_linear_bind(const struct gs_tensor *const *weights, size_t count, bool bf16,
                    struct gs_linear *linear) {
    linear->count = count;
    linear->bf16 = bf16;
    for (size_t i = 0; i < count; i++) linear->weights[i] = weights[i];
}

/* ---- packing ------------------------------------------------------------------------------ */

void gs_linear_refresh(struct gs_linear *linear) {
    size_t output = 0;
    for (size_t i = 0; i < linear->count; i++) {
        const struct gs_tensor *weight = linear->weights[i];
        struct gs_block block = {.values = weight->values,
                                 .rows = weight->shape[0],
                                 .columns = linear->inner,
                                 .stride = linear->inner,
                                 .bf16 = linear->bf16,
                                 .transpose = true};
        gs_packed_put(&linear->forward, 0, output, &block);
        block.transpose = false;
        if (linear->train) gs_packed_put(&linear->backward, output, 0, &block);
        output += weight->shape[0];
    }
}

/* ---- products ----------------------------------------------------------------------------- */

void gs_linear_rows(const struct gs_linear *linear, const float *x, size_t xs, size_t rows,
                    float *y, size_t ys, bool accumulate) {
    const struct gs_packed *w = &linear->forward;
    gs_packed_product(w, x, xs, rows, 0, w->panels, y, ys, accumulate);
}

void gs_linear_rows_back(const struct gs_linear *linear, const float *dy, size_t dys, size_t rows,
                         float *dx, size_t dxs, bool accumulate) {
    const struct gs_packed *w = &linear->backward;
    gs_packed_product(w, dy, dys, rows, 0, w->panels, dx, dxs, accumulate);
}

void gs_linear_gradients(const struct gs_linear *linear, const float *x, const float *dy,
                         size_t rows, const struct gs_parameters *gradients) {
    for (size_t i = 0; i < linear->count; i++) {
        const struct gs_tensor *to = gs_parameters_find(gradients, linear->weights[i]->name);
        gs_accumulate(dy, linear->outputs, x, linear->inner, rows, to->shape[0], linear->inner,
                      to->values, linear->inner);
        dy += to->shape[0];
    }
}
