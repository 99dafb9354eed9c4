#include "tests/core/training/small_run.h"

#include "core/base/file.h"
#include "core/base/random.h"
#include "core/checkpoint/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char config_text[] =
    "{\"name\":\"run\",\"kind\":\"gpn_m\",\"model\":{\"vocab_size\":13,\"d_state\":10,"
    "\"d_emb\":6,\"d_ffn\":9,\"n_heads\":2,\"d_key\":3,\"d_val\":4},"
    "\"training\":{\"batch_size\":2,\"seq_len\":6,\"grad_accum\":2,\"total_steps\":8,\"seed\":5},"
    "\"optimizer\":{\"learning_rate\":0.01,\"adam_beta1\":0.9,\"adam_beta2\":0.95,"
    "\"weight_decay\":0.1,\"warmup_steps\":2,\"min_lr_ratio\":0.1,\"grad_clip_norm\":0.3},"
    "\"logging\":{\"log_every\":3,\"save_every\":3},\"dirs\":{\"data\":\"tokens.bin\"}}";

const uint32_t *small_tokens(void) {
    static uint32_t tokens[SMALL_TOKENS];
    struct gs_random random;
    gs_random_seed(&random, 17, "tokens");
    for (size_t i = 0; i < SMALL_TOKENS; i++)
        tokens[i] = (uint32_t)gs_random_below(&random, i % 3 ? SMALL_VOCAB : 3);
    return tokens;
}

const char *small_config(void) {
    const uint32_t *tokens = small_tokens();
    unsigned char bytes[4 * SMALL_TOKENS];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(tokens[i / 4] >> (8 * (i % 4)));
    gs_scratch_file("tokens.bin", bytes, sizeof bytes);
    return gs_scratch_file("config.json", config_text, sizeof config_text - 1);
}

struct gs_training_config *small_configure(const char *folder, const char *const *sets) {
    size_t count = 0;
    while (sets && sets[count]) count++;
    const struct gs_training_overrides overrides = {
        .sets = sets, .set_count = count, .output = gs_scratch_path("%s", folder)};
    struct gs_training_config *config = NULL;
    struct gs_error error = {0};
    gs_assert_ok(gs_training_config_read(small_config(), &overrides, &config, &error), &error);
    return config;
}

enum gs_status small_train(const char *folder, const char *const *sets, bool force, bool resume,
                           const struct gs_progress *progress, struct gs_training_report *report,
                           struct gs_error *error) {
    struct gs_training_config *config = small_configure(folder, sets);
    struct gs_training *training = NULL;
    enum gs_status status = gs_training_open(config, force, resume, &training, error);
    if (status == GS_OK) status = gs_training_run(training, progress, report, error);
    gs_training_close(training);
    gs_training_config_destroy(config);
    return status;
}

void small_train_ok(const char *folder, const char *const *sets) {
    struct gs_error error = {0};
    gs_assert_ok(small_train(folder, sets, false, false, NULL, NULL, &error), &error);
}

struct gs_model *small_model(const char *folder, const char *label) {
    struct gs_model *model = NULL;
    struct gs_error error = {0};
    const char *path = gs_scratch_path("%s/run_%s.safetensors", folder, label);
    gs_assert_ok(gs_checkpoint_load(path, &model, NULL, &error), &error);
    return model;
}

bool small_same_weights(const char *folder, const char *label, const char *other_folder,
                        const char *other_label) {
    struct gs_model *a = small_model(folder, label), *b = small_model(other_folder, other_label);
    const struct gs_parameters *p = gs_model_parameters(a), *q = gs_model_parameters(b);
    bool same =
        p->stride == q->stride && memcmp(p->values, q->values, p->stride * sizeof *p->values) == 0;
    gs_model_destroy(a);
    gs_model_destroy(b);
    return same;
}

void small_assert_same_weights(const char *folder, const char *label, const char *other_folder,
                               const char *other_label) {
    assert_true(small_same_weights(folder, label, other_folder, other_label));
}

void small_assert_same_file(const char *path, const char *other) {
    struct gs_mapped_file a = {0}, b = {0};
    struct gs_error error = {0};
    gs_assert_ok(gs_file_map(path, &a, &error), &error);
    gs_assert_ok(gs_file_map(other, &b, &error), &error);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.bytes, b.bytes, a.size);
    gs_file_unmap(&a);
    gs_file_unmap(&b);
}
