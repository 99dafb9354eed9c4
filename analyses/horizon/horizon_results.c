#include "analyses/horizon/horizon.h"
#include "analyses/stats/crossing.h"
#include "analyses/stats/effective.h"
#include "core/base/memory.h"
#include "core/results/replicates.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { NAME = 128, CENTERED = 2 };

/* What all parts of the results share. */
struct report {
    const struct gs_horizon *horizon;
    const struct gs_bootstrap *bootstrap;
    struct gs_interval *intervals; /* (GS_CURVES, columns) */
    double *kept; /* (GS_CURVES, columns, replicates), where results keep them; else NULL */
    struct gs_results *results;
    struct gs_error *error;
};

static struct gs_value of_interval(double value, const char *unit, double n,
                                   const struct gs_interval *interval) {
    struct gs_value v = {.value = value, .unit = unit, .n = (uint64_t)n};
    if (interval && interval->known && isfinite(interval->low) && isfinite(interval->high)) {
        v.has_interval = true;
        v.low = interval->low;
        v.high = interval->high;
    }
    return v;
}

static const struct gs_interval *interval_of(const struct report *r, enum gs_curve curve,
                                             size_t column) {
    return &r->intervals[(size_t)curve * r->horizon->columns + column];
}

static enum gs_status add_named(struct report *r, enum gs_curve curve, const char *what,
                                const struct gs_value *value) {
    char name[NAME];
    snprintf(name, sizeof name, "horizon.%s.%s", gs_curve_name(curve), what);
    return gs_results_add(r->results, name, value, r->error);
}

/* A value and its replicates (NULL: none were drawn). */
static enum gs_status add_measured(struct report *r, enum gs_curve curve, const char *what,
                                   const struct gs_value *value, const double *replicates) {
    char name[NAME];
    snprintf(name, sizeof name, "horizon.%s.%s", gs_curve_name(curve), what);
    const struct gs_replicates kept = {replicates, replicates ? r->bootstrap->replicates : 0,
                                       r->bootstrap->seed, r->horizon->sequences};
    enum gs_status status = gs_results_add(r->results, name, value, r->error);
    return status == GS_OK ? gs_results_add_replicates(r->results, name, &kept, r->error) : status;
}

static bool keeps(const struct report *r) {
    return gs_results_keeps_replicates(r->results) && r->bootstrap->replicates > 1 &&
           r->horizon->sequences > 1;
}

/* Why a mean over pairs may not exist. */
static const char *no_pairs_reason(const struct report *r, enum gs_curve curve) {
    if (r->horizon->max_lag == 0) return "no sequence has two rows";
    if (curve >= GS_CURVE_NULL && r->horizon->unpaired == r->horizon->sequences)
        return "there are no two sequences of different documents";
    return "no pair of vectors that are not zero has this lag";
}

static enum gs_status add_mean(struct report *r, enum gs_curve curve, size_t column,
                               const char *what) {
    double pairs, mean = gs_horizon_mean(r->horizon, curve, column, &pairs);
    struct gs_value value = of_interval(mean, "1", pairs, interval_of(r, curve, column));
    if (isnan(mean)) {
        value.status = "undefined";
        value.reason = no_pairs_reason(r, curve);
    }
    size_t place = (size_t)curve * r->horizon->columns + column;
    return add_measured(r, curve, what, &value,
                        r->kept ? r->kept + place * r->bootstrap->replicates : NULL);
}

static enum gs_status add_at_lag(struct report *r, enum gs_curve curve, size_t lag) {
    char what[32];
    snprintf(what, sizeof what, "k%zu", lag);
    for (size_t l = 0; l < r->horizon->lag_count; l++)
        if (r->horizon->lags[l] == lag) return add_mean(r, curve, l, what);
    char reason[96];
    snprintf(reason, sizeof reason, "the longest lag measured is %zu", r->horizon->max_lag);
    struct gs_value value = {
        .value = (double)NAN, .unit = "1", .status = "undefined", .reason = reason};
    return add_named(r, curve, what, &value);
}

/* ---- crossings ---- */

static double crossing(const struct gs_horizon *h, const double *curve, bool efold) {
    return efold ? gs_first_at_or_below(h->lags, curve, h->lag_count, exp(-1), GS_BETWEEN_LOG, NULL)
                 : gs_first_at_or_below(h->lags, curve, h->lag_count, 0, GS_BETWEEN_LINEAR, NULL);
}

/* values: efold and zero crossing of both centred curves; scratch: a curve and its pairs. */
static void crossings_statistic(const void *context, const double *weights, size_t blocks,
                                double *values, double *scratch) {
    const struct gs_horizon *h = context;
    for (size_t c = 0; c < CENTERED; c++) {
        double *curve = scratch, *pairs = scratch + h->lag_count;
        for (size_t l = 0; l < h->lag_count; l++) curve[l] = pairs[l] = 0;
        for (size_t b = 0; b < blocks; b++) {
            size_t place = (b * GS_CURVES + GS_CURVE_CENTERED_SEQUENCE + c) * h->columns;
            if (weights[b] == 0) continue;
            for (size_t l = 0; l < h->lag_count; l++) {
                curve[l] += weights[b] * h->sums[place + l];
                pairs[l] += weights[b] * h->pairs[place + l];
            }
        }
        for (size_t l = 0; l < h->lag_count; l++)
            curve[l] = pairs[l] > 0 ? curve[l] / pairs[l] : (double)NAN;
        values[2 * c] = crossing(h, curve, true);
        values[2 * c + 1] = crossing(h, curve, false);
    }
}

static enum gs_status add_crossing(struct report *r, enum gs_curve curve, bool efold,
                                   const struct gs_interval *interval, const double *replicates) {
    const struct gs_horizon *h = r->horizon;
    double *means = gs_calloc(h->lag_count, sizeof *means), pairs = 0;
    if (!means) return gs_fail_memory(r->error, h->lag_count * sizeof *means, "a curve");
    for (size_t l = 0; l < h->lag_count; l++) means[l] = gs_horizon_mean(h, curve, l, NULL);
    double lag = crossing(h, means, efold);
    gs_free(means);
    if (h->lag_count) gs_horizon_mean(h, curve, 0, &pairs);
    struct gs_value value = of_interval(lag, "token", pairs, interval);
    if (pairs == 0) {
        value.value = (double)NAN;
        value.status = "undefined";
        value.reason = no_pairs_reason(r, curve);
    } else if (isinf(lag)) {
        value.value = (double)NAN;
        value.status = "censored";
        value.has_bound = true;
        value.bound = (double)h->max_lag;
        value.reason = "not reached at any lag that was measured";
    } else if (!value.has_interval && interval->known)
        value.reason = "no interval: in part of the resamples it is not reached at all";
    return add_measured(r, curve, efold ? "efold" : "zero_crossing", &value, replicates);
}

static enum gs_status add_crossings(struct report *r) {
    struct gs_interval intervals[2 * CENTERED];
    size_t replicates = r->bootstrap->replicates;
    double *kept = keeps(r) ? gs_calloc(2 * CENTERED * replicates, sizeof *kept) : NULL;
    if (keeps(r) && !kept)
        return gs_fail_memory(r->error, 2 * CENTERED * replicates * sizeof *kept, "replicates");
    enum gs_status status =
        gs_bootstrap_run(r->bootstrap, r->horizon->sequences, 2 * CENTERED, crossings_statistic,
                         r->horizon, 2 * r->horizon->lag_count, intervals, kept, r->error);
    for (size_t c = 0; status == GS_OK && c < 2 * CENTERED; c++)
        status = add_crossing(r, (enum gs_curve)(GS_CURVE_CENTERED_SEQUENCE + c / 2), c % 2 == 0,
                              &intervals[c], kept ? kept + c * replicates : NULL);
    gs_free(kept);
    return status;
}

/* ---- values ---- */

static enum gs_status add_counts(struct report *r) {
    const struct gs_horizon *h = r->horizon;
    double pairs = 0;
    if (h->max_lag) gs_horizon_mean(h, GS_CURVE_RAW, h->lag_count + GS_BAND_WHOLE, &pairs);
    const struct {
        const char *name;
        double value;
        const char *unit;
    } counts[] = {
        {"horizon.rows", (double)h->rows, "row"},
        {"horizon.sequences", (double)h->sequences, "sequence"},
        {"horizon.max_lag", (double)h->max_lag, "token"},
        {"horizon.pairs", pairs, "pair"},
        {"horizon.zero_vectors", (double)h->zero_vectors[GS_CURVE_RAW], "row"},
        {"horizon.zero_vectors.centered_sequence",
         (double)h->zero_vectors[GS_CURVE_CENTERED_SEQUENCE], "row"},
        {"horizon.zero_vectors.centered_global", (double)h->zero_vectors[GS_CURVE_CENTERED_GLOBAL],
         "row"},
    };
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < sizeof counts / sizeof *counts; i++)
        status = gs_results_number(r->results, counts[i].name, counts[i].value, counts[i].unit,
                                   h->rows, r->error);
    return status;
}

static enum gs_status add_curve_values(struct report *r) {
    enum gs_status status = GS_OK;
    for (size_t c = 0; status == GS_OK && c < GS_CURVES; c++) {
        enum gs_curve curve = (enum gs_curve)c;
        if (curve < GS_CURVE_NULL) {
            status = add_at_lag(r, curve, 1);
            if (status == GS_OK) status = add_at_lag(r, curve, 256);
        } else
            status = add_mean(r, curve, r->horizon->lag_count + GS_BAND_WHOLE, "mean");
        if (status == GS_OK)
            status = add_mean(r, curve, r->horizon->lag_count + GS_BAND_PLATEAU, "plateau");
    }
    return status;
}

/* By the pairs of each sequence, at all lags. */
static enum gs_status add_effective(struct report *r) {
    const struct gs_horizon *h = r->horizon;
    size_t whole = GS_CURVE_RAW * h->columns + h->lag_count + GS_BAND_WHOLE;
    struct gs_value value = {.value = (double)NAN, .unit = "sequence", .n = h->sequences};
    if (h->max_lag)
        value.value = gs_effective_blocks(h->pairs + whole, GS_CURVES * h->columns, h->sequences);
    if (isnan(value.value)) {
        value.status = "undefined";
        value.reason = no_pairs_reason(r, GS_CURVE_RAW);
    }
    return gs_results_add(r->results, "horizon.effective_sequences", &value, r->error);
}

/* −1/(T − 1) for every pair at lag 1 of a sequence of T rows, averaged over such pairs. */
static enum gs_status add_independent(struct report *r) {
    const struct gs_horizon *h = r->horizon;
    struct gs_value value = {.unit = "1", .n = h->steps};
    value.value = h->steps ? -(double)h->long_enough / (double)h->steps : (double)NAN;
    if (!h->steps) {
        value.status = "undefined";
        value.reason = "no sequence has two rows";
    }
    return add_named(r, GS_CURVE_CENTERED_SEQUENCE, "independent", &value);
}

static enum gs_status add_notes(struct report *r) {
    const struct gs_horizon *h = r->horizon;
    char note[512];
    size_t half = h->max_lag - h->max_lag / 2;
    snprintf(note, sizeof note,
             "plateau: mean cosine over all pairs with lags %zu to %zu, every lag counted; null "
             "mean: over lags 1 to %zu",
             half, h->max_lag, h->max_lag);
    enum gs_status status = gs_results_note(r->results, note, r->error);
    if (status != GS_OK) return status;
    status = gs_results_note(
        r->results,
        "centered_sequence is biased negative, most at long lags: the sequence's own mean holds a "
        "share of every row. Independent rows would give -1/(T - 1) at every lag in a sequence of "
        "T rows (horizon.centered_sequence.independent: the mean of that at lag 1)",
        r->error);
    if (status != GS_OK) return status;
    status = gs_results_note(
        r->results,
        "null: row t of one sequence against row t + k of another document's, partners drawn by "
        "the seed; intervals: whole sequences resampled, which weigh as much as "
        "effective_sequences "
        "of one length (at least so many independent observations)",
        r->error);
    if (status != GS_OK || h->unpaired == 0) return status;
    snprintf(note, sizeof note, "%zu of %zu sequences had no partner of another document",
             h->unpaired, h->sequences);
    return gs_results_note(r->results, note, r->error);
}

/* ---- tables ---- */

static enum gs_status add_curve_table(struct report *r) {
    static const char *const columns[] = {"lag",  "raw",  "centered_sequence", "centered_global",
                                          "null", "pairs"};
    const struct gs_horizon *h = r->horizon;
    struct gs_table *table;
    enum gs_status status = gs_results_table(r->results, "horizon", columns, 6, &table, r->error);
    for (size_t l = 0; status == GS_OK && l < h->lag_count; l++) {
        double pairs;
        struct gs_cell cells[6] = {gs_cell_integer((int64_t)h->lags[l])};
        for (size_t c = 0; c <= GS_CURVE_NULL; c++)
            cells[1 + c] = gs_cell_number(gs_horizon_mean(h, (enum gs_curve)c, l, NULL));
        gs_horizon_mean(h, GS_CURVE_RAW, l, &pairs);
        cells[5] = gs_cell_integer((int64_t)pairs);
        status = gs_table_row(table, cells, r->error);
    }
    return status;
}

/* For each curve its value, interval and pairs: the table of curves says pairs of raw alone. */
static enum gs_status add_interval_table(struct report *r) {
    static const char *const suffixes[] = {"", "_low", "_high", "_pairs"};
    enum { PARTS = 4, COLUMNS = 1 + PARTS * GS_CURVES };
    const struct gs_horizon *h = r->horizon;
    char names[COLUMNS][NAME] = {"lag"};
    const char *columns[COLUMNS] = {names[0]};
    for (size_t c = 0; c < GS_CURVES; c++)
        for (size_t p = 0; p < PARTS; p++) {
            size_t at = 1 + c * PARTS + p;
            snprintf(names[at], NAME, "%s%s", gs_curve_name((enum gs_curve)c), suffixes[p]);
            columns[at] = names[at];
        }
    struct gs_table *table;
    enum gs_status status =
        gs_results_table(r->results, "horizon_interval", columns, COLUMNS, &table, r->error);
    for (size_t l = 0; status == GS_OK && l < h->lag_count; l++) {
        struct gs_cell cells[COLUMNS] = {gs_cell_integer((int64_t)h->lags[l])};
        for (size_t c = 0; c < GS_CURVES; c++) {
            double pairs, mean = gs_horizon_mean(h, (enum gs_curve)c, l, &pairs);
            const struct gs_interval *interval = interval_of(r, (enum gs_curve)c, l);
            struct gs_cell *cell = &cells[1 + c * PARTS];
            cell[0] = gs_cell_number(mean);
            cell[1] = gs_cell_number(interval->low);
            cell[2] = gs_cell_number(interval->high);
            cell[3] = gs_cell_integer((int64_t)pairs);
        }
        status = gs_table_row(table, cells, r->error);
    }
    return status;
}

enum gs_status gs_horizon_results(const struct gs_horizon *horizon,
                                  const struct gs_bootstrap *bootstrap, struct gs_results *results,
                                  struct gs_error *error) {
    size_t columns = GS_CURVES * horizon->columns;
    struct report r = {horizon, bootstrap, NULL, NULL, results, error};
    r.intervals = gs_calloc(columns, sizeof *r.intervals);
    if (!r.intervals) return gs_fail_memory(error, columns * sizeof *r.intervals, "intervals");
    if (keeps(&r)) r.kept = gs_calloc(columns * bootstrap->replicates, sizeof *r.kept);
    enum gs_status status =
        keeps(&r) && !r.kept
            ? gs_fail_memory(error, columns * bootstrap->replicates * sizeof *r.kept, "replicates")
            : gs_bootstrap_ratio(bootstrap, horizon->sequences, columns, horizon->sums,
                                 horizon->pairs, r.intervals, r.kept, error);
    if (status == GS_OK) status = add_counts(&r);
    if (status == GS_OK) status = add_effective(&r);
    if (status == GS_OK) status = add_curve_values(&r);
    if (status == GS_OK) status = add_independent(&r);
    if (status == GS_OK) status = add_crossings(&r);
    if (status == GS_OK) status = add_notes(&r);
    if (status == GS_OK) status = add_curve_table(&r);
    if (status == GS_OK) status = add_interval_table(&r);
    gs_free(r.kept);
    gs_free(r.intervals);
    return status;
}
