/* decoder.h - states to logits, as the default token needs it: a model's decoding behind three
 * functions, so that the analysis knows no model. */
#ifndef GS_ANALYSES_DEFAULT_TOKEN_DECODER_H
#define GS_ANALYSES_DEFAULT_TOKEN_DECODER_H

#include "core/models/model.h"

struct gs_decoder {
    size_t width;           /* of a state */
    size_t embedding_width; /* of what the output matrix takes */
    size_t vocab;
    void *context;
    /* logits (rows, vocab) of states (rows, width) */
    enum gs_status (*decode)(void *context, const float *states, size_t rows, float *logits,
                             struct gs_error *error);
    /* logits (rows, vocab) of vectors (rows, embedding_width) put straight to the output matrix */
    enum gs_status (*decode_embedding)(void *context, const float *vectors, size_t rows,
                                       float *logits, struct gs_error *error);
    /* the input embedding of a token (embedding_width), borrowed */
    const float *(*embedding)(void *context, uint32_t id);
};

/* A view of a model and a runner of it; it owns nothing, both must outlive it. */
struct gs_decoder_of_model {
    struct gs_model *model;
    struct gs_runner *runner;
    size_t channel; /* of the states: one that has a decoder */
};
struct gs_decoder gs_decoder_of(struct gs_decoder_of_model *model);

/* The vector z of embedding width that the output matrix turns into `logits` (vocab), by least
 * squares: the decoder is taken apart with unit vectors, logits(z) = base + zᵀW, and W Wᵀ z =
 * W (logits − base) is solved in float64 in the eigenvectors of W Wᵀ. *residual is |base + zᵀW −
 * logits| / |logits − base|: near rounding when the logits are such a product, and z then is what
 * the model put to its output matrix. Memory: embedding_width · vocab floats. GS_NUMERIC when W has
 * not full rank (always when vocab < embedding_width): eigenvalues of W Wᵀ that differ by more than
 * a factor of 1e10, since float32 logits would not determine z. */
enum gs_status gs_decoder_invert(const struct gs_decoder *decoder, const float *logits, double *z,
                                 double *residual, struct gs_error *error);

#endif
