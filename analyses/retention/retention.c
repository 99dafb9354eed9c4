#include "analyses/retention/retention.h"

#include "analyses/stats/crossing.h"
#include "core/base/memory.h"

#include <math.h>

const char *gs_reach_name(enum gs_reach reach) {
    static const char *const names[] = {"ok", "censored", "none", "undefined"};
    return names[reach];
}

void gs_retention_destroy(struct gs_retention *r) {
    if (!r) return;
    gs_free(r->lags);
    gs_free(r->windows);
    gs_free(r->retention);
    gs_free(r->key);
    gs_free(r->unit_decay);
    gs_free(r->unit_key);
    gs_free(r->length);
    gs_free(r->gates);
    gs_free(r->grid);
    gs_free(r->grid_sums);
    gs_free(r->grid_key);
    gs_free(r);
}

/* ---- lags read off a curve ---- */

/* The longest lag measured. */
static double reach_of(const struct gs_retention *r) {
    return r->lag_count ? (double)r->lags[r->lag_count - 1] : 0;
}

static struct gs_lag_value without_value(enum gs_reach reach, const struct gs_retention *r) {
    return (struct gs_lag_value){.reach = reach,
                                 .value = (double)NAN,
                                 .bound = reach_of(r),
                                 .windows = r->max_lag ? r->windows[0] : 0};
}

static struct gs_lag_value read_curve(const struct gs_retention *r, const double *curve, bool unit,
                                      double threshold) {
    if (r->max_lag == 0 || !curve) return without_value(GS_REACH_UNDEFINED, r);
    if (unit) return without_value(GS_REACH_NONE, r);
    size_t at;
    double lag = gs_first_at_or_below(r->lags, curve, r->lag_count, threshold, GS_BETWEEN_LOG, &at);
    if (isinf(lag)) return without_value(GS_REACH_CENSORED, r);
    return (struct gs_lag_value){GS_REACH_OK, lag, reach_of(r), r->windows[at]};
}

struct gs_lag_value gs_retention_efold(const struct gs_retention *r, size_t head) {
    return read_curve(r, r->retention + head * r->lag_count, r->unit_decay[head], exp(-1));
}

struct gs_lag_value gs_retention_half_life(const struct gs_retention *r, size_t head) {
    return read_curve(r, r->retention + head * r->lag_count, r->unit_decay[head], 0.5);
}

struct gs_lag_value gs_retention_key_efold(const struct gs_retention *r, size_t head) {
    return read_curve(r, r->key ? r->key + head * r->lag_count : NULL, r->unit_key[head], exp(-1));
}

/* ---- from the gates' means ---- */

static double geometric(double log_decay, double steps) {
    return log_decay == 0 ? (double)INFINITY : -steps / log_decay; /* −∞ gives 0 */
}

static double arithmetic(double loss, double steps) {
    return loss == 0 ? (double)INFINITY : -1 / log1p(-loss / steps); /* log1p(−1) = −∞ gives 0 */
}

static struct gs_gate_sums total_gates(const struct gs_retention *r, size_t head) {
    struct gs_gate_sums total = {0};
    for (size_t s = 0; s < r->sequences; s++) {
        total.log_decay += r->gates[s * r->heads + head].log_decay;
        total.loss += r->gates[s * r->heads + head].loss;
    }
    return total;
}

static struct gs_lag_value of_means(const struct gs_retention *r, double value) {
    if (r->steps == 0) return without_value(GS_REACH_UNDEFINED, r);
    struct gs_lag_value lag = {GS_REACH_OK, value, reach_of(r), r->steps};
    if (isinf(value)) {
        lag.reach = GS_REACH_NONE;
        lag.value = (double)NAN;
    }
    return lag;
}

struct gs_lag_value gs_retention_geometric_efold(const struct gs_retention *r, size_t head) {
    return of_means(r, geometric(total_gates(r, head).log_decay, (double)r->steps));
}

struct gs_lag_value gs_retention_arithmetic_efold(const struct gs_retention *r, size_t head) {
    return of_means(r, arithmetic(total_gates(r, head).loss, (double)r->steps));
}

struct gs_split gs_retention_split(const struct gs_retention *r) {
    const double fast = 3, slow = 5;
    struct gs_split split = {0};
    for (size_t h = 0; h < r->heads; h++) {
        struct gs_lag_value efold = gs_retention_efold(r, h);
        double lag = efold.reach == GS_REACH_NONE       ? (double)INFINITY
                     : efold.reach == GS_REACH_CENSORED ? efold.bound
                                                        : efold.value;
        if (efold.reach == GS_REACH_UNDEFINED || (efold.reach == GS_REACH_CENSORED && lag < slow))
            split.unknown++;
        else if (lag <= fast)
            split.fast++;
        else if (lag >= slow)
            split.slow++;
        else
            split.between++;
    }
    return split;
}

/* ---- intervals ---- */

struct one_head {
    const struct gs_retention *retention;
    size_t head;
};

enum { EFOLD, HALF_LIFE, KEY_EFOLD, GEOMETRIC, ARITHMETIC, VALUES };

/* Mean of the drawn sequences at the grid's lags; NaN where they have no window so long. */
static void weighted_curve(const struct one_head *one, const double *sums, const double *weights,
                           double *curve, double *windows) {
    const struct gs_retention *r = one->retention;
    for (size_t g = 0; g < r->grid_count; g++) curve[g] = windows[g] = 0;
    for (size_t s = 0; s < r->sequences; s++) {
        if (weights[s] == 0) continue;
        const double *mine = sums + (s * r->heads + one->head) * r->grid_count;
        for (size_t g = 0; g < r->grid_count && r->grid[g] < r->length[s]; g++) {
            curve[g] += weights[s] * mine[g];
            windows[g] += weights[s] * (double)(r->length[s] - r->grid[g]);
        }
    }
    for (size_t g = 0; g < r->grid_count; g++)
        curve[g] = windows[g] > 0 ? curve[g] / windows[g] : (double)NAN;
}

static void one_head_statistic(const void *context, const double *weights, size_t blocks,
                               double *values, double *scratch) {
    const struct one_head *one = context;
    const struct gs_retention *r = one->retention;
    double *curve = scratch, *windows = scratch + r->grid_count, steps = 0;
    weighted_curve(one, r->grid_sums, weights, curve, windows);
    values[EFOLD] =
        gs_first_at_or_below(r->grid, curve, r->grid_count, exp(-1), GS_BETWEEN_LOG, NULL);
    values[HALF_LIFE] =
        gs_first_at_or_below(r->grid, curve, r->grid_count, 0.5, GS_BETWEEN_LOG, NULL);
    values[KEY_EFOLD] = (double)NAN;
    if (r->has_key) {
        weighted_curve(one, r->grid_key, weights, curve, windows);
        values[KEY_EFOLD] =
            gs_first_at_or_below(r->grid, curve, r->grid_count, exp(-1), GS_BETWEEN_LOG, NULL);
    }
    struct gs_gate_sums total = {0};
    for (size_t s = 0; s < blocks; s++) {
        if (weights[s] == 0) continue; /* 0 · −∞ */
        total.log_decay += weights[s] * r->gates[s * r->heads + one->head].log_decay;
        total.loss += weights[s] * r->gates[s * r->heads + one->head].loss;
        steps += weights[s] * (double)(r->length[s] ? r->length[s] - 1 : 0);
    }
    values[GEOMETRIC] = steps > 0 ? geometric(total.log_decay, steps) : (double)NAN;
    values[ARITHMETIC] = steps > 0 ? arithmetic(total.loss, steps) : (double)NAN;
}

enum gs_status gs_retention_bootstrap(const struct gs_retention *r, size_t head,
                                      const struct gs_bootstrap *bootstrap,
                                      struct gs_retention_intervals *intervals,
                                      struct gs_error *error) {
    struct one_head one = {r, head};
    struct gs_interval found[VALUES];
    enum gs_status status = gs_bootstrap_run(bootstrap, r->sequences, VALUES, one_head_statistic,
                                             &one, 2 * r->grid_count, found, error);
    if (status != GS_OK) return status;
    *intervals = (struct gs_retention_intervals){found[EFOLD], found[HALF_LIFE], found[KEY_EFOLD],
                                                 found[GEOMETRIC], found[ARITHMETIC]};
    return GS_OK;
}
