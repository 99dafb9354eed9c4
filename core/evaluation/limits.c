#include "core/evaluation/limits.h"

#include <math.h>

static const double normal_975 = 1.959963984540054;

static struct gs_limits unknown(void) {
    return (struct gs_limits){false, (double)NAN, (double)NAN};
}

static struct gs_limits around(double centre, double half) {
    return (struct gs_limits){true, centre - half, centre + half};
}

/* Where the expansion in 1 / freedom is not yet good, from the tables. */
double gs_student_975(uint64_t freedom) {
    static const double few[] = {12.7062, 4.30265, 3.18245, 2.77645, 2.57058,
                                 2.44691, 2.36462, 2.30600, 2.26216, 2.22814};
    enum { FEW = sizeof few / sizeof *few };
    if (freedom == 0) return (double)NAN;
    if (freedom <= FEW) return few[freedom - 1];
    /* Abramowitz and Stegun 26.7.5 */
    const double z = normal_975, z2 = z * z, n = (double)freedom;
    double first = (z2 + 1) * z / 4;
    double second = ((5 * z2 + 16) * z2 + 3) * z / 96;
    double third = (((3 * z2 + 19) * z2 + 17) * z2 - 15) * z / 384;
    return z + first / n + second / (n * n) + third / (n * n * n);
}

struct gs_limits gs_mean_limits(double mean, double squares, uint64_t n) {
    if (n < 2) return unknown();
    double count = (double)n;
    return around(mean, gs_student_975(n - 1) * sqrt(squares / count / (count - 1)));
}

struct gs_limits gs_ratio_limits(const double *a, const double *b, size_t n) {
    double above = 0, below = 0, squares = 0, count = (double)n;
    for (size_t i = 0; i < n; i++) {
        above += a[i];
        below += b[i];
    }
    if (n < 2 || !(below > 0)) return unknown();
    double ratio = above / below;
    for (size_t i = 0; i < n; i++) {
        double rest = a[i] - ratio * b[i];
        squares += rest * rest;
    }
    return around(ratio, gs_student_975(n - 1) * sqrt(count / (count - 1) * squares) / below);
}

struct gs_limits gs_share_limits(uint64_t k, uint64_t n) {
    if (n == 0) return unknown();
    const double z = normal_975, count = (double)n, share = (double)k / count;
    double widen = 1 + z * z / count, centre = (share + z * z / (2 * count)) / widen;
    double half = z / widen * sqrt(share * (1 - share) / count + z * z / (4 * count * count));
    struct gs_limits limits = around(centre, half);
    if (k == 0) limits.low = 0; /* not a rounding error beside it */
    if (k == n) limits.high = 1;
    return limits;
}
