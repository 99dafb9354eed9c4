/* weights.h - the parameters of a GPN as the products want them.
 *
 * All projections of one vector are one matrix. Where a projection reads rms(x; w), its norm weight
 * w is folded into the matrix (W' = diag(w) W), so that x is normalised once for all of them and
 * one product makes all of them:
 *   in[i]        (d, …)        ffn gate | ffn value | predict gate | query | read gate, and in
 *                              layer 0: memory value | key of the NEXT step | strength | decay
 *   ffn_out[i]   (f, d)
 *   read_out[i]  (H dv, d)     with read_out_norm folded in
 *   head         (d, d + e)    ground gate | decode, from the predicted state
 *   fuse         (e, d)        from the token's embedding
 *   output       (V, e)        the embedding
 * The gradient of a folded matrix gives both parts: dW = diag(w) G, dw_i = sum_j W_ij G_ij.
 */
#ifndef GS_CORE_MODELS_GPN_WEIGHTS_H
#define GS_CORE_MODELS_GPN_WEIGHTS_H

#include "core/kernels/packed.h"
#include "core/models/gpn/config.h"
#include "core/models/parts/output.h"

enum { GS_MAX_FOLDS = 8 };

struct gs_fold {
    struct gs_tensor *weight; /* (inner, its columns) */
    struct gs_tensor *norm;   /* (inner), or NULL */
    size_t column;            /* where its columns begin in the matrix */
};

struct gs_matrix {
    size_t inner, columns;
    size_t fold_count;
    struct gs_fold folds[GS_MAX_FOLDS];
    struct gs_packed forward;
    struct gs_packed backward; /* the transpose; training only */
    float *gradient;           /* (inner, columns), sums over a window; training only */
};

/* Columns of in[i]; those of the write are in layer 0 only. */
struct gs_gpn_columns {
    size_t ffn_gate, ffn_value, gate, query, read_gate, value, key, strength, decay, count;
};

void gs_gpn_columns_find(const struct gs_gpn_config *config, struct gs_gpn_columns *first,
                         struct gs_gpn_columns *other);

struct gs_gpn_weights {
    bool train, bf16;
    struct gs_gpn_tensors tensors;
    struct gs_gpn_columns first, other;        /* of layer 0, of the others */
    struct gs_matrix *in, *ffn_out, *read_out; /* (layers) */
    struct gs_matrix head, fuse;
    struct gs_packed key_back; /* (H dk, d): the key block of in[0], transposed */
    struct gs_output output;   /* the embedding */
};

/* Their room in a runner's plan; decode_rows: of a block of logits. */
void gs_gpn_weights_plan(const struct gs_gpn_config *config, bool train, size_t decode_rows,
                         struct gs_arena *arena, struct gs_gpn_weights *weights);
/* The parameters they hold, which must outlive them. Release with gs_gpn_weights_unbind, also when
 * this fails; zeroed is fine. */
enum gs_status gs_gpn_weights_bind(const struct gs_gpn_config *config,
                                   const struct gs_parameters *parameters, bool bf16,
                                   struct gs_gpn_weights *weights, struct gs_error *error);
void gs_gpn_weights_unbind(struct gs_gpn_weights *weights);
/* Pack again from the parameters. */
void gs_gpn_weights_refresh(const struct gs_gpn_config *config, struct gs_gpn_weights *weights);
/* Floats that a forward reads of them. */
size_t gs_gpn_weights_floats(const struct gs_gpn_config *config);

/* gradient (inner, columns) += x' dy, x (rows, inner), dy (rows, columns). Called by all threads of
 * a parallel region, which share it in blocks; does not wait for the others. */
void gs_matrix_accumulate(const struct gs_matrix *matrix, const float *x, const float *dy,
                          size_t rows);
/* Add scale times the folded gradients of a matrix to the parameters' gradients, and clear them.
 * `gradients` has the names of the tensors. */
void gs_matrix_unfold(const struct gs_matrix *matrix, bool bf16, float scale,
                      const struct gs_parameters *gradients);

#endif
