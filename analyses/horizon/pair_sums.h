/* pair_sums.h - cosines of one block of late rows with the window of early rows before them, summed
 * by lag and curve. Inside horizon only. */
#ifndef GS_ANALYSES_HORIZON_PAIR_SUMS_H
#define GS_ANALYSES_HORIZON_PAIR_SUMS_H

#include "analyses/horizon/horizon.h"
#include "analyses/horizon/unit_rows.h"

/* Which rows a curve compares. Early row t stands in slot t mod capacity of `early`, which holds
 * the last max_lag + 1 + block rows; late row first + i in slot late_first + i of `late`. */
struct gs_pair_side {
    const struct gs_unit_rows *early, *late;
    size_t late_first;
};

struct gs_pair_sums; /* scratch, and the running windows of the bands */

/* For blocks of `block` rows and the lags of `horizon`, which outlives it. GS_NO_MEMORY. */
enum gs_status gs_pair_sums_create(const struct gs_horizon *horizon, bool all_lags, size_t block,
                                   struct gs_pair_sums **sums, struct gs_error *error);
void gs_pair_sums_destroy(struct gs_pair_sums *sums); /* NULL is fine */

/* A new sequence begins. */
void gs_pair_sums_reset(struct gs_pair_sums *sums);

/* Add all pairs whose late row is first … first + block − 1 (first a multiple of block; blocks in
 * order, none left out) to `cosines` and `pairs`, both (GS_CURVES, columns) as in struct
 * gs_horizon. A curve without rows has sides[curve].early NULL. */
enum gs_status gs_pair_sums_add(struct gs_pair_sums *sums,
                                const struct gs_pair_side sides[GS_CURVES], size_t first,
                                double *cosines, double *pairs, struct gs_error *error);

#endif
