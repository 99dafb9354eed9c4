#include "core/models/parts/linear.h"

#include "core/base/memory.h"
#include "core/models/parts/accumulate.h"

#include <string.h>

enum gs_status gs_linear_create_direct(const struct gs_tensor *const *weights, size_t count,
                                       bool train, bool bf16, struct gs_linear *linear,
                                       struct gs_error *error) {
    *linear = (struct gs_linear){
        .inner = weights[0]->shape[1], .count = count, .train = train, .bf16 = bf16};
    for (size_t i = 0; i < count; i++) {
        linear->weights[i] = weights[i];
        linear->outputs += weights[i]->shape[0];
    }
    enum gs_status status =
        gs_packed_create(linear->inner, linear->outputs, &linear->forward, error);
    if (status != GS_OK || !train) return status;
    return gs_packed_create(linear->outputs, linear->inner, &linear->backward, error);
}

enum gs_status gs_linear_create(const struct gs_tensor *const *weights, size_t count,
                                const struct gs_tensor *norm, bool train, bool bf16,
                                struct gs_linear *linear, struct gs_error *error) {
    enum gs_status status = gs_linear_create_direct(weights, count, train, bf16, linear, error);
    linear->norm = norm;
    if (status != GS_OK || !train) return status;
    const size_t floats = linear->outputs * linear->inner;
    linear->gradient = gs_calloc(floats, sizeof(float));
    if (!linear->gradient) return gs_fail_memory(error, floats * sizeof(float), "weight gradients");
    return GS_OK;
}

void gs_linear_destroy(struct gs_linear *linear) {
    gs_packed_destroy(&linear->forward);
    gs_packed_destroy(&linear->backward);
    gs_free(linear->gradient);
    *linear = (struct gs_linear){0};
}

size_t gs_linear_floats(size_t inner, size_t outputs, bool train) {
    return gs_linear_direct_floats(inner, outputs, train) + (train ? outputs * inner : 0);
}

size_t gs_linear_direct_floats(size_t inner, size_t outputs, bool train) {
    return gs_packed_floats(inner, outputs) + (train ? gs_packed_floats(outputs, inner) : 0);
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
                                 .column_scale = linear->norm ? linear->norm->values : NULL,
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

void gs_linear_accumulate(const struct gs_linear *linear, const float *x, size_t xs,
                          const float *dy, size_t dys, size_t rows) {
    gs_accumulate(dy, dys, x, xs, rows, linear->outputs, linear->inner, linear->gradient,
                  linear->inner);
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

/* ---- gradients ---------------------------------------------------------------------------- */

/* Columns first … last - 1 of one weight, whose folded gradient is at G. */
static void unfold_columns(const struct gs_linear *linear, const struct gs_tensor *weight,
                           const float *G, float scale, size_t first, size_t last, float *dweight,
                           double *dnorm) {
    const size_t inner = linear->inner;
    const float *norm = linear->norm ? linear->norm->values : NULL;
    for (size_t o = 0; o < weight->shape[0]; o++)
        for (size_t i = first; i < last; i++) {
            const float gradient = G[o * inner + i], value = weight->values[o * inner + i];
            dweight[o * inner + i] += scale * gradient * (norm ? norm[i] : 1.0f);
            if (norm)
                dnorm[i - first] +=
                    (double)(linear->bf16 ? gs_round_bf16(value) : value) * (double)gradient;
        }
}

void gs_linear_unfold(const struct gs_linear *linear, float scale,
                      const struct gs_parameters *gradients) {
    enum { COLUMNS = 64 };
    const size_t inner = linear->inner;
    float *dweights[GS_LINEAR_MOST], *dnorm = NULL;
    for (size_t k = 0; k < linear->count; k++)
        dweights[k] = gs_parameters_find(gradients, linear->weights[k]->name)->values;
    if (linear->norm) dnorm = gs_parameters_find(gradients, linear->norm->name)->values;
#pragma omp parallel for schedule(static)
    for (size_t first = 0; first < inner; first += COLUMNS) {
        const size_t last = inner - first < COLUMNS ? inner : first + COLUMNS;
        const float *G = linear->gradient;
        double sums[COLUMNS] = {0};
        for (size_t k = 0; k < linear->count; k++) {
            unfold_columns(linear, linear->weights[k], G, scale, first, last, dweights[k], sums);
            G += linear->weights[k]->count;
        }
        for (size_t i = first; i < last && dnorm; i++) dnorm[i] += scale * (float)sums[i - first];
    }
    memset(linear->gradient, 0, linear->outputs * inner * sizeof(float));
}
