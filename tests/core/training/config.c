/* Training configs: the authors' as they are, overrides, and every kind of mistake. */
#include "tests/support/support.h"

#include "core/training/config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A good config; tests replace one piece of it. */
static const char good[] =
    "{\"name\":\"run\",\"kind\":\"gpn_m\",\"model\":{\"vocab_size\":64},"
    "\"training\":{\"batch_size\":4,\"seq_len\":32,\"grad_accum\":2,\"total_steps\":30,\"seed\":11}"
    ","
    "\"optimizer\":{\"learning_rate\":0.003,\"adam_beta1\":0.9,\"adam_beta2\":0.95,"
    "\"weight_decay\":0.1,\"warmup_steps\":5,\"min_lr_ratio\":0.1,\"grad_clip_norm\":1.0},"
    "\"logging\":{\"log_every\":1,\"save_every\":1000000000},"
    "\"dirs\":{\"data\":\"data\",\"checkpoint\":\"/abs/run\",\"log\":\"logs/x\"}}";

/* The good config with the first `from` replaced by `to`, as a file. */
static const char *with(const char *from, const char *to) {
    char text[4096];
    const char *at = strstr(good, from);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
    return gs_scratch_file("config.json", text, strlen(text));
}

static void refuse(const char *path, const struct gs_training_overrides *overrides,
                   enum gs_status status, const char *word, const char *other) {
    struct gs_training_config *config = NULL;
    struct gs_error error = {0};
    gs_assert_error(gs_training_config_read(path, overrides, &config, &error), status, &error, word,
                    other);
    assert_null(config);
}

static struct gs_training_config *read(const char *path,
                                       const struct gs_training_overrides *overrides) {
    struct gs_training_config *config = NULL;
    struct gs_error error = {0};
    gs_assert_ok(gs_training_config_read(path, overrides, &config, &error), &error);
    return config;
}

static void test_good(void **state) {
    (void)state;
    struct gs_training_config *config = read(with("\"name\"", "\"name\""), NULL);
    assert_string_equal(config->name, "run");
    assert_int_equal(config->batch_size, 4);
    assert_int_equal(config->seq_len, 32);
    assert_int_equal(config->grad_accum, 2);
    assert_int_equal(config->total_steps, 30);
    assert_int_equal(config->run_steps, 30);
    assert_int_equal(config->seed, 11);
    assert_int_equal(config->warmup_steps, 5);
    assert_int_equal(config->save_every, 1000000000);
    assert_int_equal(config->recompute_every + config->truncate_bptt, 0);
    assert_false(config->bf16);
    assert_true(config->learning_rate == 0.003 && config->adam_beta2 == 0.95);
    assert_true(config->grad_clip_norm == 1.0 && config->min_lr_ratio == 0.1);
    /* relative to the config's folder, absolute as they stand */
    assert_string_equal(config->data, gs_scratch_path("data"));
    assert_string_equal(config->log, gs_scratch_path("logs/x"));
    assert_string_equal(config->checkpoint, "/abs/run");
    assert_null(config->init);
    assert_null(config->resume);
    assert_null(config->schedule); /* the kind's own */
    assert_true(isnan(config->clip_epsilon));
    gs_training_config_destroy(config);
    gs_training_config_destroy(NULL);
}

static void test_optional_keys(void **state) {
    (void)state;
    struct gs_training_config *config =
        read(with("\"seed\":11", "\"seed\":9007199254740993,\"run_steps\":7,\"resume\":\"\","
                                 "\"checkpoint_every\":8,\"truncate_bptt\":16,\"bf16\":true,"
                                 "\"ce_chunk_size\":32,\"compile\":false"),
             NULL);
    assert_true(config->seed == 9007199254740993u);
    assert_int_equal(config->run_steps, 7);
    assert_int_equal(config->recompute_every, 8);
    assert_int_equal(config->truncate_bptt, 16);
    assert_true(config->bf16);
    assert_null(config->resume);
    gs_training_config_destroy(config);
}

static void test_schedule(void **state) {
    (void)state;
    struct gs_training_config *config =
        read(with("\"warmup_steps\"", "\"schedule\":\"cosine_from_start\",\"clip_epsilon\":1e-6,"
                                      "\"warmup_steps\""),
             NULL);
    assert_string_equal(config->schedule, "cosine_from_start");
    assert_true(config->clip_epsilon == 1e-6);
    gs_training_config_destroy(config);
}

static void test_overrides(void **state) {
    (void)state;
    const char *sets[] = {"training.batch_size=8",
                          "optimizer.learning_rate=1e-4",
                          "name=other",
                          "training.bf16=true",
                          "model.d_state=48",
                          "dirs.data=\"elsewhere\"",
                          "init=a=b.safetensors",
                          "training.batch_size=16"};
    const uint64_t seed = 77;
    const struct gs_training_overrides overrides = {
        .sets = sets, .set_count = 8, .output = "out", .seed = &seed, .steps = 9};
    struct gs_training_config *config =
        read(with("\"log\":\"logs/x\"", "\"log\":\"l\""), &overrides);
    assert_int_equal(config->batch_size, 16);
    assert_true(config->learning_rate == 1e-4);
    assert_string_equal(config->name, "other");
    assert_true(config->bf16);
    assert_int_equal(config->seed, 77);
    assert_int_equal(config->run_steps, 9);
    assert_string_equal(config->data, gs_scratch_path("elsewhere"));
    assert_string_equal(config->init, gs_scratch_path("a=b.safetensors"));
    assert_string_equal(config->checkpoint, "out");
    assert_string_equal(config->log, "out");
    int64_t width;
    assert_true(
        gs_json_integer(gs_json_get(gs_json_get(config->object, "model"), "d_state"), &width));
    assert_int_equal(width, 48);
    gs_training_config_destroy(config);
    /* with an output folder the config needs none of its own */
    const struct gs_training_overrides output = {.output = "out"};
    config = read(with(",\"checkpoint\":\"/abs/run\",\"log\":\"logs/x\"", ""), &output);
    gs_training_config_destroy(config);
    refuse(with(",\"checkpoint\":\"/abs/run\",\"log\":\"logs/x\"", ""), NULL, GS_CONFIG,
           "dirs.checkpoint", "lacks");
}

static void test_bad_overrides(void **state) {
    (void)state;
    static const char *const bad[] = {"training.batch_size", "=3", ".seed=1", "training.=1",
                                      "training..seed=1",    ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct gs_training_overrides overrides = {.sets = &bad[i], .set_count = 1};
        refuse(with("run", "run"), &overrides, GS_USAGE, "--set", "KEY=VALUE");
    }
    const char *unknown = "training.batchsize=3";
    const struct gs_training_overrides overrides = {.sets = &unknown, .set_count = 1};
    refuse(with("run", "run"), &overrides, GS_CONFIG, "batchsize", "\"batch_size\"");
    const char *through_number = "training.seed.low=3";
    const struct gs_training_overrides through = {.sets = &through_number, .set_count = 1};
    refuse(with("run", "run"), &through, GS_CONFIG, "training.seed", "whole number");
}

static const struct mistake {
    const char *from, *to;
    const char *where, *says;
} mistakes[] = {
    /* unknown keys name the nearest */
    {"\"batch_size\"", "\"batch_sise\"", "training.batch_sise", "\"batch_size\""},
    {"\"warmup_steps\"", "\"warmup_step\"", "optimizer.warmup_step", "\"warmup_steps\""},
    {"\"kind\"", "\"kinds\"", "kinds", "\"kind\""},
    {"\"log_every\"", "\"logevery\"", "logging.logevery", "\"log_every\""},
    {"\"log_every\"", "\"kepp\": 1, \"log_every\"", "logging.kepp", "\"keep\""},
    {"\"log_every\"", "\"keep\": -1, \"log_every\"", "logging.keep", "at least 0"},
    {"\"log_every\"", "\"save_at\": 3, \"log_every\"", "logging.save_at", "list of whole numbers"},
    {"\"log_every\"", "\"save_at\": [1, 2.5], \"log_every\"", "logging.save_at", "2.5"},
    {"\"log_every\"", "\"save_at\": [1, -2], \"log_every\"", "logging.save_at", "at least 0"},
    {"\"data\"", "\"date\"", "dirs.date", "\"data\""},
    {"\"seed\":11", "\"seed\":11,\"learning_rate\":1", "training.learning_rate", "into optimizer"},
    {"\"name\"", "\"seed\":1,\"name\"", "seed", "into training"},
    {"\"seed\":11", "\"seed\":11,\"zzzzzzzzz\":1", "training.zzzzzzzzz", "unknown"},
    /* absent ones */
    {"\"batch_size\":4,", "", "training.batch_size", "lacks"},
    {"\"name\":\"run\",", "", "name", "lacks"},
    {",\"model\":{\"vocab_size\":64}", "", "model", "lacks"},
    {"\"data\":\"data\",", "", "dirs.data", "lacks"},
    {",\"grad_clip_norm\":1.0", "", "optimizer.grad_clip_norm", "lacks"},
    /* wrong types */
    {"\"batch_size\":4", "\"batch_size\":\"4\"", "training.batch_size", "whole number"},
    {"\"batch_size\":4", "\"batch_size\":4.0", "training.batch_size", "4.0"},
    {"\"batch_size\":4", "\"batch_size\":null", "training.batch_size", "null"},
    {"\"seed\":11", "\"seed\":11,\"bf16\":1", "training.bf16", "true or false"},
    {"0.003", "\"fast\"", "optimizer.learning_rate", "\"fast\""},
    {"\"run\"", "5", "name", "text"},
    {"\"run\"", "\"\"", "name", "empty"},
    {"\"model\":{\"vocab_size\":64}", "\"model\":[]", "model", "object"},
    {"{\"log_every\":1,\"save_every\":1000000000}", "3", "logging", "object"},
    /* ranges, with both numbers */
    {"\"batch_size\":4", "\"batch_size\":0", "training.batch_size", "at least 1"},
    {"\"batch_size\":4", "\"batch_size\":-4", "training.batch_size", "-4"},
    {"\"seed\":11", "\"seed\":-1", "training.seed", "at least 0"},
    {"\"adam_beta1\":0.9", "\"adam_beta1\":1", "optimizer.adam_beta1", "below 1"},
    {"\"min_lr_ratio\":0.1", "\"min_lr_ratio\":1.5", "optimizer.min_lr_ratio", "at most 1"},
    {"\"grad_clip_norm\":1.0", "\"grad_clip_norm\":0", "optimizer.grad_clip_norm", "above 0"},
    {"0.003", "-0.003", "optimizer.learning_rate", "-0.003"},
    {"\"log_every\":1", "\"log_every\":0", "logging.log_every", "at least 1"},
    {"\"batch_size\":4", "\"batch_size\":9000000000000000000", "training.batch_size", "at most"},
    {"\"warmup_steps\":5", "\"warmup_steps\":30", "optimizer.warmup_steps", "below 30"},
    {"\"warmup_steps\"", "\"schedule\":\"cosine\",\"warmup_steps\"", "optimizer.schedule",
     "cosine_after_warmup or cosine_from_start"},
    {"\"warmup_steps\"", "\"clip_epsilon\":-1,\"warmup_steps\"", "optimizer.clip_epsilon",
     "at least 0"},
    {"\"seed\":11", "\"seed\":11,\"truncate_bptt\":33", "training.truncate_bptt", "at most 32"},
    /* the file itself */
    {"\"run\"", "\"a/b\"", "name", "a/b"},
    {"\"run\"", "\".hidden\"", "name", ".hidden"},
    {"\"seed\":11", "\"seed\":11,\"seed\":12", "config.json", "duplicate"},
    {"\"name\"", "name", "config.json", "JSON"},
    {"\"run\"", "\"r\xff\"", "config.json", "UTF-8"},
};

static void test_mistakes(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        print_message("%s\n", mistakes[i].to);
        enum gs_status status =
            i + 3 < sizeof mistakes / sizeof mistakes[0] ? GS_CONFIG : GS_FORMAT;
        refuse(with(mistakes[i].from, mistakes[i].to), NULL, status, mistakes[i].where,
               mistakes[i].says);
    }
    refuse(gs_scratch_file("config.json", "[]", 2), NULL, GS_CONFIG, "config.json", "object");
    refuse(gs_scratch_file("config.json", "", 0), NULL, GS_FORMAT, "config.json", "");
    refuse(gs_scratch_path("absent.json"), NULL, GS_MISSING, "absent.json", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),          cmocka_unit_test(test_optional_keys),
        cmocka_unit_test(test_schedule),      cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_bad_overrides), cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
