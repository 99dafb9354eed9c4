/* Passes over rows of observations; see rows.h. */
#include "core/kernels/rows.h"

#include "core/kernels/wide.h"

enum { PANEL = 2 * GS_LANES, AHEAD = 16 };

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
        if (r + AHEAD < count) __builtin_prefetch(row + AHEAD * stride);
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

static bool within(const float *x, size_t n, float low, float high) {
    const lanes least = fill(low), most = fill(high);
    lanes_int good[4];
    for (size_t j = 0; j < 4; j++) good[j] = least == least;
    size_t i = 0;
    for (; i + 4 * GS_LANES <= n; i += 4 * GS_LANES)
        for (size_t j = 0; j < 4; j++) {
            lanes value = load(x + i + j * GS_LANES);
            good[j] &= (value >= least) & (value <= most);
        }
    lanes_int all = (good[0] & good[1]) & (good[2] & good[3]);
    bool inside = true;
    for (size_t l = 0; l < GS_LANES; l++) inside = inside && all[l];
    for (; i < n; i++) inside = inside && x[i] >= low && x[i] <= high;
    return inside;
}

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

static double sum_wide(wide value) {
    double part[HALF], sum = 0;
    store_wide(part, value);
    for (size_t l = 0; l < HALF; l++) sum += part[l];
    return sum;
}

static void about_mean(const float *x, size_t n, const double *mean, double sums[3]) {
    wide square = {0}, away = {0}, along = {0};
    size_t i = 0;
    for (; i + HALF <= n; i += HALF) {
        wide value = widen(x + i), centre = load_wide(mean + i), apart = value - centre;
        square += value * value;
        away += apart * apart;
        along += apart * centre;
    }
    sums[0] = sum_wide(square);
    sums[1] = sum_wide(away);
    sums[2] = sum_wide(along);
    for (; i < n; i++) {
        double value = (double)x[i], apart = value - mean[i];
        sums[0] += value * value;
        sums[1] += apart * apart;
        sums[2] += apart * mean[i];
    }
}

/* ---- running products (retention) --------------------------------------------------------------
 */

/* Eight sums whatever the instruction set, so that they have the same bits in all; as vectors of
 * its own width, since wider ones would live in memory. */
enum { EIGHT = 8, PARTS = EIGHT / HALF };

/* TIMES is a constant at every call. */
GS_INLINE void run_product(size_t TIMES, double *product, const double *factor, size_t count,
                           double *sums) {
    wide sum[4][PARTS];
    size_t i = 0;
    for (size_t k = 0; k < TIMES; k++)
        for (size_t p = 0; p < PARTS; p++) sum[k][p] = (wide){0};
    for (; i + EIGHT <= count; i += EIGHT) {
        wide value[PARTS];
        for (size_t p = 0; p < PARTS; p++) value[p] = load_wide(product + i + p * HALF);
        for (size_t k = 0; k < TIMES; k++)
            for (size_t p = 0; p < PARTS; p++) {
                value[p] *= load_wide(factor + i + k + p * HALF);
                sum[k][p] += value[p];
            }
        for (size_t p = 0; p < PARTS; p++) store_wide(product + i + p * HALF, value[p]);
    }
    for (size_t k = 0; k < TIMES; k++) {
        double part[EIGHT];
        for (size_t p = 0; p < PARTS; p++) store_wide(part + p * HALF, sum[k][p]);
        sums[k] = 0;
        for (size_t l = 0; l < EIGHT; l++) sums[k] += part[l];
    }
    for (; i < count; i++)
        for (size_t k = 0; k < TIMES; k++) sums[k] += product[i] *= factor[i + k];
}

static double running_product(double *product, const double *factor, size_t count) {
    double sum;
    run_product(1, product, factor, count, &sum);
    return sum;
}

static void running_products(double *product, const double *factor, size_t count, double *sums) {
    run_product(4, product, factor, count, sums);
}

/* ---- rows of packed panels --------------------------------------------------------------------
 */

/* Elements j and j - w of rows a and b = a + w change places where j has bit w. */
#define KEPT(j, w) ((j) & (w) ? GS_LANES + (j) - (w) : (j))
#define GIVEN(j, w) ((j) & (w) ? GS_LANES + (j) : (j) + (w))
#define FOUR(pick, j, w) pick(j, w), pick(j + 1, w), pick(j + 2, w), pick(j + 3, w)
#if GS_LANES == 16
#define EACH(pick, w) FOUR(pick, 0, w), FOUR(pick, 4, w), FOUR(pick, 8, w), FOUR(pick, 12, w)
#elif GS_LANES == 8
#define EACH(pick, w) FOUR(pick, 0, w), FOUR(pick, 4, w)
#else
#define EACH(pick, w) FOUR(pick, 0, w)
#endif
#define EXCHANGE(w)                                                                                \
    GS_INLINE void exchange_##w(lanes square[GS_LANES]) {                                          \
        for (size_t i = 0; i < GS_LANES; i++) {                                                    \
            if (i & w) continue;                                                                   \
            lanes a = square[i], b = square[i + w];                                                \
            square[i] = __builtin_shufflevector(a, b, EACH(KEPT, w));                              \
            square[i + w] = __builtin_shufflevector(a, b, EACH(GIVEN, w));                         \
        }                                                                                          \
    }
EXCHANGE(1)
EXCHANGE(2)
#if GS_LANES > 4
EXCHANGE(4)
#endif
#if GS_LANES > 8
EXCHANGE(8)
#endif

static void turn(const float *packed, size_t count, float *turned, size_t stride) {
    for (size_t c = 0; c < PANEL; c += GS_LANES)
        for (size_t r = 0; r < count; r += GS_LANES) {
            lanes square[GS_LANES];
            for (size_t i = 0; i < GS_LANES; i++) square[i] = load(packed + (r + i) * PANEL + c);
            exchange_1(square);
            exchange_2(square);
#if GS_LANES > 4
            exchange_4(square);
#endif
#if GS_LANES > 8
            exchange_8(square);
#endif
            for (size_t i = 0; i < GS_LANES; i++) store(turned + (c + i) * stride + r, square[i]);
        }
}

/* Panels whose sums stay in float32: 16 additions of each lane. */
enum { TOGETHER = 8 };

/* part: sums of squares of the row, of x, of x · centre, for both halves of the panel. `whole` is a
 * constant at every call. */
GS_INLINE void centre_panel(const struct gs_centred_rows *c, size_t r, size_t p, bool whole,
                            lanes part[3][2]) {
    const float *row = c->rows + r * c->stride;
    float *to = c->packed + p * c->panel_stride + r * PANEL;
    for (size_t h = 0; h < 2; h++) {
        size_t column = p * PANEL + h * GS_LANES;
        lanes value = whole                 ? load(row + column)
                      : column < c->columns ? load_row(row, column, c->columns)
                                            : fill(0);
        lanes centre = load(c->centre + column);
        lanes x = (value - centre) - load(c->rest + column);
        store(to + h * GS_LANES, x);
        part[0][h] += value * value;
        part[1][h] += x * x;
        part[2][h] += x * centre;
    }
}

static void sum_panel(const struct gs_centred_rows *c, size_t p) {
    for (size_t h = 0; h < 2; h++) {
        lanes sum = fill(0);
        const float *x = c->packed + p * c->panel_stride + h * GS_LANES;
        for (size_t r = 0; r < c->count; r++) sum += load(x + r * PANEL);
        store(c->column_sums + p * PANEL + h * GS_LANES, sum);
    }
}

/* A few panels of all rows at a time: every panel lies in other pages of memory. */
static void centre_rows(const struct gs_centred_rows *rows) {
    const struct gs_centred_rows c = *rows; /* stores do not reach it */
    size_t whole = c.columns / PANEL, panels = (c.columns + PANEL - 1) / PANEL;
    for (size_t i = 0; i < 3 * c.count; i++) c.sums[i] = 0;
    for (size_t first = 0; first < panels; first += TOGETHER) {
        size_t end = panels - first < TOGETHER ? panels : first + TOGETHER;
        for (size_t r = 0; r < c.count; r++) {
            lanes part[3][2];
            size_t p = first;
            for (size_t i = 0; i < 3; i++) part[i][0] = part[i][1] = fill(0);
            for (; p < end && p < whole; p++) centre_panel(&c, r, p, true, part);
            for (; p < end; p++) centre_panel(&c, r, p, false, part);
            for (size_t i = 0; i < 3; i++) {
                lanes both = part[i][0] + part[i][1];
                c.sums[3 * r + i] += sum_wide(widen_low(both) + widen_high(both));
            }
        }
        for (size_t p = first; p < end; p++) sum_panel(&c, p);
    }
}

static void along(const float *packed, size_t panel_stride, size_t panels, size_t count,
                  const float *vector, double *dots) {
    enum { ROWS = 8 };
    for (size_t r = 0; r < count; r++) dots[r] = 0;
    for (size_t p = 0; p < panels; p += 2 * TOGETHER) {
        size_t end = panels - p < 2 * TOGETHER ? panels : p + 2 * TOGETHER;
        for (size_t r = 0; r < count; r += ROWS) {
            lanes sum[ROWS];
            for (size_t i = 0; i < ROWS; i++) sum[i] = fill(0);
            for (size_t q = p; q < end; q++) {
                lanes low = load(vector + q * PANEL), high = load(vector + q * PANEL + GS_LANES);
                const float *row = packed + q * panel_stride + r * PANEL;
                for (size_t i = 0; i < ROWS; i++) {
                    sum[i] += load(row + i * PANEL) * low;
                    sum[i] += load(row + i * PANEL + GS_LANES) * high;
                }
            }
            for (size_t i = 0; i < ROWS && r + i < count; i++)
                dots[r + i] += sum_wide(widen_low(sum[i]) + widen_high(sum[i]));
        }
    }
}

/* N lags of one vector of late rows. N and `other` are constants at every call. */
GS_INLINE void dots(size_t N, bool other, const struct gs_lag_panel *p, size_t l, size_t t) {
    lanes own[6], across[6];
    const float *early[6];
    for (size_t i = 0; i < N; i++) {
        early[i] = p->early + t - p->lags[l + i];
        own[i] = load(p->own_dots + (l + i) * p->dots_stride + t);
        if (other) across[i] = load(p->other_dots + (l + i) * p->dots_stride + t);
    }
    for (size_t c = 0; c < p->columns; c++) {
        lanes late = load(p->early + c * p->stride + t), late_other = late;
        if (other) late_other = load(p->other + c * p->stride + t);
        for (size_t i = 0; i < N; i++) {
            lanes value = load(early[i] + c * p->stride);
            own[i] += late * value;
            if (other) across[i] += late_other * value;
        }
    }
    for (size_t i = 0; i < N; i++) {
        store(p->own_dots + (l + i) * p->dots_stride + t, own[i]);
        if (other) store(p->other_dots + (l + i) * p->dots_stride + t, across[i]);
    }
}

/* Twelve sums fill the registers: six lags of both kinds, or of one kind. */
static void dots_of_vector(const struct gs_lag_panel *p, size_t l, size_t count, size_t t) {
    if (count == 6 && p->other) {
        dots(6, true, p, l, t);
    } else if (count == 6) {
        dots(6, false, p, l, t);
    } else if (count >= 3 && p->other) {
        dots(3, true, p, l, t);
        if (count > 3) dots_of_vector(p, l + 3, count - 3, t);
    } else {
        for (size_t i = l; i < l + count; i++) {
            if (p->other)
                dots(1, true, p, i, t);
            else
                dots(1, false, p, i, t);
        }
    }
}

static void lag_dots(const struct gs_lag_panel *p) {
    for (size_t l = 0; l < p->lag_count; l += 6) {
        size_t count = p->lag_count - l < 6 ? p->lag_count - l : 6;
        size_t begin = p->lags[l] > p->past ? (p->lags[l] - p->past) / GS_LANES * GS_LANES : 0;
        for (size_t t = begin; t < p->count; t += GS_LANES) dots_of_vector(p, l, count, t);
    }
}

/* ---- bands ------------------------------------------------------------------------------------
 */

/* One band's early rows, weighted and added up: those that late row t meets. */
struct window {
    lanes sum[3];
};

GS_INLINE void meet(const struct gs_band_panel *p, size_t column, struct window *window,
                    ptrdiff_t row) {
    lanes x = load(p->early + row * PANEL + (ptrdiff_t)column);
    for (size_t w = 0; w < 3; w++) window->sum[w] += x * p->weights[w][row];
}

GS_INLINE void leave(const struct gs_band_panel *p, size_t column, struct window *window,
                     ptrdiff_t row) {
    lanes x = load(p->early + row * PANEL + (ptrdiff_t)column);
    for (size_t w = 0; w < 3; w++) window->sum[w] -= x * p->weights[w][row];
}

/* Late rows from t to end - 1 against band b, whose window stands before row t. `other` and `drops`
 * (early rows leave the window) are constants at every call. */
GS_INLINE void band_stretch(const struct gs_band_panel *p, size_t column, size_t b, ptrdiff_t t,
                            ptrdiff_t end, bool other, bool drops, struct window *window) {
    const ptrdiff_t first = (ptrdiff_t)p->first[b], behind = (ptrdiff_t)p->last[b] + 1;
    struct window now = *window;
    lanes total[5];
    for (size_t i = 0; i < 5; i++) total[i] = fill(0);
    for (; t < end; t++) {
        meet(p, column, &now, t - first);
        if (drops && t - behind >= -(ptrdiff_t)p->past) leave(p, column, &now, t - behind);
        lanes row = load(p->early + t * PANEL + (ptrdiff_t)column);
        for (size_t w = 0; w < 3; w++) total[w] += row * p->weights[w][t] * now.sum[w];
        if (!other) continue;
        lanes across = load(p->other + t * PANEL + (ptrdiff_t)column);
        total[3] += across * p->other_weights[0][t] * now.sum[0];
        total[4] += across * p->other_weights[1][t] * now.sum[2];
    }
    *window = now;
    for (size_t i = 0; i < 5; i++) {
        float part[GS_LANES];
        store(part, total[i]);
        for (size_t l = 0; l < GS_LANES; l++) p->sums[b * 5 + i] += (double)part[l];
    }
}

/* The first late row that meets anyone, and the window of the row before it. */
static ptrdiff_t open_window(const struct gs_band_panel *p, size_t column, size_t b,
                             struct window *window) {
    ptrdiff_t past = (ptrdiff_t)p->past, first = (ptrdiff_t)p->first[b];
    ptrdiff_t t = first > past ? first - past : 0, row = t - (ptrdiff_t)p->last[b] - 1;
    for (size_t w = 0; w < 3; w++) window->sum[w] = fill(0);
    for (row = row < -past ? -past : row; row < t - first; row++) meet(p, column, window, row);
    return t;
}

/* Sums are in float for STRETCH rows. A window gains and loses a row at a time; what that leaves
 * behind by rounding is as small as the rounding of the sums. */
static void bands(const struct gs_band_panel *p) {
    enum { STRETCH = 256 };
    const ptrdiff_t count = (ptrdiff_t)p->count;
    for (size_t column = 0; column < PANEL; column += GS_LANES)
        for (size_t b = 0; b < 2; b++) {
            bool drops = p->last[b] < p->past + p->count;
            struct window window;
            for (ptrdiff_t t = open_window(p, column, b, &window); t < count; t += STRETCH) {
                ptrdiff_t end = count - t < STRETCH ? count : t + STRETCH;
                if (p->other && drops)
                    band_stretch(p, column, b, t, end, true, true, &window);
                else if (p->other)
                    band_stretch(p, column, b, t, end, true, false, &window);
                else
                    band_stretch(p, column, b, t, end, false, true, &window);
            }
        }
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
    .within = within,
    .wide_squares = wide_squares,
    .about_mean = about_mean,
    .running_product = running_product,
    .running_products = running_products,
    .turn = turn,
    .centre_rows = centre_rows,
    .along = along,
    .lag_dots = lag_dots,
    .bands = bands,
};
