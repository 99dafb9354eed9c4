/* CKA and Procrustes distance: closed forms, and dense computations that share nothing with ours.
 */
#include "analyses/verify/similarity.h"
#include "core/base/random.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEQUENCES = 4, ROWS = 700, D = 6, E = 4 };
static const uint64_t start[SEQUENCES] = {0, 300, 301, 500};
static const uint64_t length[SEQUENCES] = {300, 1, 199, 200};

/* Rows of width d, with a mean and directions of different variance. */
static float *draw(size_t d, const char *name) {
    struct gs_random random;
    gs_random_seed(&random, 7, name);
    float *x = calloc(ROWS * d, sizeof *x);
    if (!x) abort();
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < d; j++)
            x[i * d + j] = (float)(30 + gs_random_normal(&random) / (double)(j + 1));
    return x;
}

static struct gs_similarity compare(const float *x, size_t d, const float *y, size_t e,
                                    size_t shift) {
    struct gs_error error;
    struct gs_similarity similarity;
    struct gs_rows a = gs_rows_of_array(x, d, SEQUENCES, start, length);
    struct gs_rows b = gs_rows_of_array(y, e, SEQUENCES, start, length);
    gs_assert_ok(gs_similarity_of_rows(&a, &b, shift, NULL, &similarity, &error), &error);
    return similarity;
}

/* Turned by a Householder reflection, scaled, moved: nothing is left between them. */
static void a_turned_copy_is_the_same(void **state) {
    (void)state;
    float *x = draw(D, "x"), *y = calloc(ROWS * D, sizeof *y);
    double v[D] = {0.5, -0.5, 0.1, 0.3, 0.4, 0.0}, square = 0;
    if (!y) abort();
    for (size_t j = 0; j < D; j++) square += v[j] * v[j];
    for (size_t i = 0; i < ROWS; i++) {
        double dot = 0;
        for (size_t j = 0; j < D; j++) dot += v[j] * (double)x[i * D + j];
        for (size_t j = 0; j < D; j++)
            y[i * D + j] = (float)(3 * ((double)x[i * D + j] - 2 * v[j] * dot / square) - 5);
    }
    struct gs_similarity s = compare(x, D, y, D, 0);
    assert_int_equal(s.rows, ROWS);
    gs_assert_near("cka", s.cka, 1, 1e-6, 0);
    gs_assert_near("procrustes", s.procrustes, 0, 1e-5, 0);
    s = compare(x, D, x, D, 0);
    gs_assert_near("cka with itself", s.cka, 1, 1e-13, 0);
    gs_assert_near("procrustes with itself", s.procrustes, 0, 1e-6, 0);
    free(x);
    free(y);
}

/* With variances a and b along the same axes, uncorrelated by construction: X has columns √a_j u_j,
 * Y √b_j u_j with orthonormal u. CKA is Σab / √(Σa² Σb²), ‖XᵀY‖* is Σ√(ab). */
static void stretched_axes_have_a_closed_form(void **state) {
    (void)state;
    enum { N = 4 };
    static const double a[3] = {9, 4, 1}, b[3] = {1, 4, 16};
    static const double hadamard[N][3] = {{1, 1, 1}, {-1, 1, -1}, {1, -1, -1}, {-1, -1, 1}};
    static const uint64_t from[1] = {0}, rows[1] = {N};
    float x[N * 3], y[N * 3];
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < 3; j++) {
            x[i * 3 + j] = (float)(sqrt(a[j]) * hadamard[i][j]);
            y[i * 3 + j] = (float)(sqrt(b[j]) * hadamard[i][j]);
        }
    struct gs_rows left = gs_rows_of_array(x, 3, 1, from, rows);
    struct gs_rows right = gs_rows_of_array(y, 3, 1, from, rows);
    struct gs_error error;
    struct gs_similarity s;
    gs_assert_ok(gs_similarity_of_rows(&left, &right, 0, NULL, &s, &error), &error);
    double dot = 9 * 1 + 4 * 4 + 1 * 16, nuclear = 3 * 1 + 2 * 2 + 1 * 4;
    gs_assert_near("cka", s.cka, dot / sqrt((81 + 16 + 1) * (1 + 16 + 256)), 1e-14, 0);
    gs_assert_near("procrustes", s.procrustes, sqrt(2 - 2 * nuclear / sqrt(14. * 21)), 1e-13, 0);
}

/* The Gram matrices of n × n and their centring, as Kornblith et al. write CKA down. */
static double dense_cka(const float *x, size_t d, const float *y, size_t e) {
    double *k = calloc(ROWS * ROWS, sizeof *k), *l = calloc(ROWS * ROWS, sizeof *l);
    if (!k || !l) abort();
    double *grams[2] = {k, l};
    for (size_t g = 0; g < 2; g++) {
        const float *z = g ? y : x;
        size_t width = g ? e : d;
        double *row = calloc(ROWS, sizeof *row), all = 0;
        if (!row) abort();
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < ROWS; j++) {
                double dot = 0;
                for (size_t c = 0; c < width; c++)
                    dot += ((double)z[i * width + c] - 30) * ((double)z[j * width + c] - 30);
                grams[g][i * ROWS + j] = dot;
                row[i] += dot / ROWS;
                all += dot / ((double)ROWS * ROWS);
            }
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < ROWS; j++) grams[g][i * ROWS + j] += all - row[i] - row[j];
        free(row);
    }
    double both = 0, first = 0, second = 0;
    for (size_t i = 0; i < (size_t)ROWS * ROWS; i++) {
        both += k[i] * l[i];
        first += k[i] * k[i];
        second += l[i] * l[i];
    }
    free(k);
    free(l);
    return both / sqrt(first * second);
}

/* Singular values by one-sided Jacobi: columns of m (rows, e ≤ rows) are made orthogonal. */
static double dense_nuclear(double *m, size_t rows, size_t columns) {
    for (int sweep = 0; sweep < 60; sweep++)
        for (size_t p = 0; p < columns; p++)
            for (size_t q = p + 1; q < columns; q++) {
                double pp = 0, qq = 0, pq = 0;
                for (size_t i = 0; i < rows; i++) {
                    double a = m[i * columns + p], b = m[i * columns + q];
                    pp += a * a;
                    qq += b * b;
                    pq += a * b;
                }
                if (fabs(pq) < 1e-300) continue;
                double angle = 0.5 * atan2(2 * pq, pp - qq), c = cos(angle), s = sin(angle);
                for (size_t i = 0; i < rows; i++) {
                    double a = m[i * columns + p], b = m[i * columns + q];
                    m[i * columns + p] = c * a + s * b;
                    m[i * columns + q] = c * b - s * a;
                }
            }
    double total = 0;
    for (size_t j = 0; j < columns; j++) {
        double square = 0;
        for (size_t i = 0; i < rows; i++) square += m[i * columns + j] * m[i * columns + j];
        total += sqrt(square);
    }
    return total;
}

static double dense_procrustes(const float *x, size_t d, const float *y, size_t e) {
    double cross[D * D] = {0}, left = 0, right = 0, mx[D] = {0}, my[D] = {0};
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < d; j++) mx[j] += (double)x[i * d + j] / ROWS;
        for (size_t j = 0; j < e; j++) my[j] += (double)y[i * e + j] / ROWS;
    }
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < d; j++) {
            double a = (double)x[i * d + j] - mx[j];
            left += a * a;
            for (size_t k = 0; k < e; k++) {
                double b = (double)y[i * e + k] - my[k];
                cross[j * e + k] += a * b;
                if (j == 0) right += b * b;
            }
        }
    return sqrt(2 - 2 * dense_nuclear(cross, d, e) / sqrt(left * right));
}

static void any_two_agree_with_dense_forms(void **state) {
    (void)state;
    float *x = draw(D, "x"), *y = draw(D, "y"), *narrow = calloc(ROWS * E, sizeof *narrow);
    if (!narrow) abort();
    /* partly alike */
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < D; j++) y[i * D + j] += x[i * D + (j + 1) % D] - 30;
    for (size_t i = 0; i < ROWS; i++) memcpy(narrow + i * E, y + i * D, E * sizeof *narrow);
    struct gs_similarity s = compare(x, D, y, D, 0), n = compare(x, D, narrow, E, 0);
    assert_true(s.cka > 0.05 && s.cka < 0.95);
    gs_assert_near("cka", s.cka, dense_cka(x, D, y, D), 1e-10, 0);
    gs_assert_near("procrustes", s.procrustes, dense_procrustes(x, D, y, D), 1e-10, 0);
    gs_assert_near("cka, narrower", n.cka, dense_cka(x, D, narrow, E), 1e-10, 0);
    gs_assert_near("procrustes, narrower", n.procrustes, dense_procrustes(x, D, narrow, E), 1e-10,
                   0);
    struct gs_similarity turned = compare(narrow, E, x, D, 0);
    gs_assert_near("cka has no order", turned.cka, n.cka, 1e-12, 0);
    gs_assert_near("procrustes has no order", turned.procrustes, n.procrustes, 1e-12, 0);
    free(x);
    free(y);
    free(narrow);
}

/* Independent noise: near 0 with many rows; and rows of other text are as unlike, here with the
 * same states on both sides. */
static void unlike_states_are_seen(void **state) {
    (void)state;
    float *x = draw(D, "x"), *y = draw(D, "independent");
    struct gs_similarity s = compare(x, D, y, D, 0), shifted = compare(x, D, x, D, 1);
    assert_true(s.cka < 0.02 && s.cka > 0);
    assert_true(s.procrustes > 1.2);
    assert_int_equal(shifted.rows, 1 + 1 + 199 + 200);
    assert_true(shifted.cka < 0.05);
    free(x);
    free(y);
}

static void what_cannot_be_compared(void **state) {
    (void)state;
    float same[ROWS * 2] = {0}, *x = draw(D, "x");
    struct gs_similarity s = compare(same, 2, x, D, 0);
    assert_true(isnan(s.cka) && isnan(s.procrustes));
    struct gs_rows a = gs_rows_of_array(x, D, SEQUENCES, start, length), b = a, one = a;
    struct gs_error error;
    b.sequences = 3;
    gs_assert_error(gs_similarity_of_rows(&a, &b, 0, NULL, &s, &error), GS_SHAPE, &error, "3");
    static const uint64_t first[1] = {0}, single[1] = {1};
    one = gs_rows_of_array(x, D, 1, first, single);
    gs_assert_error(gs_similarity_of_rows(&one, &one, 0, NULL, &s, &error), GS_RANGE, &error,
                    "few rows");
    free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turned_copy_is_the_same),
        cmocka_unit_test(stretched_axes_have_a_closed_form),
        cmocka_unit_test(any_two_agree_with_dense_forms),
        cmocka_unit_test(unlike_states_are_seen),
        cmocka_unit_test(what_cannot_be_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
