#include "analyses/horizon/row_block.h"

#include "core/base/memory.h"
#include "core/kernels/rows.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    VECTOR = 16,            /* floats in the widest vector: rows go in whole ones */
    PIECE_FLOATS = 1 << 21, /* read at a time: 8 MiB */
    SHARE = 16,             /* rows that one thread packs at a time */
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
    r->piece = PIECE_FLOATS / width + 1 < r->block ? PIECE_FLOATS / width + 1 : r->block;
    if (!gs_multiply(r->panels * panel, r->capacity, &floats)) floats = SIZE_MAX;
    r->packed = gs_calloc(floats, sizeof *r->packed);
    r->square = gs_calloc(5 * r->capacity, sizeof *r->square);
    r->weight[0] = gs_calloc(GS_CURVE_NULL * r->capacity, sizeof **r->weight);
    r->sum = gs_calloc(2 * width, sizeof *r->sum);
    r->raw = gs_calloc(r->piece * width, sizeof *r->raw);
    if (!r->packed || !r->square || !r->weight[0] || !r->sum || !r->raw)
        return gs_fail_memory(error, floats > SIZE_MAX / 4 ? SIZE_MAX : floats * 4,
                              "rows of the lag window");
    double **arrays[] = {&r->square, &r->away, &r->along, &r->near, &r->offset};
    for (size_t i = 1; i < 5; i++) *arrays[i] = r->square + i * r->capacity;
    for (size_t c = 1; c < GS_CURVE_NULL; c++) r->weight[c] = r->weight[0] + c * r->capacity;
    r->squares = r->sum + width;
    return GS_OK;
}

void gs_row_block_release(struct gs_row_block *r) {
    gs_free(r->packed);
    gs_free(r->square);
    gs_free(r->weight[0]);
    gs_free(r->sum);
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

/* Rows of the piece from `row` on, of which `place` is the first's place in the capacity. */
static bool pack_share(struct gs_row_block *r, size_t row, size_t count, size_t place,
                       const double *centre, const double *one) {
    const struct gs_row_kernels *kernels = gs_row_kernels();
    size_t panel = kernels->panel;
    double squares[64];
    bool delicate = false;
    for (size_t i = 0; i < count; i++) {
        double sums[3];
        kernels->about_mean(r->raw + (row + i) * r->width, r->width, centre, sums);
        r->square[place + i] = sums[0];
        r->away[place + i] = sums[1];
        r->along[place + i] = sums[2];
        r->weight[GS_CURVE_RAW][place + i] = one_over(sums[0]);
        r->weight[GS_CURVE_CENTERED_GLOBAL][place + i] = one_over(sums[1]);
        delicate = delicate || is_delicate(sums[0], sums[1], LONGER);
    }
    for (size_t p = 0; p < r->panels; p++) {
        size_t column = p * panel, columns = r->width - column < panel ? r->width - column : panel;
        memset(squares, 0, panel * sizeof *squares);
        kernels->centre(r->raw + row * r->width + column, r->width, count, columns, centre + column,
                        one, squares, r->packed + (p * r->capacity + place) * panel);
    }
    return delicate;
}

static enum gs_status name_value(const struct gs_row_block *r, size_t count,
                                 struct gs_error *error) {
    size_t i = 0;
    while (i + 1 < count * r->width && isfinite(r->raw[i])) i++;
    gs_fail(error, GS_NUMERIC, "a state is not finite");
    gs_error_found(error, "%g", (double)r->raw[i]);
    gs_error_where(error, "sequence %zu, row %" PRIu64 " of it, dimension %zu", r->sequence,
                   r->first + r->count + i / r->width, i % r->width);
    gs_error_next(error, "look at the run that made it");
    return GS_NUMERIC;
}

/* A sum of squares of finite floats is finite in float64. */
static enum gs_status pack_piece(struct gs_row_block *r, size_t count, const double *centre,
                                 const double *one, struct gs_error *error) {
    size_t place = r->past + r->count, shares = (count + SHARE - 1) / SHARE;
    bool delicate = false, finite = true;
#pragma omp parallel reduction(|| : delicate)
    {
#pragma omp for schedule(dynamic, 1)
        for (size_t s = 0; s < shares; s++) {
            size_t row = s * SHARE, rows = count - row < SHARE ? count - row : SHARE;
            delicate = pack_share(r, row, rows, place + row, centre, one) || delicate;
        }
#pragma omp for schedule(static)
        for (size_t c = 0; c < r->width; c += COLUMNS)
            gs_row_kernels()->column_sums(r->raw + c, r->width, count,
                                          r->width - c < COLUMNS ? r->width - c : COLUMNS,
                                          r->sum + c);
    }
    for (size_t i = 0; i < count; i++) finite = finite && isfinite(r->square[place + i]);
    if (!finite) return name_value(r, count, error);
    r->delicate = r->delicate || delicate;
    r->count += count;
    if (r->dirty < r->count) r->dirty = r->count;
    return GS_OK;
}

/* Weights of 0 must meet numbers. */
static void clear_rest(struct gs_row_block *r) {
    size_t panel = gs_row_kernels()->panel;
    for (size_t p = 0; p < r->panels && r->count < r->dirty; p++)
        memset(r->packed + (p * r->capacity + r->past + r->count) * panel, 0,
               (r->dirty - r->count) * panel * sizeof *r->packed);
    r->dirty = r->count;
}

enum gs_status gs_row_block_load(struct gs_row_block *r, const struct gs_rows *source,
                                 size_t sequence, uint64_t first, const double *centre,
                                 const double *one, gs_row_block_read *read, void *context,
                                 struct gs_error *error) {
    begin(r, sequence, first);
    uint64_t length = source->length[sequence];
    size_t rows = first >= length             ? 0
                  : length - first < r->block ? (size_t)(length - first)
                                              : r->block;
    while (r->count < rows) {
        size_t count = rows - r->count < r->piece ? rows - r->count : r->piece;
        enum gs_status status =
            gs_rows_read(source, sequence, first + r->count, count, r->raw, error);
        if (status == GS_OK) status = pack_piece(r, count, centre, one, error);
        if (status == GS_OK) status = read(context, count, error);
        if (status == GS_OK) continue;
        r->sequence = SIZE_MAX;
        r->dirty = r->block;
        return status;
    }
    clear_rest(r);
    return GS_OK;
}

/* ---- the sequence's own mean ---- */

void gs_row_block_shift(struct gs_row_block *r, const double *shift) {
    const struct gs_row_kernels *kernels = gs_row_kernels();
    size_t shares = (r->count + SHIFTED - 1) / SHIFTED;
    bool delicate = false;
#pragma omp parallel for schedule(dynamic, 1) reduction(|| : delicate)
    for (size_t s = 0; s < shares; s++) {
        size_t row = s * SHIFTED, rows = r->count - row < SHIFTED ? r->count - row : SHIFTED;
        size_t place = r->past + row;
        memset(r->near + place, 0, rows * sizeof *r->near);
        memset(r->offset + place, 0, rows * sizeof *r->offset);
        for (size_t p = 0; p < r->panels; p++)
            kernels->about_shift(gs_row_block_panel(r, p, (ptrdiff_t)row), rows,
                                 shift + p * kernels->panel, r->offset + place, r->near + place);
        for (size_t i = place; i < place + rows; i++) {
            r->weight[GS_CURVE_CENTERED_SEQUENCE][i] = one_over(r->near[i]);
            delicate = delicate || is_delicate(r->near[i], r->away[i], LONGER_SHIFTED) ||
                       (r->away[i] > 0 && r->near[i] < 1e-12 * r->away[i]);
        }
    }
    r->delicate = r->delicate || delicate;
    r->shifted = true;
}
