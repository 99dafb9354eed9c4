/* A real model recorded: against what the runner gives by itself, the same bits in any batch and on
 * any number of threads, and against the known answers of ../shared/reference. */
#include "probes/trace/recording.h"

#include "core/base/environment.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/checkpoint/checkpoint.h"
#include "probes/trace/hdf5_file.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct gs_error error;
static const uint64_t seed = 99;

static struct gs_model *small_model(const char *kind, const char *sizes) {
    struct gs_json *json;
    struct gs_model *model;
    gs_assert_ok(gs_json_parse(sizes, strlen(sizes), "test", &json, &error), &error);
    gs_assert_ok(gs_model_create(kind, json, &model, &error), &error);
    gs_json_destroy(json);
    gs_parameters_initialise(gs_model_parameters(model), seed);
    return model;
}

static struct gs_model *gpn_m(void) {
    return small_model("gpn_m",
                       "{\"vocab_size\": 50, \"d_state\": 24, \"d_emb\": 16, \"d_ffn\": 40, "
                       "\"n_heads\": 3, \"d_key\": 8, \"d_val\": 8, \"n_layers\": 2}");
}

/* `count` random ids below `vocab` as a .bin file. */
static struct gs_tokens *random_tokens(size_t count, uint64_t vocab) {
    uint32_t *ids = gs_calloc(count, sizeof *ids);
    struct gs_random random;
    struct gs_tokens *tokens;
    gs_random_seed(&random, seed, "test/recording");
    for (size_t i = 0; i < count; i++) ids[i] = (uint32_t)gs_random_below(&random, vocab);
    const char *path = gs_scratch_file("ids.bin", ids, count * sizeof *ids);
    gs_free(ids);
    gs_assert_ok(gs_tokens_open(path, NULL, &tokens, &error), &error);
    return tokens;
}

static struct gs_recording recording_of(size_t length, size_t batch) {
    struct gs_recording recording = {.length = length, .batch = batch};
    recording.labels.step = recording.labels.seed = recording.labels.threads = -1;
    recording.labels.checkpoint_sha256 = "abc";
    return recording;
}

/* ---- the same bits ---- */

static void same_dataset(struct gs_h5 *a, struct gs_h5 *b, const char *name) {
    double *values_a, *values_b;
    size_t rank, shape_a[GS_H5_MAX_RANK], shape_b[GS_H5_MAX_RANK], count = 1;
    gs_assert_ok(gs_h5_read_f64(a, name, &values_a, &rank, shape_a, &error), &error);
    gs_assert_ok(gs_h5_read_f64(b, name, &values_b, &rank, shape_b, &error), &error);
    for (size_t i = 0; i < rank; i++) {
        assert_int_equal(shape_a[i], shape_b[i]);
        count *= shape_a[i];
    }
    assert_true(count > 0);
    if (memcmp(values_a, values_b, count * sizeof *values_a) != 0) {
        print_error("%s differs\n", name);
        fail();
    }
    gs_free(values_a);
    gs_free(values_b);
}

static void same_bits_in_any_batch(void **state) {
    (void)state;
    static const char *const datasets[] = {"token",
                                           "nll",
                                           "sequence/start",
                                           "state/predicted",
                                           "state/grounded",
                                           "memory/memory/log_decay",
                                           "memory/memory/write_strength",
                                           "memory/memory/norm",
                                           "read/memory/share"};
    struct gs_model *model = gpn_m();
    struct gs_tokens *tokens = random_tokens(17 * 20 + 7, 50);
    static const int batches[] = {1, 7, 16, 100}, threads[] = {1, 2, 3, 1};
    int before = gs_threads_get();
    for (int n = 0; n < 4; n++) {
        struct gs_recording recording = recording_of(20, (size_t)batches[n]);
        struct gs_recorded recorded;
        gs_threads_set(threads[n]);
        gs_assert_ok(gs_record(model, tokens, &recording, gs_scratch_path("batch%d.h5", n), false,
                               NULL, &recorded, &error),
                     &error);
        assert_int_equal(recorded.windows.count, 17);
        assert_int_equal(gs_windows_dropped(&recorded.windows), 7);
    }
    gs_threads_set(before);
    for (int n = 1; n < 4; n++) {
        struct gs_h5 *one, *other;
        gs_assert_ok(gs_h5_open(gs_scratch_path("batch0.h5"), &one, &error), &error);
        gs_assert_ok(gs_h5_open(gs_scratch_path("batch%d.h5", n), &other, &error), &error);
        for (size_t i = 0; i < sizeof datasets / sizeof *datasets; i++)
            same_dataset(one, other, datasets[i]);
        gs_h5_close(one, NULL);
        gs_h5_close(other, NULL);
    }
    gs_tokens_close(tokens);
    gs_model_destroy(model);
}

/* ---- against the runner ---- */

/* Window 3 + w alone, from a fresh state: what it gives is what the trace holds. */
static void compare_window(struct gs_model *model, const struct gs_tokens *tokens,
                           struct gs_trace *trace, size_t window, size_t length) {
    struct gs_runner_options options = {.batch = 1, .steps = length};
    struct gs_runner *runner;
    struct gs_state *start;
    uint32_t ids[64], recorded[64];
    float nll[64], recorded_nll[64];
    float states[64 * 24], logits[50];
    gs_assert_ok(gs_runner_create(model, &options, &runner, &error), &error);
    gs_assert_ok(gs_state_create(model, 1, &start, &error), &error);
    gs_assert_ok(gs_tokens_read(tokens, (3 + window) * length, length, ids, &error), &error);
    gs_assert_ok(gs_runner_forward(runner, start, ids, NULL, length, NULL, nll, &error), &error);
    gs_assert_ok(gs_trace_read_token(trace, window * length, length, recorded, &error), &error);
    gs_assert_ok(gs_trace_read_nll(trace, window * length, length, recorded_nll, &error), &error);
    assert_memory_equal(ids, recorded, length * sizeof *ids);
    assert_memory_equal(nll, recorded_nll, length * sizeof *nll);
    /* the predicted state decodes to the loss, by the definition of cross-entropy */
    size_t predicted;
    gs_assert_ok(gs_trace_find_stream(trace, "predicted", &predicted, &error), &error);
    gs_assert_ok(gs_trace_read_state(trace, predicted, window * length, length, states, &error),
                 &error);
    for (size_t t = 0; t < length; t++) {
        double sum = 0;
        gs_assert_ok(gs_runner_decode(runner, gs_model_decodable_channel(model), states + t * 24, 1,
                                      logits, &error),
                     &error);
        for (size_t v = 0; v < 50; v++) sum += exp((double)logits[v]);
        gs_assert_near("nll", (double)nll[t], log(sum) - (double)logits[ids[t]], 1e-5, 1e-5);
    }
    gs_state_destroy(start);
    gs_runner_destroy(runner);
}

static void each_window_from_a_fresh_state(void **state) {
    (void)state;
    struct gs_model *model = gpn_m();
    struct gs_tokens *tokens = random_tokens(400, 50);
    struct gs_recording recording = recording_of(33, 4);
    struct gs_trace *trace;
    const char *path = gs_scratch_path("windows.h5");
    recording.skip = 3;
    recording.sequences = 6;
    recording.choice.streams = "predicted";
    gs_assert_ok(gs_record(model, tokens, &recording, path, false, NULL, NULL, &error), &error);
    gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
    gs_assert_ok(gs_trace_check(trace, NULL, &error), &error);
    const struct gs_trace_info *info = gs_trace_info(trace);
    assert_true(info->complete);
    assert_int_equal(info->sequences, 6);
    assert_int_equal(info->rows, 6 * 33);
    assert_int_equal(info->vocab, 50);
    assert_int_equal(info->nll_first, 0);
    assert_string_equal(info->model, "gpn_m");
    assert_string_equal(info->checkpoint_sha256, "abc");
    assert_string_equal(info->source_sha256, gs_tokens_sha256(tokens));
    assert_string_equal(info->weights, "f32");
    assert_non_null(info->blas_core);
    assert_int_equal(info->threads, gs_threads_get());
    for (size_t window = 0; window < 6; window++) compare_window(model, tokens, trace, window, 33);
    gs_trace_close(trace);
    gs_tokens_close(tokens);
    gs_model_destroy(model);
}

static void models_without_memory(void **state) {
    (void)state;
    struct gs_model *model =
        small_model("gpn", "{\"vocab_size\": 50, \"d_state\": 16, \"d_emb\": 16, \"d_ffn\": 40}");
    struct gs_tokens *tokens = random_tokens(100, 50);
    struct gs_recording recording = recording_of(0, 4); /* all tokens, one window */
    struct gs_trace *trace;
    const char *path = gs_scratch_path("gpn.h5");
    gs_assert_ok(gs_record(model, tokens, &recording, path, false, NULL, NULL, &error), &error);
    gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
    assert_int_equal(gs_trace_info(trace)->sequences, 1);
    assert_int_equal(gs_trace_info(trace)->memory_count, 0);
    assert_int_equal(gs_trace_info(trace)->read_count, 0);
    gs_trace_close(trace);
    gs_tokens_close(tokens);
    gs_model_destroy(model);
}

/* ---- what goes wrong leaves no file ---- */

static void runs_that_cannot_be(void **state) {
    (void)state;
    struct gs_model *model = gpn_m();
    struct gs_tokens *tokens = random_tokens(100, 51); /* one id too many */
    struct gs_recording recording = recording_of(20, 4);
    const char *path = gs_scratch_path("never.h5");
    gs_assert_error(gs_record(model, tokens, &recording, path, false, NULL, NULL, &error), GS_RANGE,
                    &error, "50");
    recording.length = 101;
    gs_assert_error(gs_record(model, tokens, &recording, path, false, NULL, NULL, &error), GS_RANGE,
                    &error, "101", "100");
    recording.length = 20;
    recording.skip = 5;
    gs_assert_error(gs_record(model, tokens, &recording, path, false, NULL, NULL, &error), GS_RANGE,
                    &error, "5");
    gs_tokens_close(tokens);
    tokens = random_tokens(100, 50);
    recording.skip = 0;
    recording.choice.streams = "predictd";
    gs_assert_error(gs_record(model, tokens, &recording, path, false, NULL, NULL, &error), GS_USAGE,
                    &error, "predictd", "predicted");
    recording.choice.streams = NULL;
    gs_model_parameters(model)->tensors[0].values[0] = INFINITY; /* an embedding */
    enum gs_status status = gs_record(model, tokens, &recording, path, false, NULL, NULL, &error);
    gs_assert_error(status, GS_NUMERIC, &error, "sequence");
    assert_false(gs_path_exists(path));
    gs_tokens_close(tokens);
    gs_model_destroy(model);
}

static bool stop_soon(void *context) {
    return ++*(int *)context > 2;
}

static void stopped_runs_keep_their_rows(void **state) {
    (void)state;
    struct gs_model *model = gpn_m();
    struct gs_tokens *tokens = random_tokens(1000, 50);
    struct gs_recording recording = recording_of(20, 4);
    int asked = 0;
    struct gs_progress progress = {.context = &asked, .stop = stop_soon};
    struct gs_trace *trace;
    const char *path = gs_scratch_path("stopped.h5");
    gs_assert_error(gs_record(model, tokens, &recording, path, false, &progress, NULL, &error),
                    GS_INTERRUPTED, &error, "8 of 50");
    gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
    assert_false(gs_trace_info(trace)->complete);
    for (size_t i = 0; i < 50; i++)
        assert_int_equal(gs_trace_info(trace)->rows_written[i], i < 8 ? 20 : 0);
    gs_assert_ok(gs_trace_check(trace, NULL, &error), &error);
    gs_trace_close(trace);
    gs_tokens_close(tokens);
    gs_model_destroy(model);
}

/* Stopped at each batch in turn and resumed: the bits of a run that never stopped. */
static void resumed_runs(void **state) {
    (void)state;
    struct gs_model *model = gpn_m();
    struct gs_tokens *tokens = random_tokens(100 * 128, 50);
    const char *whole = gs_scratch_path("whole.h5");
    static const char *const datasets[] = {"token",
                                           "nll",
                                           "state/predicted",
                                           "state/grounded",
                                           "memory/memory/log_decay",
                                           "memory/memory/norm",
                                           "read/memory/share",
                                           "sequence/rows_written"};
    for (int deflate = 0; deflate < 2; deflate++) {
        struct gs_recording recording = recording_of(128, 3);
        recording.deflate = deflate;
        gs_assert_ok(gs_record(model, tokens, &recording, whole, true, NULL, NULL, &error), &error);
        for (int stop = 0; stop < 3; stop++) {
            const char *path = gs_scratch_path("resumed%d%d.h5", deflate, stop);
            int asked = -2 * stop; /* stop_soon after 2, 4, 6 batches */
            struct gs_progress progress = {.context = &asked, .stop = stop_soon};
            struct gs_recorded recorded;
            struct gs_h5 *one, *other;
            recording.resume = true; /* nothing is there yet: begins */
            gs_assert_error(
                gs_record(model, tokens, &recording, path, false, &progress, NULL, &error),
                GS_INTERRUPTED, &error, "of 100", path, "--resume");
            recording.batch = 7;
            gs_assert_ok(gs_record(model, tokens, &recording, path, false, NULL, &recorded, &error),
                         &error);
            recording.batch = 3;
            print_message("stopped after %d, resumed from %zu\n", 6 + 6 * stop, recorded.first);
            assert_int_equal(recorded.first, (6 + 6 * stop) / 8 * 8);
            gs_assert_ok(gs_h5_open(whole, &one, &error), &error);
            gs_assert_ok(gs_h5_open(path, &other, &error), &error);
            for (size_t i = 0; i < sizeof datasets / sizeof *datasets; i++)
                same_dataset(one, other, datasets[i]);
            gs_h5_close(one, NULL);
            gs_h5_close(other, NULL);
            struct gs_trace *trace;
            gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
            assert_true(gs_trace_info(trace)->complete);
            gs_trace_close(trace);
            /* and once more: nothing to do */
            gs_assert_ok(gs_record(model, tokens, &recording, path, false, NULL, &recorded, &error),
                         &error);
            assert_int_equal(recorded.first, 100);
            assert_int_equal(recorded.nll_count, 0);
        }
    }
    gs_tokens_close(tokens);
    gs_model_destroy(model);
}

static void refuses(struct gs_model *model, const struct gs_tokens *tokens,
                    const struct gs_recording *recording, const char *path, const char *word) {
    gs_assert_error(gs_record(model, tokens, recording, path, false, NULL, NULL, &error), GS_CONFIG,
                    &error, path, "cannot resume", word);
}

static void resuming_something_else(void **state) {
    (void)state;
    struct gs_model *model = gpn_m(), *other;
    struct gs_tokens *tokens = random_tokens(600, 50);
    const char *path = gs_scratch_path("else.h5");
    struct gs_recording recording = recording_of(20, 4), changed;
    int asked = 0;
    struct gs_progress progress = {.context = &asked, .stop = stop_soon};
    gs_assert_error(gs_record(model, tokens, &recording, path, false, &progress, NULL, &error),
                    GS_INTERRUPTED, &error, "8 of 30");
    recording.resume = true;
    changed = recording;
    changed.labels.checkpoint_sha256 = "abd";
    refuses(model, tokens, &changed, path, "checkpoint_sha256");
    changed = recording;
    changed.labels.tokenizer_sha256 = "t";
    refuses(model, tokens, &changed, path, "tokenizer_sha256");
    changed = recording;
    changed.length = 10;
    refuses(model, tokens, &changed, path, "sequences");
    changed = recording;
    changed.bf16 = true;
    refuses(model, tokens, &changed, path, "weights");
    changed = recording;
    changed.choice.dtype = "float16";
    refuses(model, tokens, &changed, path, "dtype");
    changed = recording;
    changed.choice.streams = "predicted";
    refuses(model, tokens, &changed, path, "streams");
    other =
        small_model("gpn", "{\"vocab_size\": 50, \"d_state\": 24, \"d_emb\": 16, \"d_ffn\": 40}");
    refuses(other, tokens, &recording, path, "model");
    gs_model_destroy(other);
    gs_tokens_close(tokens);
    tokens = random_tokens(601, 50);
    refuses(model, tokens, &recording, path, "source_sha256");
    gs_tokens_close(tokens);
    gs_model_destroy(model);
    struct gs_trace *trace; /* and none of it did any harm */
    gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
    assert_int_equal(gs_trace_info(trace)->rows_written[7], 20);
    gs_assert_ok(gs_trace_check(trace, NULL, &error), &error);
    gs_trace_close(trace);
}

/* ---- known answers ---- */

static void close_to(struct gs_trace *trace, struct gs_h5 *expected, const char *stream) {
    float *values, *got;
    size_t rank, shape[GS_H5_MAX_RANK], index;
    gs_assert_ok(gs_h5_read_f32(expected, stream, &values, &rank, shape, &error), &error);
    size_t rows = shape[0] * shape[1];
    assert_int_equal(rows, gs_trace_info(trace)->rows);
    got = gs_calloc(rows * shape[2], sizeof *got);
    gs_assert_ok(gs_trace_find_stream(trace, stream, &index, &error), &error);
    gs_assert_ok(gs_trace_read_state(trace, index, 0, rows, got, &error), &error);
    gs_assert_close(stream, got, values, rows * shape[2], 1e-5);
    gs_free(values);
    gs_free(got);
}

static void gates_close_to(struct gs_trace *trace, struct gs_h5 *expected) {
    for (int f = 0; f < GS_MEMORY_FIELDS; f++) {
        static const char *const names[] = {"log_decay", "write_strength", "norm"};
        float *values, *got;
        size_t rank, shape[GS_H5_MAX_RANK], rows = (size_t)gs_trace_info(trace)->rows;
        gs_assert_ok(gs_h5_read_f32(expected, names[f], &values, &rank, shape, &error), &error);
        got = gs_calloc(rows * shape[2], sizeof *got);
        gs_assert_ok(gs_trace_read_memory(trace, 0, (enum gs_memory_field)f, 0, rows, got, &error),
                     &error);
        gs_assert_close(names[f], got, values, rows * shape[2], 1e-5);
        gs_free(values);
        gs_free(got);
    }
}

/* The cases that start from a zero state, from file to file. */
static void known_answers(void **state) {
    (void)state;
    static const char *const cases[] = {"gpn", "gpn_bias", "gpnm1", "gpnm2_bias", "gpnm1_bf16"};
    if (!gs_shared_path("reference")) skip();
    size_t compared = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char relative[128], *text;
        const char *path = gs_scratch_path("known%zu.h5", i);
        struct gs_h5 *expected;
        struct gs_model *model;
        struct gs_tokens *tokens;
        struct gs_trace *trace;
        float *values;
        size_t rank, shape[GS_H5_MAX_RANK];
        snprintf(relative, sizeof relative, "reference/%s/expected.h5", cases[i]);
        gs_assert_ok(gs_h5_open(gs_shared_path(relative), &expected, &error), &error);
        gs_assert_ok(gs_h5_text(expected, "/", "case", &text, &error), &error);
        bool given_state = strstr(text, "\"init_state\": true") != NULL;
        bool bf16 = strstr(text, "\"bf16\": true") != NULL;
        gs_free(text);
        if (given_state) { /* a trace always starts from zero */
            gs_h5_close(expected, NULL);
            continue;
        }
        gs_assert_ok(gs_h5_read_f32(expected, "predicted", &values, &rank, shape, &error), &error);
        gs_free(values);
        snprintf(relative, sizeof relative, "reference/%s/params.safetensors", cases[i]);
        gs_assert_ok(gs_checkpoint_load(gs_shared_path(relative), &model, NULL, &error), &error);
        snprintf(relative, sizeof relative, "reference/%s/tokens.bin", cases[i]);
        gs_assert_ok(gs_tokens_open(gs_shared_path(relative), NULL, &tokens, &error), &error);
        struct gs_recording recording = recording_of(shape[1], 2);
        recording.bf16 = bf16;
        gs_assert_ok(gs_record(model, tokens, &recording, path, false, NULL, NULL, &error), &error);
        gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
        print_message("%s%s\n", cases[i], bf16 ? " (bf16)" : "");
        close_to(trace, expected, "predicted");
        close_to(trace, expected, "grounded");
        if (gs_trace_info(trace)->memory_count > 0) gates_close_to(trace, expected);
        gs_trace_close(trace);
        gs_tokens_close(tokens);
        gs_model_destroy(model);
        gs_h5_close(expected, NULL);
        compared++;
    }
    assert_true(compared >= 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_in_any_batch),
        cmocka_unit_test(each_window_from_a_fresh_state),
        cmocka_unit_test(models_without_memory),
        cmocka_unit_test(runs_that_cannot_be),
        cmocka_unit_test(stopped_runs_keep_their_rows),
        cmocka_unit_test(resumed_runs),
        cmocka_unit_test(resuming_something_else),
        cmocka_unit_test(known_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
