/* Memory: what is predicted before a run, how it grows, and which setting is proposed; then real
 * runs of the program beside it. */
#include "tests/core/training/child.h"

#include "core/base/environment.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/base/memory_room.h"
#include "core/checkpoint/model_config.h"
#include "core/training/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t MB = 1000000;
static const char *const SMALL = "\"vocab_size\":300,\"d_state\":96,\"d_emb\":48,\"d_ffn\":200,"
                                 "\"n_heads\":4,\"d_key\":16,\"d_val\":32";
static const char *const MIDDLE = "\"vocab_size\":1000,\"d_state\":256,\"d_emb\":128,"
                                  "\"d_ffn\":688,\"n_heads\":8,\"d_key\":32,\"d_val\":64";
static const char *const LARGE = "\"vocab_size\":4000,\"d_state\":768,\"d_emb\":256,"
                                 "\"d_ffn\":2048,\"n_heads\":8,\"d_key\":64,\"d_val\":128,"
                                 "\"n_layers\":2";

/* An outline of such a model. */
static struct gs_model *outline(const char *sizes) {
    char text[512];
    snprintf(text, sizeof text, "{\"kind\":\"gpn_m\",\"model\":{%s}}", sizes);
    struct gs_error error = {0};
    struct gs_json *json = NULL;
    struct gs_model *model = NULL;
    gs_assert_ok(gs_json_parse(text, strlen(text), "test", &json, &error), &error);
    gs_assert_ok(gs_model_outline_from_config(json, "test", &model, &error), &error);
    gs_json_destroy(json);
    return model;
}

static size_t predict(const struct gs_model *model, struct gs_training_setting setting) {
    struct gs_training_memory memory;
    gs_training_memory_predict(model, &setting, 0, &memory);
    return memory.total;
}

static struct gs_training_setting setting_of(size_t batch, size_t steps, size_t every) {
    return (struct gs_training_setting){
        .batch_size = batch, .grad_accum = 1, .seq_len = steps, .recompute_every = every};
}

/* ---- an outline ------------------------------------------------------------------------------ */

/* It has the counts of the model itself, and no values. */
static void test_outline(void **state) {
    (void)state;
    struct gs_model *model = outline(MIDDLE), *whole = NULL;
    const struct gs_parameters *p = gs_model_parameters(model);
    assert_null(p->values);
    struct gs_error error = {0};
    struct gs_json *config = gs_model_config(model);
    gs_assert_ok(gs_model_from_config(config, "test", &whole, &error), &error);
    gs_json_destroy(config);
    const struct gs_parameters *q = gs_model_parameters(whole);
    assert_int_equal(p->tensor_count, q->tensor_count);
    assert_int_equal(p->count, q->count);
    assert_int_equal(p->stride, q->stride);
    for (size_t i = 0; i < p->tensor_count; i++) {
        assert_null(p->tensors[i].values);
        assert_string_equal(p->tensors[i].name, q->tensors[i].name);
        assert_int_equal(p->tensors[i].count, q->tensors[i].count);
    }
    assert_int_equal(predict(model, setting_of(4, 32, 0)), predict(whole, setting_of(4, 32, 0)));
    gs_model_destroy(model);
    gs_model_destroy(whole);
}

/* ---- how it grows ---------------------------------------------------------------------------- */

/* With recomputing, a longer window adds what stands between segments, the tokens, and one vector
 * of the embedding's width a token (the gradient that flows back from the losses), and no
 * activations. */
static void test_growth(void **state) {
    (void)state;
    struct gs_model *model = outline(MIDDLE);
    const size_t d = 256, e = 128, keys = 8 * 32, matrix = 8 * 32 * 64, heads = 8, batch = 4;
    const size_t every = 32, from = 1024, to = 4096;
    size_t longer = predict(model, setting_of(batch, to, every)) -
                    predict(model, setting_of(batch, from, every));
    size_t segments = (to - from) / every, tokens = batch * (to - from);
    size_t kept = 4 * batch * segments * (d + keys + heads + matrix);
    size_t a_token = 4 * e + 4 * sizeof(uint32_t);
    print_message("%zu bytes more, %zu of states kept\n", longer, kept);
    assert_true(longer >= kept && longer <= kept + kept / 100 + tokens * a_token);
    /* without it, every step keeps its activations: at least in[] and the states */
    size_t whole =
        predict(model, setting_of(batch, to, 0)) - predict(model, setting_of(batch, from, 0));
    assert_true(whole > 4 * tokens * (2 * 688 + 4 * d));
    assert_true(whole > 5 * longer);
    /* in T / segment, not in T: doubling the segment halves what is kept, and adds one segment */
    size_t wide = predict(model, setting_of(batch, to, 2 * every)) -
                  predict(model, setting_of(batch, from, 2 * every));
    assert_true(wide < longer);
    /* a cut gradient does not see the window's length at all, but for its tokens */
    struct gs_training_setting cut = setting_of(batch, from, 0),
                               cut_long = setting_of(batch, to, 0);
    cut.truncate_bptt = cut_long.truncate_bptt = 64;
    assert_int_equal(predict(model, cut_long) - predict(model, cut), 4 * tokens);
    gs_model_destroy(model);
}

/* ---- which setting is proposed --------------------------------------------------------------- */

/* For every amount of memory from nothing to plenty: what is proposed fits, and a gentler change
 * would not have. */
static void test_setting(void **state) {
    (void)state;
    struct gs_model *model = outline(LARGE);
    struct gs_training_setting asked = setting_of(12, 512, 0), found;
    asked.grad_accum = 2;
    const size_t plenty = predict(model, asked);
    assert_true(gs_training_setting_find(model, &asked, false, 0, plenty, &found));
    assert_memory_equal(&found, &asked, sizeof found);
    size_t seen[4] = {0};
    for (size_t percent = 1; percent < 100; percent++) {
        size_t most = plenty / 100 * percent;
        if (!gs_training_setting_find(model, &asked, false, 0, most, &found)) {
            assert_true(predict(model, setting_of(1, 1, 0)) > most);
            assert_true(predict(model, found) > most);
            seen[3]++;
            continue;
        }
        assert_true(predict(model, found) <= most);
        assert_int_equal(found.batch_size * found.grad_accum, 24);
        assert_int_equal(found.seq_len, 512);
        bool cut = found.truncate_bptt > 0, split = found.batch_size < 12;
        seen[cut ? 2 : split ? 1 : 0]++;
        /* would a segment of any length alone have done? */
        for (size_t every = 1; every < 512 && (cut || split); every++)
            assert_true(predict(model, setting_of(12, 512, every)) > most);
        /* and one twice as long as proposed? */
        if (!cut && !split) {
            assert_true(found.recompute_every > 0);
            assert_true(predict(model, setting_of(12, 512, 2 * found.recompute_every)) > most);
        }
        for (size_t batch = 1; batch <= 12 && cut; batch++)
            assert_true(12 % batch || predict(model, setting_of(batch, 512, 32)) > most);
    }
    print_message("segments %zu, batches %zu, cuts %zu, none %zu\n", seen[0], seen[1], seen[2],
                  seen[3]);
    for (size_t i = 0; i < 4; i++) assert_true(seen[i] > 0);
    /* a run that goes on keeps its batch */
    for (size_t percent = 1; percent < 100; percent++)
        if (gs_training_setting_find(model, &asked, true, 0, plenty / 100 * percent, &found))
            assert_int_equal(found.batch_size, 12);
    gs_model_destroy(model);
}

/* ---- real runs ------------------------------------------------------------------------------- */

/* A config of two steps on random tokens; gives its path. */
static const char *write_config(const char *sizes, size_t vocab, size_t batch, size_t steps) {
    enum { TOKENS = 40000 };
    static uint32_t tokens[TOKENS];
    for (size_t i = 0; i < TOKENS; i++) tokens[i] = (uint32_t)(i * 2654435761u % vocab);
    gs_scratch_file("tokens.bin", tokens, sizeof tokens);
    char text[2048];
    snprintf(text, sizeof text,
             "{\"name\":\"run\",\"kind\":\"gpn_m\",\"model\":{%s},\"training\":{\"batch_size\":%zu,"
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

#ifndef __SANITIZE_ADDRESS__ /* shadow memory is no memory of the run */

static void compare(const char *what, double predicted, double peak) {
    print_message("%-28s predicted %.1f MB, peak %.1f MB, ratio %.3f\n", what, predicted / 1e6,
                  peak / 1e6, predicted / peak);
    assert_true(predicted / peak > 0.9 && predicted / peak < 1.1);
}

struct real_run {
    const char *name;
    char sizes; /* s, m, l */
    size_t batch, steps;
    const char *set;
    int threads;
    bool resumed;
};

static const char *config_of(const struct real_run *run) {
    if (run->sizes == 's') return write_config(SMALL, 300, run->batch, run->steps);
    if (run->sizes == 'm') return write_config(MIDDLE, 1000, run->batch, run->steps);
    return write_config(LARGE, 4000, run->batch, run->steps);
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

/* Data far larger than the model add nothing: what was read is let go. */
static void test_large_data(void **state) {
    (void)state;
    if (!child_program()) skip();
    const char *config = write_config(SMALL, 300, 4, 64);
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
    const char *config = write_config(MIDDLE, 1000, 16, 512), *folder = gs_scratch_path("refused");
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

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outline), cmocka_unit_test(test_growth),
        cmocka_unit_test(test_setting),
#ifndef __SANITIZE_ADDRESS__
        cmocka_unit_test(test_peak),    cmocka_unit_test(test_large_data),
        cmocka_unit_test(test_refused),
#endif
    };
    gs_threads_set(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
