/* The table of speed says what the progress line says, and goes on with a run that goes on. */
#include "tests/core/training/small_run.h"

#include "core/base/environment.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 8 };

struct heard {
    size_t count;
    char notes[STEPS][128];
    double done[STEPS], total;
};

static void listen(void *context, double done, double total, const char *note) {
    struct heard *heard = context;
    assert_true(heard->count < STEPS);
    heard->done[heard->count] = done;
    heard->total = total;
    snprintf(heard->notes[heard->count++], sizeof heard->notes[0], "%s", note);
}

struct row {
    size_t step;
    double loss, rate, left;
    uint64_t tokens;
};

static size_t read_rows(const char *folder, struct row *rows) {
    FILE *stream = fopen(gs_scratch_path("%s/run_train_speed.csv", folder), "rb");
    assert_non_null(stream);
    char line[256];
    size_t count = 0;
    assert_non_null(fgets(line, sizeof line, stream));
    assert_string_equal(line, "step,loss,tokens,tokens_per_second,seconds_left\n");
    while (count < STEPS && fgets(line, sizeof line, stream)) {
        struct row *row = &rows[count++];
        int read = sscanf(line, "%zu,%lf,%" SCNu64 ",%lf,%lf", &row->step, &row->loss, &row->tokens,
                          &row->rate, &row->left);
        assert_int_equal(read, 5);
    }
    fclose(stream);
    return count;
}

static void test_same_figures(void **state) {
    (void)state;
    struct gs_error error = {0};
    struct heard heard = {0};
    struct row rows[STEPS];
    const struct gs_progress progress = {&heard, listen, NULL};
    const char *sets[] = {"logging.log_every=1", NULL};
    gs_assert_ok(small_train("speed", sets, false, false, &progress, NULL, &error), &error);
    assert_int_equal(heard.count, STEPS);
    assert_int_equal(read_rows("speed", rows), STEPS);
    for (size_t i = 0; i < STEPS; i++) {
        char expected[128];
        snprintf(expected, sizeof expected, "step %zu/%d, loss %.4f, %.0f tokens/s", rows[i].step,
                 STEPS, rows[i].loss, rows[i].rate);
        assert_string_equal(heard.notes[i], expected);
        assert_int_equal(rows[i].tokens, 24 * (i + 1));
        assert_true((double)rows[i].tokens == heard.done[i]);
        double left = (heard.total - heard.done[i]) / rows[i].rate;
        gs_assert_near("seconds left", rows[i].left, left, 0.51, 1e-3);
    }
}

/* Tokens count from the run's start, the speed from the process's; no row is doubled or lost. */
static void test_resumed(void **state) {
    (void)state;
    struct gs_error error = {0};
    struct row rows[STEPS];
    const char *part[] = {"logging.log_every=1", "training.run_steps=5", NULL};
    const char *sets[] = {"logging.log_every=1", NULL};
    small_train_ok("part", part);
    gs_assert_ok(small_train("part", sets, false, true, NULL, NULL, &error), &error);
    assert_int_equal(read_rows("part", rows), STEPS);
    for (size_t i = 0; i < STEPS; i++) {
        assert_int_equal(rows[i].step, i + 1);
        assert_int_equal(rows[i].tokens, 24 * (i + 1));
        assert_true(rows[i].rate > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_figures),
        cmocka_unit_test(test_resumed),
    };
    gs_threads_set(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
