/* rows.h - passes over rows of observations (states of a trace), in the widest form that the
 * processor has; kernels.h has the rules. Sums are float64. What is computed for a column, or for a
 * row, depends on that column or row alone, in a fixed order.
 */
#ifndef GS_CORE_KERNELS_ROWS_H
#define GS_CORE_KERNELS_ROWS_H

#include <stdbool.h>
#include <stddef.h>

/* y[i, j] (+)= Σ_k left[k, i] right[k, j], k ascending in one chain of multiply-adds, for the
 * columns of two panels (inner, panel), which may be the same; y (panel, panel) with row stride ys.
 */
struct gs_panel_pair {
    const float *left, *right;
    size_t inner;
    float *y;
    size_t ys;
    bool accumulate;    /* the chains start from y */
    const float *ahead; /* the panel that is wanted next, fetched meanwhile; never NULL */
};

/* Dots of `count` late rows with the early rows some lags before them, for the columns of one panel
 * turned: column c of row t stands at [c * stride + t]. Rows before the first may be read as far
 * back as the longest lag, and rows behind the last up to a whole vector; what is made of them
 * counts for nothing. Later rows come from two places: the early rows' own (own) and others (other,
 * may be NULL). own_dots[l, t] += Σ_c early[c, t - lag l] early[c, t]; other_dots the same with
 * other[c, t]. */
struct gs_lag_panel {
    const float *early, *other;
    size_t stride, dots_stride; /* of early and other; of both results */
    size_t columns, count;
    const size_t *lags; /* ascending */
    size_t lag_count;
    size_t past; /* rows before the first that mean something: dots with earlier ones may be left
                    out */
    float *own_dots, *other_dots; /* (lag_count, dots_stride) */
};

/* Sums over two ranges of lags (bands) for one packed panel. With z_w(r) = weight w of row r times
 * the row: sums[b, w] += Σ_t z_w(t) · Σ_{k = first b … last b} z_w(t - k), for w < 3; and sums[b,
 * 3], sums[b, 4] the same with early rows of weights 0 and 2 and late rows of `other`, weighted by
 * other_weights 0 and 1. Early rows before the `past` ones do not exist. */
struct gs_band_panel {
    const float *early, *other;    /* (…, panel) at row 0; `past` rows stand before early */
    const float *weights[3];       /* at row 0 of early */
    const float *other_weights[2]; /* at row 0 of other; other may be NULL */
    size_t past, count;
    size_t first[2], last[2]; /* lags, first ≥ 1 */
    double *sums;             /* (2, 5) */
};

/* `count` rows of `columns`, `stride` floats apart, minus a centre that comes in two parts, so that
 * float32 loses nothing of it: x = (row − centre) − rest, both of whole panels with zeros behind
 * the columns. */
struct gs_centred_rows {
    const float *rows;
    size_t stride, count, columns;
    const float *centre, *rest;
    float *packed;       /* x: panel p, row r at p · panel_stride + r · panel */
    size_t panel_stride; /* floats */
    double *sums;       /* (count, 3) of each row: Σ row², Σ x², Σ x centre, good to some 1e-7;
                           what float32 cannot hold shows as 0 or Inf */
    float *column_sums; /* (panels, panel) of x over these rows */
};

struct gs_row_kernels {
    const char *isa; /* as in struct gs_kernels */
    size_t panel;    /* columns of a packed panel, as there */

    /* ---- columns of row-major rows, `stride` floats apart ------------------------------------ */

    /* sum[c] += Σ_r rows[r, c] for c < columns; rows are taken in fours from the first on. */
    void (*column_sums)(const float *rows, size_t stride, size_t count, size_t columns,
                        double *sum);
    /* low[c], high[c] become the smallest and largest of themselves and the column. A NaN may or
     * may not show: column_sums tells. */
    void (*column_bounds)(const float *rows, size_t stride, size_t count, size_t columns,
                          float *low, float *high);
    /* value = (rows[r, c] - mean[c]) * scale[c] in float64, squares[c] += value², and value rounded
     * to float32 into packed (count, panel), zero where c ≥ columns. columns ≤ panel. */
    void (*centre)(const float *rows, size_t stride, size_t count, size_t columns,
                   const double *mean, const double *scale, double *squares, float *packed);
    /* Products of the columns of two packed panels, see below. */
    void (*panel_product)(const struct gs_panel_pair *pair);

    /* ---- one row ----------------------------------------------------------------------------- */

    /* Whether low ≤ x ≤ high for all of n values; NaN is not. */
    bool (*within)(const float *x, size_t n, float low, float high);
    /* Σ x² in float64. */
    double (*wide_squares)(const float *x, size_t n);
    /* In float64: sums[0] = Σ x², [1] = Σ (x - mean)², [2] = Σ (x - mean) mean. */
    void (*about_mean)(const float *x, size_t n, const double *mean, double sums[3]);

    /* product[i] *= factor[i]; returns their sum, in eight sums of every eighth and then those. */
    double (*running_product)(double *product, const double *factor, size_t count);
    /* The same four times over, with factor, factor + 1, … + 3; sums (4) of each time. */
    void (*running_products)(double *product, const double *factor, size_t count, double *sums);

    /* ---- rows of packed panels (horizon) ------------------------------------------------------
     */

    /* turned[c * stride + r] = packed[r, c], in whole squares: rows up to the next multiple of a
     * vector are read and written. stride is a multiple of a vector. */
    void (*turn)(const float *packed, size_t count, float *turned, size_t stride);
    void (*centre_rows)(const struct gs_centred_rows *rows);
    /* dots[r] = Σ packed[r, c] vector[c] for `count` rows of `panels` panels, panel_stride floats
     * apart; vector is of whole panels. Rows up to the next multiple of eight are read. Good to
     * some 1e-7 of the lengths. */
    void (*along)(const float *packed, size_t panel_stride, size_t panels, size_t count,
                  const float *vector, double *dots);
    void (*lag_dots)(const struct gs_lag_panel *panel);
    void (*bands)(const struct gs_band_panel *panel);
};

/* The table in use: the one of gs_kernels. */
const struct gs_row_kernels *gs_row_kernels(void);
/* The table for gs_kernels_at(index), or NULL; for tests. */
const struct gs_row_kernels *gs_row_kernels_at(size_t index);

#endif
