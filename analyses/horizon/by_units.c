#include "analyses/horizon/measurement.h"

static size_t rows_left(uint64_t length, uint64_t from, size_t block) {
    if (from >= length) return 0;
    return length - from < block ? (size_t)(length - from) : block;
}

/* Rows from … from + block − 1 of a sequence into the slots of `units` at `slot`; slots behind the
 * sequence's end are cleared. Counts rows of length zero for each. */
static enum gs_status fill_block(struct gs_measurement *m, size_t sequence, uint64_t from,
                                 struct gs_unit_rows *units, size_t unit_count,
                                 const double *const *means, size_t slot, uint64_t *zeros,
                                 struct gs_error *error) {
    size_t width = m->rows->width;
    size_t count = rows_left(m->rows->length[sequence], from, m->block), work = m->block * width;
    enum gs_status status = gs_rows_read(m->rows, sequence, from, count, m->raw, error);
    if (status != GS_OK) return status;
    uint64_t zero[GS_CENTERINGS] = {0};
#pragma omp parallel for collapse(2) schedule(static) reduction(+ : zero) if (work >= 65536)
    for (size_t r = 0; r < m->block; r++)
        for (size_t u = 0; u < unit_count; u++) {
            if (r >= count)
                gs_unit_rows_clear(&units[u], slot + r);
            else
                zero[u] += !gs_unit_rows_set(&units[u], slot + r, m->raw + r * width, means[u]);
        }
    for (size_t u = 0; zeros && u < unit_count; u++) zeros[u] += zero[u];
    return gs_measurement_read(m, count, error);
}

/* ---- a sequence ---- */

static void set_sides(struct gs_measurement *m, struct gs_pair_side *sides, size_t slot,
                      bool has_partner) {
    for (size_t c = 0; c < GS_CENTERINGS; c++)
        sides[c] = (struct gs_pair_side){&m->window[c], &m->window[c], slot};
    const struct gs_unit_rows *early[GS_OTHERS] = {&m->window[GS_CURVE_RAW],
                                                   &m->window[GS_CURVE_CENTERED_GLOBAL]};
    for (size_t o = 0; o < GS_OTHERS; o++)
        sides[GS_CENTERINGS + o] =
            (struct gs_pair_side){has_partner ? early[o] : NULL, &m->others[o], 0};
}

enum gs_status gs_measurement_by_units(struct gs_measurement *m, size_t sequence, int64_t partner,
                                       struct gs_error *error) {
    struct gs_horizon *h = m->horizon;
    const double *const own_means[GS_CENTERINGS] = {NULL, m->sequence_mean, m->global_mean};
    const double *const other_means[GS_OTHERS] = {NULL, m->global_mean};
    double *cosines = h->sums + sequence * GS_CURVES * h->columns;
    double *pairs = h->pairs + sequence * GS_CURVES * h->columns;
    uint64_t end = gs_measurement_end(m, sequence, partner);
    enum gs_status status = gs_measurement_sequence_mean(m, sequence, error);
    gs_pair_sums_reset(m->sums);
    for (uint64_t first = 0; status == GS_OK && first < end; first += m->block) {
        size_t slot = (size_t)(first % m->window[0].capacity);
        status = fill_block(m, sequence, first, m->window, GS_CENTERINGS, own_means, slot,
                            h->zero_vectors, error);
        if (status == GS_OK && partner >= 0)
            status = fill_block(m, (size_t)partner, first, m->others, GS_OTHERS, other_means, 0,
                                NULL, error);
        struct gs_pair_side sides[GS_CURVES];
        set_sides(m, sides, slot, partner >= 0);
        if (status == GS_OK)
            status = gs_pair_sums_add(m->sums, sides, (size_t)first, cosines, pairs, error);
    }
    return status;
}
