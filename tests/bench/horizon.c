/* Horizon and retention on rows in memory against the speed of reading memory in the same run.
 *
 *     bench_horizon [d T sequences max_lag [heads [FILE [rows]]]]
 *
 * With FILE (written where there is none, by default 1,000,000 rows: 10 KB a row of 2,496): both
 * from that trace, against read() of the file by one thread from the page cache; the bytes counted
 * are those of the rows measured. Each is followed by its parts: reading, sums, bootstrap.
 *
 * The horizon at chosen lags reads about lags + 9 rows a state and curve, so its natural limit is
 * the bandwidth; at every lag it is a product of T · d by lags, so its limit is the sgemm peak.
 * Each figure is the best of a few rounds. */
#include "analyses/horizon/horizon.h"
#include "analyses/retention/retention.h"
#include "core/base/environment.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/results/results.h"
#include "tests/bench/made_trace.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 3 };

static float *random_values(size_t count) {
    struct gs_random random;
    gs_random_seed(&random, 1, "bench/horizon");
    float *values = gs_calloc(count, sizeof *values);
    if (!values) exit(3);
    for (size_t i = 0; i < count; i++) values[i] = (float)(gs_random_uniform(&random) - 0.3);
    return values;
}

/* GB/s of reading far more than the caches hold. */
static double read_bandwidth(void) {
    const size_t count = (size_t)1 << 26;
    float *values = random_values(count);
    double best = 0;
    volatile float sink = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double start = bench_now();
        float total = 0;
#pragma omp parallel for reduction(+ : total) schedule(static)
        for (size_t i = 0; i < count; i += 16) {
            float lanes[16] = {0};
            for (size_t l = 0; l < 16; l++) lanes[l] += values[i + l];
            total += lanes[0] + lanes[7];
        }
        sink = sink + total;
        double rate = (double)count * sizeof(float) / (bench_now() - start) / 1e9;
        if (rate > best) best = rate;
    }
    gs_free(values);
    return best;
}

/* Products of all curves, two FLOPs for each dimension of each pair that is counted. */
static double flops(const struct gs_horizon *h) {
    double pairs = 0;
    for (size_t c = 0; c < GS_CURVES; c++)
        for (size_t l = 0; l < h->lag_count; l++) {
            double n;
            gs_horizon_mean(h, (enum gs_curve)c, l, &n);
            pairs += n;
        }
    return 2 * pairs * (double)h->width;
}

static void bench_horizon(const struct gs_rows *rows, size_t max_lag, bool all, double bandwidth) {
    double best = 1e30, work = 0, count = (double)gs_rows_total(rows);
    size_t lags = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct gs_horizon_plan plan = {.max_lag = max_lag, .all_lags = all};
        struct gs_horizon *h;
        struct gs_error error;
        double start = bench_now();
        bench_must(gs_horizon_measure(rows, &plan, NULL, &h, &error), &error);
        double taken = bench_now() - start;
        if (taken < best) best = taken;
        lags = h->lag_count;
        work = flops(h);
        gs_horizon_destroy(h);
    }
    double bytes = count * (double)rows->width * sizeof(float) / best / 1e9;
    printf("horizon, %4zu lags: %.0f rows/s (%.2f GB/s, %.1f %% of reading memory), %.1f GFLOP/s\n",
           lags, count / best, bytes, 100 * bytes / bandwidth, work / best / 1e9);
}

static void bench_retention(size_t heads, size_t length, size_t sequences, size_t max_lag,
                            const uint64_t *start, const uint64_t *lengths) {
    size_t count = length * sequences * heads;
    float *gamma = random_values(count), *beta = random_values(count);
    for (size_t i = 0; i < count; i++) {
        gamma[i] = -0.05f * (gamma[i] + 0.3f);
        beta[i] += 0.3f;
    }
    struct gs_rows decay = gs_rows_of_array(gamma, heads, sequences, start, lengths);
    struct gs_rows strength = gs_rows_of_array(beta, heads, sequences, start, lengths);
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct gs_retention_plan plan = {.max_lag = max_lag, .transition = GS_TRANSITION_GPN};
        struct gs_retention *r;
        struct gs_error error;
        double begin = bench_now();
        bench_must(gs_retention_measure(&decay, &strength, &plan, NULL, &r, &error), &error);
        double rate = (double)(length * sequences) / (bench_now() - begin);
        if (rate > best) best = rate;
        gs_retention_destroy(r);
    }
    printf("retention, %zu heads, every lag up to %zu, also along the key: %.0f rows/s\n", heads,
           max_lag, best);
    gs_free(beta);
    gs_free(gamma);
}

/* ---- from a file ---- */

static void print_rate(const char *what, double rows, double width, double seconds, double limit) {
    double bytes = rows * width * sizeof(float) / seconds;
    printf("%-44s %9.0f rows/s  %6.2f GB/s  %5.1f %% of read()\n", what, rows / seconds,
           bytes * 1e-9, 100 * bytes / limit);
}

static void print_part(const char *name, double seconds, double whole) {
    printf("  %-42s %7.3f s  %5.1f %%\n", name, seconds, 100 * seconds / whole);
}

/* Seconds of reading and checking all rows, as many at a time as the analyses do. */
static double time_reading(const struct gs_rows *rows, size_t piece) {
    float *room = gs_calloc(piece * rows->width, sizeof *room);
    struct gs_error error;
    if (!room) exit(3);
    double start = bench_now();
    for (size_t s = 0; s < rows->sequences; s++)
        for (uint64_t at = 0; at < rows->length[s]; at += piece) {
            uint64_t left = rows->length[s] - at;
            bench_must(gs_rows_read(rows, s, at, left < piece ? (size_t)left : piece, room, &error),
                       &error);
        }
    double took = bench_now() - start;
    gs_free(room);
    return took;
}

static void file_horizon(struct gs_trace *trace, size_t max_lag, double limit) {
    struct gs_rows states = gs_rows_of_state(trace, 0);
    struct gs_horizon_plan plan = {.max_lag = max_lag};
    struct gs_bootstrap bootstrap = {.seed = 1, .replicates = GS_BOOTSTRAP_REPLICATES};
    struct gs_results *results = gs_results_create("horizon");
    struct gs_horizon *horizon;
    struct gs_error error;
    double count = (double)gs_rows_total(&states), reading = 2 * time_reading(&states, 840);
    double start = bench_now();
    bench_must(gs_horizon_measure(&states, &plan, NULL, &horizon, &error), &error);
    double sums = bench_now() - start;
    start = bench_now();
    bench_must(gs_horizon_results(horizon, &bootstrap, results, &error), &error);
    double resampling = bench_now() - start, whole = sums + resampling;
    print_rate("horizon, 1, 2, 4, …", count, (double)states.width, sums, limit);
    print_part("reading twice (global mean first), alone", reading, whole);
    print_part("sums (what is left)", sums - reading, whole);
    print_part("bootstrap", resampling, whole);
    double pairs = flops(horizon) / sums;
    printf("  dots of all curves: %.1f GFLOP/s\n", pairs * 1e-9);
    gs_results_destroy(results);
    gs_horizon_destroy(horizon);
}

/* The best of some rounds: one is a matter of milliseconds at lags 1, 2, 4, … */
static void file_retention(struct gs_trace *trace, size_t max_lag, bool powers, double limit) {
    struct gs_rows decay = gs_rows_of_memory(trace, 0, GS_MEMORY_LOG_DECAY);
    struct gs_rows strength = gs_rows_of_memory(trace, 0, GS_MEMORY_WRITE_STRENGTH);
    struct gs_retention_plan plan = {
        .max_lag = max_lag, .transition = GS_TRANSITION_GPN, .powers = powers};
    struct gs_bootstrap bootstrap = {.seed = 1, .replicates = GS_BOOTSTRAP_REPLICATES};
    struct gs_retention_intervals *intervals = gs_calloc(decay.width, sizeof *intervals);
    struct gs_error error;
    if (!intervals) exit(3);
    double sums = 1e30, reading = 1e30, resampling = 0;
    for (int round = 0; round < (powers ? 7 : 1); round++) {
        struct gs_retention *retention;
        double start = bench_now();
        bench_must(gs_retention_measure(&decay, &strength, &plan, NULL, &retention, &error),
                   &error);
        double middle = bench_now();
        if (middle - start < sums) sums = middle - start;
        if (round == 0)
            bench_must(gs_retention_bootstrap(retention, &bootstrap, intervals, NULL, &error),
                       &error);
        if (round == 0) resampling = bench_now() - middle;
        gs_retention_destroy(retention);
        double alone = time_reading(&decay, 1024) + time_reading(&strength, 1024);
        if (alone < reading) reading = alone;
    }
    print_rate(powers ? "retention, 1, 2, 4, …, also along the key"
                      : "retention, every lag, also along the key",
               (double)gs_rows_total(&decay), 2.0 * (double)decay.width, sums, limit);
    print_part("reading by one thread, alone", reading, sums + resampling);
    print_part("sums with their own reading", sums, sums + resampling);
    print_part("bootstrap of all heads", resampling, sums + resampling);
    gs_free(intervals);
}

static void bench_file(const char *path, size_t width, size_t rows, size_t max_lag) {
    struct gs_trace *trace = bench_trace(path, width, rows);
    double limit = bench_read(path);
    printf("%s: read() %.2f GB/s\n", path, limit * 1e-9);
    file_horizon(trace, max_lag, limit);
    file_retention(trace, max_lag, true, limit);
    file_retention(trace, max_lag, false, limit);
    bench_peak();
    gs_trace_close(trace);
}

int main(int argc, char **argv) {
    size_t sizes[] = {2496, 2048, 4, 2047, 15};
    for (int i = 1; i < argc && i <= 5; i++) sizes[i - 1] = strtoull(argv[i], NULL, 10);
    size_t width = sizes[0], length = sizes[1], sequences = sizes[2];
    gs_threads_set(0);
    double bandwidth = read_bandwidth();
    printf("%zu sequences of %zu rows of %zu, lags to %zu, %d threads; reading memory: %.1f GB/s\n",
           sequences, length, width, sizes[3], gs_threads_get(), bandwidth);
    float *values = random_values(width * length * sequences);
    uint64_t *start = gs_calloc(sequences, sizeof *start), *lengths = gs_calloc(sequences, 8);
    if (!start || !lengths) return 3;
    for (size_t s = 0; s < sequences; s++) {
        start[s] = s * length;
        lengths[s] = length;
    }
    struct gs_rows rows = gs_rows_of_array(values, width, sequences, start, lengths);
    if (argc > 6)
        bench_file(argv[6], width, argc > 7 ? strtoull(argv[7], NULL, 10) : 1000000, sizes[3]);
    bench_horizon(&rows, sizes[3], false, bandwidth);
    bench_horizon(&rows, sizes[3], true, bandwidth);
    bench_retention(sizes[4], length, sequences, sizes[3], start, lengths);
    gs_free(lengths);
    gs_free(start);
    gs_free(values);
    return 0;
}
