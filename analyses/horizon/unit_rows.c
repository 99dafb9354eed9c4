#include "analyses/horizon/unit_rows.h"

#include "core/base/memory.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 16, WIDE_LANES = 8 };
typedef float lanes __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef double wide_lanes __attribute__((vector_size(8 * WIDE_LANES), aligned(8), may_alias));

enum gs_status gs_unit_rows_create(struct gs_unit_rows *rows, size_t width, size_t capacity,
                                   struct gs_error *error) {
    *rows = (struct gs_unit_rows){.width = width, .capacity = capacity};
    size_t count;
    if (!gs_multiply(width, capacity, &count)) count = SIZE_MAX;
    rows->values = gs_calloc(count, sizeof *rows->values);
    rows->valid = gs_calloc(capacity, sizeof *rows->valid);
    if (rows->values && rows->valid) return GS_OK;
    return gs_fail_memory(error, count > SIZE_MAX / 4 ? SIZE_MAX : count * 4,
                          "unit vectors of the lag window");
}

void gs_unit_rows_release(struct gs_unit_rows *rows) {
    gs_free(rows->values);
    gs_free(rows->valid);
    *rows = (struct gs_unit_rows){0};
}

void gs_unit_rows_clear(struct gs_unit_rows *rows, size_t slot) {
    memset(rows->values + slot * rows->width, 0, rows->width * sizeof *rows->values);
    rows->valid[slot] = 0;
}

static double difference(const float *row, const double *mean, size_t i) {
    return mean ? (double)row[i] - mean[i] : (double)row[i];
}

/* ‖row − mean‖²; lanes so that it need not wait for one sum. Squares of floats fit in float64. */
static double squares(const float *row, const double *mean, size_t n) {
    double sum[WIDE_LANES] = {0};
    size_t i = 0;
    for (; i + WIDE_LANES <= n; i += WIDE_LANES)
        for (size_t l = 0; l < WIDE_LANES; l++) {
            double x = difference(row, mean, i + l);
            sum[l] += x * x;
        }
    for (size_t l = 0; i < n; i++, l++) {
        double x = difference(row, mean, i);
        sum[l] += x * x;
    }
    for (size_t half = WIDE_LANES / 2; half; half /= 2)
        for (size_t l = 0; l < half; l++) sum[l] += sum[l + half];
    return sum[0];
}

bool gs_unit_rows_set(struct gs_unit_rows *rows, size_t slot, const float *row,
                      const double *mean) {
    size_t n = rows->width;
    double square = squares(row, mean, n);
    if (square == 0) {
        gs_unit_rows_clear(rows, slot);
        return false;
    }
    double scale = 1 / sqrt(square);
    float *to = rows->values + slot * n;
    for (size_t i = 0; i < n; i++) to[i] = (float)(difference(row, mean, i) * scale);
    rows->valid[slot] = 1;
    return true;
}

double gs_unit_dot(const float *x, const float *y, size_t n) {
    lanes sum = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) sum += *(const lanes *)(x + i) * *(const lanes *)(y + i);
    float part[LANES];
    memcpy(part, &sum, sizeof part);
    for (size_t l = 0; i < n; i++, l++) part[l] += x[i] * y[i];
    double total = 0;
    for (size_t l = 0; l < LANES; l++) total += (double)part[l];
    return total;
}

double gs_unit_dot_wide(const float *x, const double *y, size_t n) {
    wide_lanes sum = {0};
    size_t i = 0;
    for (; i + WIDE_LANES <= n; i += WIDE_LANES) {
        wide_lanes wide;
        for (size_t l = 0; l < WIDE_LANES; l++) wide[l] = (double)x[i + l];
        sum += wide * *(const wide_lanes *)(y + i);
    }
    double total = 0;
    for (size_t l = 0; l < WIDE_LANES; l++) total += sum[l];
    for (; i < n; i++) total += (double)x[i] * y[i];
    return total;
}
