/* attention.h - causal softmax attention of one head of one sequence, a block of queries at a time,
 * so that no matrix of all tokens by all tokens is ever there; kernels.h has the rules.
 *
 *     P[t, j] = softmax over j <= t of q_t . k_j;  o_t = sum over j of P[t, j] v_j
 *
 * The scale 1/√c is in q already (rotate). A block of queries sees all its keys at once, so its
 * softmax is the plain one; backward makes P again from the logarithm of the sum. Inside, scores
 * stand with the keys as rows and the queries side by side: softmax then goes down whole vectors.
 *
 * A row of the result depends on its own and earlier rows only: what stands behind a sequence's end
 * changes no bit of those before.
 */
#ifndef GS_CORE_KERNELS_ATTENTION_H
#define GS_CORE_KERNELS_ATTENTION_H

#include <stdbool.h>
#include <stddef.h>

enum { GS_ATTENTION_QUERIES = 32 }; /* of a block */

/* Arrays have rows `stride` apart, of `width` columns (gs_attention_width and _stride of c), zero
 * behind the head's own c, and a multiple of GS_ATTENTION_QUERIES rows, zero behind the sequence's
 * end. Row 0 is the sequence's first token. */
struct gs_attention {
    size_t head, width, stride; /* c and its room */
    const float *q, *k, *v;
    float *work; /* gs_attention_work(rows, width) floats */
};

struct gs_attention_gradient {
    const float *d_o;     /* of all rows */
    const float *log_sum; /* of all rows, as forward left it */
    const float *along;   /* of all rows: d_o . o */
    float *dq;            /* of the block's rows: overwritten */
    float *dk, *dv;       /* of all rows: += */
};

struct gs_attention_kernels {
    const char *isa; /* as in struct gs_kernels */
    size_t lanes;

    /* The queries first … first + QUERIES - 1 (first a multiple of that): o (QUERIES, width), and
     * log_sum (QUERIES) = log of the sum of exp of each query's scores. */
    void (*forward)(const struct gs_attention *attention, size_t first, float *o, float *log_sum);
    /* Back from the same queries. */
    void (*backward)(const struct gs_attention *attention, size_t first,
                     const struct gs_attention_gradient *gradient);
    /* y = scale (x turned by the angles): pairs are (j, j + half), (a, b) becomes
     * (a cos - b sin, b cos + a sin), or with `back` turned the other way. cos, sin: (half). */
    void (*rotate)(const float *x, const float *cos, const float *sin, size_t half, float scale,
                   bool back, float *y);
};

/* The table in use: the one of gs_kernels; and the one for gs_kernels_at(index), or NULL. */
const struct gs_attention_kernels *gs_attention_kernels(void);
const struct gs_attention_kernels *gs_attention_kernels_at(size_t index);

/* Use another one from now on (NULL: the own one again): for profiles, whose tables measure and
 * pass on. It must stay where it is. */
void gs_attention_kernels_replace(const struct gs_attention_kernels *table);

/* Columns and stride of a head of c, rows of a sequence of n, floats of scratch. */
size_t gs_attention_width(const struct gs_attention_kernels *kernels, size_t c);
size_t gs_attention_stride(const struct gs_attention_kernels *kernels, size_t c);
size_t gs_attention_rows(size_t n);
size_t gs_attention_work(size_t rows, size_t width);

#endif
