/* 95 % intervals hold the truth in 90 to 98 % of made-up data sets: a small count here, the full
 * one is tests/bench/coverage.c. */
#include "tests/analyses/bootstrap/coverage.h"
#include "tests/support/support.h"

#include <math.h>

/* Below 90 % by more than three binomial deviations of so few trials, an interval is broken: rows
 * resampled one by one instead of sequences hold it in about half. Too wide ones cannot be told
 * from good ones here. */
static void intervals_hold_the_truth(void **state) {
    (void)state;
    enum { TRIALS = 60, SEQUENCES = 128, REPLICATES = 150 };
    struct gs_coverage coverage[GS_COVERAGE_MOST];
    size_t count = gs_coverage_count(20261130, TRIALS, SEQUENCES, REPLICATES, coverage);
    double least = 0.9 - 3 * sqrt(0.9 * 0.1 / TRIALS);
    bool good = count > 10;
    for (size_t i = 0; i < count; i++) {
        print_message("%-34s %.4f held in %zu of %d, below %zu, above %zu\n", coverage[i].name,
                      coverage[i].truth, coverage[i].held, (int)TRIALS, coverage[i].below,
                      coverage[i].above);
        good = good && (double)coverage[i].held >= least * TRIALS && coverage[i].none == 0;
    }
    assert_true(good);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(intervals_hold_the_truth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
