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

    /* Σ x² in float64. */
    double (*wide_squares)(const float *x, size_t n);
};

/* The table in use: the one of gs_kernels. */
const struct gs_row_kernels *gs_row_kernels(void);
/* The table for gs_kernels_at(index), or NULL; for tests. */
const struct gs_row_kernels *gs_row_kernels_at(size_t index);

#endif
