/* Retention of trace files: the gates' rule, what may be absent, the untrained model beside. */
#include "analyses/retention/retention.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/results/results.h"
#include "probes/trace/writer.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { SEED = 20261129, SEQUENCES = 3, HEADS = 3, ROWS = 160, LAYERS = 2 };
static const uint64_t start[SEQUENCES + 1] = {0, 50, 90, ROWS};
static const uint64_t lengths[SEQUENCES] = {50, 40, 70};

struct gates {
    float gamma[ROWS * HEADS], beta[ROWS * HEADS], share[ROWS * LAYERS];
};

static void fill(struct gates *gates, double scale, uint64_t seed) {
    struct gs_random random;
    gs_random_seed(&random, seed, "test/retention/trace");
    for (size_t i = 0; i < ROWS * HEADS; i++) {
        gates->gamma[i] =
            (float)(scale * (double)(1 + i % HEADS) * log1p(-gs_random_uniform(&random)));
        gates->beta[i] = (float)gs_random_uniform(&random);
    }
    for (size_t i = 0; i < ROWS * LAYERS; i++) gates->share[i] = (float)gs_random_uniform(&random);
}

static struct gs_trace *write_and_open(const char *name, const struct gates *gates,
                                       const char *rule, bool decay, bool strength, bool share,
                                       size_t heads) {
    struct gs_error error;
    const char *path = gs_scratch_path("%s", name);
    const struct gs_trace_stream stream = {"predicted", 1, "float32"};
    struct gs_trace_memory memory = {.name = "memory", .heads = heads};
    snprintf(memory.rule, sizeof memory.rule, "%s", rule);
    memory.has[GS_MEMORY_LOG_DECAY] = decay;
    memory.has[GS_MEMORY_WRITE_STRENGTH] = strength;
    memory.has[GS_MEMORY_NORM] = true;
    const struct gs_trace_read read = {"memory", LAYERS};
    struct gs_trace_plan plan = {.labels = {.step = -1, .seed = -1, .threads = -1},
                                 .sequences = SEQUENCES,
                                 .start = start,
                                 .stream_count = 1,
                                 .streams = &stream,
                                 .memory_count = 1,
                                 .memories = &memory,
                                 .read_count = share,
                                 .reads = &read};
    static const float zeros[ROWS * HEADS];
    struct gs_trace_writer *writer;
    gs_assert_ok(gs_trace_writer_create(path, false, &plan, &writer, &error), &error);
    for (size_t s = 0; s < SEQUENCES; s++) {
        size_t count = (size_t)lengths[s], row = (size_t)start[s];
        gs_assert_ok(gs_trace_append_state(writer, 0, s, count, zeros, 1, &error), &error);
        gs_assert_ok(
            gs_trace_append_memory(writer, 0, GS_MEMORY_NORM, s, count, zeros, HEADS, &error),
            &error);
        if (decay)
            gs_assert_ok(gs_trace_append_memory(writer, 0, GS_MEMORY_LOG_DECAY, s, count,
                                                gates->gamma + row * HEADS, HEADS, &error),
                         &error);
        if (strength)
            gs_assert_ok(gs_trace_append_memory(writer, 0, GS_MEMORY_WRITE_STRENGTH, s, count,
                                                gates->beta + row * HEADS, HEADS, &error),
                         &error);
        if (share)
            gs_assert_ok(gs_trace_append_share(writer, 0, s, count, gates->share + row * LAYERS,
                                               LAYERS, &error),
                         &error);
    }
    gs_assert_ok(gs_trace_writer_close(writer, &error), &error);
    struct gs_trace *trace;
    gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
    return trace;
}

static enum gs_status measure(struct gs_trace *trace, struct gs_trace *null,
                              struct gs_results **results, struct gs_error *error) {
    struct gs_retention_plan plan = {0};
    struct gs_bootstrap bootstrap = {.seed = SEED, .replicates = 50};
    *results = gs_results_create("retention");
    return gs_retention_of_trace(trace, NULL, null, &plan, &bootstrap, NULL, *results, error);
}

/* Efold along the key and across it, from the array. */
static void check_head(const struct gs_results *results, const struct gates *gates,
                       enum gs_transition transition, size_t head) {
    struct gs_error error;
    struct gs_rows gamma = gs_rows_of_array(gates->gamma, HEADS, SEQUENCES, start, lengths);
    struct gs_rows beta = gs_rows_of_array(gates->beta, HEADS, SEQUENCES, start, lengths);
    struct gs_retention_plan plan = {.transition = transition};
    struct gs_retention *expected;
    gs_assert_ok(gs_retention_measure(&gamma, &beta, &plan, NULL, &expected, &error), &error);
    const struct {
        const char *what;
        struct gs_lag_value lag;
    } pairs[] = {{"efold", gs_retention_efold(expected, head)},
                 {"half_life", gs_retention_half_life(expected, head)},
                 {"geometric_efold", gs_retention_geometric_efold(expected, head)},
                 {"arithmetic_efold", gs_retention_arithmetic_efold(expected, head)},
                 {"key_retention_efold", gs_retention_key_efold(expected, head)}};
    for (size_t i = 0; i < 5; i++) {
        char name[128];
        struct gs_value value;
        snprintf(name, sizeof name, "retention.head.%02zu.%s", head, pairs[i].what);
        assert_true(gs_results_find(results, name, &value));
        assert_string_equal(value.status ? value.status : "ok", "ok");
        gs_assert_near(name, value.value, pairs[i].lag.value, 0, 0);
        assert_int_equal(value.n, pairs[i].lag.windows);
    }
    gs_retention_destroy(expected);
}

static void a_trace_is_its_gates(void **state) {
    (void)state;
    static const char *const rules[] = {"gpn", "gated_delta"};
    static const enum gs_transition transitions[] = {GS_TRANSITION_GPN, GS_TRANSITION_GATED_DELTA};
    struct gates gates;
    fill(&gates, 0.2, SEED);
    for (size_t i = 0; i < 2; i++) {
        struct gs_error error;
        struct gs_results *results;
        struct gs_trace *trace =
            write_and_open(rules[i], &gates, rules[i], true, true, true, HEADS);
        gs_assert_ok(measure(trace, NULL, &results, &error), &error);
        for (size_t h = 0; h < HEADS; h++) check_head(results, &gates, transitions[i], h);
        gs_results_destroy(results);
        gs_trace_close(trace);
    }
}

static void shares_are_averaged(void **state) {
    (void)state;
    struct gates gates;
    struct gs_error error;
    struct gs_results *results;
    fill(&gates, 0.2, SEED);
    struct gs_trace *trace = write_and_open("share.h5", &gates, "gpn", true, true, true, HEADS);
    gs_assert_ok(measure(trace, NULL, &results, &error), &error);
    for (size_t l = 0; l < LAYERS; l++) {
        double sum = 0;
        for (size_t r = 0; r < ROWS; r++) sum += (double)gates.share[r * LAYERS + l];
        struct gs_value value;
        const char *name = l ? "retention.read_share.layer.01" : "retention.read_share.layer.00";
        assert_true(gs_results_find(results, name, &value));
        gs_assert_near(name, value.value, sum / ROWS, 0, 1e-12);
        assert_true(value.has_interval && value.low <= value.value && value.value <= value.high);
        assert_int_equal(value.n, ROWS);
    }
    gs_results_destroy(results);
    gs_trace_close(trace);
}

static void check_no_key(const char *file, const char *rule, bool strength, const char *reason) {
    struct gates gates;
    struct gs_error error;
    struct gs_results *results;
    struct gs_value value;
    fill(&gates, 0.2, SEED);
    struct gs_trace *trace = write_and_open(file, &gates, rule, true, strength, false, HEADS);
    gs_assert_ok(measure(trace, NULL, &results, &error), &error);
    assert_true(gs_results_find(results, "retention.head.00.key_retention_efold", &value));
    assert_true(isnan(value.value));
    assert_string_equal(value.status, "undefined");
    if (!strstr(value.reason, reason)) fail_msg("\"%s\" does not say \"%s\"", value.reason, reason);
    assert_true(gs_results_find(results, "retention.head.00.efold", &value));
    assert_true(isfinite(value.value));
    assert_false(gs_results_find(results, "retention.read_share.layer.00", &value));
    gs_results_destroy(results);
    gs_trace_close(trace);
}

static void without_strengths_or_rule_nothing_is_said_along_the_key(void **state) {
    (void)state;
    check_no_key("no_strength.h5", "gpn", false, "/memory/memory/write_strength");
    check_no_key("no_rule.h5", "", true, "does not say its rule");
    check_no_key("other_rule.h5", "hebbian", true, "hebbian");
}

static void without_decays_there_is_no_retention(void **state) {
    (void)state;
    struct gates gates;
    struct gs_error error;
    struct gs_results *results;
    fill(&gates, 0.2, SEED);
    struct gs_trace *trace =
        write_and_open("no_decay.h5", &gates, "gpn", false, true, false, HEADS);
    gs_assert_error(measure(trace, NULL, &results, &error), GS_MISSING, &error, "no log-decays",
                    "/memory/memory/log_decay", "no_decay.h5", "--memory");
    gs_results_destroy(results);
    gs_trace_close(trace);
}

static void the_untrained_model_stands_beside(void **state) {
    (void)state;
    struct gates trained, untrained;
    struct gs_error error;
    struct gs_results *results, *alone;
    struct gs_value value, expected;
    fill(&trained, 0.2, SEED);
    fill(&untrained, 0.5, SEED + 1);
    struct gs_trace *a = write_and_open("trained.h5", &trained, "gpn", true, true, false, HEADS);
    struct gs_trace *b =
        write_and_open("untrained.h5", &untrained, "gpn", true, true, false, HEADS);
    gs_assert_ok(measure(a, b, &results, &error), &error);
    gs_assert_ok(measure(b, NULL, &alone, &error), &error);
    for (size_t h = 0; h < HEADS; h++) check_head(results, &trained, GS_TRANSITION_GPN, h);
    assert_true(gs_results_find(results, "null.retention.head.02.efold", &value));
    assert_true(gs_results_find(alone, "retention.head.02.efold", &expected));
    gs_assert_near("null", value.value, expected.value, 0, 0);
    assert_int_equal(gs_table_rows(gs_results_find_table(results, "null.retention")),
                     gs_table_rows(gs_results_find_table(alone, "retention")));
    gs_results_destroy(alone);
    gs_results_destroy(results);
    gs_trace_close(b);
    gs_trace_close(a);
}

static void an_untrained_model_of_other_heads_is_refused(void **state) {
    (void)state;
    struct gates gates;
    struct gs_error error;
    struct gs_results *results;
    fill(&gates, 0.2, SEED);
    struct gs_trace *a = write_and_open("three.h5", &gates, "gpn", true, true, false, HEADS);
    struct gs_trace *b = write_and_open("two.h5", &gates, "gpn", true, true, false, HEADS - 1);
    gs_assert_error(measure(a, b, &results, &error), GS_SHAPE, &error, "two.h5", "3 heads",
                    "found 2");
    gs_results_destroy(results);
    gs_trace_close(b);
    gs_trace_close(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_is_its_gates),
        cmocka_unit_test(shares_are_averaged),
        cmocka_unit_test(without_strengths_or_rule_nothing_is_said_along_the_key),
        cmocka_unit_test(without_decays_there_is_no_retention),
        cmocka_unit_test(the_untrained_model_stands_beside),
        cmocka_unit_test(an_untrained_model_of_other_heads_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
