/* horizon.h - how far apart two states may be and still look alike: cosine against lag.
 *
 *     c_k = mean over t of cos(p_t, p_{t+k})
 *
 * over all pairs of one sequence, each pair normalised by itself, vectors of length zero left out
 * and counted (../shared/spec/measurements.md, "State horizon"). Five curves:
 *   raw                    the states as they are
 *   centered_sequence      minus the mean of their own sequence (what the paper plots). For
 *                          independent rows its expectation is −1/(T − 1), not 0, in a sequence of
 *                          T rows: the mean holds a share of every row.
 *   centered_global        minus the mean of all rows
 *   null                   p_t of one sequence against p_{t+k} of another document's
 *   null_centered_global   the same, minus the mean of all rows
 *
 * Accuracy: means in float64, differences in float32 from means in two parts (chosen lags) or in
 * float64 (all lags), vectors stored in float32, a pair's cosine within about 1e-6, sums over pairs
 * in float64 in an order that depends on nothing but the rows. Same bits on any number of threads.
 *
 * Chosen lags: all curves follow from the dots of rows minus the global mean (row_block.h). The
 * rows are read twice, global mean and curves (sequences of more than 2,048 rows four times: also
 * their mean, and as the null's partners). A sequence in which that would cost digits is measured
 * as at all lags: with unit vectors of every centring, read four times. Memory is O((max_lag +
 * block) · width), whatever the number and length of the sequences, plus O(sequences · lags) sums.
 */
#ifndef GS_ANALYSES_HORIZON_HORIZON_H
#define GS_ANALYSES_HORIZON_HORIZON_H

#include "analyses/stats/bootstrap.h"
#include "analyses/stats/rows.h"
#include "core/base/progress.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gs_curve {
    GS_CURVE_RAW,
    GS_CURVE_CENTERED_SEQUENCE,
    GS_CURVE_CENTERED_GLOBAL,
    GS_CURVE_NULL,
    GS_CURVE_NULL_CENTERED_GLOBAL,
    GS_CURVES
};
/* "raw", "centered_sequence", … (static). */
const char *gs_curve_name(enum gs_curve curve);

enum { GS_HORIZON_MAX_LAG = 2048, GS_HORIZON_BLOCK = 128 };

struct gs_horizon_plan {
    size_t max_lag; /* longest lag; 0: GS_HORIZON_MAX_LAG. Cut to the longest sequence less one */
    bool all_lags;  /* every lag, not 1, 2, 4, … */
    uint64_t seed;  /* draws the null's pairs */
    const uint64_t *document; /* (sequences) which document each belongs to; NULL: its own */
    size_t block;             /* rows at a time; 0: chosen. Moves last bits only */
};

/* Bands: means over all pairs of a range of lags, whichever lags the curve is measured at. */
enum gs_band {
    GS_BAND_PLATEAU, /* lags ceil(max_lag / 2) … max_lag */
    GS_BAND_WHOLE,   /* lags 1 … max_lag */
    GS_BANDS
};

struct gs_horizon {
    size_t sequences, width;
    uint64_t rows;
    size_t max_lag; /* 0 when no sequence has two rows: then there are no lags */
    size_t lag_count;
    size_t *lags;   /* (lag_count) ascending */
    size_t columns; /* lag_count + GS_BANDS: what sums and pairs hold for a curve */
    double *sums;   /* (sequences, GS_CURVES, columns) sums of cosines … */
    double *pairs; /* … and how many, whole numbers; row s of the null is the pairs (s, partner) */
    uint64_t zero_vectors[GS_CURVE_NULL]; /* of raw, centered_sequence, centered_global */
    size_t unpaired;                      /* sequences without a partner of another document */
    uint64_t long_enough;                 /* sequences of at least two rows … */
    uint64_t steps;                       /* … and the sum of their lengths less one */
};

/* Measure. *horizon is the caller's, gs_horizon_destroy releases it. Errors: those of the rows;
 * GS_NUMERIC when a row is not finite; GS_NO_MEMORY; GS_INTERRUPTED. */
enum gs_status gs_horizon_measure(const struct gs_rows *rows, const struct gs_horizon_plan *plan,
                                  const struct gs_progress *progress, struct gs_horizon **horizon,
                                  struct gs_error *error);
void gs_horizon_destroy(struct gs_horizon *horizon); /* NULL is fine */

/* The mean cosine of column `column` (a lag's index, or lag_count + band) over all sequences, and
 * the pairs behind it (may be NULL). NaN when there are none. */
double gs_horizon_mean(const struct gs_horizon *horizon, enum gs_curve curve, size_t column,
                       double *pairs);

struct gs_results;
/* Values and tables (cli.md, "horizon"), intervals by `bootstrap` over sequences. */
enum gs_status gs_horizon_results(const struct gs_horizon *horizon,
                                  const struct gs_bootstrap *bootstrap, struct gs_results *results,
                                  struct gs_error *error);

/* The whole for a trace: stream by name (NULL: the usual one), documents from the sequences'
 * names where the file has them. plan->document is not used. */
enum gs_status gs_horizon_of_trace(struct gs_trace *trace, const char *stream,
                                   const struct gs_horizon_plan *plan,
                                   const struct gs_bootstrap *bootstrap,
                                   const struct gs_progress *progress, struct gs_results *results,
                                   struct gs_error *error);

/* Every stream of the trace by itself ("stream.<name>.<value>", core/results/side_by_side.h) and
 * the table horizon_by_stream. main: a stream whose values stand under their plain names, too, or
 * NULL. */
enum gs_status gs_horizon_of_streams(struct gs_trace *trace, const char *main,
                                     const struct gs_horizon_plan *plan,
                                     const struct gs_bootstrap *bootstrap,
                                     const struct gs_progress *progress, struct gs_results *results,
                                     struct gs_error *error);

#endif
