#include "analyses/stats/effective.h"

#include <math.h>

double gs_effective_blocks(const double *counts, size_t stride, size_t blocks) {
    double sum = 0, squares = 0;
    for (size_t b = 0; b < blocks; b++) {
        double n = counts[b * stride];
        sum += n;
        squares += n * n;
    }
    return squares > 0 ? sum * sum / squares : (double)NAN;
}

double gs_effective_rows(const double *sums, const double *counts, size_t stride, size_t blocks,
                         double squares) {
    double n = 0, sum = 0, used = 0, apart = 0;
    for (size_t b = 0; b < blocks; b++) {
        n += counts[b * stride];
        sum += sums[b * stride];
        used += counts[b * stride] > 0;
    }
    if (used < 2 || !(squares > 0)) return (double)NAN;
    double mean = sum / n;
    for (size_t b = 0; b < blocks; b++) {
        double distance = sums[b * stride] - counts[b * stride] * mean;
        apart += distance * distance;
    }
    double of_rows = squares / (n - 1) / n, of_blocks = used / (used - 1) * apart / (n * n);
    return of_blocks > of_rows ? n * of_rows / of_blocks : n;
}
