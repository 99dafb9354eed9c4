#include "reports/figures/gnuplot.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "reports/figures/label.h"
#include "reports/figures/text.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { SVG_LEAST = 300, MESSAGE_MOST = 200 };

static bool is_one_of(const char *variable, const char *const *names) {
    for (; *names; names++)
        if (strncmp(variable, *names, strlen(*names)) == 0) return true;
    return false;
}

/* The environment with what changes gnuplot's numbers or start-up replaced: a user's ~/.gnuplot and
 * GNUPLOT_* variables must not change a figure (the start-up file is looked for below HOME). */
static char **child_environment(void) {
    static const char *const dropped[] = {
        "LC_", "LANG=", "LANGUAGE=", "GNUTERM=", "GNUPLOT", "GDFONT", "HOME=", NULL};
    static char locale[] = "LC_ALL=C", home[] = "HOME=/nonexistent";
    size_t count = 0, kept = 0;
    while (environ[count]) count++;
    char **copy = gs_calloc(count + 3, sizeof *copy);
    if (!copy) return NULL;
    for (size_t i = 0; i < count; i++)
        if (!is_one_of(environ[i], dropped)) copy[kept++] = environ[i];
    copy[kept++] = locale;
    copy[kept++] = home;
    return copy;
}

/* Where the child's three streams go; all given as paths so that no descriptor leaks into it. */
static int redirect(posix_spawn_file_actions_t *actions, const char *in, const char *out,
                    const char *messages) {
    int failed = posix_spawn_file_actions_addopen(actions, 0, in, O_RDONLY, 0);
    int create = O_WRONLY | O_CREAT | O_TRUNC;
    if (!failed) failed = posix_spawn_file_actions_addopen(actions, 1, out, create, 0666);
    if (!failed) failed = posix_spawn_file_actions_addopen(actions, 2, messages, create, 0666);
    return failed;
}

/* errno, or 0 with the child's wait status. */
static int spawn(const char *in, const char *out, const char *messages, int *wait_status) {
    static char name[] = "gnuplot", dash[] = "-";
    char *arguments[] = {name, dash, NULL};
    char **environment = child_environment();
    if (!environment) return ENOMEM;
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);
    if (!failed) {
        pid_t child = 0;
        failed = redirect(&actions, in, out, messages);
        if (!failed) failed = posix_spawnp(&child, name, &actions, NULL, arguments, environment);
        while (!failed && waitpid(child, wait_status, 0) < 0)
            if (errno != EINTR) failed = errno;
        posix_spawn_file_actions_destroy(&actions);
    }
    gs_free(environment);
    return failed;
}

/* gnuplot's last line that says something: what stands before it is an echo of the script, a caret
 * and warnings. */
static void last_message(const char *path, struct gs_text *message) {
    struct gs_mapped_file file;
    if (gs_file_map(path, &file, NULL) != GS_OK) return;
    const char *text = (const char *)file.bytes;
    size_t end = file.size;
    while (end && (text[end - 1] == '\n' || text[end - 1] == ' ')) end--;
    size_t begin = end;
    while (begin && text[begin - 1] != '\n') begin--;
    while (begin < end && text[begin] == ' ') begin++;
    size_t length = end - begin;
    if (length) gs_label_show(message, text + begin, length < MESSAGE_MOST ? length : MESSAGE_MOST);
    gs_file_unmap(&file);
}

static enum gs_status not_started(int errno_value, struct gs_error *error) {
    enum gs_status status =
        gs_fail(error, GS_MISSING, "gnuplot cannot be started: %s", strerror(errno_value));
    gs_error_where(error, "gnuplot");
    gs_error_next(error, "install gnuplot (Debian: gnuplot-nox) and see that it is on the PATH");
    return status;
}

/* A whole SVG: not empty, and its end is there. */
static bool is_whole_svg(const char *path, size_t *size) {
    struct gs_mapped_file file;
    *size = 0;
    if (gs_file_map(path, &file, NULL) != GS_OK) return false;
    static const char closing[] = "</svg>";
    bool whole = false;
    *size = file.size;
    for (size_t back = 0; file.size >= SVG_LEAST && back < 16 && !whole; back++)
        whole = memcmp(file.bytes + file.size - (sizeof closing - 1) - back, closing,
                       sizeof closing - 1) == 0;
    gs_file_unmap(&file);
    return whole;
}

static enum gs_status judge(int wait_status, const char *svg_path, const char *messages,
                            struct gs_error *error) {
    size_t size;
    bool ended_well = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
    if (ended_well && is_whole_svg(svg_path, &size)) return GS_OK;
    struct gs_text message = {0};
    last_message(messages, &message);
    const char *said = message.bytes ? message.bytes : "it gave no message";
    enum gs_status status = GS_IO;
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 127) {
        status = not_started(ENOENT, error);
    } else if (WIFSIGNALED(wait_status)) {
        gs_fail(error, GS_IO, "gnuplot was ended by signal %d: %s", WTERMSIG(wait_status), said);
    } else if (!ended_well) {
        gs_fail(error, GS_IO, "gnuplot failed with exit code %d: %s", WEXITSTATUS(wait_status),
                said);
    } else {
        gs_fail(error, GS_IO, "gnuplot wrote no whole picture: %s", said);
    }
    if (status == GS_IO) gs_error_where(error, "%s", svg_path);
    gs_text_free(&message);
    return status;
}

static enum gs_status run_in_files(const char *script, size_t size, const char *svg_path,
                                   const char *in, const char *messages, struct gs_error *error) {
    enum gs_status status = gs_file_write(in, true, script, size, error);
    if (status != GS_OK) return status;
    int wait_status = 0;
    int failed = spawn(in, svg_path, messages, &wait_status);
    status = failed ? not_started(failed, error) : judge(wait_status, svg_path, messages, error);
    if (status != GS_OK) unlink(svg_path);
    unlink(in);
    unlink(messages);
    return status;
}

enum gs_status gs_gnuplot_run(const char *script, size_t size, const char *svg_path,
                              struct gs_error *error) {
    struct gs_text in = {0}, messages = {0};
    gs_text_add(&in, "%s.script", svg_path);
    gs_text_add(&messages, "%s.messages", svg_path);
    enum gs_status status = gs_text_check(&in, "a path", error);
    if (status == GS_OK) status = gs_text_check(&messages, "a path", error);
    if (status == GS_OK)
        status = run_in_files(script, size, svg_path, in.bytes, messages.bytes, error);
    gs_text_free(&in);
    gs_text_free(&messages);
    return status;
}

enum gs_status gs_gnuplot_probe(struct gs_error *error) {
    static const char script[] = "set terminal svg size 300,200 noenhanced\nplot x with lines\n";
    const char *base = getenv("TMPDIR");
    struct gs_text folder = {0}, picture = {0};
    gs_text_add(&folder, "%s/gpnscope-probe-XXXXXX", base && base[0] ? base : "/tmp");
    enum gs_status status = gs_text_check(&folder, "a path", error);
    if (status == GS_OK && !mkdtemp(folder.bytes))
        status = gs_fail_errno(error, errno, "making a temporary folder", folder.bytes);
    if (status != GS_OK) {
        gs_text_free(&folder);
        return status;
    }
    gs_text_add(&picture, "%s/probe.svg", folder.bytes);
    status = gs_text_check(&picture, "a path", error);
    if (status == GS_OK) {
        status = gs_gnuplot_run(script, sizeof script - 1, picture.bytes, error);
        if (status == GS_IO)
            gs_error_next(error, "use a gnuplot that has the svg terminal (Debian: gnuplot-nox)");
        unlink(picture.bytes);
    }
    rmdir(folder.bytes);
    gs_text_free(&picture);
    gs_text_free(&folder);
    return status;
}
