/* geometry.h - the geometry of a stream of states: norms, mean, deviations, correlations, spectrum
 * and dimension, each with a 95 % bootstrap interval over sequences (measures.h has the list).
 *
 * One pass; memory O(d²), whatever the number of rows. Second moments: see moments.h. Products are
 * float64 where that costs little (few rows, or rows · d² ≤ 2·10¹⁰), float32 inside blocks
 * of 4,096 rows otherwise; which one is recorded.
 *
 * Intervals: neighbouring states are dependent, so whole sequences (or runs of neighbouring ones:
 * blocks, sums.h) are drawn with replacement, and every measure is computed again from the drawn
 * blocks' sums. The interval is the basic one (basic_interval.h): the percentiles of the replicates
 * reflected at the estimate, on a log or logit scale, cut to the measure's range. Measures of
 * dimension are biased by the finite number of rows, and a replicate repeats that bias: percentiles
 * themselves would count it twice (in simulations with 32 sequences of dependent rows they held the
 * true effective rank in 0 of 150 trials, a basic interval in 147). An interval that leaves its
 * estimate out says that the estimate is biased at this number of rows. From 256 dimensions on,
 * where no eigenvalue is below 2e-5 of the largest, replicates find theirs in float32 (lapack.h),
 * which moves none by more than about a hundredth of itself, in two thirds of the time.
 */
#ifndef GS_ANALYSES_GEOMETRY_GEOMETRY_H
#define GS_ANALYSES_GEOMETRY_GEOMETRY_H

#include "analyses/geometry/measures.h"
#include "analyses/stats/bootstrap.h"
#include "analyses/stats/correlation.h"
#include "analyses/stats/moments.h"
#include "analyses/stats/rows.h"
#include "analyses/stats/running.h"
#include "core/base/progress.h"
#include "core/results/results.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gs_geometry_options {
    uint64_t skip_first;   /* rows at the head of each sequence that are left out */
    bool replicates_given; /* else gs_geometry_replicates(dims) */
    size_t replicates;     /* 0: no intervals */
    bool wide_replicates;  /* replicates' eigenvalues in float64 whatever they are, see above */
    uint64_t seed;
    bool product_given; /* else chosen by size, see above */
    enum gs_moments_product product;
    const struct gs_progress *progress; /* NULL: nobody watches */
};

/* Replicates that take seconds at small widths and minutes at the paper's: 1000 up to d = 320, then
 * falling with d³ (an eigenvalue decomposition each) to no fewer than 200. */
size_t gs_geometry_replicates(size_t dims);

/* The mean over the first `place` rows of every sequence, against the mean of all. */
struct gs_running_cosine {
    uint64_t place; /* rows of a sequence, counted from 1 among those used */
    uint64_t rows;  /* rows in that mean */
    double cosine;  /* NaN when either mean is zero */
};

struct gs_geometry {
    size_t dims;
    uint64_t rows, skipped;              /* used; left out at the heads of sequences */
    size_t sequences;                    /* with at least one row used */
    double values[GS_GEOMETRY_MEASURES]; /* NaN where a measure has no meaning */
    struct gs_interval intervals[GS_GEOMETRY_MEASURES];
    double *eigenvalues; /* (dims) largest first; zero when rows < 2 */
    double *deviations;  /* (dims); zero when rows < 2 */
    size_t dead;         /* dimensions with max == min */
    size_t clipped;      /* eigenvalues set to zero (gs_spectrum_clip) */
    struct gs_correlation correlation;
    uint64_t histogram[GS_CORRELATION_BINS];
    struct gs_running batch_cosines; /* pairs of batch means; mean NaN when one is undefined */
    double effective_rows;           /* gs_geometry_effective_rows */
    struct gs_running_cosine *running;
    size_t running_count;
    enum gs_moments_product product;
    size_t blocks, replicates; /* of the bootstrap … */
    bool single;               /* … with eigenvalues in float32 … */
    double *kept;              /* … and each measure in each: (measures, replicates), or NULL */
    uint64_t seed;
};

/* Measure. *geometry is the caller's (gs_geometry_destroy; NULL is fine). GS_RANGE when no row is
 * left, GS_NUMERIC naming row and dimension of a value that is not finite, GS_INTERRUPTED. */
enum gs_status gs_geometry_of_rows(const struct gs_rows *rows,
                                   const struct gs_geometry_options *options,
                                   struct gs_geometry **geometry, struct gs_error *error);
void gs_geometry_destroy(struct gs_geometry *geometry);

/* Why a measure is NaN, or why it has no interval, in words; NULL when it has a value (an
 * interval). */
const char *gs_geometry_reason(const struct gs_geometry *geometry, enum gs_geometry_measure which);
const char *gs_geometry_interval_reason(const struct gs_geometry *geometry,
                                        enum gs_geometry_measure which);

/* Everything as named values, tables (spectrum, spectrum_cumulative, dim_std,
 * running_mean_cosine, corr_histogram), settings and notes. */
enum gs_status gs_geometry_report(const struct gs_geometry *geometry, struct gs_results *results,
                                  struct gs_error *error);

/* The whole for a trace: the stream by name (NULL: the usual one), rows below rows_written. The
 * stream's name and skip_first become settings. */
enum gs_status gs_geometry_of_trace(struct gs_trace *trace, const char *stream,
                                    const struct gs_geometry_options *options,
                                    struct gs_results *results, struct gs_error *error);

/* Every stream of the trace by itself ("stream.<name>.<value>", core/results/side_by_side.h) and
 * the table geometry_by_stream. main: a stream whose values stand under their plain names, too, or
 * NULL. */
enum gs_status gs_geometry_of_streams(struct gs_trace *trace, const char *main,
                                      const struct gs_geometry_options *options,
                                      struct gs_results *results, struct gs_error *error);

#endif
