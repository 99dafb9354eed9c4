/* Recording killed at 100 random moments, with every choice of type, compression and batch: the
 * file opens, what it says is written is right, and resuming, perhaps killed again and again, ends
 * with the rows of a run that never stopped. The same on a disk that really fills up.
 *
 * The recording happens in a process of its own (this program again, with arguments), so that no
 * HDF5 file crosses a fork. */
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "probes/trace/hdf5_file.h"
#include "probes/trace/recording.h"
#include "tests/support/support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { VOCAB = 50, LENGTH = 96, WINDOWS = 101, KILLS = 100, FAILED = 7 };

static struct gs_error error;
static const char *self;

/* How a child records. */
struct choice {
    const char *dtype;
    int deflate;
    size_t batch; /* none of which divides 101 windows */
};
static const struct choice choices[] = {{"float32", 0, 4},
                                        {"float16", 0, 7},
                                        {"bfloat16", 0, 16},
                                        {"float32", 1, 4},
                                        {"bfloat16", 1, 9}};
enum { CHOICES = sizeof choices / sizeof *choices, PLAIN = 0, DEFLATED = 3 };

static const char *const datasets[] = {"token",
                                       "nll",
                                       "state/predicted",
                                       "state/grounded",
                                       "memory/memory/log_decay",
                                       "memory/memory/write_strength",
                                       "memory/memory/norm",
                                       "read/memory/share"};
enum { DATASETS = sizeof datasets / sizeof *datasets };

/* ---- the child ---- */

static struct gs_model *make_model(void) {
    static const char sizes[] = "{\"vocab_size\": 50, \"d_state\": 48, \"d_emb\": 16, "
                                "\"d_ffn\": 40, \"n_heads\": 3, \"d_key\": 8, \"d_val\": 8}";
    struct gs_json *json;
    struct gs_model *model;
    gs_assert_ok(gs_json_parse(sizes, strlen(sizes), "test", &json, &error), &error);
    gs_assert_ok(gs_model_create("gpn_m", json, &model, &error), &error);
    gs_json_destroy(json);
    gs_parameters_initialise(gs_model_parameters(model), 3);
    return model;
}

/* Goes on where a file is. What went wrong is said, and FAILED returned. */
static int record(const char *path, const char *ids, const struct choice *choice) {
    struct gs_tokens *tokens;
    struct gs_model *model = make_model();
    struct gs_recording recording = {.length = LENGTH,
                                     .batch = choice->batch,
                                     .deflate = choice->deflate,
                                     .choice = {NULL, choice->dtype},
                                     .resume = true,
                                     .flush_each_batch = true};
    recording.labels.step = recording.labels.seed = recording.labels.threads = -1;
    signal(SIGXFSZ, SIG_IGN);
    enum gs_status status = gs_tokens_open(ids, NULL, &tokens, &error);
    if (status == GS_OK) {
        status = gs_record(model, tokens, &recording, path, false, NULL, NULL, &error);
        gs_tokens_close(tokens);
    }
    gs_model_destroy(model);
    if (status == GS_OK) return 0;
    char text[2048];
    fprintf(stderr, "%s\nexit code %d\n", gs_error_text(&error, text, sizeof text),
            gs_status_exit_code(status));
    return FAILED;
}

/* ---- the parent ---- */

/* The support's paths are taken back after some hundred more. Free with gs_free. */
static char *keep(const char *path) {
    char *copy = gs_strdup(path);
    assert_non_null(copy);
    return copy;
}

static char *make_ids(void) {
    uint32_t ids[LENGTH * WINDOWS];
    struct gs_random random;
    gs_random_seed(&random, 4, "test/killed");
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        ids[i] = (uint32_t)gs_random_below(&random, VOCAB);
    return keep(gs_scratch_file("ids.bin", ids, sizeof ids));
}

static const char *said_path(void) {
    return gs_scratch_path("said");
}

static pid_t start_child(const char *path, const char *ids, size_t choice) {
    char number[32];
    snprintf(number, sizeof number, "%zu", choice);
    pid_t child = fork();
    if (child != 0) return child;
    int to = open(said_path(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (to >= 0) dup2(to, STDERR_FILENO);
    /* two threads that meet at every step are slow where other work takes a core from them */
    setenv("OMP_NUM_THREADS", choice == 0 ? "2" : "1", 1);
    execl(self, self, path, ids, number, (char *)NULL);
    _exit(126);
}

static const char *what_was_said(void) {
    static char text[4096];
    memset(text, 0, sizeof text);
    int from = open(said_path(), O_RDONLY);
    if (from < 0 || read(from, text, sizeof text - 1) < 0) fail();
    close(from);
    return text;
}

static int wait_for_child(pid_t child) {
    int status;
    waitpid(child, &status, 0);
    return status;
}

static void must_end_well(pid_t child) {
    int status = wait_for_child(child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    print_error("status %d: %s\n", status, what_was_said());
    fail();
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void wait_seconds(double seconds) {
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

/* ---- comparing ---- */

/* Rows below rows_written of each sequence, of one dataset, as in the unbroken run. */
static void compare_dataset(struct gs_h5 *whole, struct gs_h5 *part, const char *name,
                            const uint64_t *written) {
    struct gs_h5_data *a, *b;
    gs_assert_ok(gs_h5_data_open(whole, name, &a, &error), &error);
    gs_assert_ok(gs_h5_data_open(part, name, &b, &error), &error);
    size_t row = gs_h5_data_shape(a)->row;
    assert_int_equal(row, gs_h5_data_shape(b)->row);
    double *x = gs_calloc(LENGTH * row, sizeof *x), *y = gs_calloc(LENGTH * row, sizeof *y);
    for (size_t i = 0; i < WINDOWS; i++) {
        gs_assert_ok(gs_h5_data_f64(a, i * LENGTH, written[i], x, &error), &error);
        gs_assert_ok(gs_h5_data_f64(b, i * LENGTH, written[i], y, &error), &error);
        if (memcmp(x, y, written[i] * row * sizeof *x) == 0) continue;
        print_error("%s: sequence %zu, %llu rows, differs\n", name, i,
                    (unsigned long long)written[i]);
        fail();
    }
    gs_free(x);
    gs_free(y);
    gs_h5_data_close(a);
    gs_h5_data_close(b);
}

/* How many rows are safe; all of them right. */
static uint64_t check(const char *path, size_t choice) {
    struct gs_trace *trace;
    struct gs_h5 *whole, *part;
    uint64_t rows = 0;
    gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
    gs_assert_ok(gs_trace_check(trace, NULL, &error), &error);
    const struct gs_trace_info *info = gs_trace_info(trace);
    assert_int_equal(info->sequences, WINDOWS);
    for (size_t i = 0; i < WINDOWS; i++) rows += info->rows_written[i];
    assert_true(!info->complete || rows == LENGTH * WINDOWS);
    gs_assert_ok(gs_h5_open(gs_scratch_path("whole%zu.h5", choice), &whole, &error), &error);
    gs_assert_ok(gs_h5_open(path, &part, &error), &error);
    for (size_t i = 0; i < DATASETS; i++)
        compare_dataset(whole, part, datasets[i], info->rows_written);
    gs_h5_close(whole, NULL);
    gs_h5_close(part, NULL);
    gs_trace_close(trace);
    return rows;
}

/* The first row of all streams by h5py, where there is one; it opens what a kill left. */
static void check_by_h5py(const char *path) {
    char command[4096];
    const char *python = getenv("GS_PYTHON");
    if (!python) python = "python3";
    snprintf(command, sizeof command, "'%s' -c 'import h5py' >/dev/null 2>&1", python);
    if (system(command) != 0) return;
    snprintf(command, sizeof command,
             "'%s' -c 'import h5py, sys\nf = h5py.File(sys.argv[1], \"r\")\n"
             "n = int(f[\"sequence/rows_written\"][0])\n"
             "[f[\"state\"][s][:n].sum() for s in f[\"state\"]]' '%s'",
             python, path);
    assert_int_equal(system(command), 0);
}

/* ---- kills ---- */

static double seconds_of[CHOICES]; /* from start to end */

static void whole_runs(const char *ids) {
    for (size_t choice = 0; choice < CHOICES; choice++) {
        char *path = keep(gs_scratch_path("whole%zu.h5", choice));
        double began = now();
        must_end_well(start_child(path, ids, choice));
        seconds_of[choice] = now() - began;
        assert_int_equal(check(path, choice), LENGTH * WINDOWS);
        gs_free(path);
    }
}

static void killed_at_random(void **state) {
    (void)state;
    char *ids = make_ids();
    struct gs_random random;
    gs_random_seed(&random, 18, "test/killed");
    whole_runs(ids);
    size_t partial = 0, kills = 0, resumed_twice = 0;
    for (size_t n = 0; kills < KILLS; n++) {
        size_t choice = n % CHOICES, times = 0;
        char *path = keep(gs_scratch_path("killed%zu.h5", n));
        bool running = true;
        /* kill, and kill what resumes, until one run gets through or has been killed four times */
        while (running && times < 4 && kills < KILLS) {
            pid_t child = start_child(path, ids, choice);
            wait_seconds(gs_random_uniform(&random) * seconds_of[choice]);
            kill(child, SIGKILL);
            running = WIFSIGNALED(wait_for_child(child));
            kills += running;
            times += running;
            const bool made = gs_path_exists(path);
            uint64_t rows = made ? check(path, choice) : 0;
            /* a machine gets busier or quieter: kill later after one too early, and the reverse */
            seconds_of[choice] *= !running ? 0.9 : rows == 0 ? 1.1 : 1;
            partial += rows > 0 && rows < LENGTH * WINDOWS;
            if (made && kills % 10 == 0) check_by_h5py(path);
        }
        resumed_twice += times > 2;
        must_end_well(start_child(path, ids, choice));
        assert_int_equal(check(path, choice), LENGTH * WINDOWS);
        unlink(path);
        gs_free(path);
    }
    gs_free(ids);
    print_message("%zu kills, %zu of them between first and last row, %zu runs resumed twice or "
                  "more\n",
                  kills, partial, resumed_twice);
    assert_true(partial > KILLS / 10 && resumed_twice > 0);
}

/* ---- a disk that fills up ---- */

/* A file system of `size` for this process and its children; false where that is not allowed. */
static bool mount_small(const char *folder, const char *size) {
#ifdef __linux__
    char options[64];
    snprintf(options, sizeof options, "size=%s", size);
    return mkdir(folder, 0700) == 0 && mount("none", folder, "tmpfs", 0, options) == 0;
#else
    (void)folder, (void)size;
    return false;
#endif
}

/* Takes all space but `left` bytes. */
static void fill_disk(const char *path, size_t size, size_t left) {
    static const char zeros[4096];
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(file >= 0);
    for (size_t done = 0; done + left < size; done += sizeof zeros)
        if (write(file, zeros, sizeof zeros) <= 0) break;
    close(file);
}

static void expect_full_disk(const char *path) {
    const char *text = what_was_said();
    if (strstr(text, strerror(ENOSPC)) && strstr(text, path) && strstr(text, "exit code 3")) return;
    print_error("%s\n", text);
    fail();
}

/* Space is there when recording begins, and taken by somebody else meanwhile. The rows of a plain
 * file have their space from the beginning, also when it is killed and resumed; those of a deflated
 * one take it as they are written. */
static void disk_that_fills(void **state) {
    (void)state;
    char *folder = keep(gs_scratch_path("small")), *ids = make_ids();
    if (!mount_small(folder, "16m")) {
        gs_free(folder);
        gs_free(ids);
        skip();
    }
    char path[512], filler[512];
    snprintf(path, sizeof path, "%s/trace.h5", folder);
    snprintf(filler, sizeof filler, "%s/filler", folder);
    size_t failures = 0;
    for (int n = 0; n < 20; n++) {
        const size_t choice = n % 2 ? DEFLATED : PLAIN;
        pid_t child = start_child(path, ids, choice);
        for (int tries = 0; tries < 10000 && !gs_path_exists(path); tries++) wait_seconds(1e-3);
        wait_seconds(seconds_of[choice] * n / 40);
        fill_disk(filler, (size_t)16 << 20, 0);
        if (n % 4 == 0) {
            kill(child, SIGKILL);
            wait_for_child(child);
            child = start_child(path, ids, choice);
        }
        int status = wait_for_child(child);
        assert_true(WIFEXITED(status));
        if (choice == DEFLATED && WEXITSTATUS(status) == FAILED) {
            failures++;
            expect_full_disk(path);
        } else {
            if (WEXITSTATUS(status) != 0) print_error("%s\n", what_was_said());
            assert_int_equal(WEXITSTATUS(status), 0);
        }
        if (gs_path_exists(path)) check(path, choice);
        unlink(filler);
        must_end_well(start_child(path, ids, choice));
        assert_int_equal(check(path, choice), LENGTH * WINDOWS);
        unlink(path);
    }
    umount(folder);
    rmdir(folder);
    gs_free(folder);
    gs_free(ids);
    print_message("%zu of 10 deflated runs met a full disk\n", failures);
    assert_true(failures > 0);
}

int main(int argc, char **argv) {
    if (argc == 4) _exit(record(argv[1], argv[2], &choices[strtoul(argv[3], NULL, 10) % CHOICES]));
    self = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_random),
        cmocka_unit_test(disk_that_fills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
