/* Passes over rows of observations; see rows.h. */
#include "core/kernels/rows.h"

#include "core/kernels/lanes.h"

enum { PANEL = 2 * GS_LANES, HALF = GS_LANES / 2, AHEAD = 16 };

/* Half a vector of floats, and the vector of doubles that it widens to. */
typedef float half __attribute__((vector_size(2 * GS_LANES)));
typedef float half_memory __attribute__((vector_size(2 * GS_LANES), aligned(4), may_alias));
typedef double wide __attribute__((vector_size(4 * GS_LANES)));
typedef double wide_memory __attribute__((vector_size(4 * GS_LANES), aligned(8), may_alias));

GS_INLINE wide widen(const float *from) {
    return __builtin_convertvector(*(const half_memory *)from, wide);
}
GS_INLINE wide load_wide(const double *from) {
    return *(const wide_memory *)from;
}
GS_INLINE void store_wide(double *to, wide value) {
    *(wide_memory *)to = value;
}

#if GS_LANES == 16
#define ALL_LANES 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#elif GS_LANES == 8
#define ALL_LANES 0, 1, 2, 3, 4, 5, 6, 7
#else
#define ALL_LANES 0, 1, 2, 3
#endif

GS_INLINE lanes narrow(wide low, wide high) {
    half a = __builtin_convertvector(low, half), b = __builtin_convertvector(high, half);
    return __builtin_shufflevector(a, b, ALL_LANES);
}

/* ---- columns -------------------------------------------------------------------------------- */

static void column_sums(const float *rows, size_t stride, size_t count, size_t columns,
                        double *sum) {
    for (size_t r = 0; r < count; r += 4) {
        const float *row = rows + r * stride;
        size_t left = count - r, c = 0;
        if (left >= 4)
            for (; c + HALF <= columns; c += HALF) {
                wide low = widen(row + c) + widen(row + stride + c);
                wide high = widen(row + 2 * stride + c) + widen(row + 3 * stride + c);
                store_wide(sum + c, load_wide(sum + c) + (low + high));
            }
        for (; c < columns; c++) {
            double low = (double)row[c], high = 0;
            if (left > 1) low += (double)row[stride + c];
            if (left > 2) high = (double)row[2 * stride + c];
            if (left > 3) high += (double)row[3 * stride + c];
            sum[c] += low + high;
        }
    }
}

static void column_bounds(const float *rows, size_t stride, size_t count, size_t columns,
                          float *low, float *high) {
    for (size_t r = 0; r < count; r++) {
        const float *row = rows + r * stride;
        for (size_t c = 0; c < columns; c += GS_LANES) {
            lanes value = load_row(row, c, columns), down = load_row(low, c, columns),
                  up = load_row(high, c, columns);
            store_row(low, c, columns, select(value < down, value, down));
            store_row(high, c, columns, select(value > up, value, up));
        }
    }
}

/* ---- centring ------------------------------------------------------------------------------- */

/* GS_LANES columns of `count` rows into half of a panel. */
GS_INLINE void centre_lanes(const float *rows, size_t stride, size_t count, const double *mean,
                            const double *scale, double *squares, float *packed) {
    const wide mean0 = load_wide(mean), mean1 = load_wide(mean + HALF);
    const wide scale0 = load_wide(scale), scale1 = load_wide(scale + HALF);
    wide squares0 = load_wide(squares), squares1 = load_wide(squares + HALF);
    for (size_t r = 0; r < count; r++) {
        const float *row = rows + r * stride;
        __builtin_prefetch(row + AHEAD * stride);
        wide low = (widen(row) - mean0) * scale0, high = (widen(row + HALF) - mean1) * scale1;
        squares0 += low * low;
        squares1 += high * high;
        store(packed + r * PANEL, narrow(low, high));
    }
    store_wide(squares, squares0);
    store_wide(squares + HALF, squares1);
}

/* Fewer columns than GS_LANES, perhaps none: the rest of the half panel is zero. */
static void centre_rest(const float *rows, size_t stride, size_t count, size_t columns,
                        const double *mean, const double *scale, double *squares, float *packed) {
    for (size_t r = 0; r < count; r++)
        for (size_t c = 0; c < GS_LANES; c++) {
            double value = c < columns ? ((double)rows[r * stride + c] - mean[c]) * scale[c] : 0;
            if (c < columns) squares[c] += value * value;
            packed[r * PANEL + c] = (float)value;
        }
}

static void centre(const float *rows, size_t stride, size_t count, size_t columns,
                   const double *mean, const double *scale, double *squares, float *packed) {
    for (size_t c = 0; c < PANEL; c += GS_LANES) {
        if (c + GS_LANES <= columns)
            centre_lanes(rows + c, stride, count, mean + c, scale + c, squares + c, packed + c);
        else
            centre_rest(rows + c, stride, count, c < columns ? columns - c : 0, mean + c, scale + c,
                        squares + c, packed + c);
    }
}

/* ---- products of columns ----------------------------------------------------------------------
 */

/* R columns of the left panel from `left` on with all of the right one: the sums live in registers.
 * R and `fetch` are constants at every call. */
GS_INLINE void multiply(size_t R, bool fetch, const struct gs_panel_pair *pair, size_t column) {
    const float *left = pair->left + column, *right = pair->right;
    float *y = pair->y + column * pair->ys;
    lanes sum[6][2];
    for (size_t r = 0; r < R; r++)
        for (size_t j = 0; j < 2; j++)
            sum[r][j] = pair->accumulate ? load(y + r * pair->ys + j * GS_LANES) : fill(0);
    for (size_t k = 0; k < pair->inner; k++) {
        lanes first = load(right + k * PANEL), second = load(right + k * PANEL + GS_LANES);
        if (fetch) __builtin_prefetch(pair->ahead + k * PANEL);
        for (size_t r = 0; r < R; r++) {
            lanes value = fill(left[k * PANEL + r]);
            sum[r][0] += value * first;
            sum[r][1] += value * second;
        }
    }
    for (size_t r = 0; r < R; r++)
        for (size_t j = 0; j < 2; j++) store(y + r * pair->ys + j * GS_LANES, sum[r][j]);
}

static void panel_product(const struct gs_panel_pair *pair) {
#if GS_LANES == 4
    multiply(4, true, pair, 0);
    multiply(4, false, pair, 4);
#else
    size_t column = 6;
    multiply(6, true, pair, 0);
    if (GS_LANES == 16) {
        multiply(6, true, pair, 6);
        column = 12;
    }
    for (; column < PANEL; column += 5) multiply(5, false, pair, column);
#endif
}

/* ---- one row -------------------------------------------------------------------------------- */

static double wide_squares(const float *x, size_t n) {
    wide first = {0}, second = {0};
    size_t i = 0;
    for (; i + GS_LANES <= n; i += GS_LANES) {
        wide low = widen(x + i), high = widen(x + i + HALF);
        first += low * low;
        second += high * high;
    }
    double part[HALF], sum = 0;
    store_wide(part, first + second);
    for (size_t l = 0; l < HALF; l++) sum += part[l];
    for (; i < n; i++) sum += (double)x[i] * (double)x[i];
    return sum;
}

#define GS_TEXT2(name) #name
#define GS_TEXT(name) GS_TEXT2(name)

const struct gs_row_kernels GS_KERNEL(rows) = {
    .isa = GS_TEXT(GS_ISA),
    .panel = PANEL,
    .column_sums = column_sums,
    .column_bounds = column_bounds,
    .centre = centre,
    .panel_product = panel_product,
    .wide_squares = wide_squares,
};
