/* Rows per second of the geometry against ssyrk in the same run.
 *
 *     bench_geometry [dims [rows [replicates]]]      2496 40960 0
 *
 * ssyrk: 4,096 rows at a time, float32, all threads, nothing else: n · d² floating-point
 * operations counted for both. The pass is everything but the eigenvalues and the bootstrap. */
#include "analyses/geometry/geometry.h"
#include "analyses/geometry/sums.h"
#include "core/base/environment.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/kernels/blas.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 4096 };

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

static double time_ssyrk(const float *rows, size_t dims) {
    float *product = gs_calloc(dims * dims, sizeof *product);
    double best = 1e30;
    for (int run = 0; run < 5; run++) {
        double start = omp_get_wtime();
        gs_blas_ssyrk(GS_UPPER, GS_TRANSPOSED, dims, BLOCK, 1, rows, dims, 0, product, dims, NULL);
        double took = omp_get_wtime() - start;
        if (took < best) best = took;
    }
    gs_free(product);
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

int main(int argc, char **argv) {
    size_t dims = argc > 1 ? strtoul(argv[1], NULL, 10) : 2496;
    size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 40960;
    size_t replicates = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    enum { SEQUENCES = 20 };
    uint64_t start[SEQUENCES], length[SEQUENCES];
    for (size_t s = 0; s < SEQUENCES; s++) {
        start[s] = s * (n / SEQUENCES);
        length[s] = n / SEQUENCES;
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
    double d = (double)dims, peak = time_ssyrk(block, dims);
    printf("%s %s, %d threads; %zu dims, %zu rows\n", environment.blas, environment.blas_core,
           environment.threads, dims, n);
    printf("ssyrk            %9.0f rows/s  %6.1f GFLOP/s\n", peak, peak * d * d * 1e-9);
    for (int product = 0; product < 2; product++) {
        double rate = time_pass(&rows, (enum gs_moments_product)product);
        printf("pass, %s    %9.0f rows/s  %6.1f GFLOP/s  %5.1f %% of ssyrk\n",
               gs_moments_product_name((enum gs_moments_product)product), rate, rate * d * d * 1e-9,
               100 * rate / peak);
    }
    double took = time_whole(&rows, replicates);
    printf("whole, %4zu replicates  %.2f s  %9.0f rows/s\n", replicates, took, (double)n / took);
    gs_free(block);
    return 0;
}
