#include "analyses/stats/bootstrap.h"

#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/kernels/blas.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double level_low = 0.025, level_high = 0.975;

/* One generator a replicate, so that any thread may take any replicate. */
static struct gs_random replicate_random(uint64_t seed, uint64_t replicate) {
    char stream[64];
    snprintf(stream, sizeof stream, "bootstrap/%" PRIu64, replicate);
    struct gs_random random;
    gs_random_seed(&random, seed, stream);
    return random;
}

void gs_bootstrap_draw(uint64_t seed, uint64_t replicate, size_t blocks, size_t *indices) {
    struct gs_random random = replicate_random(seed, replicate);
    for (size_t i = 0; i < blocks; i++) indices[i] = (size_t)gs_random_below(&random, blocks);
}

void gs_bootstrap_weights(uint64_t seed, uint64_t replicate, size_t blocks, double *weights) {
    struct gs_random random = replicate_random(seed, replicate);
    for (size_t b = 0; b < blocks; b++) weights[b] = 0;
    for (size_t i = 0; i < blocks; i++) weights[gs_random_below(&random, blocks)] += 1;
}

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double quantile(const double *sorted, size_t count, double q) {
    double place = q * (double)(count - 1);
    size_t below = (size_t)place;
    if (below + 1 >= count) return sorted[count - 1];
    double a = sorted[below], b = sorted[below + 1], part = place - (double)below;
    if (a == b || part <= 0) return a; /* also Inf beside Inf, whose difference is NaN */
    if (isinf(a) && isinf(b)) return a;
    return a + part * (b - a);
}

static struct gs_interval no_interval(void) {
    return (struct gs_interval){.known = false, .low = NAN, .high = NAN};
}

struct gs_interval gs_bootstrap_percentile(double *values, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i])) values[kept++] = values[i];
    struct gs_interval interval = no_interval();
    interval.replicates = kept;
    if (kept < 2 || (count - kept) > count / 20) return interval;
    qsort(values, kept, sizeof *values, ascending);
    interval.known = true;
    interval.low = quantile(values, kept, level_low);
    interval.high = quantile(values, kept, level_high);
    return interval;
}

/* Column c of a (replicates, count) array, gathered so that it can be sorted; and into `kept`
 * (count, replicates), unless that is NULL. */
static void take_intervals(const double *values, size_t replicates, size_t count, double *column,
                           struct gs_interval *intervals, double *kept) {
    for (size_t c = 0; c < count; c++) {
        for (size_t r = 0; r < replicates; r++) column[r] = values[r * count + c];
        if (kept) memcpy(kept + c * replicates, column, replicates * sizeof *column);
        intervals[c] = gs_bootstrap_percentile(column, replicates);
    }
}

static enum gs_status short_of_memory(struct gs_error *error, size_t numbers) {
    size_t bytes;
    if (!gs_multiply(numbers, sizeof(double), &bytes)) bytes = SIZE_MAX;
    return gs_fail_memory(error, bytes, "bootstrap replicates");
}

enum gs_status gs_bootstrap_run(const struct gs_bootstrap *plan, size_t blocks, size_t count,
                                gs_bootstrap_statistic statistic, const void *context,
                                size_t scratch, struct gs_interval *intervals, double *kept,
                                struct gs_error *error) {
    for (size_t c = 0; c < count; c++) intervals[c] = no_interval();
    size_t replicates = plan->replicates, numbers;
    if (blocks < 2 || replicates < 2 || count == 0) return GS_OK;
    if (!gs_multiply(replicates, count, &numbers)) return short_of_memory(error, SIZE_MAX);
    double *values = gs_calloc(numbers, sizeof *values);
    double *column = gs_calloc(replicates, sizeof *column);
    bool failed = !values || !column;
    if (!failed) {
#pragma omp parallel
        {
            double *weights = gs_calloc(blocks, sizeof *weights);
            double *work = gs_calloc(scratch, sizeof *work);
            bool mine_failed = !weights || !work;
#pragma omp for schedule(static)
            for (size_t r = 0; r < replicates; r++) {
                if (mine_failed || gs_progress_stop(plan->progress)) continue;
                gs_bootstrap_weights(plan->seed, r, blocks, weights);
                statistic(context, weights, blocks, values + r * count, work);
            }
            if (mine_failed) {
#pragma omp atomic write
                failed = true;
            }
            gs_free(work);
            gs_free(weights);
        }
    }
    bool stopped = gs_progress_stop(plan->progress);
    if (!failed && !stopped) take_intervals(values, replicates, count, column, intervals, kept);
    gs_free(column);
    gs_free(values);
    if (failed) return short_of_memory(error, numbers);
    return stopped ? gs_fail(error, GS_INTERRUPTED, "stopped on request") : GS_OK;
}

/* ---- of sums ---- */

struct sums {
    const struct gs_bootstrap *plan;
    size_t blocks, columns, count;
    const struct gs_block_sums *parts;
    size_t part_count;
    gs_bootstrap_of_sums statistic;
    const void *context;
    double *values; /* (replicates, count) */
};

/* Replicates that are one product. Fixed, and one thread's, so that bits are. */
enum { TOGETHER = 32 };

static enum gs_status take_replicates(const struct sums *s, size_t first, double *weights,
                                      double *totals, struct gs_error *error) {
    size_t left = s->plan->replicates - first, rows = left < TOGETHER ? left : TOGETHER, at = 0;
    for (size_t r = 0; r < rows; r++)
        gs_bootstrap_weights(s->plan->seed, first + r, s->blocks, weights + r * s->blocks);
    for (size_t p = 0; p < s->part_count; at += s->parts[p++].columns) {
        size_t columns = s->parts[p].columns;
        enum gs_status status = gs_blas_dgemm(
            GS_PLAIN, GS_PLAIN, rows, columns, s->blocks, 1, weights, s->blocks, s->parts[p].sums,
            columns ? columns : 1, 0, totals + at, s->columns, error);
        if (status != GS_OK) return status;
    }
    for (size_t r = 0; r < rows; r++)
        s->statistic(s->context, totals + r * s->columns, s->values + (first + r) * s->count);
    return GS_OK;
}

static enum gs_status take_all_replicates(const struct sums *s, struct gs_error *error) {
    size_t threads = (size_t)omp_get_max_threads(), replicates = s->plan->replicates, each, all;
    if (!gs_multiply(TOGETHER, s->blocks + s->columns, &each) || !gs_multiply(each, threads, &all))
        return short_of_memory(error, SIZE_MAX);
    double *room = gs_calloc(all, sizeof *room);
    if (!room) return short_of_memory(error, all);
    enum gs_status result = GS_OK;
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t first = 0; first < replicates; first += TOGETHER) {
        double *weights = room + each * (size_t)omp_get_thread_num();
        struct gs_error mine;
        if (gs_progress_stop(s->plan->progress)) continue;
        enum gs_status status =
            take_replicates(s, first, weights, weights + TOGETHER * s->blocks, &mine);
        if (status == GS_OK) continue;
#pragma omp critical(gs_bootstrap_failing)
        {
            if (result == GS_OK && error) *error = mine;
            result = status;
        }
    }
    gs_free(room);
    if (result == GS_OK && gs_progress_stop(s->plan->progress))
        return gs_fail(error, GS_INTERRUPTED, "stopped on request");
    return result;
}

enum gs_status gs_bootstrap_sums(const struct gs_bootstrap *plan, size_t blocks,
                                 const struct gs_block_sums *parts, size_t part_count, size_t count,
                                 gs_bootstrap_of_sums statistic, const void *context,
                                 struct gs_interval *intervals, double *kept,
                                 struct gs_error *error) {
    struct sums s = {plan, blocks, 0, count, parts, part_count, statistic, context, NULL};
    size_t replicates = plan->replicates, numbers;
    for (size_t c = 0; c < count; c++) intervals[c] = no_interval();
    if (blocks < 2 || replicates < 2 || count == 0) return GS_OK;
    for (size_t p = 0; p < part_count; p++) s.columns += parts[p].columns;
    if (!gs_multiply(replicates, count, &numbers)) return short_of_memory(error, SIZE_MAX);
    s.values = gs_calloc(numbers, sizeof *s.values);
    double *column = gs_calloc(replicates, sizeof *column);
    enum gs_status status =
        s.values && column ? take_all_replicates(&s, error) : short_of_memory(error, numbers);
    if (status == GS_OK) take_intervals(s.values, replicates, count, column, intervals, kept);
    gs_free(column);
    gs_free(s.values);
    return status;
}

/* ---- of ratios ---- */

struct ratio {
    const double *numerators, *denominators;
    size_t columns; /* of the whole arrays */
    size_t first, count;
};

/* scratch: the denominators' sums. Blocks outside, columns inside: the arrays are read in order. */
static void ratio_statistic(const void *context, const double *weights, size_t blocks,
                            double *values, double *scratch) {
    const struct ratio *ratio = context;
    for (size_t c = 0; c < ratio->count; c++) values[c] = scratch[c] = 0;
    for (size_t b = 0; b < blocks; b++) {
        if (weights[b] == 0) continue;
        const double *up = ratio->numerators + b * ratio->columns + ratio->first;
        const double *down = ratio->denominators + b * ratio->columns + ratio->first;
        for (size_t c = 0; c < ratio->count; c++) {
            values[c] += weights[b] * up[c];
            scratch[c] += weights[b] * down[c];
        }
    }
    for (size_t c = 0; c < ratio->count; c++)
        values[c] = scratch[c] == 0 ? (double)NAN : values[c] / scratch[c];
}

enum gs_status gs_bootstrap_ratio(const struct gs_bootstrap *plan, size_t blocks, size_t columns,
                                  const double *numerators, const double *denominators,
                                  struct gs_interval *intervals, double *kept,
                                  struct gs_error *error) {
    enum { STRETCH = 256 };
    for (size_t first = 0; first < columns; first += STRETCH) {
        size_t count = columns - first < STRETCH ? columns - first : STRETCH;
        struct ratio ratio = {numerators, denominators, columns, first, count};
        enum gs_status status =
            gs_bootstrap_run(plan, blocks, count, ratio_statistic, &ratio, count, intervals + first,
                             kept ? kept + first * plan->replicates : NULL, error);
        if (status != GS_OK) return status;
    }
    return GS_OK;
}
