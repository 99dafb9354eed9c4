/* New files take their places together, or the old ones stay. */
#include "tests/support/support.h"

#include "core/base/file.h"
#include "core/training/staged.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *put(const char *folder, const char *name, const char *text) {
    struct gs_error error = {0};
    gs_assert_ok(gs_folder_create(gs_scratch_path("%s", folder), &error), &error);
    const char *path = gs_scratch_path("%s/%s", folder, name);
    gs_assert_ok(gs_file_write(path, true, text, strlen(text), &error), &error);
    return path;
}

static void holds(const char *path, const char *expected) {
    struct gs_mapped_file file;
    struct gs_error error = {0};
    gs_assert_ok(gs_file_map(path, &file, &error), &error);
    assert_int_equal(file.size, strlen(expected));
    assert_memory_equal(file.bytes, expected, file.size);
    gs_file_unmap(&file);
}

static void stage(struct gs_staged *staged, const char *path, const char *text) {
    struct gs_error error = {0};
    const char *beside = NULL;
    gs_assert_ok(gs_staged_add(staged, path, &beside, &error), &error);
    gs_assert_ok(gs_file_write(beside, true, text, strlen(text), &error), &error);
}

static void holds_files(const char *folder, size_t expected) {
    char **names;
    size_t count;
    gs_assert_ok(gs_folder_list(gs_scratch_path("%s", folder), &names, &count, NULL), NULL);
    gs_free_names(names, count);
    assert_int_equal(count, expected);
}

static void test_commit(void **state) {
    (void)state;
    struct gs_staged staged = {0};
    struct gs_error error = {0};
    const char *a = put("good", "a", "old a"), *b = gs_scratch_path("good/b");
    stage(&staged, a, "new a");
    stage(&staged, b, "new b");
    holds(a, "old a");
    assert_false(gs_path_exists(b));
    gs_assert_ok(gs_staged_commit(&staged, &error), &error);
    gs_staged_close(&staged);
    holds(a, "new a");
    holds(b, "new b");
    holds_files("good", 2);
}

static void test_close_alone(void **state) {
    (void)state;
    struct gs_staged staged = {0};
    const char *a = put("closed", "a", "old a");
    stage(&staged, a, "new a");
    gs_staged_close(&staged);
    holds(a, "old a");
    holds_files("closed", 1);
}

/* The third has vanished: the first two are taken back, the one that replaced a file and the one
 * that did not. */
static void test_taken_back(void **state) {
    (void)state;
    struct gs_staged staged = {0};
    struct gs_error error = {0};
    const char *a = put("back", "a", "old a"), *b = gs_scratch_path("back/b"),
               *c = put("back", "c", "old c");
    stage(&staged, a, "new a");
    stage(&staged, b, "new b");
    stage(&staged, c, "new c");
    assert_int_equal(unlink(staged.files[2].beside), 0);
    gs_assert_error(gs_staged_commit(&staged, &error), GS_MISSING, &error, "No such file", c);
    gs_staged_close(&staged);
    holds(a, "old a");
    assert_false(gs_path_exists(b));
    holds(c, "old c");
    holds_files("back", 2);
}

/* A link stays one, and what it leads to is replaced. */
static void test_link(void **state) {
    (void)state;
    struct gs_staged staged = {0};
    struct gs_error error = {0};
    const char *target = put("far", "target", "old"), *path = put("near", "x", "");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(target, path), 0);
    stage(&staged, path, "new");
    gs_assert_ok(gs_staged_commit(&staged, &error), &error);
    gs_staged_close(&staged);
    struct stat info;
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    holds(target, "new");
    holds_files("near", 1);
    holds_files("far", 1);
}

static void test_refused(void **state) {
    (void)state;
    struct gs_staged staged = {0};
    struct gs_error error = {0};
    const char *beside = NULL;
    gs_assert_error(gs_staged_add(&staged, gs_scratch_folder(), &beside, &error), GS_IO, &error,
                    "folder");
    gs_error_where(&error, "%s", "elsewhere");
    gs_assert_ok(gs_staged_add(&staged, gs_scratch_path("place"), &beside, &error), &error);
    gs_error_where(&error, "%s", beside);
    gs_staged_name_place(&staged, &error);
    assert_string_equal(error.where, gs_scratch_path("place"));
    gs_staged_close(&staged);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_commit),
                                       cmocka_unit_test(test_close_alone),
                                       cmocka_unit_test(test_taken_back),
                                       cmocka_unit_test(test_link), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
