/* The learning rate against closed forms at its landmarks. */
#include "tests/support/support.h"

#include "core/training/schedule.h"

#include <math.h>

static void test_landmarks(void **state) {
    (void)state;
    const struct gs_schedule paper = {6e-4, 0.1, 100, 10000};
    gs_assert_near("first", gs_schedule_rate(&paper, 0), 0, 0, 0);
    gs_assert_near("second", gs_schedule_rate(&paper, 1), 6e-6, 0, 1e-14);
    gs_assert_near("half warm", gs_schedule_rate(&paper, 50), 3e-4, 0, 1e-14);
    gs_assert_near("last warm", gs_schedule_rate(&paper, 99), 5.94e-4, 0, 1e-14);
    gs_assert_near("peak", gs_schedule_rate(&paper, 100), 6e-4, 0, 1e-14);
    /* the middle of the cosine is the mean of peak and end; a third is a quarter below the peak */
    gs_assert_near("middle", gs_schedule_rate(&paper, 5050), 3.3e-4, 0, 1e-13);
    gs_assert_near("third", gs_schedule_rate(&paper, 3400), 6e-4 - 0.25 * 5.4e-4, 0, 1e-13);
    gs_assert_near("end", gs_schedule_rate(&paper, 10000), 6e-5, 0, 1e-13);
    gs_assert_near("after", gs_schedule_rate(&paper, 1000000), 6e-5, 0, 1e-13);
}

static void test_edges(void **state) {
    (void)state;
    const struct gs_schedule no_warmup = {1, 0, 0, 4};
    const double expected[] = {1, 0.5 + 0.5 * sqrt(0.5), 0.5, 0.5 - 0.5 * sqrt(0.5), 0, 0};
    for (size_t i = 0; i < 6; i++)
        gs_assert_near("no warm-up", gs_schedule_rate(&no_warmup, i), expected[i], 1e-15, 0);
    const struct gs_schedule constant = {2, 1, 0, 10};
    for (size_t i = 0; i < 12; i++)
        gs_assert_near("ratio 1", gs_schedule_rate(&constant, i), 2, 0, 1e-15);
    const struct gs_schedule one = {2, 0.5, 0, 1};
    gs_assert_near("one step", gs_schedule_rate(&one, 0), 2, 0, 0);
    gs_assert_near("one step", gs_schedule_rate(&one, 1), 1, 0, 1e-15);
}

/* Summed over the cosine, the rate is the mean of peak and end; and it never rises. */
static void test_shape(void **state) {
    (void)state;
    const struct gs_schedule schedule = {3e-3, 0.1, 7, 1007};
    double sum = 0;
    for (size_t i = 7; i < 1007; i++) {
        sum += 0.5 * (gs_schedule_rate(&schedule, i) + gs_schedule_rate(&schedule, i + 1));
        assert_true(gs_schedule_rate(&schedule, i + 1) < gs_schedule_rate(&schedule, i));
    }
    gs_assert_near("mean", sum / 1000, 3e-3 * 0.55, 0, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_landmarks),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
