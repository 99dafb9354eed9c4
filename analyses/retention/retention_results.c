#include "analyses/retention/retention.h"
#include "analyses/stats/effective.h"
#include "analyses/stats/lags.h"
#include "core/base/memory.h"
#include "core/results/replicates.h"

#include <math.h>
#include <stdio.h>

enum { NAME = 128, TABLE_EVERY = 16, TABLE_PER_OCTAVE = 8 };

struct report {
    const struct gs_retention *retention;
    const char *prefix; /* "" or "null." */
    const char *no_key_reason;
    const struct gs_bootstrap *bootstrap;
    double *kept; /* (heads, GS_RETENTION_VALUES, replicates) where results keep them, else NULL */
    struct gs_results *results;
    struct gs_error *error;
};

static void set_interval(struct gs_value *value, const struct gs_interval *interval) {
    if (!interval->known) return;
    if (isfinite(interval->low) && isfinite(interval->high)) {
        value->has_interval = true;
        value->low = interval->low;
        value->high = interval->high;
    } else if (!value->reason)
        value->reason = "no interval: in part of the resamples it is not reached in the window";
}

/* A curve that falls to 0 or below within one lag has no logarithm there: the e-folding given is
 * the lag before, and that must be said. `curve` NULL: the lag is not read off a curve. */
static const char *limit_reason(const struct gs_retention *x, const double *curve, size_t head,
                                struct gs_lag_value lag) {
    if (!curve || lag.value != floor(lag.value) || !(lag.value < (double)x->max_lag)) return NULL;
    size_t next = 0;
    while (next < x->lag_count && (double)x->lags[next] <= lag.value) next++;
    if (next == x->lag_count || curve[head * x->lag_count + next] > 0) return NULL;
    return "one lag further the mean is 0 or negative: this is the limit";
}

static enum gs_status add_lag(struct report *r, size_t head, size_t which, const char *what,
                              struct gs_lag_value lag, const double *curve,
                              const struct gs_interval *interval, const char *undefined_reason,
                              const char *none_reason) {
    char name[NAME];
    snprintf(name, sizeof name, "%sretention.head.%02zu.%s", r->prefix, head, what);
    struct gs_value value = {
        .value = lag.value, .unit = "token", .n = lag.windows, .status = gs_reach_name(lag.reach)};
    switch (lag.reach) {
    case GS_REACH_OK:
        value.reason = limit_reason(r->retention, curve, head, lag);
        break;
    case GS_REACH_CENSORED:
        value.has_bound = true;
        value.bound = lag.bound;
        value.reason = "not reached at any lag measured: it is above the bound";
        break;
    case GS_REACH_NONE:
        value.reason = none_reason;
        break;
    case GS_REACH_UNDEFINED:
        value.reason = undefined_reason;
        break;
    }
    if (lag.reach == GS_REACH_OK) set_interval(&value, interval);
    size_t count = r->kept ? r->bootstrap->replicates : 0;
    const struct gs_replicates kept = {
        r->kept ? r->kept + (head * GS_RETENTION_VALUES + which) * count : NULL, count,
        r->bootstrap->seed, r->retention->sequences};
    enum gs_status status = gs_results_add(r->results, name, &value, r->error);
    return status == GS_OK ? gs_results_add_replicates(r->results, name, &kept, r->error) : status;
}

static enum gs_status add_head(struct report *r, size_t head,
                               const struct gs_retention_intervals *i) {
    static const char *const short_reason = "no sequence has two rows",
                             *const unit_decay = "alpha is 1 in every row: nothing is forgotten",
                             *const unit_key =
                                 "alpha is 1 and beta 0 in every row: nothing is rewritten";
    const struct gs_retention *x = r->retention;
    const char *key_reason = x->has_key ? short_reason : r->no_key_reason;
    enum gs_status status =
        add_lag(r, head, GS_RETENTION_EFOLD, "efold", gs_retention_efold(x, head), x->retention,
                &i->efold, short_reason, unit_decay);
    if (status == GS_OK)
        status =
            add_lag(r, head, GS_RETENTION_HALF_LIFE, "half_life", gs_retention_half_life(x, head),
                    x->retention, &i->half_life, short_reason, unit_decay);
    if (status == GS_OK)
        status = add_lag(r, head, GS_RETENTION_GEOMETRIC, "geometric_efold",
                         gs_retention_geometric_efold(x, head), NULL, &i->geometric_efold,
                         short_reason, unit_decay);
    if (status == GS_OK)
        status = add_lag(r, head, GS_RETENTION_ARITHMETIC, "arithmetic_efold",
                         gs_retention_arithmetic_efold(x, head), NULL, &i->arithmetic_efold,
                         short_reason, unit_decay);
    if (status == GS_OK)
        status =
            add_lag(r, head, GS_RETENTION_KEY_EFOLD, "key_retention_efold",
                    gs_retention_key_efold(x, head), x->key, &i->key_efold, key_reason, unit_key);
    return status;
}

static enum gs_status add_heads(struct report *r) {
    size_t heads = r->retention->heads, replicates = r->bootstrap->replicates;
    bool keep =
        gs_results_keeps_replicates(r->results) && replicates > 1 && r->retention->sequences > 1;
    struct gs_retention_intervals *intervals = gs_calloc(heads, sizeof *intervals);
    if (keep) r->kept = gs_calloc(heads * GS_RETENTION_VALUES * replicates, sizeof *r->kept);
    enum gs_status status =
        intervals && (!keep || r->kept)
            ? gs_retention_bootstrap(r->retention, r->bootstrap, intervals, r->kept, r->error)
            : gs_fail_memory(r->error, heads * replicates * sizeof *intervals, "intervals");
    for (size_t h = 0; status == GS_OK && h < heads; h++) status = add_head(r, h, &intervals[h]);
    gs_free(r->kept);
    r->kept = NULL;
    gs_free(intervals);
    return status;
}

/* Lag number `index` of those measured. */
static enum gs_status add_table_row(struct report *r, struct gs_table *table, size_t head,
                                    size_t index) {
    const struct gs_retention *x = r->retention;
    size_t place = head * x->lag_count + index;
    struct gs_cell cells[4] = {
        gs_cell_integer((int64_t)head), gs_cell_integer((int64_t)x->lags[index]),
        gs_cell_number(x->retention[place]), gs_cell_number(x->key ? x->key[place] : (double)NAN)};
    return gs_table_row(table, cells, r->error);
}

static enum gs_status add_table(struct report *r, const char *name) {
    static const char *const columns[] = {"head", "lag", "retention", "key_retention"};
    const struct gs_retention *x = r->retention;
    bool every = x->lag_count == x->max_lag;
    size_t count =
        every ? gs_lags_dense(x->max_lag, TABLE_EVERY, TABLE_PER_OCTAVE, NULL) : x->lag_count;
    size_t *lags = gs_calloc(count, sizeof *lags);
    if (!lags) return gs_fail_memory(r->error, count * sizeof *lags, "lags");
    if (every) gs_lags_dense(x->max_lag, TABLE_EVERY, TABLE_PER_OCTAVE, lags);
    struct gs_table *table;
    enum gs_status status = gs_results_table(r->results, name, columns, 4, &table, r->error);
    for (size_t h = 0; status == GS_OK && h < x->heads; h++)
        for (size_t l = 0; status == GS_OK && l < count; l++)
            status = add_table_row(r, table, h, every ? lags[l] - 1 : l);
    gs_free(lags);
    return status;
}

static enum gs_status add_counts(struct report *r) {
    const struct gs_retention *x = r->retention;
    const struct {
        const char *name;
        double value;
        const char *unit;
    } counts[] = {{"rows", (double)x->rows, "row"},
                  {"sequences", (double)x->sequences, "sequence"},
                  {"heads", (double)x->heads, "head"},
                  {"max_lag", (double)x->max_lag, "token"}};
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < 4; i++) {
        char name[NAME];
        snprintf(name, sizeof name, "%sretention.%s", r->prefix, counts[i].name);
        status =
            gs_results_number(r->results, name, counts[i].value, counts[i].unit, x->rows, r->error);
    }
    return status;
}

/* By the steps of each sequence, all rows but its first. */
static enum gs_status add_effective(struct report *r) {
    const struct gs_retention *x = r->retention;
    char name[NAME];
    double *steps = gs_calloc(x->sequences, sizeof *steps);
    if (!steps) return gs_fail_memory(r->error, x->sequences * sizeof *steps, "lengths");
    for (size_t s = 0; s < x->sequences; s++)
        steps[s] = x->length[s] ? (double)(x->length[s] - 1) : 0;
    struct gs_value value = {.value = gs_effective_blocks(steps, 1, x->sequences),
                             .unit = "sequence",
                             .n = x->sequences};
    gs_free(steps);
    if (isnan(value.value)) {
        value.status = "undefined";
        value.reason = "no sequence has two rows";
    }
    snprintf(name, sizeof name, "%sretention.effective_sequences", r->prefix);
    return gs_results_add(r->results, name, &value, r->error);
}

static enum gs_status add_notes(struct report *r) {
    return gs_results_note(
        r->results,
        "efold is the smallest lag at which the mean retention is at or below 1/e (the paper's "
        "half-life); half_life is the same at 1/2. Means are over all rows that have a row so far "
        "behind them in their sequence; n of an efold is how many those are at its lag. Intervals: "
        "whole sequences resampled, which weigh as much as effective_sequences of one length (at "
        "least so many independent observations)",
        r->error);
}

enum gs_status gs_retention_results(const struct gs_retention *retention, bool null,
                                    const char *no_key_reason, const struct gs_bootstrap *bootstrap,
                                    struct gs_results *results, struct gs_error *error) {
    struct report r = {retention, null ? "null." : "", no_key_reason, bootstrap, NULL, results,
                       error};
    enum gs_status status = add_counts(&r);
    if (status == GS_OK) status = add_effective(&r);
    if (status == GS_OK) status = add_heads(&r);
    if (status == GS_OK && !null) status = add_notes(&r);
    if (status == GS_OK) status = add_table(&r, null ? "null.retention" : "retention");
    return status;
}
