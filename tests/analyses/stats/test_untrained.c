/* A measurement beside the untrained model's: ratios and differences against resampling by hand,
 * and what has none. */
#include "analyses/geometry/geometry.h"
#include "analyses/stats/untrained.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { SEED = 20261130, SEQUENCES = 14, WIDTH = 5, REPLICATES = 60, MOST = SEQUENCES * 30 };

struct data {
    uint64_t start[SEQUENCES], length[SEQUENCES], rows;
    float values[MOST * WIDTH];
};

/* Rows around `mean` in every dimension; the text (common) moves both models' rows alike. */
static void fill(struct data *d, double mean, double spread, const char *stream) {
    struct gs_random own, common;
    gs_random_seed(&own, SEED, stream);
    gs_random_seed(&common, SEED, "text");
    d->rows = 0;
    for (size_t s = 0; s < SEQUENCES; s++) {
        d->start[s] = d->rows;
        d->length[s] = 12 + s;
        d->rows += d->length[s];
        double text = gs_random_normal(&common);
        for (size_t i = (size_t)d->start[s] * WIDTH; i < (size_t)d->rows * WIDTH; i++)
            d->values[i] = (float)(mean + text + spread * gs_random_normal(&own));
    }
}

static struct gs_results *measured(const struct data *d, size_t replicates, uint64_t seed) {
    struct gs_rows rows = gs_rows_of_array(d->values, WIDTH, SEQUENCES, d->start, d->length);
    struct gs_geometry_options options = {
        .replicates_given = true, .replicates = replicates, .seed = seed};
    struct gs_results *results = gs_results_create("geometry");
    struct gs_geometry *g;
    struct gs_error error;
    gs_results_keep_replicates(results);
    gs_assert_ok(gs_geometry_of_rows(&rows, &options, &g, &error), &error);
    gs_assert_ok(gs_geometry_report(g, results, &error), &error);
    gs_geometry_destroy(g);
    return results;
}

/* ‖mean‖² over the mean of ‖row‖², of the sequences drawn. */
static double mean_energy(const struct data *d, const size_t *drawn) {
    double mean[WIDTH] = {0}, energy = 0, rows = 0, square = 0;
    for (size_t i = 0; i < SEQUENCES; i++) {
        size_t s = drawn ? drawn[i] : i;
        for (uint64_t r = d->start[s]; r < d->start[s] + d->length[s]; r++, rows++)
            for (size_t c = 0; c < WIDTH; c++) {
                double x = (double)d->values[r * WIDTH + c];
                mean[c] += x;
                energy += x * x;
            }
    }
    for (size_t c = 0; c < WIDTH; c++) square += mean[c] / rows * (mean[c] / rows);
    return square * rows / energy;
}

static struct gs_value value_of(const struct gs_results *results, const char *name) {
    struct gs_value value;
    if (!gs_results_find(results, name, &value)) fail_msg("there is no %s", name);
    return value;
}

static void near(const char *name, double a, double b) {
    gs_assert_near(name, a, b, 1e-6, 1e-6);
}

static void both_are_drawn_together(void **state) {
    (void)state;
    struct data trained, untrained;
    fill(&trained, 2, 0.5, "trained");
    fill(&untrained, 0.4, 1, "untrained");
    struct gs_results *results = measured(&trained, REPLICATES, SEED),
                      *beside = measured(&untrained, REPLICATES, SEED);
    struct gs_error error;
    gs_assert_ok(gs_results_take_untrained(results, beside, &error), &error);
    gs_assert_ok(gs_untrained_compare(results, true, &error), &error);
    double ratios[REPLICATES], differences[REPLICATES];
    for (uint64_t r = 0; r < REPLICATES; r++) {
        size_t drawn[SEQUENCES];
        gs_bootstrap_draw(SEED, r, SEQUENCES, drawn);
        double a = mean_energy(&trained, drawn), b = mean_energy(&untrained, drawn);
        ratios[r] = a / b;
        differences[r] = a - b;
    }
    double a = mean_energy(&trained, NULL), b = mean_energy(&untrained, NULL);
    struct gs_interval q = gs_bootstrap_percentile(ratios, REPLICATES);
    struct gs_value ratio = value_of(results, "ratio.mean_energy"),
                    difference = value_of(results, "difference.mean_energy");
    near("untrained", value_of(results, "null.mean_energy").value, b);
    near("ratio", ratio.value, a / b);
    near("low", ratio.low, a / b * (a / b) / q.high);
    near("high", ratio.high, a / b * (a / b) / q.low);
    q = gs_bootstrap_percentile(differences, REPLICATES);
    near("difference", difference.value, a - b);
    near("low", difference.low, 2 * (a - b) - q.high);
    near("high", difference.high, 2 * (a - b) - q.low);
    /* what the text does to both cancels: apart the intervals would be wider */
    struct gs_value one = value_of(results, "mean_energy"),
                    other = value_of(results, "null.mean_energy");
    assert_true(difference.high - difference.low <
                hypot(one.high - one.low, other.high - other.low));
    const struct gs_table *table = gs_results_find_table(results, "against_untrained");
    assert_int_equal(gs_table_rows(table), GS_GEOMETRY_MEASURES);
    assert_non_null(gs_results_find_table(results, "null.spectrum"));
    gs_results_destroy(beside);
    gs_results_destroy(results);
}

/* Numbers whose sum of squares is known, so that the formulas can be seen. */
static void add(struct gs_results *results, const char *name, double value, double step,
                uint64_t seed) {
    double replicates[41];
    for (int r = 0; r < 41; r++) replicates[r] = value + step * (r - 20);
    const struct gs_replicates kept = {replicates, 41, seed, 9};
    struct gs_error error;
    gs_assert_ok(gs_results_number(results, name, value, "token", 7, &error), &error);
    gs_assert_ok(gs_results_add_replicates(results, name, &kept, &error), &error);
}

static void what_cannot_be_compared_says_why(void **state) {
    (void)state;
    struct gs_results *results = gs_results_create("made");
    struct gs_error error;
    gs_results_keep_replicates(results);
    add(results, "same", 4, 0.1, 1);
    add(results, "null.same", 2, 0.05, 1); /* always half of it */
    add(results, "negative", -1, 0.01, 1);
    add(results, "null.negative", 2, 0.01, 1);
    add(results, "other_draws", 4, 0.1, 1);
    add(results, "null.other_draws", 2, 0.1, 2);
    add(results, "alone", 4, 0.1, 1);
    const struct gs_value censored = {
        .value = (double)NAN, .unit = "token", .n = 3, .status = "censored"};
    gs_assert_ok(gs_results_add(results, "far", &censored, &error), &error);
    gs_assert_ok(gs_results_add_replicates(results, "far", &(struct gs_replicates){0}, &error),
                 &error);
    add(results, "null.far", 2, 0.1, 1);
    gs_assert_ok(gs_results_number(results, "count", 3, "row", 3, &error), &error);
    gs_assert_ok(gs_results_number(results, "null.count", 3, "row", 3, &error), &error);
    gs_assert_ok(gs_untrained_compare(results, true, &error), &error);
    struct gs_value value = value_of(results, "ratio.same");
    assert_true(value.has_interval);
    gs_assert_near("ratio", value.value, 2, 1e-15, 0);
    gs_assert_near("low", value.low, 2, 1e-12, 0);
    gs_assert_near("high", value.high, 2, 1e-12, 0);
    value = value_of(results, "difference.same"); /* 2 ± 0.05 · 19 */
    gs_assert_near("low", value.low, 2 - 0.95, 1e-12, 0);
    gs_assert_near("high", value.high, 2 + 0.95, 1e-12, 0);
    assert_string_equal(value.unit, "token");
    value = value_of(results, "ratio.negative");
    assert_true(isnan(value.value) && strstr(value.reason, "above 0"));
    assert_true(value_of(results, "difference.negative").has_interval);
    value = value_of(results, "ratio.other_draws");
    assert_true(value.value == 2 && !value.has_interval);
    value = value_of(results, "difference.far");
    assert_string_equal(value.status, "undefined");
    assert_string_equal(value.reason, "the trained value is censored");
    assert_false(gs_results_find(results, "ratio.alone", &value));
    assert_false(gs_results_find(results, "ratio.count", &value));
    gs_assert_error(
        gs_results_add_replicates(results, "no such", &(struct gs_replicates){0}, &error),
        GS_MISSING, &error, "no such");
    gs_results_destroy(results);
}

static void other_rows_have_no_intervals(void **state) {
    (void)state;
    struct gs_results *results = gs_results_create("made");
    struct gs_error error;
    gs_results_keep_replicates(results);
    add(results, "same", 4, 0.1, 1);
    add(results, "null.same", 2, 0.05, 1);
    gs_assert_ok(gs_untrained_compare(results, false, &error), &error);
    struct gs_value value = value_of(results, "ratio.same");
    assert_true(value.value == 2 && !value.has_interval);
    bool said = false;
    for (size_t i = 0; i < gs_results_note_count(results); i++)
        said = said || strstr(gs_results_note_at(results, i), "not traced on the same rows");
    assert_true(said);
    gs_results_destroy(results);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_are_drawn_together),
        cmocka_unit_test(what_cannot_be_compared_says_why),
        cmocka_unit_test(other_rows_have_no_intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
