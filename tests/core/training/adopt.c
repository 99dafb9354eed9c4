/* Runs of the authors' programs, taken over and gone on with: ../shared/reference has the last
 * checkpoint of theirs with its optimiser, and a run of ours from the same start must have come to
 * the same moments by itself. */
#include "tests/support/support.h"

#include "core/base/json.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/safetensors.h"
#include "core/training/adopt.h"
#include "core/training/loop.h"

#include <stdio.h>
#include <string.h>

/* Final parameters of two programs after 30 steps: the reference's README says 1e-3. First moments
 * are sums of gradients of the last steps (1e-4), second ones of their squares. What is compared is
 * one run with another, each rounded by itself. */
static const double moment_tolerance = 1e-3;

struct run {
    const char *name, *checkpoint; /* below ../shared/reference */
};
static const struct run runs[] = {
    {"train_gpnm1", "train_gpnm1/train_gpnm1_final/checkpoint.pkl"},
    {"train_gdn", "train_gdn/train_gdn_final"}, /* the folder stands for checkpoint.pt */
    {"train_transformer", "train_transformer/train_transformer_final/checkpoint.pt"},
};
enum { RUNS = sizeof runs / sizeof runs[0] };

static const char *shared(const char *relative) {
    char path[256];
    snprintf(path, sizeof path, "reference/%s", relative);
    return gs_shared_path(path);
}

static struct gs_training_config *configure(const char *name, const char *folder,
                                            const char *total_steps) {
    char relative[128];
    snprintf(relative, sizeof relative, "%s/config.json", name);
    const char *const sets[] = {total_steps};
    const struct gs_training_overrides overrides = {
        .output = gs_scratch_path("%s", folder), .sets = sets, .set_count = total_steps ? 1 : 0};
    struct gs_training_config *config = NULL;
    struct gs_error error = {0};
    gs_assert_ok(gs_training_config_read(shared(relative), &overrides, &config, &error), &error);
    return config;
}

static void train(const char *name, const char *folder, const char *total_steps, bool resume) {
    struct gs_training_config *config = configure(name, folder, total_steps);
    struct gs_training *training = NULL;
    struct gs_training_report report;
    struct gs_error error = {0};
    gs_assert_ok(gs_training_open(config, false, resume, &training, &error), &error);
    gs_assert_ok(gs_training_run(training, NULL, &report, &error), &error);
    gs_training_close(training);
    gs_training_config_destroy(config);
}

static struct gs_adopted adopt(const struct run *run, const char *folder) {
    struct gs_training_config *config = configure(run->name, folder, NULL);
    const struct gs_checkpoint_options options = {0};
    struct gs_adopted adopted;
    struct gs_error error = {0};
    gs_assert_ok(
        gs_training_adopt(config, shared(run->checkpoint), &options, false, &adopted, &error),
        &error);
    gs_training_config_destroy(config);
    return adopted;
}

/* Every tensor of two safetensors files. */
static void compare(const char *path, const char *expected, double tolerance) {
    static float a[1 << 16], b[1 << 16];
    struct gs_safetensors *one, *other;
    struct gs_error error = {0};
    gs_assert_ok(gs_safetensors_open(path, &one, &error), &error);
    gs_assert_ok(gs_safetensors_open(expected, &other, &error), &error);
    assert_true(gs_safetensors_count(one) > 0);
    assert_int_equal(gs_safetensors_count(one), gs_safetensors_count(other));
    for (size_t i = 0; i < gs_safetensors_count(one); i++) {
        const struct gs_safetensors_entry *entry = gs_safetensors_at(one, i);
        const struct gs_safetensors_entry *of = gs_safetensors_find(other, entry->name);
        assert_non_null(of);
        assert_true(entry->count == of->count && entry->count <= sizeof a / sizeof *a);
        gs_assert_ok(gs_safetensors_read(one, entry, a, &error), &error);
        gs_assert_ok(gs_safetensors_read(other, of, b, &error), &error);
        if (tolerance == 0)
            assert_memory_equal(a, b, entry->count * sizeof *a);
        else
            gs_assert_close(entry->name, a, b, entry->count, tolerance);
    }
    gs_safetensors_close(one);
    gs_safetensors_close(other);
}

/* What it holds is final.safetensors, bit for bit. */
static void test_final_weights(void **state) {
    (void)state;
    for (size_t i = 0; i < RUNS; i++) {
        char final[128];
        snprintf(final, sizeof final, "%s/final.safetensors", runs[i].name);
        if (!shared(final)) skip();
        char folder[64];
        snprintf(folder, sizeof folder, "final%zu", i);
        struct gs_adopted adopted = adopt(&runs[i], folder);
        compare(adopted.model, shared(final), 0);
        assert_int_equal(adopted.step, 30);
        assert_int_equal(adopted.updates, 30);
        gs_adopted_clear(&adopted);
    }
}

/* Our own run from the same start comes to the same moments; and both go on alike. */
static void test_goes_on(void **state) {
    (void)state;
    for (size_t i = 0; i < RUNS; i++) {
        if (!shared(runs[i].checkpoint)) skip();
        const char *name = runs[i].name;
        char ours[64], theirs[64];
        snprintf(ours, sizeof ours, "ours%zu", i);
        snprintf(theirs, sizeof theirs, "theirs%zu", i);
        train(name, ours, NULL, false);
        struct gs_adopted adopted = adopt(&runs[i], theirs);
        compare(adopted.resume, gs_scratch_path("%s/%s_final.resume.safetensors", ours, name),
                moment_tolerance);
        gs_adopted_clear(&adopted);
        train(name, ours, "training.total_steps=38", true);
        train(name, theirs, "training.total_steps=38", true);
        compare(gs_scratch_path("%s/%s_final.resume.safetensors", theirs, name),
                gs_scratch_path("%s/%s_final.resume.safetensors", ours, name), moment_tolerance);
    }
}

/* A second one would mix with the first. */
static void test_existing_run(void **state) {
    (void)state;
    if (!shared(runs[0].checkpoint)) skip();
    struct gs_adopted adopted = adopt(&runs[0], "twice");
    gs_adopted_clear(&adopted);
    struct gs_training_config *config = configure(runs[0].name, "twice", NULL);
    const struct gs_checkpoint_options options = {0};
    struct gs_error error = {0};
    gs_assert_error(
        gs_training_adopt(config, shared(runs[0].checkpoint), &options, false, &adopted, &error),
        GS_EXISTS, &error, "train_gpnm1_30", "--force");
    gs_adopted_clear(&adopted);
    gs_assert_ok(
        gs_training_adopt(config, shared(runs[0].checkpoint), &options, true, &adopted, &error),
        &error);
    gs_adopted_clear(&adopted);
    gs_training_config_destroy(config);
}

/* Parameters alone are no run; and another model's run is not this one. */
static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *run, *checkpoint;
        enum gs_status status;
        const char *word;
    } bad[] = {
        {"train_gpnm1", "train_gpnm1/final.safetensors", GS_MISSING, "opt_state"},
        {"train_gpnm1", "train_gdn/train_gdn_final", GS_FORMAT, "embeddings"},
        {"train_gdn", "train_transformer/train_transformer_final", GS_FORMAT, "embedding.weight"},
    };
    if (!shared(runs[0].checkpoint)) skip();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct gs_training_config *config = configure(bad[i].run, "refused", NULL);
        const struct gs_checkpoint_options options = {0};
        struct gs_adopted adopted;
        struct gs_error error = {0};
        gs_assert_error(
            gs_training_adopt(config, shared(bad[i].checkpoint), &options, false, &adopted, &error),
            bad[i].status, &error, bad[i].word, bad[i].checkpoint);
        gs_adopted_clear(&adopted);
        gs_training_config_destroy(config);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_final_weights),
        cmocka_unit_test(test_goes_on),
        cmocka_unit_test(test_existing_run),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
