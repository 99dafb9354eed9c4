/* The loss by position against plain sums over the rows, on ragged and odd shapes. */
#include "analyses/loss/loss_by_position.h"
#include "core/base/random.h"
#include "core/evaluation/limits.h"
#include "core/results/replicates.h"
#include "probes/trace/writer.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 20261129 };

/* Sequences of these lengths, each starting behind a gap of `gap` rows that are NaN. */
struct shape {
    size_t sequences;
    uint64_t length[8], first, gap;
};

static const struct shape shapes[] = {
    {1, {1}, 0, 0},
    {1, {2}, 0, 0},
    {3, {64, 64, 64}, 0, 0},
    {5, {1, 0, 37, 200, 5}, 0, 3},
    {4, {16, 1, 33, 0}, 1, 0}, /* the first row of each is not predicted */
    {2, {5000, 9000}, 2, 1},   /* longer than a block */
};

static double number(const struct gs_results *results, const char *name) {
    struct gs_value value;
    assert_true(gs_results_find(results, name, &value));
    return value.value;
}

static double cell(const struct gs_table *table, size_t row, const char *column) {
    struct gs_cell cell = gs_table_cell(table, row, gs_table_find_column(table, column));
    return cell.type == GS_CELL_INTEGER  ? (double)cell.integer
           : cell.type == GS_CELL_NUMBER ? cell.number
                                         : (double)NAN;
}

/* Mean and number of the losses at positions from … to of all sequences. */
static double naive(const struct shape *shape, const float *nll, const uint64_t *start,
                    uint64_t from, uint64_t to, double *n) {
    double sum = 0;
    *n = 0;
    for (size_t s = 0; s < shape->sequences; s++)
        for (uint64_t i = shape->first; i < shape->length[s]; i++)
            if (i >= from && i <= to) {
                sum += (double)nll[start[s] + i];
                *n += 1;
            }
    return sum / *n;
}

/* mean ± t √(variance / n), the variance in a second pass. */
static void check_limits(const struct shape *shape, const float *nll, const uint64_t *start,
                         uint64_t at, double mean, double n, const struct gs_table *table,
                         size_t row) {
    double squares = 0;
    for (size_t s = 0; s < shape->sequences; s++) {
        if (at < shape->first || at >= shape->length[s]) continue;
        double rest = (double)nll[start[s] + at] - mean;
        squares += rest * rest;
    }
    double low = cell(table, row, "low"), high = cell(table, row, "high");
    if (n < 2) {
        assert_true(isnan(low) && isnan(high));
        return;
    }
    double half = gs_student_975((uint64_t)n - 1) * sqrt(squares / (n - 1) / n);
    gs_assert_near("low", low, mean - half, 1e-9, 1e-9);
    gs_assert_near("high", high, mean + half, 1e-9, 1e-9);
}

static void check_tables(const struct shape *shape, const float *nll, const uint64_t *start,
                         const struct gs_results *results) {
    double n;
    const struct gs_table *table = gs_results_find_table(results, "loss_by_position");
    double steps = 0, in_stretches = 0;
    for (size_t row = 0; row < gs_table_rows(table); row++) {
        uint64_t at = (uint64_t)cell(table, row, "position");
        double mean = naive(shape, nll, start, at, at, &n);
        gs_assert_near("loss at a position", cell(table, row, "loss"), mean, 1e-12, 1e-12);
        gs_assert_near("n at a position", cell(table, row, "n"), n, 0, 0);
        check_limits(shape, nll, start, at, mean, n, table, row);
        steps += n;
    }
    table = gs_results_find_table(results, "loss_by_stretch");
    double before = (double)shape->first - 1;
    for (size_t row = 0; row < gs_table_rows(table); row++) {
        double first = cell(table, row, "first"), last = cell(table, row, "last");
        gs_assert_near("stretches follow each other", first, before + 1, 0, 0);
        before = last;
        double mean = naive(shape, nll, start, (uint64_t)first, (uint64_t)last, &n);
        gs_assert_near("loss of a stretch", cell(table, row, "loss"), mean, 1e-12, 1e-12);
        gs_assert_near("n of a stretch", cell(table, row, "n"), n, 0, 0);
        gs_assert_near("centre", cell(table, row, "center"), sqrt((first + 1) * (last + 1)) - 1,
                       1e-12, 1e-12);
        in_stretches += n;
    }
    gs_assert_near("tokens", number(results, "tokens"), steps, 0, 0);
    gs_assert_near("tokens in stretches", in_stretches, steps, 0, 0);
}

static void against_plain_sums(void **state) {
    (void)state;
    print_message("seed %d\n", SEED);
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/loss");
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const struct shape *shape = &shapes[k];
        uint64_t start[8], rows = 0;
        for (size_t s = 0; s < shape->sequences; s++) {
            start[s] = rows + shape->gap;
            rows = start[s] + shape->length[s];
        }
        float *nll = malloc(rows * sizeof *nll);
        assert_non_null(nll);
        for (uint64_t i = 0; i < rows; i++) nll[i] = NAN; /* must never be read as a loss */
        for (size_t s = 0; s < shape->sequences; s++)
            for (uint64_t i = shape->first; i < shape->length[s]; i++)
                nll[start[s] + i] = (float)(10 * gs_random_uniform(&random));
        struct gs_rows view = gs_rows_of_array(nll, 1, shape->sequences, start, shape->length);
        struct gs_results *results = gs_results_create("loss");
        struct gs_bootstrap plan = {.seed = SEED, .replicates = 200};
        struct gs_error error;
        gs_assert_ok(gs_loss_of_rows(&view, shape->first, &plan, NULL, results, &error), &error);
        double n, mean = naive(shape, nll, start, 0, UINT64_MAX, &n);
        gs_assert_near("loss", number(results, "loss"), mean, 1e-12, 1e-12);
        gs_assert_near("perplexity", number(results, "perplexity"), exp(mean), 0, 1e-12);
        check_tables(shape, nll, start, results);
        gs_results_destroy(results);
        free(nll);
    }
}

/* A mean of sequences of one length: the interval is about mean ± 1.96 · sd / √n, and it is that of
 * the sequences, not of the rows, which are all alike within one. */
static void interval_is_over_sequences(void **state) {
    (void)state;
    enum { SEQUENCES = 200, LENGTH = 32 };
    static float nll[SEQUENCES * LENGTH];
    static uint64_t start[SEQUENCES], length[SEQUENCES];
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/interval");
    double sum = 0, squares = 0;
    for (size_t s = 0; s < SEQUENCES; s++) {
        double level = 5 + gs_random_normal(&random);
        sum += level;
        squares += level * level;
        start[s] = s * LENGTH;
        length[s] = LENGTH;
        for (size_t i = 0; i < LENGTH; i++) nll[start[s] + i] = (float)level;
    }
    struct gs_rows view = gs_rows_of_array(nll, 1, SEQUENCES, start, length);
    struct gs_results *results = gs_results_create("loss");
    struct gs_bootstrap plan = {.seed = SEED, .replicates = 2000};
    struct gs_error error;
    gs_assert_ok(gs_loss_of_rows(&view, 0, &plan, NULL, results, &error), &error);
    struct gs_value loss;
    assert_true(gs_results_find(results, "loss", &loss) && loss.has_interval);
    double mean = sum / SEQUENCES;
    double error_of_mean = sqrt((squares / SEQUENCES - mean * mean) / SEQUENCES);
    gs_assert_near("low", loss.low, mean - 1.96 * error_of_mean, 0.15 * error_of_mean, 0);
    gs_assert_near("high", loss.high, mean + 1.96 * error_of_mean, 0.15 * error_of_mean, 0);
    double rows = SEQUENCES * LENGTH; /* s² has divisor rows - 1, the sequences' SEQUENCES - 1 */
    gs_assert_near("effective tokens", number(results, "loss.effective_tokens"),
                   (SEQUENCES - 1) * rows / (rows - 1), 0, 1e-6);
    struct gs_value perplexity;
    assert_true(gs_results_find(results, "perplexity", &perplexity));
    gs_assert_near("low of perplexity", perplexity.low, exp(loss.low), 0, 1e-12);
    gs_results_destroy(results);
}

/* Replicates of the loss are kept where they are asked for; their middle 95 % is the interval, and
 * half the losses have half of each replicate: the same sequences are drawn. */
static void replicates_are_paired(void **state) {
    (void)state;
    enum { SEQUENCES = 12, REPLICATES = 200 };
    static float nll[2][SEQUENCES * 3];
    static uint64_t start[SEQUENCES], length[SEQUENCES];
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/loss/replicates");
    for (size_t s = 0; s < SEQUENCES; s++) {
        start[s] = 3 * s;
        length[s] = 3;
        for (size_t i = 0; i < 3; i++) {
            nll[0][3 * s + i] = (float)(1 + gs_random_uniform(&random));
            nll[1][3 * s + i] = nll[0][3 * s + i] / 2;
        }
    }
    struct gs_results *results[2];
    struct gs_replicates kept[2];
    const struct gs_bootstrap plan = {.seed = SEED, .replicates = REPLICATES};
    for (size_t k = 0; k < 2; k++) {
        struct gs_rows view = gs_rows_of_array(nll[k], 1, SEQUENCES, start, length);
        struct gs_error error;
        results[k] = gs_results_create("loss");
        gs_results_keep_replicates(results[k]);
        gs_assert_ok(gs_loss_of_rows(&view, 0, &plan, NULL, results[k], &error), &error);
        assert_true(gs_results_find_replicates(results[k], "loss", &kept[k]));
        assert_int_equal(kept[k].count, REPLICATES);
        assert_int_equal(kept[k].blocks, SEQUENCES);
    }
    double sorted[REPLICATES];
    for (size_t r = 0; r < REPLICATES; r++) {
        gs_assert_near("paired", kept[1].values[r], kept[0].values[r] / 2, 0, 1e-6);
        sorted[r] = kept[0].values[r];
    }
    struct gs_interval interval = gs_bootstrap_percentile(sorted, REPLICATES);
    struct gs_value loss;
    assert_true(gs_results_find(results[0], "loss", &loss));
    gs_assert_near("low", loss.low, interval.low, 0, 1e-12);
    gs_assert_near("high", loss.high, interval.high, 0, 1e-12);
    gs_results_destroy(results[0]);
    gs_results_destroy(results[1]);
}

static void nothing_to_measure(void **state) {
    (void)state;
    static const float nll[] = {NAN};
    static const uint64_t start[] = {0}, one[] = {1}, none[] = {0};
    for (int rows = 0; rows < 2; rows++) {
        struct gs_rows view = gs_rows_of_array(nll, 1, 1, start, rows ? one : none);
        struct gs_results *results = gs_results_create("loss");
        struct gs_bootstrap plan = {.seed = 1, .replicates = 10};
        struct gs_error error;
        gs_assert_ok(gs_loss_of_rows(&view, 1, &plan, NULL, results, &error), &error);
        struct gs_value loss;
        assert_true(gs_results_find(results, "loss", &loss));
        assert_true(isnan(loss.value));
        assert_string_equal(loss.status, "undefined");
        assert_int_equal(gs_table_rows(gs_results_find_table(results, "loss_by_position")), 0);
        gs_results_destroy(results);
    }
}

static void not_finite(void **state) {
    (void)state;
    static const float nll[] = {1, 2, 3, INFINITY, 5};
    static const uint64_t start[] = {0, 2}, length[] = {2, 3};
    struct gs_rows view = gs_rows_of_array(nll, 1, 2, start, length);
    struct gs_results *results = gs_results_create("loss");
    struct gs_bootstrap plan = {.seed = 1, .replicates = 10};
    struct gs_error error;
    gs_assert_error(gs_loss_of_rows(&view, 0, &plan, NULL, results, &error), GS_NUMERIC, &error,
                    "not finite", "sequence 1, position 1");
    gs_results_destroy(results);
}

/* A trace on disk, with nll and without. */
static void of_a_trace(void **state) {
    (void)state;
    static const uint64_t start[] = {0, 3, 8};
    static const float states[16], nll[] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct gs_error error;
    for (int has = 0; has < 2; has++) {
        struct gs_trace_stream stream = {.name = "predicted", .width = 2, .dtype = "float32"};
        struct gs_trace_plan plan = {.labels = {.step = -1, .seed = -1, .threads = -1},
                                     .sequences = 2,
                                     .start = start,
                                     .nll = has == 1,
                                     .stream_count = 1,
                                     .streams = &stream};
        const char *path = gs_scratch_path("trace%d.h5", has);
        struct gs_trace_writer *writer;
        gs_assert_ok(gs_trace_writer_create(path, false, &plan, &writer, &error), &error);
        for (size_t s = 0; s < 2; s++) {
            size_t rows = (size_t)(start[s + 1] - start[s]);
            gs_assert_ok(gs_trace_append_state(writer, 0, s, rows, states, 2, &error), &error);
            if (has)
                gs_assert_ok(gs_trace_append_nll(writer, s, rows, nll + start[s], &error), &error);
        }
        gs_assert_ok(gs_trace_writer_close(writer, &error), &error);
        struct gs_trace *trace;
        gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
        struct gs_results *results = gs_results_create("loss");
        struct gs_bootstrap bootstrap = {.seed = 1, .replicates = 10};
        enum gs_status status = gs_loss_of_trace(trace, 0, &bootstrap, NULL, results, &error);
        if (has) {
            gs_assert_ok(status, &error);
            gs_assert_near("loss", number(results, "loss"), 4.5, 0, 1e-12);
        } else {
            gs_assert_error(status, GS_MISSING, &error, "/nll", "trace0.h5");
        }
        gs_results_destroy(results);
        gs_trace_close(trace);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_plain_sums),
                                       cmocka_unit_test(interval_is_over_sequences),
                                       cmocka_unit_test(replicates_are_paired),
                                       cmocka_unit_test(nothing_to_measure),
                                       cmocka_unit_test(not_finite),
                                       cmocka_unit_test(of_a_trace)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
