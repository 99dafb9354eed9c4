/* A training run against a naive one, and what must be the same bits whatever the circumstances. */
#include "tests/core/training/naive_run.h"
#include "tests/core/training/small_run.h"

#include "core/base/environment.h"
#include "core/base/file.h"
#include "core/checkpoint/checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_against_naive(void **state) {
    (void)state;
    naive_compare("naive", NULL, 6);
}

/* The other recipe for a GPN; the epsilon is large so that it shows. */
static void test_recipe(void **state) {
    (void)state;
    const char *torch[] = {"optimizer.schedule=cosine_from_start", "optimizer.clip_epsilon=0.2",
                           NULL};
    naive_compare("torch", torch, 6);
    small_train_ok("optax", NULL);
    assert_false(small_same_weights("torch", "final", "optax", "final"));
}

/* Weights are rounded where they are used; what is updated is not. */
static void test_bf16(void **state) {
    (void)state;
    const char *bf16[] = {"training.bf16=true", "training.checkpoint_every=2", NULL};
    naive_compare("bf16_naive", bf16, 6);
    const char *all[] = {"training.bf16=true", "training.truncate_bptt=4", "training.grad_accum=3",
                         "training.batch_size=1", NULL};
    naive_compare("bf16_cut", all, 4);
}

static void test_truncated(void **state) {
    (void)state;
    const char *cut[] = {"training.truncate_bptt=4", NULL}; /* pieces of 4 and 2 */
    naive_compare("cut", cut, 4);
    /* cut at the window's end is not cut; cut earlier is another gradient */
    const char *whole[] = {"training.truncate_bptt=6", NULL};
    small_train_ok("uncut", whole);
    small_train_ok("never", NULL);
    small_assert_same_weights("uncut", "final", "never", "final");
    assert_false(small_same_weights("cut", "final", "never", "final"));
}

/* ---- the same in other ways ------------------------------------------------------------------ */

/* The norms of the gradient in a run's log. Adam and clipping hide the gradient's scale from the
 * weights, so the scale shows here alone. */
static size_t read_norms(const char *folder, double *norms, size_t most) {
    FILE *stream = fopen(gs_scratch_path("%s/run_train_log.csv", folder), "rb");
    assert_non_null(stream);
    char line[512];
    size_t count = 0;
    assert_non_null(fgets(line, sizeof line, stream));
    while (count < most && fgets(line, sizeof line, stream))
        assert_int_equal(sscanf(line, "%*d,%*f,%*[^,],%lf", &norms[count++]), 1);
    fclose(stream);
    return count;
}

static void assert_same_norms(const char *folder, const char *other) {
    double a[8], b[8];
    assert_int_equal(read_norms(folder, a, 8), 2);
    assert_int_equal(read_norms(other, b, 8), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(a[i] > 0.01);
        gs_assert_near("grad_norm", a[i], b[i], 1.1e-4, 1e-4); /* four digits are given */
    }
}

/* Two micro-batches of two windows are one of four, or four of one. */
static void test_accumulation(void **state) {
    (void)state;
    const char *one[] = {"training.batch_size=4", "training.grad_accum=1", NULL};
    const char *four[] = {"training.batch_size=1", "training.grad_accum=4", NULL};
    small_train_ok("accum_2", NULL);
    small_train_ok("accum_1", one);
    small_train_ok("accum_4", four);
    assert_same_norms("accum_2", "accum_1");
    assert_same_norms("accum_4", "accum_1");
    struct gs_model *models[] = {small_model("accum_2", "final"), small_model("accum_1", "final"),
                                 small_model("accum_4", "final")};
    const struct gs_parameters *a = gs_model_parameters(models[0]);
    for (size_t k = 1; k < 3; k++) {
        const struct gs_parameters *b = gs_model_parameters(models[k]);
        for (size_t t = 0; t < a->tensor_count; t++)
            gs_assert_close(a->tensors[t].name, b->tensors[t].values, a->tensors[t].values,
                            a->tensors[t].count, 1e-3);
    }
    for (size_t k = 0; k < 3; k++) gs_model_destroy(models[k]);
}

/* Two shards whose border lies inside a window are the same data as one file. */
static void test_shards(void **state) {
    (void)state;
    struct gs_error error = {0};
    gs_assert_ok(gs_folder_create(gs_scratch_path("shards"), &error), &error);
    small_config();
    struct gs_mapped_file tokens;
    gs_assert_ok(gs_file_map(gs_scratch_path("tokens.bin"), &tokens, &error), &error);
    gs_scratch_file("shards/data_0000.bin", tokens.bytes, 4 * 25);
    gs_scratch_file("shards/data_0001.bin", tokens.bytes + 4 * 25, tokens.size - 4 * 25);
    gs_file_unmap(&tokens);
    gs_scratch_file("shards/data_0000.index.json", "[25]", 4);
    gs_scratch_file("shards/data_0001.index.json", "[100, 175]", 10);
    static const char meta[] = "{\"tokenizer\":\"none\",\"vocab_size\":13,\"total_tokens\":300,"
                               "\"total_docs\":3,\"num_shards\":2}";
    gs_scratch_file("shards/meta.json", meta, sizeof meta - 1);
    const char *sets[] = {"dirs.data=shards", NULL};
    small_train_ok("from_shards", sets);
    small_train_ok("from_file", NULL);
    small_assert_same_weights("from_shards", "final", "from_file", "final");
}

static void test_start(void **state) {
    (void)state;
    small_train_ok("start", NULL);
    struct gs_model *zero = small_model("start", "0"), *again = small_model("start", "final");
    gs_parameters_initialise(gs_model_parameters(again), 5); /* the config's seed */
    const struct gs_parameters *p = gs_model_parameters(zero), *q = gs_model_parameters(again);
    assert_memory_equal(p->values, q->values, p->stride * sizeof *p->values);
    gs_model_destroy(zero);
    gs_model_destroy(again);
    /* the untrained model as init, under another seed, is the same run */
    const char *sets[] = {"init=start/run_0.safetensors", "training.seed=6", NULL};
    small_train_ok("from_init", sets);
    small_assert_same_weights("start", "final", "from_init", "final");
    const char *seed[] = {"training.seed=6", NULL};
    small_train_ok("other_seed", seed);
    assert_false(small_same_weights("start", "0", "other_seed", "0"));
    /* where a checkpoint comes from stands in it */
    struct gs_error error = {0};
    struct gs_checkpoint_info info;
    struct gs_model *model = NULL;
    const char *path = gs_scratch_path("start/run_6.safetensors");
    gs_assert_ok(gs_checkpoint_load(path, &model, &info, &error), &error);
    assert_int_equal(info.step, 6);
    assert_int_equal(info.seed, 5);
    gs_model_destroy(model);
}

/* ---- how a run ends -------------------------------------------------------------------------- */

static void test_report(void **state) {
    (void)state;
    struct gs_error error = {0};
    struct gs_training_report report;
    const char *steps[] = {"training.run_steps=5", NULL};
    gs_assert_ok(small_train("short", steps, false, false, NULL, &report, &error), &error);
    assert_int_equal(report.step, 5);
    assert_int_equal(report.tokens_used, 5 * 24);
    assert_int_equal(report.tokens_dropped, 0);
    assert_false(report.exhausted);
    assert_true(isfinite(report.loss) && report.tokens_a_second > 0);
}

/* 300 tokens are 25 micro-batches of 12, or 12 steps of two; half a step is left over. */
static void test_exhausted(void **state) {
    (void)state;
    struct gs_error error = {0};
    struct gs_training_report report;
    const char *long_run[] = {"training.total_steps=100", NULL};
    gs_assert_ok(small_train("exhausted", long_run, false, false, NULL, &report, &error), &error);
    assert_int_equal(report.step, 12);
    assert_int_equal(report.tokens_used, 288);
    assert_int_equal(report.tokens_dropped, 12);
    assert_true(report.exhausted);
    assert_true(gs_path_exists(gs_scratch_path("exhausted/run_final.safetensors")));
    gs_assert_error(small_train("exhausted", long_run, false, true, NULL, &report, &error),
                    GS_RANGE, &error, "tokens.bin", "2 batches", "found 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_naive), cmocka_unit_test(test_recipe),
        cmocka_unit_test(test_truncated),     cmocka_unit_test(test_bf16),
        cmocka_unit_test(test_accumulation),  cmocka_unit_test(test_shards),
        cmocka_unit_test(test_start),         cmocka_unit_test(test_report),
        cmocka_unit_test(test_exhausted),
    };
    gs_threads_set(1); /* tiny models: waiting for each other is all that more would do */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
