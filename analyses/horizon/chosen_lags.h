/* chosen_lags.h - cosines of one block of late rows with the rows before them at chosen lags, and
 * over the bands, for all curves from two sets of dots. Inside horizon only. */
#ifndef GS_ANALYSES_HORIZON_CHOSEN_LAGS_H
#define GS_ANALYSES_HORIZON_CHOSEN_LAGS_H

#include "analyses/horizon/row_block.h"

struct gs_chosen_lags; /* scratch, and the running sums behind the bands */

/* For blocks of `rows`' shape. `horizon` outlives it. GS_NO_MEMORY. */
enum gs_status gs_chosen_lags_create(const struct gs_horizon *horizon,
                                     const struct gs_row_block *rows, double centre_square,
                                     struct gs_chosen_lags **lags, struct gs_error *error);
void gs_chosen_lags_destroy(struct gs_chosen_lags *lags); /* NULL is fine */

/* Add all pairs whose late row stands in the first `count` of the block to `cosines` and `pairs`,
 * (GS_CURVES, columns) as in struct gs_horizon. `own` is shifted, by a vector of square
 * `shift_square`; `other` is the same stretch of the partner, or NULL. */
void gs_chosen_lags_add(struct gs_chosen_lags *lags, const struct gs_row_block *own,
                        const struct gs_row_block *other, size_t count, double shift_square,
                        double *cosines, double *pairs);

#endif
