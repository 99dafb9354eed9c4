/* Traces and checkpoints that belong together, and those that do not. */
#include "analyses/default_token/default_token.h"
#include "analyses/geometry/geometry.h"
#include "core/base/environment.h"
#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/checkpoint/checkpoint.h"
#include "probes/trace/writer.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { SEED = 9, WIDTH = 16, VOCAB = 50, ROWS = 24, SEQUENCES = 3 };

static const char config[] = "{\"vocab_size\": 50, \"d_state\": 16, \"d_emb\": 8, \"d_ffn\": 24, "
                             "\"n_heads\": 2, \"d_key\": 4, \"d_val\": 4}";

static const char *make_checkpoint(const char *name, uint64_t seed, char sha[GS_SHA256_TEXT]) {
    struct gs_json *json;
    struct gs_model *model;
    struct gs_error error;
    const char *path = gs_scratch_path("%s", name);
    gs_assert_ok(gs_json_parse(config, strlen(config), "test", &json, &error), &error);
    gs_assert_ok(gs_model_create("gpn_m", json, &model, &error), &error);
    gs_parameters_initialise(gs_model_parameters(model), seed);
    gs_assert_ok(gs_checkpoint_save(path, true, model, 0, (int64_t)seed, &error), &error);
    gs_assert_ok(gs_sha256_path(path, sha, &error), &error);
    gs_model_destroy(model);
    gs_json_destroy(json);
    return path;
}

struct look {
    const char *sha, *config, *stream;
    size_t width;
    uint32_t largest_token;
    bool token;
};

static const char *make_trace(const char *name, struct look look) {
    const uint64_t start[SEQUENCES + 1] = {0, ROWS, 2 * ROWS, 3 * ROWS};
    struct gs_trace_stream stream = {.width = look.width, .dtype = "float32"};
    strncpy(stream.name, look.stream, sizeof stream.name - 1);
    struct gs_trace_plan plan = {.labels = {.checkpoint_sha256 = look.sha,
                                            .config = look.config,
                                            .model = "gpn_m",
                                            .step = -1,
                                            .seed = -1,
                                            .threads = -1},
                                 .sequences = SEQUENCES,
                                 .start = start,
                                 .token = look.token,
                                 .stream_count = 1,
                                 .streams = &stream};
    struct gs_trace_writer *writer;
    struct gs_error error;
    struct gs_random random;
    gs_random_seed(&random, SEED, "trace");
    const char *path = gs_scratch_path("%s", name);
    gs_assert_ok(gs_trace_writer_create(path, true, &plan, &writer, &error), &error);
    for (size_t s = 0; s < SEQUENCES; s++) {
        float values[ROWS * 2 * WIDTH];
        uint32_t ids[ROWS];
        for (size_t i = 0; i < ROWS * look.width; i++)
            values[i] = (float)(0.5 + gs_random_normal(&random));
        for (size_t i = 0; i < ROWS; i++)
            ids[i] =
                i ? (uint32_t)gs_random_below(&random, look.largest_token) : look.largest_token;
        gs_assert_ok(gs_trace_append_state(writer, 0, s, ROWS, values, look.width, &error), &error);
        if (look.token) gs_assert_ok(gs_trace_append_token(writer, s, ROWS, ids, &error), &error);
    }
    gs_assert_ok(gs_trace_writer_close(writer, &error), &error);
    return path;
}

static const struct look usual = {
    .stream = "predicted", .width = WIDTH, .largest_token = 20, .token = true};
static const struct gs_default_options options = {
    .top = 5, .replicates = 10, .draws = 20, .seed = SEED};

static enum gs_status analyse(const char *path, const char *checkpoint, const char *tokenizer,
                              const char *counts, struct gs_results **results,
                              struct gs_error *error) {
    struct gs_trace *trace;
    gs_assert_ok(gs_trace_open(path, &trace, error), error);
    *results = gs_results_create("default");
    const struct gs_default_inputs inputs = {checkpoint, tokenizer, counts};
    enum gs_status status =
        gs_default_token_of_trace(trace, NULL, &inputs, &options, *results, error);
    gs_trace_close(trace);
    return status;
}

static size_t notes_with(const struct gs_results *results, const char *words) {
    size_t said = 0;
    for (size_t i = 0; i < gs_results_note_count(results); i++)
        said += strstr(gs_results_note_at(results, i), words) != NULL;
    return said;
}

static void a_trace_and_its_checkpoint_are_analysed(void **state) {
    (void)state;
    char sha[GS_SHA256_TEXT];
    struct look look = usual;
    const char *checkpoint = make_checkpoint("own.safetensors", 1, sha);
    look.sha = sha;
    look.config = "{\"kind\": \"gpn_m\", \"model\": {\"vocab_size\": 50}}";
    struct gs_results *results;
    struct gs_error error;
    gs_assert_ok(analyse(make_trace("own.h5", look), checkpoint, NULL, NULL, &results, &error),
                 &error);
    struct gs_value value;
    assert_true(gs_results_find(results, "default.spearman.mean_state", &value));
    assert_string_equal(value.status, "ok");
    assert_true(value.has_interval);
    assert_true(gs_results_find(results, "default.control.mean_embedding.cosine", &value));
    assert_string_equal(value.status, "ok");
    assert_true(fabs(value.value) <= 1);
    assert_int_equal(notes_with(results, "the trace's own tokens"), 1);
    assert_int_equal(notes_with(results, "taken on trust"), 0);
    gs_results_destroy(results);
}

/* z of the model itself: decoding its own mean state must give the first decoding's logits. */
static void the_models_own_decoding_is_used(void **state) {
    (void)state;
    char sha[GS_SHA256_TEXT];
    struct look look = usual;
    const char *path = make_trace("decode.h5", look);
    const char *checkpoint = make_checkpoint("decode.safetensors", 2, sha);
    struct gs_results *results;
    struct gs_error error;
    gs_assert_ok(analyse(path, checkpoint, NULL, NULL, &results, &error), &error);
    assert_int_equal(notes_with(results, "taken on trust"), 1);
    struct gs_trace *trace;
    struct gs_model *model;
    struct gs_runner *runner;
    struct gs_runner_options small = {.batch = 1, .steps = 1};
    gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
    gs_assert_ok(gs_checkpoint_load(checkpoint, &model, NULL, &error), &error);
    gs_assert_ok(gs_runner_create(model, &small, &runner, &error), &error);
    static float states[SEQUENCES * ROWS * WIDTH], mean[WIDTH], logits[VOCAB];
    gs_assert_ok(gs_trace_read_state(trace, 0, 0, SEQUENCES * ROWS, states, &error), &error);
    for (size_t c = 0; c < WIDTH; c++) {
        double sum = 0;
        for (size_t r = 0; r < SEQUENCES * ROWS; r++) sum += (double)states[r * WIDTH + c];
        mean[c] = (float)(sum / (SEQUENCES * ROWS));
    }
    gs_assert_ok(
        gs_runner_decode(runner, gs_model_decodable_channel(model), mean, 1, logits, &error),
        &error);
    double whole = 0;
    size_t best = 0;
    for (size_t v = 0; v < VOCAB; v++) {
        whole += exp((double)logits[v]);
        if (logits[v] > logits[best]) best = v;
    }
    const struct gs_table *tokens = gs_results_find_table(results, "default_tokens");
    assert_int_equal(gs_table_cell(tokens, 0, 2).integer, best);
    assert_int_equal(gs_table_cell(tokens, 0, 3).type, GS_CELL_NULL);
    gs_assert_near_at("probability", gs_table_cell(tokens, 0, 4).number,
                      exp((double)logits[best]) / whole, 0, 1e-5, __FILE__, __LINE__);
    gs_results_destroy(results);
    gs_runner_destroy(runner);
    gs_model_destroy(model);
    gs_trace_close(trace);
}

static void another_checkpoint_is_refused(void **state) {
    (void)state;
    char own[GS_SHA256_TEXT], other[GS_SHA256_TEXT];
    struct look look = usual;
    make_checkpoint("a.safetensors", 1, own);
    const char *wrong = make_checkpoint("b.safetensors", 2, other);
    look.sha = own;
    struct gs_results *results;
    struct gs_error error;
    gs_assert_error(analyse(make_trace("a.h5", look), wrong, NULL, NULL, &results, &error),
                    GS_CONFIG, &error, "b.safetensors", own, other, "a.h5");
    gs_results_destroy(results);
}

static void shapes_that_do_not_fit_are_named(void **state) {
    (void)state;
    char sha[GS_SHA256_TEXT];
    const char *checkpoint = make_checkpoint("shape.safetensors", 1, sha);
    struct gs_results *results;
    struct gs_error error;
    struct look look = usual;
    look.config = "{\"kind\": \"gpn_m\", \"model\": {\"vocab_size\": 77}}";
    gs_assert_error(analyse(make_trace("vocab.h5", look), checkpoint, NULL, NULL, &results, &error),
                    GS_CONFIG, &error, "77", "50", "vocab.h5", "shape.safetensors");
    gs_results_destroy(results);
    look = usual;
    look.width = 17;
    gs_assert_error(analyse(make_trace("wide.h5", look), checkpoint, NULL, NULL, &results, &error),
                    GS_SHAPE, &error, "expected 16", "found 17", "wide.h5");
    gs_results_destroy(results);
    look = usual;
    look.stream = "grounded";
    gs_assert_error(
        analyse(make_trace("stream.h5", look), checkpoint, NULL, NULL, &results, &error),
        GS_MISSING, &error, "predicted");
    gs_results_destroy(results);
    look = usual;
    look.largest_token = 50;
    gs_assert_error(analyse(make_trace("token.h5", look), checkpoint, NULL, NULL, &results, &error),
                    GS_RANGE, &error, "below 50", "found 50", "row 0", "token.h5");
    gs_results_destroy(results);
}

static void without_tokens_there_is_no_spearman_but_a_reason(void **state) {
    (void)state;
    char sha[GS_SHA256_TEXT];
    const char *checkpoint = make_checkpoint("bare.safetensors", 1, sha);
    struct look look = usual;
    look.token = false;
    struct gs_results *results;
    struct gs_error error;
    const char *path = make_trace("bare.h5", look);
    gs_assert_ok(analyse(path, checkpoint, NULL, NULL, &results, &error), &error);
    struct gs_value value;
    assert_true(gs_results_find(results, "default.spearman.mean_state", &value));
    assert_string_equal(value.status, "undefined");
    assert_non_null(strstr(value.reason, "--counts"));
    gs_results_destroy(results);
    /* counts from elsewhere: a .bin of little-endian ids */
    const unsigned char ids[] = {1,  0, 0, 0, 2,  0, 0, 0, 2,  0, 0, 0,
                                 49, 0, 0, 0, 49, 0, 0, 0, 49, 0, 0, 0};
    const char *data = gs_scratch_file("counts.bin", ids, sizeof ids);
    gs_assert_ok(analyse(path, checkpoint, NULL, data, &results, &error), &error);
    assert_true(gs_results_find(results, "default.spearman.mean_state", &value));
    assert_string_equal(value.status, "ok");
    assert_int_equal(value.n, 3);
    assert_int_equal(notes_with(results, "47 tokens with count 0"), 1);
    gs_results_destroy(results);
    gs_assert_error(
        analyse(path, checkpoint, NULL, gs_scratch_path("absent.bin"), &results, &error),
        GS_MISSING, &error, "absent.bin");
    gs_results_destroy(results);
}

static void the_geometry_of_a_trace_skips_and_names(void **state) {
    (void)state;
    const char *path = make_trace("geometry.h5", usual);
    struct gs_trace *trace;
    struct gs_error error;
    gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
    struct gs_geometry_options how = {.skip_first = 4, .replicates_given = true, .replicates = 20};
    struct gs_results *results = gs_results_create("geometry");
    gs_assert_ok(gs_geometry_of_trace(trace, NULL, &how, results, &error), &error);
    struct gs_value value;
    assert_true(gs_results_find(results, "rows", &value));
    gs_assert_near_at("rows", value.value, SEQUENCES * (ROWS - 4), 0, 0, __FILE__, __LINE__);
    assert_true(gs_results_find(results, "state_norm.mean", &value));
    assert_true(value.has_interval && value.low <= value.value && value.value <= value.high);
    gs_results_destroy(results);
    results = gs_results_create("geometry");
    gs_assert_error(gs_geometry_of_trace(trace, "layer07", &how, results, &error), GS_MISSING,
                    &error, "layer07", "predicted", "geometry.h5");
    how.skip_first = ROWS;
    gs_assert_error(gs_geometry_of_trace(trace, NULL, &how, results, &error), GS_RANGE, &error,
                    "geometry.h5", "/state/predicted", "24");
    gs_results_destroy(results);
    gs_trace_close(trace);
}

/* Which states, and through what: said, and refused where the model has no decoder for them. */
static void what_states_go_through_is_said(void **state) {
    (void)state;
    char sha[GS_SHA256_TEXT];
    const char *checkpoint = make_checkpoint("said.safetensors", 3, sha);
    const struct gs_default_inputs inputs = {checkpoint, NULL, NULL};
    struct gs_error error;
    struct gs_trace *trace;
    gs_assert_ok(gs_trace_open(make_trace("said.h5", usual), &trace, &error), &error);
    struct gs_results *one = gs_results_create("default"), *all = gs_results_create("default");
    gs_assert_ok(gs_default_token_of_trace(trace, "predicted", &inputs, &options, one, &error),
                 &error);
    assert_int_equal(notes_with(one, "decoded through the model's decoder"), 1);
    struct gs_json *json = gs_results_json(one);
    const struct gs_json *environment = gs_json_get(json, "environment");
    assert_string_equal(gs_json_string(gs_json_get(environment, "default.stream")), "predicted");
    assert_string_equal(gs_json_string(gs_json_get(environment, "default.decoder")),
                        "the model's decoder");
    gs_json_destroy(json);
    gs_assert_ok(gs_default_token_of_streams(trace, true, &inputs, &options, all, &error), &error);
    struct gs_value plain, behind, alone;
    assert_true(gs_results_find(one, "default.spearman.mean_state", &alone));
    assert_true(gs_results_find(all, "default.spearman.mean_state", &plain));
    assert_true(gs_results_find(all, "stream.predicted.default.spearman.mean_state", &behind));
    assert_true(alone.value == plain.value && alone.value == behind.value);
    assert_true(alone.low == behind.low && alone.high == behind.high);
    const struct gs_table *top = gs_results_find_table(all, "default_token_by_stream");
    assert_int_equal(gs_table_rows(top), 1);
    assert_string_equal(gs_table_cell(top, 0, 1).text, "the model's decoder");
    assert_int_equal(gs_table_cell(top, 0, 2).integer,
                     gs_table_cell(gs_results_find_table(one, "default_tokens"), 0, 2).integer);
    gs_results_destroy(one);
    gs_results_destroy(all);
    gs_trace_close(trace);
    struct look look = usual;
    look.stream = "grounded";
    gs_assert_ok(gs_trace_open(make_trace("grounded.h5", look), &trace, &error), &error);
    all = gs_results_create("default");
    gs_assert_error(gs_default_token_of_trace(trace, "grounded", &inputs, &options, all, &error),
                    GS_CONFIG, &error, "does not decode its stream grounded", "expected predicted",
                    "--stream");
    gs_assert_error(gs_default_token_of_streams(trace, false, &inputs, &options, all, &error),
                    GS_CONFIG, &error, "grounded");
    gs_results_destroy(all);
    gs_trace_close(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_and_its_checkpoint_are_analysed),
        cmocka_unit_test(the_models_own_decoding_is_used),
        cmocka_unit_test(another_checkpoint_is_refused),
        cmocka_unit_test(shapes_that_do_not_fit_are_named),
        cmocka_unit_test(without_tokens_there_is_no_spearman_but_a_reason),
        cmocka_unit_test(the_geometry_of_a_trace_skips_and_names),
        cmocka_unit_test(what_states_go_through_is_said),
    };
    print_message("seed %d\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
