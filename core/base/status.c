#include "core/base/status.h"

#include "core/base/visible.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct status_entry {
    const char *name;
    int exit_code;
    const char *text;
};

#define STATUS_ENTRY(name, exit_code, text) {#name, exit_code, text},
static const struct status_entry entries[GS_STATUS_COUNT] = {GS_STATUS_LIST(STATUS_ENTRY)};
#undef STATUS_ENTRY

static const struct status_entry *entry_of(enum gs_status status) {
    static const struct status_entry unknown = {"unknown status", 3, "an unknown status"};
    return (unsigned)status < GS_STATUS_COUNT ? &entries[status] : &unknown;
}

const char *gs_status_name(enum gs_status status) {
    return entry_of(status)->name;
}

const char *gs_status_text(enum gs_status status) {
    return entry_of(status)->text;
}

int gs_status_exit_code(enum gs_status status) {
    return entry_of(status)->exit_code;
}

/* A text that does not fit ends in "..." so that nobody takes the stump for the whole; it is cut
 * between two characters. */
static void format_into(char *buffer, size_t size, const char *format, va_list arguments) {
    int length = vsnprintf(buffer, size, format, arguments);
    if (length < 0) {
        buffer[0] = '\0';
    } else if ((size_t)length >= size) {
        size_t end = size - 4;
        for (int back = 0; back < 3 && ((unsigned char)buffer[end] & 0xc0) == 0x80; back++) end--;
        memcpy(buffer + end, "...", 4);
    }
}

static void clear(struct gs_error *error, enum gs_status status) {
    memset(error, 0, sizeof *error);
    error->status = status;
}

enum gs_status gs_fail(struct gs_error *error, enum gs_status status, const char *what, ...) {
    if (!error) return status;
    /* The arguments may point into the error itself (wrapping an error in a wider one). */
    char text[sizeof error->what];
    va_list arguments;
    va_start(arguments, what);
    format_into(text, sizeof text, what, arguments);
    va_end(arguments);
    clear(error, status);
    memcpy(error->what, text, sizeof text);
    return status;
}

static enum gs_status status_of_errno(int errno_value) {
    switch (errno_value) {
    case ENOMEM:
        return GS_NO_MEMORY;
    case ENOENT:
        return GS_MISSING;
    case EEXIST:
        return GS_EXISTS;
    default:
        return GS_IO;
    }
}

static const char *advice_for_errno(int errno_value) {
    switch (errno_value) {
    case EACCES:
    case EPERM:
        return "check the permissions";
    case EROFS:
        return "choose a folder that can be written";
    case ENOSPC:
        return "make room or choose another disk";
    case EDQUOT:
        return "the disk quota is used up: make room";
    case EFBIG:
        return "raise the file size limit (ulimit -f) or choose another file system";
    case EMFILE:
    case ENFILE:
        return "close other files or raise the limit (ulimit -n)";
    default:
        return "";
    }
}

enum gs_status gs_fail_errno(struct gs_error *error, int errno_value, const char *doing,
                             const char *path) {
    enum gs_status status = status_of_errno(errno_value);
    if (!error) return status;
    gs_fail(error, status, "%s: %s", doing, strerror(errno_value));
    if (path) gs_error_where(error, "%s", path);
    gs_error_next(error, "%s", advice_for_errno(errno_value));
    return status;
}

enum gs_status gs_fail_memory(struct gs_error *error, size_t bytes, const char *what) {
    gs_fail(error, GS_NO_MEMORY, "not enough memory for %zu bytes of %s", bytes, what);
    return GS_NO_MEMORY;
}

#define ERROR_MEMBER(member)                                                                       \
    void gs_error_##member(struct gs_error *error, const char *format, ...) {                      \
        if (!error) return;                                                                        \
        char text[sizeof error->member];                                                           \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        format_into(text, sizeof text, format, arguments);                                         \
        va_end(arguments);                                                                         \
        memcpy(error->member, text, sizeof text);                                                  \
    }
ERROR_MEMBER(expected)
ERROR_MEMBER(found)
ERROR_MEMBER(where)
ERROR_MEMBER(next)
#undef ERROR_MEMBER

struct writer {
    char *buffer;
    size_t size, used;
};

/* What does not fit as a whole, an escape or a character, is left out. */
static void put_bytes(struct writer *out, const char *bytes, size_t count) {
    if (out->used + count >= out->size) return;
    memcpy(out->buffer + out->used, bytes, count);
    out->used += count;
}

static void put(struct writer *out, const char *text) {
    size_t size = strlen(text);
    struct gs_visible_piece piece;
    for (size_t at = 0; at < size;) {
        at = gs_visible_next(text, size, at, &piece);
        put_bytes(out, piece.bytes, piece.count);
    }
}

char *gs_error_text(const struct gs_error *error, char *buffer, size_t size) {
    struct writer out = {buffer, size, 0};
    if (error && size) {
        if (error->where[0]) put(&out, error->where), put(&out, ": ");
        put(&out, error->what[0] ? error->what : gs_status_text(error->status));
        const char *glue = ": ";
        if (error->expected[0]) {
            put(&out, ": expected "), put(&out, error->expected);
            glue = ", ";
        }
        if (error->found[0]) put(&out, glue), put(&out, "found "), put(&out, error->found);
        if (error->next[0]) put(&out, "; "), put(&out, error->next);
    }
    if (size) buffer[out.used] = '\0';
    return buffer;
}
