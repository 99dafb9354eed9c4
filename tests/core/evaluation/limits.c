/* 95 % limits: the quantile of Student's t by integrating its density, the others by how often
 * they hold the truth, and the share's by the equation that defines them. */
#include "core/evaluation/limits.h"
#include "core/base/random.h"
#include "tests/support/support.h"

#include <math.h>

enum { SEED = 20261129 };

/* P(0 < T < t) with `n` degrees of freedom: the density in θ = atan(T / √n) is proportional to
 * cos(θ)^(n − 1), integrated by Simpson's rule. */
static double student_share(double n, double t) {
    enum { STEPS = 20000 };
    const double quarter = acos(-1.0) / 2;
    double parts[2], ends[2] = {atan(t / sqrt(n)), quarter};
    for (int i = 0; i < 2; i++) {
        double h = ends[i] / STEPS;
        parts[i] = 0;
        for (int k = 0; k <= STEPS; k++) {
            double weight = k == 0 || k == STEPS ? 1 : k % 2 ? 4 : 2;
            double cosine = cos(k * h) < 0 ? 0 : cos(k * h);
            parts[i] += weight * pow(cosine, n - 1) * h / 3;
        }
    }
    return parts[0] / parts[1] / 2;
}

static void test_student(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 300; n += n < 15 ? 1 : 41) {
        double t = gs_student_975(n);
        gs_assert_near("P(T < t)", student_share((double)n, t), 0.475, 2e-5, 0);
    }
    gs_assert_near("normal", gs_student_975(1000000000), 1.959963984540054, 1e-8, 0);
    assert_true(isnan(gs_student_975(0)));
}

static void assert_unknown(struct gs_limits limits) {
    assert_false(limits.known);
    assert_true(isnan(limits.low) && isnan(limits.high));
}

static void test_too_few(void **state) {
    (void)state;
    const double one[] = {1, 2}, none[] = {0, 0};
    assert_unknown(gs_mean_limits(1, 0, 1));
    assert_unknown(gs_mean_limits(1, 0, 0));
    assert_unknown(gs_ratio_limits(one, one, 1));
    assert_unknown(gs_ratio_limits(one, none, 2));
    assert_unknown(gs_share_limits(0, 0));
}

/* Of 4,000 samples, 95 % hold the truth: within four standard errors of a share (0.0138). */
static void test_coverage(void **state) {
    (void)state;
    enum { TRIALS = 4000, N = 12 };
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/limits");
    print_message("seed %d\n", SEED);
    size_t mean_holds = 0, ratio_holds = 0;
    for (size_t trial = 0; trial < TRIALS; trial++) {
        double a[N], b[N], sum = 0, squares = 0;
        for (size_t i = 0; i < N; i++) {
            a[i] = 5 + gs_random_normal(&random);
            sum += a[i];
        }
        for (size_t i = 0; i < N; i++) squares += (a[i] - sum / N) * (a[i] - sum / N);
        struct gs_limits limits = gs_mean_limits(sum / N, squares, N);
        mean_holds += limits.known && limits.low <= 5 && 5 <= limits.high;
        for (size_t i = 0; i < N; i++) { /* a is 0.7 b and noise */
            b[i] = 100 + 20 * gs_random_uniform(&random);
            a[i] = 0.7 * b[i] + 3 * gs_random_normal(&random);
        }
        limits = gs_ratio_limits(a, b, N);
        ratio_holds += limits.known && limits.low <= 0.7 && 0.7 <= limits.high;
    }
    gs_assert_near("mean", (double)mean_holds / TRIALS, 0.95, 0.0138, 0);
    gs_assert_near("ratio", (double)ratio_holds / TRIALS, 0.95, 0.0138, 0);
}

/* With the same units everywhere a ratio is a mean. */
static void test_ratio_of_equal_units(void **state) {
    (void)state;
    enum { N = 9 };
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/equal");
    double a[N], b[N], mean = 0, squares = 0;
    for (size_t i = 0; i < N; i++) {
        a[i] = gs_random_normal(&random);
        b[i] = 4;
        mean += a[i] / 4 / N;
    }
    for (size_t i = 0; i < N; i++) squares += (a[i] / 4 - mean) * (a[i] / 4 - mean);
    struct gs_limits ratio = gs_ratio_limits(a, b, N), plain = gs_mean_limits(mean, squares, N);
    gs_assert_near("low", ratio.low, plain.low, 1e-14, 1e-12);
    gs_assert_near("high", ratio.high, plain.high, 1e-14, 1e-12);
}

/* Wilson's ends are the shares p that lie 1.96 of their own standard errors from what was seen. */
static void test_share(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 3000; n = 3 * n + 1)
        for (uint64_t k = 0; k <= n; k += 1 + n / 7) {
            struct gs_limits limits = gs_share_limits(k, n);
            double seen = (double)k / (double)n, ends[2] = {limits.low, limits.high};
            assert_true(limits.known && limits.low <= seen && seen <= limits.high);
            for (int i = 0; i < 2; i++) {
                double error = sqrt(ends[i] * (1 - ends[i]) / (double)n);
                gs_assert_near("end", fabs(ends[i] - seen), 1.959963984540054 * error, 1e-9, 1e-9);
            }
        }
    gs_assert_near("0 of 10", gs_share_limits(0, 10).low, 0, 0, 0);
    gs_assert_near("10 of 10", gs_share_limits(10, 10).high, 1, 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_student),  cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_coverage), cmocka_unit_test(test_ratio_of_equal_units),
        cmocka_unit_test(test_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
