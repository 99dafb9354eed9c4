/* A full disk and a kill: what had been flushed stays, right to the last bit. The writing happens
 * in a process of its own (this program again, with arguments), so that no HDF5 file crosses a
 * fork. */
#include "core/base/file.h"
#include "core/base/memory.h"
#include "tests/probes/trace/trace_support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SEQUENCES = 40, LENGTH = 64, WIDTH = 120, HEADS = 3, REFUSED = 7 };
static const char *self;
static struct gs_error error;

/* The same values in parent and child. */
static struct made *the_trace(int deflate) {
    size_t lengths[SEQUENCES];
    struct gs_random random;
    for (size_t i = 0; i < SEQUENCES; i++) lengths[i] = LENGTH;
    gs_random_seed(&random, 3, "test/crash");
    struct made *made = made_create(lengths, SEQUENCES, WIDTH, HEADS, &random);
    made->plan.deflate = deflate;
    return made;
}

/* ---- the child ---- */

static void pause_a_little(void) {
    struct timespec time = {0, 2000000};
    nanosleep(&time, NULL);
}

/* From now on nothing can be written: as on a disk that is full. */
static void fill_disk(void) {
    struct rlimit limit = {4096, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* Write four sequences side by side with a flush after each step; go on with what is there. The
 * disk is full from sequence `full` on; 0: never. */
static int write_all(const char *path, int deflate, unsigned long full) {
    struct made *made = the_trace(deflate);
    struct gs_trace_writer *writer;
    size_t begin = 0;
    bool resume = gs_path_exists(path);
    enum gs_status status = resume
                                ? gs_trace_writer_resume(path, &made->plan, &writer, &begin, &error)
                                : gs_trace_writer_create(path, false, &made->plan, &writer, &error);
    if (status == GS_OK && !writer) return 0; /* it was finished */
    for (size_t first = begin; status == GS_OK && first < SEQUENCES; first += 4) {
        for (size_t step = 0; status == GS_OK && step < LENGTH; step += 16) {
            /* within a chunk for one, between flushes for the others */
            if (full && first >= full && step == (full == 16 ? 0 : 48)) fill_disk();
            for (size_t i = first; status == GS_OK && i < first + 4; i++)
                status = made_append(made, writer, i, step, 16, &error);
            if (status == GS_OK) status = gs_trace_writer_flush(writer, &error);
            if (!full && !resume) pause_a_little();
        }
    }
    if (status == GS_OK) return gs_trace_writer_close(writer, &error) == GS_OK ? 0 : REFUSED;
    char text[2048];
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}); /* for stderr */
    fprintf(stderr, "%s\n", gs_error_text(&error, text, sizeof text));
    if (writer) {
        fprintf(stderr, "broken %d\n", gs_trace_writer_broken(writer));
        gs_trace_writer_abandon(writer, true);
    }
    return REFUSED;
}

/* ---- the parent ---- */

static pid_t start_child(const char *path, int deflate, unsigned long full, const char *messages) {
    char number[32], level[32];
    snprintf(number, sizeof number, "%lu", full);
    snprintf(level, sizeof level, "%d", deflate);
    pid_t child = fork();
    if (child != 0) return child;
    int to = open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (to >= 0) dup2(to, STDERR_FILENO);
    execl(self, self, path, level, number, (char *)NULL);
    _exit(126);
}

static void wait_for(const char *path) {
    for (int tries = 0; tries < 5000 && !gs_path_exists(path); tries++) pause_a_little();
}

/* Everything below rows_written must be right. */
static uint64_t check_rest(const char *path, int deflate) {
    struct made *made = the_trace(deflate);
    struct gs_trace *trace;
    uint64_t rows = 0;
    gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
    const struct gs_trace_info *info = gs_trace_info(trace);
    for (size_t i = 0; i < info->sequences; i++) rows += info->rows_written[i];
    made_compare(made, trace);
    gs_assert_ok(gs_trace_check(trace, NULL, &error), &error);
    assert_true(!info->complete || rows == SEQUENCES * LENGTH);
    gs_trace_close(trace);
    made_destroy(made);
    return rows;
}

static void full_disk(int deflate) {
    uint64_t rows = 0;
    int named = 0;
    for (unsigned long full = 4; full < SEQUENCES; full += 12) {
        const char *path = gs_scratch_path("full%lu.h5", full), *messages = gs_scratch_path("said");
        char text[4096] = "";
        int status;
        waitpid(start_child(path, deflate, full, messages), &status, 0);
        int from = open(messages, O_RDONLY);
        if (read(from, text, sizeof text - 1) < 0) fail();
        close(from);
        bool said = strstr(text, path) && strstr(text, strerror(EFBIG)) && strstr(text, "broken 1");
        named += strstr(text, "h5, state/") || strstr(text, "h5, sequence/rows_written") ||
                 strstr(text, "h5, token");
        if (!WIFEXITED(status) || WEXITSTATUS(status) != REFUSED || !said) {
            print_error("%s\n", text);
            fail();
        }
        if (!gs_path_exists(path)) continue; /* nothing was safe yet */
        uint64_t left = check_rest(path, deflate);
        assert_true(left >= rows && left <= full * LENGTH);
        rows = left;
        unlink(path);
    }
    assert_true(rows > 0);
    if (!deflate) assert_int_equal(named, 3); /* the dataset */
}

static double seconds_of[2]; /* of a whole run, by deflate */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* How long from the file's appearance to the end? */
static void whole_run(void **state) {
    (void)state;
    for (int deflate = 0; deflate < 2; deflate++) {
        const char *path = gs_scratch_path("whole%d.h5", deflate);
        int status;
        pid_t child = start_child(path, deflate, 0, gs_scratch_path("messages"));
        wait_for(path);
        double began = now();
        waitpid(child, &status, 0);
        seconds_of[deflate] = now() - began;
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_int_equal(check_rest(path, deflate), SEQUENCES * LENGTH);
    }
}

static void full_disk_plain(void **state) {
    (void)state;
    full_disk(0);
}

static void full_disk_deflated(void **state) {
    (void)state;
    full_disk(1);
}

/* The child must have ended well; else what it said is printed. */
static void ended_well(int status, const char *messages) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    char text[4096] = "";
    int from = open(messages, O_RDONLY);
    if (from < 0 || read(from, text, sizeof text - 1) < 0) fail();
    print_error("status %d: %s\n", status, text);
    fail();
}

static void killed(int deflate) {
    struct gs_random random;
    gs_random_seed(&random, 17, "test/kill");
    size_t partial = 0;
    for (int n = 0; n < 20; n++) {
        const char *path = gs_scratch_path("killed%d.h5", n);
        double wait = gs_random_uniform(&random) * seconds_of[deflate];
        struct timespec time = {(time_t)wait, (long)((wait - (double)(time_t)wait) * 1e9)};
        int status;
        pid_t child = start_child(path, deflate, 0, gs_scratch_path("messages"));
        wait_for(path);
        nanosleep(&time, NULL);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        uint64_t rows = check_rest(path, deflate);
        if (rows > 0 && rows < SEQUENCES * LENGTH && partial++ % 3 == 0) {
            const char *messages = gs_scratch_path("messages");
            waitpid(start_child(path, deflate, 0, messages), &status, 0);
            ended_well(status, messages);
            assert_int_equal(check_rest(path, deflate), SEQUENCES * LENGTH);
        }
        unlink(path);
    }
    print_message("%zu of 20 were killed between first and last row\n", partial);
    assert_true(partial > 0);
}

static void killed_plain(void **state) {
    (void)state;
    killed(0);
}

static void killed_deflated(void **state) {
    (void)state;
    killed(1);
}

int main(int argc, char **argv) {
    if (argc == 4)
        _exit(write_all(argv[1], (int)strtol(argv[2], NULL, 10), strtoul(argv[3], NULL, 10)));
    self = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_run),          cmocka_unit_test(full_disk_plain),
        cmocka_unit_test(full_disk_deflated), cmocka_unit_test(killed_plain),
        cmocka_unit_test(killed_deflated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
