#include "analyses/stats/moments.h"

#include "core/base/memory.h"
#include "core/kernels/blas.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { LARGEST_DIMS = 32766, BLOCK_ROWS = 4096, SMALLEST_BLOCK = 256 };
enum { BLOCK_BYTES = 128 << 20 }; /* a block of very wide rows has fewer of them */
enum { STRIP = 64 };              /* columns that one thread centres at a time */
enum { TILE = 512 };              /* columns in a product's tile, at most */

/* ---- sums ----------------------------------------------------------------------------------- */

static enum gs_status check_dims(size_t dims, struct gs_error *error) {
    if (dims >= 1 && dims <= LARGEST_DIMS) return GS_OK;
    gs_fail(error, GS_UNSUPPORTED, "states of this width have no covariance here");
    gs_error_expected(error, "1 to %d dimensions", LARGEST_DIMS);
    gs_error_found(error, "%zu", dims);
    return GS_UNSUPPORTED;
}

enum gs_status gs_moments_create(size_t dims, struct gs_moments **moments, struct gs_error *error) {
    enum gs_status status = check_dims(dims, error);
    if (status != GS_OK) return status;
    struct gs_moments *made = gs_calloc(1, sizeof *made);
    size_t doubles = dims + gs_packed_count(dims);
    double *values = gs_calloc(doubles, sizeof *values);
    float *bounds = gs_calloc(2 * dims, sizeof *bounds);
    if (!made || !values || !bounds) {
        gs_free(made);
        gs_free(values);
        gs_free(bounds);
        return gs_fail_memory(error, doubles * sizeof *values, "second moments");
    }
    *made = (struct gs_moments){dims, 0, values, values + dims, bounds, bounds + dims};
    gs_moments_reset(made);
    *moments = made;
    return GS_OK;
}

void gs_moments_destroy(struct gs_moments *moments) {
    if (!moments) return;
    gs_free(moments->mean);
    gs_free(moments->low);
    gs_free(moments);
}

void gs_moments_reset(struct gs_moments *moments) {
    moments->n = 0;
    memset(moments->mean, 0, (moments->dims + gs_packed_count(moments->dims)) * sizeof(double));
    for (size_t i = 0; i < moments->dims; i++) {
        moments->low[i] = INFINITY;
        moments->high[i] = -INFINITY;
    }
}

static void merge_bounds(struct gs_moments *into, const float *low, const float *high) {
    for (size_t i = 0; i < into->dims; i++) {
        if (low[i] < into->low[i]) into->low[i] = low[i];
        if (high[i] > into->high[i]) into->high[i] = high[i];
    }
}

/* mean and n after the comoment has been merged with weight n_a n_b / n */
static void merge_mean(struct gs_moments *into, const double *mean, uint64_t n) {
    double share = (double)n / (double)(into->n + n);
    for (size_t i = 0; i < into->dims; i++) into->mean[i] += share * (mean[i] - into->mean[i]);
    into->n += n;
}

static double chan_weight(uint64_t a, uint64_t b) {
    return (double)a * ((double)b / (double)(a + b));
}

void gs_moments_merge(struct gs_moments *into, const struct gs_moments *from) {
    if (from->n == 0) return;
    size_t dims = into->dims;
    double weight = chan_weight(into->n, from->n);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < dims; i++) {
        double *row = into->comoment + gs_packed(dims, i, i);
        const double *other = from->comoment + gs_packed(dims, i, i);
        double pull = weight * (from->mean[i] - into->mean[i]);
        for (size_t j = i; j < dims; j++)
            row[j - i] += other[j - i] + pull * (from->mean[j] - into->mean[j]);
    }
    merge_bounds(into, from->low, from->high);
    merge_mean(into, from->mean, from->n);
}

const char *gs_moments_product_name(enum gs_moments_product product) {
    return product == GS_PRODUCT_FLOAT64 ? "float64" : "float32";
}

/* ---- blocks --------------------------------------------------------------------------------- */

struct tile {
    size_t row, rows, column, columns;
};

struct gs_moments_builder {
    size_t dims, capacity, held;
    uint64_t given;  /* rows before those held */
    bool wide;       /* float64 products */
    float *rows;     /* (capacity, dims) as given; float32 products centre them in place */
    double *centred; /* the same centred, float64 products only */
    void *product;   /* (dims, dims) upper, float or double */
    double *mean, *squares, *unit; /* (dims) of the block held; unit is a power of two */
    float *low, *high;             /* (dims) */
    struct tile *tiles;
    size_t tile_count;
};

static size_t block_rows(size_t dims) {
    size_t rows = (size_t)BLOCK_BYTES / (dims * sizeof(float));
    if (rows > BLOCK_ROWS) rows = BLOCK_ROWS;
    return rows < SMALLEST_BLOCK ? SMALLEST_BLOCK : rows;
}

/* Tiles of the upper triangle, whole ones first: they take twice as long as those on the diagonal,
 * and what is handed out last should be short. */
static enum gs_status cut_tiles(struct gs_moments_builder *b, struct gs_error *error) {
    size_t parts = (b->dims + TILE - 1) / TILE;
    if (parts < 2 && b->dims >= 64) parts = 2;
    size_t edge = (b->dims + parts - 1) / parts;
    edge = (edge + 15) / 16 * 16;
    parts = (b->dims + edge - 1) / edge;
    b->tiles = gs_calloc(parts * (parts + 1) / 2, sizeof *b->tiles);
    if (!b->tiles) return gs_fail_memory(error, parts * parts * sizeof *b->tiles, "tiles");
    for (size_t apart = parts; apart-- > 0;)
        for (size_t i = 0; i + apart < parts; i++) {
            size_t row = i * edge, column = (i + apart) * edge;
            size_t rows = b->dims - row < edge ? b->dims - row : edge;
            size_t columns = b->dims - column < edge ? b->dims - column : edge;
            b->tiles[b->tile_count++] = (struct tile){row, rows, column, columns};
        }
    return GS_OK;
}

static enum gs_status allocate(struct gs_moments_builder *b, struct gs_error *error) {
    size_t block = b->capacity * b->dims, square = b->dims * b->dims;
    size_t width = b->wide ? sizeof(double) : sizeof(float);
    b->rows = gs_calloc(block, sizeof(float));
    b->centred = b->wide ? gs_calloc(block, sizeof(double)) : NULL;
    b->product = gs_calloc(square, width);
    b->mean = gs_calloc(3 * b->dims, sizeof(double));
    b->low = gs_calloc(2 * b->dims, sizeof(float));
    if (!b->rows || !b->product || !b->mean || !b->low || (b->wide && !b->centred))
        return gs_fail_memory(error, block * sizeof(float) + square * width, "a block of states");
    b->squares = b->mean + b->dims;
    b->unit = b->squares + b->dims;
    b->high = b->low + b->dims;
    return cut_tiles(b, error);
}

enum gs_status gs_moments_builder_create(size_t dims, enum gs_moments_product product,
                                         struct gs_moments_builder **builder,
                                         struct gs_error *error) {
    enum gs_status status = check_dims(dims, error);
    if (status != GS_OK) return status;
    struct gs_moments_builder *b = gs_calloc(1, sizeof *b);
    if (!b) return gs_fail_memory(error, sizeof *b, "a block of states");
    b->dims = dims;
    b->wide = product == GS_PRODUCT_FLOAT64;
    b->capacity = block_rows(dims);
    status = allocate(b, error);
    if (status != GS_OK) {
        gs_moments_builder_destroy(b);
        return status;
    }
    *builder = b;
    return GS_OK;
}

void gs_moments_builder_destroy(struct gs_moments_builder *builder) {
    if (!builder) return;
    gs_free(builder->rows);
    gs_free(builder->centred);
    gs_free(builder->product);
    gs_free(builder->mean);
    gs_free(builder->low);
    gs_free(builder->tiles);
    gs_free(builder);
}

/* Sums of float values cannot overflow a double, so a sum that is not finite means a value is not.
 */
static bool average_strip(struct gs_moments_builder *b, size_t first, size_t columns) {
    double sum[STRIP] = {0};
    float low[STRIP], high[STRIP];
    for (size_t c = 0; c < columns; c++) low[c] = INFINITY, high[c] = -INFINITY;
    for (size_t r = 0; r < b->held; r++) {
        const float *row = b->rows + r * b->dims + first;
        for (size_t c = 0; c < columns; c++) {
            sum[c] += (double)row[c];
            low[c] = row[c] < low[c] ? row[c] : low[c];
            high[c] = row[c] > high[c] ? row[c] : high[c];
        }
    }
    bool finite = true;
    for (size_t c = 0; c < columns; c++) {
        finite = finite && isfinite(sum[c]);
        b->mean[first + c] = sum[c] / (double)b->held;
        b->low[first + c] = low[c];
        b->high[first + c] = high[c];
    }
    return finite;
}

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

static void centre_strip(struct gs_moments_builder *b, size_t first, size_t columns) {
    double sum[STRIP] = {0}, scale[STRIP];
    const double *mean = b->mean + first;
    for (size_t c = 0; c < columns; c++) {
        b->unit[first + c] = unit_of(b, first + c);
        scale[c] = 1 / b->unit[first + c];
    }
    for (size_t r = 0; r < b->held; r++) {
        float *row = b->rows + r * b->dims + first;
        double *centred = b->wide ? b->centred + r * b->dims + first : NULL;
        for (size_t c = 0; c < columns; c++) {
            double value = ((double)row[c] - mean[c]) * scale[c];
            sum[c] += value * value;
            if (centred)
                centred[c] = value;
            else
                row[c] = (float)value;
        }
    }
    for (size_t c = 0; c < columns; c++) b->squares[first + c] = sum[c];
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

static enum gs_status centre(struct gs_moments_builder *b, struct gs_error *error) {
    size_t strips = (b->dims + STRIP - 1) / STRIP;
    bool finite = true;
#pragma omp parallel for schedule(static) reduction(&& : finite)
    for (size_t s = 0; s < strips; s++) {
        size_t first = s * STRIP;
        size_t columns = b->dims - first < STRIP ? b->dims - first : STRIP;
        finite = average_strip(b, first, columns) && finite;
    }
    if (!finite) return name_value(b, error);
#pragma omp parallel for schedule(static)
    for (size_t s = 0; s < strips; s++) {
        size_t first = s * STRIP;
        centre_strip(b, first, b->dims - first < STRIP ? b->dims - first : STRIP);
    }
    return GS_OK;
}

static enum gs_status multiply_tile(const struct gs_moments_builder *b, const struct tile *t) {
    size_t d = b->dims, place = t->row * d + t->column;
    bool diagonal = t->row == t->column;
    if (b->wide) {
        double *product = (double *)b->product + place;
        const double *x = b->centred;
        return diagonal ? gs_blas_dsyrk(GS_UPPER, GS_TRANSPOSED, t->rows, b->held, 1, x + t->row, d,
                                        0, product, d, NULL)
                        : gs_blas_dgemm(GS_TRANSPOSED, GS_PLAIN, t->rows, t->columns, b->held, 1,
                                        x + t->row, d, x + t->column, d, 0, product, d, NULL);
    }
    float *product = (float *)b->product + place;
    const float *x = b->rows;
    return diagonal ? gs_blas_ssyrk(GS_UPPER, GS_TRANSPOSED, t->rows, b->held, 1, x + t->row, d, 0,
                                    product, d, NULL)
                    : gs_blas_sgemm(GS_TRANSPOSED, GS_PLAIN, t->rows, t->columns, b->held, 1,
                                    x + t->row, d, x + t->column, d, 0, product, d, NULL);
}

static enum gs_status multiply(const struct gs_moments_builder *b, struct gs_error *error) {
    enum gs_status worst = GS_OK;
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t t = 0; t < b->tile_count; t++) {
        enum gs_status status = multiply_tile(b, &b->tiles[t]);
        if (status != GS_OK) {
#pragma omp critical(gs_moments_multiply)
            worst = status;
        }
    }
    if (worst == GS_OK) return GS_OK;
    return gs_fail(error, worst, "BLAS refused a product of %zu rows of %zu dimensions", b->held,
                   b->dims);
}

/* The block's product, put back to the rows' units, joins the sums. Units are powers of two, so
 * that rounds nothing. */
static void join(const struct gs_moments_builder *b, struct gs_moments *into) {
    size_t d = b->dims;
    double weight = chan_weight(into->n, b->held);
#pragma omp parallel for schedule(static, 8)
    for (size_t i = 0; i < d; i++) {
        double *row = into->comoment + gs_packed(d, i, i) - i;
        double pull = weight * (b->mean[i] - into->mean[i]), unit = b->unit[i];
        row[i] += unit * b->squares[i] * unit + pull * (b->mean[i] - into->mean[i]);
        for (size_t j = i + 1; j < d; j++) row[j] += pull * (b->mean[j] - into->mean[j]);
        if (b->wide) {
            const double *product = (const double *)b->product + i * d;
            for (size_t j = i + 1; j < d; j++) row[j] += unit * product[j] * b->unit[j];
        } else {
            const float *product = (const float *)b->product + i * d;
            for (size_t j = i + 1; j < d; j++) row[j] += unit * (double)product[j] * b->unit[j];
        }
    }
    merge_bounds(into, b->low, b->high);
    merge_mean(into, b->mean, b->held);
}

enum gs_status gs_moments_builder_flush(struct gs_moments_builder *builder,
                                        struct gs_moments *moments, struct gs_error *error) {
    if (builder->held == 0) return GS_OK;
    enum gs_status status = centre(builder, error);
    if (status == GS_OK) status = multiply(builder, error);
    if (status == GS_OK) join(builder, moments);
    builder->given += builder->held;
    builder->held = 0;
    return status;
}

enum gs_status gs_moments_builder_add(struct gs_moments_builder *builder,
                                      struct gs_moments *moments, const float *rows, size_t count,
                                      struct gs_error *error) {
    size_t d = builder->dims;
    while (count > 0) {
        size_t room = builder->capacity - builder->held;
        size_t taken = count < room ? count : room;
        memcpy(builder->rows + builder->held * d, rows, taken * d * sizeof *rows);
        builder->held += taken;
        rows += taken * d;
        count -= taken;
        if (builder->held < builder->capacity) continue;
        enum gs_status status = gs_moments_builder_flush(builder, moments, error);
        if (status != GS_OK) return status;
    }
    return GS_OK;
}
