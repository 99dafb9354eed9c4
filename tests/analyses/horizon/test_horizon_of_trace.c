/* The horizon of a trace file is that of the rows written into it; names make documents. */
#include "analyses/horizon/horizon.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/results/results.h"
#include "probes/trace/writer.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { SEED = 20261129, SEQUENCES = 4, WIDTH = 6, ROWS = 210 };
static const uint64_t start[SEQUENCES + 1] = {0, 60, 61, 140, ROWS};
static const uint64_t lengths[SEQUENCES] = {60, 1, 79, 70};

static float *random_states(void) {
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/horizon/trace");
    float *states = gs_calloc(ROWS * WIDTH, sizeof *states);
    assert_non_null(states);
    for (size_t i = 0; i < ROWS * WIDTH; i++) states[i] = (float)(1 + gs_random_normal(&random));
    return states;
}

/* The first `rows` of each sequence (or all of it) are written. */
static struct gs_trace *write_and_open(const char *name, const float *states,
                                       const char *const *names, size_t rows, bool complete) {
    struct gs_error error;
    const char *path = gs_scratch_path("%s", name);
    const struct gs_trace_stream stream = {"predicted", WIDTH, "float32"};
    struct gs_trace_plan plan = {.labels = {.model = "gpn", .step = -1, .seed = -1, .threads = -1},
                                 .sequences = SEQUENCES,
                                 .start = start,
                                 .names = names,
                                 .stream_count = 1,
                                 .streams = &stream};
    struct gs_trace_writer *writer;
    gs_assert_ok(gs_trace_writer_create(path, false, &plan, &writer, &error), &error);
    for (size_t s = 0; s < SEQUENCES; s++) {
        size_t count = lengths[s] < rows ? (size_t)lengths[s] : rows;
        gs_assert_ok(
            gs_trace_append_state(writer, 0, s, count, states + start[s] * WIDTH, WIDTH, &error),
            &error);
    }
    if (complete)
        gs_assert_ok(gs_trace_writer_close(writer, &error), &error);
    else
        gs_trace_writer_abandon(writer, true);
    struct gs_trace *trace;
    gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
    return trace;
}

static struct gs_results *measure_trace(struct gs_trace *trace, const char *stream) {
    struct gs_error error;
    struct gs_results *results = gs_results_create("horizon");
    struct gs_horizon_plan plan = {.seed = 3};
    struct gs_bootstrap bootstrap = {.seed = 3, .replicates = 50};
    gs_assert_ok(gs_horizon_of_trace(trace, stream, &plan, &bootstrap, NULL, results, &error),
                 &error);
    return results;
}

static struct gs_results *measure_array(const float *states, const uint64_t *length,
                                        const uint64_t *document) {
    struct gs_error error;
    struct gs_results *results = gs_results_create("horizon");
    struct gs_horizon_plan plan = {.seed = 3, .document = document};
    struct gs_bootstrap bootstrap = {.seed = 3, .replicates = 50};
    struct gs_rows rows = gs_rows_of_array(states, WIDTH, SEQUENCES, start, length);
    struct gs_horizon *horizon;
    gs_assert_ok(gs_horizon_measure(&rows, &plan, NULL, &horizon, &error), &error);
    gs_assert_ok(gs_horizon_results(horizon, &bootstrap, results, &error), &error);
    gs_horizon_destroy(horizon);
    return results;
}

static void check_same(const struct gs_results *a, const struct gs_results *b) {
    assert_int_equal(gs_results_count(a), gs_results_count(b));
    for (size_t i = 0; i < gs_results_count(a); i++) {
        struct gs_value x, y;
        const char *name = gs_results_name_at(a, i);
        assert_true(gs_results_find(a, name, &x) && gs_results_find(b, name, &y));
        if (!(isnan(x.value) && isnan(y.value))) gs_assert_near(name, x.value, y.value, 0, 0);
        assert_int_equal(x.n, y.n);
        assert_int_equal(x.has_interval, y.has_interval);
        if (x.has_interval) assert_true(x.low == y.low && x.high == y.high);
    }
}

static bool is_said(const struct gs_results *results, const char *words) {
    for (size_t i = 0; i < gs_results_note_count(results); i++)
        if (strstr(gs_results_note_at(results, i), words)) return true;
    return false;
}

static void a_trace_is_its_rows(void **state) {
    (void)state;
    float *states = random_states();
    struct gs_trace *trace = write_and_open("whole.h5", states, NULL, SIZE_MAX, true);
    struct gs_results *of_trace = measure_trace(trace, NULL);
    struct gs_results *of_array = measure_array(states, lengths, NULL);
    check_same(of_trace, of_array);
    assert_true(is_said(of_trace, "names no documents"));
    assert_false(is_said(of_trace, "not complete"));
    gs_results_destroy(of_array);
    gs_results_destroy(of_trace);
    gs_trace_close(trace);
    gs_free(states);
}

static void only_rows_on_disk_count(void **state) {
    (void)state;
    static const uint64_t written[SEQUENCES] = {40, 1, 40, 40};
    float *states = random_states();
    struct gs_trace *trace = write_and_open("part.h5", states, NULL, 40, false);
    assert_false(gs_trace_info(trace)->complete);
    assert_memory_equal(gs_trace_info(trace)->rows_written, written, sizeof written);
    struct gs_results *of_trace = measure_trace(trace, NULL);
    struct gs_results *of_array = measure_array(states, written, NULL);
    check_same(of_trace, of_array);
    assert_true(is_said(of_trace, "part.h5 is not complete"));
    assert_true(is_said(of_trace, "only the 121 of 210 rows"));
    gs_results_destroy(of_array);
    gs_results_destroy(of_trace);
    gs_trace_close(trace);
    gs_free(states);
}

static void names_make_documents(void **state) {
    (void)state;
    static const char *const names[SEQUENCES] = {"b", "a", "a", "b"};
    static const uint64_t document[SEQUENCES] = {2, 1, 1, 2};
    float *states = random_states();
    struct gs_trace *trace = write_and_open("named.h5", states, names, SIZE_MAX, true);
    struct gs_results *of_trace = measure_trace(trace, "predicted");
    struct gs_results *of_array = measure_array(states, lengths, document);
    check_same(of_trace, of_array);
    assert_false(is_said(of_trace, "names no documents"));
    gs_results_destroy(of_array);
    gs_results_destroy(of_trace);
    gs_trace_close(trace);
    gs_free(states);
}

static void one_document_pairs_its_own_sequences(void **state) {
    (void)state;
    static const char *const names[SEQUENCES] = {"a", "a", "a", "a"};
    float *states = random_states();
    struct gs_trace *trace = write_and_open("alone.h5", states, names, SIZE_MAX, true);
    struct gs_results *of_trace = measure_trace(trace, NULL);
    struct gs_results *of_array = measure_array(states, lengths, NULL);
    check_same(of_trace, of_array);
    assert_true(is_said(of_trace, "one document"));
    gs_results_destroy(of_array);
    gs_results_destroy(of_trace);
    gs_trace_close(trace);
    gs_free(states);
}

static void an_unknown_stream_is_named(void **state) {
    (void)state;
    float *states = random_states();
    struct gs_trace *trace = write_and_open("stream.h5", states, NULL, SIZE_MAX, true);
    struct gs_results *results = gs_results_create("horizon");
    struct gs_error error;
    struct gs_horizon_plan plan = {0};
    struct gs_bootstrap bootstrap = {0};
    gs_assert_error(
        gs_horizon_of_trace(trace, "grounded", &plan, &bootstrap, NULL, results, &error),
        GS_MISSING, &error, "grounded", "predicted");
    gs_results_destroy(results);
    gs_trace_close(trace);
    gs_free(states);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_is_its_rows),
        cmocka_unit_test(only_rows_on_disk_count),
        cmocka_unit_test(names_make_documents),
        cmocka_unit_test(one_document_pairs_its_own_sequences),
        cmocka_unit_test(an_unknown_stream_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
