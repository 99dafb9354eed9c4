/* output.h - the output matrix: decoded vectors to logits to losses, and back.
 *
 * Its rows are the vocabulary's: logits = z W', W (V, e). It may be tied to the embedding: both
 * gradients then meet in `gradient`. Logits are made for a block of rows at a time; in training the
 * softmax's gradient is made in their place and goes on to z and to W while it is in the caches.
 */
#ifndef GS_CORE_MODELS_PARTS_OUTPUT_H
#define GS_CORE_MODELS_PARTS_OUTPUT_H

#include "core/kernels/packed.h"
#include "core/models/parameters.h"

#include <stdint.h>

struct gs_output {
    const struct gs_tensor *matrix; /* (V, e) */
    size_t vocab, width;            /* V, e */
    bool train, bf16;
    struct gs_packed logits, back; /* (e, V), (V, e); the latter in training */
    float *gradient;               /* (V, e), sums over a window; training */
    size_t block_rows;             /* of a block; bits of gradients depend on it */
    size_t stride;                 /* floats from one row of the block to the next */
    float *block;                  /* (block_rows, V) */
};

/* Its room in a runner's plan. */
void gs_output_plan(size_t vocab, size_t width, bool train, size_t block_rows,
                    struct gs_arena *arena, struct gs_output *output);
/* The parameter (V, e) it holds, which must outlive it. */
void gs_output_bind(const struct gs_tensor *matrix, bool bf16, struct gs_output *output);
/* Pack again from the parameter. */
void gs_output_refresh(struct gs_output *output);

/* nll[i] = -log softmax(z_i W')[targets[i]] of `rows` vectors z (rows, e). In training also dz
 * (rows, e) = the gradient of the sum of nll, and gradient += its share. Called by all threads of a
 * parallel region, which take it part by part: whoever comes first begins. They have met when it
 * returns. */
void gs_output_share(const struct gs_output *output, const float *z, const uint32_t *targets,
                     size_t rows, float *nll, float *dz);
/* The same, a parallel region of its own. */
void gs_output_losses(const struct gs_output *output, const float *z, const uint32_t *targets,
                      size_t rows, float *nll, float *dz);
/* Logits (rows, V) of `rows` vectors `zs` floats apart, by the calling thread. */
void gs_output_rows(const struct gs_output *output, const float *z, size_t zs, size_t rows,
                    float *logits);
/* The same for vectors that stand closely, by all threads. */
void gs_output_logits(const struct gs_output *output, const float *z, size_t rows, float *logits);
/* to += scale * gradient, and clear it. to: (V, e). */
void gs_output_gradient(const struct gs_output *output, float scale, float *to);
/* Forget what a window left in the gradient. */
void gs_output_clear(const struct gs_output *output);

#endif
