#include "analyses/horizon/measurement.h"
#include "core/kernels/rows.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum gs_status gs_measurement_read(struct gs_measurement *m, size_t rows_read,
                                   struct gs_error *error) {
    m->done += (double)rows_read;
    gs_progress_report(m->progress, m->done, m->total, NULL);
    if (gs_progress_stop(m->progress)) return gs_fail(error, GS_INTERRUPTED, "stopped on request");
    return GS_OK;
}

/* Sums of the columns of rows from … of a sequence, a share of rows each: threads read for
 * themselves and add while the share is in their cache, or all rows have been read to `raw`. */
static enum gs_status add_shares(struct gs_measurement *m, size_t sequence, uint64_t from,
                                 size_t count, const float *raw, struct gs_error *error) {
    size_t width = m->rows->width, shares = (count + GS_MEAN_SHARE - 1) / GS_MEAN_SHARE;
    size_t failed = shares;
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)m->threads)                         \
    reduction(min                                                                                  \
              : failed) if (count * width >= 131072)
    for (size_t s = 0; s < shares; s++) {
        size_t row = s * GS_MEAN_SHARE, left = count - row;
        size_t rows = left < GS_MEAN_SHARE ? left : GS_MEAN_SHARE;
        float *mine = m->raw + (size_t)omp_get_thread_num() * GS_MEAN_SHARE * width;
        enum gs_status status =
            raw ? GS_OK : gs_rows_read(m->rows, sequence, from + row, rows, mine, NULL);
        if (status != GS_OK && s < failed) failed = s;
        memset(m->share_sums + s * width, 0, width * sizeof *m->share_sums);
        gs_row_kernels()->column_sums(raw ? raw + row * width : mine, width, rows, width,
                                      m->share_sums + s * width);
    }
    if (failed == shares) return GS_OK;
    size_t row = failed * GS_MEAN_SHARE, left = count - row;
    return gs_rows_read(m->rows, sequence, from + row, left < GS_MEAN_SHARE ? left : GS_MEAN_SHARE,
                        m->raw, error);
}

/* In order, whichever threads they come from. */
static void join_shares(const struct gs_measurement *m, size_t count, double *sum) {
    size_t width = m->rows->width, shares = (count + GS_MEAN_SHARE - 1) / GS_MEAN_SHARE;
#pragma omp parallel for schedule(static) if (count * width >= 131072)
    for (size_t c = 0; c < width; c++)
        for (size_t s = 0; s < shares; s++) sum[c] += m->share_sums[s * width + c];
}

static enum gs_status add_rows(struct gs_measurement *m, size_t sequence, uint64_t from,
                               size_t count, double *sum, struct gs_error *error) {
    const float *raw = NULL;
    enum gs_status status = GS_OK;
    if (!m->rows->side_by_side) {
        raw = m->raw;
        status = gs_rows_read(m->rows, sequence, from, count, m->raw, error);
    }
    if (status == GS_OK) status = add_shares(m, sequence, from, count, raw, error);
    if (status == GS_OK) join_shares(m, count, sum);
    return status;
}

/* Sums of finite floats are finite in float64: a sum that is not has met a value that is not. */
static enum gs_status check_finite(struct gs_measurement *m, const double *sum, size_t sequence,
                                   uint64_t from, size_t count, struct gs_error *error) {
    size_t width = m->rows->width, c = 0;
    while (c < width && isfinite(sum[c])) c++;
    if (c == width) return GS_OK;
    size_t r = 0;
    enum gs_status status = gs_rows_read(m->rows, sequence, from, count, m->raw, error);
    if (status != GS_OK) return status;
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
        enum gs_status status = add_rows(m, sequence, from, count, sum, error);
        if (status != GS_OK) return status;
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
