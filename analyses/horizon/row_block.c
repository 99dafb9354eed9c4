#include "analyses/horizon/row_block.h"

#include "core/base/memory.h"
#include "core/kernels/rows.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    VECTOR = 16,            /* floats in the widest vector: rows go in whole ones */
    PIECE_FLOATS = 1 << 21, /* read at a time: 8 MiB */
    SHARE = 16,             /* rows that one thread reads and packs at a time */
    SHIFTED = 64,           /* that it shifts */
    COLUMNS = 256           /* that one thread adds up */
};
enum { LONGER = 16, LONGER_SHIFTED = 4 }; /* how much longer x may be than a row as it is, p − m */

enum gs_status gs_row_block_create(struct gs_row_block *r, size_t width, size_t past, size_t block,
                                   struct gs_error *error) {
    size_t panel = gs_row_kernels()->panel, floats;
    *r = (struct gs_row_block){.width = width, .sequence = SIZE_MAX};
    r->panels = (width + panel - 1) / panel;
    r->past = (past + VECTOR - 1) / VECTOR * VECTOR;
    r->block = (block + VECTOR - 1) / VECTOR * VECTOR;
    r->capacity = r->past + r->block + 1; /* odd, or all panels fell into one set of a cache */
    r->piece = (PIECE_FLOATS / width / SHARE + 1) * SHARE; /* whole shares */
    if (r->piece > r->block) r->piece = r->block;
    r->threads = (size_t)omp_get_max_threads();
    size_t raw = r->threads * SHARE > r->piece ? r->threads * SHARE : r->piece;
    if (!gs_multiply(r->panels * panel, r->capacity, &floats)) floats = SIZE_MAX;
    r->packed = gs_calloc(floats, sizeof *r->packed);
    r->square = gs_calloc(5 * r->capacity, sizeof *r->square);
    r->weight[0] = gs_calloc(GS_CURVE_NULL * r->capacity, sizeof **r->weight);
    r->sum = gs_calloc(width, sizeof *r->sum);
    r->parts = gs_calloc(r->block / SHARE * r->panels * panel, sizeof *r->parts);
    r->raw = gs_calloc(raw * width, sizeof *r->raw);
    if (!r->packed || !r->square || !r->weight[0] || !r->sum || !r->parts || !r->raw)
        return gs_fail_memory(error, floats > SIZE_MAX / 4 ? SIZE_MAX : floats * 4,
                              "rows of the lag window");
    double **arrays[] = {&r->square, &r->away, &r->along, &r->near, &r->offset};
    for (size_t i = 1; i < 5; i++) *arrays[i] = r->square + i * r->capacity;
    for (size_t c = 1; c < GS_CURVE_NULL; c++) r->weight[c] = r->weight[0] + c * r->capacity;
    return GS_OK;
}

void gs_row_block_release(struct gs_row_block *r) {
    gs_free(r->packed);
    gs_free(r->square);
    gs_free(r->weight[0]);
    gs_free(r->sum);
    gs_free(r->parts);
    gs_free(r->raw);
    *r = (struct gs_row_block){0};
}

const float *gs_row_block_panel(const struct gs_row_block *r, size_t panel, ptrdiff_t row) {
    size_t place = (size_t)((ptrdiff_t)r->past + row);
    return r->packed + (panel * r->capacity + place) * gs_row_kernels()->panel;
}

/* ---- keeping the rows before ---- */

static void keep_past(struct gs_row_block *r) {
    size_t panel = gs_row_kernels()->panel, from = r->block; /* of the capacity */
#pragma omp parallel for schedule(static)
    for (size_t p = 0; p < r->panels; p++) {
        float *rows = r->packed + p * r->capacity * panel;
        memmove(rows, rows + from * panel, r->past * panel * sizeof *rows);
    }
    for (size_t i = 0; i < 5; i++) {
        double *values = r->square + i * r->capacity;
        memmove(values, values + from, r->past * sizeof *values);
    }
    for (size_t c = 0; c < GS_CURVE_NULL; c++)
        memmove(r->weight[c], r->weight[c] + from, r->past * sizeof **r->weight);
}

static void begin(struct gs_row_block *r, size_t sequence, uint64_t first) {
    bool follows = r->sequence == sequence && first == r->first + r->block;
    if (follows) keep_past(r);
    size_t from = follows ? r->past : 0, rows = r->capacity - from;
    for (size_t i = 0; i < 5; i++)
        memset(r->square + i * r->capacity + from, 0, rows * sizeof *r->square);
    for (size_t c = 0; c < GS_CURVE_NULL; c++)
        memset(r->weight[c] + from, 0, rows * sizeof **r->weight);
    memset(r->sum, 0, r->width * sizeof *r->sum);
    r->sequence = sequence;
    r->first = first;
    r->count = 0;
    r->shifted = r->delicate = false;
}

/* ---- reading ---- */

static float one_over(double square) {
    return square > 0 ? (float)(1 / sqrt(square)) : 0;
}

/* Squares that float dots could not hold, or that came from a difference of much longer vectors. */
static bool is_delicate(double square, double away, double longer) {
    if (away > 1e30 || square > 1e30 || (away > 0 && away < 1e-30)) return true;
    return square > 0 && away > longer * longer * square;
}

/* Squares that float32 holds. */
static bool holds(double square) {
    return square > 1e-30 && square < 1e30;
}

/* A row's three sums, and whether dots with it would lose digits. */
static bool take_sums(struct gs_row_block *r, size_t place, const float *row, const double *whole,
                      double *sums) {
    if (!holds(sums[0]) || !holds(sums[1]))
        gs_row_kernels()->about_mean(row, r->width, whole, sums);
    r->square[place] = sums[0];
    r->away[place] = sums[1];
    r->along[place] = sums[2];
    r->weight[GS_CURVE_RAW][place] = one_over(sums[0]);
    r->weight[GS_CURVE_CENTERED_GLOBAL][place] = one_over(sums[1]);
    return is_delicate(sums[0], sums[1], LONGER);
}

/* Rows `row` … of the block, at most SHARE and a whole number of shares behind its first one. */
static bool pack_share(struct gs_row_block *r, const float *rows, size_t row, size_t count,
                       const struct gs_centre *centre) {
    const struct gs_row_kernels *kernels = gs_row_kernels();
    size_t panel = kernels->panel, place = r->past + row;
    double sums[3 * SHARE];
    bool delicate = false;
    struct gs_centred_rows centred = {.rows = rows,
                                      .stride = r->width,
                                      .count = count,
                                      .columns = r->width,
                                      .centre = centre->large,
                                      .rest = centre->small,
                                      .packed = r->packed + place * panel,
                                      .panel_stride = r->capacity * panel,
                                      .sums = sums,
                                      .column_sums = r->parts + row / SHARE * r->panels * panel};
    kernels->centre_rows(&centred);
    for (size_t i = 0; i < count; i++)
        delicate =
            take_sums(r, place + i, rows + i * r->width, centre->whole, sums + 3 * i) || delicate;
    return delicate;
}

static enum gs_status name_value(const struct gs_row_block *r, const struct gs_rows *source,
                                 size_t row, struct gs_error *error) {
    enum gs_status status = gs_rows_read(source, r->sequence, r->first + row, 1, r->raw, error);
    if (status != GS_OK) return status;
    size_t i = 0;
    while (i + 1 < r->width && isfinite(r->raw[i])) i++;
    gs_fail(error, GS_NUMERIC, "a state is not finite");
    gs_error_found(error, "%g", (double)r->raw[i]);
    gs_error_where(error, "sequence %zu, row %" PRIu64 " of it, dimension %zu", r->sequence,
                   r->first + row, i);
    gs_error_next(error, "look at the run that made it");
    return GS_NUMERIC;
}

static size_t share_rows(size_t count, size_t share) {
    return count - share * SHARE < SHARE ? count - share * SHARE : SHARE;
}

/* Rows r->count … of the block: each thread reads a share and packs it while it is in its cache, or
 * all have been read to `raw`. The first share that cannot be read is read again for its error. */
static enum gs_status pack_piece(struct gs_row_block *r, const struct gs_rows *source, size_t count,
                                 const float *raw, const struct gs_centre *centre,
                                 struct gs_error *error) {
    size_t shares = (count + SHARE - 1) / SHARE, failed = shares;
    bool delicate = false;
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)r->threads) reduction(||            \
                                                                                     : delicate)   \
    reduction(min                                                                                  \
              : failed)
    for (size_t s = 0; s < shares; s++) {
        float *mine = r->raw + (size_t)omp_get_thread_num() * SHARE * r->width;
        size_t rows = share_rows(count, s), row = r->count + s * SHARE;
        enum gs_status status =
            raw ? GS_OK : gs_rows_read(source, r->sequence, r->first + row, rows, mine, NULL);
        if (status != GS_OK) {
            failed = s < failed ? s : failed;
            continue;
        }
        const float *from = raw ? raw + s * SHARE * r->width : mine;
        delicate = pack_share(r, from, row, rows, centre) || delicate;
    }
    if (failed < shares)
        return gs_rows_read(source, r->sequence, r->first + r->count + failed * SHARE,
                            share_rows(count, failed), r->raw, error);
    for (size_t i = r->count; i < r->count + count; i++)
        if (!isfinite(r->square[r->past + i])) return name_value(r, source, i, error);
    r->delicate = r->delicate || delicate;
    r->count += count;
    if (r->dirty < r->count) r->dirty = r->count;
    return GS_OK;
}

/* Shares in order, so that threads move no bits. */
static void add_parts(struct gs_row_block *r) {
    size_t shares = (r->count + SHARE - 1) / SHARE, stride = r->panels * gs_row_kernels()->panel;
#pragma omp parallel for schedule(static)
    for (size_t first = 0; first < r->width; first += COLUMNS) {
        size_t end = r->width - first < COLUMNS ? r->width : first + COLUMNS;
        for (size_t s = 0; s < shares; s++)
            for (size_t c = first; c < end; c++) r->sum[c] += (double)r->parts[s * stride + c];
    }
}

/* Weights of 0 must meet numbers. */
static void clear_rest(struct gs_row_block *r) {
    size_t panel = gs_row_kernels()->panel;
    for (size_t p = 0; p < r->panels && r->count < r->dirty; p++)
        memset(r->packed + (p * r->capacity + r->past + r->count) * panel, 0,
               (r->dirty - r->count) * panel * sizeof *r->packed);
    r->dirty = r->count;
}

static enum gs_status load_piece(struct gs_row_block *r, const struct gs_rows *source, size_t count,
                                 const struct gs_centre *centre, struct gs_error *error) {
    if (source->side_by_side) return pack_piece(r, source, count, NULL, centre, error);
    enum gs_status status =
        gs_rows_read(source, r->sequence, r->first + r->count, count, r->raw, error);
    return status == GS_OK ? pack_piece(r, source, count, r->raw, centre, error) : status;
}

enum gs_status gs_row_block_load(struct gs_row_block *r, const struct gs_rows *source,
                                 size_t sequence, uint64_t first, const struct gs_centre *centre,
                                 gs_row_block_read *read, void *context, struct gs_error *error) {
    begin(r, sequence, first);
    uint64_t length = source->length[sequence];
    size_t rows = first >= length             ? 0
                  : length - first < r->block ? (size_t)(length - first)
                                              : r->block;
    while (r->count < rows) {
        size_t count = rows - r->count < r->piece ? rows - r->count : r->piece;
        enum gs_status status = load_piece(r, source, count, centre, error);
        if (status == GS_OK) status = read(context, count, error);
        if (status == GS_OK) continue;
        r->sequence = SIZE_MAX;
        r->dirty = r->block;
        return status;
    }
    add_parts(r);
    clear_rest(r);
    return GS_OK;
}

/* ---- the sequence's own mean ---- */

/* ‖x − e‖² loses no more than a digit where it is not much smaller than ‖x‖²; else the block is
 * delicate. */
void gs_row_block_shift(struct gs_row_block *r, const float *shift, double square) {
    const struct gs_row_kernels *kernels = gs_row_kernels();
    size_t shares = (r->count + SHIFTED - 1) / SHIFTED;
    bool delicate = false;
#pragma omp parallel for schedule(dynamic, 1) reduction(|| : delicate)
    for (size_t s = 0; s < shares; s++) {
        size_t row = s * SHIFTED, rows = r->count - row < SHIFTED ? r->count - row : SHIFTED;
        size_t place = r->past + row;
        kernels->along(gs_row_block_panel(r, 0, (ptrdiff_t)row), r->capacity * kernels->panel,
                       r->panels, rows, shift, r->offset + place);
        for (size_t i = place; i < place + rows; i++) {
            r->near[i] = fmax(0, r->away[i] - 2 * r->offset[i] + square);
            r->weight[GS_CURVE_CENTERED_SEQUENCE][i] = one_over(r->near[i]);
            delicate = delicate || is_delicate(r->near[i], r->away[i], LONGER_SHIFTED) ||
                       (r->away[i] > 0 && r->near[i] < 1e-12 * r->away[i]);
        }
    }
    r->delicate = r->delicate || delicate;
    r->shifted = true;
}
