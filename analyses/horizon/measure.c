#include "analyses/horizon/horizon.h"
#include "analyses/horizon/measurement.h"
#include "analyses/horizon/partners.h"
#include "analyses/stats/lags.h"
#include "core/base/memory.h"
#include "core/kernels/rows.h"

#include <omp.h>

enum {
    PIECE_FLOATS = 1 << 21,  /* read at a time for means: 8 MiB */
    BLOCK_ROWS = 2048,       /* late rows at a time for chosen lags, and … */
    BLOCK_FLOATS = 16 << 20, /* … as many as this, if that is fewer */
    FEWEST_ROWS = 128
};

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

/* ---- buffers ---- */

static enum gs_status create_means(struct gs_measurement *m, struct gs_error *error) {
    size_t width = m->rows->width, count;
    m->piece = PIECE_FLOATS / width > m->block ? PIECE_FLOATS / width : m->block;
    m->threads = (size_t)omp_get_max_threads();
    size_t rows = m->threads * GS_MEAN_SHARE > m->piece ? m->threads * GS_MEAN_SHARE : m->piece;
    if (!gs_multiply(rows, width, &count)) count = SIZE_MAX;
    m->raw = gs_calloc(count, sizeof *m->raw);
    m->share_sums = gs_calloc((m->piece / GS_MEAN_SHARE + 1) * width, sizeof *m->share_sums);
    m->global_mean = gs_calloc(width, sizeof *m->global_mean);
    m->sequence_mean = gs_calloc(width, sizeof *m->sequence_mean);
    if (m->raw && m->share_sums && m->global_mean && m->sequence_mean) return GS_OK;
    return gs_fail_memory(error, count > SIZE_MAX / 4 ? SIZE_MAX : count * 4, "rows");
}

static size_t chosen_block(const struct gs_measurement *m) {
    uint64_t longest = gs_rows_longest(m->rows);
    if (m->plan->block) return m->plan->block;
    size_t most = BLOCK_FLOATS / m->rows->width;
    if (most > BLOCK_ROWS) most = BLOCK_ROWS;
    if (most < FEWEST_ROWS) most = FEWEST_ROWS;
    return longest < most ? (size_t)longest : most;
}

static enum gs_status create_chosen(struct gs_measurement *m, struct gs_error *error) {
    size_t width = m->rows->width, block = chosen_block(m);
    double square = 0;
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < 2; i++)
        status = gs_row_block_create(&m->blocks[i], width, m->horizon->max_lag, block, error);
    if (status != GS_OK) return status;
    m->own = &m->blocks[0];
    m->other = &m->blocks[1];
    size_t whole = m->own->panels * gs_row_kernels()->panel;
    m->shift = gs_calloc(whole, sizeof *m->shift);
    for (size_t i = 0; i < 2; i++) m->parts[i] = gs_calloc(whole, sizeof **m->parts);
    if (!m->shift || !m->parts[0] || !m->parts[1])
        return gs_fail_memory(error, whole * sizeof *m->shift, "a row");
    for (size_t c = 0; c < width; c++) {
        m->parts[0][c] = (float)m->global_mean[c];
        m->parts[1][c] = (float)(m->global_mean[c] - (double)m->parts[0][c]);
        square += m->global_mean[c] * m->global_mean[c];
    }
    m->centre = (struct gs_centre){m->parts[0], m->parts[1], m->global_mean};
    return gs_chosen_lags_create(m->horizon, m->own, square, &m->chosen, error);
}

/* Only where they are needed: they are as large as the others. */
static enum gs_status create_units(struct gs_measurement *m, struct gs_error *error) {
    size_t width = m->rows->width, block = m->block;
    if (m->sums) return GS_OK;
    /* early rows max_lag + 1 before the first late one, so that windows can let go of them */
    size_t blocks = m->horizon->max_lag / block + 2;
    enum gs_status status = GS_OK;
    for (size_t c = 0; status == GS_OK && c < GS_CENTERINGS; c++)
        status = gs_unit_rows_create(&m->window[c], width, blocks * block, error);
    for (size_t o = 0; status == GS_OK && o < GS_OTHERS; o++)
        status = gs_unit_rows_create(&m->others[o], width, block, error);
    if (status != GS_OK) return status;
    return gs_pair_sums_create(m->horizon, m->plan->all_lags, block, &m->sums, error);
}

static void release_buffers(struct gs_measurement *m) {
    gs_pair_sums_destroy(m->sums);
    for (size_t c = 0; c < GS_CENTERINGS; c++) gs_unit_rows_release(&m->window[c]);
    for (size_t o = 0; o < GS_OTHERS; o++) gs_unit_rows_release(&m->others[o]);
    gs_chosen_lags_destroy(m->chosen);
    for (size_t i = 0; i < 2; i++) gs_row_block_release(&m->blocks[i]);
    gs_free(m->shift);
    for (size_t i = 0; i < 2; i++) gs_free(m->parts[i]);
    gs_free(m->raw);
    gs_free(m->share_sums);
    gs_free(m->global_mean);
    gs_free(m->sequence_mean);
}

/* ---- every sequence ---- */

static enum gs_status measure_one(struct gs_measurement *m, size_t sequence, int64_t partner,
                                  struct gs_error *error) {
    bool delicate = m->plan->all_lags;
    enum gs_status status = GS_OK;
    if (!delicate) status = gs_measurement_by_dots(m, sequence, partner, &delicate, error);
    if (status != GS_OK || !delicate) return status;
    status = create_units(m, error);
    return status == GS_OK ? gs_measurement_by_units(m, sequence, partner, error) : status;
}

/* From each sequence on to its partner, whose rows are then there already. */
static enum gs_status follow(struct gs_measurement *m, const int64_t *partner, bool *done,
                             size_t first, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t s = first; status == GS_OK && !done[s]; s = (size_t)partner[s]) {
        m->horizon->unpaired += partner[s] < 0;
        done[s] = true;
        status = measure_one(m, s, partner[s], error);
        if (partner[s] < 0) break;
    }
    return status;
}

static enum gs_status measure_all(struct gs_measurement *m, struct gs_error *error) {
    size_t sequences = m->rows->sequences;
    int64_t *partner = gs_calloc(sequences, sizeof *partner);
    bool *done = gs_calloc(sequences, sizeof *done);
    enum gs_status status =
        partner && done
            ? gs_partners_draw(sequences, m->plan->document, m->plan->seed, partner, error)
            : gs_fail_memory(error, sequences * sizeof *partner, "null pairs");
    for (size_t s = 0; status == GS_OK && s < sequences; s++)
        status = follow(m, partner, done, s, error);
    gs_free(done);
    gs_free(partner);
    return status;
}

enum gs_status gs_horizon_measure(const struct gs_rows *rows, const struct gs_horizon_plan *plan,
                                  const struct gs_progress *progress, struct gs_horizon **horizon,
                                  struct gs_error *error) {
    *horizon = NULL;
    struct gs_measurement m = {.rows = rows, .plan = plan, .progress = progress};
    m.block = plan->block ? plan->block : GS_HORIZON_BLOCK;
    enum gs_status status = create_horizon(rows, plan, &m.horizon, error);
    /* global mean, sequence mean, curves, and the null's partner */
    if (status == GS_OK) m.total = 4 * (double)m.horizon->rows;
    if (status == GS_OK) status = create_means(&m, error);
    if (status == GS_OK) status = gs_measurement_global_mean(&m, error);
    if (status == GS_OK && !plan->all_lags) status = create_chosen(&m, error);
    if (status == GS_OK) status = measure_all(&m, error);
    release_buffers(&m);
    if (status == GS_OK)
        *horizon = m.horizon;
    else
        gs_horizon_destroy(m.horizon);
    return status;
}
