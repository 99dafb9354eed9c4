#include "analyses/horizon/horizon.h"

#include "core/base/memory.h"

#include <math.h>

const char *gs_curve_name(enum gs_curve curve) {
    static const char *const names[GS_CURVES] = {"raw", "centered_sequence", "centered_global",
                                                 "null", "null_centered_global"};
    return names[curve];
}

void gs_horizon_destroy(struct gs_horizon *horizon) {
    if (!horizon) return;
    gs_free(horizon->lags);
    gs_free(horizon->sums);
    gs_free(horizon->pairs);
    gs_free(horizon);
}

double gs_horizon_mean(const struct gs_horizon *horizon, enum gs_curve curve, size_t column,
                       double *pairs) {
    double sum = 0, count = 0;
    for (size_t s = 0; s < horizon->sequences; s++) {
        size_t place = (s * GS_CURVES + (size_t)curve) * horizon->columns + column;
        sum += horizon->sums[place];
        count += horizon->pairs[place];
    }
    if (pairs) *pairs = count;
    return count > 0 ? sum / count : (double)NAN;
}
