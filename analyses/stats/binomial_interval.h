/* binomial_interval.h - how surely k of n says what share there is. */
#ifndef GS_ANALYSES_STATS_BINOMIAL_INTERVAL_H
#define GS_ANALYSES_STATS_BINOMIAL_INTERVAL_H

#include <stddef.h>

/* The regularised incomplete beta function I_x(a, b), a, b > 0, x in [0, 1]: by its continued
 * fraction (DLMF 8.17.22), evaluated as Lentz does. NaN for arguments outside. */
double gs_beta_share(double x, double a, double b);

/* The x with I_x(a, b) = p, by bisection to the last bits. NaN for arguments outside. */
double gs_beta_quantile(double p, double a, double b);

/* The interval of Clopper and Pearson (1934) for the share of a binomial of which k of n were seen:
 * it holds the true share at least with probability `level`, whatever that share is.
 *     low  = the (1 − level)/2 quantile of Beta(k, n − k + 1), 0 for k = 0
 *     high = the (1 + level)/2 quantile of Beta(k + 1, n − k), 1 for k = n
 * n = 0 gives 0 and 1; k > n or a level outside (0, 1) NaN. */
void gs_clopper_pearson(size_t k, size_t n, double level, double *low, double *high);

#endif
