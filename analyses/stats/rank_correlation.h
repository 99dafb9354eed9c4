/* rank_correlation.h - ranks with ties averaged, and Spearman's correlation. */
#ifndef GS_ANALYSES_STATS_RANK_CORRELATION_H
#define GS_ANALYSES_STATS_RANK_CORRELATION_H

#include "core/base/status.h"

#include <stddef.h>

/* ranks[i] = 1 + (values below) + (values equal, other than itself) / 2. Values must not be NaN
 * (±Inf are legal). GS_NUMERIC names the first NaN; GS_NO_MEMORY. */
enum gs_status gs_average_ranks(const double *values, size_t count, double *ranks,
                                struct gs_error *error);

/* Pearson's correlation of two arrays, in [−1, 1]; NaN when count < 2 or either is constant. */
double gs_pearson(const double *x, const double *y, size_t count);

/* Spearman: Pearson of the average ranks (right under ties, unlike 1 − 6Σd²/(n³ − n)). *rho is NaN
 * when count < 2 or either is constant. */
enum gs_status gs_spearman(const double *x, const double *y, size_t count, double *rho,
                           struct gs_error *error);

#endif
