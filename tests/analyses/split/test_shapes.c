/* Fits against likelihoods written out plainly: no parameters near by or drawn at random are
 * better. Gaps and binomials against counting. */
#include "analyses/split/shapes.h"
#include "analyses/split/valley.h"
#include "core/base/random.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>

enum { SEED = 20261130, HEADS = 60 };

/* ---- the likelihoods, a second way ---- */

static double density(double mean, double deviation, double x) {
    return exp(-0.5 * pow((x - mean) / deviation, 2)) /
           (deviation * sqrt(2 * 3.14159265358979323846));
}

/* By Simpson's rule to 12 deviations beyond. */
static double tail(double mean, double deviation, double bound) {
    enum { STEPS = 2000 };
    double end = fmax(mean, bound) + 12 * deviation, h = (end - bound) / STEPS, sum = 0;
    for (int i = 0; i <= STEPS; i++)
        sum += (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2) * density(mean, deviation, bound + i * h);
    return sum * h / 3;
}

static double plain(const struct gs_split_sample *s, const struct gs_two_normals *t) {
    double total = 0;
    for (size_t i = 0; i < s->exact; i++)
        total += log(t->share * density(t->fast.mean, t->fast.deviation, s->x[i]) +
                     (1 - t->share) * density(t->slow.mean, t->slow.deviation, s->x[i]));
    if (s->censored)
        total += (double)s->censored *
                 log(t->share * tail(t->fast.mean, t->fast.deviation, s->bound) +
                     (1 - t->share) * tail(t->slow.mean, t->slow.deviation, s->bound));
    return total;
}

static struct gs_two_normals alike(struct gs_normal n) {
    return (struct gs_two_normals){0.5, n, n};
}

/* ---- samples ---- */

static struct gs_split_sample drawn(struct gs_random *random, double *x, bool pools, double bound) {
    for (size_t i = 0; i < HEADS; i++)
        x[i] = pools && i % 5 < 2 ? 0.7 + 0.35 * gs_random_normal(random)
                                  : 4.1 + 1.2 * gs_random_normal(random);
    struct gs_split_sample sample = {.x = x};
    gs_split_sample_settle(&sample, HEADS, bound);
    return sample;
}

static void tails_are_right(void **state) {
    (void)state;
    const struct gs_normal normal = {1, 2};
    for (double bound = -6; bound < 12; bound += 1)
        gs_assert_near("tail", gs_split_log_tail(normal, bound), log(tail(1, 2, bound)), 1e-8,
                       1e-8);
    /* far out, from Mills' ratio: log Φ̄(30) = −454.3212439... (Abramowitz and Stegun 26.2.12) */
    double z = 30, series = 1 - 1 / (z * z) + 3 / pow(z, 4) - 15 / pow(z, 6);
    gs_assert_near("far", gs_split_log_tail((struct gs_normal){0, 1}, z),
                   -z * z / 2 - 0.5 * log(2 * 3.14159265358979323846) - log(z) + log(series), 0,
                   1e-6);
    double before = gs_split_log_tail((struct gs_normal){0, 1}, 24.999),
           after = gs_split_log_tail((struct gs_normal){0, 1}, 25.001);
    gs_assert_near("no step where the formula changes", after - before, -0.002 * 25.04, 1e-3, 0);
}

static void one_normal_is_mean_and_deviation(void **state) {
    (void)state;
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/one");
    double x[HEADS], sum = 0, squares = 0;
    struct gs_split_sample s = drawn(&random, x, false, INFINITY);
    for (size_t i = 0; i < HEADS; i++) sum += x[i];
    for (size_t i = 0; i < HEADS; i++) squares += pow(x[i] - sum / HEADS, 2);
    struct gs_normal fit;
    double likelihood = gs_split_fit_normal(&s, &fit);
    gs_assert_near("mean", fit.mean, sum / HEADS, 0, 1e-12);
    gs_assert_near("deviation", fit.deviation, sqrt(squares / HEADS), 0, 1e-12);
    struct gs_two_normals twice = alike(fit);
    gs_assert_near("likelihood", likelihood, plain(&s, &twice), 0, 1e-10);
}

static void one_censored_normal_is_at_the_top(void **state) {
    (void)state;
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/one/censored");
    for (int round = 0; round < 10; round++) {
        double x[HEADS];
        struct gs_split_sample s = drawn(&random, x, false, 3 + 0.2 * round);
        assert_true(s.censored > 0 && s.exact > 1);
        struct gs_normal fit;
        double best = gs_split_fit_normal(&s, &fit);
        struct gs_two_normals at = alike(fit);
        gs_assert_near("likelihood", best, plain(&s, &at), 0, 1e-7);
        for (int side = -1; side <= 1; side += 2) {
            struct gs_two_normals beside =
                alike((struct gs_normal){fit.mean + 0.02 * side, fit.deviation});
            assert_true(plain(&s, &beside) < best);
            beside = alike((struct gs_normal){fit.mean, fit.deviation * (1 + 0.02 * side)});
            assert_true(plain(&s, &beside) < best);
        }
    }
}

/* Central differences of the plain likelihood in each of the five parameters, scaled so that a
 * likelihood short by 0.01 would show. */
static double steepest(const struct gs_split_sample *s, const struct gs_two_normals *t) {
    const double h = 1e-4;
    double largest = 0;
    for (int parameter = 0; parameter < 5; parameter++) {
        struct gs_two_normals moved[2] = {*t, *t};
        for (int side = 0; side < 2; side++) {
            double by = side ? h : -h;
            struct gs_two_normals *m = &moved[side];
            double *const all[5] = {&m->share, &m->fast.mean, &m->fast.deviation, &m->slow.mean,
                                    &m->slow.deviation};
            *all[parameter] += by;
        }
        double slope = (plain(s, &moved[1]) - plain(s, &moved[0])) / (2 * h);
        largest = fmax(largest, fabs(slope));
    }
    return largest;
}

static void two_normals_are_at_the_top(void **state) {
    (void)state;
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/two");
    for (int round = 0; round < 20; round++) {
        double x[HEADS];
        struct gs_split_sample s = drawn(&random, x, true, round % 2 ? 5.5 : (double)INFINITY);
        assert_true((s.censored > 0) == (round % 2 == 1));
        struct gs_two_normals fit;
        double best = gs_split_fit_two(&s, &fit);
        gs_assert_near("likelihood", best, plain(&s, &fit), 0, 1e-7);
        gs_assert_near("again", gs_split_likelihood_of_two(&s, &fit), best, 0, 1e-12);
        gs_assert_near("slope", steepest(&s, &fit), 0, 0.5, 0); /* of ±100 a unit off the top */
        assert_true(fit.fast.mean < fit.slow.mean);
        for (int other = 0; other < 300; other++) { /* none at random is better */
            struct gs_two_normals guess = {
                0.1 + 0.8 * gs_random_uniform(&random),
                {-0.5 + 3 * gs_random_uniform(&random), 0.25 + gs_random_uniform(&random)},
                {2 + 4 * gs_random_uniform(&random), 0.3 + 2 * gs_random_uniform(&random)}};
            assert_true(plain(&s, &guess) < best + 0.01);
        }
    }
}

/* Efolds of 30 trained heads (fixtures/studies/structure/gpn_m_128, seeds 11 and 12). One normal by
 * scipy 1.17; two by scikit-learn 1.9's GaussianMixture (tol 1e-13, no regularisation), the best of
 * 200 starts. */
static void agrees_with_scikit_learn(void **state) {
    (void)state;
    static const double efolds[] = {5.147,  1.14,   1.437, 8.553, 1.414, 0.7536, 0.8034, 22.34,
                                    1.656,  3.444,  1.69,  1.031, 10.62, 0.4864, 1.22,   1.296,
                                    0.7416, 1.5,    1.909, 1.137, 27.93, 1.803,  1.224,  0.7647,
                                    0.9275, 0.8859, 5.101, 9.95,  1.727, 3.13};
    enum { COUNT = sizeof efolds / sizeof *efolds };
    double x[COUNT];
    for (size_t i = 0; i < COUNT; i++) x[i] = log(efolds[i]);
    struct gs_split_sample s = {.x = x};
    gs_split_sample_settle(&s, COUNT, INFINITY);
    struct gs_normal one;
    struct gs_two_normals two;
    gs_assert_near("one", gs_split_fit_normal(&s, &one), -43.34105319783088, 0, 1e-12);
    gs_assert_near("two", gs_split_fit_two(&s, &two), -35.42501510613032, 0.001, 0);
    gs_assert_near("share", two.share, 0.68536604, 0.01, 0);
    gs_assert_near("fast", two.fast.mean, 0.14228885, 0.01, 0);
    gs_assert_near("its deviation", two.fast.deviation, 0.36930736, 0.01, 0);
    gs_assert_near("slow", two.slow.mean, 1.99731, 0.02, 0);
    gs_assert_near("its deviation", two.slow.deviation, 0.83117188, 0.02, 0);
}

static void a_clump_does_not_run_away(void **state) {
    (void)state;
    double x[] = {1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    struct gs_split_sample s = {.x = x};
    gs_split_sample_settle(&s, 11, INFINITY);
    struct gs_two_normals fit;
    assert_true(isfinite(gs_split_fit_two(&s, &fit)));
    assert_true(fit.fast.deviation > 0.2 && fit.slow.deviation > 0.2); /* a tenth of 2.7 */
}

static double even_likelihood(const struct gs_split_sample *s, double low, double high) {
    double total = -(double)s->exact * log(high - low);
    return s->censored ? total + (double)s->censored * log((high - s->bound) / (high - low))
                       : total;
}

static void evenly_spread(void **state) {
    (void)state;
    double x[HEADS];
    for (size_t i = 0; i < HEADS; i++) x[i] = 1 + 0.1 * (double)i;
    for (int censored = 0; censored < 2; censored++) {
        struct gs_split_sample s = {.x = x};
        gs_split_sample_settle(&s, HEADS, censored ? 5.05 : (double)INFINITY);
        struct gs_even fit;
        double best = gs_split_fit_even(&s, &fit);
        gs_assert_near("likelihood", best, even_likelihood(&s, fit.low, fit.high), 0, 1e-12);
        gs_assert_near("low", fit.low, 1, 0, 0);
        gs_assert_near("high", fit.high, censored ? 1 + 4.05 * 60 / 41 : 6.9, 0, 1e-12);
        for (double high = s.x[s.exact - 1]; high < 12; high += 0.01)
            if (high > fit.high + 1e-6 || (s.censored && high > s.bound))
                assert_true(even_likelihood(&s, fit.low, high) <= best + 1e-9);
    }
}

static void binomials_by_pascal(void **state) {
    (void)state;
    for (size_t n = 1; n < 40; n += 3) {
        double row[41] = {1}, p = 0.3; /* P(X = k) for 0, 1, … n trials */
        for (size_t trial = 1; trial <= n; trial++)
            for (size_t k = trial + 1; k-- > 0;)
                row[k] = row[k] * (1 - p) + (k ? row[k - 1] * p : 0);
        double at_most = 0;
        for (size_t k = 0; k <= n; k++) {
            at_most += row[k];
            gs_assert_near("binomial", gs_binomial_at_most(k, n, p), at_most, 1e-12, 0);
        }
    }
}

/* The valley's p-value, counted: heads drawn evenly reach it no more often than it says. */
static void the_valley_counts(void **state) {
    (void)state;
    double x[12] = {-0.1, 0, log(3), log(3.01), log(4.99), log(5), log(49), log(321), 6, 7, 8, 9};
    struct gs_split_sample s = {.x = x};
    gs_split_sample_settle(&s, 12, INFINITY);
    struct gs_split_valley v = gs_split_valley_of(&s);
    assert_int_equal(v.left, 2);
    assert_int_equal(v.inside, 2);
    assert_int_equal(v.right, 3);
    gs_split_sample_settle(&s, 12, log(100));
    v = gs_split_valley_of(&s);
    assert_int_equal(v.right, 2);
    gs_assert_near("end", v.right_end, 100, 0, 1e-12);
    gs_split_sample_settle(&s, 12, log(4));
    gs_assert_near("no neighbour", gs_split_valley_of(&s).p, 1, 0, 0);

    struct gs_random random;
    gs_random_seed(&random, SEED, "test/valley");
    int small[2] = {0}, draws = 4000;
    for (int d = 0; d < draws; d++) {
        double y[75];
        for (size_t i = 0; i < 75; i++) y[i] = log(322) * gs_random_uniform(&random);
        struct gs_split_sample even = {.x = y};
        gs_split_sample_settle(&even, 75, INFINITY);
        double p = gs_split_valley_of(&even).p;
        small[0] += p <= 0.05;
        small[1] += p <= 0.2;
    }
    assert_true(small[0] > 0 && small[0] < 0.05 * draws + 4 * sqrt(0.05 * draws));
    assert_true(small[1] > small[0] && small[1] < 0.2 * draws + 4 * sqrt(0.2 * draws));
}

static void the_widest_gap_is_found(void **state) {
    (void)state;
    double x[] = {0, 5, 6, 7, 7.5, 9.5, 10, 11, 12, 20}; /* the ends' gaps leave too few beyond */
    struct gs_split_sample s = {.x = x};
    gs_split_sample_settle(&s, 10, INFINITY);
    struct gs_split_gap gap = gs_split_widest_gap(&s);
    assert_true(gap.known);
    gs_assert_near("gap", gap.log_ratio, 2, 1e-12, 0);
    gs_assert_near("point", gap.at, 8.5, 1e-12, 0);
    gs_split_sample_settle(&s, 3, INFINITY);
    assert_false(gs_split_widest_gap(&s).known);
    /* censored heads count as beyond: with six of them the last gap has enough on its far side */
    gs_split_sample_settle(&s, 3, INFINITY);
    s.censored = 6;
    gap = gs_split_widest_gap(&s);
    assert_true(gap.known);
    gs_assert_near("gap", gap.log_ratio, 1, 1e-12, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tails_are_right),
        cmocka_unit_test(one_normal_is_mean_and_deviation),
        cmocka_unit_test(one_censored_normal_is_at_the_top),
        cmocka_unit_test(two_normals_are_at_the_top),
        cmocka_unit_test(agrees_with_scikit_learn),
        cmocka_unit_test(a_clump_does_not_run_away),
        cmocka_unit_test(evenly_spread),
        cmocka_unit_test(binomials_by_pascal),
        cmocka_unit_test(the_valley_counts),
        cmocka_unit_test(the_widest_gap_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
