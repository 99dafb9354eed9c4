/* What a training run refuses before its first step, and what it does about bad numbers. */
#include "tests/core/training/small_run.h"

#include "core/base/environment.h"
#include "core/base/file.h"
#include "core/checkpoint/checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void refuse(const char *folder, const char *set, enum gs_status status, const char *word,
                   const char *other) {
    struct gs_error error = {0};
    const char *sets[] = {set, NULL};
    gs_assert_error(small_train(folder, sets, false, false, NULL, NULL, &error), status, &error,
                    word, other);
    /* nothing is left behind */
    assert_false(gs_path_exists(gs_scratch_path("%s", folder)));
}

static void test_data(void **state) {
    (void)state;
    refuse("bad", "dirs.data=absent", GS_MISSING, "absent", "");
    refuse("bad", "training.seq_len=301", GS_RANGE, "one window", "at least 301 tokens, found 300");
    refuse("bad", "training.seq_len=151", GS_RANGE, "one batch", "at least 302 tokens, found 300");
    refuse("bad", "training.grad_accum=26", GS_RANGE, "one step", "at least 312 tokens, found 300");
    refuse("bad", "training.batch_size=900000000000000", GS_RANGE, "one batch", "found 300");
    /* ids beyond the vocabulary: the first one is named */
    const uint32_t *tokens = small_tokens();
    size_t first = 0;
    while (tokens[first] < 12) first++;
    char found[32];
    snprintf(found, sizeof found, "%zu", first);
    refuse("bad", "model.vocab_size=12", GS_RANGE, "12", found);
    small_config();
    gs_scratch_file("empty.bin", "", 0);
    struct gs_error error = {0};
    const char *empty[] = {"dirs.data=empty.bin", NULL};
    assert_true(small_train("bad", empty, false, false, NULL, NULL, &error) != GS_OK);
    gs_scratch_file("odd.bin", "12345", 5);
    const char *odd[] = {"dirs.data=odd.bin", NULL};
    assert_true(small_train("bad", odd, false, false, NULL, NULL, &error) != GS_OK);
}

static void test_model(void **state) {
    (void)state;
    refuse("bad", "kind=gnp_m", GS_CONFIG, "config.json", "gpn_m");
    refuse("bad", "model.d_stat=3", GS_CONFIG, "config.json", "d_state");
    refuse("bad", "kind=gpn", GS_CONFIG, "model.n_heads", "is one of kind \"gpn_m\"");
    refuse("bad", "model.d_state=0", GS_CONFIG, "config.json", "d_state");
    refuse("bad", "init=absent.safetensors", GS_MISSING, "absent.safetensors", "");
    small_train_ok("narrow", NULL);
    refuse("bad", "init=narrow/run_train_log.csv", GS_FORMAT, "run_train_log.csv", "");
    struct gs_error error = {0};
    const char *sets[] = {"init=narrow/run_0.safetensors", "model.d_ffn=11", NULL};
    gs_assert_error(small_train("bad", sets, false, false, NULL, NULL, &error), GS_CONFIG, &error,
                    "narrow/run_0.safetensors", "another model");
}

/* The kind follows from the model object where it is not said. */
static void test_no_kind(void **state) {
    (void)state;
    static const char text[] =
        "{\"name\":\"run\",\"model\":{\"vocab_size\":13,\"d_state\":10,\"d_emb\":6,\"d_ffn\":9%s},"
        "\"training\":{\"batch_size\":2,\"seq_len\":6,\"grad_accum\":2,\"total_steps\":2,\"seed\":"
        "5},"
        "\"optimizer\":{\"learning_rate\":0.01,\"adam_beta1\":0.9,\"adam_beta2\":0.95,"
        "\"weight_decay\":0.1,\"warmup_steps\":1,\"min_lr_ratio\":0.1,\"grad_clip_norm\":1},"
        "\"logging\":{\"log_every\":1,\"save_every\":9},"
        "\"dirs\":{\"data\":\"tokens.bin\",\"checkpoint\":\"k%d\",\"log\":\"k%d\"}}";
    static const char *const more[] = {"", ",\"n_heads\":2,\"d_key\":3,\"d_val\":4"};
    static const char *const kinds[] = {"gpn", "gpn_m"};
    small_config();
    for (int i = 0; i < 2; i++) {
        char config_text[2048];
        snprintf(config_text, sizeof config_text, text, more[i], i, i);
        const char *path = gs_scratch_file("kindless.json", config_text, strlen(config_text));
        struct gs_training_config *config = NULL;
        struct gs_training *training = NULL;
        struct gs_error error = {0};
        gs_assert_ok(gs_training_config_read(path, NULL, &config, &error), &error);
        gs_assert_ok(gs_training_open(config, false, false, &training, &error), &error);
        assert_string_equal(gs_training_get_plan(training)->kind, kinds[i]);
        gs_training_close(training);
        gs_training_config_destroy(config);
    }
}

static void test_existing_run(void **state) {
    (void)state;
    struct gs_error error = {0};
    small_train_ok("twice", NULL);
    const char *seed[] = {"training.seed=6", NULL};
    gs_assert_error(small_train("twice", seed, false, false, NULL, NULL, &error), GS_EXISTS, &error,
                    "twice", "--resume", "--force");
    small_train_ok("once", NULL);
    small_assert_same_weights("twice", "final", "once", "final");
    const char *short_run[] = {"training.seed=6", "training.run_steps=2", NULL};
    gs_assert_ok(small_train("twice", short_run, true, false, NULL, NULL, &error), &error);
    assert_false(small_same_weights("twice", "final", "once", "final"));
    /* nothing of the earlier run is left to mix with */
    assert_false(gs_path_exists(gs_scratch_path("twice/run_3.safetensors")));
    assert_false(gs_path_exists(gs_scratch_path("twice/run_6.resume.safetensors")));
    /* a refusal later than the check of the files has removed nothing */
    const char *bad[] = {"dirs.data=absent", NULL};
    gs_assert_error(small_train("once", bad, true, false, NULL, NULL, &error), GS_MISSING, &error,
                    "absent");
    assert_true(gs_path_exists(gs_scratch_path("once/run_final.safetensors")));
    assert_true(gs_path_exists(gs_scratch_path("once/run_train_log.csv")));
    /* another name in the same folder is another run */
    const char *name[] = {"name=other", NULL};
    gs_assert_ok(small_train("once", name, false, false, NULL, NULL, &error), &error);
    assert_true(gs_path_exists(gs_scratch_path("once/run_final.safetensors")));
}

/* A run does not write over what it reads. */
static void test_inputs(void **state) {
    (void)state;
    struct gs_error error = {0};
    small_train_ok("input", NULL);
    const char *init[] = {"init=input/run_final.safetensors", NULL};
    gs_assert_error(small_train("input", init, true, false, NULL, NULL, &error), GS_EXISTS, &error,
                    "input/run_final.safetensors", "-o");
    assert_true(gs_path_exists(gs_scratch_path("input/run_final.safetensors")));
    gs_assert_ok(small_train("from_input", init, false, false, NULL, NULL, &error), &error);
    const char *data[] = {"dirs.data=input", NULL};
    gs_assert_error(small_train("input", data, true, false, NULL, NULL, &error), GS_CONFIG, &error,
                    "input", "the folder of its data");
}

/* logging.keep leaves the newest checkpoints, from which the run can go on; the same end. */
static void test_keep(void **state) {
    (void)state;
    struct gs_error error = {0};
    const char *keep[] = {"logging.save_every=1", "logging.keep=2", NULL};
    const char *part[] = {"logging.save_every=1", "logging.keep=2", "training.run_steps=6", NULL};
    small_train_ok("kept", part);
    for (int step = 0; step <= 6; step++) {
        bool stays = step == 0 || step >= 5;
        assert_int_equal(gs_path_exists(gs_scratch_path("kept/run_%d.safetensors", step)), stays);
        assert_int_equal(gs_path_exists(gs_scratch_path("kept/run_%d.resume.safetensors", step)),
                         stays && step > 0);
    }
    assert_int_equal(remove(gs_scratch_path("kept/run_final.safetensors")), 0);
    assert_int_equal(remove(gs_scratch_path("kept/run_final.resume.safetensors")), 0);
    gs_assert_ok(small_train("kept", keep, false, true, NULL, NULL, &error), &error);
    assert_false(gs_path_exists(gs_scratch_path("kept/run_6.safetensors")));
    small_train_ok("all", NULL);
    small_assert_same_weights("kept", "final", "all", "final");
}

static void test_output_is_a_file(void **state) {
    (void)state;
    struct gs_error error = {0};
    gs_scratch_file("blocked", "x", 1);
    assert_true(small_train("blocked/run", NULL, false, false, NULL, NULL, &error) != GS_OK);
    assert_non_null(strstr(error.where, "blocked"));
}

/* ---- numbers ----------------------------------------------------------------------------------
 */

static size_t count_lines_with(const char *path, const char *word) {
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    char line[512];
    size_t count = 0;
    while (fgets(line, sizeof line, stream)) count += strstr(line, word) != NULL;
    fclose(stream);
    return count;
}

/* Weights that are finite, and whose product is not. */
static void make_overflowing_start(void) {
    small_train_ok("tame", NULL);
    struct gs_model *model = small_model("tame", "0");
    struct gs_parameters *parameters = gs_model_parameters(model);
    struct gs_tensor *norm = gs_parameters_find(parameters, "fuse_norm_w");
    struct gs_tensor *project = gs_parameters_find(parameters, "fuse_proj_k");
    for (size_t i = 0; i < norm->count; i++) norm->values[i] = 3e30f;
    for (size_t i = 0; i < project->count; i++) project->values[i] *= 1e30f;
    struct gs_error error = {0};
    const char *path = gs_scratch_path("overflow.safetensors");
    gs_assert_ok(gs_checkpoint_save(path, true, model, -1, -1, &error), &error);
    gs_model_destroy(model);
}

static void test_five_in_a_row(void **state) {
    (void)state;
    struct gs_error error = {0};
    struct gs_training_report report;
    make_overflowing_start();
    const char *sets[] = {"init=overflow.safetensors", "logging.log_every=1", NULL};
    gs_assert_error(small_train("diverging", sets, false, false, NULL, &report, &error), GS_NUMERIC,
                    &error, "step 5", "saved", "norm of nan");
    assert_int_equal(report.step, 5);
    assert_int_equal(report.skipped, 5);
    small_assert_same_weights("diverging", "5", "diverging", "0");
    assert_false(gs_path_exists(gs_scratch_path("diverging/run_final.safetensors")));
    assert_int_equal(count_lines_with(gs_scratch_path("diverging/run_train_log.csv"), ",nan,"), 5);
}

/* A fault in memory that comes and goes: after step i an embedding is NaN where pattern[i] is 'x'.
 */
struct fault {
    const struct gs_model *model;
    const char *pattern;
    size_t step;
    float kept;
};

static void flip(void *context, double done, double total, const char *note) {
    (void)done, (void)total, (void)note;
    struct fault *fault = context;
    struct gs_parameters *parameters = gs_model_parameters(fault->model);
    float *value = gs_parameters_find(parameters, "embedding")->values;
    fault->step++;
    if (!isnan(*value)) fault->kept = *value;
    *value = fault->pattern[fault->step] == 'x' ? NAN : fault->kept;
}

/* Run 12 steps; those behind an 'x' of the pattern (13 characters, the first for step 0) are
 * spoilt. */
static enum gs_status train_with_fault(const char *folder, const char *pattern,
                                       const char *save_every, struct gs_training_report *report,
                                       struct gs_error *error) {
    const char *sets[] = {"logging.log_every=1", save_every, "training.total_steps=12", NULL};
    struct gs_training_config *config = small_configure(folder, sets);
    struct gs_training *training = NULL;
    gs_assert_ok(gs_training_open(config, false, false, &training, error), error);
    struct fault fault = {gs_training_get_model(training), pattern, 0, 0};
    const struct gs_progress progress = {&fault, flip, NULL};
    enum gs_status status = gs_training_run(training, &progress, report, error);
    gs_training_close(training);
    gs_training_config_destroy(config);
    return status;
}

static void test_skipped_steps(void **state) {
    (void)state;
    struct gs_error error = {0};
    struct gs_training_report report;
    gs_assert_ok(
        train_with_fault("fault", ".xxxx.xxx....", "logging.save_every=5", &report, &error),
        &error);
    assert_int_equal(report.step, 12);
    /* four in a row and three more: one more of the first would have ended the run */
    assert_int_equal(report.skipped, 7);
    assert_true(isfinite(report.loss));
    assert_int_equal(count_lines_with(gs_scratch_path("fault/run_train_log.csv"), ",nan,"), 7);
    /* the fault changed no weight: the first step's rate is 0, and four were skipped */
    small_assert_same_weights("fault", "5", "fault", "0");
    assert_false(small_same_weights("fault", "final", "fault", "0"));
}

/* When the weights themselves are spoilt nothing is saved, and the error says so. */
static void test_spoilt_weights(void **state) {
    (void)state;
    struct gs_error error = {0};
    struct gs_training_report report;
    gs_assert_error(
        train_with_fault("spoilt", "..xxxxxxxxxxx", "logging.save_every=100", &report, &error),
        GS_NUMERIC, &error, "step 7", "could not be saved");
    assert_int_equal(report.skipped, 5);
    assert_false(gs_path_exists(gs_scratch_path("spoilt/run_7.safetensors")));
    assert_true(gs_path_exists(gs_scratch_path("spoilt/run_0.safetensors")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_no_kind),
        cmocka_unit_test(test_existing_run),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_keep),
        cmocka_unit_test(test_output_is_a_file),
        cmocka_unit_test(test_skipped_steps),
        cmocka_unit_test(test_five_in_a_row),
        cmocka_unit_test(test_spoilt_weights),
    };
    gs_threads_set(1); /* tiny models: waiting for each other is all that more would do */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
