/* adamw.h - AdamW with decoupled weight decay, behind clipping by the global norm.
 *
 * Source: Loshchilov, Hutter 2019, as optax.chain(clip_by_global_norm, adamw) computes it
 * (../shared/spec/model.md, "Training in the paper"); with a clip_epsilon as torch's
 * clip_grad_norm_ and AdamW do. All results are the same bits on any number
 * of threads.
 */
#ifndef GS_CORE_TRAINING_ADAMW_H
#define GS_CORE_TRAINING_ADAMW_H

#include "core/base/status.h"
#include "core/models/parameters.h"

struct gs_adamw_options {
    double beta1, beta2; /* in [0, 1) */
    double epsilon;      /* added to the root of the second moment; 1e-8 */
    double weight_decay; /* on the tensors whose `decay` is true */
    double clip_norm;    /* greatest global norm of the gradient; above 0 */
    double clip_epsilon; /* added to the norm where clipping divides by it; 0 or more */
};

struct gs_adamw {
    struct gs_adamw_options options;
    struct gs_parameters *first, *second; /* moments; owned */
    size_t updates;                       /* done so far: for the bias correction */
    double *partial_sums;                 /* work space of the norm; owned */
};

/* Moments zero, for parameters of these shapes. Free with gs_adamw_destroy (NULL is fine). */
enum gs_status gs_adamw_create(const struct gs_parameters *parameters,
                               const struct gs_adamw_options *options, struct gs_adamw **adamw,
                               struct gs_error *error);
void gs_adamw_destroy(struct gs_adamw *adamw);

/* Euclidean norm of all gradients together, summed in double in one fixed order. Not finite when a
 * gradient is not. */
double gs_adamw_norm(const struct gs_adamw *adamw, const struct gs_parameters *gradients);

/* One update. `norm` is gs_adamw_norm of the gradients and finite. The gradients are scaled by
 * clip / (norm + clip_epsilon) where that is below 1 (in passing: they stay as they are in memory).
 *     m <- b1 m + (1 - b1) g      v <- b2 v + (1 - b2) g^2
 *     p <- p - rate ( m / (1 - b1^n) / (sqrt(v / (1 - b2^n)) + epsilon) + decay p ) */
void gs_adamw_update(struct gs_adamw *adamw, struct gs_parameters *parameters,
                     const struct gs_parameters *gradients, double norm, double rate);

#endif
