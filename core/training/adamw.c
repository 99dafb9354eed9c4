#include "core/training/adamw.h"

#include "core/base/memory.h"

#include <math.h>

enum { BLOCK = 8192, LANES = 8 }; /* floats of one partial sum; running sums within it */

static size_t block_count(const struct gs_parameters *parameters) {
    return (parameters->stride + BLOCK - 1) / BLOCK;
}

enum gs_status gs_adamw_create(const struct gs_parameters *parameters,
                               const struct gs_adamw_options *options, struct gs_adamw **adamw,
                               struct gs_error *error) {
    struct gs_adamw *made = gs_calloc(1, sizeof *made);
    if (!made) return gs_fail_memory(error, sizeof *made, "an optimiser");
    made->options = *options;
    size_t blocks = block_count(parameters);
    enum gs_status status = gs_parameters_like(parameters, &made->first, error);
    if (status == GS_OK) status = gs_parameters_like(parameters, &made->second, error);
    if (status == GS_OK) {
        made->partial_sums = gs_calloc(blocks, sizeof *made->partial_sums);
        if (!made->partial_sums) status = gs_fail_memory(error, 8 * blocks, "partial sums");
    }
    if (status != GS_OK) {
        gs_adamw_destroy(made);
        return status;
    }
    *adamw = made;
    return GS_OK;
}

void gs_adamw_destroy(struct gs_adamw *adamw) {
    if (!adamw) return;
    gs_parameters_destroy(adamw->first);
    gs_parameters_destroy(adamw->second);
    gs_free(adamw->partial_sums);
    gs_free(adamw);
}

/* Sum of squares in LANES running sums, so that the loop vectorises without reordering anything. */
static double sum_of_squares(const float *values, size_t count) {
    double lanes[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++) {
            double value = values[i + lane];
            lanes[lane] += value * value;
        }
    for (size_t lane = 0; i + lane < count; lane++) {
        double value = values[i + lane];
        lanes[lane] += value * value;
    }
    double sum = 0;
    for (size_t lane = 0; lane < LANES; lane++) sum += lanes[lane];
    return sum;
}

/* The gaps between tensors are zero, so the one allocation is summed straight through. Blocks are
 * cut by place, not by thread: the order of the sum is fixed. */
double gs_adamw_norm(const struct gs_adamw *adamw, const struct gs_parameters *gradients) {
    size_t blocks = block_count(gradients);
    double *partial = adamw->partial_sums;
#pragma omp parallel for schedule(static)
    for (size_t block = 0; block < blocks; block++) {
        size_t first = block * BLOCK;
        size_t count = gradients->stride - first < BLOCK ? gradients->stride - first : BLOCK;
        partial[block] = sum_of_squares(gradients->values + first, count);
    }
    double sum = 0;
    for (size_t block = 0; block < blocks; block++) sum += partial[block];
    return sqrt(sum);
}

/* Everything that is the same for all values of a tensor. */
struct update {
    float scale;        /* of the gradient: clipping */
    float keep1, take1; /* beta1, 1 - beta1 */
    float keep2, take2; /* beta2, 1 - beta2 */
    float correction1;  /* 1 / (1 - beta1^n) */
    float correction2;  /* 1 / (1 - beta2^n) */
    float epsilon, rate, decay;
};

static void update_range(const struct update *u, float decay, float *restrict p,
                         const float *restrict gradient, float *restrict m, float *restrict v,
                         size_t count) {
    for (size_t i = 0; i < count; i++) {
        float g = u->scale * gradient[i];
        m[i] = u->keep1 * m[i] + u->take1 * g;
        v[i] = u->keep2 * v[i] + u->take2 * (g * g);
        float direction = u->correction1 * m[i] / (sqrtf(u->correction2 * v[i]) + u->epsilon);
        p[i] -= u->rate * (direction + decay * p[i]);
    }
}

static struct update prepare(const struct gs_adamw *adamw, double norm, double rate) {
    const struct gs_adamw_options *o = &adamw->options;
    double n = (double)adamw->updates, divisor = norm + o->clip_epsilon;
    return (struct update){
        .scale = divisor > o->clip_norm ? (float)(o->clip_norm / divisor) : 1.0f,
        .keep1 = (float)o->beta1,
        .take1 = (float)(1 - o->beta1),
        .keep2 = (float)o->beta2,
        .take2 = (float)(1 - o->beta2),
        .correction1 = (float)(1 / (1 - pow(o->beta1, n))),
        .correction2 = (float)(1 / (1 - pow(o->beta2, n))),
        .epsilon = (float)o->epsilon,
        .rate = (float)rate,
        .decay = (float)o->weight_decay,
    };
}

void gs_adamw_update(struct gs_adamw *adamw, struct gs_parameters *parameters,
                     const struct gs_parameters *gradients, double norm, double rate) {
    adamw->updates++;
    const struct update update = prepare(adamw, norm, rate);
#pragma omp parallel
    for (size_t t = 0; t < parameters->tensor_count; t++) {
        const struct gs_tensor *tensor = &parameters->tensors[t];
        float decay = tensor->decay ? update.decay : 0.0f;
        size_t blocks = (tensor->count + BLOCK - 1) / BLOCK;
#pragma omp for schedule(static) nowait
        for (size_t block = 0; block < blocks; block++) {
            size_t first = block * BLOCK;
            size_t count = tensor->count - first < BLOCK ? tensor->count - first : BLOCK;
            update_range(&update, decay, tensor->values + first,
                         gradients->tensors[t].values + first,
                         adamw->first->tensors[t].values + first,
                         adamw->second->tensors[t].values + first, count);
        }
    }
}
