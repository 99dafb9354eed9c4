#include "analyses/retention/retention.h"

#include "analyses/retention/gate_means.h"
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

double gs_geometric_efold(double log_decay, double steps) {
    return log_decay == 0 ? (double)INFINITY : -steps / log_decay; /* −∞ gives 0 */
}

double gs_arithmetic_efold(double loss, double steps) {
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
    return of_means(r, gs_geometric_efold(total_gates(r, head).log_decay, (double)r->steps));
}

struct gs_lag_value gs_retention_arithmetic_efold(const struct gs_retention *r, size_t head) {
    return of_means(r, gs_arithmetic_efold(total_gates(r, head).loss, (double)r->steps));
}
