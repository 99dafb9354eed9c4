/* limits.h - 95 % limits of means from a few closed forms.
 *
 * Windows and examples are the observations: tokens within one are dependent, so they are never
 * counted singly. For windows that follow each other in one document, too, limits are too narrow by
 * what those windows share.
 */
#ifndef GS_CORE_EVALUATION_LIMITS_H
#define GS_CORE_EVALUATION_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gs_limits {
    bool known; /* false, and low and high are NaN, where there are too few observations */
    double low, high;
};

/* The quantile 0.975 of Student's t with `freedom` degrees of freedom, within 0.001; NaN for 0. */
double gs_student_975(uint64_t freedom);

/* Of a mean of n observations whose squared deviations from it sum to `squares`:
 * mean ± t(n − 1) √(squares / (n (n − 1))). Not known for n < 2. */
struct gs_limits gs_mean_limits(double mean, double squares, uint64_t n);

/* Of R = Σ a_i / Σ b_i over n observations: R ± t(n − 1) √(n / (n − 1) Σ (a_i − R b_i)²) / Σ b_i,
 * the ratio estimator (Cochran, Sampling Techniques, 1977, 6.4). Not known for n < 2 or Σ b_i = 0.
 */
struct gs_limits gs_ratio_limits(const double *a, const double *b, size_t n);

/* Of a share of k in n: Wilson's score interval (1927). Not known for n = 0. */
struct gs_limits gs_share_limits(uint64_t k, uint64_t n);

#endif
