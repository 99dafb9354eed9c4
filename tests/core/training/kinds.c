/* Training of the kinds that predict the next token: a window has a token more than it predicts,
 * and where the gradient is cut, pieces share one. */
#include "tests/core/training/naive_run.h"
#include "tests/core/training/small_run.h"

#include "core/base/environment.h"

#include <stdio.h>
#include <string.h>

#define TRANSFORMER                                                                                \
    "kind=transformer",                                                                            \
        "model={\"vocab_size\":13,\"hidden_dim\":12,\"n_layers\":2,\"n_heads\":2,\"ffn_dim\":9}"
#define GDN                                                                                        \
    "kind=gdn", "model={\"vocab_size\":13,\"hidden_dim\":10,\"n_layers\":2,\"n_heads\":2,"         \
                "\"head_dim\":3,\"expand_v\":2.0,\"ffn_dim\":9}"

/* ---- transformer ------------------------------------------------------------------------------
 */

static void test_transformer(void **state) {
    (void)state;
    const char *plain[] = {TRANSFORMER, NULL};
    naive_compare("transformer", plain, 6);
    const char *recompute[] = {TRANSFORMER, "training.checkpoint_every=1", NULL};
    naive_compare("transformer_again", recompute, 6);
    const char *bf16[] = {TRANSFORMER, "training.bf16=true", NULL};
    naive_compare("transformer_bf16", bf16, 6);
    /* optax's recipe, and it is another run */
    const char *optax[] = {TRANSFORMER, "optimizer.schedule=cosine_after_warmup",
                           "optimizer.clip_epsilon=0", NULL};
    naive_compare("transformer_optax", optax, 6);
    assert_false(small_same_weights("transformer", "final", "transformer_optax", "final"));
}

/* It carries nothing on that a later piece could start from. */
static void test_transformer_cut(void **state) {
    (void)state;
    struct gs_error error = {0};
    const char *cut[] = {TRANSFORMER, "training.truncate_bptt=4", NULL};
    gs_assert_error(small_train("transformer_cut", cut, false, false, NULL, NULL, &error),
                    GS_UNSUPPORTED, &error, "transformer", "truncate_bptt 0", "4");
    const char *whole[] = {TRANSFORMER, "training.truncate_bptt=6", NULL};
    small_train_ok("transformer_whole", whole);
}

/* ---- Gated DeltaNet ---------------------------------------------------------------------------
 */

static void test_gdn(void **state) {
    (void)state;
    const char *plain[] = {GDN, NULL};
    naive_compare("gdn", plain, 6);
    const char *recompute[] = {GDN, "training.checkpoint_every=2", NULL};
    naive_compare("gdn_again", recompute, 6);
    const char *bf16[] = {GDN, "training.bf16=true", NULL};
    naive_compare("gdn_bf16", bf16, 6);
}

static void test_gdn_cut(void **state) {
    (void)state;
    const char *cut[] = {GDN, "training.truncate_bptt=4", NULL}; /* pieces of 4 and 2 */
    naive_compare("gdn_cut", cut, 4);
    const char *ones[] = {GDN, "training.truncate_bptt=1", "training.checkpoint_every=1", NULL};
    naive_compare("gdn_ones", ones, 1);
    const char *plain[] = {GDN, NULL};
    small_train_ok("gdn_never", plain);
    assert_false(small_same_weights("gdn_cut", "final", "gdn_never", "final"));
}

/* ---- the same bits ----------------------------------------------------------------------------
 */

static const char *const files[] = {"run_final.safetensors", "run_final.resume.safetensors",
                                    "run_train_log.csv"};

static void assert_same(const char *folder, const char *other) {
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        print_message("%s/%s\n", folder, files[i]);
        small_assert_same_file(gs_scratch_path("%s/%s", folder, files[i]),
                               gs_scratch_path("%s/%s", other, files[i]));
    }
}

/* On any number of threads, recomputed or not, whole or stopped and resumed. */
static void compare_ways(const char *name, const char *kind, const char *model, const char *more) {
    struct gs_error error = {0};
    const char *sets[] = {kind, model, more, NULL};
    char whole[64], other[64];
    int before = gs_threads_get();
    snprintf(whole, sizeof whole, "%s_1", name);
    for (int threads = 1; threads <= 3; threads++) {
        snprintf(other, sizeof other, "%s_%d", name, threads);
        gs_threads_set(threads);
        small_train_ok(other, sets);
        if (threads > 1) assert_same(other, whole);
    }
    gs_threads_set(before);
    const char *again[] = {kind, model, "training.checkpoint_every=2", more, NULL};
    snprintf(other, sizeof other, "%s_again", name);
    small_train_ok(other, again);
    assert_same(other, whole);
    const char *part[] = {kind, model, "training.run_steps=4", more, NULL};
    snprintf(other, sizeof other, "%s_part", name);
    small_train_ok(other, part);
    gs_assert_ok(small_train(other, sets, false, true, NULL, NULL, &error), &error);
    assert_same(other, whole);
}

static void test_transformer_bits(void **state) {
    (void)state;
    static const char *const transformer[] = {TRANSFORMER};
    compare_ways("bits_transformer", transformer[0], transformer[1], NULL);
    compare_ways("bits_wide", transformer[0],
                 "model={\"vocab_size\":13,\"hidden_dim\":160,\"n_layers\":1,\"n_heads\":5,"
                 "\"ffn_dim\":330}",
                 "training.total_steps=5");
}

static void test_gdn_bits(void **state) {
    (void)state;
    static const char *const gdn[] = {GDN};
    compare_ways("bits_gdn", gdn[0], gdn[1], NULL);
    compare_ways("bits_gdn_cut", gdn[0], gdn[1], "training.truncate_bptt=4");
    compare_ways("bits_gdn_wide", gdn[0],
                 "model={\"vocab_size\":13,\"hidden_dim\":160,\"n_layers\":1,\"n_heads\":3,"
                 "\"head_dim\":20,\"expand_v\":2.0,\"ffn_dim\":330}",
                 "training.total_steps=5");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transformer),
        cmocka_unit_test(test_transformer_cut),
        cmocka_unit_test(test_gdn),
        cmocka_unit_test(test_gdn_cut),
        cmocka_unit_test(test_transformer_bits),
        cmocka_unit_test(test_gdn_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
