/* Measures of dimension against closed forms, and the correction against simulated samples. */
#include "analyses/stats/spectrum.h"

#include "analyses/linalg/lapack.h"
#include "analyses/stats/basic_interval.h"
#include "core/base/random.h"
#include "tests/support/support.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { SEED = 77 };

static void near(const char *name, double a, double b) {
    gs_assert_near_at(name, a, b, 1e-12, 1e-12, __FILE__, __LINE__);
}

static void equal_eigenvalues_fill_every_dimension(void **state) {
    (void)state;
    double values[10];
    for (size_t i = 0; i < 10; i++) values[i] = 0.1;
    near("stable rank", gs_spectrum_stable_rank(values, 10), 10);
    near("participation", gs_spectrum_participation(values, 10), 10);
    near("effective rank", gs_spectrum_effective_rank(values, 10), 10);
    assert_int_equal(gs_spectrum_components(values, 10, 0.5), 5);
    assert_int_equal(gs_spectrum_components(values, 10, 0.9), 9);
    assert_int_equal(gs_spectrum_components(values, 10, 0.99), 10);
    assert_int_equal(gs_spectrum_components(values, 10, 1), 10);
    /* sums of 6 values of 0.3 round so that 3 of them seem less than 0.5 of all */
    double many[6];
    for (size_t i = 0; i < 6; i++) many[i] = 0.3;
    assert_int_equal(gs_spectrum_components(many, 6, 0.5), 3);
}

static void one_eigenvalue_is_one_dimension(void **state) {
    (void)state;
    const double values[4] = {7, 0, 0, 0};
    near("stable rank", gs_spectrum_stable_rank(values, 4), 1);
    near("participation", gs_spectrum_participation(values, 4), 1);
    near("effective rank", gs_spectrum_effective_rank(values, 4), 1);
    assert_int_equal(gs_spectrum_components(values, 4, 0.99), 1);
}

static void unequal_ones_follow_their_formulas(void **state) {
    (void)state;
    const double values[3] = {4, 1, 0.25};
    near("stable rank", gs_spectrum_stable_rank(values, 3), 5.25 / 4);
    near("participation", gs_spectrum_participation(values, 3), 5.25 * 5.25 / 17.0625);
    /* σ = 2, 1, 1/2 of 7/2 */
    double entropy = -(4.0 / 7 * log(4.0 / 7) + 2.0 / 7 * log(2.0 / 7) + 1.0 / 7 * log(1.0 / 7));
    near("effective rank", gs_spectrum_effective_rank(values, 3), exp(entropy));
    assert_int_equal(gs_spectrum_components(values, 3, 0.5), 1);
    assert_int_equal(gs_spectrum_components(values, 3, 0.9), 2);
    assert_int_equal(gs_spectrum_components(values, 3, 0.99), 3);
    near("sum", gs_spectrum_sum(values, 3), 5.25);
}

static void no_variance_has_no_dimension(void **state) {
    (void)state;
    const double values[2] = {0, 0};
    assert_true(isnan(gs_spectrum_stable_rank(values, 2)));
    assert_true(isnan(gs_spectrum_participation(values, 2)));
    assert_true(isnan(gs_spectrum_participation_corrected(values, 2, 100)));
    assert_true(isnan(gs_spectrum_effective_rank(values, 2)));
    assert_int_equal(gs_spectrum_components(values, 2, 0.5), 0);
    const double some[2] = {1, 0};
    assert_true(isnan(gs_spectrum_participation_corrected(some, 2, 2)));
}

static void rounding_is_clipped_and_counted(void **state) {
    (void)state;
    double values[5] = {1, 0.5, 1e-17, 0, -1e-17};
    size_t clipped;
    struct gs_error error;
    gs_assert_ok(gs_spectrum_clip(values, 5, DBL_EPSILON, &clipped, &error), &error);
    assert_int_equal(clipped, 2);
    for (size_t i = 2; i < 5; i++) assert_true(values[i] >= 0 && values[i] <= 0);
    double small[3] = {1, 1e-9, -1e-8};
    gs_assert_error(gs_spectrum_clip(small, 3, DBL_EPSILON, &clipped, &error), GS_NUMERIC, &error,
                    "eigenvalue 3 of 3", "-1e-08");
    small[2] = -1e-8;
    gs_assert_ok(gs_spectrum_clip(small, 3, FLT_EPSILON, &clipped, &error), &error);
    assert_int_equal(clipped, 1);
    near("kept", small[1], 1e-9);
    double nan[1] = {NAN};
    gs_assert_error(gs_spectrum_clip(nan, 1, DBL_EPSILON, &clipped, &error), GS_NUMERIC, &error,
                    "nan");
}

/* Both traces from the two equations of the header, by Cramer's rule. */
static void the_correction_solves_its_equations(void **state) {
    (void)state;
    const double values[4] = {3, 2, 0.5, 0.1};
    for (uint64_t n = 8; n < 1000; n *= 5) {
        double nu = (double)(n - 1), A = 5.6 * 5.6, B = 9 + 4 + 0.25 + 0.01;
        double a[2][2] = {{1, 2 / nu}, {1 / nu, 1 + 1 / nu}};
        double whole = a[0][0] * a[1][1] - a[0][1] * a[1][0];
        double square_of_trace = (A * a[1][1] - a[0][1] * B) / whole;
        double trace_of_square = (a[0][0] * B - a[1][0] * A) / whole;
        near("corrected", gs_spectrum_participation_corrected(values, 4, n),
             square_of_trace / trace_of_square);
    }
}

/* Few rows of a wide normal: the plain ratio is far too small, the corrected one near the truth,
 * on average over many samples. Numerator and denominator are each unbiased; their quotient
 * nearly. */
static void the_correction_takes_the_number_of_rows_out(void **state) {
    (void)state;
    enum { DIMS = 24, ROWS = 30, SAMPLES = 400 };
    struct gs_random random;
    gs_random_seed(&random, SEED, "correction");
    double sum = 0, square = 0, plain = 0, corrected = 0;
    double deviation[DIMS];
    for (size_t i = 0; i < DIMS; i++) {
        deviation[i] = 1 / sqrt(1 + 0.2 * (double)i);
        sum += deviation[i] * deviation[i];
        square += pow(deviation[i], 4);
    }
    for (size_t s = 0; s < SAMPLES; s++) {
        static double rows[ROWS][DIMS], covariance[DIMS * DIMS], values[DIMS];
        memset(covariance, 0, sizeof covariance);
        for (size_t r = 0; r < ROWS; r++)
            for (size_t c = 0; c < DIMS; c++) rows[r][c] = deviation[c] * gs_random_normal(&random);
        for (size_t c = 0; c < DIMS; c++) {
            double mean = 0;
            for (size_t r = 0; r < ROWS; r++) mean += rows[r][c] / ROWS;
            for (size_t r = 0; r < ROWS; r++) rows[r][c] -= mean;
        }
        for (size_t i = 0; i < DIMS; i++)
            for (size_t j = i; j < DIMS; j++)
                for (size_t r = 0; r < ROWS; r++)
                    covariance[i * DIMS + j] += rows[r][i] * rows[r][j] / (ROWS - 1);
        gs_assert_ok(gs_eigenvalues(DIMS, covariance, values, NULL), NULL);
        plain += gs_spectrum_participation(values, DIMS) / SAMPLES;
        corrected += gs_spectrum_participation_corrected(values, DIMS, ROWS) / SAMPLES;
    }
    double truth = sum * sum / square;
    print_message("participation %.3f: plain %.3f, corrected %.3f\n", truth, plain, corrected);
    assert_true(plain < 0.75 * truth);
    gs_assert_near_at("corrected", corrected, truth, 0, 0.06, __FILE__, __LINE__);
}

static void basic_intervals_stay_inside_their_range(void **state) {
    (void)state;
    struct gs_interval q = {true, 4, 16, 10}, i = gs_basic_interval(q, 8, 0, INFINITY);
    near("low", i.low, 4);
    near("high", i.high, 16);
    i = gs_basic_interval(q, 12, 0, INFINITY);
    near("low", i.low, 9);
    near("high", i.high, 36);
    i = gs_basic_interval(q, 5, 3, INFINITY); /* 25/16 is cut to 3 */
    near("cut", i.low, 3);
    q = (struct gs_interval){true, 0.5, 0.9, 10};
    i = gs_basic_interval(q, 0.8, 0, 1); /* odds 16 / 9 and 16 / 1 */
    near("low", i.low, 16.0 / 25);
    near("high", i.high, 16.0 / 17);
    q = (struct gs_interval){true, 0.9, 1, 10}; /* on the border: 2 θ − q, cut */
    i = gs_basic_interval(q, 0.97, 0, 1);
    near("low", i.low, 0.94);
    assert_true(i.high > 0.98 && i.high < 1);
    i = gs_basic_interval(q, 1, 0, 1);
    near("low", i.low, 1);
    near("high", i.high, 1);
    assert_false(gs_basic_interval(q, (double)NAN, 0, 1).known);
    q.known = false;
    assert_false(gs_basic_interval(q, 0.5, 0, 1).known);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_eigenvalues_fill_every_dimension),
        cmocka_unit_test(one_eigenvalue_is_one_dimension),
        cmocka_unit_test(unequal_ones_follow_their_formulas),
        cmocka_unit_test(no_variance_has_no_dimension),
        cmocka_unit_test(rounding_is_clipped_and_counted),
        cmocka_unit_test(the_correction_solves_its_equations),
        cmocka_unit_test(basic_intervals_stay_inside_their_range),
        cmocka_unit_test(the_correction_takes_the_number_of_rows_out),
    };
    print_message("seed %d\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
