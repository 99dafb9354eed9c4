/* measures.h - the list of the geometry's measures: what exists, its name and its natural range. */
#ifndef GS_ANALYSES_GEOMETRY_MEASURES_H
#define GS_ANALYSES_GEOMETRY_MEASURES_H

#include <math.h>

/* entry(id, name, unit, low, high): low and high bound every possible value; intervals are cut to
 * them. Exactly (p is a state, s̄ the mean of all rows used, C the covariance with divisor n − 1, λ
 * its eigenvalues):
 *   state_norm.mean .std         mean and sample deviation of ‖p‖
 *   mean_norm                    ‖s̄‖
 *   mean_norm_ratio mean_energy  ‖s̄‖ / mean ‖p‖,  ‖s̄‖² / mean ‖p‖²
 *   dim_std.min .max .mean       over the sample deviations of all dimensions, dead ones (0) too
 *   corr.mean_abs .max_abs       |correlation| over all pairs of dimensions that vary
 *   pcs_50 pcs_90 pcs_99         fewest components with that share of Σλ
 *   stable_rank.centered         Σλ / λ₁
 *   stable_rank.uncentered       the same for the second moment about 0, Σ ppᵀ / n
 *   participation_ratio          (Σλ)² / Σλ²
 *   participation_ratio.corrected   see gs_spectrum_participation_corrected
 *   effective_rank               exp of the entropy of √λ / Σ√λ
 *   participation_ratio.share    the participation ratio over the number of dimensions
 *   mean_over_first_component    ‖s̄‖² / λ₁: the mean's energy over that of the first component
 *   running_mean_cosine.t10 .t100   cosine of s̄ with the mean of the first 10 (100) rows of every
 *                                sequence */
/* clang-format off */
#define GS_GEOMETRY_LIST(entry) \
    entry(STATE_NORM_MEAN, "state_norm.mean", "1", 0, INFINITY) \
    entry(STATE_NORM_STD, "state_norm.std", "1", 0, INFINITY) \
    entry(MEAN_NORM, "mean_norm", "1", 0, INFINITY) \
    entry(MEAN_NORM_RATIO, "mean_norm_ratio", "1", 0, 1) \
    entry(MEAN_ENERGY, "mean_energy", "1", 0, 1) \
    entry(DIM_STD_MIN, "dim_std.min", "1", 0, INFINITY) \
    entry(DIM_STD_MAX, "dim_std.max", "1", 0, INFINITY) \
    entry(DIM_STD_MEAN, "dim_std.mean", "1", 0, INFINITY) \
    entry(CORR_MEAN_ABS, "corr.mean_abs", "1", 0, 1) \
    entry(CORR_MAX_ABS, "corr.max_abs", "1", 0, 1) \
    entry(PCS_50, "pcs_50", "component", 1, INFINITY) \
    entry(PCS_90, "pcs_90", "component", 1, INFINITY) \
    entry(PCS_99, "pcs_99", "component", 1, INFINITY) \
    entry(STABLE_RANK_CENTERED, "stable_rank.centered", "1", 1, INFINITY) \
    entry(STABLE_RANK_UNCENTERED, "stable_rank.uncentered", "1", 1, INFINITY) \
    entry(PARTICIPATION, "participation_ratio", "1", 1, INFINITY) \
    entry(PARTICIPATION_CORRECTED, "participation_ratio.corrected", "1", 1, INFINITY) \
    entry(EFFECTIVE_RANK, "effective_rank", "1", 1, INFINITY) \
    entry(PARTICIPATION_SHARE, "participation_ratio.share", "1", 0, INFINITY) \
    entry(MEAN_OVER_FIRST, "mean_over_first_component", "1", 0, INFINITY) \
    entry(RUNNING_T10, "running_mean_cosine.t10", "1", -1, 1) \
    entry(RUNNING_T100, "running_mean_cosine.t100", "1", -1, 1)
/* clang-format on */

#define GS_GEOMETRY_ENUM(id, name, unit, low, high) GS_GEOMETRY_##id,
enum gs_geometry_measure { GS_GEOMETRY_LIST(GS_GEOMETRY_ENUM) GS_GEOMETRY_MEASURES };
#undef GS_GEOMETRY_ENUM

/* The running means that are measures of their own: the first so many rows of every sequence. */
enum { GS_GEOMETRY_PREFIXES = 2 };
static const unsigned long gs_geometry_prefix_rows[GS_GEOMETRY_PREFIXES] = {10, 100};

#endif
