/* Moments in one pass against plain loops in long double, on random and hostile rows. */
#include "analyses/stats/correlation.h"
#include "analyses/stats/moments.h"
#include "analyses/stats/running.h"
#include "core/base/environment.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "tests/support/support.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { SEED = 20261129 };

static float *normal_rows(size_t n, size_t dims, double mean, double deviation) {
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/moments");
    float *rows = gs_calloc(n * dims, sizeof *rows);
    assert_non_null(rows);
    for (size_t r = 0; r < n; r++) {
        double shared = gs_random_normal(&random);
        for (size_t c = 0; c < dims; c++)
            rows[r * dims + c] =
                (float)(mean * (c % 3 ? 1 : -2) +
                        deviation * (gs_random_normal(&random) + (c % 2 ? shared : -0.3 * shared)));
    }
    return rows;
}

/* Rows handed over in pieces of `piece`. */
static struct gs_moments *measure(const float *rows, size_t n, size_t dims, size_t piece,
                                  enum gs_moments_product product) {
    struct gs_moments *moments;
    struct gs_moments_builder *builder;
    struct gs_error error;
    gs_assert_ok(gs_moments_create(dims, &moments, &error), &error);
    gs_assert_ok(gs_moments_builder_create(dims, product, &builder, &error), &error);
    for (size_t at = 0; at < n; at += piece) {
        size_t count = n - at < piece ? n - at : piece;
        gs_assert_ok(gs_moments_builder_add(builder, moments, rows + at * dims, count, &error),
                     &error);
    }
    gs_assert_ok(gs_moments_builder_flush(builder, moments, &error), &error);
    gs_moments_builder_destroy(builder);
    return moments;
}

/* Errors relative to sqrt(M_ii M_jj), as the header promises; the diagonal to float64. */
static void compare(const float *rows, size_t n, size_t dims, const struct gs_moments *m,
                    double tolerance) {
    long double *mean = gs_calloc(dims, sizeof *mean), *square = gs_calloc(dims, sizeof *square);
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < dims; c++)
            mean[c] += (long double)rows[r * dims + c] / (long double)n;
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < dims; c++) {
            long double d = (long double)rows[r * dims + c] - mean[c];
            square[c] += d * d;
        }
    assert_int_equal(m->n, n);
    for (size_t i = 0; i < dims; i++) {
        gs_assert_near_at("mean", m->mean[i], (double)mean[i], 1e-300, 1e-13, __FILE__, __LINE__);
        gs_assert_near_at("diagonal", m->comoment[gs_packed(dims, i, i)], (double)square[i], 1e-300,
                          1e-11, __FILE__, __LINE__);
        for (size_t j = i + 1; j < dims; j++) {
            long double sum = 0;
            for (size_t r = 0; r < n; r++)
                sum += ((long double)rows[r * dims + i] - mean[i]) *
                       ((long double)rows[r * dims + j] - mean[j]);
            double scale = sqrt((double)square[i]) * sqrt((double)square[j]);
            gs_assert_near_at("comoment", m->comoment[gs_packed(dims, i, j)], (double)sum,
                              tolerance * scale + DBL_MIN, 0, __FILE__, __LINE__);
        }
    }
    gs_free(mean);
    gs_free(square);
}

static const double tolerances[] = {[GS_PRODUCT_FLOAT32] = 2e-6, [GS_PRODUCT_FLOAT64] = 1e-12};

static void moments_are_those_of_plain_loops(void **state) {
    (void)state;
    const size_t shapes[][3] = {{1, 1, 1},       {2, 1, 1},      {1, 5, 1},       {3, 17, 2},
                                {50, 64, 7},     {300, 65, 300}, {5000, 20, 999}, {4096, 9, 4096},
                                {4097, 9, 4096}, {40, 130, 40}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (enum gs_moments_product product = 0; product < 2; product++) {
            size_t n = shapes[i][0], dims = shapes[i][1];
            float *rows = normal_rows(n, dims, 3, 2);
            struct gs_moments *m = measure(rows, n, dims, shapes[i][2], product);
            compare(rows, n, dims, m, tolerances[product]);
            gs_moments_destroy(m);
            gs_free(rows);
        }
}

static void a_mean_ten_thousand_deviations_away_costs_nothing(void **state) {
    (void)state;
    enum { N = 9000, DIMS = 12 };
    float *rows = normal_rows(N, DIMS, 1e4, 1);
    for (enum gs_moments_product product = 0; product < 2; product++) {
        struct gs_moments *m = measure(rows, N, DIMS, 512, product);
        compare(rows, N, DIMS, m, tolerances[product]);
        gs_moments_destroy(m);
    }
    gs_free(rows);
}

static void tiny_and_huge_columns_stand_side_by_side(void **state) {
    (void)state;
    enum { N = 200, DIMS = 6 };
    float *rows = normal_rows(N, DIMS, 0.5, 1);
    const float sizes[DIMS] = {1e-30f, 1e30f, 1, 1e-15f, 1e18f, 1e-38f};
    for (size_t r = 0; r < N; r++)
        for (size_t c = 0; c < DIMS; c++) rows[r * DIMS + c] *= sizes[c];
    struct gs_moments *m = measure(rows, N, DIMS, N, GS_PRODUCT_FLOAT32);
    compare(rows, N, DIMS, m, 2e-6);
    gs_moments_destroy(m);
    gs_free(rows);
}

static void a_constant_column_has_exactly_no_deviation(void **state) {
    (void)state;
    enum { N = 4100, DIMS = 5 };
    float *rows = normal_rows(N, DIMS, 1, 1);
    for (size_t r = 0; r < N; r++) rows[r * DIMS + 2] = 0.1f;
    for (enum gs_moments_product product = 0; product < 2; product++) {
        struct gs_moments *m = measure(rows, N, DIMS, 77, product);
        for (size_t c = 0; c < DIMS; c++) {
            size_t place = c < 2 ? gs_packed(DIMS, c, 2) : gs_packed(DIMS, 2, c);
            assert_true(m->comoment[place] >= 0 && m->comoment[place] <= 0);
        }
        assert_true(m->low[2] >= 0.1f && m->high[2] <= 0.1f);
        assert_true(m->high[0] > m->low[0]);
        gs_moments_destroy(m);
    }
    gs_free(rows);
}

static void a_doubled_column_correlates_fully(void **state) {
    (void)state;
    enum { N = 5000, DIMS = 70 };
    float *rows = normal_rows(N, DIMS, 2, 1);
    for (size_t r = 0; r < N; r++) {
        rows[r * DIMS + 69] = rows[r * DIMS];
        rows[r * DIMS + 68] = -3 * rows[r * DIMS + 1];
    }
    for (enum gs_moments_product product = 0; product < 2; product++) {
        struct gs_moments *m = measure(rows, N, DIMS, 1000, product);
        static const size_t pairs[][2] = {{0, 69}, {1, 68}};
        for (size_t p = 0; p < 2; p++) {
            size_t i = pairs[p][0], j = pairs[p][1];
            double r =
                m->comoment[gs_packed(DIMS, i, j)] /
                sqrt(m->comoment[gs_packed(DIMS, i, i)] * m->comoment[gs_packed(DIMS, j, j)]);
            gs_assert_near_at("correlation", r, p ? -1 : 1, tolerances[product], 0, __FILE__,
                              __LINE__);
        }
        gs_moments_destroy(m);
    }
    gs_free(rows);
}

static void merging_in_any_order_gives_the_whole(void **state) {
    (void)state;
    enum { N = 1000, DIMS = 33 };
    float *rows = normal_rows(N, DIMS, 100, 1);
    const size_t cuts[] = {0, 1, 1, 300, 777, N};
    const int orders[][5] = {{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 4, 0, 3, 1}};
    for (size_t o = 0; o < 3; o++) {
        struct gs_moments *sum;
        gs_assert_ok(gs_moments_create(DIMS, &sum, NULL), NULL);
        for (size_t p = 0; p < 5; p++) {
            size_t first = cuts[orders[o][p]], n = cuts[orders[o][p] + 1] - first;
            struct gs_moments *part = measure(rows + first * DIMS, n, DIMS, N, GS_PRODUCT_FLOAT64);
            gs_moments_merge(sum, part);
            gs_moments_destroy(part);
        }
        compare(rows, N, DIMS, sum, 1e-11);
        gs_moments_destroy(sum);
    }
    gs_free(rows);
}

static void threads_change_no_bit(void **state) {
    (void)state;
    enum { N = 5000, DIMS = 130 };
    float *rows = normal_rows(N, DIMS, 3, 1);
    for (enum gs_moments_product product = 0; product < 2; product++) {
        struct gs_moments *first = NULL;
        for (int threads = 1; threads <= 3; threads++) {
            gs_threads_set(threads);
            struct gs_moments *m = measure(rows, N, DIMS, 600, product);
            if (!first) {
                first = m;
                continue;
            }
            assert_memory_equal(m->mean, first->mean,
                                (DIMS + gs_packed_count(DIMS)) * sizeof(double));
            gs_moments_destroy(m);
        }
        gs_moments_destroy(first);
    }
    gs_free(rows);
}

static void values_that_are_not_finite_are_named(void **state) {
    (void)state;
    enum { N = 5000, DIMS = 70 };
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        float *rows = normal_rows(N, DIMS, 0, 1);
        rows[4500 * DIMS + 66] = bad[i];
        struct gs_moments *m;
        struct gs_moments_builder *b;
        struct gs_error error;
        gs_assert_ok(gs_moments_create(DIMS, &m, &error), &error);
        gs_assert_ok(gs_moments_builder_create(DIMS, GS_PRODUCT_FLOAT32, &b, &error), &error);
        gs_assert_ok(gs_moments_builder_add(b, m, rows, N, &error), &error);
        gs_assert_error(gs_moments_builder_flush(b, m, &error), GS_NUMERIC, &error, "row 4500",
                        "dimension 66");
        gs_moments_destroy(m);
        gs_moments_builder_destroy(b);
        gs_free(rows);
    }
}

static void widths_out_of_range_are_refused(void **state) {
    (void)state;
    struct gs_moments *m;
    struct gs_moments_builder *b;
    struct gs_error error;
    gs_assert_error(gs_moments_create(0, &m, &error), GS_UNSUPPORTED, &error, "32766", "found 0");
    gs_assert_error(gs_moments_create(32767, &m, &error), GS_UNSUPPORTED, &error, "32767");
    gs_assert_error(gs_moments_builder_create(40000, GS_PRODUCT_FLOAT32, &b, &error),
                    GS_UNSUPPORTED, &error, "40000");
}

static void running_numbers_are_those_of_two_passes(void **state) {
    (void)state;
    enum { N = 1000 };
    struct gs_random random;
    gs_random_seed(&random, SEED, "running");
    double x[N], mean = 0, square = 0;
    struct gs_running whole = {0}, left = {0}, right = {0}, none = {0};
    for (size_t i = 0; i < N; i++) {
        x[i] = 1e6 + gs_random_normal(&random);
        mean += x[i] / N;
        gs_running_add(&whole, x[i]);
        gs_running_add(i < 123 ? &left : &right, x[i]);
    }
    for (size_t i = 0; i < N; i++) square += (x[i] - mean) * (x[i] - mean);
    double deviation = sqrt(square / (N - 1));
    gs_running_merge(&left, &right);
    gs_running_merge(&left, &none);
    gs_running_merge(&none, &left);
    gs_assert_near_at("mean", whole.mean, mean, 0, 1e-14, __FILE__, __LINE__);
    gs_assert_near_at("std", gs_running_deviation(&whole), deviation, 0, 1e-9, __FILE__, __LINE__);
    gs_assert_near_at("merged", gs_running_deviation(&none), deviation, 0, 1e-9, __FILE__,
                      __LINE__);
    struct gs_running one = {0};
    gs_running_add(&one, 3);
    assert_true(isnan(gs_running_deviation(&one)));
}

static void correlations_are_summed_over_live_pairs(void **state) {
    (void)state;
    /* three live columns (0, 1, 3) and a constant one; correlations 0.5, −1, −0.5 */
    double comoment[16] = {4, 1, 0, -8, 0, 1, 0, -2, 0, 0, 0, 0, 0, 0, 0, 16}, inverse[4];
    uint64_t counts[GS_CORRELATION_BINS];
    struct gs_correlation c;
    gs_correlation_summary(comoment, 4, inverse, &c, counts);
    assert_int_equal(c.live, 3);
    assert_int_equal(c.pairs, 3);
    gs_assert_near_at("mean", c.mean_abs, 2.0 / 3, 1e-15, 0, __FILE__, __LINE__);
    gs_assert_near_at("max", c.max_abs, 1, 0, 0, __FILE__, __LINE__);
    assert_int_equal(c.max_row, 0);
    assert_int_equal(c.max_column, 3);
    uint64_t sum = 0;
    for (size_t i = 0; i < GS_CORRELATION_BINS; i++) sum += counts[i];
    assert_int_equal(sum, 3);
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[25], 1);
    assert_int_equal(counts[75], 1);
    /* rounding beyond 1 counts as 1, in the last bin */
    double beyond[4] = {1, 1 + 1e-9, 0, 1};
    gs_correlation_summary(beyond, 2, inverse, &c, counts);
    assert_true(c.max_abs >= 1 && c.max_abs <= 1);
    assert_int_equal(counts[GS_CORRELATION_BINS - 1], 1);
    double dead[4] = {1, 0, 0, 0};
    gs_correlation_summary(dead, 2, inverse, &c, counts);
    assert_int_equal(c.pairs, 0);
    assert_true(isnan(c.mean_abs) && isnan(c.max_abs));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_those_of_plain_loops),
        cmocka_unit_test(a_mean_ten_thousand_deviations_away_costs_nothing),
        cmocka_unit_test(tiny_and_huge_columns_stand_side_by_side),
        cmocka_unit_test(a_constant_column_has_exactly_no_deviation),
        cmocka_unit_test(a_doubled_column_correlates_fully),
        cmocka_unit_test(merging_in_any_order_gives_the_whole),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(values_that_are_not_finite_are_named),
        cmocka_unit_test(widths_out_of_range_are_refused),
        cmocka_unit_test(running_numbers_are_those_of_two_passes),
        cmocka_unit_test(correlations_are_summed_over_live_pairs),
    };
    print_message("seed %d\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
