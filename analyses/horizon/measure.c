#include "analyses/horizon/horizon.h"
#include "analyses/horizon/pair_sums.h"
#include "analyses/horizon/partners.h"
#include "analyses/horizon/unit_rows.h"
#include "analyses/stats/lags.h"
#include "core/base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CENTERINGS = GS_CURVE_NULL, OTHERS = GS_CURVES - GS_CURVE_NULL };

struct measurement {
    const struct gs_rows *rows;
    struct gs_horizon *horizon;
    size_t block;
    float *raw;                             /* (block, width) rows as read */
    double *global_mean, *sequence_mean;    /* (width) */
    struct gs_unit_rows window[CENTERINGS]; /* the own sequence */
    struct gs_unit_rows other[OTHERS];      /* one block of the partner: raw, minus global mean */
    struct gs_pair_sums *sums;
    const struct gs_progress *progress;
    double done, total; /* rows */
};

/* ---- reading ---- */

static enum gs_status check_stop(struct measurement *m, size_t rows_read, struct gs_error *error) {
    m->done += (double)rows_read;
    gs_progress_report(m->progress, m->done, m->total, NULL);
    if (gs_progress_stop(m->progress)) return gs_fail(error, GS_INTERRUPTED, "stopped on request");
    return GS_OK;
}

static size_t rows_left(uint64_t length, uint64_t from, size_t block) {
    if (from >= length) return 0;
    return length - from < block ? (size_t)(length - from) : block;
}

/* Columns are added by one thread each, rows in order. */
static void add_rows(const float *values, size_t count, size_t width, double *sum) {
#pragma omp parallel for schedule(static) if (count * width >= 131072)
    for (size_t c = 0; c < width; c++) {
        double s = sum[c];
        for (size_t r = 0; r < count; r++) s += (double)values[r * width + c];
        sum[c] = s;
    }
}

/* Sums of finite floats are finite in float64: a sum that is not has met a value that is not. */
static enum gs_status check_finite(const struct measurement *m, const double *sum, size_t sequence,
                                   uint64_t from, size_t count, struct gs_error *error) {
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

static enum gs_status add_sequence(struct measurement *m, size_t sequence, double *sum,
                                   struct gs_error *error) {
    uint64_t length = m->rows->length[sequence];
    for (uint64_t from = 0; from < length; from += m->block) {
        size_t count = rows_left(length, from, m->block);
        enum gs_status status = gs_rows_read(m->rows, sequence, from, count, m->raw, error);
        if (status != GS_OK) return status;
        add_rows(m->raw, count, m->rows->width, sum);
        status = check_finite(m, sum, sequence, from, count, error);
        if (status == GS_OK) status = check_stop(m, count, error);
        if (status != GS_OK) return status;
    }
    return GS_OK;
}

static void divide(double *sum, size_t width, double count) {
    for (size_t c = 0; c < width; c++) sum[c] = count > 0 ? sum[c] / count : 0;
}

static enum gs_status find_global_mean(struct measurement *m, struct gs_error *error) {
    for (size_t s = 0; s < m->rows->sequences; s++) {
        enum gs_status status = add_sequence(m, s, m->global_mean, error);
        if (status != GS_OK) return status;
    }
    divide(m->global_mean, m->rows->width, (double)m->horizon->rows);
    return GS_OK;
}

static enum gs_status find_sequence_mean(struct measurement *m, size_t sequence,
                                         struct gs_error *error) {
    memset(m->sequence_mean, 0, m->rows->width * sizeof *m->sequence_mean);
    enum gs_status status = add_sequence(m, sequence, m->sequence_mean, error);
    divide(m->sequence_mean, m->rows->width, (double)m->rows->length[sequence]);
    return status;
}

/* ---- a block of unit rows ---- */

/* Rows from … from + block − 1 of a sequence into the slots of `units` at `slot`; slots behind the
 * sequence's end are cleared. Counts rows of length zero for each. */
static enum gs_status fill_block(struct measurement *m, size_t sequence, uint64_t from,
                                 struct gs_unit_rows *units, size_t unit_count,
                                 const double *const *means, size_t slot, uint64_t *zeros,
                                 struct gs_error *error) {
    size_t width = m->rows->width;
    size_t count = rows_left(m->rows->length[sequence], from, m->block), work = m->block * width;
    enum gs_status status = gs_rows_read(m->rows, sequence, from, count, m->raw, error);
    if (status != GS_OK) return status;
    uint64_t zero[CENTERINGS] = {0};
#pragma omp parallel for collapse(2) schedule(static) reduction(+ : zero) if (work >= 65536)
    for (size_t r = 0; r < m->block; r++)
        for (size_t u = 0; u < unit_count; u++) {
            if (r >= count)
                gs_unit_rows_clear(&units[u], slot + r);
            else
                zero[u] += !gs_unit_rows_set(&units[u], slot + r, m->raw + r * width, means[u]);
        }
    for (size_t u = 0; zeros && u < unit_count; u++) zeros[u] += zero[u];
    return check_stop(m, count, error);
}

/* ---- a sequence ---- */

static void set_sides(struct measurement *m, struct gs_pair_side *sides, size_t slot,
                      bool has_partner) {
    for (size_t c = 0; c < CENTERINGS; c++)
        sides[c] = (struct gs_pair_side){&m->window[c], &m->window[c], slot};
    const struct gs_unit_rows *early[OTHERS] = {&m->window[GS_CURVE_RAW],
                                                &m->window[GS_CURVE_CENTERED_GLOBAL]};
    for (size_t o = 0; o < OTHERS; o++)
        sides[CENTERINGS + o] =
            (struct gs_pair_side){has_partner ? early[o] : NULL, &m->other[o], 0};
}

/* How far late rows go: to the own end, and with a partner as far as it has rows within reach. */
static uint64_t late_end(const struct measurement *m, size_t sequence, int64_t partner) {
    uint64_t own = m->rows->length[sequence], end = own;
    if (partner < 0 || own == 0) return end;
    uint64_t reach = own + m->horizon->max_lag, other = m->rows->length[partner];
    if (other > reach) other = reach;
    return other > end ? other : end;
}

static enum gs_status measure_sequence(struct measurement *m, size_t sequence, int64_t partner,
                                       struct gs_error *error) {
    struct gs_horizon *h = m->horizon;
    const double *const own_means[CENTERINGS] = {NULL, m->sequence_mean, m->global_mean};
    const double *const other_means[OTHERS] = {NULL, m->global_mean};
    double *cosines = h->sums + sequence * GS_CURVES * h->columns;
    double *pairs = h->pairs + sequence * GS_CURVES * h->columns;
    uint64_t end = late_end(m, sequence, partner);
    enum gs_status status = find_sequence_mean(m, sequence, error);
    gs_pair_sums_reset(m->sums);
    for (uint64_t first = 0; status == GS_OK && first < end; first += m->block) {
        size_t slot = (size_t)(first % m->window[0].capacity);
        status = fill_block(m, sequence, first, m->window, CENTERINGS, own_means, slot,
                            h->zero_vectors, error);
        if (status == GS_OK && partner >= 0)
            status = fill_block(m, (size_t)partner, first, m->other, OTHERS, other_means, 0, NULL,
                                error);
        struct gs_pair_side sides[GS_CURVES];
        set_sides(m, sides, slot, partner >= 0);
        if (status == GS_OK)
            status = gs_pair_sums_add(m->sums, sides, (size_t)first, cosines, pairs, error);
    }
    return status;
}

static enum gs_status measure_all(struct measurement *m, const struct gs_horizon_plan *plan,
                                  struct gs_error *error) {
    size_t sequences = m->rows->sequences;
    int64_t *partner = gs_calloc(sequences, sizeof *partner);
    if (!partner) return gs_fail_memory(error, sequences * sizeof *partner, "null pairs");
    enum gs_status status = gs_partners_draw(sequences, plan->document, plan->seed, partner, error);
    for (size_t s = 0; status == GS_OK && s < sequences; s++) {
        m->horizon->unpaired += partner[s] < 0;
        status = measure_sequence(m, s, partner[s], error);
    }
    gs_free(partner);
    return status;
}

/* ---- setting up ---- */

static enum gs_status create_horizon(const struct gs_rows *rows, const struct gs_horizon_plan *plan,
                                     struct gs_horizon **horizon, struct gs_error *error) {
    struct gs_horizon *h = gs_calloc(1, sizeof *h);
    if (!h) return gs_fail_memory(error, sizeof *h, "a horizon");
    *horizon = h;
    h->sequences = rows->sequences;
    h->width = rows->width;
    h->rows = gs_rows_total(rows);
    uint64_t longest = gs_rows_longest(rows);
    h->max_lag = plan->max_lag ? plan->max_lag : GS_HORIZON_MAX_LAG;
    if (longest == 0 || h->max_lag > longest - 1) h->max_lag = longest ? (size_t)longest - 1 : 0;
    for (size_t s = 0; s < rows->sequences; s++)
        if (rows->length[s] >= 2) {
            h->long_enough++;
            h->steps += rows->length[s] - 1;
        }
    size_t (*choose)(size_t, size_t *) = plan->all_lags ? gs_lags_all : gs_lags_powers;
    h->lag_count = choose(h->max_lag, NULL);
    h->columns = h->lag_count + GS_BANDS;
    size_t count;
    if (!gs_multiply(rows->sequences, GS_CURVES * h->columns, &count)) count = SIZE_MAX;
    h->lags = gs_calloc(h->lag_count, sizeof *h->lags);
    h->sums = gs_calloc(count, sizeof *h->sums);
    h->pairs = gs_calloc(count, sizeof *h->pairs);
    if (!h->lags || !h->sums || !h->pairs)
        return gs_fail_memory(error, count > SIZE_MAX / 16 ? SIZE_MAX : count * 16,
                              "sums for each sequence and lag");
    choose(h->max_lag, h->lags);
    return GS_OK;
}

static enum gs_status create_buffers(struct measurement *m, const struct gs_horizon_plan *plan,
                                     struct gs_error *error) {
    size_t width = m->rows->width, max_lag = m->horizon->max_lag, block = m->block, count;
    if (!gs_multiply(block, width, &count)) count = SIZE_MAX;
    m->raw = gs_calloc(count, sizeof *m->raw);
    m->global_mean = gs_calloc(width, sizeof *m->global_mean);
    m->sequence_mean = gs_calloc(width, sizeof *m->sequence_mean);
    if (!m->raw || !m->global_mean || !m->sequence_mean)
        return gs_fail_memory(error, count > SIZE_MAX / 4 ? SIZE_MAX : count * 4, "rows");
    /* early rows max_lag + 1 before the first late one, so that windows can let go of them */
    size_t blocks = max_lag / block + 2;
    enum gs_status status = GS_OK;
    for (size_t c = 0; status == GS_OK && c < CENTERINGS; c++)
        status = gs_unit_rows_create(&m->window[c], width, blocks * block, error);
    for (size_t o = 0; status == GS_OK && o < OTHERS; o++)
        status = gs_unit_rows_create(&m->other[o], width, block, error);
    if (status != GS_OK) return status;
    return gs_pair_sums_create(m->horizon, plan->all_lags, block, &m->sums, error);
}

static void release_buffers(struct measurement *m) {
    gs_pair_sums_destroy(m->sums);
    for (size_t c = 0; c < CENTERINGS; c++) gs_unit_rows_release(&m->window[c]);
    for (size_t o = 0; o < OTHERS; o++) gs_unit_rows_release(&m->other[o]);
    gs_free(m->raw);
    gs_free(m->global_mean);
    gs_free(m->sequence_mean);
}

enum gs_status gs_horizon_measure(const struct gs_rows *rows, const struct gs_horizon_plan *plan,
                                  const struct gs_progress *progress, struct gs_horizon **horizon,
                                  struct gs_error *error) {
    *horizon = NULL;
    struct measurement m = {.rows = rows, .progress = progress};
    m.block = plan->block ? plan->block : GS_HORIZON_BLOCK;
    enum gs_status status = create_horizon(rows, plan, &m.horizon, error);
    /* global mean, sequence mean, curves, and the null's partner */
    if (status == GS_OK) m.total = 4 * (double)m.horizon->rows;
    if (status == GS_OK) status = create_buffers(&m, plan, error);
    if (status == GS_OK) status = find_global_mean(&m, error);
    if (status == GS_OK) status = measure_all(&m, plan, error);
    release_buffers(&m);
    if (status == GS_OK)
        *horizon = m.horizon;
    else
        gs_horizon_destroy(m.horizon);
    return status;
}
