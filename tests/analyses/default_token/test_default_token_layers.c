/* The default token of a layer: its states through the final norm and the output matrix, counted
 * here by hand from the checkpoint's tensors. For every kind that has layers. */
#include "analyses/default_token/default_token.h"
#include "core/base/environment.h"
#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/checkpoint/checkpoint.h"
#include "probes/trace/recording.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEED = 11, VOCAB = 60, WIDTH = 16, LAYERS = 3, LENGTH = 24, SEQUENCES = 6 };
enum { ROWS = LENGTH * SEQUENCES, TOP = 7 };

static const struct layered_kind {
    const char *kind, *config, *norm, *output;
} kinds[] = {
    {"transformer",
     "{\"vocab_size\": 60, \"hidden_dim\": 16, \"n_layers\": 3, \"n_heads\": 2, \"ffn_dim\": 24}",
     "norm.weight", "embedding.weight"},
    {"gdn",
     "{\"vocab_size\": 60, \"hidden_dim\": 16, \"n_layers\": 3, \"n_heads\": 2, \"head_dim\": 4, "
     "\"expand_v\": 2, \"ffn_dim\": 24}",
     "model.norm.weight", "lm_head.weight"},
};

static struct gs_error error;

static bool is_known(const char *kind) {
    for (size_t i = 0; i < gs_kind_count(); i++)
        if (strcmp(gs_kind_name(i), kind) == 0) return true;
    print_message("skipped: there is no kind %s\n", kind);
    return false;
}

/* A model whose norms and matrices are large enough to tell a layer from the next. */
static struct gs_model *make_model(const struct layered_kind *kind, const char **path) {
    struct gs_json *json;
    struct gs_model *model;
    struct gs_random random;
    gs_assert_ok(gs_json_parse(kind->config, strlen(kind->config), "test", &json, &error), &error);
    gs_assert_ok(gs_model_create(kind->kind, json, &model, &error), &error);
    gs_json_destroy(json);
    struct gs_parameters *parameters = gs_model_parameters(model);
    gs_parameters_initialise(parameters, SEED);
    gs_random_seed(&random, SEED, kind->kind);
    struct gs_tensor *norm = gs_parameters_find(parameters, kind->norm);
    struct gs_tensor *output = gs_parameters_find(parameters, kind->output);
    assert_non_null(norm);
    assert_non_null(output);
    for (size_t i = 0; i < WIDTH; i++) norm->values[i] = (float)(1 + gs_random_uniform(&random));
    for (size_t i = 0; i < VOCAB * WIDTH; i++)
        output->values[i] = (float)(0.3 * gs_random_normal(&random));
    *path = gs_scratch_path("%s.safetensors", kind->kind);
    gs_assert_ok(gs_checkpoint_save(*path, true, model, 1, SEED, &error), &error);
    return model;
}

static const char *make_trace(const struct layered_kind *kind, const char *checkpoint,
                              struct gs_model *model) {
    unsigned char ids[ROWS * 4] = {0};
    struct gs_random random;
    struct gs_tokens *tokens;
    char sha256[GS_SHA256_TEXT];
    gs_random_seed(&random, SEED, "tokens");
    for (size_t i = 0; i < ROWS; i++) ids[4 * i] = (unsigned char)gs_random_below(&random, VOCAB);
    gs_assert_ok(gs_tokens_open(gs_scratch_file("ids.bin", ids, sizeof ids), NULL, &tokens, &error),
                 &error);
    gs_assert_ok(gs_sha256_path(checkpoint, sha256, &error), &error);
    struct gs_recording recording = {.length = LENGTH, .batch = 2};
    recording.labels = (struct gs_trace_labels){
        .checkpoint_sha256 = sha256, .step = 1, .seed = SEED, .threads = -1};
    const char *path = gs_scratch_path("%s.h5", kind->kind);
    gs_assert_ok(gs_record(model, tokens, &recording, path, true, NULL, NULL, &error), &error);
    gs_tokens_close(tokens);
    return path;
}

/* rms(x; norm) W, or x W, in float64. */
static void decode(struct gs_model *model, const struct layered_kind *kind, bool norm,
                   const double *state, double *logits) {
    const struct gs_parameters *parameters = gs_model_parameters(model);
    const float *scale = gs_parameters_find(parameters, kind->norm)->values;
    const float *output = gs_parameters_find(parameters, kind->output)->values;
    double square = 0;
    for (size_t i = 0; i < WIDTH; i++) square += state[i] * state[i];
    double rms = sqrt(square / WIDTH + 1e-6);
    for (size_t v = 0; v < VOCAB; v++) {
        logits[v] = 0;
        for (size_t i = 0; i < WIDTH; i++)
            logits[v] += (norm ? state[i] / rms * (double)scale[i] : state[i]) *
                         (double)output[v * WIDTH + i];
    }
}

/* Rows `first` on of the table: a decoding's top tokens, against these logits. */
static void check_top(const struct gs_table *table, size_t first, const double *logits) {
    double whole = 0, before = INFINITY;
    for (size_t v = 0; v < VOCAB; v++) whole += exp(logits[v]);
    for (size_t i = 0; i < TOP; i++) {
        size_t id = (size_t)gs_table_cell(table, first + i, 2).integer;
        gs_assert_near("probability", gs_table_cell(table, first + i, 4).number,
                       exp(logits[id]) / whole, 0, 2e-5);
        assert_true(logits[id] <= before + 1e-6);
        before = logits[id];
    }
}

static void check_stream(struct gs_trace *trace, struct gs_model *model,
                         const struct layered_kind *kind, size_t stream,
                         const struct gs_results *all) {
    static float states[ROWS * WIDTH];
    const char *name = gs_trace_info(trace)->streams[stream].name;
    bool norm = strcmp(name, "final") != 0;
    double mean[WIDTH] = {0}, of_mean[VOCAB], row[WIDTH], logits[VOCAB], sum[VOCAB] = {0};
    gs_assert_ok(gs_trace_read_state(trace, stream, 0, ROWS, states, &error), &error);
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t i = 0; i < WIDTH; i++) {
            row[i] = (double)states[r * WIDTH + i];
            mean[i] += row[i] / ROWS;
        }
        decode(model, kind, norm, row, logits);
        for (size_t v = 0; v < VOCAB; v++) sum[v] += logits[v] / ROWS;
    }
    decode(model, kind, norm, mean, of_mean);
    char table[128];
    snprintf(table, sizeof table, "stream.%s.default_tokens", name);
    const struct gs_table *tokens = gs_results_find_table(all, table);
    assert_non_null(tokens);
    assert_string_equal(gs_table_cell(tokens, 0, 0).text, "mean_state");
    assert_string_equal(gs_table_cell(tokens, TOP, 0).text, "mean_logits");
    check_top(tokens, 0, of_mean);
    check_top(tokens, TOP, sum);
    const struct gs_table *by_stream = gs_results_find_table(all, "default_token_by_stream");
    assert_string_equal(gs_table_cell(by_stream, stream, 0).text, name);
    assert_string_equal(gs_table_cell(by_stream, stream, 1).text,
                        norm ? "the final norm and the output matrix" : "the output matrix");
    assert_int_equal(gs_table_cell(by_stream, stream, 2).integer,
                     gs_table_cell(tokens, 0, 2).integer);
}

static void check_kind(const struct layered_kind *kind) {
    const char *checkpoint;
    struct gs_model *model = make_model(kind, &checkpoint);
    const char *path = make_trace(kind, checkpoint, model);
    const struct gs_default_options options = {
        .top = TOP, .replicates = 10, .draws = 10, .seed = SEED};
    const struct gs_default_inputs inputs = {checkpoint, NULL, NULL};
    struct gs_trace *trace;
    gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
    assert_int_equal(gs_trace_info(trace)->stream_count, LAYERS + 1);
    assert_int_equal(gs_trace_info(trace)->nll_first, 1);
    struct gs_results *all = gs_results_create("default"), *last = gs_results_create("default");
    gs_assert_ok(gs_default_token_of_streams(trace, true, &inputs, &options, all, &error), &error);
    for (size_t s = 0; s <= LAYERS; s++) check_stream(trace, model, kind, s, all);
    /* without a name: the states that the model predicts from */
    gs_assert_ok(gs_default_token_of_trace(trace, NULL, &inputs, &options, last, &error), &error);
    struct gs_value a, b;
    assert_true(gs_results_find(last, "default.spearman.mean_state", &a));
    assert_true(gs_results_find(all, "stream.final.default.spearman.mean_state", &b));
    assert_true(a.value == b.value);
    gs_results_destroy(all);
    gs_results_destroy(last);
    gs_trace_close(trace);
    gs_model_destroy(model);
}

static void layers_go_through_the_final_norm(void **state) {
    (void)state;
    size_t checked = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!is_known(kinds[i].kind)) continue;
        check_kind(&kinds[i]);
        checked++;
    }
    if (!checked) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(layers_go_through_the_final_norm)};
    print_message("seed %d\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
