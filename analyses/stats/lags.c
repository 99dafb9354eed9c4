#include "analyses/stats/lags.h"

#include <math.h>

static void put(size_t *lags, size_t *count, size_t lag) {
    if (lags) lags[*count] = lag;
    ++*count;
}

size_t gs_lags_powers(size_t max, size_t *lags) {
    size_t count = 0;
    for (size_t lag = 1; lag && lag <= max; lag *= 2) put(lags, &count, lag);
    return count;
}

size_t gs_lags_all(size_t max, size_t *lags) {
    size_t count = 0;
    for (size_t lag = 1; lag <= max; lag++) put(lags, &count, lag);
    return count;
}

size_t gs_lags_dense(size_t max, size_t every, size_t per_octave, size_t *lags) {
    size_t count = 0, last = 0;
    for (; last < every && last < max; last++) put(lags, &count, last + 1);
    for (size_t step = 1; last < max; step++) {
        double place = (double)every * exp2((double)step / (double)per_octave);
        size_t lag = place < (double)max ? (size_t)(place + 0.5) : max;
        if (lag <= last) continue;
        put(lags, &count, lag);
        last = lag;
    }
    return count;
}
