/* Ranks and Spearman against counting by hand, and values that scipy.stats.spearmanr gives. */
#include "analyses/stats/rank_correlation.h"

#include "core/base/memory.h"
#include "core/base/random.h"
#include "tests/support/support.h"

#include <math.h>

enum { SEED = 5 };

static void ranks_share_ties(void **state) {
    (void)state;
    const double values[] = {3, 1, 3, INFINITY, -INFINITY, 3, 1};
    const double expected[] = {5, 2.5, 5, 7, 1, 5, 2.5};
    double ranks[7];
    gs_assert_ok(gs_average_ranks(values, 7, ranks, NULL), NULL);
    for (size_t i = 0; i < 7; i++)
        gs_assert_near_at("rank", ranks[i], expected[i], 0, 0, __FILE__, __LINE__);
}

static void ranks_are_what_counting_gives(void **state) {
    (void)state;
    struct gs_random random;
    gs_random_seed(&random, SEED, "ranks");
    for (size_t n = 0; n < 200; n += 13) {
        double *values = gs_calloc(n, sizeof *values), *ranks = gs_calloc(n, sizeof *ranks);
        for (size_t i = 0; i < n; i++) values[i] = (double)gs_random_below(&random, 1 + n / 3);
        gs_assert_ok(gs_average_ranks(values, n, ranks, NULL), NULL);
        for (size_t i = 0; i < n; i++) {
            double rank = 1;
            for (size_t j = 0; j < n; j++) {
                if (values[j] < values[i]) rank += 1;
                if (j != i && !(values[j] < values[i]) && !(values[j] > values[i])) rank += 0.5;
            }
            gs_assert_near_at("rank", ranks[i], rank, 0, 0, __FILE__, __LINE__);
        }
        gs_free(values);
        gs_free(ranks);
    }
}

static double spearman(const double *x, const double *y, size_t n) {
    double rho;
    gs_assert_ok(gs_spearman(x, y, n, &rho, NULL), NULL);
    return rho;
}

static void known_values_come_out(void **state) {
    (void)state;
    /* scipy.stats.spearmanr([1, 2, 3, 4, 5], [5, 6, 7, 8, 7]) = 0.8207826816681233 */
    const double x[] = {1, 2, 3, 4, 5}, y[] = {5, 6, 7, 8, 7};
    gs_assert_near_at("scipy", spearman(x, y, 5), 0.8207826816681233, 1e-15, 0, __FILE__, __LINE__);
    const double down[] = {9, 4, 0, -1, -100};
    gs_assert_near_at("reversed", spearman(x, down, 5), -1, 1e-15, 0, __FILE__, __LINE__);
    const double bent[] = {1, 8, 27, 1e6, 1e300};
    gs_assert_near_at("monotone", spearman(x, bent, 5), 1, 1e-15, 0, __FILE__, __LINE__);
    /* ties on both sides, by hand: ranks (1.5, 1.5, 3, 4) and (1, 2.5, 2.5, 4) → 3.75 / 4.5 */
    const double a[] = {1, 1, 2, 3}, b[] = {0, 5, 5, 9};
    gs_assert_near_at("ties", spearman(a, b, 4), 3.75 / 4.5, 1e-15, 0, __FILE__, __LINE__);
}

static void what_has_no_correlation_is_nan(void **state) {
    (void)state;
    const double x[] = {1, 2, 3}, flat[] = {0.1, 0.1, 0.1};
    assert_true(isnan(spearman(x, flat, 3)));
    assert_true(isnan(spearman(flat, x, 3)));
    assert_true(isnan(spearman(x, x, 1)));
    assert_true(isnan(spearman(x, x, 0)));
    assert_true(isnan(gs_pearson(x, flat, 3)));
    const double nan[] = {1, NAN, 3};
    double rho;
    struct gs_error error;
    gs_assert_error(gs_spearman(x, nan, 3, &rho, &error), GS_NUMERIC, &error, "value 1 of 3");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_share_ties),
        cmocka_unit_test(ranks_are_what_counting_gives),
        cmocka_unit_test(known_values_come_out),
        cmocka_unit_test(what_has_no_correlation_is_nan),
    };
    print_message("seed %d\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
