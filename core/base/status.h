/* status.h - the one vocabulary of outcomes, and the error that explains one.
 *
 * Every function of gpnscope that can fail returns an enum gs_status; results leave through
 * pointers. A caller who wants the reason passes a struct gs_error (or NULL, which is always
 * legal). Libraries never print, exit or abort; the programs print the error and turn the status
 * into an exit code (../shared/spec/cli.md: 0 done, 1 a check failed, 2 usage, 3 input or I/O,
 * 4 numerical failure).
 */
#ifndef GS_CORE_BASE_STATUS_H
#define GS_CORE_BASE_STATUS_H

#include <stddef.h>

/* name, exit code, text: the one list from which the enum, the texts and the exit codes follow. */
#define GS_STATUS_LIST(entry)                                                                      \
    entry(GS_OK, 0, "done") entry(GS_CHECK_FAILED, 1, "a check or verdict failed")                 \
        entry(GS_USAGE, 2, "wrong usage") entry(GS_NO_MEMORY, 3, "not enough memory")              \
            entry(GS_IO, 3, "reading or writing failed") entry(GS_EXISTS, 3, "the output exists")  \
                entry(GS_MISSING, 3, "something needed is missing")                                \
                    entry(GS_FORMAT, 3, "the file does not follow its format")                     \
                        entry(GS_SHAPE, 3, "a shape does not fit")                                 \
                            entry(GS_RANGE, 3, "a value is out of range")                          \
                                entry(GS_CONFIG, 3, "the config is not usable")                    \
                                    entry(GS_UNSUPPORTED, 3, "this is not supported")              \
                                        entry(GS_NUMERIC, 4, "a numerical failure")                \
                                            entry(GS_INTERRUPTED, 130, "stopped on request")

#define GS_STATUS_ENUM(name, exit_code, text) name,
enum gs_status { GS_STATUS_LIST(GS_STATUS_ENUM) GS_STATUS_COUNT };
#undef GS_STATUS_ENUM

/* Why something failed, in words for a person. Plain storage: no ownership, copy freely.
 * All members are NUL-terminated; an empty string means "nothing to say". */
struct gs_error {
    enum gs_status status;
    char what[512];     /* what went wrong, a plain sentence without a full stop */
    char expected[256]; /* what would have been right */
    char found[256];    /* what was there instead */
    char where[512];    /* file, dataset, row, key … */
    char next[256];     /* what the user can do next */
};

/* Start an error: sets status and what, clears the rest, returns `status` so that a caller can
 * write `return gs_fail(...)`. `error` may be NULL. */
enum gs_status gs_fail(struct gs_error *error, enum gs_status status, const char *what, ...)
    __attribute__((format(printf, 3, 4)));

/* Start an error from errno: what = "<doing>: <strerror(errno_value)>", where = path (may be
 * NULL). Returns GS_NO_MEMORY for ENOMEM, GS_MISSING for ENOENT, GS_EXISTS for EEXIST, else GS_IO.
 */
enum gs_status gs_fail_errno(struct gs_error *error, int errno_value, const char *doing,
                             const char *path);

/* "not enough memory for <bytes> of <what>". */
enum gs_status gs_fail_memory(struct gs_error *error, size_t bytes, const char *what);

/* Add to a started error. `error` may be NULL. */
void gs_error_expected(struct gs_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void gs_error_found(struct gs_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void gs_error_where(struct gs_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void gs_error_next(struct gs_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The whole error in one line: "where: what: expected X, found Y; next". Always NUL-terminated,
 * what cannot be shown as it is as \xNN (visible.h). Returns `buffer`. */
char *gs_error_text(const struct gs_error *error, char *buffer, size_t size);

/* The status as a name ("GS_FORMAT"), as a text, as an exit code. Unknown values are named so. */
const char *gs_status_name(enum gs_status status);
const char *gs_status_text(enum gs_status status);
int gs_status_exit_code(enum gs_status status);

#endif
