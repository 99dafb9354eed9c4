/* draws.h - the distributions that the split test holds against what was observed. Each is a draw
 * for struct gs_split_null; the context's type stands beside it. */
#ifndef GS_ANALYSES_SPLIT_DRAWS_H
#define GS_ANALYSES_SPLIT_DRAWS_H

#include "analyses/split/shapes.h"

/* context: struct gs_even, struct gs_normal */
void gs_split_draw_even(const void *context, struct gs_random *random, double *x, size_t count);
void gs_split_draw_normal(const void *context, struct gs_random *random, double *x, size_t count);

/* Pools as clear as the paper's: `fast` heads in every `per_seed` around 2 tokens (log deviation
 * 0.35), the others around 60 (1.2). */
struct gs_split_reference {
    size_t fast, per_seed;
};
void gs_split_draw_reference(const void *context, struct gs_random *random, double *x,
                             size_t count);

/* Heads like those of another sample: one of its heads drawn, moved by a normal of Silverman's
 * bandwidth (0.9 min(deviation, quartiles' distance / 1.34) n^−1/5), the whole drawn together again
 * so that the deviation stays the sample's. Those censored in it stay at its bound. */
struct gs_split_like {
    const struct gs_split_sample *sample;
    double bandwidth, mean, shrink;
};
struct gs_split_like gs_split_like_of(const struct gs_split_sample *sample);
void gs_split_draw_like(const void *context, struct gs_random *random, double *x, size_t count);

#endif
