#include "analyses/stats/spectrum.h"

#include <float.h>
#include <math.h>

enum gs_status gs_spectrum_clip(double *eigenvalues, size_t count, double epsilon, size_t *clipped,
                                struct gs_error *error) {
    *clipped = 0;
    if (count == 0) return GS_OK;
    double order = (double)count * (eigenvalues[0] > 0 ? eigenvalues[0] : 0);
    for (size_t i = 0; i < count; i++) {
        double value = eigenvalues[i];
        if (!(value >= -epsilon * order)) {
            gs_fail(error, GS_NUMERIC, "a covariance has a negative eigenvalue beyond rounding");
            gs_error_expected(error, "at least %g", -epsilon * order);
            gs_error_found(error, "%g", value);
            gs_error_where(error, "eigenvalue %zu of %zu, largest first", i + 1, count);
            return GS_NUMERIC;
        }
        if (value >= DBL_EPSILON * order) continue;
        if (value < 0 || value > 0) ++*clipped;
        eigenvalues[i] = 0;
    }
    return GS_OK;
}

double gs_spectrum_sum(const double *eigenvalues, size_t count) {
    double sum = 0;
    for (size_t i = count; i-- > 0;) sum += eigenvalues[i]; /* smallest first loses least */
    return sum;
}

static double sum_of_squares(const double *eigenvalues, size_t count) {
    double sum = 0;
    for (size_t i = count; i-- > 0;) sum += eigenvalues[i] * eigenvalues[i];
    return sum;
}

size_t gs_spectrum_components(const double *eigenvalues, size_t count, double share) {
    double sum = gs_spectrum_sum(eigenvalues, count), held = 0;
    if (!(sum > 0)) return 0;
    double wanted = (share - 1e-12) * sum;
    for (size_t i = 0; i < count; i++) {
        held += eigenvalues[i];
        if (held >= wanted) return i + 1;
    }
    return count;
}

double gs_spectrum_stable_rank(const double *eigenvalues, size_t count) {
    double sum = gs_spectrum_sum(eigenvalues, count);
    return sum > 0 ? sum / eigenvalues[0] : (double)NAN;
}

double gs_spectrum_participation(const double *eigenvalues, size_t count) {
    double sum = gs_spectrum_sum(eigenvalues, count);
    return sum > 0 ? sum * sum / sum_of_squares(eigenvalues, count) : (double)NAN;
}

double gs_spectrum_participation_corrected(const double *eigenvalues, size_t count, uint64_t n) {
    double sum = gs_spectrum_sum(eigenvalues, count);
    if (!(sum > 0) || n < 3) return (double)NAN;
    double nu = (double)(n - 1), squares = sum_of_squares(eigenvalues, count);
    double above = (1 + 1 / nu) * sum * sum - 2 / nu * squares;
    double below = squares - sum * sum / nu;
    /* With n ≤ d rows in general position `below` may cancel to nothing. */
    if (!(below > 1e-12 * squares)) return (double)NAN;
    return above / below;
}

double gs_spectrum_effective_rank(const double *eigenvalues, size_t count) {
    double sum = 0, weighted = 0;
    for (size_t i = count; i-- > 0;) {
        double sigma = sqrt(eigenvalues[i]);
        sum += sigma;
        if (sigma > 0) weighted += sigma * log(sigma);
    }
    return sum > 0 ? exp(log(sum) - weighted / sum) : (double)NAN;
}
