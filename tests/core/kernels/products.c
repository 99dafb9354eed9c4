/* The products of every instruction set this processor has at sizes beyond their blocks, against
 * plain double loops, and their bits: each sum is one chain over the inner dimension, so neither
 * blocks nor neighbours may show. */
#include "tests/support/support.h"

#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/kernels/kernels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEED = 78 };

static struct gs_random random_state;

static float *drawn(size_t n) {
    float *x = gs_calloc(n, sizeof *x);
    for (size_t i = 0; i < n; i++) x[i] = (float)gs_random_normal(&random_state);
    return x;
}

static void near(const char *what, float ours, double sum, double size) {
    gs_assert_near(what, (double)ours, sum, 4e-6 * size + 1e-30, 0);
}

/* ---- packed -----------------------------------------------------------------------------------
 */

static float *packed_of(const struct gs_kernels *k, const float *W, size_t inner, size_t columns) {
    const size_t panel = k->panel, panels = (columns + panel - 1) / panel;
    float *packed = gs_calloc(panels * inner * panel, sizeof *packed);
    for (size_t i = 0; i < inner; i++)
        for (size_t j = 0; j < columns; j++)
            packed[(j / panel * inner + i) * panel + j % panel] = W[i * columns + j];
    return packed;
}

/* rows x inner x columns at once, against doubles (every 7th element) and against the same rows
 * alone, panel by panel. */
static void check_packed(const struct gs_kernels *k, size_t rows, size_t inner, size_t columns) {
    const size_t panels = (columns + k->panel - 1) / k->panel, xs = inner + 3, ys = columns + 5;
    float *W = drawn(inner * columns), *x = drawn(rows * xs),
          *packed = packed_of(k, W, inner, columns);
    float *y = drawn(rows * ys), *other = gs_calloc(rows * ys, sizeof *other);
    float *start = gs_calloc(rows * ys, sizeof *start);
    for (int accumulate = 0; accumulate < 2; accumulate++) {
        memcpy(start, y, rows * ys * sizeof *y);
        memcpy(other, y, rows * ys * sizeof *y);
        k->product(x, xs, rows, packed, inner, 0, panels, columns, y, ys, accumulate);
        for (size_t at = 0; at < rows * columns; at += 7) {
            size_t r = at / columns, j = at % columns;
            double sum = accumulate ? (double)start[r * ys + j] : 0, size = fabs(sum);
            for (size_t i = 0; i < inner; i++) {
                double term = (double)x[r * xs + i] * (double)W[i * columns + j];
                sum += term;
                size += fabs(term);
            }
            near("product", y[r * ys + j], sum, size);
        }
        for (size_t r = 0; r < rows; r++)
            for (size_t p = 0; p < panels; p++)
                k->product(x + r * xs, xs, 1, packed, inner, p, p + 1, columns, other + r * ys, ys,
                           accumulate);
        assert_memory_equal(y, other, rows * ys * sizeof *y); /* what stands between rows, too */
    }
    gs_free(W), gs_free(x), gs_free(packed), gs_free(y), gs_free(other), gs_free(start);
}

static void packed_products_in_blocks(void **unused) {
    (void)unused;
    gs_random_seed(&random_state, SEED, "packed");
    static const size_t shapes[][3] = {{1, 300, 200},   {2, 1025, 130}, {3, 513, 65}, {4, 640, 33},
                                       {13, 1100, 100}, {200, 600, 70}, {7, 512, 64}, {1, 8, 7},
                                       {5, 0, 20},      {2, 0, 70},     {5, 300, 32}, {9, 40, 56}};
    for (size_t t = 0; t < gs_kernels_count(); t++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            check_packed(gs_kernels_at(t), shapes[s][0], shapes[s][1], shapes[s][2]);
}

/* ---- outer ------------------------------------------------------------------------------------
 */

static void check_outer(const struct gs_kernels *k, size_t steps, size_t rows, size_t columns) {
    const size_t as = rows + 2, bs = columns + 1, cs = columns + 3;
    float *a = drawn(steps * as + 1), *b = drawn(steps * bs + 1), *c = drawn(rows * cs);
    float *start = gs_calloc(rows * cs, sizeof *start),
          *parts = gs_calloc(rows * cs, sizeof *parts);
    memcpy(start, c, rows * cs * sizeof *c);
    memcpy(parts, c, rows * cs * sizeof *c);
    k->outer(a, as, b, bs, steps, rows, columns, c, cs);
    for (size_t at = 0; at < rows * columns; at += 5) {
        size_t i = at / columns, j = at % columns;
        double sum = (double)start[i * cs + j], size = fabs(sum);
        for (size_t s = 0; s < steps; s++) {
            double term = (double)a[s * as + i] * (double)b[s * bs + j];
            sum += term;
            size += fabs(term);
        }
        near("outer", c[i * cs + j], sum, size);
    }
    /* step after step, and cut into blocks of rows and columns: the same chains */
    for (size_t s = 0; s < steps; s++)
        for (size_t i = 0; i < rows; i += 5)
            for (size_t j = 0; j < columns; j += 40)
                k->outer(a + s * as + i, as, b + s * bs + j, bs, 1, rows - i < 5 ? rows - i : 5,
                         columns - j < 40 ? columns - j : 40, parts + i * cs + j, cs);
    assert_memory_equal(c, parts, rows * cs * sizeof *c);
    gs_free(a), gs_free(b), gs_free(c), gs_free(start), gs_free(parts);
}

static void outer_products_in_blocks(void **unused) {
    (void)unused;
    gs_random_seed(&random_state, SEED, "outer");
    static const size_t shapes[][3] = {{1, 1, 1},    {3, 6, 16},    {256, 12, 32}, {257, 13, 33},
                                       {512, 90, 7}, {40, 300, 50}, {300, 7, 130}, {0, 5, 5}};
    for (size_t t = 0; t < gs_kernels_count(); t++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            check_outer(gs_kernels_at(t), shapes[s][0], shapes[s][1], shapes[s][2]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_products_in_blocks),
        cmocka_unit_test(outer_products_in_blocks),
    };
    for (size_t t = 0; t < gs_kernels_count(); t++)
        print_message("kernels: %s, seed %d\n", gs_kernels_at(t)->isa, SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
