/* Names of a run's files, and which files of an earlier run are in the way. */
#include "tests/support/support.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/training/run_files.h"

#include <stdio.h>
#include <string.h>

static const char *put(const char *folder, const char *name) {
    char relative[256];
    struct gs_error error = {0};
    gs_assert_ok(gs_folder_create(gs_scratch_path("%s", folder), &error), &error);
    snprintf(relative, sizeof relative, "%s/%s", folder, name);
    return gs_scratch_file(relative, "x", 1);
}

static void test_names(void **state) {
    (void)state;
    const struct gs_run_files files = {"a/ck", "a/log", "run_1"};
    const struct {
        char *path;
        const char *expected;
    } cases[] = {
        {gs_run_file_path(&files, GS_RUN_MODEL, 0), "a/ck/run_1_0.safetensors"},
        {gs_run_file_path(&files, GS_RUN_MODEL, 10000), "a/ck/run_1_10000.safetensors"},
        {gs_run_file_path(&files, GS_RUN_MODEL, GS_RUN_FINAL), "a/ck/run_1_final.safetensors"},
        {gs_run_file_path(&files, GS_RUN_RESUME, 7), "a/ck/run_1_7.resume.safetensors"},
        {gs_run_log_path(&files), "a/log/run_1_train_log.csv"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(cases[i].path, cases[i].expected);
        gs_free(cases[i].path);
    }
}

/* Every file of the run is in the way of a new one; those of other runs never are. */
static void test_clear(void **state) {
    (void)state;
    static const char *const mine[] = {
        "run_0.safetensors",     "run_20.safetensors",           "run_20.resume.safetensors",
        "run_final.safetensors", "run_final.resume.safetensors", "run_train_log.csv",
        "run_train_speed.csv"};
    static const char *const others[] = {"run_2_20.safetensors",
                                         "run_.safetensors",
                                         "run_20.safetensors.bak",
                                         "run_20x.safetensors",
                                         "run_finale.safetensors",
                                         "runs_20.safetensors",
                                         "run_-1.safetensors",
                                         "xrun_20.safetensors",
                                         "run_2_train_log.csv",
                                         "run_20.json",
                                         "run_99999999999999999999.safetensors"};
    const char *folder = gs_scratch_path("clear");
    const struct gs_run_files files = {folder, folder, "run"};
    struct gs_error error = {0};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) put("clear", others[i]);
    gs_assert_ok(gs_run_files_check(&files, 0, false, &error), &error);
    for (size_t i = 0; i < sizeof mine / sizeof mine[0]; i++) {
        const char *path = put("clear", mine[i]);
        gs_assert_error(gs_run_files_check(&files, 0, false, &error), GS_EXISTS, &error, mine[i],
                        "--resume", "--force");
        assert_true(gs_path_exists(path));
        gs_assert_ok(gs_run_files_check(&files, 0, true, &error), &error);
        assert_true(gs_path_exists(path));
        gs_assert_ok(gs_run_files_remove(&files, 0, NULL, 0, &error), &error);
        assert_false(gs_path_exists(path));
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_true(gs_path_exists(gs_scratch_path("clear/%s", others[i])));
}

/* What the new run has put there stays when the earlier run's files go. */
static void test_remove_but(void **state) {
    (void)state;
    const char *folder = gs_scratch_path("but");
    const struct gs_run_files files = {folder, folder, "run"};
    struct gs_error error = {0};
    const char *const new_files[] = {put("but", "run_0.safetensors"),
                                     put("but", "run_train_log.csv")};
    const char *const old[] = {put("but", "run_train_speed.csv"), put("but", "run_5.safetensors"),
                               put("but", "run_0.resume.safetensors")};
    gs_assert_ok(gs_run_files_remove(&files, 0, new_files, 2, &error), &error);
    for (size_t i = 0; i < 2; i++) assert_true(gs_path_exists(new_files[i]));
    for (size_t i = 0; i < 3; i++) assert_false(gs_path_exists(old[i]));
}

/* Going on from step 20, only what is later is in the way, and the log is not. */
static void test_clear_later(void **state) {
    (void)state;
    const char *folder = gs_scratch_path("later");
    const struct gs_run_files files = {folder, folder, "run"};
    struct gs_error error = {0};
    put("later", "run_0.safetensors");
    put("later", "run_20.safetensors");
    put("later", "run_20.resume.safetensors");
    put("later", "run_train_log.csv");
    gs_assert_ok(gs_run_files_check(&files, 21, false, &error), &error);
    const char *later = put("later", "run_21.safetensors");
    gs_assert_error(gs_run_files_check(&files, 21, false, &error), GS_EXISTS, &error, "run_21");
    gs_assert_ok(gs_run_files_remove(&files, 21, NULL, 0, &error), &error);
    assert_false(gs_path_exists(later));
    assert_true(gs_path_exists(gs_scratch_path("later/run_20.safetensors")));
    /* a final one that does not say its step counts as later */
    put("later", "run_final.safetensors");
    gs_assert_error(gs_run_files_check(&files, 21, false, &error), GS_EXISTS, &error, "run_final");
}

static void test_no_folder(void **state) {
    (void)state;
    const char *folder = gs_scratch_path("none/at/all");
    const struct gs_run_files files = {folder, folder, "run"};
    struct gs_error error = {0};
    gs_assert_ok(gs_run_files_check(&files, 0, false, &error), &error);
    char *path = NULL;
    gs_assert_error(gs_run_files_latest(&files, &path, &error), GS_MISSING, &error, folder,
                    "without --resume");
    assert_null(path);
    gs_assert_ok(gs_run_files_prepare(&files, &error), &error);
    assert_true(gs_path_is_folder(folder));
    const char *file = gs_scratch_file("file", "x", 1);
    const struct gs_run_files blocked = {file, folder, "run"};
    assert_true(gs_run_files_prepare(&blocked, &error) != GS_OK);
}

static void test_latest(void **state) {
    (void)state;
    const char *folder = gs_scratch_path("latest");
    const struct gs_run_files files = {folder, folder, "run"};
    struct gs_error error = {0};
    put("latest", "run_9.resume.safetensors");
    put("latest", "run_100.resume.safetensors");
    put("latest", "run_200.safetensors"); /* a model alone cannot be gone on from */
    put("latest", "other_300.resume.safetensors");
    char *path = NULL;
    gs_assert_ok(gs_run_files_latest(&files, &path, &error), &error);
    assert_string_equal(path, gs_scratch_path("latest/run_100.resume.safetensors"));
    gs_free(path);
}

/* The newest `keep` steps stay, and what is no checkpoint in the middle always does. */
static void test_prune(void **state) {
    (void)state;
    static const char *const old[] = {"run_5.safetensors", "run_5.resume.safetensors",
                                      "run_40.safetensors", "run_99.resume.safetensors"};
    static const char *const stays[] = {
        "run_100.safetensors", "run_100.resume.safetensors", "run_1000.safetensors",
        "run_0.safetensors",   "run_final.safetensors",      "run_final.resume.safetensors",
        "run_train_log.csv",   "run_2_5.safetensors",        "other_5.safetensors"};
    const char *folder = gs_scratch_path("prune");
    const struct gs_run_files files = {folder, folder, "run"};
    for (size_t i = 0; i < 4; i++) put("prune", old[i]);
    for (size_t i = 0; i < 9; i++) put("prune", stays[i]);
    gs_run_files_prune(&files, 5, NULL, 0);
    for (size_t i = 0; i < 4; i++) assert_true(gs_path_exists(gs_scratch_path("prune/%s", old[i])));
    gs_run_files_prune(&files, 2, NULL, 0);
    for (size_t i = 0; i < 4; i++)
        assert_false(gs_path_exists(gs_scratch_path("prune/%s", old[i])));
    for (size_t i = 0; i < 9; i++)
        assert_true(gs_path_exists(gs_scratch_path("prune/%s", stays[i])));
    gs_run_files_prune(&files, 1, NULL, 0);
    assert_false(gs_path_exists(gs_scratch_path("prune/run_100.safetensors")));
    assert_true(gs_path_exists(gs_scratch_path("prune/run_1000.safetensors")));
}

/* Of the steps that are to stay, the models do; what resuming from them needs goes as the others'.
 */
static void test_prune_but(void **state) {
    (void)state;
    static const char *const gone[] = {"run_5.safetensors", "run_5.resume.safetensors",
                                       "run_8.resume.safetensors", "run_16.resume.safetensors"};
    static const char *const stays[] = {"run_8.safetensors", "run_16.safetensors",
                                        "run_32.safetensors", "run_32.resume.safetensors"};
    static const size_t steps[] = {16, 8, 64};
    const char *folder = gs_scratch_path("prune_but");
    const struct gs_run_files files = {folder, folder, "run"};
    for (size_t i = 0; i < 4; i++) put("prune_but", gone[i]);
    for (size_t i = 0; i < 4; i++) put("prune_but", stays[i]);
    gs_run_files_prune(&files, 1, steps, 3);
    for (size_t i = 0; i < 4; i++) {
        assert_false(gs_path_exists(gs_scratch_path("prune_but/%s", gone[i])));
        assert_true(gs_path_exists(gs_scratch_path("prune_but/%s", stays[i])));
    }
}

/* What a kill left of this run goes, and nothing else. */
static void test_sweep(void **state) {
    (void)state;
    static const char *const left[] = {
        ".run_5.safetensors.gpnscope-12-0",  ".run_final.resume.safetensors.gpnscope-12-1",
        ".run_train_log.csv.gpnscope-7-0",   ".run_train_speed.csv.gpnscope-7-0",
        ".run_0.safetensors.gpnscope-9-new", "..run_0.safetensors.gpnscope-9-new.gpnscope-9-0"};
    static const char *const others[] = {".run_2_5.safetensors.gpnscope-12-0", ".run_5.safetensors",
                                         "run_5.safetensors.gpnscope-12-0",    ".gpnscope-1-1",
                                         ".other_5.safetensors.gpnscope-12-0", "run_5.safetensors"};
    const char *folder = gs_scratch_path("sweep");
    const struct gs_run_files files = {folder, folder, "run"};
    for (size_t i = 0; i < 6; i++) put("sweep", left[i]);
    for (size_t i = 0; i < 6; i++) put("sweep", others[i]);
    gs_run_files_sweep(&files);
    for (size_t i = 0; i < 6; i++)
        assert_false(gs_path_exists(gs_scratch_path("sweep/%s", left[i])));
    for (size_t i = 0; i < 6; i++)
        assert_true(gs_path_exists(gs_scratch_path("sweep/%s", others[i])));
}

static void test_own(void **state) {
    (void)state;
    const struct gs_run_files files = {gs_scratch_path("own"), "", "run"};
    put("own", "run_5.safetensors");
    assert_true(gs_run_files_own(&files, gs_scratch_path("own/../own/./run_5.safetensors")));
    assert_false(gs_run_files_own(&files, gs_scratch_path("own/other_5.safetensors")));
    assert_false(gs_run_files_own(&files, gs_scratch_path("run_5.safetensors")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),       cmocka_unit_test(test_clear),
        cmocka_unit_test(test_clear_later), cmocka_unit_test(test_remove_but),
        cmocka_unit_test(test_no_folder),   cmocka_unit_test(test_latest),
        cmocka_unit_test(test_prune),       cmocka_unit_test(test_prune_but),
        cmocka_unit_test(test_sweep),       cmocka_unit_test(test_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
