/* Blocks of rows: gathered, averaged, multiplied, and joined to moments. */
#include "analyses/stats/block_products.h"
#include "analyses/stats/moments.h"
#include "analyses/stats/moments_parts.h"
#include "core/base/memory.h"
#include "core/kernels/rows.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    BLOCK_ROWS = 4096,
    SMALLEST_BLOCK = 256,
    BLOCK_BYTES = 128 << 20, /* a block of very wide rows has fewer of them */
    SHARE = 128              /* columns that one thread averages at a time */
};

struct gs_moments_builder {
    size_t dims, capacity, held;
    uint64_t given; /* rows before those held */
    float *rows;    /* (capacity, dims) as given */
    struct gs_block_products products;
    double *sum;         /* (dims) of the rows held */
    double *mean, *unit; /* (dims) of the block held; unit is a power of two */
    float *low, *high;   /* (dims) */
};

static size_t block_rows(size_t dims) {
    size_t rows = (size_t)BLOCK_BYTES / (dims * sizeof(float));
    if (rows > BLOCK_ROWS) rows = BLOCK_ROWS;
    return rows < SMALLEST_BLOCK ? SMALLEST_BLOCK : rows;
}

static enum gs_status allocate(struct gs_moments_builder *b, bool wide, struct gs_error *error) {
    b->rows = gs_calloc(b->capacity * b->dims, sizeof(float));
    b->mean = gs_calloc(3 * b->dims, sizeof(double));
    b->low = gs_calloc(2 * b->dims, sizeof(float));
    if (!b->rows || !b->mean || !b->low)
        return gs_fail_memory(error, b->capacity * b->dims * sizeof(float), "a block of states");
    b->unit = b->mean + b->dims;
    b->sum = b->unit + b->dims;
    b->high = b->low + b->dims;
    return gs_block_products_create(&b->products, b->dims, b->capacity, wide, error);
}

enum gs_status gs_moments_builder_create(size_t dims, enum gs_moments_product product,
                                         struct gs_moments_builder **builder,
                                         struct gs_error *error) {
    enum gs_status status = gs_moments_check_dims(dims, error);
    if (status != GS_OK) return status;
    struct gs_moments_builder *b = gs_calloc(1, sizeof *b);
    if (!b) return gs_fail_memory(error, sizeof *b, "a block of states");
    b->dims = dims;
    b->capacity = block_rows(dims);
    status = allocate(b, product == GS_PRODUCT_FLOAT64, error);
    if (status != GS_OK) {
        gs_moments_builder_destroy(b);
        return status;
    }
    *builder = b;
    return GS_OK;
}

void gs_moments_builder_destroy(struct gs_moments_builder *builder) {
    if (!builder) return;
    gs_block_products_release(&builder->products);
    gs_free(builder->rows);
    gs_free(builder->mean);
    gs_free(builder->low);
    gs_free(builder);
}

/* ---- a block's mean, bounds and units -------------------------------------------------------- */

/* The power of two just above the largest deviation of column c, 1 where there is none: measured in
 * it, deviations lie in [−1, 1], and neither their squares nor their products leave float's range.
 */
static double unit_of(const struct gs_moments_builder *b, size_t c) {
    double up = (double)b->high[c] - b->mean[c], down = b->mean[c] - (double)b->low[c];
    int exponent;
    double largest = up > down ? up : down;
    if (!(largest > 0)) return 1;
    frexp(largest, &exponent);
    return ldexp(1, exponent);
}

/* Sums of float values cannot overflow a double, so a sum that is not finite means a value is not.
 */
static bool average_share(struct gs_moments_builder *b, size_t first, size_t columns) {
    bool finite = true;
    for (size_t c = first; c < first + columns; c++) {
        b->low[c] = INFINITY;
        b->high[c] = -INFINITY;
    }
    gs_row_kernels()->column_bounds(b->rows + first, b->dims, b->held, columns, b->low + first,
                                    b->high + first);
    for (size_t c = first; c < first + columns; c++) {
        finite = finite && isfinite(b->sum[c]);
        b->mean[c] = b->sum[c] / (double)b->held;
        b->unit[c] = unit_of(b, c);
        b->products.mean[c] = b->mean[c];
        b->products.scale[c] = 1 / b->unit[c];
        b->sum[c] = 0;
    }
    return finite;
}

static enum gs_status name_value(const struct gs_moments_builder *b, struct gs_error *error) {
    for (size_t r = 0; r < b->held; r++)
        for (size_t c = 0; c < b->dims; c++) {
            float value = b->rows[r * b->dims + c];
            if (isfinite(value)) continue;
            gs_fail(error, GS_NUMERIC, "a state holds a value that is not finite");
            gs_error_expected(error, "finite numbers");
            gs_error_found(error, "%g", (double)value);
            gs_error_where(error, "row %llu, dimension %zu", (unsigned long long)b->given + r, c);
            return GS_NUMERIC;
        }
    return gs_fail(error, GS_NUMERIC, "a sum of states is not finite");
}

static enum gs_status average(struct gs_moments_builder *b, struct gs_error *error) {
    size_t shares = (b->dims + SHARE - 1) / SHARE;
    bool finite = true;
#pragma omp parallel for schedule(dynamic, 1) reduction(&& : finite)
    for (size_t s = 0; s < shares; s++) {
        size_t first = s * SHARE, columns = b->dims - first < SHARE ? b->dims - first : SHARE;
        finite = average_share(b, first, columns) && finite;
    }
    return finite ? GS_OK : name_value(b, error);
}

/* ---- joining --------------------------------------------------------------------------------- */

/* The block's product, put back to the rows' units, joins the sums. Units are powers of two, so
 * that rounds nothing. */
static void join(const struct gs_moments_builder *b, struct gs_moments *into) {
    size_t d = b->dims;
    double weight = gs_moments_weight(into->n, b->held);
#pragma omp parallel for schedule(static, 8)
    for (size_t i = 0; i < d; i++) {
        double *row = into->comoment + gs_packed(d, i, i) - i;
        double pull = weight * (b->mean[i] - into->mean[i]), unit = b->unit[i];
        row[i] += unit * b->products.squares[i] * unit + pull * (b->mean[i] - into->mean[i]);
        if (b->products.wide) {
            const double *product = (const double *)b->products.product + i * b->products.stride;
            for (size_t j = i + 1; j < d; j++)
                row[j] += pull * (b->mean[j] - into->mean[j]) + unit * product[j] * b->unit[j];
        } else {
            const float *product = (const float *)b->products.product + i * b->products.stride;
            for (size_t j = i + 1; j < d; j++)
                row[j] +=
                    pull * (b->mean[j] - into->mean[j]) + unit * (double)product[j] * b->unit[j];
        }
    }
    gs_moments_merge_bounds(into, b->low, b->high);
    gs_moments_merge_mean(into, b->mean, b->held);
}

enum gs_status gs_moments_builder_flush(struct gs_moments_builder *builder,
                                        struct gs_moments *moments, struct gs_error *error) {
    if (builder->held == 0) return GS_OK;
    enum gs_status status = average(builder, error);
    if (status == GS_OK) {
        gs_block_products_centre(&builder->products, builder->rows, builder->held);
        status = gs_block_products_multiply(&builder->products, builder->held, error);
    }
    if (status == GS_OK) join(builder, moments);
    builder->given += builder->held;
    builder->held = 0;
    return status;
}

float *gs_moments_builder_room(struct gs_moments_builder *builder, size_t *rows) {
    *rows = builder->capacity - builder->held;
    return builder->rows + builder->held * builder->dims;
}

enum gs_status gs_moments_builder_put(struct gs_moments_builder *builder,
                                      struct gs_moments *moments, size_t count, const double *sums,
                                      struct gs_error *error) {
    for (size_t c = 0; c < builder->dims; c++) builder->sum[c] += sums[c];
    builder->held += count;
    if (builder->held < builder->capacity) return GS_OK;
    return gs_moments_builder_flush(builder, moments, error);
}

/* Rows that were copied here are summed here. */
static enum gs_status put_copied(struct gs_moments_builder *builder, struct gs_moments *moments,
                                 const float *rows, size_t count, struct gs_error *error) {
    double *sums = gs_calloc(builder->dims, sizeof *sums);
    if (!sums) return gs_fail_memory(error, builder->dims * sizeof *sums, "sums of columns");
    gs_row_kernels()->column_sums(rows, builder->dims, count, builder->dims, sums);
    enum gs_status status = gs_moments_builder_put(builder, moments, count, sums, error);
    gs_free(sums);
    return status;
}

enum gs_status gs_moments_builder_add(struct gs_moments_builder *builder,
                                      struct gs_moments *moments, const float *rows, size_t count,
                                      struct gs_error *error) {
    while (count > 0) {
        size_t room;
        float *to = gs_moments_builder_room(builder, &room);
        size_t taken = count < room ? count : room;
        memcpy(to, rows, taken * builder->dims * sizeof *rows);
        enum gs_status status = put_copied(builder, moments, to, taken, error);
        if (status != GS_OK) return status;
        rows += taken * builder->dims;
        count -= taken;
    }
    return GS_OK;
}
