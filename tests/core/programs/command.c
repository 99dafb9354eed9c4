/* The frame of every program, seen from outside: a child is run and its output and exit code are
 * looked at. The first argument is the path of the program (probe.c). */
#include "tests/support/support.h"

#include "core/base/environment.h"
#include "core/results/results.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *probe;

enum { OUTPUT = 1 << 16, ARGUMENTS = 24, CLOSED = -2 };

struct child {
    pid_t id;
    int out, err; /* reading ends */
    char stdout_text[OUTPUT], stderr_text[OUTPUT];
    int code; /* exit code, or minus the signal */
};

/* Where a child's stdout goes: a pipe, or a descriptor of the caller's, or CLOSED. */
struct setting {
    int stdout_descriptor;
    rlim_t file_limit; /* 0: none */
};

static void become_child(const struct setting *setting, const int *out, const int *err,
                         const char **arguments) {
    if (setting->stdout_descriptor >= 0) dup2(setting->stdout_descriptor, 1);
    if (setting->stdout_descriptor == -1) dup2(out[1], 1);
    if (setting->stdout_descriptor == CLOSED) close(1);
    dup2(err[1], 2);
    close(out[0]), close(out[1]), close(err[0]), close(err[1]);
    if (setting->file_limit) {
        struct rlimit limit = {setting->file_limit, setting->file_limit};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    execv(probe, (char **)(uintptr_t)arguments);
    _exit(126);
}

static void start(struct child *child, const struct setting *setting, const char **arguments) {
    int out[2], err[2];
    memset(child, 0, sizeof *child);
    assert_int_equal(pipe(out), 0);
    assert_int_equal(pipe(err), 0);
    child->id = fork();
    assert_true(child->id >= 0);
    if (child->id == 0) become_child(setting, out, err, arguments);
    close(out[1]), close(err[1]);
    child->out = out[0];
    child->err = err[0];
}

/* Append what can be read; false at the end. */
static bool append(int descriptor, char *text) {
    size_t used = strlen(text);
    char waste[4096];
    bool full = used + 1 >= OUTPUT;
    ssize_t got =
        read(descriptor, full ? waste : text + used, full ? sizeof waste : OUTPUT - 1 - used);
    return got > 0;
}

static void wait_for(struct child *child, const char *word) {
    while (!strstr(child->stderr_text, word))
        if (!append(child->err, child->stderr_text))
            fail_msg("the child did not say \"%s\": %s", word, child->stderr_text);
}

static void finish(struct child *child) {
    struct pollfd ends[2] = {{child->out, POLLIN, 0}, {child->err, POLLIN, 0}};
    while (ends[0].fd >= 0 || ends[1].fd >= 0) {
        if (poll(ends, 2, -1) < 0) continue;
        if (ends[0].revents && !append(ends[0].fd, child->stdout_text)) ends[0].fd = -1;
        if (ends[1].revents && !append(ends[1].fd, child->stderr_text)) ends[1].fd = -1;
    }
    close(child->out), close(child->err);
    int how = 0;
    assert_int_equal(waitpid(child->id, &how, 0), child->id);
    child->code = WIFEXITED(how) ? WEXITSTATUS(how) : -WTERMSIG(how);
}

static struct child child; /* the last one */
static const struct setting plain = {.stdout_descriptor = -1};

static void run_with(const struct setting *setting, const char **words) {
    const char *arguments[ARGUMENTS] = {probe};
    size_t count = 0;
    while (words[count]) {
        assert_true(count + 2 < ARGUMENTS);
        arguments[count + 1] = words[count];
        count++;
    }
    start(&child, setting, arguments);
    finish(&child);
}

#define RUN(...) run_with(&plain, (const char *[]){__VA_ARGS__, NULL})

static void expect_code(int code) {
    if (child.code == code) return;
    fail_msg("exit code %d, expected %d\nstdout: %.2000s\nstderr: %.2000s", child.code, code,
             child.stdout_text, child.stderr_text);
}

static void expect_word(const char *text, const char *word) {
    if (!strstr(text, word)) fail_msg("\"%s\" is not in: %.2000s", word, text);
}

static void expect_no_word(const char *text, const char *word) {
    if (strstr(text, word)) fail_msg("\"%s\" is in: %.2000s", word, text);
}

/* A misuse: exit 2, nothing on stdout, the words on stderr, and a pointer to the help. */
static void expect_misuse(const char *first, const char *second) {
    expect_code(2);
    assert_string_equal(child.stdout_text, "");
    expect_word(child.stderr_text, first);
    expect_word(child.stderr_text, second);
    expect_word(child.stderr_text, "gpnscope probe --help");
}

static void test_defaults(void **state) {
    (void)state;
    RUN("show");
    expect_code(0);
    assert_string_equal(child.stderr_text, "");
    assert_string_equal(child.stdout_text,
                        "stream=predicted given=0 skip=7 rtol=0.5 fast=0\n"
                        "output=(none) json=(none) csv=(none) force=0 resume=0 quiet=0 seed=0 "
                        "given=0\nfile=show\nline=gpnscope probe show\n");
}

static void test_all_options(void **state) {
    (void)state;
    RUN("--stream", "grounded", "show", "--skip-first=12", "--rtol", "-1e-3", "a file", "--do", "a",
        "--fast", "-o", "out", "--do=b c", "--json", "-", "--csv", "dir", "--force", "--resume",
        "--quiet", "--seed=18446744073709551615");
    expect_code(0);
    assert_string_equal(
        child.stdout_text,
        "stream=grounded given=1 skip=12 rtol=-0.001 fast=1\ndo=a\ndo=b c\n"
        "output=out json=- csv=dir force=1 resume=1 quiet=1 seed=18446744073709551615 given=1\n"
        "file=show\nfile=a file\n"
        "line=gpnscope probe --stream grounded show --skip-first=12 --rtol -1e-3 'a file' --do a "
        "--fast -o out '--do=b c' --json - --csv dir --force --resume --quiet "
        "--seed=18446744073709551615\n");
}

static void test_dashes(void **state) {
    (void)state;
    RUN("show", "--", "--fast", "-o");
    expect_code(0);
    expect_word(child.stdout_text, "fast=0");
    expect_word(child.stdout_text, "file=--fast\nfile=-o\n");
    RUN("show", "-o", "-strange", "-");
    expect_code(0);
    expect_word(child.stdout_text, "output=-strange ");
    expect_word(child.stdout_text, "file=-\n");
    RUN("show", "--output=--x");
    expect_word(child.stdout_text, "output=--x ");
}

/* The recorded line, given to a shell, is the same arguments again. */
static void test_command_line(void **state) {
    (void)state;
    RUN("it's", "a\nb", "$HOME `id` \"x\"", "--do=*", "--stream=");
    expect_code(0);
    const char *line = strstr(child.stdout_text, "line=gpnscope probe ");
    assert_non_null(line);
    char script[1024];
    snprintf(script, sizeof script, "printf '<%%s>' %s", line + strlen("line=gpnscope probe "));
    FILE *shell = popen(script, "r");
    assert_non_null(shell);
    char text[512] = "";
    size_t got = fread(text, 1, sizeof text - 1, shell);
    assert_int_equal(pclose(shell), 0);
    text[got] = '\0';
    assert_string_equal(text, "<it's><a\nb><$HOME `id` \"x\"><--do=*><--stream=>");
}

static void test_misuse(void **state) {
    (void)state;
    RUN("show", "--strem", "x");
    expect_misuse("unknown option --strem", "did you mean --stream?");
    RUN("show", "--ouptut=x");
    expect_misuse("unknown option --ouptut;", "did you mean --output?");
    RUN("show", "--quantum");
    expect_misuse("unknown option --quantum", "");
    expect_no_word(child.stderr_text, "did you mean");
    RUN("show", "-x");
    expect_misuse("unknown option -x", "");
    RUN("show", "--stream");
    expect_misuse("--stream needs a value", "");
    RUN("show", "--fast=1");
    expect_misuse("--fast", "takes no value");
    RUN("show", "--skip-first", "-1");
    expect_misuse("--skip-first takes a whole number", "\"-1\"");
    RUN("show", "--skip-first", "99999999999999999999");
    expect_misuse("--skip-first takes a whole number", "99999999999999999999");
    RUN("show", "--rtol", "nan");
    expect_misuse("--rtol takes a number", "\"nan\"");
    RUN("show", "--seed", "x");
    expect_misuse("--seed takes a whole number", "\"x\"");
    RUN("show", "--threads", "5000");
    expect_misuse("--threads takes at most", "");
    RUN("--fast");
    expect_misuse("too few files", "WHAT [FILE]...");
    RUN("show", "a", "b", "c");
    expect_misuse("too many files", "is c");
}

static void test_help(void **state) {
    (void)state;
    RUN("--help");
    expect_code(0);
    assert_string_equal(child.stderr_text, "");
    static const char *const words[] = {"gpnscope probe - do what a test says",
                                        "Usage: gpnscope probe WHAT [FILE]... [options]",
                                        "\n\nShows its options, or fails as told. This line is "
                                        "longer than a terminal is wide\nand is "
                                        "to be filled. This one belongs to it, too.\n\nExample:\n  "
                                        "gpnscope probe show\n    as it is\n\nOptions",
                                        "Options of its own",
                                        "      --stream NAME",
                                        "      --do SPEC",
                                        "repeatedly",
                                        "Common options",
                                        "  -o, --output PATH",
                                        "      --json FILE",
                                        "      --threads N",
                                        "  -h, --help",
                                        "Exit codes"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        expect_word(child.stdout_text, words[i]);
    size_t column = 0; /* no line is wider than a terminal */
    for (const char *byte = child.stdout_text; *byte; byte++) {
        column = *byte == '\n' ? 0 : column + 1;
        assert_true(column <= 80);
    }
    RUN("-h");
    expect_code(0);
    RUN("show", "--help", "--no-such-option"); /* help, once seen, is given */
    expect_code(0);
}

static void test_version(void **state) {
    (void)state;
    RUN("--version");
    expect_code(0);
    static const char *const words[] = {
        ("gpnscope " GS_VERSION), "compiler", "OpenBLAS", "core", "threading", "HDF5      9.9.9\n"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        expect_word(child.stdout_text, words[i]);
    /* a BLAS that is not the OpenMP build is warned of, and only then */
    bool right = strstr(child.stdout_text, "threading openmp") != NULL;
    assert_true(right == (strstr(child.stderr_text, "warning") == NULL));
    RUN("--version", "--threads", "1");
    expect_code(0);
}

static void test_exit_codes(void **state) {
    (void)state;
    for (int i = 1; i < GS_STATUS_COUNT; i++) {
        enum gs_status status = (enum gs_status)i;
        RUN(gs_status_name(status));
        expect_code(gs_status_exit_code(status));
        expect_word(child.stderr_text, "gpnscope probe: some\\x0afile: told to fail\n");
        assert_true((strstr(child.stderr_text, "--help") != NULL) == (status == GS_USAGE));
    }
    RUN("silent-failure");
    expect_code(3);
    expect_word(child.stderr_text, gs_status_text(GS_FORMAT));
}

static void test_messages(void **state) {
    (void)state;
    RUN("warn");
    expect_code(0);
    assert_string_equal(child.stderr_text, "a message of 1\nwarning: 100 % of it\n");
    RUN("warn", "--quiet");
    assert_string_equal(child.stderr_text, "warning: 100 % of it\n");
    assert_string_equal(child.stdout_text, "");
}

/* Work that is done is said to be done before what comes of it is told, and once. */
static void test_order_of_messages(void **state) {
    (void)state;
    RUN("tell");
    expect_code(0);
    const char *done = strstr(child.stderr_text, "probe: 100 % (75 of 75)");
    const char *told = strstr(child.stderr_text, "the model is saved\n");
    assert_true(done && told && done < told);
    assert_null(strstr(told, "100 %"));
}

static void test_results(void **state) {
    (void)state;
    RUN("measure");
    expect_code(0);
    expect_word(child.stdout_text, "answer");
    expect_word(child.stdout_text, "42.5");
    expect_word(child.stdout_text, "undefined");
    expect_word(child.stdout_text, "10 more");
    RUN("measure", "--quiet");
    expect_code(0);
    assert_string_equal(child.stdout_text, "");

    struct gs_results *results;
    struct gs_error error;
    struct gs_value value;
    const char *json = gs_scratch_path("r.json"), *csv = gs_scratch_path("csv");
    RUN("measure", "--json", json, "--csv", csv, "--seed", "5");
    expect_code(0);
    gs_assert_ok(gs_results_read(json, &results, &error), &error);
    assert_true(gs_results_find(results, "answer", &value) && value.value == 42.5);
    assert_true(gs_results_has_setting(results, "seed"));
    assert_true(gs_results_has_setting(results, "command_line"));
    gs_results_destroy(results);
    assert_int_equal(access(gs_scratch_path("csv/numbers.csv"), R_OK), 0);
    assert_int_equal(access(gs_scratch_path("csv/values.csv"), R_OK), 0);

    RUN("measure", "--json", "-"); /* the JSON alone */
    expect_code(0);
    const char *shown = gs_scratch_file("shown.json", child.stdout_text, strlen(child.stdout_text));
    gs_assert_ok(gs_results_read(shown, &results, &error), &error);
    gs_results_destroy(results);
}

static void test_outputs(void **state) {
    (void)state;
    const char *file = gs_scratch_file("exists", "x", 1);
    const char *folder = gs_scratch_path("folder"), *empty = gs_scratch_path("empty");
    mkdir(folder, 0755), mkdir(empty, 0755);
    gs_scratch_file("folder/x", "x", 1);
    static const char *const targets[] = {"--output", "--json", "--csv"};
    for (size_t i = 0; i < 3; i++) {
        RUN("outputs", targets[i], file);
        expect_code(3);
        expect_word(child.stderr_text, "exists");
        RUN("outputs", targets[i], gs_scratch_path("new"));
        expect_code(0);
        RUN("outputs", targets[i], gs_scratch_path("exists/below"));
        expect_code(3);
    }
    RUN("outputs", "--csv", folder);
    expect_code(3);
    expect_word(child.stderr_text, "not empty");
    expect_word(child.stderr_text, "--force");
    RUN("outputs", "-o", folder);
    expect_code(3);
    RUN("outputs", "-o", folder, "--force");
    expect_code(0);
    RUN("outputs", "-o", folder, "--resume");
    expect_code(0);
    RUN("outputs", "-o", empty, "--csv", gs_scratch_path("empty/"));
    expect_code(0);
    gs_scratch_file("empty/.run_0.safetensors.gpnscope-12-0", "x", 1); /* of a killed process */
    RUN("outputs", "-o", empty);
    expect_code(0);
    gs_scratch_file("empty/.gpnscope", "x", 1);
    RUN("outputs", "-o", empty);
    expect_code(3);
    RUN("outputs", "--json", folder, "--force");
    expect_code(3);
    expect_word(child.stderr_text, "a folder");
    RUN("outputs", "--json", gs_scratch_path("no/such/r.json"));
    expect_code(3);
    expect_word(child.stderr_text, "no/such/r.json");
    RUN("outputs", "--json", "/dev/full", "--force");
    expect_code(3);
    expect_word(child.stderr_text, "/dev/full");
    RUN("outputs", "--json", file, "--force");
    expect_code(0);
}

/* Output that does not arrive is never silent. */
static void test_lost_output(void **state) {
    (void)state;
    static const char *const commands[] = {"show", "flood", "measure", "--help", "--version"};
    struct setting setting = plain;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        setting.stdout_descriptor = open("/dev/full", O_WRONLY);
        if (setting.stdout_descriptor < 0) skip();
        run_with(&setting, (const char *[]){commands[i], NULL});
        close(setting.stdout_descriptor);
        expect_code(3);
        expect_word(child.stderr_text, "standard output");
        expect_word(child.stderr_text, strerror(ENOSPC));

        setting.stdout_descriptor = CLOSED;
        run_with(&setting, (const char *[]){commands[i], NULL});
        expect_code(3);
        expect_word(child.stderr_text, "standard output");
    }
    /* with nothing to write, a closed stdout is no fault, and no file takes its place */
    const char *json = gs_scratch_path("closed.json");
    run_with(&setting, (const char *[]){"measure", "--quiet", "--json", json, NULL});
    expect_code(0);
    struct gs_results *results;
    struct gs_error error;
    gs_assert_ok(gs_results_read(json, &results, &error), &error);
    gs_results_destroy(results);
    run_with(&setting, (const char *[]){"open", NULL});
    expect_code(0);
}

static void test_closed_pipe(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    struct setting setting = {.stdout_descriptor = ends[1]};
    run_with(&setting, (const char *[]){"flood", NULL});
    close(ends[1]);
    expect_code(3); /* and no death by SIGPIPE */
    expect_word(child.stderr_text, "standard output");
    expect_word(child.stderr_text, strerror(EPIPE));
}

static void test_file_size_limit(void **state) {
    (void)state;
    struct setting setting = {.stdout_descriptor = -1, .file_limit = 100};
    const char *json = gs_scratch_path("limited.json");
    run_with(&setting, (const char *[]){"measure", "--json", json, NULL});
    expect_code(3); /* and no death by SIGXFSZ */
    expect_word(child.stderr_text, "limited.json");
    expect_word(child.stderr_text, strerror(EFBIG));
    assert_int_not_equal(access(json, F_OK), 0);
}

static void test_stop(void **state) {
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < 2; i++) {
        start(&child, &plain, (const char *[]){probe, "work", NULL});
        wait_for(&child, "ready");
        kill(child.id, signals[i]);
        finish(&child);
        expect_code(130);
        expect_word(child.stderr_text, "saved");
        expect_word(child.stderr_text, "stopped after");
    }
}

static void test_stop_twice(void **state) {
    (void)state;
    start(&child, &plain, (const char *[]){probe, "deaf", NULL});
    wait_for(&child, "ready");
    kill(child.id, SIGINT);
    wait_for(&child, "again to kill");
    kill(child.id, SIGINT);
    finish(&child);
    expect_code(-SIGINT);
}

static void test_ignored_signal(void **state) {
    (void)state;
    void (*handler)(int) = signal(SIGINT, SIG_IGN); /* as nohup and background jobs do */
    start(&child, &plain, (const char *[]){probe, "work", NULL});
    signal(SIGINT, handler);
    wait_for(&child, "ready");
    kill(child.id, SIGINT);
    kill(child.id, SIGTERM);
    finish(&child);
    expect_code(130);
    expect_no_word(child.stderr_text, "again to kill");
}

int main(int argc, char **argv) {
    if (argc < 2) {
        print_error("usage: %s PROBE\n", argv[0]);
        return 2;
    }
    probe = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),        cmocka_unit_test(test_all_options),
        cmocka_unit_test(test_dashes),          cmocka_unit_test(test_command_line),
        cmocka_unit_test(test_misuse),          cmocka_unit_test(test_help),
        cmocka_unit_test(test_version),         cmocka_unit_test(test_exit_codes),
        cmocka_unit_test(test_messages),        cmocka_unit_test(test_order_of_messages),
        cmocka_unit_test(test_results),         cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_lost_output),     cmocka_unit_test(test_closed_pipe),
        cmocka_unit_test(test_file_size_limit), cmocka_unit_test(test_stop),
        cmocka_unit_test(test_stop_twice),      cmocka_unit_test(test_ignored_signal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
