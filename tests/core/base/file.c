/* Files and folders: maps, paths, outputs that are whole or absent, and the faults of disks. */
#include "tests/support/support.h"

#include "core/base/file.h"
#include "core/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

enum { NOBODY = 65534 };

static void expect_content(const char *path, const char *text) {
    struct gs_mapped_file file;
    struct gs_error error;
    gs_assert_ok(gs_file_map(path, &file, &error), &error);
    assert_int_equal(file.size, strlen(text));
    if (file.size) assert_memory_equal(file.bytes, text, file.size);
    gs_file_unmap(&file);
}

static size_t count_files(const char *folder) {
    char **names;
    size_t count;
    struct gs_error error;
    gs_assert_ok(gs_folder_list(folder, &names, &count, &error), &error);
    gs_free_names(names, count);
    return count;
}

/* A folder for one test. */
static const char *fresh_folder(const char *name) {
    const char *path = gs_scratch_path("%s", name);
    assert_int_equal(mkdir(path, 0755), 0);
    return path;
}

static void test_map(void **state) {
    (void)state;
    struct gs_mapped_file file;
    struct gs_error error;
    expect_content(gs_scratch_file("some", "some text", 9), "some text");
    gs_assert_ok(gs_file_map(gs_scratch_file("empty", "", 0), &file, &error), &error);
    assert_non_null(file.bytes);
    assert_int_equal(file.size, 0);
    gs_file_unmap(&file);
    gs_file_unmap(&file); /* twice is fine */
    assert_null(file.bytes);
    gs_assert_error(gs_file_map(gs_scratch_path("absent"), &file, &error), GS_MISSING, &error,
                    "absent", strerror(ENOENT));
    gs_assert_error(gs_file_map(gs_scratch_path("no/such/folder"), &file, &error), GS_MISSING,
                    &error, "no/such/folder");
    gs_assert_error(gs_file_map(gs_scratch_folder(), &file, &error), GS_IO, &error, "a folder");
    gs_assert_error(gs_file_map("/dev/zero", &file, &error), GS_IO, &error, "/dev/zero", "device");
    const char *pipe_path = gs_scratch_path("pipe");
    assert_int_equal(mkfifo(pipe_path, 0600), 0); /* must not wait for a writer */
    gs_assert_error(gs_file_map(pipe_path, &file, &error), GS_IO, &error, "pipe");
    assert_null(file.bytes);
}

static void expect_path(char *path, const char *expected) {
    assert_string_equal(path, expected);
    gs_free(path);
}

static void test_paths(void **state) {
    (void)state;
    expect_path(gs_path_join("a", "b"), "a/b");
    expect_path(gs_path_join("a/", "b"), "a/b");
    expect_path(gs_path_join("", "b"), "b");
    expect_path(gs_path_join("/", "b"), "/b");
    expect_path(gs_path_join("a", "/b"), "/b");
    expect_path(gs_path_join(".", "b"), "b");
    expect_path(gs_path_join(".", "././b"), "b");
    expect_path(gs_path_join("a", "./b"), "a/b");
    expect_path(gs_path_join("./a", "../b"), "./a/../b");
    expect_path(gs_path_join("a", "./"), "a/./");
    expect_path(gs_path_join("a", "."), "a/.");
    expect_path(gs_path_folder("a"), ".");
    expect_path(gs_path_folder("a/b"), "a");
    expect_path(gs_path_folder("a//b"), "a");
    expect_path(gs_path_folder("a/b/"), "a");
    expect_path(gs_path_folder("/a"), "/");
    expect_path(gs_path_folder("/"), "/");
    expect_path(gs_path_folder(""), ".");
    assert_true(gs_path_is_folder(gs_scratch_folder()));
    assert_false(gs_path_is_folder(gs_scratch_path("absent")));
    assert_int_equal(symlink("nowhere", gs_scratch_path("dangling")), 0);
    assert_true(gs_path_exists(gs_scratch_path("dangling")));
    assert_false(gs_path_exists(gs_scratch_path("absent")));
}

static void test_folders(void **state) {
    (void)state;
    struct gs_error error;
    char **names;
    size_t count;
    const char *deep = gs_scratch_path("x/y/z");
    gs_assert_ok(gs_folder_create(deep, &error), &error);
    gs_assert_ok(gs_folder_create(deep, &error), &error);
    gs_assert_ok(gs_folder_create(gs_scratch_path("x/y2/"), &error), &error);
    assert_true(gs_path_is_folder(deep));
    gs_scratch_file("x/file", "", 0);
    gs_assert_error(gs_folder_create(gs_scratch_path("x/file"), &error), GS_IO, &error, "x/file");
    gs_assert_error(gs_folder_create(gs_scratch_path("x/file/inside"), &error), GS_IO, &error,
                    "x/file");
    gs_scratch_file("x/B", "", 0);
    gs_scratch_file("x/.a", "", 0);
    gs_assert_ok(gs_folder_list(gs_scratch_path("x"), &names, &count, &error), &error);
    static const char *const expected[] = {".a", "B", "file", "y", "y2"};
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++) assert_string_equal(names[i], expected[i]);
    gs_free_names(names, count);
    gs_assert_ok(gs_folder_list(deep, &names, &count, &error), &error);
    assert_int_equal(count, 0);
    gs_free_names(names, count);
    gs_assert_error(gs_folder_list(gs_scratch_path("x/file"), &names, &count, &error), GS_IO,
                    &error, "x/file");
    gs_assert_error(gs_folder_list(gs_scratch_path("absent"), &names, &count, &error), GS_MISSING,
                    &error, "absent");
}

static void test_free_space(void **state) {
    (void)state;
    struct gs_error error;
    uint64_t here = 0, below = 0;
    gs_assert_ok(gs_free_space(gs_scratch_folder(), &here, &error), &error);
    gs_assert_ok(gs_free_space(gs_scratch_path("not/yet/made/file"), &below, &error), &error);
    assert_true(here > 0 && below > 0);
    gs_assert_ok(gs_free_space("not/yet/made/file", &below, &error), &error);
}

static void test_output(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_output out;
    const char *folder = fresh_folder("output");
    const char *path = gs_scratch_path("output/file");
    gs_assert_ok(gs_output_open(&out, path, false, &error), &error);
    fputs("first", out.stream);
    assert_false(gs_path_exists(path)); /* not before commit */
    gs_assert_ok(gs_output_commit(&out, &error), &error);
    gs_output_abandon(&out); /* fine after commit */
    expect_content(path, "first");

    gs_assert_error(gs_output_open(&out, path, false, &error), GS_EXISTS, &error, "output/file",
                    "--force");
    gs_output_abandon(&out); /* fine after a failed open */
    gs_assert_error(gs_file_write(path, false, "x", 1, &error), GS_EXISTS, &error, "output/file");
    expect_content(path, "first");

    gs_assert_ok(gs_output_open(&out, path, true, &error), &error);
    fputs("half of the sec", out.stream);
    gs_output_abandon(&out);
    expect_content(path, "first");
    gs_assert_ok(gs_file_write(path, true, "second", 6, &error), &error);
    expect_content(path, "second");
    gs_assert_ok(gs_file_write(gs_scratch_path("output/empty"), false, NULL, 0, &error), &error);
    expect_content(gs_scratch_path("output/empty"), "");
    assert_int_equal(count_files(folder), 2); /* no temporary is left */
}

/* The file being read is the output: what was read stays whole. */
static void test_output_over_input(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_mapped_file file;
    const char *path = gs_scratch_file("same", "what is being read", 18);
    gs_assert_ok(gs_file_map(path, &file, &error), &error);
    struct gs_output out;
    gs_assert_ok(gs_output_open(&out, path, true, &error), &error);
    for (size_t i = file.size; i-- > 0;) fputc(file.bytes[i], out.stream);
    gs_assert_ok(gs_output_commit(&out, &error), &error);
    assert_memory_equal(file.bytes, "what is being read", 18);
    gs_file_unmap(&file);
    expect_content(path, "daer gnieb si tahw");
}

static void test_output_places(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_output out;
    gs_assert_error(gs_output_open(&out, gs_scratch_path("no/such/file"), false, &error),
                    GS_MISSING, &error, "no/such/file");
    gs_assert_error(gs_output_open(&out, gs_scratch_folder(), true, &error), GS_IO, &error,
                    "a folder");
    gs_assert_error(gs_output_open(&out, "/dev/full", true, &error), GS_IO, &error, "/dev/full",
                    "device");
    gs_assert_error(gs_output_open(&out, "", true, &error), GS_IO, &error, "path of a file");
    gs_assert_error(gs_output_open(&out, gs_scratch_path("new/"), true, &error), GS_IO, &error,
                    "new/");
    char longest[400];
    memset(longest, 'n', 300);
    longest[300] = '\0';
    gs_assert_error(gs_file_write(gs_scratch_path("%s", longest), false, "x", 1, &error), GS_IO,
                    &error, strerror(ENAMETOOLONG));
    longest[255] = '\0'; /* the longest name there is: its temporary must still fit */
    gs_assert_ok(gs_file_write(gs_scratch_path("%s", longest), false, "x", 1, &error), &error);
}

static void test_output_through_links(void **state) {
    (void)state;
    struct gs_error error;
    fresh_folder("links");
    gs_scratch_file("links/target", "old", 3);
    const char *link_path = gs_scratch_path("links/link");
    assert_int_equal(symlink("target", link_path), 0);
    gs_assert_error(gs_file_write(link_path, false, "new", 3, &error), GS_EXISTS, &error, "link");
    gs_assert_ok(gs_file_write(link_path, true, "new", 3, &error), &error);
    struct stat info;
    assert_int_equal(lstat(link_path, &info), 0);
    assert_true(S_ISLNK(info.st_mode)); /* the link stays, its target is new */
    expect_content(gs_scratch_path("links/target"), "new");
    const char *dangling = gs_scratch_path("links/dangling");
    assert_int_equal(symlink("nowhere", dangling), 0);
    gs_assert_error(gs_file_write(dangling, false, "x", 1, &error), GS_EXISTS, &error, "dangling");
    gs_assert_ok(gs_file_write(dangling, true, "x", 1, &error), &error);
    expect_content(dangling, "x");
}

static void test_output_mode(void **state) {
    (void)state;
    struct gs_error error;
    struct stat info;
    mode_t mask = umask(027);
    const char *path = gs_scratch_path("mode");
    gs_assert_ok(gs_file_write(path, false, "x", 1, &error), &error);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(chmod(path, 0604), 0);
    gs_assert_ok(gs_file_write(path, true, "y", 1, &error), &error);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0604); /* as it was */
    umask(mask);
}

/* Somebody else's file of the same name that comes meanwhile is kept. */
static void test_output_race(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_output out;
    const char *folder = fresh_folder("race");
    const char *path = gs_scratch_path("race/file");
    gs_assert_ok(gs_output_open(&out, path, false, &error), &error);
    fputs("mine", out.stream);
    gs_scratch_file("race/file", "theirs", 6);
    gs_assert_error(gs_output_commit(&out, &error), GS_EXISTS, &error, "race/file");
    expect_content(path, "theirs");
    assert_int_equal(count_files(folder), 1);
}

/* A limit on file size as a stand-in for a full disk: errno and path are named, nothing is left. */
static void test_full_disk(void **state) {
    (void)state;
    struct gs_error error;
    struct rlimit old, low;
    const char *folder = fresh_folder("full");
    const char *path = gs_scratch_file("full/file", "old", 3);
    size_t size = 1 << 20;
    char *bytes = calloc(size, 1);
    assert_non_null(bytes);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    low = old;
    low.rlim_cur = 4096;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    enum gs_status large = gs_file_write(path, true, bytes, size, &error);
    low.rlim_cur = 100;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    struct gs_error small_error;
    enum gs_status small; /* fits in the stream's buffer: fails at commit, not at fwrite */
    small = gs_file_write(path, true, bytes, 200, &small_error);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, handler);
    free(bytes);
    gs_assert_error(large, GS_IO, &error, "full/file", strerror(EFBIG), "ulimit");
    gs_assert_error(small, GS_IO, &small_error, "full/file", strerror(EFBIG));
    expect_content(path, "old");
    assert_int_equal(count_files(folder), 1);
}

static void test_read_only_folder(void **state) {
    (void)state;
    struct gs_error error;
    const char *folder = fresh_folder("read-only");
    assert_int_equal(chmod(gs_scratch_folder(), 0755), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    bool root = geteuid() == 0; /* root writes everywhere */
    if (root && seteuid(NOBODY) != 0) {
        print_message("skipped: root, and cannot become somebody else\n");
        skip();
    }
    enum gs_status file = gs_file_write(gs_scratch_path("read-only/x"), false, "x", 1, &error);
    struct gs_error folder_error;
    enum gs_status made = gs_folder_create(gs_scratch_path("read-only/y"), &folder_error);
    if (root) assert_int_equal(seteuid(0), 0);
    gs_assert_error(file, GS_IO, &error, "read-only/x", strerror(EACCES), "permissions");
    gs_assert_error(made, GS_IO, &folder_error, "read-only/y", strerror(EACCES));
    assert_int_equal(count_files(folder), 0);
}

static void age(const char *path) {
    struct utimbuf times = {1000000000, 1000000000};
    assert_int_equal(utime(path, &times), 0);
}

/* A process killed in the middle of writing leaves the old file; its temporary is swept later. */
static void test_kill(void **state) {
    (void)state;
    struct gs_error error;
    const char *folder = fresh_folder("kill");
    const char *path = gs_scratch_file("kill/file", "old", 3);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct gs_output out;
        if (gs_output_open(&out, path, true, NULL) != GS_OK) _exit(1);
        fputs("half", out.stream);
        fflush(out.stream);
        kill(getpid(), SIGKILL);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    expect_content(path, "old");
    char **names;
    size_t count;
    gs_assert_ok(gs_folder_list(folder, &names, &count, &error), &error);
    assert_int_equal(count, 2);
    age(gs_scratch_path("kill/%s", names[0])); /* ".file…" comes first */
    gs_free_names(names, count);
    gs_assert_ok(gs_file_write(path, true, "new", 3, &error), &error);
    expect_content(path, "new");
    assert_int_equal(count_files(folder), 1);
}

/* What is swept: old temporaries of this very file that nobody holds; nothing else. */
static void test_sweep(void **state) {
    (void)state;
    struct gs_error error;
    fresh_folder("sweep");
    const char *stale = gs_scratch_file("sweep/.file.gpnscope-99-0", "s", 1);
    const char *held = gs_scratch_file("sweep/.file.gpnscope-99-1", "h", 1);
    const char *other = gs_scratch_file("sweep/.files.gpnscope-99-0", "o", 1);
    const char *users = gs_scratch_file("sweep/.file.backup", "u", 1);
    const char *young = gs_scratch_file("sweep/.file.gpnscope-99-2", "y", 1);
    age(stale), age(held), age(other), age(users);
    int descriptor = open(held, O_RDONLY);
    assert_int_equal(flock(descriptor, LOCK_EX), 0);
    gs_assert_ok(gs_file_write(gs_scratch_path("sweep/file"), false, "x", 1, &error), &error);
    close(descriptor);
    assert_false(gs_path_exists(stale));
    assert_true(gs_path_exists(held) && gs_path_exists(other) && gs_path_exists(users) &&
                gs_path_exists(young));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),           cmocka_unit_test(test_paths),
        cmocka_unit_test(test_folders),       cmocka_unit_test(test_free_space),
        cmocka_unit_test(test_output),        cmocka_unit_test(test_output_over_input),
        cmocka_unit_test(test_output_places), cmocka_unit_test(test_output_through_links),
        cmocka_unit_test(test_output_mode),   cmocka_unit_test(test_output_race),
        cmocka_unit_test(test_full_disk),     cmocka_unit_test(test_read_only_folder),
        cmocka_unit_test(test_kill),          cmocka_unit_test(test_sweep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
