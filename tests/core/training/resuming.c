/* A run that is stopped and resumed equals the whole run; what cannot be resumed is refused. */
#include "tests/core/training/small_run.h"

#include "core/base/environment.h"
#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/checkpoint/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_same_run(const char *folder, const char *other) {
    static const char *const files[] = {"run_0.safetensors",        "run_3.safetensors",
                                        "run_3.resume.safetensors", "run_6.safetensors",
                                        "run_final.safetensors",    "run_final.resume.safetensors",
                                        "run_train_log.csv"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        print_message("%s/%s\n", folder, files[i]);
        small_assert_same_file(gs_scratch_path("%s/%s", folder, files[i]),
                               gs_scratch_path("%s/%s", other, files[i]));
    }
}

/* Cut after every number of steps, which lies on and off the rows of the log and the checkpoints.
 */
static void test_cut_anywhere(void **state) {
    (void)state;
    struct gs_error error = {0};
    small_train_ok("whole", NULL);
    for (int cut = 1; cut < 8; cut++) {
        char steps[64], folder[32];
        snprintf(steps, sizeof steps, "training.run_steps=%d", cut);
        snprintf(folder, sizeof folder, "cut_%d", cut);
        const char *sets[] = {steps, NULL};
        small_train_ok(folder, sets);
        gs_assert_ok(small_train(folder, NULL, false, true, NULL, NULL, &error), &error);
        assert_same_run(folder, "whole");
    }
}

/* A kill: the process's files as they are after some step, rows of the log beyond the checkpoint.
 */
static void test_killed(void **state) {
    (void)state;
    struct gs_error error = {0};
    small_train_ok("unkilled", NULL);
    small_train_ok("killed", NULL);
    static const char *const lost[] = {"run_6.safetensors", "run_6.resume.safetensors",
                                       "run_final.safetensors", "run_final.resume.safetensors"};
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++)
        assert_int_equal(remove(gs_scratch_path("killed/%s", lost[i])), 0);
    gs_assert_ok(small_train("killed", NULL, false, true, NULL, NULL, &error), &error);
    assert_same_run("killed", "unkilled");
    /* a finished run has nothing left to do, and stays as it is */
    gs_assert_ok(small_train("killed", NULL, false, true, NULL, NULL, &error), &error);
    assert_same_run("killed", "unkilled");
}

/* ---- stopping on request --------------------------------------------------------------------- */

struct watch {
    int reports, stop_after;
    double done, total;
    char note[256];
};

static void watch_report(void *context, double done, double total, const char *note) {
    struct watch *watch = context;
    watch->reports++;
    assert_true(done > watch->done && done <= total);
    watch->done = done;
    watch->total = total;
    snprintf(watch->note, sizeof watch->note, "%s", note ? note : "");
}

static bool watch_stop(void *context) {
    const struct watch *watch = context;
    return watch->reports >= watch->stop_after;
}

static void test_interrupted(void **state) {
    (void)state;
    struct gs_error error = {0};
    struct watch watch = {.stop_after = 4};
    const struct gs_progress progress = {&watch, watch_report, watch_stop};
    struct gs_training_report report;
    gs_assert_error(small_train("interrupted", NULL, false, false, &progress, &report, &error),
                    GS_INTERRUPTED, &error, "step 4", "--resume");
    assert_int_equal(report.step, 4);
    assert_int_equal(watch.reports, 4);
    assert_true(watch.done == 4 * 24 && watch.total == 8 * 24);
    assert_non_null(strstr(watch.note, "loss "));
    assert_non_null(strstr(watch.note, "step 4/8"));
    assert_true(gs_path_exists(gs_scratch_path("interrupted/run_4.resume.safetensors")));
    assert_false(gs_path_exists(gs_scratch_path("interrupted/run_final.safetensors")));
    gs_assert_ok(small_train("interrupted", NULL, false, true, NULL, NULL, &error), &error);
    small_train_ok("uninterrupted", NULL);
    assert_same_run("interrupted", "uninterrupted");
    /* a wish that comes with the last step finds a finished run */
    watch = (struct watch){.stop_after = 8};
    gs_assert_ok(small_train("late", NULL, false, false, &progress, NULL, &error), &error);
    assert_true(gs_path_exists(gs_scratch_path("late/run_final.safetensors")));
}

/* ---- which one to go on from ----------------------------------------------------------------- */

static void test_named_checkpoint(void **state) {
    (void)state;
    struct gs_error error = {0};
    small_train_ok("source", NULL);
    small_train_ok("expected", NULL);
    /* from another folder's checkpoint, by the model's or the resume file's name */
    const char *by_model[] = {"training.resume=source/run_3.safetensors", NULL};
    const char *by_resume[] = {"training.resume=source/run_6.resume.safetensors", NULL};
    small_train_ok("by_model", by_model);
    small_assert_same_weights("by_model", "final", "expected", "final");
    small_train_ok("by_resume", by_resume);
    small_assert_same_weights("by_resume", "final", "expected", "final");
    /* in its own folder, later files are in the way */
    gs_assert_error(small_train("source", by_model, false, false, NULL, NULL, &error), GS_EXISTS,
                    &error, "run_6", "--force");
    gs_assert_ok(small_train("source", by_model, true, false, NULL, NULL, &error), &error);
    assert_same_run("source", "expected");
    const char *absent[] = {"training.resume=source/run_4.safetensors", NULL};
    gs_assert_error(small_train("none", absent, false, false, NULL, NULL, &error), GS_MISSING,
                    &error, "run_4.resume.safetensors");
    gs_assert_error(small_train("none", NULL, false, true, NULL, NULL, &error), GS_MISSING, &error,
                    "nothing to go on from");
}

/* What changes the meaning of the position is refused; what does not is free. */
static void test_other_run(void **state) {
    (void)state;
    struct gs_error error = {0};
    const char *steps[] = {"training.run_steps=4", NULL};
    small_train_ok("first", steps);
    uint32_t zeros[SMALL_TOKENS] = {0};
    gs_scratch_file("other.bin", zeros, sizeof zeros);
    static const struct {
        const char *set, *word, *expected, *found;
    } others[] = {
        {"training.batch_size=1", "batch_size", "expected 2", "found 1"},
        {"training.seq_len=5", "window", "expected 6", "found 5"},
        {"dirs.data=other.bin", "other data", "the 300 tokens that were in", "300 tokens in"},
        {"model.d_ffn=10", "model", "\"d_ffn\":9", "\"d_ffn\":10"},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const char *sets[] = {others[i].set, NULL};
        struct gs_training_config *config = small_configure("first", sets);
        struct gs_training *training = NULL;
        enum gs_status status = gs_training_open(config, false, true, &training, &error);
        /* JSON may be written with or without blanks */
        char *from = error.expected, *to = error.expected;
        for (; *from; from++)
            if (*from != ' ' || i != 3) *to++ = *from;
        *to = 0;
        for (from = to = error.found; *from; from++)
            if (*from != ' ' || i != 3) *to++ = *from;
        *to = 0;
        gs_assert_error(status, GS_CONFIG, &error, "run_final.resume.safetensors", others[i].word,
                        others[i].expected, others[i].found);
        assert_null(training);
        gs_training_config_destroy(config);
    }
    /* an earlier run's file says which data it was on */
    const char *other[] = {"dirs.data=other.bin", NULL};
    gs_assert_error(small_train("first", other, false, true, NULL, NULL, &error), GS_CONFIG, &error,
                    gs_scratch_path("tokens.bin"), gs_scratch_path("other.bin"));
    const char *longer[] = {"training.total_steps=10", "training.grad_accum=1", NULL};
    gs_assert_ok(small_train("first", longer, false, true, NULL, NULL, &error), &error);
}

/* ---- broken files ---------------------------------------------------------------------------- */

static void test_truncated_file(void **state) {
    (void)state;
    struct gs_error error = {0};
    const char *steps[] = {"training.run_steps=3", NULL};
    small_train_ok("truncated", steps);
    struct gs_mapped_file file;
    const char *path = gs_scratch_path("truncated/run_final.resume.safetensors");
    gs_assert_ok(gs_file_map(path, &file, &error), &error);
    unsigned char *bytes = malloc(file.size);
    assert_non_null(bytes);
    memcpy(bytes, file.bytes, file.size);
    size_t size = file.size;
    gs_file_unmap(&file);
    gs_scratch_file("truncated/run_final.resume.safetensors", bytes, size - 1);
    gs_assert_error(small_train("truncated", NULL, false, true, NULL, NULL, &error), GS_FORMAT,
                    &error, "run_final.resume.safetensors");
    free(bytes);
    /* without it the run goes on from the one before */
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(gs_scratch_path("truncated/run_final.safetensors")), 0);
    gs_assert_ok(small_train("truncated", NULL, false, true, NULL, NULL, &error), &error);
}

/* Metadata and tensors that are no run's. */
static void test_foreign_file(void **state) {
    (void)state;
    static const char *const positions[] = {
        NULL, "", "[]", "{}", "{\"step\":-1}", "{\"step\":1.5}", "{\"step\":\"3\"}",
    };
    struct gs_error error = {0};
    const char *steps[] = {"training.run_steps=3", NULL};
    small_train_ok("foreign", steps);
    struct gs_model *model = small_model("foreign", "final");
    for (size_t i = 0; i < sizeof positions / sizeof positions[0]; i++) {
        const char *metadata[] = {positions[i] ? "gpnscope.position" : NULL, positions[i], NULL};
        gs_assert_ok(gs_safetensors_write(gs_scratch_path("foreign/run_final.resume.safetensors"),
                                          true, gs_model_parameters(model), metadata, &error),
                     &error);
        gs_assert_error(small_train("foreign", NULL, false, true, NULL, NULL, &error), GS_FORMAT,
                        &error, "run_final.resume.safetensors");
    }
    gs_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_anywhere), cmocka_unit_test(test_killed),
        cmocka_unit_test(test_interrupted),  cmocka_unit_test(test_named_checkpoint),
        cmocka_unit_test(test_other_run),    cmocka_unit_test(test_truncated_file),
        cmocka_unit_test(test_foreign_file),
    };
    gs_threads_set(1); /* tiny models: waiting for each other is all that more would do */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
