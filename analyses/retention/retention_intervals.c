#include "analyses/retention/gate_means.h"
#include "analyses/retention/retention.h"
#include "analyses/stats/crossing.h"
#include "core/base/memory.h"

#include <math.h>

/* What of a sequence is not on a curve: for each head Σγ (finite, with the −∞ of forgotten rows
 * counted apart: 0 · ∞ has no value), those, and Σ(1 − α); then the windows at each lag of the
 * grid; then the rows that count. */
enum { LOG_DECAY, FORGOTTEN, LOSS, OF_HEAD };

static size_t rest_columns(const struct gs_retention *r) {
    return OF_HEAD * r->heads + r->grid_count + 1;
}

static void take_rest(const struct gs_retention *r, size_t sequence, double *rest) {
    uint64_t length = r->length[sequence];
    for (size_t h = 0; h < r->heads; h++) {
        struct gs_gate_sums gates = r->gates[sequence * r->heads + h];
        bool forgotten = isinf(gates.log_decay);
        rest[LOG_DECAY] = forgotten ? 0 : gates.log_decay;
        rest[FORGOTTEN] = forgotten ? 1 : 0;
        rest[LOSS] = gates.loss;
        rest += OF_HEAD;
    }
    for (size_t g = 0; g < r->grid_count; g++)
        rest[g] = r->grid[g] < length ? (double)(length - r->grid[g]) : 0;
    rest[r->grid_count] = length ? (double)(length - 1) : 0;
}

/* ---- of one replicate ---- */

/* Sums become means; NaN where there is no window so long. */
static void divide(const struct gs_retention *r, double *curve, const double *windows) {
    for (size_t g = 0; g < r->grid_count; g++)
        curve[g] = windows[g] > 0 ? curve[g] / windows[g] : (double)NAN;
}

static double crossing(const struct gs_retention *r, const double *curve, double threshold) {
    return gs_first_at_or_below(r->grid, curve, r->grid_count, threshold, GS_BETWEEN_LOG, NULL);
}

/* From the totals of curves, curves along the key and the rest. */
static void all_heads(const void *context, double *totals, double *values) {
    const struct gs_retention *r = context;
    size_t curves = r->heads * r->grid_count;
    double *key = totals + curves, *rest = r->has_key ? key + curves : key;
    const double *windows = rest + OF_HEAD * r->heads, steps = windows[r->grid_count];
    for (size_t h = 0; h < r->heads; h++, values += GS_RETENTION_VALUES, rest += OF_HEAD) {
        double *curve = totals + h * r->grid_count;
        divide(r, curve, windows);
        values[GS_RETENTION_EFOLD] = crossing(r, curve, exp(-1));
        values[GS_RETENTION_HALF_LIFE] = crossing(r, curve, 0.5);
        values[GS_RETENTION_KEY_EFOLD] = values[GS_RETENTION_GEOMETRIC] =
            values[GS_RETENTION_ARITHMETIC] = (double)NAN;
        if (r->has_key) {
            divide(r, key + h * r->grid_count, windows);
            values[GS_RETENTION_KEY_EFOLD] = crossing(r, key + h * r->grid_count, exp(-1));
        }
        if (steps <= 0) continue;
        double log_decay = rest[FORGOTTEN] > 0 ? -(double)INFINITY : rest[LOG_DECAY];
        values[GS_RETENTION_GEOMETRIC] = gs_geometric_efold(log_decay, steps);
        values[GS_RETENTION_ARITHMETIC] = gs_arithmetic_efold(rest[LOSS], steps);
    }
}

enum gs_status gs_retention_bootstrap(const struct gs_retention *r,
                                      const struct gs_bootstrap *bootstrap,
                                      struct gs_retention_intervals *intervals, double *kept,
                                      struct gs_error *error) {
    size_t columns = rest_columns(r), curves = r->heads * r->grid_count;
    double *rest = gs_calloc(r->sequences * columns, sizeof *rest);
    struct gs_interval *found = gs_calloc(r->heads * GS_RETENTION_VALUES, sizeof *found);
    struct gs_block_sums parts[] = {
        {r->grid_sums, curves}, {r->grid_key, r->has_key ? curves : 0}, {rest, columns}};
    enum gs_status status =
        rest && found ? GS_OK
                      : gs_fail_memory(error, r->sequences * columns * sizeof *rest, "gates' sums");
    for (size_t s = 0; status == GS_OK && s < r->sequences; s++)
        take_rest(r, s, rest + s * columns);
    if (status == GS_OK)
        status =
            gs_bootstrap_sums(bootstrap, r->sequences, parts, sizeof parts / sizeof *parts,
                              r->heads * GS_RETENTION_VALUES, all_heads, r, found, kept, error);
    for (size_t h = 0; status == GS_OK && h < r->heads; h++) {
        const struct gs_interval *of = found + h * GS_RETENTION_VALUES;
        intervals[h] = (struct gs_retention_intervals){
            of[GS_RETENTION_EFOLD], of[GS_RETENTION_HALF_LIFE], of[GS_RETENTION_KEY_EFOLD],
            of[GS_RETENTION_GEOMETRIC], of[GS_RETENTION_ARITHMETIC]};
    }
    gs_free(found);
    gs_free(rest);
    return status;
}
