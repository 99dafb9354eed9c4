#include "tests/core/training/child.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 64 };

const char *child_program(void) {
    static char path[PATH_MAX];
    const char *folder = getenv("GS_BIN");
    if (folder) {
        snprintf(path, sizeof path, "%s/gpnscope-train", folder);
    } else { /* by hand: tests/ stands beside bin/ */
        char own[PATH_MAX - 32];
        ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
        own[length > 0 ? length : 0] = '\0';
        char *slash = strrchr(own, '/');
        if (slash) *slash = '\0';
        snprintf(path, sizeof path, "%s/../bin/gpnscope-train", own);
    }
    if (access(path, X_OK) == 0) return path;
    print_message("skipped: there is no %s\n", path);
    return NULL;
}

static void limit(int resource, size_t bytes) {
    if (!bytes) return;
    const struct rlimit value = {bytes, bytes};
    if (setrlimit(resource, &value) != 0) _exit(126);
}

static const char *said_path(void) {
    return gs_scratch_path("child.stderr");
}

pid_t child_start(const char *const *arguments, const struct child_limits *limits) {
    static const struct child_limits none = {0};
    if (!limits) limits = &none;
    const char *list[MOST_ARGUMENTS] = {child_program()};
    char threads[16];
    size_t count = 1;
    for (size_t i = 0; arguments[i]; i++) {
        assert_true(count + 3 < MOST_ARGUMENTS);
        list[count++] = arguments[i];
    }
    snprintf(threads, sizeof threads, "%d", limits->threads ? limits->threads : 1);
    list[count++] = "--threads";
    list[count++] = threads;
    const char *path = said_path();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0) return child;
    int nothing = open("/dev/null", O_RDWR), said = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(nothing, 0);
    dup2(nothing, 1);
    dup2(said, 2);
    limit(RLIMIT_AS, limits->address_space);
    limit(RLIMIT_FSIZE, limits->file_size);
    execv(list[0], (char **)(uintptr_t)list);
    _exit(127);
}

static void read_said(struct child_end *end) {
    FILE *stream = fopen(said_path(), "rb");
    assert_non_null(stream);
    size_t most = sizeof end->said - 1;
    if (fseek(stream, -(long)most, SEEK_END) != 0) rewind(stream);
    end->said[fread(end->said, 1, most, stream)] = '\0';
    fclose(stream);
}

void child_wait(pid_t child, struct child_end *end) {
    int status;
    struct rusage usage;
    assert_int_equal(wait4(child, &status, 0, &usage), child);
    *end = (struct child_end){.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                              .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0};
#ifdef __APPLE__
    end->peak = (size_t)usage.ru_maxrss;
#else
    end->peak = (size_t)usage.ru_maxrss * 1024;
#endif
    read_said(end);
}

void child_run(const char *const *arguments, const struct child_limits *limits,
               struct child_end *end) {
    child_wait(child_start(arguments, limits), end);
}
