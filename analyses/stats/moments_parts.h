/* moments_parts.h - what joins a block of rows to moments. Inside stats only. */
#ifndef GS_ANALYSES_STATS_MOMENTS_PARTS_H
#define GS_ANALYSES_STATS_MOMENTS_PARTS_H

#include "analyses/stats/moments.h"

/* GS_UNSUPPORTED for widths that gs_moments_create refuses. */
enum gs_status gs_moments_check_dims(size_t dims, struct gs_error *error);

/* Chan's weight n_a n_b / n. */
double gs_moments_weight(uint64_t a, uint64_t b);
/* Bounds, and then mean and n, of n more rows, after their comoment has been merged. */
void gs_moments_merge_bounds(struct gs_moments *into, const float *low, const float *high);
void gs_moments_merge_mean(struct gs_moments *into, const double *mean, uint64_t n);

#endif
