/* From a trace file to a report: what is measured, what is left out and why, what is refused. */
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/random.h"
#include "core/checkpoint/checkpoint.h"
#include "probes/trace/writer.h"
#include "reports/page/measure.h"
#include "reports/page/report.h"
#include "tests/analyses/layered_trace.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 31, SEQUENCES = 6, LENGTH = 40, ROWS = SEQUENCES * LENGTH, WIDTH = 8, HEADS = 3 };

static const char config[] = "{\"kind\": \"gpn_m\", \"model\": {\"vocab_size\": 20, \"d_state\": "
                             "8, \"d_emb\": 4, \"d_ffn\": 6, "
                             "\"n_heads\": 3, \"d_key\": 2, \"d_val\": 2}}";

struct sort {
    const char *name, *checkpoint, *source;
    bool full;    /* memory, nll, tokens */
    double decay; /* of head 0; the next keep longer */
    float scale;  /* of the states */
};

/* A trace whose head h decays by the constant decay^(1 / (1 + 3 h)). */
static const char *make_trace(const struct sort *sort) {
    static uint64_t start[SEQUENCES + 1];
    static float states[ROWS * WIDTH], nll[ROWS], decays[ROWS * HEADS], strengths[ROWS * HEADS];
    static uint32_t tokens[ROWS];
    struct gs_random random;
    gs_random_seed(&random, SEED, sort->name);
    for (size_t i = 0; i <= SEQUENCES; i++) start[i] = i * LENGTH;
    for (size_t i = 0; i < ROWS * WIDTH; i++)
        states[i] = sort->scale * (float)(1 + gs_random_normal(&random));
    for (size_t i = 0; i < ROWS; i++) {
        nll[i] = 2.5f;
        tokens[i] = (uint32_t)gs_random_below(&random, 20);
        for (size_t h = 0; h < HEADS; h++) {
            decays[i * HEADS + h] = (float)(log(sort->decay) / (1 + 3 * (double)h));
            strengths[i * HEADS + h] = 0.5f;
        }
    }
    struct gs_trace_stream stream = {.name = "predicted", .width = WIDTH, .dtype = "float32"};
    struct gs_trace_memory memory = {
        .name = "m", .rule = "gpn", .heads = HEADS, .has = {true, true, false}};
    struct gs_trace_plan plan = {.labels = {.model = "gpn_m",
                                            .config = sort->full ? config : NULL,
                                            .checkpoint_sha256 = sort->checkpoint,
                                            .source_sha256 = sort->source,
                                            .step = sort->full ? 7 : -1,
                                            .seed = -1,
                                            .threads = -1},
                                 .sequences = SEQUENCES,
                                 .start = start,
                                 .token = sort->full,
                                 .nll = sort->full,
                                 .stream_count = 1,
                                 .memory_count = sort->full ? 1 : 0,
                                 .streams = &stream,
                                 .memories = &memory};
    const char *path = gs_scratch_path("%s.h5", sort->name);
    struct gs_trace_writer *writer;
    struct gs_error error;
    gs_assert_ok(gs_trace_writer_create(path, true, &plan, &writer, &error), &error);
    for (size_t s = 0; s < SEQUENCES; s++) {
        gs_assert_ok(
            gs_trace_append_state(writer, 0, s, LENGTH, states + start[s] * WIDTH, WIDTH, &error),
            &error);
        if (!sort->full) continue;
        gs_assert_ok(gs_trace_append_nll(writer, s, LENGTH, nll + start[s], &error), &error);
        gs_assert_ok(gs_trace_append_token(writer, s, LENGTH, tokens + start[s], &error), &error);
        gs_assert_ok(gs_trace_append_memory(writer, 0, GS_MEMORY_LOG_DECAY, s, LENGTH,
                                            decays + start[s] * HEADS, HEADS, &error),
                     &error);
        gs_assert_ok(gs_trace_append_memory(writer, 0, GS_MEMORY_WRITE_STRENGTH, s, LENGTH,
                                            strengths + start[s] * HEADS, HEADS, &error),
                     &error);
    }
    gs_assert_ok(gs_trace_writer_close(writer, &error), &error);
    return path;
}

static const char *make_checkpoint(char sha256[GS_SHA256_TEXT]) {
    const char *path = gs_scratch_path("model.safetensors");
    struct gs_json *json;
    struct gs_model *model;
    struct gs_error error;
    gs_assert_ok(gs_json_parse(config, strlen(config), "config", &json, &error), &error);
    gs_assert_ok(gs_model_create("gpn_m", gs_json_get(json, "model"), &model, &error), &error);
    gs_parameters_initialise(gs_model_parameters(model), SEED);
    gs_assert_ok(gs_checkpoint_save(path, true, model, 7, SEED, &error), &error);
    gs_assert_ok(gs_sha256_path(path, sha256, &error), &error);
    gs_model_destroy(model);
    gs_json_destroy(json);
    return path;
}

static double number(const struct gs_results *results, const char *name) {
    struct gs_value value;
    if (!results || !gs_results_find(results, name, &value)) fail_msg("%s is missing", name);
    return value.value;
}

/* Everything there: planted answers come back, and the page is made of them. */
static void full_trace(void **state) {
    (void)state;
    char sha256[GS_SHA256_TEXT];
    const char *checkpoint = make_checkpoint(sha256);
    struct sort model = {"model", sha256, "aa", true, 0.5, 1};
    struct sort null = {"null", "other", "aa", true, 0.1, 2};
    struct gs_report_inputs inputs = {.trace = make_trace(&model),
                                      .null = make_trace(&null),
                                      .checkpoint = checkpoint,
                                      .seed = 5,
                                      .command_line = "gpnscope report"};
    struct gs_report_measured measured;
    struct gs_error error;
    gs_assert_ok(gs_report_measure(&inputs, NULL, &measured, &error), &error);
    const struct gs_report_run *run = &measured.run;
    for (size_t part = 0; part < GS_PARTS; part++) {
        assert_non_null(run->results[part]);
        assert_null(run->absent[part]);
    }
    assert_string_equal(run->name, "model.h5");
    assert_int_equal(run->rows, ROWS);
    assert_int_equal(run->sequences, SEQUENCES);
    assert_int_equal(run->step, 7);
    struct gs_model *loaded;
    gs_assert_ok(gs_checkpoint_load(checkpoint, &loaded, NULL, &error), &error);
    assert_int_equal(run->parameters, gs_model_parameters(loaded)->count);
    gs_model_destroy(loaded);
    gs_assert_near("loss", number(run->results[GS_PART_LOSS], "loss"), 2.5, 0, 1e-12);
    const struct gs_results *retention = run->results[GS_PART_RETENTION];
    for (int h = 0; h < HEADS; h++) {
        char name[64];
        snprintf(name, sizeof name, "retention.head.%02d.efold", h);
        gs_assert_near(name, number(retention, name), (1 + 3 * h) / -log(0.5), 0, 1e-6);
        snprintf(name, sizeof name, "null.retention.head.%02d.efold", h);
        /* below one step the curve is read off between R(0) = 1 and R(1) */
        gs_assert_near(name, number(retention, name), (1 + 3 * h) / -log(0.1), 0, 1e-6);
    }
    double norm = number(run->results[GS_PART_GEOMETRY], "mean_norm");
    double null_norm = number(run->null_results[GS_PART_GEOMETRY], "mean_norm");
    gs_assert_near("mean norm", norm, sqrt(WIDTH), 0.3, 0);
    /* what training did, with an interval: the untrained states are twice as long */
    struct gs_value ratio;
    assert_true(gs_results_find(run->results[GS_PART_GEOMETRY], "ratio.mean_norm", &ratio));
    gs_assert_near("ratio", ratio.value,
                   number(run->results[GS_PART_GEOMETRY], "mean_norm") / null_norm, 0, 1e-12);
    assert_true(ratio.has_interval && ratio.low < ratio.value && ratio.value < ratio.high);
    gs_assert_near("difference", number(run->results[GS_PART_GEOMETRY], "difference.mean_norm"),
                   number(run->results[GS_PART_GEOMETRY], "mean_norm") - null_norm, 0, 1e-12);
    assert_false(gs_results_find(run->results[GS_PART_GEOMETRY], "null.mean_norm", &ratio));
    gs_assert_near("mean norm, untrained", null_norm, 2 * sqrt(WIDTH), 0.6, 0);
    struct gs_report report = {run, 1, inputs.command_line};
    gs_assert_ok(gs_report_write(&report, gs_scratch_path("full"), false, NULL, NULL, &error),
                 &error);
    assert_true(gs_path_exists(gs_scratch_path("full/index.html")));
    struct gs_json *json;
    int64_t seed;
    gs_assert_ok(gs_json_read_file(gs_scratch_path("full/results.json"), &json, &error), &error);
    assert_true(gs_json_integer(gs_json_get(gs_json_get(json, "environment"), "seed"), &seed));
    assert_int_equal(seed, 5);
    gs_json_destroy(json);
    gs_report_measured_free(&measured);
    gs_report_measured_free(&measured); /* a cleared one is fine */
}

/* The least a trace may hold: the rest is left out with what it needs. */
static void least_trace(void **state) {
    (void)state;
    struct sort sort = {"least", NULL, NULL, false, 0.5, 1};
    struct gs_report_inputs inputs = {.trace = make_trace(&sort)};
    struct gs_report_measured measured;
    struct gs_error error;
    gs_assert_ok(gs_report_measure(&inputs, NULL, &measured, &error), &error);
    assert_non_null(measured.run.results[GS_PART_GEOMETRY]);
    assert_non_null(measured.run.results[GS_PART_HORIZON]);
    assert_non_null(strstr(measured.run.absent[GS_PART_DEFAULT], "--checkpoint FILE"));
    assert_non_null(strstr(measured.run.absent[GS_PART_RETENTION], "log_decay"));
    assert_non_null(strstr(measured.run.absent[GS_PART_LOSS], "/nll"));
    assert_int_equal(measured.run.step, -1);
    gs_report_measured_free(&measured);
}

static const struct layered trained = {.checkpoint_sha256 = "b", .scale = 2, .vocab = 20};
static const struct layered untrained = {.checkpoint_sha256 = "a", .scale = 1, .vocab = 20};

/* A model with layers: all stand side by side, its last states are what is shown in whole. */
static void layered_trace(void **state) {
    (void)state;
    struct gs_report_inputs inputs = {.trace = layered_write("layers.h5", &trained, NULL),
                                      .null = layered_write("layers0.h5", &untrained, NULL),
                                      .loss_first = 3};
    struct gs_report_measured measured;
    struct gs_error error;
    gs_assert_ok(gs_report_measure(&inputs, NULL, &measured, &error), &error);
    const struct gs_report_run *run = &measured.run;
    const struct gs_results *geometry = run->results[GS_PART_GEOMETRY];
    assert_string_equal(run->stream, "final");
    assert_true(number(geometry, "mean_energy") == number(geometry, "stream.final.mean_energy"));
    assert_true(number(geometry, "mean_energy") != number(geometry, "stream.layer9.mean_energy"));
    assert_true(isfinite(number(run->null_results[GS_PART_GEOMETRY], "stream.layer9.mean_energy")));
    assert_true(isfinite(number(run->results[GS_PART_HORIZON], "stream.layer10.horizon.raw.k1")));
    const struct gs_results *retention = run->results[GS_PART_RETENTION];
    assert_true(number(retention, "memory.layer02.retention.head.00.efold") >
                number(retention, "null.memory.layer02.retention.head.00.efold"));
    assert_int_equal(gs_table_rows(gs_results_find_table(retention, "retention_by_head")), 9);
    gs_assert_near("tokens", number(run->results[GS_PART_LOSS], "tokens"),
                   LAYERED_SEQUENCES * (LAYERED_LENGTH - 3), 0, 0);
    uint64_t first;
    gs_assert_ok(gs_report_loss_first(inputs.trace, &first, &error), &error);
    assert_int_equal(first, 1);
    struct gs_report report = {run, 1, NULL};
    gs_assert_ok(gs_report_write(&report, gs_scratch_path("layers"), false, NULL, NULL, &error),
                 &error);
    assert_true(gs_path_exists(gs_scratch_path("layers/csv/geometry_stream.layer9.spectrum.csv")));
    gs_report_measured_free(&measured);
    inputs.stream = "layer9"; /* this one alone */
    gs_assert_ok(gs_report_measure(&inputs, NULL, &measured, &error), &error);
    assert_string_equal(measured.run.stream, "layer9");
    assert_null(
        gs_results_find_table(measured.run.results[GS_PART_GEOMETRY], "geometry_by_stream"));
    gs_report_measured_free(&measured);
}

static void refuse(const struct gs_report_inputs *inputs, enum gs_status status, const char *word,
                   const char *other) {
    struct gs_report_measured measured;
    struct gs_error error;
    gs_assert_error(gs_report_measure(inputs, NULL, &measured, &error), status, &error, word,
                    other);
    assert_null(measured.trace);
}

static void wrong_null(void **state) {
    (void)state;
    struct sort model = {"a", "same", "text", true, 0.5, 1};
    struct sort same = {"b", "same", "text", true, 0.5, 1};
    struct sort other = {"c", "zero", "elsewhere", true, 0.5, 1};
    struct gs_report_inputs inputs = {.trace = make_trace(&model), .null = make_trace(&same)};
    refuse(&inputs, GS_CONFIG, "same checkpoint", "b.h5");
    inputs.null = make_trace(&other);
    refuse(&inputs, GS_CONFIG, "other text", "c.h5");
}

static void broken_inputs(void **state) {
    (void)state;
    struct gs_report_inputs inputs = {.trace = gs_scratch_path("absent.h5")};
    refuse(&inputs, GS_MISSING, "absent.h5", "");
    inputs.trace = gs_scratch_file("text.h5", "not HDF5", 8);
    struct gs_report_measured measured;
    struct gs_error error;
    enum gs_status status = gs_report_measure(&inputs, NULL, &measured, &error);
    assert_int_equal(gs_status_exit_code(status), 3);
    assert_non_null(strstr(error.where, "text.h5"));
    struct sort sort = {"d", NULL, NULL, false, 0.5, 1};
    inputs.trace = make_trace(&sort);
    inputs.stream = "grounded";
    refuse(&inputs, GS_MISSING, "grounded", "predicted");
    inputs.stream = NULL;
    inputs.checkpoint = gs_scratch_file("broken.safetensors", "xx", 2);
    status = gs_report_measure(&inputs, NULL, &measured, &error);
    assert_int_equal(gs_status_exit_code(status), 3);
    assert_non_null(strstr(error.where, "broken.safetensors"));
}

int main(void) {
    print_message("seed %d\n", SEED);
    const struct CMUnitTest tests[] = {cmocka_unit_test(full_trace), cmocka_unit_test(least_trace),
                                       cmocka_unit_test(layered_trace),
                                       cmocka_unit_test(wrong_null),
                                       cmocka_unit_test(broken_inputs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
