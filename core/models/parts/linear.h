/* linear.h - torch's linear layers as the products want them.
 *
 * Layers that read the same vector are one matrix, their outputs side by side: y = x W', every
 * weight (outputs, inner). Where they read rms(x; w), the norm's weight is folded in: W diag(w), so
 * that x is normalised once and one product makes all of them. The gradient G of a folded weight
 * gives both parts: dW = G diag(w), dw_i = sum over o of W_oi G_oi.
 */
#ifndef GS_CORE_MODELS_PARTS_LINEAR_H
#define GS_CORE_MODELS_PARTS_LINEAR_H

#include "core/kernels/packed.h"
#include "core/models/parameters.h"

enum { GS_LINEAR_MOST = 8 };

struct gs_linear {
    size_t inner, outputs;
    const struct gs_tensor *norm; /* (inner), or NULL */
    size_t count;
    const struct gs_tensor *weights[GS_LINEAR_MOST]; /* (…, inner), in the order of their outputs */
    bool train, bf16;
    struct gs_packed forward;  /* (inner, outputs) */
    struct gs_packed backward; /* (outputs, inner); training */
    float *gradient;           /* (outputs, inner), sums over a window; NULL in direct ones */
};

/* For parameters that outlive it. Release with gs_linear_destroy, also when this fails; zeroed is
 * fine. Packed by gs_linear_refresh, when they have changed. */
enum gs_status gs_linear_create(const struct gs_tensor *const *weights, size_t count,
                                const struct gs_tensor *norm, bool train, bool bf16,
                                struct gs_linear *linear, struct gs_error *error);
/* The same without a norm and without a gradient of its own: gs_linear_gradients adds straight to
 * the parameters'. For windows whose rows are all there at once. */
enum gs_status gs_linear_create_direct(const struct gs_tensor *const *weights, size_t count,
                                       bool train, bool bf16, struct gs_linear *linear,
                                       struct gs_error *error);
void gs_linear_destroy(struct gs_linear *linear);
/* Floats it takes. */
size_t gs_linear_floats(size_t inner, size_t outputs, bool train);
size_t gs_linear_direct_floats(size_t inner, size_t outputs, bool train);
void gs_linear_refresh(struct gs_linear *linear);

/* y (rows, ys apart) (+)= x W', and back: dx (+)= dy W. By the calling thread; bits of a row do not
 * depend on the others. */
void gs_linear_rows(const struct gs_linear *linear, const float *x, size_t xs, size_t rows,
                    float *y, size_t ys, bool accumulate);
void gs_linear_rows_back(const struct gs_linear *linear, const float *dy, size_t dys, size_t rows,
                         float *dx, size_t dxs, bool accumulate);
/* Gradients of a direct one, all closely: the parameters' += dy' x. Called by all threads of a
 * region, does not wait. */
void gs_linear_gradients(const struct gs_linear *linear, const float *x, const float *dy,
                         size_t rows, const struct gs_parameters *gradients);
/* gradient += dy' x. Called by all threads of a region (accumulate.h). */
void gs_linear_accumulate(const struct gs_linear *linear, const float *x, size_t xs,
                          const float *dy, size_t dys, size_t rows);
/* Add scale times the gradient to the parameters' gradients, which have their names, and clear it.
 */
void gs_linear_unfold(const struct gs_linear *linear, float scale,
                      const struct gs_parameters *gradients);

#endif
