/* The real program stopped on request, starved of disk, and run twice at once. */
#include "tests/core/training/broken_run.h"

#include "core/base/file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char whole[1024]; /* folder of the run that nobody touched; empty: no program */

static int make_whole(void **state) {
    (void)state;
    if (!child_program()) return 0;
    snprintf(whole, sizeof whole, "%s", gs_scratch_path("whole"));
    broken_run_ok(whole, NULL);
    return 0;
}

static void skip_without_program(void) {
    if (!whole[0]) skip();
}

/* Start it and wait until it has written some rows. */
static pid_t start_running(const char *folder, const char *more, const char *set) {
    const char *arguments[] = {broken_config(), "-o", folder, "--quiet", more, set, NULL};
    pid_t child = child_start(arguments, NULL);
    char path[1024];
    snprintf(path, sizeof path, "%s/run_train_log.csv", folder);
    broken_await_lines(path, 2);
    return child;
}

/* One Ctrl-C: the step is finished and saved, and the message says how to go on. */
static void test_interrupted(void **state) {
    (void)state;
    skip_without_program();
    static const int signals[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < 2; i++) {
        const char *folder = gs_scratch_path("interrupted_%zu", i);
        struct child_end end;
        pid_t child = start_running(folder, NULL, NULL);
        assert_int_equal(kill(child, signals[i]), 0);
        child_wait(child, &end);
        print_message("%s", end.said);
        assert_int_equal(end.exit_code, 130);
        assert_non_null(strstr(end.said, "stopped on request after step"));
        assert_non_null(strstr(end.said, "--resume"));
        broken_assert_whole(folder);
        broken_run_ok(folder, "--resume", NULL);
        broken_assert_same(folder, whole);
    }
}

/* A second Ctrl-C, within a step of minutes, ends it at once; what was saved before is whole. */
static void test_interrupted_twice(void **state) {
    (void)state;
    skip_without_program();
    const char *folder = gs_scratch_path("twice");
    broken_run_ok(folder, "--steps", "7", NULL);
    char accum[64];
    snprintf(accum, sizeof accum, "training.grad_accum=%d", BROKEN_MOST_ACCUM);
    const char *arguments[] = {broken_config(), "-o", folder, "--resume", "--set", accum, NULL};
    pid_t child = child_start(arguments, NULL);
    broken_await_lines(
        gs_scratch_path("child.stderr"),
        4); /* the plan is said, and that grad_accum is another: signals are caught */
    assert_int_equal(kill(child, SIGINT), 0);
    broken_await_lines(gs_scratch_path("child.stderr"), 6); /* "stopping at the next safe point" */
    assert_int_equal(kill(child, SIGINT), 0);
    struct child_end end;
    child_wait(child, &end);
    print_message("%s", end.said);
    assert_int_equal(end.signal, SIGINT);
    assert_non_null(strstr(end.said, "again to kill"));
    broken_run_ok(folder, "--resume", NULL);
    broken_assert_same(folder, whole);
}

/* Half a row, and rows beyond the last checkpoint, are neither lost nor doubled. */
static void test_half_a_row(void **state) {
    (void)state;
    skip_without_program();
    const char *folder = gs_scratch_path("half");
    broken_run_ok(folder, "--steps", "23", NULL);
    static const char *const rows[] = {"24,1.5,1e-3,0.5,1,1,1,1,1\n26,1.5,1e-", "2", "24"};
    for (size_t i = 0; i < 3; i++) {
        FILE *stream = fopen(gs_scratch_path("half/run_train_log.csv"), "ab");
        assert_non_null(stream);
        fputs(rows[i], stream);
        fclose(stream);
        broken_run_ok(folder, "--resume", "--steps", "1", NULL);
    }
    broken_run_ok(folder, "--resume", NULL);
    broken_assert_same(folder, whole);
}

/* Killed before its first checkpoint there is nothing to lose, and --resume begins anew. */
static void test_killed_at_once(void **state) {
    (void)state;
    skip_without_program();
    const char *folder = gs_scratch_path("at_once");
    pid_t child = start_running(folder, "--set", "logging.save_every=1000");
    assert_int_equal(kill(child, SIGKILL), 0);
    struct child_end end;
    child_wait(child, &end);
    assert_int_equal(end.signal, SIGKILL);
    assert_false(gs_path_exists(gs_scratch_path("at_once/run_5.resume.safetensors")));
    broken_run_ok(folder, "--resume", NULL);
    broken_assert_same(folder, whole);
    /* where no run ever was, it does not */
    broken_run(gs_scratch_path("never"), NULL, &end, "--resume", NULL);
    assert_int_equal(end.exit_code, 3);
    assert_non_null(strstr(end.said, "nothing to go on from"));
}

/* A second process neither goes on with a run that is being written nor replaces it. */
static void test_two_at_once(void **state) {
    (void)state;
    skip_without_program();
    const char *folder = gs_scratch_path("at_a_time");
    broken_run_ok(folder, "--steps", "7", NULL);
    char accum[64];
    snprintf(accum, sizeof accum, "training.grad_accum=%d", BROKEN_MOST_ACCUM);
    const char *arguments[] = {broken_config(), "-o", folder, "--resume", "--set", accum, NULL};
    pid_t child = child_start(arguments, NULL);
    broken_await_lines(gs_scratch_path("child.stderr"), 3);
    const struct timespec moment = {0, 100000000}; /* until its log is open */
    nanosleep(&moment, NULL);
    static const char *const ways[] = {"--resume", "--force"};
    struct child_end end;
    for (size_t i = 0; i < 2; i++) {
        broken_run(folder, NULL, &end, ways[i], NULL);
        print_message("%s", end.said);
        assert_int_equal(end.exit_code, 3);
        assert_non_null(strstr(end.said, "another process is training this run"));
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    child_wait(child, &end);
    broken_run_ok(folder, "--resume", NULL);
    broken_assert_same(folder, whole);
}

/* ---- no room on the disk --------------------------------------------------------------------- */

static void assert_refused_write(const struct child_end *end, const char *reason) {
    print_message("%s", end->said);
    assert_int_equal(end->exit_code, 3);
    assert_non_null(strstr(end->said, reason));
    assert_non_null(strstr(end->said, "--resume goes on from step"));
}

/* A limit of file size stops the save, and nothing that was saved is lost by it. */
static void test_file_size(void **state) {
    (void)state;
    skip_without_program();
    const char *folder = gs_scratch_path("file_size");
    broken_run_ok(folder, "--steps", "12", NULL);
    struct stat model;
    assert_int_equal(stat(gs_scratch_path("file_size/run_10.resume.safetensors"), &model), 0);
    const struct child_limits limits = {.file_size = (size_t)model.st_size / 2};
    struct child_end end;
    broken_run(folder, &limits, &end, "--resume", NULL);
    assert_refused_write(&end, "File too large");
    assert_non_null(strstr(end.said, "from step 12"));
    broken_assert_whole(folder);
    broken_run_ok(folder, "--resume", NULL);
    broken_assert_same(folder, whole);
}

/* A disk that is full: the same. With logging.keep the run needs room for two checkpoints only. */
static void test_full_disk(void **state) {
    (void)state;
    skip_without_program();
#ifdef __linux__
    const char *disk = gs_scratch_path("disk"), *folder = gs_scratch_path("disk/run");
    struct stat resume, model;
    assert_int_equal(stat(gs_scratch_path("whole/run_5.resume.safetensors"), &resume), 0);
    assert_int_equal(stat(gs_scratch_path("whole/run_5.safetensors"), &model), 0);
    const long both = (long)(resume.st_size + model.st_size);
    char size[64];
    snprintf(size, sizeof size, "size=%ld", (long)model.st_size + 4 * both + both / 2);
    assert_int_equal(mkdir(disk, 0777), 0);
    if (mount("tmpfs", disk, "tmpfs", 0, size) != 0) {
        print_message("skipped: no small file system can be mounted: %s\n", strerror(errno));
        skip();
    }
    struct child_end end, kept;
    broken_run(folder, NULL, &end, NULL);
    broken_assert_whole(folder);
    broken_run(gs_scratch_path("disk/none"), NULL, &kept, NULL); /* no room for anything */
    snprintf(size, sizeof size, "size=%ld", 40 * both);
    int larger = mount("tmpfs", disk, "tmpfs", MS_REMOUNT, size);
    struct child_end again;
    broken_run(folder, NULL, &again, "--resume", NULL);
    bool same = again.exit_code == 0;
    if (same) broken_assert_same(folder, whole);
    snprintf(size, sizeof size, "size=%ld", (long)model.st_size + 3 * both + both / 2);
    umount2(disk, MNT_DETACH);
    struct child_end small;
    int mounted = mount("tmpfs", disk, "tmpfs", 0, size);
    broken_run(folder, NULL, &small, "--set", "logging.keep=1", NULL);
    if (mounted == 0 && small.exit_code == 0) broken_assert_same(folder, whole);
    umount2(disk, MNT_DETACH);
    assert_refused_write(&end, "No space left on device");
    assert_non_null(strstr(end.said, "from step 20"));
    assert_int_equal(kept.exit_code, 3);
    assert_non_null(strstr(kept.said, "No space left on device"));
    assert_int_equal(larger, 0);
    if (!same) print_message("%s\n", again.said);
    assert_true(same);
    assert_int_equal(mounted, 0);
    if (small.exit_code != 0) print_message("%s\n", small.said);
    assert_int_equal(small.exit_code, 0);
#else
    print_message("skipped: mounts a tmpfs, which is Linux's\n");
    skip();
#endif
}

/* ---- where nothing can be written ------------------------------------------------------------ */

static void test_unwritable(void **state) {
    (void)state;
    skip_without_program();
    struct child_end end;
    gs_scratch_file("a_file", "x", 1);
    broken_run(gs_scratch_path("a_file"), NULL, &end, NULL);
    print_message("%s", end.said);
    assert_int_equal(end.exit_code, 3);
    assert_non_null(strstr(end.said, "a_file"));
    broken_run("/proc/self/nowhere", NULL, &end, NULL);
    print_message("%s", end.said);
    assert_int_equal(end.exit_code, 3);
    assert_non_null(strstr(end.said, "/proc/self"));
    if (geteuid() == 0) {
        print_message("a folder without write permission is no hindrance to root\n");
        return;
    }
    const char *folder = gs_scratch_path("read_only");
    assert_int_equal(mkdir(folder, 0555), 0);
    broken_run(folder, NULL, &end, NULL);
    assert_int_equal(end.exit_code, 3);
    assert_non_null(strstr(end.said, "Permission denied"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interrupted), cmocka_unit_test(test_interrupted_twice),
        cmocka_unit_test(test_half_a_row),  cmocka_unit_test(test_killed_at_once),
        cmocka_unit_test(test_two_at_once), cmocka_unit_test(test_file_size),
        cmocka_unit_test(test_full_disk),   cmocka_unit_test(test_unwritable),
    };
    broken_work_in_memory();
    return cmocka_run_group_tests(tests, make_whole, NULL);
}
