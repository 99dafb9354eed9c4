/* An output folder appears whole or not at all. */
#include "core/base/file.h"
#include "core/base/memory.h"
#include "reports/page/folder.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

static void put(const char *folder, const char *name, const char *text) {
    char *path = gs_path_join(folder, name);
    gs_assert_ok(gs_file_write(path, true, text, strlen(text), NULL), NULL);
    gs_free(path);
}

static bool has(const char *folder, const char *name) {
    char *path = gs_path_join(folder, name);
    bool there = gs_path_exists(path);
    gs_free(path);
    return there;
}

/* Entries in the parent, hidden ones too. */
static size_t entries(const char *folder) {
    char **names;
    size_t count;
    gs_assert_ok(gs_folder_list(folder, &names, &count, NULL), NULL);
    gs_free_names(names, count);
    return count;
}

static void appears_at_commit(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_folder folder;
    const char *parent = gs_scratch_path("a/b"), *path = gs_scratch_path("a/b/out/");
    gs_assert_ok(gs_folder_open(&folder, path, &error), &error);
    put(folder.temporary, "x", "1");
    assert_false(gs_path_exists(path));
    gs_assert_ok(gs_folder_commit(&folder, false, &error), &error);
    gs_folder_abandon(&folder);
    assert_true(has(path, "x"));
    assert_int_equal(entries(parent), 1);
    struct stat info;
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0777 & ~mask);
}

static void abandoned_leaves_nothing(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_folder folder;
    const char *parent = gs_scratch_path("c"), *path = gs_scratch_path("c/out");
    gs_assert_ok(gs_folder_open(&folder, path, &error), &error);
    char *deep = gs_path_join(folder.temporary, "d/e");
    gs_assert_ok(gs_folder_create(deep, &error), &error);
    put(deep, "x", "1");
    gs_free(deep);
    gs_folder_abandon(&folder);
    gs_folder_abandon(&folder); /* twice is fine */
    assert_int_equal(entries(parent), 0);
}

static void replaces_with_force_alone(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_folder folder;
    const char *parent = gs_scratch_path("f"), *path = gs_scratch_path("f/out");
    gs_assert_ok(gs_folder_create(path, &error), &error);
    put(path, "old", "1");
    gs_assert_ok(gs_folder_open(&folder, path, &error), &error);
    put(folder.temporary, "new", "1");
    gs_assert_error(gs_folder_commit(&folder, false, &error), GS_EXISTS, &error, "exists", "out");
    assert_true(has(path, "old"));
    gs_assert_ok(gs_folder_commit(&folder, true, &error), &error);
    gs_folder_abandon(&folder);
    assert_true(has(path, "new"));
    assert_false(has(path, "old"));
    assert_int_equal(entries(parent), 1);
}

/* What a killed process left is swept; what a living one holds, or a young one, is not. */
static void sweeps_the_dead(void **state) {
    (void)state;
    struct gs_error error;
    const char *parent = gs_scratch_path("g"), *path = gs_scratch_path("g/out");
    const char *dead = gs_scratch_path("g/.out.gpnscope-deadxx");
    const char *young = gs_scratch_path("g/.out.gpnscope-youngx");
    gs_assert_ok(gs_folder_create(dead, &error), &error);
    gs_assert_ok(gs_folder_create(young, &error), &error);
    put(dead, "x", "1");
    struct utimbuf long_ago = {1000000000, 1000000000};
    assert_int_equal(utime(dead, &long_ago), 0);
    struct gs_folder living, folder;
    gs_assert_ok(gs_folder_open(&living, path, &error), &error);
    assert_false(gs_path_exists(dead));
    assert_true(gs_path_exists(young));
    assert_int_equal(utime(living.temporary, &long_ago), 0);
    gs_assert_ok(gs_folder_open(&folder, path, &error), &error);
    assert_true(gs_path_exists(living.temporary));
    gs_folder_abandon(&folder);
    gs_folder_abandon(&living);
    assert_int_equal(entries(parent), 1); /* the young one */
}

/* A link inside an old output is removed, what it points at is not. */
static void links_are_not_followed(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_folder folder;
    const char *precious = gs_scratch_path("h/precious"), *path = gs_scratch_path("h/out");
    gs_assert_ok(gs_folder_create(precious, &error), &error);
    put(precious, "x", "1");
    gs_assert_ok(gs_folder_create(path, &error), &error);
    char *link_path = gs_path_join(path, "link");
    assert_int_equal(symlink(precious, link_path), 0);
    gs_free(link_path);
    gs_assert_ok(gs_folder_open(&folder, path, &error), &error);
    gs_assert_ok(gs_folder_commit(&folder, true, &error), &error);
    gs_folder_abandon(&folder);
    assert_true(has(precious, "x"));
}

static void cannot_write(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_folder folder;
    const char *file = gs_scratch_file("plain", "x", 1);
    char path[1200];
    snprintf(path, sizeof path, "%s/out", file);
    enum gs_status status = gs_folder_open(&folder, path, &error);
    assert_int_not_equal(status, GS_OK);
    assert_non_null(strstr(error.where, "plain"));
    gs_folder_abandon(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appears_at_commit),         cmocka_unit_test(abandoned_leaves_nothing),
        cmocka_unit_test(replaces_with_force_alone), cmocka_unit_test(sweeps_the_dead),
        cmocka_unit_test(links_are_not_followed),    cmocka_unit_test(cannot_write)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
