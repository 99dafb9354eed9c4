#include "analyses/stats/binomial_interval.h"

#include <math.h>
#include <stdbool.h>

enum { MOST_TERMS = 10000, MOST_HALVINGS = 1100 };

/* Away from 0, so that the next quotient exists. */
static double apart(double x) {
    return fabs(x) < 1e-300 ? 1e-300 : x;
}

/* The continued fraction 1/(1 + d₁/(1 + d₂/(1 + …))) of DLMF 8.17.22; it converges fast for
 * x < (a + 1)/(a + b + 2). */
static double fraction(double x, double a, double b) {
    double c = 1, d = 1 / apart(1 - (a + b) * x / (a + 1)), value = d;
    for (int m = 1; m < MOST_TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / apart(1 + even * d);
        c = apart(1 + even / c);
        value *= d * c;
        d = 1 / apart(1 + odd * d);
        c = apart(1 + odd / c);
        value *= d * c;
        if (fabs(d * c - 1) < 1e-16) break;
    }
    return value;
}

double gs_beta_share(double x, double a, double b) {
    if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1)) return (double)NAN;
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) return front * fraction(x, a, b) / a;
    return 1 - front * fraction(1 - x, b, a) / b;
}

double gs_beta_quantile(double p, double a, double b) {
    if (!(a > 0) || !(b > 0) || !(p >= 0) || !(p <= 1)) return (double)NAN;
    double low = 0, high = 1;
    for (int i = 0; i < MOST_HALVINGS; i++) {
        double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high)) break;
        bool below = gs_beta_share(middle, a, b) < p;
        *(below ? &low : &high) = middle;
    }
    return low + (high - low) / 2;
}

void gs_clopper_pearson(size_t k, size_t n, double level, double *low, double *high) {
    *low = *high = (double)NAN;
    if (k > n || !(level > 0 && level < 1)) return;
    double seen = (double)k, other = (double)(n - k);
    *low = k == 0 ? 0 : gs_beta_quantile((1 - level) / 2, seen, other + 1);
    *high = k == n ? 1 : gs_beta_quantile((1 + level) / 2, seen + 1, other);
}
