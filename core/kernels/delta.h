/* delta.h - the gated delta rule over a chunk of tokens, and what stands around it in a head of a
 * Gated DeltaNet (../shared/spec/baselines.md), in the widest form that the processor has;
 * kernels.h has the rules.
 *
 *     S <- a S;  m = S' k;  x = v - m;  S <- S + b k (x) x;  o = S' q       a: decay, b: strength
 *
 * The steps of a chunk are one triangular system and a few products (Yang et al., "Gated Delta
 * Networks", arXiv 2412.06464, section 3.3). With D[t, j] the product of the decays after j up to
 * t, d[t] that of all up to t, S the memory before the chunk, and strictly lower A and lower P,
 *     A = (K K') * D * b',  P = (Q K') * D * b'
 *     (I + A) X = V - d * (K S);  O = d * (Q S) + P X;  S <- d[last] S + (D[last] * b * K)' X.
 * D is made of products, never of differences of sums of logarithms, so that a decay of 0 and one
 * beside 1 are as exact as any.
 *
 * A row of X or O depends on its own and earlier rows only, in an order that does not depend on how
 * many rows there are: rows behind a sequence's end change no bit of those before.
 */
#ifndef GS_CORE_KERNELS_DELTA_H
#define GS_CORE_KERNELS_DELTA_H

#include <stddef.h>

/* Steps of a chunk. A chunk with fewer has zeros in the rows behind, strength 0 and decay 1. */
enum { GS_DELTA_CHUNK = 32, GS_CONV_WIDTH = 4 };

/* Matrices of a chunk are row-major and as wide as gs_delta_width says: the columns behind a head's
 * own are zero, and stay so. */
struct gs_delta_chunk {
    size_t keys, values;           /* widths: gs_delta_width of dk and dv */
    const float *q, *k;            /* (CHUNK, keys) */
    const float *decay, *strength; /* (CHUNK) */
    float *work;                   /* gs_delta_work(keys, values) floats */
};

struct gs_delta_gradient {
    const float *x;                /* (CHUNK, values) as forward left it */
    const float *S;                /* (keys, values) the memory before the chunk */
    const float *d_o;              /* (CHUNK, values) */
    float *dS;                     /* (keys, values) in: after the chunk; out: before it */
    float *dq, *dk;                /* (CHUNK, keys) */
    float *dv;                     /* (CHUNK, values) */
    float *dlog_decay, *dstrength; /* (CHUNK) */
};

struct gs_delta_kernels {
    const char *isa; /* as in struct gs_kernels */
    size_t lanes;    /* widths of a chunk are multiples of twice as many */

    /* ---- a chunk ----------------------------------------------------------------------------- */

    /* x in: v, out: v - m. o: what q reads after each write. S: before the chunk, then after. */
    void (*forward)(const struct gs_delta_chunk *chunk, float *x, float *o, float *S);
    /* All gradients of a chunk; dlog_decay is with respect to the decay's logarithm. */
    void (*backward)(const struct gs_delta_chunk *chunk, const struct gs_delta_gradient *gradient);
    /* norms[t] = |S| (Frobenius) after each write, from the memory before the chunk and what
     * forward was given (v) and left (x): |S|^2 <- a^2 |S|^2 + 2 b m.x + b^2 |k|^2 |x|^2. */
    void (*norms)(const struct gs_delta_chunk *chunk, const float *S, const float *v,
                  const float *x, float *norms);

    /* ---- rows -------------------------------------------------------------------------------- */

    /* y[j] = silu(sum over i of weights[i * stride + j] x[i][j]): the causal convolution at one
     * position, x[3] being the row at it. */
    void (*conv)(const float *const x[GS_CONV_WIDTH], const float *weights, size_t stride, size_t n,
                 float *y);
    /* dpre = dy silu'(…) and dweights[i * stride + j] += dpre[j] x[i][j]. dpre may be dy. */
    void (*conv_backward)(const float *const x[GS_CONV_WIDTH], const float *weights, size_t stride,
                          const float *dy, size_t n, float *dpre, float *dweights);
    /* dx[j] = sum over i of weights[i * stride + j] dpre[i][j], dpre[i] the row 3 - i behind. */
    void (*conv_inputs)(const float *const dpre[GS_CONV_WIDTH], const float *weights, size_t stride,
                        size_t n, float *dx);
    /* y = x * f, f = scale / sqrt(sum(x^2) + 1e-6); returns f. y may be x. */
    float (*unit)(const float *x, size_t n, float scale, float *y);
    /* dx: back through unit, given its y and f. dx may be dy. */
    void (*unit_backward)(const float *dy, const float *y, float f, float scale, size_t n,
                          float *dx);
    /* y = x s w silu(g), s = 1 / sqrt(mean(x^2) + 1e-6). */
    void (*gated_norm)(const float *x, const float *w, const float *g, size_t n, float *y);
    /* dx, dg, dw += …; y is computed again. dg may be g. */
    void (*gated_norm_backward)(const float *x, const float *w, const float *g, const float *dy,
                                size_t n, float *dx, float *dg, float *dw, float *y);
};

/* The table in use: the one of gs_kernels; and the one for gs_kernels_at(index), or NULL. */
const struct gs_delta_kernels *gs_delta_kernels(void);
const struct gs_delta_kernels *gs_delta_kernels_at(size_t index);
/* Use another one from now on (NULL: as above again), for profiles: see gs_kernels_replace. */
void gs_delta_kernels_replace(const struct gs_delta_kernels *table);

/* Columns that n take in a chunk of these kernels, and floats of scratch. */
size_t gs_delta_width(const struct gs_delta_kernels *kernels, size_t n);
size_t gs_delta_work(size_t keys, size_t values);

#endif
