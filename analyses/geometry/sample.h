/* sample.h - the measures of one sample of states from its sums: of the whole trace, or of one
 * bootstrap replicate. */
#ifndef GS_ANALYSES_GEOMETRY_SAMPLE_H
#define GS_ANALYSES_GEOMETRY_SAMPLE_H

#include "analyses/geometry/measures.h"
#include "analyses/stats/correlation.h"
#include "analyses/stats/running.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gs_geometry_sample {
    size_t dims;
    uint64_t n;         /* rows, at least 1 */
    const double *mean; /* (dims) */
    double *comoment; /* (dims, dims), upper triangle of Σ (x − mean)(x − mean)ᵀ; destroyed */
    struct gs_running norm; /* of ‖p‖ */
    double energy;          /* Σ ‖p‖² */
    /* (dims) sums of the first 10 and 100 rows of every sequence, and how many rows that are; 0
     * rows where no sequence is that long */
    const double *prefix[GS_GEOMETRY_PREFIXES];
    uint64_t prefix_rows[GS_GEOMETRY_PREFIXES];
    double epsilon; /* rounding of the products in comoment: FLT_EPSILON or DBL_EPSILON */
    bool single;    /* eigenvalues by gs_eigenvalues_updated_single */
};

/* What the measures are made of, for tables; the arrays are the caller's. */
struct gs_geometry_detail {
    double *eigenvalues; /* (dims) of the covariance (divisor n − 1), largest first */
    double *deviations;  /* (dims) sample deviations */
    uint64_t *histogram; /* (GS_CORRELATION_BINS) */
    size_t clipped;      /* eigenvalues set to zero */
    struct gs_correlation correlation;
};

/* Doubles of scratch that gs_geometry_measure needs. */
static inline size_t gs_geometry_scratch(size_t dims) {
    return 3 * dims;
}

/* All measures into values (GS_GEOMETRY_MEASURES), NaN where one has no meaning. detail may be
 * NULL. With one row only what needs no deviation is known. The eigenvalues take all
 * threads, one when called from a parallel region.
 * GS_NUMERIC, GS_NO_MEMORY. */
enum gs_status gs_geometry_measure(struct gs_geometry_sample *sample, double *scratch,
                                   double *values, struct gs_geometry_detail *detail,
                                   struct gs_error *error);

/* Cosine of two vectors, NaN when either is zero. Scaled first, so that no square overflows. */
double gs_geometry_cosine(const double *x, const double *y, size_t dims);

#endif
