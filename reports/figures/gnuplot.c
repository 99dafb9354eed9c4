#include "reports/figures/gnuplot.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "reports/figures/child.h"
#include "reports/figures/label.h"
#include "reports/figures/text.h"

#include <errno.h>
#include <stdbool.h>
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

/* errno, or 0 with the child's wait status. */
static int run_child(const char *script, size_t size, struct gs_text *picture,
                     struct gs_text *messages, int *wait_status) {
    static char name[] = "gnuplot", dash[] = "-";
    char *arguments[] = {name, dash, NULL};
    char **environment = child_environment();
    if (!environment) return ENOMEM;
    const struct gs_child child = {arguments, environment};
    int failed = gs_child_run(&child, script, size, picture, messages, wait_status);
    gs_free(environment);
    return failed;
}

/* gnuplot's last line that says something: what stands before it is an echo of the script, a caret
 * and warnings. */
static void last_message(const struct gs_text *messages, struct gs_text *message) {
    const char *text = messages->bytes;
    size_t end = messages->size;
    while (end && (text[end - 1] == '\n' || text[end - 1] == ' ')) end--;
    size_t begin = end;
    while (begin && text[begin - 1] != '\n') begin--;
    while (begin < end && text[begin] == ' ') begin++;
    size_t length = end - begin;
    if (length) gs_label_show(message, text + begin, length < MESSAGE_MOST ? length : MESSAGE_MOST);
}

static enum gs_status not_started(int errno_value, struct gs_error *error) {
    enum gs_status status =
        gs_fail(error, GS_MISSING, "gnuplot cannot be started: %s", strerror(errno_value));
    gs_error_where(error, "gnuplot");
    gs_error_next(error, "install gnuplot (Debian: gnuplot-nox) and see that it is on the PATH");
    return status;
}

/* A whole SVG: not empty, and its end is there. */
static bool is_whole_svg(const struct gs_text *picture) {
    static const char closing[] = "</svg>";
    const size_t length = sizeof closing - 1;
    bool whole = false;
    for (size_t back = 0; picture->size >= SVG_LEAST && back < 16 && !whole; back++)
        whole = memcmp(picture->bytes + picture->size - length - back, closing, length) == 0;
    return whole;
}

static enum gs_status judge(int wait_status, const struct gs_text *picture,
                            const struct gs_text *messages, struct gs_error *error) {
    bool ended_well = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
    if (ended_well && is_whole_svg(picture)) return GS_OK;
    struct gs_text message = {0};
    last_message(messages, &message);
    const char *said = message.bytes ? message.bytes : "it gave no message";
    enum gs_status status = GS_UNSUPPORTED;
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 127)
        status = not_started(ENOENT, error);
    else if (WIFSIGNALED(wait_status))
        gs_fail(error, status, "gnuplot was ended by signal %d: %s", WTERMSIG(wait_status), said);
    else if (!ended_well)
        gs_fail(error, status, "gnuplot failed with exit code %d: %s", WEXITSTATUS(wait_status),
                said);
    else
        gs_fail(error, status, "gnuplot wrote no whole picture: %s", said);
    gs_text_free(&message);
    return status;
}

/* gnuplot writes a label's '<' and '&' as XML wants them, but not the '>' of "]]>", which XML lets
 * stand in no text: the browser would refuse the picture. Where gnuplot writes CDATA sections,
 * "]]>" is their end and stays. */
static enum gs_status mend(struct gs_text *picture, struct gs_error *error) {
    static const char end[] = "]]>", begin[] = "<![CDATA[";
    struct gs_text mended = {0};
    bool in_cdata = false;
    if (!strstr(picture->bytes, end)) return GS_OK;
    for (size_t at = 0; at < picture->size; at++) {
        const char *here = picture->bytes + at;
        if (strncmp(here, begin, sizeof begin - 1) == 0) in_cdata = true;
        bool ends = strncmp(here, end, sizeof end - 1) == 0;
        if (ends && !in_cdata) {
            gs_text_put(&mended, "]]&gt;");
            at += sizeof end - 2;
        } else {
            gs_text_bytes(&mended, here, 1);
        }
        if (ends) in_cdata = false;
    }
    gs_text_free(picture);
    *picture = mended;
    return gs_text_check(picture, "a picture", error);
}

/* The picture as text in memory: nothing is written that is not whole. */
static enum gs_status draw(const char *script, size_t size, struct gs_text *picture,
                           struct gs_error *error) {
    struct gs_text messages = {0};
    int wait_status = 0;
    int failed = run_child(script, size, picture, &messages, &wait_status);
    enum gs_status status =
        failed ? not_started(failed, error) : gs_text_check(picture, "a picture", error);
    if (status == GS_OK) status = judge(wait_status, picture, &messages, error);
    if (status == GS_OK) status = mend(picture, error);
    gs_text_free(&messages);
    return status;
}

enum gs_status gs_gnuplot_run(const char *script, size_t size, const char *svg_path,
                              struct gs_error *error) {
    struct gs_text picture = {0};
    enum gs_status status = draw(script, size, &picture, error);
    if (status == GS_UNSUPPORTED) gs_error_where(error, "%s", svg_path);
    if (status == GS_OK) status = gs_file_write(svg_path, true, picture.bytes, picture.size, error);
    gs_text_free(&picture);
    return status;
}

enum gs_status gs_gnuplot_probe(struct gs_error *error) {
    static const char script[] = "set terminal svg size 300,200 noenhanced\nplot x with lines\n";
    struct gs_text picture = {0};
    enum gs_status status = draw(script, sizeof script - 1, &picture, error);
    if (status == GS_UNSUPPORTED)
        gs_error_next(error, "use a gnuplot that has the svg terminal (Debian: gnuplot-nox)");
    gs_text_free(&picture);
    return status;
}
