#include "analyses/stats/moments.h"

#include "analyses/stats/moments_parts.h"
#include "core/base/memory.h"

#include <math.h>
#include <string.h>

enum { LARGEST_DIMS = 32766 };

enum gs_status gs_moments_check_dims(size_t dims, struct gs_error *error) {
    if (dims >= 1 && dims <= LARGEST_DIMS) return GS_OK;
    gs_fail(error, GS_UNSUPPORTED, "states of this width have no covariance here");
    gs_error_expected(error, "1 to %d dimensions", LARGEST_DIMS);
    gs_error_found(error, "%zu", dims);
    return GS_UNSUPPORTED;
}

enum gs_status gs_moments_create(size_t dims, struct gs_moments **moments, struct gs_error *error) {
    enum gs_status status = gs_moments_check_dims(dims, error);
    if (status != GS_OK) return status;
    struct gs_moments *made = gs_calloc(1, sizeof *made);
    size_t doubles = dims + gs_packed_count(dims);
    double *values = gs_calloc(doubles, sizeof *values);
    float *bounds = gs_calloc(2 * dims, sizeof *bounds);
    if (!made || !values || !bounds) {
        gs_free(made);
        gs_free(values);
        gs_free(bounds);
        return gs_fail_memory(error, doubles * sizeof *values, "second moments");
    }
    *made = (struct gs_moments){dims, 0, values, values + dims, bounds, bounds + dims};
    gs_moments_reset(made);
    *moments = made;
    return GS_OK;
}

void gs_moments_destroy(struct gs_moments *moments) {
    if (!moments) return;
    gs_free(moments->mean);
    gs_free(moments->low);
    gs_free(moments);
}

void gs_moments_reset(struct gs_moments *moments) {
    moments->n = 0;
    memset(moments->mean, 0, (moments->dims + gs_packed_count(moments->dims)) * sizeof(double));
    for (size_t i = 0; i < moments->dims; i++) {
        moments->low[i] = INFINITY;
        moments->high[i] = -INFINITY;
    }
}

void gs_moments_merge_bounds(struct gs_moments *into, const float *low, const float *high) {
    for (size_t i = 0; i < into->dims; i++) {
        if (low[i] < into->low[i]) into->low[i] = low[i];
        if (high[i] > into->high[i]) into->high[i] = high[i];
    }
}

void gs_moments_merge_mean(struct gs_moments *into, const double *mean, uint64_t n) {
    double share = (double)n / (double)(into->n + n);
    for (size_t i = 0; i < into->dims; i++) into->mean[i] += share * (mean[i] - into->mean[i]);
    into->n += n;
}

double gs_moments_weight(uint64_t a, uint64_t b) {
    return (double)a * ((double)b / (double)(a + b));
}

void gs_moments_merge(struct gs_moments *into, const struct gs_moments *from) {
    if (from->n == 0) return;
    size_t dims = into->dims;
    double weight = gs_moments_weight(into->n, from->n);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < dims; i++) {
        double *row = into->comoment + gs_packed(dims, i, i);
        const double *other = from->comoment + gs_packed(dims, i, i);
        double pull = weight * (from->mean[i] - into->mean[i]);
        for (size_t j = i; j < dims; j++)
            row[j - i] += other[j - i] + pull * (from->mean[j] - into->mean[j]);
    }
    gs_moments_merge_bounds(into, from->low, from->high);
    gs_moments_merge_mean(into, from->mean, from->n);
}

const char *gs_moments_product_name(enum gs_moments_product product) {
    return product == GS_PRODUCT_FLOAT64 ? "float64" : "float32";
}
