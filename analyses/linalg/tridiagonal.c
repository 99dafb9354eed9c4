#include "analyses/linalg/tridiagonal.h"

#include "analyses/linalg/band.h"
#include "core/base/memory.h"
#include "core/kernels/reflections.h"

#include <string.h>

enum { BAND = GS_BAND };

/* ---- from the band --------------------------------------------------------------------------- */

/* Column j of the lower triangle stands at band + j · DEPTH, from its diagonal down: element (i, j)
 * at band + j (DEPTH − 1) + i, so that blocks are column-major with that stride. Zeros stand behind
 * the last row, so that every block is whole. */
enum { DEPTH = 2 * BAND, STRIDE = DEPTH - 1 };

static void chase_column(size_t n, double *band, size_t column) {
    const struct gs_reflection_kernels *kernels = gs_reflection_kernels();
    struct gs_reflection h[2];
    size_t row = column + 1, now = 0;
    kernels->make(band + column * STRIDE + row, &h[now]);
    kernels->both_sides(band + row * STRIDE + row, STRIDE, &h[now]);
    for (; row + BAND < n; row += BAND, now = !now) {
        size_t next = row + BAND;
        kernels->chase(band + row * STRIDE + next, STRIDE, &h[now], &h[!now]);
        kernels->both_sides(band + next * STRIDE + next, STRIDE, &h[!now]);
    }
}

/* Room for the band of a matrix of order n. */
static enum gs_status create_band(size_t n, double **band, struct gs_error *error) {
    size_t doubles = (n + 2 * BAND) * DEPTH;
    *band = gs_calloc(doubles, sizeof **band);
    return *band ? GS_OK : gs_fail_memory(error, doubles * sizeof **band, "a band matrix");
}

/* The band becomes tridiagonal. */
static void chase(size_t n, double *band, double *diagonal, double *beside) {
    for (size_t j = 0; j + 2 < n; j++) chase_column(n, band, j);
    for (size_t i = 0; i < n; i++) diagonal[i] = band[i * DEPTH];
    for (size_t i = 0; i + 1 < n; i++) beside[i] = band[i * DEPTH + 1];
}

enum gs_status gs_tridiagonal_reduce(size_t n, double *matrix, int threads, double *diagonal,
                                     double *beside, struct gs_error *error) {
    double *band;
    enum gs_status status = gs_band_reduce(n, matrix, threads, error);
    if (status == GS_OK) status = create_band(n, &band, error);
    if (status != GS_OK) return status;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n && i <= j + BAND; i++) band[j * STRIDE + i] = matrix[j * n + i];
    chase(n, band, diagonal, beside);
    gs_free(band);
    return GS_OK;
}

/* Upper triangle to floats in the same memory, in ascending order: number k ends where those before
 * it began. */
static float *narrow(size_t n, double *matrix) {
    char *bytes = (char *)matrix;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) {
            float value = (float)matrix[i * n + j];
            memcpy(bytes + (i * n + j) * sizeof value, &value, sizeof value);
        }
    return (float *)(void *)bytes;
}

enum gs_status gs_tridiagonal_reduce_single(size_t n, double *matrix, int threads, double *diagonal,
                                            double *beside, struct gs_error *error) {
    double *band;
    float *narrowed = narrow(n, matrix);
    enum gs_status status = gs_band_reduce_single(n, narrowed, threads, error);
    if (status == GS_OK) status = create_band(n, &band, error);
    if (status != GS_OK) return status;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n && i <= j + BAND; i++)
            band[j * STRIDE + i] = (double)narrowed[j * n + i];
    chase(n, band, diagonal, beside);
    gs_free(band);
    return GS_OK;
}
