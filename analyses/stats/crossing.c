#include "analyses/stats/crossing.h"

#include <math.h>

/* The share of the way from `above` down to `below` at which the threshold lies. */
static double share(double above, double below, double threshold, enum gs_between between) {
    if (between == GS_BETWEEN_LINEAR) return (above - threshold) / (above - below);
    if (below <= 0) return 0;
    return log(above / threshold) / log(above / below);
}

double gs_first_at_or_below(const size_t *lags, const double *values, size_t count,
                            double threshold, enum gs_between between, size_t *at) {
    double lag = 0, value = 1;
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i])) continue;
        if (values[i] <= threshold) {
            if (at) *at = i;
            return lag + ((double)lags[i] - lag) * share(value, values[i], threshold, between);
        }
        lag = (double)lags[i];
        value = values[i];
    }
    if (at) *at = count;
    return INFINITY;
}
