#include "analyses/horizon/measurement.h"

#include <string.h>

static enum gs_status note_read(void *context, size_t rows, struct gs_error *error) {
    return gs_measurement_read(context, rows, error);
}

static enum gs_status load(struct gs_measurement *m, struct gs_row_block *rows, size_t sequence,
                           uint64_t first, struct gs_error *error) {
    if (rows->sequence == sequence && rows->first == first) {
        m->done += (double)rows->count; /* it stands there from the sequence before */
        return GS_OK;
    }
    return gs_row_block_load(rows, m->rows, sequence, first, &m->centre, note_read, m, error);
}

/* m->shift: the sequence's mean minus that of all rows. A sequence of one block has just been added
 * up. */
static enum gs_status find_shift(struct gs_measurement *m, size_t sequence, double *square,
                                 struct gs_error *error) {
    uint64_t length = m->rows->length[sequence];
    enum gs_status status = GS_OK;
    if (length > m->own->block) status = gs_measurement_sequence_mean(m, sequence, error);
    *square = 0;
    for (size_t c = 0; c < m->rows->width; c++) {
        double shift = length > m->own->block ? m->sequence_mean[c] - m->global_mean[c]
                       : length > 0           ? m->own->sum[c] / (double)length
                                              : 0;
        m->shift[c] = (float)shift;
        *square += (double)m->shift[c] * (double)m->shift[c];
    }
    return status;
}

static void count_zeros(const struct gs_row_block *own, uint64_t zeros[GS_CENTERINGS]) {
    for (size_t i = own->past; i < own->past + own->count; i++) {
        zeros[GS_CURVE_RAW] += own->square[i] == 0;
        zeros[GS_CURVE_CENTERED_SEQUENCE] += own->near[i] == 0;
        zeros[GS_CURVE_CENTERED_GLOBAL] += own->away[i] == 0;
    }
}

static enum gs_status add_block(struct gs_measurement *m, size_t sequence, int64_t partner,
                                uint64_t first, size_t count, double *square, bool *delicate,
                                struct gs_error *error) {
    struct gs_horizon *h = m->horizon;
    size_t slice = sequence * GS_CURVES * h->columns;
    enum gs_status status = load(m, m->own, sequence, first, error);
    if (status == GS_OK && first == 0) status = find_shift(m, sequence, square, error);
    if (status != GS_OK) return status;
    if (!m->own->shifted) gs_row_block_shift(m->own, m->shift, *square);
    if (partner >= 0) status = load(m, m->other, (size_t)partner, first, error);
    *delicate = m->own->delicate || (partner >= 0 && m->other->delicate);
    if (status != GS_OK || *delicate) return status;
    gs_chosen_lags_add(m->chosen, m->own, partner >= 0 ? m->other : NULL, count, *square,
                       h->sums + slice, h->pairs + slice);
    return GS_OK;
}

enum gs_status gs_measurement_by_dots(struct gs_measurement *m, size_t sequence, int64_t partner,
                                      bool *delicate, struct gs_error *error) {
    struct gs_horizon *h = m->horizon;
    uint64_t zeros[GS_CENTERINGS] = {0}, end = gs_measurement_end(m, sequence, partner);
    size_t numbers = GS_CURVES * h->columns;
    double square = 0;
    enum gs_status status = GS_OK;
    for (uint64_t first = 0; status == GS_OK && !*delicate && first < end; first += m->own->block) {
        size_t count = end - first < m->own->block ? (size_t)(end - first) : m->own->block;
        status = add_block(m, sequence, partner, first, count, &square, delicate, error);
        count_zeros(m->own, zeros);
    }
    if (*delicate) {
        memset(h->sums + sequence * numbers, 0, numbers * sizeof *h->sums);
        memset(h->pairs + sequence * numbers, 0, numbers * sizeof *h->pairs);
    }
    for (int c = 0; c < GS_CENTERINGS && !*delicate; c++) h->zero_vectors[c] += zeros[c];
    struct gs_row_block *kept = m->own;
    m->own = m->other;
    m->other = kept;
    return status;
}
