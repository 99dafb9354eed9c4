/* Memory of the real program: what it predicts is what the system counts, and what cannot fit is
 * refused with a setting that fits. */
#include "tests/core/training/child.h"
#include "tests/core/training/memory_models.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A config of two steps on random tokens; gives its path. The kind follows from the model. */
static const char *write_config(const char *sizes, size_t vocab, size_t batch, size_t steps) {
    enum { TOKENS = 40000 };
    static uint32_t tokens[TOKENS];
    for (size_t i = 0; i < TOKENS; i++) tokens[i] = (uint32_t)(i * 2654435761u % vocab);
    gs_scratch_file("tokens.bin", tokens, sizeof tokens);
    char text[2048];
    snprintf(text, sizeof text,
             "{\"name\":\"run\",\"model\":{%s},\"training\":{\"batch_size\":%zu,"
             "\"seq_len\":%zu,\"grad_accum\":1,\"total_steps\":2,\"seed\":1},"
             "\"optimizer\":{\"learning_rate\":0.001,\"adam_beta1\":0.9,\"adam_beta2\":0.95,"
             "\"weight_decay\":0.1,\"warmup_steps\":1,\"min_lr_ratio\":0.1,\"grad_clip_norm\":1},"
             "\"logging\":{\"log_every\":1,\"save_every\":1},\"dirs\":{\"data\":\"tokens.bin\"}}",
             sizes, batch, steps);
    return gs_scratch_file("memory.json", text, strlen(text));
}

static double result_value(const char *path, const char *name) {
    struct gs_error error = {0};
    struct gs_json *json = NULL;
    gs_assert_ok(gs_json_read_file(path, &json, &error), &error);
    double value = -1;
    gs_json_number(gs_json_get(gs_json_get(gs_json_get(json, "values"), name), "value"), &value);
    gs_json_destroy(json);
    return value;
}

static void compare(const char *what, double predicted, double peak) {
    print_message("%-28s predicted %.1f MB, peak %.1f MB, ratio %.3f\n", what, predicted / 1e6,
                  peak / 1e6, predicted / peak);
    assert_true(predicted / peak > 0.9 && predicted / peak < 1.1);
}

struct real_run {
    const char *name;
    char sizes; /* s, m, l; t, g */
    size_t batch, steps;
    const char *set;
    int threads;
    bool resumed;
};

static const char *config_of(const struct real_run *run) {
    if (run->sizes == 's') return write_config(SMALL_MODEL, 300, run->batch, run->steps);
    if (run->sizes == 'm') return write_config(MIDDLE_MODEL, 1000, run->batch, run->steps);
    if (run->sizes == 't') return write_config(TRANSFORMER_MODEL, 1000, run->batch, run->steps);
    if (run->sizes == 'g') return write_config(GDN_MODEL, 1000, run->batch, run->steps);
    return write_config(LARGE_MODEL, 4000, run->batch, run->steps);
}

/* Reading three times the parameters from a file takes no more memory than is taken anyway. */
static void resume(const struct real_run *run, const char *config, const char *folder,
                   double predicted) {
    const char *arguments[] = {config,   "-o", folder, "--resume", run->set ? "--set" : NULL,
                               run->set, NULL};
    const struct child_limits limits = {.threads = run->threads};
    struct child_end end;
    child_run(arguments, &limits, &end);
    assert_int_equal(end.exit_code, 0);
    compare("  resumed", predicted, (double)end.peak);
}

static void run_and_compare(const struct real_run *run) {
    const char *config = config_of(run), *json = gs_scratch_path("memory_results.json");
    const char *folder = gs_scratch_path("memory");
    const char *arguments[] = {config,
                               "-o",
                               folder,
                               "--force",
                               "--json",
                               json,
                               "--steps",
                               run->resumed ? "1" : "2",
                               run->set ? "--set" : NULL,
                               run->set,
                               NULL};
    const struct child_limits limits = {.threads = run->threads};
    struct child_end end;
    child_run(arguments, &limits, &end);
    if (end.exit_code != 0) print_message("%s\n", end.said);
    assert_int_equal(end.exit_code, 0);
    double predicted = result_value(json, "train.memory.predicted");
    compare(run->name, predicted, (double)end.peak);
    /* what it says of itself is the same, before and after */
    gs_assert_near("peak", result_value(json, "train.memory.peak"), (double)end.peak, 0, 0.02);
    char said[64];
    snprintf(said, sizeof said, "takes %.0f MB", predicted / 1e6 + 0.499999);
    assert_non_null(strstr(end.said, said));
    if (run->resumed) resume(run, config, folder, predicted);
}

/* What the program predicts of itself is what the system counted of it, within 10 %. */
static void test_peak(void **state) {
    (void)state;
    static const struct real_run runs[] = {
        {"small", 's', 4, 64, NULL, 1, true},
        {"small, batch 1", 's', 1, 64, NULL, 2, false},
        {"small, long", 's', 4, 1024, NULL, 2, false},
        {"small, long, segments", 's', 4, 1024, "training.checkpoint_every=32", 2, false},
        {"small, longer, segments", 's', 2, 4096, "training.checkpoint_every=64", 1, false},
        {"small, cut", 's', 4, 1024, "training.truncate_bptt=64", 1, false},
        {"middle, batch 32", 'm', 32, 32, NULL, 3, false},
        {"middle, segments", 'm', 8, 128, "training.checkpoint_every=64", 2, true},
        {"middle, bf16", 'm', 8, 32, "training.bf16=true", 2, false},
        {"middle, accumulated", 'm', 8, 16, "training.grad_accum=2", 2, false},
        {"large", 'l', 2, 16, NULL, 2, true},
    };
    if (!child_program()) skip();
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) run_and_compare(&runs[i]);
}

/* The same of the models that run whole windows at once. */
static void test_peak_of_baselines(void **state) {
    (void)state;
    static const struct real_run runs[] = {
        {"transformer", 't', 8, 128, NULL, 2, true},
        {"transformer, long", 't', 2, 1024, NULL, 2, false},
        {"transformer, recomputed", 't', 8, 256, "training.checkpoint_every=1", 2, false},
        {"transformer, bf16", 't', 4, 128, "training.bf16=true", 1, false},
        {"gdn", 'g', 8, 128, NULL, 2, true},
        {"gdn, long", 'g', 2, 1024, NULL, 2, false},
        {"gdn, recomputed", 'g', 8, 256, "training.checkpoint_every=64", 2, false},
        {"gdn, cut", 'g', 4, 512, "training.truncate_bptt=64", 1, false},
        {"gdn, bf16", 'g', 4, 128, "training.bf16=true", 1, false},
    };
    if (!child_program()) skip();
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) run_and_compare(&runs[i]);
}

/* Data far larger than the model add nothing: what was read is let go. */
static void test_large_data(void **state) {
    (void)state;
    if (!child_program()) skip();
    const char *config = write_config(SMALL_MODEL, 300, 4, 64);
    const size_t count = 30 * 1000 * 1000;
    uint32_t *tokens = calloc(count, sizeof *tokens);
    assert_non_null(tokens);
    gs_scratch_file("large.bin", tokens, count * sizeof *tokens);
    free(tokens);
    const char *json = gs_scratch_path("large.json");
    const char *arguments[] = {
        config, "-o", gs_scratch_path("large_data"), "--set", "dirs.data=large.bin", "--json",
        json,   NULL};
    struct child_end end;
    child_run(arguments, NULL, &end);
    assert_int_equal(end.exit_code, 0);
    compare("120 MB of data", result_value(json, "train.memory.predicted"), (double)end.peak);
    remove(gs_scratch_path("large.bin"));
}

/* Remove a folder of files. */
static void remove_folder(const char *folder) {
    struct gs_error error = {0};
    char **names;
    size_t count;
    gs_assert_ok(gs_folder_list(folder, &names, &count, &error), &error);
    for (size_t i = 0; i < count; i++) {
        char *path = gs_path_join(folder, names[i]);
        remove(path);
        gs_free(path);
    }
    gs_free_names(names, count);
    assert_int_equal(remove(folder), 0);
}

/* In `space` bytes of address space the run is refused before it writes or allocates. */
static void refuse(const char *config, const char *folder, size_t space, struct child_end *end) {
    const char *arguments[] = {config, "-o", folder, NULL};
    const struct child_limits limits = {.address_space = space};
    child_run(arguments, &limits, end);
    print_message("%s", end->said);
    assert_int_equal(end->exit_code, 3);
    assert_non_null(strstr(end->said, "would not fit into memory"));
    assert_non_null(strstr(end->said, "ulimit -v"));
    assert_true(end->peak < 40 * MB); /* the program itself */
    assert_false(gs_path_exists(folder));
}

/* The options of the message, as they stand, make a run that fits. */
static void take_advice(const char *config, const char *folder, size_t space, char *said) {
    const char *arguments[32] = {config, "-o", folder, "--steps", "1"};
    size_t count = 5;
    char *word = strstr(said, "--set ");
    assert_non_null(word);
    for (word = strtok(word, " "); word && strcmp(word, "takes") != 0; word = strtok(NULL, " "))
        arguments[count++] = word;
    const struct child_limits limits = {.address_space = space};
    struct child_end end;
    child_run(arguments, &limits, &end);
    if (end.exit_code != 0) print_message("%s\n", end.said);
    assert_int_equal(end.exit_code, 0);
    remove_folder(folder);
}

static void test_refused(void **state) {
    (void)state;
    if (!child_program()) skip();
    const char *config = write_config(MIDDLE_MODEL, 1000, 16, 512),
               *folder = gs_scratch_path("refused");
    struct child_end end;
    /* how much of the address space the program itself takes differs from system to system */
    const size_t some = 500 * MB;
    refuse(config, folder, some, &end);
    double room = 0;
    assert_int_equal(sscanf(strstr(end.said, "at most "), "at most %lf", &room), 1);
    const size_t own = some - (size_t)room * MB;
    refuse(config, folder, own + 250 * MB, &end);
    assert_non_null(strstr(end.said, "the same result")); /* segments alone */
    take_advice(config, folder, own + 250 * MB, end.said);
    refuse(config, folder, own + 70 * MB, &end);
    assert_non_null(strstr(end.said, "batch_size"));
    take_advice(config, folder, own + 70 * MB, end.said);
    /* here nothing helps */
    refuse(config, folder, own + 40 * MB, &end);
    assert_non_null(strstr(end.said, "the smallest takes"));
    /* and who knows better is not locked out, until memory really ends */
    const char *arguments[] = {config, "-o", folder, "--ignore-memory", NULL};
    const struct child_limits limits = {.address_space = own + 40 * MB};
    child_run(arguments, &limits, &end);
    print_message("%s", end.said);
    assert_int_equal(end.exit_code, 3);
    assert_null(strstr(end.said, "would not fit"));
    assert_non_null(strstr(end.said, "not enough memory"));
    assert_false(gs_path_exists(folder));
}

#ifdef __SANITIZE_ADDRESS__
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peak),
        cmocka_unit_test(test_peak_of_baselines),
        cmocka_unit_test(test_large_data),
        cmocka_unit_test(test_refused),
    };
    if (!sanitized) return cmocka_run_group_tests(tests, NULL, NULL);
    print_message("skipped: the sanitizer's shadow memory is no memory of the run\n");
    return 77;
}
