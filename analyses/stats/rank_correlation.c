#include "analyses/stats/rank_correlation.h"

#include "core/base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct placed {
    double value;
    size_t place;
};

static int by_value(const void *a, const void *b) {
    const struct placed *x = a, *y = b;
    if (x->value < y->value) return -1;
    if (x->value > y->value) return 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

enum gs_status gs_average_ranks(const double *values, size_t count, double *ranks,
                                struct gs_error *error) {
    struct placed *sorted = gs_calloc(count, sizeof *sorted);
    if (!sorted) return gs_fail_memory(error, count * sizeof *sorted, "ranks");
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i])) {
            gs_free(sorted);
            gs_fail(error, GS_NUMERIC, "a value that is not a number has no rank");
            gs_error_where(error, "value %zu of %zu", i, count);
            return GS_NUMERIC;
        }
        sorted[i] = (struct placed){values[i], i};
    }
    qsort(sorted, count, sizeof *sorted, by_value);
    for (size_t first = 0, next; first < count; first = next) {
        next = first + 1;
        while (next < count && !(sorted[next].value > sorted[first].value)) next++;
        /* places first … next − 1 share the mean of ranks first + 1 … next */
        double rank = ((double)first + 1 + (double)next) / 2;
        for (size_t i = first; i < next; i++) ranks[sorted[i].place] = rank;
    }
    gs_free(sorted);
    return GS_OK;
}

static double mean_of(const double *x, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += x[i];
    return sum / (double)count;
}

static bool is_constant(const double *x, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (x[i] < x[0] || x[i] > x[0]) return false;
    return true;
}

double gs_pearson(const double *x, const double *y, size_t count) {
    if (count < 2 || is_constant(x, count) || is_constant(y, count)) return (double)NAN;
    double mean_x = mean_of(x, count), mean_y = mean_of(y, count);
    double xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < count; i++) {
        double a = x[i] - mean_x, b = y[i] - mean_y;
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    if (!(xx > 0) || !(yy > 0)) return (double)NAN;
    double r = xy / (sqrt(xx) * sqrt(yy));
    return r > 1 ? 1 : r < -1 ? -1 : r;
}

enum gs_status gs_spearman(const double *x, const double *y, size_t count, double *rho,
                           struct gs_error *error) {
    double *ranks = gs_calloc(2 * count, sizeof *ranks);
    if (!ranks) return gs_fail_memory(error, 2 * count * sizeof *ranks, "ranks");
    enum gs_status status = gs_average_ranks(x, count, ranks, error);
    if (status == GS_OK) status = gs_average_ranks(y, count, ranks + count, error);
    if (status == GS_OK) *rho = gs_pearson(ranks, ranks + count, count);
    gs_free(ranks);
    return status;
}
