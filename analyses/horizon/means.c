#include "analyses/horizon/measurement.h"
#include "core/kernels/rows.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum gs_status gs_measurement_read(struct gs_measurement *m, size_t rows_read,
                                   struct gs_error *error) {
    m->done += (double)rows_read;
    gs_progress_report(m->progress, m->done, m->total, NULL);
    if (gs_progress_stop(m->progress)) return gs_fail(error, GS_INTERRUPTED, "stopped on request");
    return GS_OK;
}

/* Columns are added by one thread each, rows in order. */
static void add_rows(const float *values, size_t count, size_t width, double *sum) {
    enum { SHARE = 256 };
    size_t shares = (width + SHARE - 1) / SHARE;
#pragma omp parallel for schedule(static) if (count * width >= 131072)
    for (size_t s = 0; s < shares; s++) {
        size_t first = s * SHARE, columns = width - first < SHARE ? width - first : SHARE;
        gs_row_kernels()->column_sums(values + first, width, count, columns, sum + first);
    }
}

/* Sums of finite floats are finite in float64: a sum that is not has met a value that is not. */
static enum gs_status check_finite(const struct gs_measurement *m, const double *sum,
                                   size_t sequence, uint64_t from, size_t count,
                                   struct gs_error *error) {
    size_t width = m->rows->width, c = 0;
    while (c < width && isfinite(sum[c])) c++;
    if (c == width) return GS_OK;
    size_t r = 0;
    while (r + 1 < count && isfinite(m->raw[r * width + c])) r++;
    gs_fail(error, GS_NUMERIC, "a state is not finite");
    gs_error_found(error, "%g", (double)m->raw[r * width + c]);
    gs_error_where(error, "sequence %zu, row %" PRIu64 " of it, dimension %zu", sequence, from + r,
                   c);
    gs_error_next(error, "look at the run that made it");
    return GS_NUMERIC;
}

static enum gs_status add_sequence(struct gs_measurement *m, size_t sequence, double *sum,
                                   struct gs_error *error) {
    uint64_t length = m->rows->length[sequence];
    for (uint64_t from = 0; from < length; from += m->piece) {
        size_t count = length - from < m->piece ? (size_t)(length - from) : m->piece;
        enum gs_status status = gs_rows_read(m->rows, sequence, from, count, m->raw, error);
        if (status != GS_OK) return status;
        add_rows(m->raw, count, m->rows->width, sum);
        status = check_finite(m, sum, sequence, from, count, error);
        if (status == GS_OK) status = gs_measurement_read(m, count, error);
        if (status != GS_OK) return status;
    }
    return GS_OK;
}

static void divide(double *sum, size_t width, double count) {
    for (size_t c = 0; c < width; c++) sum[c] = count > 0 ? sum[c] / count : 0;
}

enum gs_status gs_measurement_global_mean(struct gs_measurement *m, struct gs_error *error) {
    for (size_t s = 0; s < m->rows->sequences; s++) {
        enum gs_status status = add_sequence(m, s, m->global_mean, error);
        if (status != GS_OK) return status;
    }
    divide(m->global_mean, m->rows->width, (double)m->horizon->rows);
    return GS_OK;
}

enum gs_status gs_measurement_sequence_mean(struct gs_measurement *m, size_t sequence,
                                            struct gs_error *error) {
    memset(m->sequence_mean, 0, m->rows->width * sizeof *m->sequence_mean);
    enum gs_status status = add_sequence(m, sequence, m->sequence_mean, error);
    divide(m->sequence_mean, m->rows->width, (double)m->rows->length[sequence]);
    return status;
}

uint64_t gs_measurement_end(const struct gs_measurement *m, size_t sequence, int64_t partner) {
    uint64_t own = m->rows->length[sequence], end = own;
    if (partner < 0 || own == 0) return end;
    uint64_t reach = own + m->horizon->max_lag, other = m->rows->length[partner];
    if (other > reach) other = reach;
    return other > end ? other : end;
}
