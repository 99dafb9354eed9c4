#include "analyses/stats/basic_interval.h"

#include <math.h>

static double to_scale(double x, double low, double high) {
    return isinf(high) ? log(x) : log((x - low) / (high - x));
}

static double from_scale(double y, double low, double high) {
    return isinf(high) ? exp(y) : low + (high - low) / (1 + exp(-y));
}

static double reflect(double estimate, double quantile, double low, double high) {
    if (isinf(low)) return 2 * estimate - quantile;
    double a = to_scale(estimate, low, high), b = to_scale(quantile, low, high);
    if (!isfinite(a) || !isfinite(b)) return 2 * estimate - quantile;
    return from_scale(2 * a - b, low, high);
}

struct gs_interval gs_basic_interval(struct gs_interval percentile, double estimate, double low,
                                     double high) {
    struct gs_interval interval = percentile;
    if (!percentile.known || isnan(estimate)) {
        interval.known = false;
        interval.low = interval.high = (double)NAN;
        return interval;
    }
    interval.low = fmin(fmax(reflect(estimate, percentile.high, low, high), low), high);
    interval.high = fmin(fmax(reflect(estimate, percentile.low, low, high), low), high);
    return interval;
}
