/* factors.h - a window of one sequence's factors (α, and what stands along the key), head by head,
 * and their running products. Inside retention only. */
#ifndef GS_ANALYSES_RETENTION_FACTORS_H
#define GS_ANALYSES_RETENTION_FACTORS_H

#include "analyses/retention/retention.h"

struct gs_factors {
    const struct gs_rows *log_decay,
        *write_strength; /* the second NULL: no factors along the key */
    enum gs_transition transition;
    size_t heads, max_lag, block, capacity;
    /* the window: factors of rows first + 1 … first + held of the sequence; starts t = first …
     * first + starts − 1 have theirs for every lag in reach. starts 0: the sequence is done */
    size_t sequence;
    uint64_t first, length;
    size_t held, starts;
    double *decay, *key; /* (heads, capacity) */
    float *raw[2];       /* (block, heads) rows as read: γ, β */
    double *product;     /* (heads, block) */
    /* the sequence so far, without its first row */
    struct gs_gate_sums *gates;  /* (heads) */
    bool *unit_decay, *unit_key; /* (heads) every factor is 1 */
};

/* For lags up to max_lag, `block` starts at a time. The rows must outlive it. GS_NO_MEMORY; release
 * also after failure. */
enum gs_status gs_factors_create(struct gs_factors *factors, const struct gs_rows *log_decay,
                                 const struct gs_rows *write_strength,
                                 enum gs_transition transition, size_t max_lag, size_t block,
                                 struct gs_error *error);
void gs_factors_release(struct gs_factors *factors);

/* The first window of a sequence; the next one. Errors of the rows, GS_NUMERIC. */
enum gs_status gs_factors_start(struct gs_factors *factors, size_t sequence,
                                struct gs_error *error);
enum gs_status gs_factors_next(struct gs_factors *factors, struct gs_error *error);

/* curve[h · lags + l] += Σ over the window's starts t of Π_{τ = t+1 … t+k} of the factors (`decay`
 * or `key`), k being lag l of `lags`, as far as the sequence goes. Products below 1e-250 are taken
 * as 0.
 */
void gs_factors_add_products(struct gs_factors *factors, double *values, size_t lags,
                             double *curve);

#endif
