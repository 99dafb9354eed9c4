/* What must not change one bit of a run: the number of threads, and recomputing. */
#include "tests/core/training/small_run.h"

#include "core/base/environment.h"

#include <stdio.h>

/* One run with every thread count: model, resume file (moments too) and log are the same bytes. */
static void compare_threads(const char *name, const char *const *sets) {
    int before = gs_threads_get();
    for (int threads = 1; threads <= 3; threads++) {
        char folder[64];
        snprintf(folder, sizeof folder, "%s_%d", name, threads);
        gs_threads_set(threads);
        small_train_ok(folder, sets);
        static const char *const files[] = {"run_final.safetensors", "run_final.resume.safetensors",
                                            "run_train_log.csv"};
        for (size_t i = 0; i < 3 && threads > 1; i++) {
            print_message("%s/%s\n", folder, files[i]);
            small_assert_same_file(gs_scratch_path("%s_1/%s", name, files[i]),
                                   gs_scratch_path("%s/%s", folder, files[i]));
        }
    }
    gs_threads_set(before);
}

static void test_threads(void **state) {
    (void)state;
    compare_threads("plain", NULL);
    const char *recompute[] = {"training.checkpoint_every=2", NULL};
    compare_threads("recompute", recompute);
    const char *cut[] = {"training.truncate_bptt=4", "training.grad_accum=3", NULL};
    compare_threads("cut", cut);
    const char *bf16[] = {"training.bf16=true", "training.checkpoint_every=3", NULL};
    compare_threads("bf16", bf16);
    /* with two sequences three threads share the columns; with twenty each has some of its own */
    const char *wide[] = {"training.batch_size=20", "training.grad_accum=1", NULL};
    compare_threads("wide", wide);
    const char *both[] = {"training.batch_size=10", "training.checkpoint_every=2",
                          "training.truncate_bptt=5", "model.n_layers=2", NULL};
    compare_threads("both", both);
    /* columns enough for several panels and blocks, gradients of more than one block of the norm */
    const char *large[] = {"model.d_state=160",
                           "model.d_ffn=330",
                           "model.n_heads=3",
                           "model.d_key=20",
                           "model.d_val=36",
                           "model.n_layers=2",
                           "training.total_steps=4",
                           "training.checkpoint_every=2",
                           NULL};
    compare_threads("large", large);
}

/* Recomputing changes no bit, moments and log included; bf16 does change the run, a little. */
static void test_recompute_and_bf16(void **state) {
    (void)state;
    const char *recompute[] = {"training.checkpoint_every=2", NULL};
    const char *bf16[] = {"training.bf16=true", NULL};
    struct gs_error error = {0};
    struct gs_training_report plain, other, narrow;
    gs_assert_ok(small_train("stored", NULL, false, false, NULL, &plain, &error), &error);
    gs_assert_ok(small_train("again", recompute, false, false, NULL, &other, &error), &error);
    gs_assert_ok(small_train("narrow", bf16, false, false, NULL, &narrow, &error), &error);
    static const char *const files[] = {"run_final.safetensors", "run_final.resume.safetensors",
                                        "run_train_log.csv"};
    assert_true(other.loss == plain.loss);
    for (size_t i = 0; i < 3; i++)
        small_assert_same_file(gs_scratch_path("stored/%s", files[i]),
                               gs_scratch_path("again/%s", files[i]));
    gs_assert_near("bf16", narrow.loss, plain.loss, 0, 2e-2);
    assert_true(narrow.loss != plain.loss);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_recompute_and_bf16),
    };
    gs_threads_set(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
