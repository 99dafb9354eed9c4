#include "analyses/stats/correlation.h"

#include <math.h>
#include <string.h>

static size_t bin_of(double r) {
    double place = floor((r + 1) * (GS_CORRELATION_BINS / 2.0));
    if (!(place > 0)) return 0;
    return place < GS_CORRELATION_BINS ? (size_t)place : GS_CORRELATION_BINS - 1;
}

/* One row's pairs to its right. The sum is kept per row, so that the whole loses no digits. */
static double add_row(const double *comoment, size_t dims, size_t i, const double *inverse,
                      struct gs_correlation *summary, uint64_t *counts) {
    double sum = 0;
    const double *row = comoment + i * dims;
    for (size_t j = i + 1; j < dims; j++) {
        if (!(inverse[j] > 0)) continue;
        double r = row[j] * inverse[i] * inverse[j];
        if (r > 1) r = 1;
        if (r < -1) r = -1;
        sum += fabs(r);
        if (fabs(r) > summary->max_abs) {
            summary->max_abs = fabs(r);
            summary->max_row = i;
            summary->max_column = j;
        }
        if (counts) counts[bin_of(r)]++;
    }
    return sum;
}

void gs_correlation_summary(const double *comoment, size_t dims, double *inverse,
                            struct gs_correlation *summary, uint64_t *counts) {
    *summary = (struct gs_correlation){.max_abs = -1};
    if (counts) memset(counts, 0, GS_CORRELATION_BINS * sizeof *counts);
    for (size_t i = 0; i < dims; i++) {
        double square = comoment[i * dims + i];
        inverse[i] = square > 0 ? 1 / sqrt(square) : 0;
        summary->live += square > 0;
    }
    double sum = 0;
    for (size_t i = 0; i < dims; i++)
        if (inverse[i] > 0) sum += add_row(comoment, dims, i, inverse, summary, counts);
    summary->pairs = summary->live < 2 ? 0 : (uint64_t)summary->live * (summary->live - 1) / 2;
    summary->mean_abs = summary->pairs ? sum / (double)summary->pairs : (double)NAN;
    if (!summary->pairs) summary->max_abs = (double)NAN;
}
