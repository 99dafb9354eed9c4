#include "tests/analyses/split/nearest_unimodal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* maximise c·z, A z ≤ b, z ≥ 0, all b ≥ 0, so that z = 0 is a corner to begin at. Simplex with
 * Bland's rule, which cannot go in circles. */
enum { ROWS = 8 * GS_NEAREST_MOST, COLUMNS = 4 * GS_NEAREST_MOST + 2 };

struct programme {
    size_t rows, columns;
    double a[ROWS + 1][COLUMNS + ROWS + 1]; /* the last row: −c; the last column: b */
    size_t basis[ROWS];
};

static void pivot(struct programme *p, size_t width, size_t row, size_t column) {
    double by = p->a[row][column];
    for (size_t j = 0; j <= width; j++) p->a[row][j] /= by;
    for (size_t i = 0; i <= p->rows; i++) {
        double factor = p->a[i][column];
        if (i == row || fabs(factor) < 1e-15) continue;
        for (size_t j = 0; j <= width; j++) p->a[i][j] -= factor * p->a[row][j];
    }
    p->basis[row] = column;
}

static double solve(struct programme *p) {
    const double tiny = 1e-11;
    size_t width = p->columns + p->rows;
    for (size_t i = 0; i < p->rows; i++) {
        double b = p->a[i][p->columns];
        p->a[i][p->columns] = 0;
        p->a[i][width] = b;
        p->a[i][p->columns + i] = 1;
        p->basis[i] = p->columns + i;
    }
    for (;;) {
        size_t column = 0, row = p->rows;
        while (column < width && !(p->a[p->rows][column] < -tiny)) column++;
        if (column == width) return p->a[p->rows][width];
        double least = INFINITY;
        for (size_t i = 0; i < p->rows; i++) {
            if (!(p->a[i][column] > tiny)) continue;
            double ratio = p->a[i][width] / p->a[i][column];
            if (ratio < least - tiny ||
                (ratio < least + tiny && row < p->rows && p->basis[i] < p->basis[row])) {
                least = ratio;
                row = i;
            }
        }
        assert(row < p->rows);
        pivot(p, width, row, column);
    }
}

/* ---- the programme of one peak ---- */

/* Distinct values, how many lie at or below each, and below. Heights are those of the straight line
 * from 0 at the first value to 1 at the last (convex and concave at once) plus u_i − v_i; the
 * distance is 1 − e, with e to be made large. At the peak there may be a step: one height to its
 * left (number m) and one to its right (number m + 1). */
struct peak {
    struct programme p;
    size_t distinct, m, count;
    double x[GS_NEAREST_MOST];
    double below[GS_NEAREST_MOST], up_to[GS_NEAREST_MOST];
};

static double line(const struct peak *k, size_t value) {
    return (k->x[value] - k->x[0]) / (k->x[k->distinct - 1] - k->x[0]);
}

/* Add factor · height to the row being made; what the line contributes goes to the right. */
static void height(struct peak *k, size_t which, double factor) {
    size_t value = which <= k->m ? which : which - 1;
    double *row = k->p.a[k->p.rows];
    row[2 * which] += factor;
    row[2 * which + 1] -= factor;
    row[k->p.columns] -= factor * line(k, value);
}

static void end_row(struct peak *k, double right, double distances) {
    double *row = k->p.a[k->p.rows];
    row[k->p.columns - 1] += distances; /* distance = 1 − e, moved to the left side */
    row[k->p.columns] += right + distances;
    if (fabs(row[k->p.columns]) < 1e-12) row[k->p.columns] = 0;
    assert(row[k->p.columns] >= 0);
    k->p.rows++;
}

/* Convex where sign is 1, concave where −1: the slope from a to b is at most, or at least, that
 * from b to c; times both widths, which may be tiny. */
static void bend(struct peak *k, size_t a, double sign) {
    size_t value = a <= k->m ? a : a - 1;
    double left = k->x[value + 1] - k->x[value], right = k->x[value + 2] - k->x[value + 1];
    height(k, a, -sign * right);
    height(k, a + 1, sign * (left + right));
    height(k, a + 2, -sign * left);
    end_row(k, 0, 0);
}

static void band(struct peak *k, size_t which, double least, double most) {
    height(k, which, 1);
    end_row(k, most, 1);
    height(k, which, -1);
    end_row(k, -least, 1);
}

static double with_peak(struct peak *k, size_t m) {
    size_t heights = k->distinct + 1;
    double n = (double)k->count;
    memset(&k->p, 0, sizeof k->p);
    k->m = m;
    k->p.columns = 2 * heights + 1;
    for (size_t i = 0; i < k->distinct; i++) {
        /* without a step, a height must suit the empirical one on both sides */
        if (i != m)
            band(k, i <= m ? i : i + 1, k->up_to[i] / n, k->below[i] / n);
        else {
            band(k, m, k->below[i] / n, k->below[i] / n);
            band(k, m + 1, k->up_to[i] / n, k->up_to[i] / n);
        }
    }
    for (size_t a = 0; a + 2 <= m; a++) bend(k, a, 1);
    for (size_t a = m + 1; a + 2 < heights; a++) bend(k, a, -1);
    for (size_t a = 0; a + 1 < heights; a++) { /* it rises */
        height(k, a, 1);
        height(k, a + 1, -1);
        end_row(k, 0, 0);
    }
    k->p.a[k->p.rows][k->p.columns - 1] = -1; /* maximise e */
    return 1 - solve(&k->p);
}

double gs_nearest_unimodal(const double *sorted, size_t count) {
    static struct peak k;
    assert(count <= GS_NEAREST_MOST);
    k.distinct = 0;
    k.count = count;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || sorted[i] > sorted[i - 1]) {
            k.x[k.distinct] = sorted[i];
            k.below[k.distinct++] = (double)i;
        }
        k.up_to[k.distinct - 1] = (double)(i + 1);
    }
    double least = INFINITY;
    for (size_t m = 0; m < k.distinct; m++) least = fmin(least, with_peak(&k, m));
    return least;
}
