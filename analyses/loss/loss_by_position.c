#include "analyses/loss/loss_by_position.h"

#include "analyses/stats/effective.h"
#include "core/base/memory.h"
#include "core/evaluation/limits.h"
#include "core/results/replicates.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { BLOCK = 4096, MOST_STRETCHES = 65 };

struct sums {
    uint64_t longest;
    size_t sequences, stretches;
    double *position, *position_n; /* (longest) */
    double *squares;               /* (longest) Σ (loss − mean)² over sequences */
    double *stretch, *stretch_n;   /* (sequences, 1 + stretches); column 0 is the whole */
};

/* Stretch i holds the positions of i binary digits: 0, 1, 2 and 3, 4 … 7. */
static size_t stretch_of(uint64_t position) {
    size_t stretch = 0;
    for (uint64_t rest = position; rest; rest >>= 1) stretch++;
    return stretch;
}

static void sums_free(struct sums *sums) {
    gs_free(sums->position);
    gs_free(sums->position_n);
    gs_free(sums->squares);
    gs_free(sums->stretch);
    gs_free(sums->stretch_n);
}

static enum gs_status sums_create(const struct gs_rows *rows, struct sums *sums,
                                  struct gs_error *error) {
    *sums = (struct sums){.longest = gs_rows_longest(rows), .sequences = rows->sequences};
    sums->stretches = sums->longest ? stretch_of(sums->longest - 1) + 1 : 0;
    size_t cells;
    if (!gs_multiply(sums->sequences, 1 + sums->stretches, &cells) || sums->longest > SIZE_MAX)
        return gs_fail_memory(error, SIZE_MAX, "the sums of the loss");
    sums->position = gs_calloc((size_t)sums->longest, sizeof *sums->position);
    sums->position_n = gs_calloc((size_t)sums->longest, sizeof *sums->position_n);
    sums->squares = gs_calloc((size_t)sums->longest, sizeof *sums->squares);
    sums->stretch = gs_calloc(cells, sizeof *sums->stretch);
    sums->stretch_n = gs_calloc(cells, sizeof *sums->stretch_n);
    if (sums->position && sums->position_n && sums->squares && sums->stretch && sums->stretch_n)
        return GS_OK;
    sums_free(sums);
    return gs_fail_memory(error, cells * sizeof(double), "the sums of the loss");
}

/* Squares by Welford's update. */
static void add_one(struct sums *sums, size_t sequence, uint64_t position, double loss) {
    size_t row = sequence * (1 + sums->stretches), column = 1 + stretch_of(position);
    double n = sums->position_n[position]++;
    double before = n > 0 ? sums->position[position] / n : 0;
    sums->position[position] += loss;
    sums->squares[position] += (loss - before) * (loss - sums->position[position] / (n + 1));
    sums->stretch[row] += loss;
    sums->stretch_n[row]++;
    sums->stretch[row + column] += loss;
    sums->stretch_n[row + column]++;
}

static enum gs_status add_sequence(const struct gs_rows *rows, size_t sequence, uint64_t first,
                                   struct sums *sums, float *block, struct gs_error *error) {
    uint64_t length = rows->length[sequence];
    for (uint64_t from = first; from < length; from += BLOCK) {
        size_t count = length - from < BLOCK ? (size_t)(length - from) : BLOCK;
        enum gs_status status = gs_rows_read(rows, sequence, from, count, block, error);
        if (status != GS_OK) return status;
        for (size_t i = 0; i < count; i++) {
            if (!isfinite(block[i])) {
                gs_fail(error, GS_NUMERIC, "a loss is not finite");
                gs_error_found(error, "%g", (double)block[i]);
                gs_error_where(error, "sequence %zu, position %" PRIu64, sequence, from + i);
                return GS_NUMERIC;
            }
            add_one(sums, sequence, from + i, (double)block[i]);
        }
    }
    return GS_OK;
}

static enum gs_status add_all(const struct gs_rows *rows, uint64_t first, struct sums *sums,
                              const struct gs_progress *progress, struct gs_error *error) {
    float *block = gs_calloc(BLOCK, sizeof *block);
    enum gs_status status = block ? GS_OK : gs_fail_memory(error, BLOCK * sizeof *block, "rows");
    for (size_t sequence = 0; status == GS_OK && sequence < rows->sequences; sequence++) {
        if (gs_progress_stop(progress))
            status = gs_fail(error, GS_INTERRUPTED, "stopped on request");
        else
            status = add_sequence(rows, sequence, first, sums, block, error);
        gs_progress_report(progress, (double)sequence + 1, (double)rows->sequences, "loss");
    }
    gs_free(block);
    return status;
}

/* Σ of a column over sequences. */
static double column_sum(const struct sums *sums, const double *cells, size_t column) {
    double sum = 0;
    for (size_t s = 0; s < sums->sequences; s++) sum += cells[s * (1 + sums->stretches) + column];
    return sum;
}

static enum gs_status add_undefined(struct gs_results *results, struct gs_error *error) {
    struct gs_value value = {.value = NAN,
                             .unit = "nat/token",
                             .status = "undefined",
                             .reason = "no step of the trace has a loss"};
    enum gs_status status = gs_results_add(results, "loss", &value, error);
    value.unit = "1";
    if (status == GS_OK) status = gs_results_add(results, "perplexity", &value, error);
    return status;
}

/* kept: the loss's replicates, or NULL. */
static enum gs_status add_loss(const struct sums *sums, const struct gs_bootstrap *bootstrap,
                               const struct gs_value *value, const double *kept,
                               struct gs_results *results, struct gs_error *error) {
    const struct gs_replicates replicates = {kept, kept ? bootstrap->replicates : 0,
                                             bootstrap->seed, sums->sequences};
    enum gs_status status = gs_results_add(results, "loss", value, error);
    return status == GS_OK ? gs_results_add_replicates(results, "loss", &replicates, error)
                           : status;
}

static enum gs_status add_values(const struct sums *sums, const struct gs_bootstrap *bootstrap,
                                 const struct gs_interval *interval, const double *kept,
                                 struct gs_results *results, struct gs_error *error) {
    double n = column_sum(sums, sums->stretch_n, 0);
    enum gs_status status = gs_results_number(results, "tokens", n, "token", (uint64_t)n, error);
    if (status != GS_OK) return status;
    if (!(n > 0)) return add_undefined(results, error);
    double loss = column_sum(sums, sums->stretch, 0) / n;
    struct gs_value value = {.value = loss, .unit = "nat/token", .n = (uint64_t)n};
    value.has_interval = interval->known;
    value.low = interval->low;
    value.high = interval->high;
    status = add_loss(sums, bootstrap, &value, interval->known ? kept : NULL, results, error);
    value.value = exp(value.value);
    value.low = exp(value.low);
    value.high = exp(value.high);
    value.unit = "1";
    if (!isfinite(value.value)) {
        value.status = "undefined";
        value.reason = "exp(loss) is beyond what a double holds";
    }
    value.has_interval = value.has_interval && isfinite(value.high);
    if (status == GS_OK) status = gs_results_add(results, "perplexity", &value, error);
    return status;
}

/* By Σ (loss − mean)² over all steps: within positions, and between them. */
static enum gs_status add_effective(const struct sums *sums, struct gs_results *results,
                                    struct gs_error *error) {
    double n = column_sum(sums, sums->stretch_n, 0), squares = 0;
    double mean = column_sum(sums, sums->stretch, 0) / n;
    for (uint64_t i = 0; i < sums->longest; i++) {
        if (!(sums->position_n[i] > 0)) continue;
        double distance = sums->position[i] / sums->position_n[i] - mean;
        squares += sums->squares[i] + sums->position_n[i] * distance * distance;
    }
    struct gs_value value = {.value =
                                 gs_effective_rows(sums->stretch, sums->stretch_n,
                                                   1 + sums->stretches, sums->sequences, squares),
                             .unit = "token",
                             .n = (uint64_t)n};
    if (isnan(value.value)) {
        value.status = "undefined";
        value.reason = "fewer than two sequences have a loss, or all losses are the same";
    }
    return gs_results_add(results, "loss.effective_tokens", &value, error);
}

static enum gs_status add_positions(const struct sums *sums, struct gs_results *results,
                                    struct gs_error *error) {
    static const char *const columns[] = {"position", "loss", "n", "low", "high"};
    struct gs_table *table;
    enum gs_status status =
        gs_results_table(results, "loss_by_position", columns, 5, &table, error);
    for (uint64_t i = 0; status == GS_OK && i < sums->longest; i++) {
        double n = sums->position_n[i];
        if (!(n > 0)) continue;
        double mean = sums->position[i] / n;
        struct gs_limits limits = gs_mean_limits(mean, sums->squares[i], (uint64_t)n);
        struct gs_cell row[] = {gs_cell_integer((int64_t)i), gs_cell_number(mean),
                                gs_cell_integer((int64_t)n), gs_cell_number(limits.low),
                                gs_cell_number(limits.high)};
        status = gs_table_row(table, row, error);
    }
    return status;
}

static enum gs_status add_stretch(const struct sums *sums, size_t stretch,
                                  const struct gs_interval *interval, uint64_t skipped,
                                  struct gs_table *table, struct gs_error *error) {
    double n = column_sum(sums, sums->stretch_n, 1 + stretch);
    if (!(n > 0)) return GS_OK;
    uint64_t first = stretch ? (uint64_t)1 << (stretch - 1) : 0;
    uint64_t last = stretch ? 2 * first - 1 : 0;
    if (first < skipped) first = skipped;
    if (last >= sums->longest) last = sums->longest - 1;
    double none = (double)NAN;
    struct gs_cell row[] = {
        gs_cell_integer((int64_t)first),
        gs_cell_integer((int64_t)last),
        gs_cell_number(sqrt(((double)first + 1) * ((double)last + 1)) - 1),
        gs_cell_number(column_sum(sums, sums->stretch, 1 + stretch) / n),
        gs_cell_number(interval->known ? interval->low : none),
        gs_cell_number(interval->known ? interval->high : none),
        gs_cell_integer((int64_t)n),
    };
    return gs_table_row(table, row, error);
}

static enum gs_status add_stretches(const struct sums *sums, const struct gs_interval *intervals,
                                    uint64_t skipped, struct gs_results *results,
                                    struct gs_error *error) {
    static const char *const columns[] = {"first", "last", "center", "loss", "low", "high", "n"};
    struct gs_table *table;
    enum gs_status status = gs_results_table(results, "loss_by_stretch", columns, 7, &table, error);
    for (size_t i = 0; status == GS_OK && i < sums->stretches; i++)
        status = add_stretch(sums, i, intervals + 1 + i, skipped, table, error);
    return status;
}

enum gs_status gs_loss_of_rows(const struct gs_rows *rows, uint64_t first,
                               const struct gs_bootstrap *bootstrap,
                               const struct gs_progress *progress, struct gs_results *results,
                               struct gs_error *error) {
    struct sums sums;
    struct gs_interval intervals[1 + MOST_STRETCHES];
    double *kept = NULL;
    enum gs_status status = sums_create(rows, &sums, error);
    if (status != GS_OK) return status;
    status = add_all(rows, first, &sums, progress, error);
    size_t places = (1 + sums.stretches) * bootstrap->replicates;
    if (gs_results_keeps_replicates(results)) kept = gs_calloc(places, sizeof *kept);
    if (status == GS_OK && gs_results_keeps_replicates(results) && !kept)
        status = gs_fail_memory(error, places * sizeof *kept, "replicates");
    if (status == GS_OK)
        status = gs_bootstrap_ratio(bootstrap, sums.sequences, 1 + sums.stretches, sums.stretch,
                                    sums.stretch_n, intervals, kept, error);
    if (status == GS_OK) status = add_values(&sums, bootstrap, intervals, kept, results, error);
    gs_free(kept);
    if (status == GS_OK) status = add_effective(&sums, results, error);
    if (status == GS_OK) status = add_positions(&sums, results, error);
    if (status == GS_OK) status = add_stretches(&sums, intervals, first, results, error);
    sums_free(&sums);
    return status;
}

static enum gs_status read_nll(const struct gs_rows *rows, uint64_t first, size_t count,
                               float *values, struct gs_error *error) {
    return gs_trace_read_nll(rows->trace, first, count, values, error);
}

static enum gs_status note_first(uint64_t first, uint64_t own, struct gs_results *results,
                                 struct gs_error *error) {
    char text[160];
    if (first == 0) return GS_OK;
    snprintf(text, sizeof text,
             "loss: positions below %" PRIu64 " of each sequence are left out: %s", first,
             first > own ? "another model of this comparison does not predict them"
                         : "the model does not predict them");
    return gs_results_note(results, text, error);
}

enum gs_status gs_loss_of_trace(struct gs_trace *trace, uint64_t first,
                                const struct gs_bootstrap *bootstrap,
                                const struct gs_progress *progress, struct gs_results *results,
                                struct gs_error *error) {
    const struct gs_trace_info *info = gs_trace_info(trace);
    if (!info->has_nll) {
        gs_fail(error, GS_MISSING, "the trace holds no losses");
        gs_error_expected(error, "a dataset /nll with one number a row");
        gs_error_where(error, "%s", info->path);
        return GS_MISSING;
    }
    struct gs_rows rows = {.sequences = info->sequences,
                           .width = 1,
                           .start = info->start,
                           .length = info->rows_written,
                           .read = read_nll,
                           .trace = trace};
    enum gs_status status = gs_rows_note_incomplete(trace, results, error);
    if (first < info->nll_first) first = info->nll_first;
    if (status == GS_OK) status = note_first(first, info->nll_first, results, error);
    return status == GS_OK ? gs_loss_of_rows(&rows, first, bootstrap, progress, results, error)
                           : status;
}
