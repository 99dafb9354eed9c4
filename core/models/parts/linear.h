/* linear.h - torch's linear layers as the products want them.
 *
 * Layers that read the same vector are one matrix, their outputs side by side: y = x W', every
 * weight (outputs, inner), so that one product makes all of them.
 */
#ifndef GS_CORE_MODELS_PARTS_LINEAR_H
#define GS_CORE_MODELS_PARTS_LINEAR_H

#include "core/kernels/packed.h"
#include "core/models/parameters.h"

enum { GS_LINEAR_MOST = 8 };

struct gs_linear {
    size_t inner, outputs;
    size_t count;
    const struct gs_tensor *weights[GS_LINEAR_MOST]; /* (…, inner), in the order of their outputs */
    bool train, bf16;
    struct gs_packed forward;  /* (inner, outputs) */
    struct gs_packed backward; /* (outputs, inner); training */
};

/* Its room in a runner's plan. */
void gs_linear_plan(size_t inner, size_t outputs, bool train, struct gs_arena *arena,
                    struct gs_linear *linear);
/* The parameters it holds, which must outlive it; `outputs` in all. Packed by gs_linear_refresh,
 * when they have changed. */
void gs_linear_bind(const struct gs_tensor *const *weights, size_t count, bool bf16,
                    struct gs_linear *linear);
void gs_linear_refresh(struct gs_linear *linear);

/* y (rows, ys apart) (+)= x W', and back: dx (+)= dy W. By the calling thread; bits of a row do not
 * depend on the others. */
void gs_linear_rows(const struct gs_linear *linear, const float *x, size_t xs, size_t rows,
                    float *y, size_t ys, bool accumulate);
void gs_linear_rows_back(const struct gs_linear *linear, const float *dy, size_t dys, size_t rows,
                         float *dx, size_t dxs, bool accumulate);
/* The parameters' gradients, which have their names, += dy' x, of rows that stand closely. Called
 * by all threads of a region, does not wait. */
void gs_linear_gradients(const struct gs_linear *linear, const float *x, const float *dy,
                         size_t rows, const struct gs_parameters *gradients);

#endif
