#include "analyses/stats/untrained.h"

#include "analyses/stats/basic_interval.h"
#include "core/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME = GS_PART_NAME + 16 };

/* ---- do the traces belong beside each other? ---- */

static bool differ(const char *a, const char *b) {
    return a && b && strcmp(a, b) != 0;
}

enum gs_status gs_untrained_check(const struct gs_trace *trace, const struct gs_trace *untrained,
                                  struct gs_error *error) {
    const struct gs_trace_info *model = gs_trace_info(trace), *null = gs_trace_info(untrained);
    if (model->checkpoint_sha256 && null->checkpoint_sha256 &&
        !differ(model->checkpoint_sha256, null->checkpoint_sha256)) {
        gs_fail(error, GS_CONFIG, "the untrained trace is of the same checkpoint as the trace");
        gs_error_expected(error, "a trace of the model at step 0, on the same text");
        gs_error_found(error, "checkpoint %.12s… in both", null->checkpoint_sha256);
        gs_error_where(error, "--null %s", null->path);
        return GS_CONFIG;
    }
    if (differ(model->source_sha256, null->source_sha256)) {
        gs_fail(error, GS_CONFIG, "the untrained trace is of other text than the trace");
        gs_error_expected(error, "source %.12s…", model->source_sha256);
        gs_error_found(error, "source %.12s…", null->source_sha256);
        gs_error_where(error, "--null %s", null->path);
        gs_error_next(error, "trace the untrained model on the same data");
        return GS_CONFIG;
    }
    return GS_OK;
}

bool gs_untrained_same_rows(const struct gs_trace *trace, const struct gs_trace *untrained) {
    const struct gs_trace_info *a = gs_trace_info(trace), *b = gs_trace_info(untrained);
    return a->sequences == b->sequences &&
           memcmp(a->rows_written, b->rows_written, a->sequences * sizeof *a->rows_written) == 0;
}

/* ---- one value beside the untrained model's ---- */

struct pair {
    struct gs_value trained, untrained;
    struct gs_replicates of_trained, of_untrained;
    bool paired;      /* replicates drew the same blocks */
    char reason[192]; /* why there is no comparison */
};

/* False where X is nothing to compare. */
static bool find_pair(const struct gs_results *results, const char *name, bool same_rows,
                      struct pair *pair) {
    char null[NAME];
    snprintf(null, sizeof null, "null.%s", name);
    *pair = (struct pair){.paired = same_rows};
    if (strncmp(name, "null.", 5) == 0 || !gs_results_find(results, name, &pair->trained) ||
        !gs_results_find(results, null, &pair->untrained) ||
        !gs_results_find_replicates(results, name, &pair->of_trained) ||
        !gs_results_find_replicates(results, null, &pair->of_untrained))
        return false;
    const struct gs_replicates *a = &pair->of_trained, *b = &pair->of_untrained;
    if (a->count < 2 || a->count != b->count || a->seed != b->seed || a->blocks != b->blocks)
        pair->paired = false;
    return true;
}

/* Said of the one that has no value. */
static void say_missing(struct pair *pair) {
    bool trained = !isfinite(pair->trained.value);
    const struct gs_value *value = trained ? &pair->trained : &pair->untrained;
    snprintf(pair->reason, sizeof pair->reason, "the %s value is %s",
             trained ? "trained" : "untrained", value->status ? value->status : "undefined");
}

static double compared(double trained, double untrained, bool ratio) {
    if (!ratio) return trained - untrained;
    return trained > 0 && untrained > 0 ? trained / untrained : (double)NAN;
}

static enum gs_status set_interval(const struct pair *pair, bool ratio, struct gs_value *value,
                                   struct gs_error *error) {
    size_t count = pair->of_trained.count;
    double *values = gs_calloc(count, sizeof *values);
    if (!values) return gs_fail_memory(error, count * sizeof *values, "bootstrap replicates");
    for (size_t r = 0; r < count; r++)
        values[r] = compared(pair->of_trained.values[r], pair->of_untrained.values[r], ratio);
    struct gs_interval percentile = gs_bootstrap_percentile(values, count);
    gs_free(values);
    if (percentile.known && isfinite(percentile.low) && isfinite(percentile.high)) {
        struct gs_interval interval = gs_basic_interval(
            percentile, value->value, ratio ? 0 : -(double)INFINITY, (double)INFINITY);
        value->has_interval = true;
        value->low = interval.low;
        value->high = interval.high;
    } else
        value->reason = "no interval: too many replicates had no value";
    return GS_OK;
}

static enum gs_status compare(struct pair *pair, bool ratio, struct gs_value *value,
                              struct gs_error *error) {
    const struct gs_value *a = &pair->trained, *b = &pair->untrained;
    *value = (struct gs_value){.value = compared(a->value, b->value, ratio),
                               .unit = ratio ? "1" : a->unit,
                               .n = a->n < b->n ? a->n : b->n};
    if (isfinite(value->value))
        return pair->paired ? set_interval(pair, ratio, value, error) : GS_OK;
    if (isfinite(a->value) && isfinite(b->value))
        snprintf(pair->reason, sizeof pair->reason, "a ratio needs two values above 0");
    else
        say_missing(pair);
    value->value = (double)NAN;
    value->status = "undefined";
    value->reason = pair->reason;
    return GS_OK;
}

/* ---- all of them ---- */

static struct gs_cell end_cell(const struct gs_value *value, double end) {
    return gs_cell_number(value->has_interval ? end : (double)NAN);
}

static enum gs_status add_pair(const char *name, struct pair *pair, struct gs_results *compared_to,
                               struct gs_table *table, struct gs_error *error) {
    struct gs_value values[2];
    struct gs_cell cells[9] = {gs_cell_text(name), gs_cell_number(pair->trained.value),
                               gs_cell_number(pair->untrained.value)};
    enum gs_status status = GS_OK;
    for (int i = 0; status == GS_OK && i < 2; i++) {
        char whole[NAME];
        snprintf(whole, sizeof whole, "%s.%s", i ? "difference" : "ratio", name);
        status = compare(pair, !i, &values[i], error);
        if (status == GS_OK) status = gs_results_add(compared_to, whole, &values[i], error);
        cells[3 + 3 * i] = gs_cell_number(values[i].value);
        cells[4 + 3 * i] = end_cell(&values[i], values[i].low);
        cells[5 + 3 * i] = end_cell(&values[i], values[i].high);
    }
    return status == GS_OK ? gs_table_row(table, cells, error) : status;
}

static enum gs_status add_notes(bool same_rows, struct gs_results *results,
                                struct gs_error *error) {
    enum gs_status status = gs_results_note(
        results,
        "null.X is the untrained model's X; ratio.X is trained over untrained, difference.X "
        "trained minus untrained, each with the interval of a paired bootstrap: the same "
        "sequences drawn for both",
        error);
    if (status != GS_OK || same_rows) return status;
    return gs_results_note(results,
                           "the untrained model was not traced on the same rows of the text: part "
                           "of the difference may be the text's, and there are no intervals",
                           error);
}

enum gs_status gs_untrained_compare(struct gs_results *results, bool same_rows,
                                    struct gs_error *error) {
    static const char *const columns[] = {"value",      "trained",        "untrained",
                                          "ratio",      "ratio_low",      "ratio_high",
                                          "difference", "difference_low", "difference_high"};
    struct gs_results *made = gs_results_create(gs_results_command(results));
    if (!made) return gs_fail_memory(error, 0, "results");
    struct gs_table *table;
    enum gs_status status = gs_results_table(made, "against_untrained", columns, 9, &table, error);
    for (size_t i = 0; status == GS_OK && i < gs_results_count(results); i++) {
        struct pair pair;
        const char *name = gs_results_name_at(results, i);
        if (find_pair(results, name, same_rows, &pair))
            status = add_pair(name, &pair, made, table, error);
    }
    if (status == GS_OK) status = gs_results_take_details(results, made, error);
    if (status == GS_OK) status = add_notes(same_rows, results, error);
    gs_results_destroy(made);
    return status;
}

enum gs_status gs_untrained_measured(struct gs_trace *trace, struct gs_trace *untrained,
                                     const struct gs_untrained_measure *how,
                                     struct gs_results *results, struct gs_error *error) {
    enum gs_status status = gs_untrained_check(trace, untrained, error);
    if (status != GS_OK) return status;
    struct gs_results *beside = gs_results_create(gs_results_command(results));
    if (!beside) return gs_fail_memory(error, 0, "results");
    gs_results_keep_replicates(results);
    gs_results_keep_replicates(beside);
    status = how->measure(how->context, trace, false, results, error);
    if (status == GS_OK) status = how->measure(how->context, untrained, true, beside, error);
    if (status == GS_OK) status = gs_results_take_untrained(results, beside, error);
    if (status == GS_OK)
        status = gs_untrained_compare(results, gs_untrained_same_rows(trace, untrained), error);
    gs_results_destroy(beside);
    return status;
}
