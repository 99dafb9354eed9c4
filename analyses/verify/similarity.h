/* similarity.h - how alike are two models' states on the same text? In one pass over both.
 *
 * Rows t of both belong to the same token. X and Y are the states less their means, n rows of d and
 * of e dimensions, which may differ.
 *
 *   cka          linear centred kernel alignment ‖XᵀY‖² / (‖XᵀX‖ ‖YᵀY‖), Frobenius norms
 *                (Kornblith, Norouzi, Lee, Hinton 2019). 1 when Y is X turned, mirrored and scaled;
 *                directions weigh by the square of their variance.
 *   procrustes   what is left between X/‖X‖ and Y/‖Y‖ after the best rotation (with mirroring) of
 *                one: min over orthogonal Q of ‖X/‖X‖ − QY/‖Y‖‖ = √(2 − 2 ‖XᵀY‖* / (‖X‖ ‖Y‖)), ‖·‖*
 *                the sum of singular values (Schönemann 1966; as a distance between representations
 *                Williams, Kunz, Kornblith, Linderman 2021). 0 to √2. Where d and e differ the
 *                narrower one stands among zeros.
 *
 * Neither depends on the basis or the scale of the states. Both are biased towards "alike" where
 * the rows are few: with n ≤ d any two are alike. So the same numbers are also computed on rows
 * that belong to different text, which keeps all but the text: rows of one sequence in X beside
 * those of the next in Y. That is what there is to see without a common text.
 *
 * Second moments are float64, merged by Chan's formula (stats/moments.h); memory O((d + e)²),
 * whatever the rows. Same bits on any number of threads.
 */
#ifndef GS_ANALYSES_VERIFY_SIMILARITY_H
#define GS_ANALYSES_VERIFY_SIMILARITY_H

#include "analyses/stats/rows.h"
#include "core/base/progress.h"

struct gs_similarity {
    uint64_t rows;
    double cka, procrustes; /* NaN when either has no variance */
};

/* Row r of sequence s of `a` beside row r of sequence s + shift (around the end) of `b`, as many as
 * both have. GS_SHAPE when the number of sequences differs; GS_RANGE when fewer than two rows meet;
 * GS_UNSUPPORTED when d + e is more than LAPACK takes; errors of the rows; GS_INTERRUPTED. */
enum gs_status gs_similarity_of_rows(const struct gs_rows *a, const struct gs_rows *b, size_t shift,
                                     const struct gs_progress *progress,
                                     struct gs_similarity *similarity, struct gs_error *error);

struct gs_moments;
/* The same from moments of rows that are both side by side: the first `first` columns are X. */
enum gs_status gs_similarity_of_moments(const struct gs_moments *moments, size_t first,
                                        struct gs_similarity *similarity, struct gs_error *error);

#endif
