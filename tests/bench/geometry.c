/* Rows per second of the geometry against ssyrk in the same run.
 *
 *     bench_geometry [dims [rows [replicates [FILE]]]]      2496 40960 0
 *
 * ssyrk: 4,096 rows at a time, float32, all threads, nothing else: n · d² floating-point
 * operations counted for both. The pass is everything but the eigenvalues and the bootstrap, on
 * rows in memory. With FILE (written where there is none: 10 KB a row): the whole command from that
 * trace, with its parts, each measured alone. Intervals cost replicates · d³, whatever the rows:
 * they come last, on their own line. */
#include "analyses/geometry/geometry.h"
#include "analyses/geometry/sums.h"
#include "analyses/linalg/lapack.h"
#include "analyses/stats/block_products.h"
#include "core/base/environment.h"
#include "core/base/hash.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/kernels/blas.h"
#include "tests/bench/made_trace.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 4096, SUSTAINED = 4 };

/* The source: one block of rows, again and again, a copy each time as a file would give. */
static enum gs_status again(const struct gs_rows *rows, uint64_t first, size_t count, float *values,
                            struct gs_error *error) {
    (void)error;
    for (size_t r = 0; r < count; r++) {
        const float *row = rows->array + ((size_t)(first + r) % BLOCK) * rows->width;
        for (size_t c = 0; c < rows->width; c++) values[r * rows->width + c] = row[c];
    }
    return GS_OK;
}

/* Rows a second: the best call, and the mean of calls for `seconds`. */
static double time_ssyrk(const float *rows, size_t dims, double seconds, double *mean) {
    float *product = gs_calloc(dims * dims, sizeof *product);
    double best = 1e30, sum = 0;
    int calls = 0;
    for (; calls < 5 || sum < seconds; calls++) {
        double start = omp_get_wtime();
        gs_blas_ssyrk(GS_UPPER, GS_TRANSPOSED, dims, BLOCK, 1, rows, dims, 0, product, dims, NULL);
        double took = omp_get_wtime() - start;
        sum += took;
        if (took < best) best = took;
    }
    gs_free(product);
    if (mean) *mean = BLOCK * (double)calls / sum;
    return BLOCK / best;
}

static double time_pass(const struct gs_rows *rows, enum gs_moments_product product) {
    struct gs_geometry_plan plan = {rows->width, rows->sequences, rows->length, product, 1, false};
    struct gs_geometry_sums *sums;
    if (gs_geometry_sums_create(&plan, &sums, NULL) != GS_OK) exit(3);
    double start = omp_get_wtime();
    for (size_t s = 0; s < rows->sequences; s++)
        for (uint64_t at = 0; at < rows->length[s];) {
            size_t count;
            float *room = gs_geometry_sums_room(sums, &count);
            if (count > 420) count = 420;
            if (gs_rows_read(rows, s, at, count, room, NULL) != GS_OK) exit(3);
            if (gs_geometry_sums_put(sums, count, NULL) != GS_OK) exit(3);
            at += count;
        }
    double took = omp_get_wtime() - start;
    gs_geometry_sums_destroy(sums);
    return (double)gs_rows_total(rows) / took;
}

static double time_whole(const struct gs_rows *rows, size_t replicates) {
    struct gs_geometry_options options = {.replicates_given = true, .replicates = replicates};
    struct gs_geometry *geometry;
    double start = omp_get_wtime();
    if (gs_geometry_of_rows(rows, &options, &geometry, NULL) != GS_OK) exit(3);
    double took = omp_get_wtime() - start;
    gs_geometry_destroy(geometry);
    return took;
}

/* ---- from a file ---- */

/* What geometry TRACE --json does up to writing the JSON. */
static double time_command(struct gs_trace *trace, size_t replicates, bool hash) {
    struct gs_geometry_options options = {.replicates_given = true, .replicates = replicates};
    struct gs_results *results = gs_results_create("geometry");
    struct gs_error error;
    double start = bench_now();
    if (hash)
        bench_must(gs_results_source_meanwhile(results, gs_trace_info(trace)->path, true, &error),
                   &error);
    bench_must(gs_geometry_of_trace(trace, NULL, &options, results, &error), &error);
    bench_must(gs_results_settle(results, &error), &error);
    double took = bench_now() - start;
    gs_results_destroy(results);
    return took;
}

static double time_reading(const struct gs_rows *rows, float *room) {
    struct gs_error error;
    double start = bench_now();
    for (size_t s = 0; s < rows->sequences; s++)
        for (uint64_t at = 0; at < rows->length[s]; at += 420) {
            uint64_t left = rows->length[s] - at;
            bench_must(gs_rows_read(rows, s, at, left < 420 ? (size_t)left : 420, room, &error),
                       &error);
        }
    return bench_now() - start;
}

/* Seconds of one block's centring and product. */
static void time_block(const float *rows, size_t dims, double *centring, double *product) {
    struct gs_block_products p;
    struct gs_error error;
    *centring = *product = 1e30;
    bench_must(gs_block_products_create(&p, dims, BLOCK, false, &error), &error);
    for (size_t c = 0; c < dims; c++) p.mean[c] = p.scale[c] = 1;
    for (int round = 0; round < 4; round++) {
        double start = bench_now(), middle;
        gs_block_products_centre(&p, rows, BLOCK);
        middle = bench_now();
        bench_must(gs_block_products_multiply(&p, BLOCK, &error), &error);
        double end = bench_now();
        if (middle - start < *centring) *centring = middle - start;
        if (end - middle < *product) *product = end - middle;
    }
    gs_block_products_release(&p);
}

static double time_spectrum(size_t dims) {
    double *matrix = gs_calloc(dims * dims, sizeof *matrix), *values = gs_calloc(dims, 8);
    if (!matrix || !values) exit(3);
    for (size_t i = 0; i < dims; i++)
        for (size_t j = i; j < dims; j++) matrix[i * dims + j] = 1 / (1 + (double)(j - i));
    struct gs_error error;
    double start = bench_now();
    bench_must(gs_eigenvalues(dims, matrix, values, &error), &error);
    double took = bench_now() - start;
    gs_free(values);
    gs_free(matrix);
    return took;
}

static void part(const char *name, double seconds, double whole) {
    printf("  %-34s %7.2f s  %5.1f %%\n", name, seconds, 100 * seconds / whole);
}

static void bench_file(const char *path, const float *block, size_t dims, size_t n,
                       size_t replicates, double peak) {
    struct gs_trace *trace = bench_trace(path, dims, n);
    struct gs_rows rows = gs_rows_of_state(trace, 0);
    char text[GS_SHA256_TEXT];
    struct gs_error error;
    if (rows.width != dims) exit(2);
    float *room = gs_calloc(420 * dims, sizeof *room);
    if (!room) exit(3);
    double count = (double)gs_rows_total(&rows), centring, product;
    double reading = time_reading(&rows, room), start = bench_now();
    bench_must(gs_sha256_path(path, text, &error), &error);
    double hashing = bench_now() - start;
    time_block(block, dims, &centring, &product);
    double before, after, best = time_ssyrk(block, dims, SUSTAINED, &before);
    double whole = time_command(trace, 0, true);
    double again = time_ssyrk(block, dims, SUSTAINED, &after);
    if (best > peak) peak = best;
    if (again > peak) peak = again;
    double limit = (before + after) / 2;
    printf("%s: %.0f rows\n", path, count);
    printf("ssyrk for %d s before and after: %9.0f and %.0f rows/s; its best call %.0f\n",
           SUSTAINED, before, after, peak);
    printf("command, no intervals   %.2f s  %9.0f rows/s  %5.1f %% of ssyrk, %.1f %% of its best\n",
           whole, count / whole, 100 * count / whole / limit, 100 * count / whole / peak);
    printf("parts, each alone (hashing takes one thread of all):\n");
    part("products", product * count / BLOCK, whole);
    part("centring and packing", centring * count / BLOCK, whole);
    part("reading and checking", reading, whole);
    part("spectrum", time_spectrum(dims), whole);
    part("hashing / threads", hashing / gs_threads_get(), whole);
    if (replicates) {
        double more = time_command(trace, replicates, true);
        printf("command, %zu replicates  %.2f s: %.3f s more a replicate\n", replicates, more,
               (more - whole) / (double)replicates);
    }
    bench_peak();
    gs_free(room);
    gs_trace_close(trace);
}

int main(int argc, char **argv) {
    size_t dims = argc > 1 ? strtoul(argv[1], NULL, 10) : 2496;
    size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 40960, memory = n < 40960 ? n : 40960;
    size_t replicates = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    enum { SEQUENCES = 20 };
    uint64_t start[SEQUENCES], length[SEQUENCES];
    for (size_t s = 0; s < SEQUENCES; s++) {
        start[s] = s * (memory / SEQUENCES);
        length[s] = memory / SEQUENCES;
    }
    float *block = gs_calloc(BLOCK * dims, sizeof *block);
    if (!block) return 3;
    struct gs_random random;
    gs_random_seed(&random, 1, "bench");
    for (size_t i = 0; i < BLOCK * dims; i++) block[i] = (float)(1 + gs_random_normal(&random));
    struct gs_rows rows = gs_rows_of_array(block, dims, SEQUENCES, start, length);
    rows.read = again;
    struct gs_environment environment;
    gs_environment_read(&environment);
    double d = (double)dims, peak = time_ssyrk(block, dims, 0, NULL);
    printf("%s %s, %d threads; %zu dims, %zu rows in memory\n", environment.blas,
           environment.blas_core, environment.threads, dims, memory);
    printf("ssyrk            %9.0f rows/s  %6.1f GFLOP/s\n", peak, peak * d * d * 1e-9);
    for (int product = 0; product < 2; product++) {
        double rate = time_pass(&rows, (enum gs_moments_product)product);
        printf("pass, %s    %9.0f rows/s  %6.1f GFLOP/s  %5.1f %% of ssyrk\n",
               gs_moments_product_name((enum gs_moments_product)product), rate, rate * d * d * 1e-9,
               100 * rate / peak);
    }
    if (argc <= 4) {
        double took = time_whole(&rows, replicates);
        printf("whole, %4zu replicates  %.2f s  %9.0f rows/s\n", replicates, took,
               (double)memory / took);
    }
    if (argc > 4) bench_file(argv[4], block, dims, n, replicates, peak);
    gs_free(block);
    return 0;
}
