/* The learning rate against closed forms at its landmarks. */
#include "tests/support/support.h"

#include "core/base/json.h"
#include "core/training/schedule.h"

#include <math.h>
#include <stdio.h>

static void test_landmarks(void **state) {
    (void)state;
    const struct gs_schedule paper = {GS_COSINE_AFTER_WARMUP, 6e-4, 0.1, 100, 10000};
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
    const struct gs_schedule no_warmup = {GS_COSINE_AFTER_WARMUP, 1, 0, 0, 4};
    const double expected[] = {1, 0.5 + 0.5 * sqrt(0.5), 0.5, 0.5 - 0.5 * sqrt(0.5), 0, 0};
    for (size_t i = 0; i < 6; i++)
        gs_assert_near("no warm-up", gs_schedule_rate(&no_warmup, i), expected[i], 1e-15, 0);
    const struct gs_schedule constant = {GS_COSINE_AFTER_WARMUP, 2, 1, 0, 10};
    for (size_t i = 0; i < 12; i++)
        gs_assert_near("ratio 1", gs_schedule_rate(&constant, i), 2, 0, 1e-15);
    const struct gs_schedule one = {GS_COSINE_AFTER_WARMUP, 2, 0.5, 0, 1};
    gs_assert_near("one step", gs_schedule_rate(&one, 0), 2, 0, 0);
    gs_assert_near("one step", gs_schedule_rate(&one, 1), 1, 0, 1e-15);
}

/* Summed over the cosine, the rate is the mean of peak and end; and it never rises. */
static void test_shape(void **state) {
    (void)state;
    const struct gs_schedule schedule = {GS_COSINE_AFTER_WARMUP, 3e-3, 0.1, 7, 1007};
    double sum = 0;
    for (size_t i = 7; i < 1007; i++) {
        sum += 0.5 * (gs_schedule_rate(&schedule, i) + gs_schedule_rate(&schedule, i + 1));
        assert_true(gs_schedule_rate(&schedule, i + 1) < gs_schedule_rate(&schedule, i));
    }
    gs_assert_near("mean", sum / 1000, 3e-3 * 0.55, 0, 1e-12);
}

/* The authors' torch trainers: the warm-up overrides a cosine that has been falling from step 0. */
static void test_from_start(void **state) {
    (void)state;
    const struct gs_schedule paper = {GS_COSINE_FROM_START, 6e-4, 0.1, 100, 10000};
    gs_assert_near("first", gs_schedule_rate(&paper, 0), 0, 0, 0);
    gs_assert_near("last warm", gs_schedule_rate(&paper, 99), 5.94e-4, 0, 1e-14);
    double dropped = 6e-5 + 5.4e-4 * pow(cos(acos(-1) / 200), 2);
    gs_assert_near("dropped", gs_schedule_rate(&paper, 100), dropped, 0, 1e-13);
    gs_assert_near("middle", gs_schedule_rate(&paper, 5000), 3.3e-4, 0, 1e-13);
    gs_assert_near("end", gs_schedule_rate(&paper, 10000), 6e-5, 0, 1e-13);
    gs_assert_near("after", gs_schedule_rate(&paper, 20000), 6e-5, 0, 1e-13);
    /* without a warm-up both are the same */
    struct gs_schedule plain = {GS_COSINE_FROM_START, 2, 0.3, 0, 17}, other = plain;
    other.cosine = GS_COSINE_AFTER_WARMUP;
    for (size_t i = 0; i < 20; i++)
        assert_true(gs_schedule_rate(&plain, i) == gs_schedule_rate(&other, i));
}

/* Row i of their logs gives the rate of the step to come. */
static void test_their_log(void **state) {
    (void)state;
    const char *path = gs_shared_path("reference/train_transformer/log.json");
    if (!path) skip();
    struct gs_json *log = NULL;
    struct gs_error error = {0};
    gs_assert_ok(gs_json_read_file(path, &log, &error), &error);
    const struct gs_json *rates = gs_json_get(log, "lr");
    const struct gs_schedule schedule = {GS_COSINE_FROM_START, 0.003, 0.1, 5, 30};
    assert_int_equal(gs_json_size(rates), 30);
    for (size_t i = 0; i < 30; i++) {
        char text[32];
        snprintf(text, sizeof text, "%.2e", gs_schedule_rate(&schedule, i + 1));
        assert_string_equal(text, gs_json_string(gs_json_at(rates, i)));
    }
    gs_json_destroy(log);
}

static void test_names(void **state) {
    (void)state;
    enum gs_cosine cosine = GS_COSINE_AFTER_WARMUP;
    assert_true(gs_cosine_named(gs_cosine_name(GS_COSINE_FROM_START), &cosine));
    assert_int_equal(cosine, GS_COSINE_FROM_START);
    assert_true(gs_cosine_named(gs_cosine_name(GS_COSINE_AFTER_WARMUP), &cosine));
    assert_int_equal(cosine, GS_COSINE_AFTER_WARMUP);
    assert_false(gs_cosine_named("cosine", &cosine));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_landmarks), cmocka_unit_test(test_edges),
        cmocka_unit_test(test_shape),     cmocka_unit_test(test_from_start),
        cmocka_unit_test(test_their_log), cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
