#include "analyses/retention/doubling.h"
#include "analyses/retention/factors.h"
#include "analyses/retention/retention.h"
#include "analyses/stats/lags.h"
#include "core/base/memory.h"

#include <math.h>
#include <string.h>

enum { GRID_EVERY = 64, GRID_PER_OCTAVE = 32 };

static bool allocate_curves(struct gs_retention *r, size_t curve, size_t sums) {
    r->lags = gs_calloc(r->lag_count, sizeof *r->lags);
    r->windows = gs_calloc(r->lag_count, sizeof *r->windows);
    r->retention = gs_calloc(curve, sizeof *r->retention);
    r->unit_decay = gs_calloc(r->heads, sizeof *r->unit_decay);
    r->unit_key = gs_calloc(r->heads, sizeof *r->unit_key);
    r->length = gs_calloc(r->sequences, sizeof *r->length);
    r->gates = gs_calloc(r->sequences * r->heads, sizeof *r->gates);
    r->grid = gs_calloc(r->grid_count, sizeof *r->grid);
    r->grid_sums = gs_calloc(sums, sizeof *r->grid_sums);
    bool good = r->lags && r->windows && r->retention && r->unit_decay && r->unit_key &&
                r->length && r->gates && r->grid && r->grid_sums;
    if (!r->has_key) return good;
    r->key = gs_calloc(curve, sizeof *r->key);
    r->grid_key = gs_calloc(sums, sizeof *r->grid_key);
    return good && r->key && r->grid_key;
}

static void count_windows(struct gs_retention *r) {
    for (size_t s = 0; s < r->sequences; s++) {
        uint64_t last = r->length[s] ? r->length[s] - 1 : 0;
        r->steps += last;
        for (size_t l = 0; l < r->lag_count && r->lags[l] <= last; l++)
            r->windows[l] += r->length[s] - r->lags[l];
    }
}

static enum gs_status create_retention(const struct gs_rows *rows,
                                       const struct gs_retention_plan *plan, bool has_key,
                                       struct gs_retention **retention, struct gs_error *error) {
    struct gs_retention *r = gs_calloc(1, sizeof *r);
    if (!r) return gs_fail_memory(error, sizeof *r, "a retention");
    *retention = r;
    r->sequences = rows->sequences;
    r->heads = rows->width;
    r->rows = gs_rows_total(rows);
    r->has_key = has_key;
    uint64_t longest = gs_rows_longest(rows);
    r->max_lag = plan->max_lag ? plan->max_lag : GS_RETENTION_MAX_LAG;
    if (longest == 0 || r->max_lag > longest - 1) r->max_lag = longest ? (size_t)longest - 1 : 0;
    r->lag_count = plan->powers ? gs_lags_powers(r->max_lag, NULL) : r->max_lag;
    r->grid_count =
        plan->powers ? r->lag_count : gs_lags_dense(r->max_lag, GRID_EVERY, GRID_PER_OCTAVE, NULL);
    size_t curve, sums;
    if (!gs_multiply(r->heads, r->lag_count, &curve)) curve = SIZE_MAX;
    if (!gs_multiply(r->sequences, r->heads, &sums) || !gs_multiply(sums, r->grid_count, &sums))
        sums = SIZE_MAX;
    if (!allocate_curves(r, curve, sums))
        return gs_fail_memory(error, sums > SIZE_MAX / 16 ? SIZE_MAX : sums * 16,
                              "sums for each sequence, head and lag");
    if (plan->powers) {
        gs_lags_powers(r->max_lag, r->lags);
        gs_lags_powers(r->max_lag, r->grid);
    } else {
        gs_lags_all(r->max_lag, r->lags);
        gs_lags_dense(r->max_lag, GRID_EVERY, GRID_PER_OCTAVE, r->grid);
    }
    for (size_t s = 0; s < r->sequences; s++) r->length[s] = rows->length[s];
    for (size_t h = 0; h < r->heads; h++) r->unit_decay[h] = r->unit_key[h] = true;
    count_windows(r);
    return GS_OK;
}

/* One sequence's sums at every lag: kept at the grid's lags, added to the total at all. */
static void take_curve(const struct gs_retention *r, size_t sequence, const double *curve,
                       double *grid, double *total) {
    for (size_t h = 0; h < r->heads; h++) {
        const double *sums = curve + h * r->lag_count;
        double *kept = grid + (sequence * r->heads + h) * r->grid_count;
        for (size_t g = 0; g < r->grid_count; g++) kept[g] = sums[r->grid[g] - 1];
        for (size_t l = 0; l < r->lag_count; l++) total[h * r->lag_count + l] += sums[l];
    }
}

static void take_gates(struct gs_retention *r, size_t sequence, const struct gs_factors *factors) {
    for (size_t h = 0; h < r->heads; h++) {
        r->gates[sequence * r->heads + h] = factors->gates[h];
        r->unit_decay[h] = r->unit_decay[h] && factors->unit_decay[h];
        r->unit_key[h] = r->unit_key[h] && factors->unit_key[h];
    }
}

static enum gs_status measure_sequence(struct gs_retention *r, size_t sequence,
                                       struct gs_factors *factors, double *curve, double *key,
                                       struct gs_error *error) {
    size_t numbers = r->heads * r->lag_count;
    memset(curve, 0, numbers * sizeof *curve);
    memset(key, 0, (r->has_key ? numbers : 0) * sizeof *key);
    enum gs_status status = gs_factors_start(factors, sequence, error);
    while (status == GS_OK && factors->starts > 0) {
        gs_factors_add_products(factors, factors->decay, r->lag_count, curve);
        if (r->has_key) gs_factors_add_products(factors, factors->key, r->lag_count, key);
        status = gs_factors_next(factors, error);
    }
    if (status != GS_OK) return status;
    take_curve(r, sequence, curve, r->grid_sums, r->retention);
    if (r->has_key) take_curve(r, sequence, key, r->grid_key, r->key);
    take_gates(r, sequence, factors);
    return GS_OK;
}

static void divide_by_windows(const struct gs_retention *r, double *curve) {
    for (size_t h = 0; h < r->heads; h++)
        for (size_t l = 0; l < r->lag_count; l++)
            curve[h * r->lag_count + l] /= (double)r->windows[l];
}

static enum gs_status measure_all(struct gs_retention *r, struct gs_factors *factors,
                                  const struct gs_progress *progress, struct gs_error *error) {
    size_t numbers = r->heads * r->lag_count;
    double *curve = gs_calloc(numbers, sizeof *curve);
    double *key = gs_calloc(r->has_key ? numbers : 0, sizeof *key);
    enum gs_status status =
        curve && key ? GS_OK
                     : gs_fail_memory(error, 2 * numbers * sizeof *curve, "curves of one sequence");
    uint64_t done = 0;
    for (size_t s = 0; status == GS_OK && s < r->sequences; s++) {
        status = measure_sequence(r, s, factors, curve, key, error);
        gs_progress_report(progress, (double)(done += r->length[s]), (double)r->rows, NULL);
        if (status == GS_OK && gs_progress_stop(progress))
            status = gs_fail(error, GS_INTERRUPTED, "stopped on request");
    }
    gs_free(key);
    gs_free(curve);
    return status;
}

/* Every lag: a window of factors moves over each sequence. */
static enum gs_status measure_every_lag(struct gs_retention *r, const struct gs_rows *log_decay,
                                        const struct gs_rows *write_strength,
                                        const struct gs_retention_plan *plan,
                                        const struct gs_progress *progress,
                                        struct gs_error *error) {
    struct gs_factors factors = {0};
    enum gs_status status =
        gs_factors_create(&factors, log_decay, write_strength, plan->transition, r->max_lag,
                          plan->block ? plan->block : GS_RETENTION_BLOCK, error);
    if (status == GS_OK) status = measure_all(r, &factors, progress, error);
    gs_factors_release(&factors);
    return status;
}

enum gs_status gs_retention_measure(const struct gs_rows *log_decay,
                                    const struct gs_rows *write_strength,
                                    const struct gs_retention_plan *plan,
                                    const struct gs_progress *progress,
                                    struct gs_retention **retention, struct gs_error *error) {
    *retention = NULL;
    bool has_key = write_strength && plan->transition != GS_TRANSITION_UNKNOWN;
    struct gs_retention *r = NULL;
    const struct gs_rows *strength = has_key ? write_strength : NULL;
    enum gs_status status = create_retention(log_decay, plan, has_key, &r, error);
    if (status == GS_OK)
        status = plan->powers ? gs_retention_by_doubling(r, log_decay, strength, plan->transition,
                                                         plan->block, progress, error)
                              : measure_every_lag(r, log_decay, strength, plan, progress, error);
    if (status == GS_OK) {
        divide_by_windows(r, r->retention);
        if (r->has_key) divide_by_windows(r, r->key);
    }
    if (status == GS_OK)
        *retention = r;
    else
        gs_retention_destroy(r);
    return status;
}
