#include "analyses/geometry/geometry.h"
#include "core/results/replicates.h"

#include <math.h>
#include <stdio.h>

static const struct {
    const char *name, *unit;
} words[GS_GEOMETRY_MEASURES] = {
#define WORDS(id, name, unit, low, high) {name, unit},
    GS_GEOMETRY_LIST(WORDS)
#undef WORDS
};

static enum gs_status add_measures(const struct gs_geometry *g, struct gs_results *results,
                                   struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (int i = 0; status == GS_OK && i < GS_GEOMETRY_MEASURES; i++) {
        enum gs_geometry_measure which = (enum gs_geometry_measure)i;
        const char *reason = gs_geometry_reason(g, which);
        struct gs_value value = {.value = g->values[i],
                                 .unit = words[i].unit,
                                 .n = g->rows,
                                 .has_interval = g->intervals[i].known,
                                 .low = g->intervals[i].low,
                                 .high = g->intervals[i].high,
                                 .status = reason ? "undefined" : "ok"};
        /* Intervals that nobody asked for are not missed. */
        if (!reason && g->replicates > 0) reason = gs_geometry_interval_reason(g, which);
        value.reason = reason;
        status = gs_results_add(results, words[i].name, &value, error);
        const struct gs_replicates replicates = {g->kept ? g->kept + (size_t)i * g->replicates
                                                         : NULL,
                                                 g->kept ? g->replicates : 0, g->seed, g->blocks};
        if (status == GS_OK)
            status = gs_results_add_replicates(results, words[i].name, &replicates, error);
    }
    return status;
}

static enum gs_status add_one(struct gs_results *results, const char *name, double number,
                              const char *unit, uint64_t n, const char *reason,
                              struct gs_error *error) {
    struct gs_value value = {.value = number,
                             .unit = unit,
                             .n = n,
                             .status = isnan(number) ? "undefined" : "ok",
                             .reason = isnan(number) ? reason : NULL};
    return gs_results_add(results, name, &value, error);
}

static enum gs_status add_counts(const struct gs_geometry *g, struct gs_results *results,
                                 struct gs_error *error) {
    const struct {
        const char *name, *unit;
        double number;
    } counts[] = {{"rows", "row", (double)g->rows},
                  {"dims", "dimension", (double)g->dims},
                  {"sequences", "sequence", (double)g->sequences},
                  {"dead_dims", "dimension", (double)g->dead},
                  {"eigenvalues_clipped", "eigenvalue", (double)g->clipped}};
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < sizeof counts / sizeof *counts; i++)
        status = gs_results_number(results, counts[i].name, counts[i].number, counts[i].unit,
                                   g->rows, error);
    return status;
}

static enum gs_status add_others(const struct gs_geometry *g, struct gs_results *results,
                                 struct gs_error *error) {
    const char *reason =
        g->rows < 8 ? "8 batches need at least 8 rows" : "the mean of a batch is the zero vector";
    enum gs_status status = add_one(results, "batch_mean_cosine.mean", g->batch_cosines.mean, "1",
                                    g->batch_cosines.n, reason, error);
    if (status == GS_OK)
        status = add_one(results, "batch_mean_cosine.std", gs_running_deviation(&g->batch_cosines),
                         "1", g->batch_cosines.n, reason, error);
    if (status != GS_OK) return status;
    reason = g->sequences < 2 ? "needs at least 2 sequences" : "no dimension varies";
    return add_one(results, "effective_rows", g->effective_rows, "row", g->rows, reason, error);
}

/* ---- tables --------------------------------------------------------------------------------- */

static enum gs_status indexed_table(struct gs_results *results, const char *name, const char *index,
                                    const char *column, const double *values, size_t count,
                                    int64_t first, struct gs_error *error) {
    const char *const columns[] = {index, column};
    struct gs_table *table;
    enum gs_status status = gs_results_table(results, name, columns, 2, &table, error);
    for (size_t i = 0; status == GS_OK && i < count; i++) {
        struct gs_cell cells[] = {gs_cell_integer(first + (int64_t)i), gs_cell_number(values[i])};
        status = gs_table_row(table, cells, error);
    }
    return status;
}

/* Share of the variance that the first `index` components hold. */
static enum gs_status cumulative_table(const double *eigenvalues, size_t count,
                                       struct gs_results *results, struct gs_error *error) {
    static const char *const columns[] = {"index", "share"};
    struct gs_table *table;
    enum gs_status status =
        gs_results_table(results, "spectrum_cumulative", columns, 2, &table, error);
    double total = 0, sum = 0;
    for (size_t i = 0; i < count; i++) total += eigenvalues[i];
    for (size_t i = 0; status == GS_OK && total > 0 && i < count; i++) {
        sum += eigenvalues[i];
        struct gs_cell cells[] = {gs_cell_integer(1 + (int64_t)i), gs_cell_number(sum / total)};
        status = gs_table_row(table, cells, error);
    }
    return status;
}

static enum gs_status running_table(const struct gs_geometry *g, struct gs_results *results,
                                    struct gs_error *error) {
    const char *const columns[] = {"position", "cosine"};
    struct gs_table *table;
    enum gs_status status =
        gs_results_table(results, "running_mean_cosine", columns, 2, &table, error);
    for (size_t i = 0; status == GS_OK && i < g->running_count; i++) {
        struct gs_cell cells[] = {gs_cell_integer((int64_t)g->running[i].place),
                                  gs_cell_number(g->running[i].cosine)};
        status = gs_table_row(table, cells, error);
    }
    return status;
}

static enum gs_status histogram_table(const struct gs_geometry *g, struct gs_results *results,
                                      struct gs_error *error) {
    const char *const columns[] = {"low", "high", "count"};
    struct gs_table *table;
    enum gs_status status = gs_results_table(results, "corr_histogram", columns, 3, &table, error);
    for (int i = 0; status == GS_OK && i < GS_CORRELATION_BINS; i++) {
        double low = (2.0 * i - GS_CORRELATION_BINS) / GS_CORRELATION_BINS;
        double high = (2.0 * (i + 1) - GS_CORRELATION_BINS) / GS_CORRELATION_BINS;
        struct gs_cell cells[] = {gs_cell_number(low), gs_cell_number(high),
                                  gs_cell_integer((int64_t)g->histogram[i])};
        status = gs_table_row(table, cells, error);
    }
    return status;
}

static enum gs_status add_tables(const struct gs_geometry *g, struct gs_results *results,
                                 struct gs_error *error) {
    /* Of one row there is neither spectrum nor deviation: the tables are there and empty. */
    size_t count = g->rows > 1 ? g->dims : 0;
    enum gs_status status =
        indexed_table(results, "spectrum", "index", "eigenvalue", g->eigenvalues, count, 1, error);
    if (status == GS_OK) status = cumulative_table(g->eigenvalues, count, results, error);
    if (status == GS_OK)
        status = indexed_table(results, "dim_std", "dim", "std", g->deviations, count, 0, error);
    if (status == GS_OK) status = running_table(g, results, error);
    return status == GS_OK ? histogram_table(g, results, error) : status;
}

/* ---- words ---------------------------------------------------------------------------------- */

static enum gs_status add_settings(const struct gs_geometry *g, struct gs_results *results,
                                   struct gs_error *error) {
    const struct {
        const char *key;
        uint64_t number;
    } numbers[] = {{"geometry.bootstrap_replicates", g->replicates},
                   {"geometry.bootstrap_blocks", g->replicates ? g->blocks : 0},
                   {"geometry.rows_skipped", g->skipped}};
    enum gs_status status = gs_results_setting(results, "geometry.products",
                                               gs_moments_product_name(g->product), error);
    if (status == GS_OK && g->replicates)
        status = gs_results_setting(results, "geometry.bootstrap_eigenvalues",
                                    g->single ? "float32" : "float64", error);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && status == GS_OK; i++)
        status =
            gs_results_setting_integer(results, numbers[i].key, (int64_t)numbers[i].number, error);
    return status;
}

static enum gs_status note_interval(const struct gs_geometry *g, struct gs_results *results,
                                    struct gs_error *error) {
    char text[768];
    if (g->replicates < 2 || g->blocks < 2) return GS_OK;
    snprintf(text, sizeof text,
             "geometry: 95 %% intervals are basic bootstrap intervals (percentiles reflected at "
             "the estimate, on a log or logit scale) over "
             "%zu blocks of whole sequences, %zu replicates; an interval that leaves its estimate "
             "out says that the estimate is biased at this number of rows%s%s",
             g->blocks, g->replicates,
             g->blocks < 10 ? "; so few blocks make intervals too narrow" : "",
             g->sequences < GS_BOOTSTRAP_ENOUGH_BUT_SPEARMAN
                 ? "; below 64 sequences that of stable_rank.centered is too narrow: in "
                   "simulation it held the truth in 0.84 at 32"
                 : "");
    return gs_results_note(results, text, error);
}

static enum gs_status note_rank(const struct gs_geometry *g, struct gs_results *results,
                                struct gs_error *error) {
    char text[512];
    if (g->rows > g->dims) return GS_OK;
    snprintf(
        text, sizeof text,
        "geometry: %llu rows in %zu dimensions: the covariance has rank at most %llu (rows - 1), "
        "so every measure of dimension is bounded by the number of rows, not by the model",
        (unsigned long long)g->rows, g->dims, (unsigned long long)(g->rows - 1));
    return gs_results_note(results, text, error);
}

static enum gs_status note_effective(const struct gs_geometry *g, struct gs_results *results,
                                     struct gs_error *error) {
    char text[512];
    bool judged = !isnan(g->effective_rows);
    snprintf(text, sizeof text,
             "geometry: participation_ratio.corrected assumes independent normal rows (Srivastava "
             "2005) and uses n = %llu%s",
             (unsigned long long)g->rows,
             judged ? "; judged by the scatter of the sequences' means the rows are worth only "
                      "about effective_rows independent ones, so the correction is a lower bound"
                    : "");
    return gs_results_note(results, text, error);
}

static enum gs_status add_notes(const struct gs_geometry *g, struct gs_results *results,
                                struct gs_error *error) {
    enum gs_status status = gs_results_note(
        results,
        "geometry: deviations and the covariance have divisor n - 1; mean_norm_ratio is the norm "
        "of "
        "the mean over the mean of the norms, mean_energy its squared counterpart; position t of "
        "running_mean_cosine is the mean over the first t rows used of every sequence; "
        "batch_mean_cosine cuts the sequences in order into 8 batches (the rows, where there are "
        "fewer than 8 sequences)",
        error);
    if (status == GS_OK) status = note_effective(g, results, error);
    if (status == GS_OK) status = note_rank(g, results, error);
    if (status == GS_OK) status = note_interval(g, results, error);
    if (status == GS_OK && g->dead > 0)
        status =
            gs_results_note(results,
                            "geometry: constant dimensions (dead_dims) have no correlation and "
                            "take no part in corr",
                            error);
    return status;
}

enum gs_status gs_geometry_report(const struct gs_geometry *geometry, struct gs_results *results,
                                  struct gs_error *error) {
    enum gs_status status = add_counts(geometry, results, error);
    if (status == GS_OK) status = add_measures(geometry, results, error);
    if (status == GS_OK) status = add_others(geometry, results, error);
    if (status == GS_OK) status = add_tables(geometry, results, error);
    if (status == GS_OK) status = add_settings(geometry, results, error);
    return status == GS_OK ? add_notes(geometry, results, error) : status;
}
