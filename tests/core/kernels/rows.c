/* Row kernels against plain loops, in every instruction set that this processor has. */
#include "core/kernels/rows.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { SEED = 20261130, STRIDE = 83 };

static float *random_rows(size_t count) {
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/rows");
    float *rows = gs_calloc(count * STRIDE, sizeof *rows);
    assert_non_null(rows);
    for (size_t i = 0; i < count * STRIDE; i++) rows[i] = (float)(3 + gs_random_normal(&random));
    return rows;
}

static void columns_are_summed_and_bounded(void **state) {
    (void)state;
    const struct gs_row_kernels *k;
    for (size_t table = 0; (k = gs_row_kernels_at(table)); table++)
        for (size_t count = 0; count < 10; count++)
            for (size_t columns = 1; columns <= STRIDE; columns += columns < 40 ? 1 : 43) {
                float *rows = random_rows(10), low[STRIDE + 1], high[STRIDE + 1];
                double sum[STRIDE + 1];
                for (size_t c = 0; c <= STRIDE; c++) sum[c] = 1, low[c] = 3, high[c] = 3.5f;
                k->column_sums(rows, STRIDE, count, columns, sum);
                k->column_bounds(rows, STRIDE, count, columns, low, high);
                for (size_t c = 0; c < columns; c++) {
                    double expected = 1;
                    float least = 3, most = 3.5f;
                    for (size_t r = 0; r < count; r++) {
                        expected += (double)rows[r * STRIDE + c];
                        least = fminf(least, rows[r * STRIDE + c]);
                        most = fmaxf(most, rows[r * STRIDE + c]);
                    }
                    gs_assert_near("sum", sum[c], expected, 0, 1e-14);
                    gs_assert_near("low", (double)low[c], (double)least, 0, 0);
                    gs_assert_near("high", (double)high[c], (double)most, 0, 0);
                }
                assert_true(sum[columns] <= 1 && low[columns] >= 3 && high[columns] <= 3.5f);
                gs_free(rows);
            }
}

static void check_centred(const struct gs_row_kernels *k, size_t count, size_t columns) {
    enum { MOST = 32 };
    float *rows = random_rows(count + 1), packed[64 * MOST];
    double mean[MOST], scale[MOST], squares[MOST];
    for (size_t c = 0; c < MOST; c++) mean[c] = 3 + (double)c, scale[c] = 0.25, squares[c] = 2;
    memset(packed, 0xff, sizeof packed);
    k->centre(rows, STRIDE, count, columns, mean, scale, squares, packed);
    for (size_t c = 0; c < k->panel; c++) {
        double square = 2;
        for (size_t r = 0; r < count; r++) {
            double value = c < columns ? ((double)rows[r * STRIDE + c] - mean[c]) * 0.25 : 0;
            square += value * value;
            gs_assert_near("packed", (double)packed[r * k->panel + c], (double)(float)value, 0, 0);
        }
        gs_assert_near("squares", squares[c], square, 0, 1e-14);
        assert_true(isnan(packed[count * k->panel + c]));
    }
    gs_free(rows);
}

static void rows_are_centred_into_panels(void **state) {
    (void)state;
    const struct gs_row_kernels *k;
    const size_t counts[] = {0, 1, 3, 8, 17, 48};
    for (size_t table = 0; (k = gs_row_kernels_at(table)); table++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            for (size_t columns = 1; columns <= k->panel; columns++)
                check_centred(k, counts[i], columns);
}

static void check_products(const struct gs_row_kernels *k, size_t inner, bool accumulate) {
    enum { MOST = 32, YS = 40 };
    size_t panel = k->panel;
    float *rows = random_rows(64), y[MOST * YS];
    const float *right = rows + inner * panel;
    for (size_t i = 0; i < MOST * YS; i++) y[i] = accumulate ? (float)i : NAN;
    struct gs_panel_pair pair = {rows, right, inner, y, YS, accumulate, right};
    k->panel_product(&pair);
    for (size_t i = 0; i < panel; i++)
        for (size_t j = 0; j < YS; j++) {
            double sum = accumulate ? (double)(i * YS + j) : j < panel ? 0 : (double)NAN;
            for (size_t r = 0; j < panel && r < inner; r++)
                sum += (double)rows[r * panel + i] * (double)right[r * panel + j];
            if (!isnan(sum)) gs_assert_near("product", (double)y[i * YS + j], sum, 1e-4, 1e-5);
            if (isnan(sum)) assert_true(isnan(y[i * YS + j]));
        }
    gs_free(rows);
}

static void panels_are_multiplied(void **state) {
    (void)state;
    const struct gs_row_kernels *k;
    for (size_t table = 0; (k = gs_row_kernels_at(table)); table++)
        for (size_t inner = 0; inner < 60; inner += 1 + inner / 3)
            for (int accumulate = 0; accumulate < 2; accumulate++)
                check_products(k, inner, accumulate);
}

static void a_row_is_squared_in_float64(void **state) {
    (void)state;
    const struct gs_row_kernels *k;
    float *rows = random_rows(2);
    for (size_t table = 0; (k = gs_row_kernels_at(table)); table++)
        for (size_t n = 0; n <= STRIDE; n++) {
            double expected = 0;
            for (size_t i = 0; i < n; i++) expected += (double)rows[i] * (double)rows[i];
            gs_assert_near("squares", k->wide_squares(rows, n), expected, 0, 1e-14);
        }
    gs_free(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_summed_and_bounded),
        cmocka_unit_test(rows_are_centred_into_panels),
        cmocka_unit_test(panels_are_multiplied),
        cmocka_unit_test(a_row_is_squared_in_float64),
    };
    print_message("seed %d\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
