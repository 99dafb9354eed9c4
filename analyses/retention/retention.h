/* retention.h - how long a memory head keeps what it holds, from its gates alone.
 *
 *     R_h(k) = mean over t of Π_{τ = t+1 … t+k} α_τ,   α = exp(γ)
 *
 * over all t for which rows t and t + k are both in the sequence; so the gate of a sequence's first
 * row, which acts on an empty memory, counts nowhere (../shared/spec/measurements.md, "Memory
 * retention"). Products of α in float64 are what exp(Σγ) is to within k · 2⁻⁵³, and right for α of
 * exactly 0 and 1 where a difference of sums of logs is not. Along a rewritten key the factor is
 * α − β (rule "gpn") or α (1 − β) ("gated_delta"), its sign kept.
 *
 * At lags 1, 2, 4, … alone a product of 2k factors is made of two of k, in float32: right to within
 * k · 2⁻²³ of itself, and along the key of 1 (α itself has the digits of the stored γ); sums stay
 * float64.
 *
 * Rows are read once, in blocks; memory is O((max_lag + block) · heads), plus per sequence one sum
 * for each head and lag of the grid. Same bits on any number of threads.
 */
#ifndef GS_ANALYSES_RETENTION_RETENTION_H
#define GS_ANALYSES_RETENTION_RETENTION_H

#include "analyses/stats/bootstrap.h"
#include "analyses/stats/rows.h"
#include "core/base/progress.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GS_RETENTION_MAX_LAG = 4096, GS_RETENTION_BLOCK = 256 };

enum gs_transition {
    GS_TRANSITION_UNKNOWN,    /* nothing is said along the key */
    GS_TRANSITION_GPN,        /* α − β */
    GS_TRANSITION_GATED_DELTA /* α (1 − β) */
};

struct gs_retention_plan {
    size_t max_lag; /* longest lag; 0: GS_RETENTION_MAX_LAG. Cut to the longest sequence less one */
    enum gs_transition transition; /* needs strengths */
    bool powers; /* lags 1, 2, 4, … alone, at a fraction of the time: what lies between them is then
                    interpolated, straight in log R */
    size_t block; /* starts worked on at a time; 0: chosen. Moves last bits only */
};

/* Sums over one sequence's gates, its first row left out. */
struct gs_gate_sums {
    double log_decay; /* Σγ, −∞ where an α is 0 */
    double loss;      /* Σ(1 − α), which keeps its digits near α = 1 */
};

/* Heads × lags arrays are row-major. Every lag is measured (lag k stands at index k − 1), or 1, 2,
 * 4, … alone; the grid holds every lag up to 64, then 32 in each doubling, and max_lag, or 1, 2, 4,
 * … */
struct gs_retention {
    size_t sequences, heads;
    uint64_t rows;
    size_t max_lag; /* 0 when no sequence has two rows */
    bool has_key;
    size_t lag_count;
    size_t *lags;      /* (lag_count) ascending */
    uint64_t *windows; /* (lag_count) how many t each lag's mean is over */
    double *retention; /* (heads, lag_count) R_h(k) */
    double *key;       /* the same along the key; NULL unless has_key */
    bool *unit_decay;  /* (heads) α = 1 in every row that counts */
    bool *unit_key;    /* (heads) the factor along the key, too */
    uint64_t steps;    /* rows that count: Σ max(0, T − 1) */
    /* by sequence, for the bootstrap */
    uint64_t *length;           /* (sequences) */
    struct gs_gate_sums *gates; /* (sequences, heads) */
    size_t grid_count;
    size_t *grid;      /* (grid_count) lags, ascending */
    double *grid_sums; /* (sequences, heads, grid_count) Σ_t Π α */
    double *grid_key;  /* the same along the key; NULL unless has_key */
};

/* log_decay: rows of γ ≤ 0 (−∞ is α = 0), one column a head. write_strength: rows of β in [0, 1] of
 * the same shape, or NULL. *retention is the caller's. Errors: those of the rows; GS_NUMERIC when a
 * γ is NaN or above 0, or a β outside [0, 1]; GS_NO_MEMORY; GS_INTERRUPTED. */
enum gs_status gs_retention_measure(const struct gs_rows *log_decay,
                                    const struct gs_rows *write_strength,
                                    const struct gs_retention_plan *plan,
                                    const struct gs_progress *progress,
                                    struct gs_retention **retention, struct gs_error *error);
void gs_retention_destroy(struct gs_retention *retention); /* NULL is fine */

/* A lag read off a curve, or off the gates' means. */
enum gs_reach {
    GS_REACH_OK,
    GS_REACH_CENSORED, /* not reached at any lag measured: value is NaN, bound says how far */
    GS_REACH_NONE,     /* the factor is 1 throughout: it is never reached */
    GS_REACH_UNDEFINED /* no sequence has two rows, or nothing is said along the key */
};
const char *gs_reach_name(enum gs_reach reach); /* "ok", "censored", "none", "undefined" */

struct gs_lag_value {
    enum gs_reach reach;
    double value, bound;
    uint64_t windows; /* observations behind it: of the mean at or below the threshold */
};

/* Smallest k with R_h(k) ≤ 1/e (efold) or ≤ 1/2 (half_life), between k − 1 and k straight in log R,
 * R(0) = 1. Where R(k) ≤ 0 that rule's limit is k − 1. key_efold: the same along the key. */
struct gs_lag_value gs_retention_efold(const struct gs_retention *retention, size_t head);
struct gs_lag_value gs_retention_half_life(const struct gs_retention *retention, size_t head);
struct gs_lag_value gs_retention_key_efold(const struct gs_retention *retention, size_t head);
/* −1/E[γ], and −1/log E[α], which is never the smaller (Jensen). Both 0 where they should be. */
struct gs_lag_value gs_retention_geometric_efold(const struct gs_retention *retention, size_t head);
struct gs_lag_value gs_retention_arithmetic_efold(const struct gs_retention *retention,
                                                  size_t head);

/* 95 % intervals of each head's lag values over sequences: (heads), the caller's. Curves are taken
 * at the grid's lags. A replicate that never crosses is infinite. */
struct gs_retention_intervals {
    struct gs_interval efold, half_life, key_efold, geometric_efold, arithmetic_efold;
};
enum { /* their places */
       GS_RETENTION_EFOLD,
       GS_RETENTION_HALF_LIFE,
       GS_RETENTION_KEY_EFOLD,
       GS_RETENTION_GEOMETRIC,
       GS_RETENTION_ARITHMETIC,
       GS_RETENTION_VALUES
};
/* kept (heads, GS_RETENTION_VALUES in the order above, replicates) as in gs_bootstrap_run. */
enum gs_status gs_retention_bootstrap(const struct gs_retention *retention,
                                      const struct gs_bootstrap *bootstrap,
                                      struct gs_retention_intervals *intervals, double *kept,
                                      struct gs_error *error);

struct gs_results;
/* Values retention.head.NN.… and table retention; those of the untrained model behind "null.". */
enum gs_status gs_retention_results(const struct gs_retention *retention, bool null,
                                    const char *no_key_reason, const struct gs_bootstrap *bootstrap,
                                    struct gs_results *results, struct gs_error *error);

/* The whole for a trace: memory by name (NULL: the usual one); null: the untrained model's trace on
 * the same text, or NULL. Also the mean share of the memory read in each layer's state, where the
 * trace has /read, and whether the heads are two pools (split.…, null.split.…, split/split.h).
 * plan->transition is taken from the file. Beside `null`: ratio.retention.… and difference.…
 * (stats/untrained.h); GS_CONFIG when it is of other text, or the same checkpoint. */
enum gs_status gs_retention_of_trace(struct gs_trace *trace, const char *memory,
                                     struct gs_trace *null, const struct gs_retention_plan *plan,
                                     const struct gs_bootstrap *bootstrap,
                                     const struct gs_progress *progress, struct gs_results *results,
                                     struct gs_error *error);

/* Every memory with log-decays by itself ("memory.<name>.<value>", the untrained model's
 * "null.memory.<name>.<value>", core/results/side_by_side.h), and the tables retention_by_memory
 * (counts of heads) and retention_by_head (memory, head, efold with its interval and status, the
 * other lag values, null_efold and its bound). main: a memory whose values stand under their plain
 * names, too, or NULL. GS_MISSING when there is no such memory, or none with log-decays. */
enum gs_status gs_retention_of_memories(struct gs_trace *trace, const char *main,
                                        struct gs_trace *null, const struct gs_retention_plan *plan,
                                        const struct gs_bootstrap *bootstrap,
                                        const struct gs_progress *progress,
                                        struct gs_results *results, struct gs_error *error);

#endif
