/* What commands do with outputs: refuse early what cannot be written, and write results. */
#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/visible.h"
#include "core/programs/parser.h"
#include "core/results/results.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TABLE_ROWS = 20 };

/* ---- messages ---- */

/* The whole message, however long its paths are (gs_free); NULL when memory is short. */
static char *formatted(const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : gs_calloc((size_t)length + 1, 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

/* A progress bar on the line gives way; one whose work is done gets its last line first. */
static void write_message(const struct gs_call *call, const char *format, va_list arguments) {
    struct gs_progress_bar *bar = call->progress ? call->progress->context : NULL;
    if (bar && bar->running && bar->done >= bar->total)
        gs_progress_bar_finish(bar);
    else if (bar)
        gs_progress_bar_clear(bar);
    char *text = formatted(format, arguments);
    if (text) gs_visible_put(stderr, text, 0);
    gs_free(text);
    fputc('\n', stderr);
    fflush(stderr);
}

void gs_call_message(const struct gs_call *call, const char *format, ...) {
    if (call->quiet) return;
    va_list arguments;
    va_start(arguments, format);
    write_message(call, format, arguments);
    va_end(arguments);
}

void gs_call_warning(const struct gs_call *call, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    snprintf(text, sizeof text, "warning: %s", format);
    write_message(call, text, arguments);
    va_end(arguments);
}

/* ---- before the work ---- */

/* The nearest folder above `path` that exists can be written. */
static enum gs_status check_folder(const char *path, struct gs_error *error) {
    char *folder = gs_path_folder(path);
    while (folder && !gs_path_exists(folder)) {
        char *above = gs_path_folder(folder);
        gs_free(folder);
        folder = above;
    }
    if (!folder) return gs_fail_memory(error, strlen(path), "a path");
    enum gs_status status = GS_OK;
    if (!gs_path_is_folder(folder))
        status = gs_fail_errno(error, ENOTDIR, "cannot write here", path);
    else if (access(folder, W_OK) != 0)
        status = gs_fail_errno(error, errno, "cannot write here", path);
    gs_free(folder);
    return status;
}

/* Files in the folder, but for what a process that was killed before its first file left. */
static enum gs_status count_files(const char *folder, size_t *files, struct gs_error *error) {
    char **names;
    size_t count;
    enum gs_status status = gs_folder_list(folder, &names, &count, error);
    if (status != GS_OK) return status;
    *files = 0;
    for (size_t i = 0; i < count; i++) *files += !gs_output_is_temporary(names[i]);
    gs_free_names(names, count);
    return GS_OK;
}

static enum gs_status check_target(const char *path, bool force, struct gs_error *error) {
    size_t count;
    if (!gs_path_is_folder(path)) {
        enum gs_status status = gs_output_check(path, force, error);
        return status == GS_OK ? check_folder(path, error) : status;
    }
    enum gs_status status = count_files(path, &count, error);
    if (status != GS_OK) return status;
    if (count > 0 && !force) {
        gs_fail(error, GS_EXISTS, "the output exists already and is not empty");
        gs_error_where(error, "%s", path);
        gs_error_next(error, "choose another folder, or write into it with --force");
        return GS_EXISTS;
    }
    if (access(path, W_OK) != 0) return gs_fail_errno(error, errno, "cannot write here", path);
    return GS_OK;
}

/* A file's folder is not made for it: its absence is most often a mistyped path. */
static enum gs_status check_file(const char *path, bool force, struct gs_error *error) {
    enum gs_status status = gs_output_check(path, force, error);
    if (status != GS_OK) return status;
    char *folder = gs_path_folder(path);
    if (!folder) return gs_fail_memory(error, strlen(path), "a path");
    if (!gs_path_exists(folder))
        status = gs_fail_errno(error, ENOENT, "cannot write here, the folder is missing", path);
    else
        status = check_folder(path, error);
    gs_free(folder);
    return status;
}

/* "out/" names the same folder as "out". */
static enum gs_status without_slash(const char *path, bool force, struct gs_error *error) {
    char *copy = gs_strdup(path);
    if (!copy) return gs_fail_memory(error, strlen(path), "a path");
    for (size_t length = strlen(copy); length > 1 && copy[length - 1] == '/';) copy[--length] = 0;
    enum gs_status status = check_target(copy, force, error);
    gs_free(copy);
    return status;
}

static size_t length_without_slash(const char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    return length;
}

/* The second would find the first in its place, after all the work. A folder may well take -o and
 * --csv together. */
static enum gs_status check_different(const char *a, const char *b, struct gs_error *error) {
    if (!a || !b || strcmp(a, "-") == 0) return GS_OK;
    size_t length = length_without_slash(a);
    if (length != length_without_slash(b) || strncmp(a, b, length) != 0) return GS_OK;
    gs_fail(error, GS_USAGE, "two outputs have the same path");
    gs_error_found(error, "%s twice", a);
    gs_error_next(error, "give each a path of its own");
    return GS_USAGE;
}

enum gs_status gs_call_check_outputs(const struct gs_call *call, struct gs_error *error) {
    enum gs_status status = check_different(call->output, call->json, error);
    if (status == GS_OK) status = check_different(call->json, call->csv, error);
    if (status == GS_OK && call->output && strcmp(call->output, "-") != 0 && !call->resume)
        status = without_slash(call->output, call->force, error);
    if (status == GS_OK && call->json && strcmp(call->json, "-") != 0)
        status = check_file(call->json, call->force, error);
    if (status == GS_OK && call->csv) status = without_slash(call->csv, call->force, error);
    return status;
}

/* ---- after the work ---- */

static enum gs_status record_call(const struct gs_call *call, struct gs_results *results,
                                  struct gs_error *error) {
    enum gs_status status = GS_OK;
    if (!gs_results_has_setting(results, "seed")) {
        char text[32];
        snprintf(text, sizeof text, "%" PRIu64, call->seed);
        /* JSON's integers end at 2^63: a larger seed is written as text. */
        status = call->seed <= INT64_MAX
                     ? gs_results_setting_integer(results, "seed", (int64_t)call->seed, error)
                     : gs_results_setting(results, "seed", text, error);
    }
    if (status == GS_OK && call->command_line)
        status = gs_results_setting(results, "command_line", call->command_line, error);
    return status;
}

enum gs_status gs_call_finish(const struct gs_call *call, struct gs_results *results,
                              struct gs_error *error) {
    bool json_shown = call->json && strcmp(call->json, "-") == 0;
    enum gs_status status = record_call(call, results, error);
    if (status == GS_OK && call->json) status = gs_results_settle(results, error);
    if (status == GS_OK && call->json)
        status = gs_results_write(results, call->json, call->force, error);
    if (status == GS_OK && call->csv)
        status = gs_results_write_csv(results, call->csv, "", call->force, error);
    if (status != GS_OK || call->quiet || json_shown) return status;
    if (call->progress && call->progress->context) gs_progress_bar_finish(call->progress->context);
    status = gs_results_print(results, stdout, TABLE_ROWS, error);
    if (status != GS_OK) gs_error_where(error, "standard output");
    return status;
}
