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

static void a_row_is_measured_about_a_mean(void **state) {
    (void)state;
    const struct gs_row_kernels *k;
    float *rows = random_rows(1);
    double mean[STRIDE], sums[3];
    for (size_t c = 0; c < STRIDE; c++) mean[c] = 3 + 0.01 * (double)c;
    for (size_t table = 0; (k = gs_row_kernels_at(table)); table++)
        for (size_t n = 0; n <= STRIDE; n++) {
            double expected[3] = {0};
            for (size_t i = 0; i < n; i++) {
                double x = (double)rows[i], apart = x - mean[i];
                expected[0] += x * x;
                expected[1] += apart * apart;
                expected[2] += apart * mean[i];
            }
            k->about_mean(rows, n, mean, sums);
            for (size_t i = 0; i < 3; i++)
                gs_assert_near("sum", sums[i], expected[i], 1e-12, 1e-13);
        }
    gs_free(rows);
}

static void products_run_on(void **state) {
    (void)state;
    enum { MOST = 40 };
    const struct gs_row_kernels *k;
    float *rows = random_rows(1);
    double factor[MOST + 4], first[MOST], sums[4], bits[MOST][5] = {{0}};
    for (size_t i = 0; i < MOST + 4; i++) factor[i] = (double)rows[i] / 4;
    for (size_t table = 0; (k = gs_row_kernels_at(table)); table++)
        for (size_t count = 0; count < MOST; count++) {
            double product[MOST], expected[4] = {0};
            for (size_t i = 0; i < MOST; i++) product[i] = first[i] = 1 + 0.1 * (double)i;
            k->running_products(product, factor, count, sums);
            for (size_t i = 0; i < count; i++)
                for (size_t t = 0; t < 4; t++) expected[t] += first[i] *= factor[i + t];
            for (size_t i = 0; i < MOST; i++) gs_assert_near("product", product[i], first[i], 0, 0);
            for (size_t t = 0; t < 4; t++)
                gs_assert_near("sum", sums[t], expected[t], 1e-300, 1e-14);
            double once = k->running_product(product, factor, count), sum = 0;
            for (size_t i = 0; i < count; i++) sum += first[i] * factor[i];
            gs_assert_near("once", once, sum, 1e-300, 1e-14);
            /* the same bits in all instruction sets */
            if (table > 0) assert_memory_equal(bits[count], sums, sizeof sums);
            memcpy(bits[count], sums, sizeof sums);
        }
    gs_free(rows);
}

/* ---- packed panels: rows of width `panel` here ---- */

enum { ROWS = 80, PAST = 32, MOST_PANEL = 32 };

static void a_panel_is_turned(void **state) {
    (void)state;
    const struct gs_row_kernels *k;
    float *packed = random_rows(ROWS), turned[MOST_PANEL * ROWS];
    for (size_t table = 0; (k = gs_row_kernels_at(table)); table++)
        for (size_t count = 1; count < 40; count += 6) {
            k->turn(packed, count, turned, ROWS);
            for (size_t r = 0; r < count; r++)
                for (size_t c = 0; c < k->panel; c++)
                    gs_assert_near("turned", (double)turned[c * ROWS + r],
                                   (double)packed[r * k->panel + c], 0, 0);
        }
    gs_free(packed);
}

/* `columns` of rows about a centre a thousand times as large as what is left. */
static void check_about_centre(const struct gs_row_kernels *k, size_t columns, size_t count) {
    enum { WIDE = 320, SPAN = 317 };
    size_t panels = (columns + k->panel - 1) / k->panel, stride = (count + 3) * k->panel;
    float *rows = gs_calloc(count * SPAN, sizeof *rows), large[WIDE] = {0}, small[WIDE] = {0};
    float *packed = gs_calloc(panels * stride, sizeof *packed), totals[WIDE];
    double centre[WIDE] = {0}, sums[3 * 40];
    struct gs_random random;
    gs_random_seed(&random, 3, "test/centred");
    for (size_t c = 0; c < columns; c++) {
        centre[c] = 1000 * gs_random_normal(&random);
        large[c] = (float)centre[c];
        small[c] = (float)(centre[c] - (double)large[c]);
    }
    for (size_t i = 0; i < count * SPAN; i++)
        rows[i] = (float)(centre[i % SPAN] + gs_random_normal(&random));
    struct gs_centred_rows given = {rows,  SPAN,   count,  columns, large,
                                    small, packed, stride, sums,    totals};
    k->centre_rows(&given);
    for (size_t r = 0; r < count; r++) {
        double expected[3] = {0}, size = 0;
        for (size_t c = 0; c < panels * k->panel; c++) {
            double value = c < columns ? (double)rows[r * SPAN + c] : 0, x = value - centre[c];
            expected[0] += value * value;
            expected[1] += x * x;
            expected[2] += x * centre[c];
            size += fabs(x * centre[c]);
            gs_assert_near("x", (double)packed[c / k->panel * stride + r * k->panel + c % k->panel],
                           x, 2e-8, 1e-7);
        }
        for (size_t i = 0; i < 3; i++)
            gs_assert_near("sum", sums[3 * r + i], expected[i], i == 2 ? 5e-7 * size : 0, 5e-7);
    }
    for (size_t c = 0; c < panels * k->panel; c++) {
        double sum = 0;
        for (size_t r = 0; r < count && c < columns; r++)
            sum += (double)rows[r * SPAN + c] - centre[c];
        gs_assert_near("total", (double)totals[c], sum, 3e-5, 0);
    }
    gs_free(rows);
    gs_free(packed);
}

static void rows_are_centred(void **state) {
    (void)state;
    const struct gs_row_kernels *k;
    for (size_t table = 0; (k = gs_row_kernels_at(table)); table++)
        for (size_t columns = 1; columns <= 317; columns += 1 + columns / 2)
            for (size_t count = 1; count <= 40; count += 13) check_about_centre(k, columns, count);
}

static void rows_are_laid_along_a_vector(void **state) {
    (void)state;
    enum { MOST_PANELS = 21, COUNT = 19, READ = 24 };
    const struct gs_row_kernels *k;
    for (size_t table = 0; (k = gs_row_kernels_at(table)); table++)
        for (size_t panels = 1; panels <= MOST_PANELS; panels += 4) {
            size_t stride = READ * k->panel;
            float *packed = random_rows(panels * stride / STRIDE + 1);
            float vector[MOST_PANELS * MOST_PANEL];
            double dots[READ];
            for (size_t c = 0; c < panels * k->panel; c++) vector[c] = (float)(c % 7) - 3;
            dots[COUNT] = 5;
            k->along(packed, stride, panels, COUNT, vector, dots);
            for (size_t r = 0; r < COUNT; r++) {
                double expected = 0, size = 0;
                for (size_t c = 0; c < panels * k->panel; c++) {
                    double product =
                        (double)packed[c / k->panel * stride + r * k->panel + c % k->panel] *
                        (double)vector[c];
                    expected += product;
                    size += fabs(product);
                }
                gs_assert_near("dot", dots[r], expected, 3e-7 * size, 0);
            }
            gs_assert_near("untouched", dots[COUNT], 5, 0, 0);
            gs_free(packed);
        }
}

static void check_lag_dots(const struct gs_row_kernels *k, size_t lag_count, bool has_other,
                           size_t past) {
    static const size_t lags[] = {1, 2, 3, 4, 8, 11, 16, 32};
    enum { COUNT = 37 };
    float *early = random_rows(MOST_PANEL * 2), *other = random_rows(MOST_PANEL * 2);
    float own[8 * ROWS] = {0}, across[8 * ROWS] = {0};
    struct gs_lag_panel p = {.early = early + PAST,
                             .other = has_other ? other + PAST : NULL,
                             .stride = ROWS,
                             .dots_stride = ROWS,
                             .columns = k->panel,
                             .count = COUNT,
                             .lags = lags,
                             .lag_count = lag_count,
                             .past = past,
                             .own_dots = own,
                             .other_dots = across};
    k->lag_dots(&p);
    for (size_t l = 0; l < lag_count; l++)
        for (size_t t = lags[l] > past ? lags[l] - past : 0; t < COUNT; t++) {
            double sum = 0, sum_other = 0;
            for (size_t c = 0; c < k->panel; c++) {
                double x = (double)early[PAST + c * ROWS + t - lags[l]];
                sum += x * (double)early[PAST + c * ROWS + t];
                sum_other += x * (double)other[PAST + c * ROWS + t];
            }
            gs_assert_near("own", (double)own[l * ROWS + t], sum, 0, 1e-5);
            gs_assert_near("other", (double)across[l * ROWS + t], has_other ? sum_other : 0, 0,
                           1e-5);
        }
    gs_free(early);
    gs_free(other);
}

static void rows_meet_those_some_lags_before(void **state) {
    (void)state;
    const struct gs_row_kernels *k;
    for (size_t table = 0; (k = gs_row_kernels_at(table)); table++)
        for (size_t lag_count = 1; lag_count <= 8; lag_count++)
            for (int other = 0; other < 2; other++)
                for (size_t past = 0; past <= PAST; past += 16)
                    check_lag_dots(k, lag_count, other, past);
}

static void check_bands(const struct gs_row_kernels *k, bool has_other, size_t past, size_t last) {
    enum { COUNT = 44 };
    float *early = random_rows(ROWS), *other = random_rows(ROWS), weights[5][ROWS];
    double sums[10] = {0}, expected[10] = {0};
    for (size_t w = 0; w < 5; w++)
        for (size_t r = 0; r < ROWS; r++) weights[w][r] = (float)((r + 3 * w) % 5);
    struct gs_band_panel p = {.early = early + PAST * k->panel,
                              .other = has_other ? other : NULL,
                              .weights = {weights[0] + PAST, weights[1] + PAST, weights[2] + PAST},
                              .other_weights = {weights[3], weights[4]},
                              .past = past,
                              .count = COUNT,
                              .first = {13, 1},
                              .last = {last, last},
                              .sums = sums};
    k->bands(&p);
    for (size_t b = 0; b < 2; b++)
        for (size_t t = 0; t < COUNT; t++)
            for (size_t lag = p.first[b]; lag <= p.last[b] && lag <= t + past; lag++)
                for (size_t i = 0; i < 5; i++) {
                    size_t w = i < 3 ? i : i == 3 ? 0 : 2, u = PAST + t - lag;
                    const float *late = i < 3 ? p.early + t * k->panel : other + t * k->panel;
                    double weight = (double)(i < 3 ? weights[w][PAST + t] : weights[i][t]), dot = 0;
                    if (i >= 3 && !has_other) continue;
                    for (size_t c = 0; c < k->panel; c++)
                        dot += (double)late[c] * (double)early[u * k->panel + c];
                    expected[b * 5 + i] += weight * (double)weights[w][u] * dot;
                }
    for (size_t i = 0; i < 10; i++) gs_assert_near("band", sums[i], expected[i], 0, 1e-5);
    gs_free(early);
    gs_free(other);
}

static void bands_of_lags_are_summed(void **state) {
    (void)state;
    const struct gs_row_kernels *k;
    for (size_t table = 0; (k = gs_row_kernels_at(table)); table++)
        for (int other = 0; other < 2; other++)
            for (size_t past = 0; past <= PAST; past += 8)
                for (size_t last = 25; last < 90; last += 30) check_bands(k, other, past, last);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_summed_and_bounded),
        cmocka_unit_test(rows_are_centred_into_panels),
        cmocka_unit_test(panels_are_multiplied),
        cmocka_unit_test(a_row_is_squared_in_float64),
        cmocka_unit_test(a_row_is_measured_about_a_mean),
        cmocka_unit_test(products_run_on),
        cmocka_unit_test(a_panel_is_turned),
        cmocka_unit_test(rows_are_centred),
        cmocka_unit_test(rows_are_laid_along_a_vector),
        cmocka_unit_test(rows_meet_those_some_lags_before),
        cmocka_unit_test(bands_of_lags_are_summed),
    };
    print_message("seed %d\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
