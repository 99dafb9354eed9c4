/* decoding.h - the sums of one pass over states and their logits, and what can be made of them. */
#ifndef GS_ANALYSES_DEFAULT_TOKEN_DECODING_H
#define GS_ANALYSES_DEFAULT_TOKEN_DECODING_H

#include "analyses/default_token/default_token.h"

/* Sums over the rows of each bootstrap block. */
struct gs_default_sums {
    size_t blocks, width, vocab;
    uint64_t *rows;        /* (blocks) */
    double *state;         /* (blocks, width) */
    double *logits;        /* (blocks, vocab) */
    double *probabilities; /* (blocks, vocab) */
};

/* All rows but the first skip_first of each sequence. Free with gs_default_sums_destroy, also after
 * a failure. Sequences with a row used go into *sequences. */
enum gs_status gs_default_sums_make(const struct gs_rows *rows, const struct gs_decoder *decoder,
                                    const struct gs_default_options *options,
                                    struct gs_default_sums *sums, size_t *sequences,
                                    struct gs_error *error);
void gs_default_sums_destroy(struct gs_default_sums *sums);

/* mean (columns) = Σ_b weights[b] sums[b] / Σ_b weights[b] rows[b] of a (blocks, columns) array;
 * weights NULL: all 1. */
void gs_default_mean(const struct gs_default_sums *sums, const double *values, size_t columns,
                     const double *weights, double *mean);

/* softmax of scores, largest subtracted first; may be in place. */
void gs_default_softmax(const double *scores, size_t count, double *probabilities);
/* Ids of the `top` largest scores, largest first, ties by id. */
void gs_default_best(const double *scores, size_t count, size_t top, uint32_t *best);
/* Ids that two lists of `top` share. */
size_t gs_default_overlap(const uint32_t *a, const uint32_t *b, size_t top);

/* The tokens that have a count, and the average ranks of their counts. */
struct gs_counted {
    size_t count;
    uint32_t *ids;
    double *ranks;
};
/* Free with gs_counted_destroy. counts NULL: nothing is counted. */
enum gs_status gs_counted_make(const uint64_t *counts, size_t vocab, struct gs_counted *counted,
                               struct gs_error *error);
void gs_counted_destroy(struct gs_counted *counted);
/* Spearman of the counted tokens' scores (vocab) with their counts; NaN where undefined. `work`
 * holds 2 count doubles: the scores gathered, then their ranks. */
enum gs_status gs_counted_spearman(const struct gs_counted *counted, const double *scores,
                                   double *work, double *rho, struct gs_error *error);

#endif
