/* The bootstrap against draws taken by hand, known percentiles, and the share of intervals that
 * hold the truth in simulated data. */
#include "analyses/stats/bootstrap.h"
#include "analyses/stats/crossing.h"
#include "analyses/stats/lags.h"
#include "core/base/environment.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 20261129 };

static void weights_count_what_is_drawn(void **state) {
    (void)state;
    enum { BLOCKS = 13 };
    size_t moved = 0;
    for (uint64_t r = 0; r < 100; r++) {
        size_t drawn[BLOCKS], again[BLOCKS], counts[BLOCKS] = {0};
        double weights[BLOCKS];
        gs_bootstrap_draw(SEED, r, BLOCKS, drawn);
        gs_bootstrap_draw(SEED, r, BLOCKS, again);
        assert_memory_equal(drawn, again, sizeof drawn);
        gs_bootstrap_weights(SEED, r, BLOCKS, weights);
        for (size_t i = 0; i < BLOCKS; i++) {
            assert_true(drawn[i] < BLOCKS);
            counts[drawn[i]]++;
        }
        for (size_t b = 0; b < BLOCKS; b++) assert_true(weights[b] == (double)counts[b]);
        gs_bootstrap_draw(SEED, r + 1, BLOCKS, again);
        moved += memcmp(drawn, again, sizeof drawn) != 0;
        gs_bootstrap_draw(SEED + 1, r, BLOCKS, again);
        moved += memcmp(drawn, again, sizeof drawn) != 0;
    }
    assert_int_equal(moved, 200);
}

/* Each block is drawn equally often: 5000 · 8 draws over 8 blocks, within 5 deviations. */
static void draws_are_even(void **state) {
    (void)state;
    double total[8] = {0}, weights[8];
    for (uint64_t r = 0; r < 5000; r++) {
        gs_bootstrap_weights(SEED, r, 8, weights);
        for (size_t b = 0; b < 8; b++) total[b] += weights[b];
    }
    for (size_t b = 0; b < 8; b++)
        gs_assert_near("draws", total[b], 5000, 5 * sqrt(40000 * (1.0 / 8) * (7.0 / 8)), 0);
}

static void percentiles_are_interpolated(void **state) {
    (void)state;
    double values[1001];
    for (size_t i = 0; i < 1001; i++) values[i] = (double)((i * 8) % 1001);
    struct gs_interval interval = gs_bootstrap_percentile(values, 1001);
    assert_true(interval.known);
    gs_assert_near("low", interval.low, 25, 1e-9, 0);
    gs_assert_near("high", interval.high, 975, 1e-9, 0);
    double few[] = {4, 1, 3, 2}; /* places 0.075 and 2.925 of 1, 2, 3, 4 */
    interval = gs_bootstrap_percentile(few, 4);
    gs_assert_near("low", interval.low, 1.075, 1e-12, 0);
    gs_assert_near("high", interval.high, 3.925, 1e-12, 0);
}

static void infinite_and_missing_values(void **state) {
    (void)state;
    double values[100];
    for (size_t i = 0; i < 100; i++) values[i] = i < 90 ? (double)i : (double)INFINITY;
    struct gs_interval interval = gs_bootstrap_percentile(values, 100);
    assert_true(interval.known && isinf(interval.high) && isfinite(interval.low));
    for (size_t i = 0; i < 100; i++) values[i] = (double)INFINITY;
    interval = gs_bootstrap_percentile(values, 100);
    assert_true(interval.known && isinf(interval.low) && isinf(interval.high));
    for (size_t i = 0; i < 100; i++) values[i] = i % 20 == 0 ? (double)NAN : 2;
    interval = gs_bootstrap_percentile(values, 100); /* a twentieth is missing: still known */
    assert_true(interval.known && interval.low == 2 && interval.high == 2);
    assert_int_equal(interval.replicates, 95);
    for (size_t i = 0; i < 100; i++) values[i] = i % 16 == 0 ? (double)NAN : 2;
    interval = gs_bootstrap_percentile(values, 100); /* more than a twentieth */
    assert_true(!interval.known && isnan(interval.low) && isnan(interval.high));
    assert_false(gs_bootstrap_percentile(values, 0).known);
}

/* The interval by hand: every replicate's ratio from the drawn indices. */
static void ratios_equal_those_of_drawn_blocks(void **state) {
    (void)state;
    enum { BLOCKS = 9, COLUMNS = 300, REPLICATES = 101 };
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/bootstrap");
    static double up[BLOCKS * COLUMNS], down[BLOCKS * COLUMNS];
    for (size_t i = 0; i < BLOCKS * COLUMNS; i++) {
        up[i] = gs_random_normal(&random);
        down[i] = 1 + (double)gs_random_below(&random, 5);
    }
    struct gs_bootstrap plan = {.seed = SEED, .replicates = REPLICATES};
    static struct gs_interval intervals[COLUMNS];
    struct gs_error error;
    gs_assert_ok(gs_bootstrap_ratio(&plan, BLOCKS, COLUMNS, up, down, intervals, NULL, &error),
                 &error);
    for (size_t c = 0; c < COLUMNS; c += 13) {
        double values[REPLICATES];
        for (size_t r = 0; r < REPLICATES; r++) {
            size_t drawn[BLOCKS];
            double a = 0, b = 0;
            gs_bootstrap_draw(SEED, r, BLOCKS, drawn);
            for (size_t i = 0; i < BLOCKS; i++) {
                a += up[drawn[i] * COLUMNS + c];
                b += down[drawn[i] * COLUMNS + c];
            }
            values[r] = a / b;
        }
        struct gs_interval expected = gs_bootstrap_percentile(values, REPLICATES);
        gs_assert_near("low", intervals[c].low, expected.low, 1e-12, 1e-12);
        gs_assert_near("high", intervals[c].high, expected.high, 1e-12, 1e-12);
    }
}

static bool stop_at_once(void *context) {
    (void)context;
    return true;
}

enum { WIDE = 40, NARROW = 3, OF_SUMS = 2 };

/* A product of columns of both parts, and a ratio; works in the totals. */
static void two_of_sums(const void *context, double *totals, double *values) {
    assert_null(context);
    totals[0] *= totals[WIDE];
    values[0] = totals[0];
    values[1] = totals[WIDE - 1] / totals[WIDE + NARROW - 1];
}

/* Replicates by hand, the last of them a product of fewer; the same bits from any thread. */
static void sums_equal_those_of_drawn_blocks(void **state) {
    (void)state;
    enum { BLOCKS = 23, REPLICATES = 101 };
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/bootstrap/sums");
    double wide[BLOCKS * WIDE], narrow[BLOCKS * NARROW], values[OF_SUMS][REPLICATES];
    for (size_t i = 0; i < BLOCKS * WIDE; i++) wide[i] = gs_random_normal(&random);
    for (size_t i = 0; i < BLOCKS * NARROW; i++) narrow[i] = 1 + gs_random_uniform(&random);
    for (size_t r = 0; r < REPLICATES; r++) {
        size_t drawn[BLOCKS];
        double a = 0, b = 0, c = 0, d = 0;
        gs_bootstrap_draw(SEED, r, BLOCKS, drawn);
        for (size_t i = 0; i < BLOCKS; i++) {
            a += wide[drawn[i] * WIDE];
            b += narrow[drawn[i] * NARROW];
            c += wide[drawn[i] * WIDE + WIDE - 1];
            d += narrow[drawn[i] * NARROW + NARROW - 1];
        }
        values[0][r] = a * b;
        values[1][r] = c / d;
    }
    const struct gs_bootstrap plan = {.seed = SEED, .replicates = REPLICATES};
    const struct gs_block_sums parts[] = {{wide, WIDE}, {NULL, 0}, {narrow, NARROW}};
    struct gs_interval first[OF_SUMS], found[OF_SUMS];
    struct gs_error error;
    for (int threads = 1; threads <= 3; threads++) {
        gs_threads_set(threads);
        gs_assert_ok(gs_bootstrap_sums(&plan, BLOCKS, parts, 3, OF_SUMS, two_of_sums, NULL, found,
                                       NULL, &error),
                     &error);
        if (threads == 1) memcpy(first, found, sizeof found);
        for (size_t v = 0; v < OF_SUMS; v++)
            assert_true(found[v].low == first[v].low && found[v].high == first[v].high);
    }
    gs_threads_set(0);
    for (size_t v = 0; v < OF_SUMS; v++) {
        struct gs_interval expected = gs_bootstrap_percentile(values[v], REPLICATES);
        gs_assert_near("low", found[v].low, expected.low, 1e-12, 1e-12);
        gs_assert_near("high", found[v].high, expected.high, 1e-12, 1e-12);
    }
    const struct gs_bootstrap none = {.seed = SEED};
    gs_assert_ok(
        gs_bootstrap_sums(&none, BLOCKS, parts, 3, OF_SUMS, two_of_sums, NULL, found, NULL, &error),
        &error);
    assert_false(found[0].known || found[1].known);
    const struct gs_progress stopping = {.stop = stop_at_once};
    const struct gs_bootstrap stopped = {1, 1000 * 1000, &stopping};
    gs_assert_error(gs_bootstrap_sums(&stopped, BLOCKS, parts, 3, OF_SUMS, two_of_sums, NULL, found,
                                      NULL, &error),
                    GS_INTERRUPTED, &error, "stopped");
}

static void one_block_has_no_interval(void **state) {
    (void)state;
    double up[1] = {3}, down[1] = {1};
    struct gs_interval interval;
    struct gs_error error;
    gs_assert_ok(gs_bootstrap_ratio(&(struct gs_bootstrap){.seed = 1, .replicates = 100}, 1, 1, up,
                                    down, &interval, NULL, &error),
                 &error);
    assert_false(interval.known);
    double ups[2] = {3, 4}, downs[2] = {1, 1};
    gs_assert_ok(gs_bootstrap_ratio(&(struct gs_bootstrap){.seed = 1, .replicates = 0}, 2, 1, ups,
                                    downs, &interval, NULL, &error),
                 &error);
    assert_false(interval.known);
    double none[2] = {0, 0}; /* no observations at all: no value in any replicate */
    gs_assert_ok(gs_bootstrap_ratio(&(struct gs_bootstrap){.seed = 1, .replicates = 100}, 2, 1,
                                    none, none, &interval, NULL, &error),
                 &error);
    assert_false(interval.known);
}

/* Asked to stop, it ends with no interval, however many replicates were to come. */
static void stops_on_request(void **state) {
    (void)state;
    double up[2] = {3, 4}, down[2] = {1, 1};
    const struct gs_progress progress = {.stop = stop_at_once};
    const struct gs_bootstrap plan = {1, 1000 * 1000, &progress};
    struct gs_interval interval;
    struct gs_error error;
    gs_assert_error(gs_bootstrap_ratio(&plan, 2, 1, up, down, &interval, NULL, &error),
                    GS_INTERRUPTED, &error, "stopped");
    assert_false(interval.known);
}

static void same_bits_on_any_number_of_threads(void **state) {
    (void)state;
    enum { BLOCKS = 50, COLUMNS = 7 };
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/bootstrap/threads");
    double up[BLOCKS * COLUMNS], down[BLOCKS * COLUMNS];
    for (size_t i = 0; i < BLOCKS * COLUMNS; i++) {
        up[i] = gs_random_normal(&random);
        down[i] = 1 + gs_random_uniform(&random);
    }
    struct gs_interval one[COLUMNS], more[COLUMNS];
    struct gs_error error;
    struct gs_bootstrap plan = {.seed = SEED, .replicates = 333};
    gs_threads_set(1);
    gs_assert_ok(gs_bootstrap_ratio(&plan, BLOCKS, COLUMNS, up, down, one, NULL, &error), &error);
    for (int threads = 2; threads <= 3; threads++) {
        gs_threads_set(threads);
        gs_assert_ok(gs_bootstrap_ratio(&plan, BLOCKS, COLUMNS, up, down, more, NULL, &error),
                     &error);
        for (size_t c = 0; c < COLUMNS; c++)
            assert_true(one[c].low == more[c].low && one[c].high == more[c].high);
    }
    gs_threads_set(0);
}

/* Blocks of unequal size whose rows share a random level: the mean of all rows lies in the interval
 * in about 95 of 100 trials. With 40 blocks percentile intervals hold a little less. */
static void intervals_hold_the_truth(void **state) {
    (void)state;
    enum { TRIALS = 400, BLOCKS = 40 };
    size_t held = 0;
    print_message("seed %d\n", SEED);
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        struct gs_random random;
        gs_random_seed(&random, SEED + trial, "test/bootstrap/coverage");
        double up[BLOCKS], down[BLOCKS];
        for (size_t b = 0; b < BLOCKS; b++) {
            down[b] = 20 + (double)gs_random_below(&random, 20);
            double level = 1.5 + gs_random_normal(&random);
            up[b] = down[b] * level + sqrt(down[b]) * gs_random_normal(&random);
        }
        struct gs_interval interval;
        struct gs_error error;
        struct gs_bootstrap plan = {.seed = trial, .replicates = 400};
        gs_assert_ok(gs_bootstrap_ratio(&plan, BLOCKS, 1, up, down, &interval, NULL, &error),
                     &error);
        held += interval.low <= 1.5 && 1.5 <= interval.high;
    }
    print_message("%zu of %d intervals hold the truth\n", held, TRIALS);
    assert_in_range(held, TRIALS * 88 / 100, TRIALS * 98 / 100);
}

static void crossings(void **state) {
    (void)state;
    static const size_t lags[] = {1, 2, 4, 8};
    double exponential[4], signed_values[] = {0.5, -0.5, 0.1, 0.2}, gap[] = {0.9, NAN, 0.1, 0.05};
    size_t at;
    for (size_t i = 0; i < 4; i++) exponential[i] = exp(-(double)lags[i] / 3.3);
    gs_assert_near("efold",
                   gs_first_at_or_below(lags, exponential, 4, exp(-1), GS_BETWEEN_LOG, &at), 3.3,
                   1e-12, 0);
    assert_int_equal(at, 2);
    gs_assert_near("zero", gs_first_at_or_below(lags, signed_values, 4, 0, GS_BETWEEN_LINEAR, &at),
                   1.5, 1e-12, 0);
    gs_assert_near("log of a negative value",
                   gs_first_at_or_below(lags, signed_values, 4, exp(-1), GS_BETWEEN_LOG, &at), 1, 0,
                   0);
    double line = 1 + 3 * log(0.9 / 0.5) / log(0.9 / 0.1);
    gs_assert_near("a missing value", gs_first_at_or_below(lags, gap, 4, 0.5, GS_BETWEEN_LOG, NULL),
                   line, 1e-12, 0);
    assert_true(isinf(gs_first_at_or_below(lags, exponential, 4, 0, GS_BETWEEN_LINEAR, &at)));
    assert_int_equal(at, 4);
    double zero = 0;
    gs_assert_near("at once", gs_first_at_or_below(lags, &zero, 1, exp(-1), GS_BETWEEN_LOG, NULL),
                   0, 0, 0);
}

static void lag_grids(void **state) {
    (void)state;
    size_t lags[512];
    assert_int_equal(gs_lags_powers(0, NULL), 0);
    assert_int_equal(gs_lags_powers(1000, lags), 10);
    assert_int_equal(lags[9], 512);
    assert_int_equal(gs_lags_powers(1024, lags), 11);
    assert_int_equal(gs_lags_all(5, lags), 5);
    assert_int_equal(lags[4], 5);
    for (size_t max = 1; max < 400; max++) {
        size_t count = gs_lags_dense(max, 16, 8, lags);
        assert_int_equal(count, gs_lags_dense(max, 16, 8, NULL));
        assert_int_equal(lags[count - 1], max);
        for (size_t i = 0; i < count; i++) {
            if (i < 16) assert_int_equal(lags[i], i + 1);
            if (i) assert_true(lags[i] > lags[i - 1]);
            if (i >= 16) assert_true((double)lags[i] <= 1.1 * (double)lags[i - 1] + 1);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_count_what_is_drawn),
        cmocka_unit_test(draws_are_even),
        cmocka_unit_test(percentiles_are_interpolated),
        cmocka_unit_test(infinite_and_missing_values),
        cmocka_unit_test(ratios_equal_those_of_drawn_blocks),
        cmocka_unit_test(sums_equal_those_of_drawn_blocks),
        cmocka_unit_test(one_block_has_no_interval),
        cmocka_unit_test(stops_on_request),
        cmocka_unit_test(same_bits_on_any_number_of_threads),
        cmocka_unit_test(intervals_hold_the_truth),
        cmocka_unit_test(crossings),
        cmocka_unit_test(lag_grids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
