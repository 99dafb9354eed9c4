#include "analyses/geometry/sample.h"

#include "analyses/linalg/lapack.h"
#include "analyses/stats/spectrum.h"

#include <math.h>

static double dot(const double *x, const double *y, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

static double largest_of(const double *x, size_t n) {
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        if (fabs(x[i]) > largest) largest = fabs(x[i]);
    return largest;
}

double gs_geometry_cosine(const double *x, const double *y, size_t dims) {
    double a = largest_of(x, dims), b = largest_of(y, dims);
    if (!(a > 0) || !(b > 0)) return (double)NAN;
    double xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < dims; i++) {
        double u = x[i] / a, v = y[i] / b;
        xx += u * u;
        yy += v * v;
        xy += u * v;
    }
    double cosine = xy / (sqrt(xx) * sqrt(yy));
    return cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;
}

static void measure_norms(const struct gs_geometry_sample *s, double *values) {
    double square = dot(s->mean, s->mean, s->dims);
    values[GS_GEOMETRY_STATE_NORM_MEAN] = s->norm.mean;
    values[GS_GEOMETRY_STATE_NORM_STD] = gs_running_deviation(&s->norm);
    values[GS_GEOMETRY_MEAN_NORM] = sqrt(square);
    if (s->norm.mean > 0) {
        values[GS_GEOMETRY_MEAN_NORM_RATIO] = fmin(1, sqrt(square) / s->norm.mean);
        values[GS_GEOMETRY_MEAN_ENERGY] = fmin(1, square * (double)s->n / s->energy);
    }
    for (int i = 0; i < GS_GEOMETRY_PREFIXES; i++)
        if (s->prefix_rows[i] > 0)
            values[GS_GEOMETRY_RUNNING_T10 + i] =
                gs_geometry_cosine(s->prefix[i], s->mean, s->dims);
}

static void measure_deviations(const struct gs_geometry_sample *s, double *values,
                               struct gs_geometry_detail *detail) {
    double divisor = (double)(s->n - 1), sum = 0, low = INFINITY, high = 0;
    for (size_t i = 0; i < s->dims; i++) {
        double deviation = sqrt(s->comoment[i * s->dims + i] / divisor);
        if (detail) detail->deviations[i] = deviation;
        sum += deviation;
        low = fmin(low, deviation);
        high = fmax(high, deviation);
    }
    values[GS_GEOMETRY_DIM_STD_MIN] = low;
    values[GS_GEOMETRY_DIM_STD_MAX] = high;
    values[GS_GEOMETRY_DIM_STD_MEAN] = sum / (double)s->dims;
}

static void measure_correlation(const struct gs_geometry_sample *s, double *scratch, double *values,
                                struct gs_geometry_detail *detail) {
    struct gs_correlation correlation;
    gs_correlation_summary(s->comoment, s->dims, scratch, &correlation,
                           detail ? detail->histogram : NULL);
    values[GS_GEOMETRY_CORR_MEAN_ABS] = correlation.mean_abs;
    values[GS_GEOMETRY_CORR_MAX_ABS] = correlation.max_abs;
    if (detail) detail->correlation = correlation;
}

static double or_nan(size_t count) {
    return count ? (double)count : (double)NAN;
}

static void measure_dimension(const double *eigenvalues, const struct gs_geometry_sample *s,
                              double *values) {
    size_t d = s->dims;
    values[GS_GEOMETRY_PCS_50] = or_nan(gs_spectrum_components(eigenvalues, d, 0.50));
    values[GS_GEOMETRY_PCS_90] = or_nan(gs_spectrum_components(eigenvalues, d, 0.90));
    values[GS_GEOMETRY_PCS_99] = or_nan(gs_spectrum_components(eigenvalues, d, 0.99));
    values[GS_GEOMETRY_STABLE_RANK_CENTERED] = gs_spectrum_stable_rank(eigenvalues, d);
    values[GS_GEOMETRY_PARTICIPATION] = gs_spectrum_participation(eigenvalues, d);
    values[GS_GEOMETRY_PARTICIPATION_CORRECTED] =
        gs_spectrum_participation_corrected(eigenvalues, d, s->n);
    values[GS_GEOMETRY_PARTICIPATION_SHARE] = values[GS_GEOMETRY_PARTICIPATION] / (double)d;
    if (eigenvalues[0] > 0)
        values[GS_GEOMETRY_MEAN_OVER_FIRST] = dot(s->mean, s->mean, d) / eigenvalues[0];
    values[GS_GEOMETRY_EFFECTIVE_RANK] = gs_spectrum_effective_rank(eigenvalues, d);
}

/* With M = Σ (p − s̄)(p − s̄)ᵀ, the second moment about 0 is (M + n s̄s̄ᵀ) / n. Its trace over its
 * largest eigenvalue needs no second decomposition (gs_eigenvalues_updated). */
static enum gs_status measure_spectrum(struct gs_geometry_sample *s, double *scratch,
                                       double *values, struct gs_geometry_detail *detail,
                                       struct gs_error *error) {
    size_t d = s->dims, clipped;
    double *eigenvalues = scratch, *vector = scratch + d, largest, trace = 0;
    for (size_t i = 0; i < d; i++) {
        vector[i] = sqrt((double)s->n) * s->mean[i];
        trace += s->comoment[i * d + i] + vector[i] * vector[i];
    }
    enum gs_status status = (s->single ? gs_eigenvalues_updated_single : gs_eigenvalues_updated)(
        d, s->comoment, vector, eigenvalues, &largest, error);
    if (status == GS_OK) status = gs_spectrum_clip(eigenvalues, d, s->epsilon, &clipped, error);
    if (status != GS_OK) return status;
    if (largest > 0) values[GS_GEOMETRY_STABLE_RANK_UNCENTERED] = fmax(1, trace / largest);
    if (s->n < 2) return GS_OK;
    for (size_t i = 0; i < d; i++) eigenvalues[i] /= (double)(s->n - 1);
    measure_dimension(eigenvalues, s, values);
    if (!detail) return GS_OK;
    detail->clipped = clipped;
    for (size_t i = 0; i < d; i++) detail->eigenvalues[i] = eigenvalues[i];
    return GS_OK;
}

enum gs_status gs_geometry_measure(struct gs_geometry_sample *sample, double *scratch,
                                   double *values, struct gs_geometry_detail *detail,
                                   struct gs_error *error) {
    for (int i = 0; i < GS_GEOMETRY_MEASURES; i++) values[i] = (double)NAN;
    measure_norms(sample, values);
    if (sample->n > 1) measure_deviations(sample, values, detail);
    measure_correlation(sample, scratch, values, detail);
    return measure_spectrum(sample, scratch, values, detail, error);
}
