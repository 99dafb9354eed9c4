/* No input may make a reader open another file. The calls that open files, ours and the libraries',
 * come through here, since a program's own functions go before those of libc. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "tests/fuzz/target.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static void guard(const char *path) {
    if (gs_fuzz_may_open(path)) return;
    gs_fuzz_end();
    fprintf(stderr, "opened: %s\n", path);
    gs_fuzz_fault("a file outside of the input was opened");
}

static int open_now(int folder, const char *path, int flags, va_list rest) {
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;
    guard(path);
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

/* The names are given to the linker: the header's macros have other ones for large files. */
#define OPENS(function, symbol)                                                                    \
    int function(const char *path, int flags, ...) __asm__(symbol);                                \
    int function(const char *path, int flags, ...) {                                               \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        int descriptor = open_now(AT_FDCWD, path, flags, rest);                                    \
        va_end(rest);                                                                              \
        return descriptor;                                                                         \
    }
OPENS(gs_guard_open, "open")
OPENS(gs_guard_open64, "open64")

#define OPENS_STREAM(function, symbol)                                                             \
    FILE *function(const char *path, const char *mode) __asm__(symbol);                            \
    FILE *function(const char *path, const char *mode) {                                           \
        FILE *(*next)(const char *, const char *);                                                 \
        *(void **)&next = dlsym(RTLD_NEXT, symbol);                                                \
        guard(path);                                                                               \
        return next(path, mode);                                                                   \
    }
OPENS_STREAM(gs_guard_fopen, "fopen")
OPENS_STREAM(gs_guard_fopen64, "fopen64")
