#include "tests/support/support.h"

#include "core/base/file.h"
#include "core/base/memory.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void gs_assert_ok_at(enum gs_status status, const struct gs_error *error, const char *file,
                     int line) {
    if (status == GS_OK) return;
    char text[2048];
    if (error)
        print_error("%s: %s\n", gs_status_name(status), gs_error_text(error, text, sizeof text));
    _fail(file, line);
}

void gs_assert_error_at(enum gs_status status, enum gs_status expected,
                        const struct gs_error *error, const char *file, int line, ...) {
    char text[2048];
    gs_error_text(error, text, sizeof text);
    bool good = status == expected;
    if (!good)
        print_error("status %s, expected %s: %s\n", gs_status_name(status),
                    gs_status_name(expected), text);
    va_list words;
    va_start(words, line);
    for (const char *word; (word = va_arg(words, const char *));) {
        if (strstr(text, word)) continue;
        print_error("the error does not say \"%s\": %s\n", word, text);
        good = false;
    }
    va_end(words);
    if (!good) _fail(file, line);
}

/* Distance for comparison: 0 for the same value (also infinities, also two NaN), infinite when only
 * one is finite, so that it passes no tolerance. */
static double distance(double a, double b) {
    if (a == b || (isnan(a) && isnan(b))) return 0;
    double difference = fabs(a - b);
    return isfinite(difference) ? difference : INFINITY;
}

void gs_assert_close_at(const char *name, const float *a, const float *b, size_t count,
                        double relative, const char *file, int line) {
    double largest = 0, worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        double size = fabs((double)b[i]), away = distance((double)a[i], (double)b[i]);
        if (isfinite(size) && size > largest) largest = size;
        if (away > worst) worst = away, at = i;
    }
    double tolerance = relative * largest;
    if (worst <= tolerance && isfinite(worst)) return;
    print_error("%s[%zu]: %.9g, expected %.9g, tolerance %.3g (largest %.3g)\n", name, at,
                (double)a[at], (double)b[at], tolerance, largest);
    _fail(file, line);
}

void gs_assert_near_at(const char *name, double a, double b, double absolute, double relative,
                       const char *file, int line) {
    double tolerance = absolute + relative * (isfinite(b) ? fabs(b) : 0);
    double away = isnan(b) ? INFINITY : distance(a, b);
    if (away <= tolerance && isfinite(away)) return;
    print_error("%s: %.17g, expected %.17g, tolerance %.3g\n", name, a, b, tolerance);
    _fail(file, line);
}

static char scratch[256];
static pid_t scratch_owner; /* a forked child that exits must not remove it */

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk) {
    (void)info, (void)type, (void)walk;
    return remove(path);
}

static void remove_scratch(void) {
    if (getpid() != scratch_owner) return;
    nftw(scratch, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *gs_scratch_folder(void) {
    if (!scratch[0]) {
        const char *base = getenv("TMPDIR");
        snprintf(scratch, sizeof scratch, "%s/gpnscope-test-XXXXXX", base ? base : "/tmp");
        if (!mkdtemp(scratch)) abort();
        scratch_owner = getpid();
        atexit(remove_scratch);
    }
    return scratch;
}

/* Paths handed out live until exit; the ring is large enough for any one test. */
static char *remember(void) {
    enum { KEPT = 256, LENGTH = 1024 };
    static char paths[KEPT][LENGTH];
    static size_t next;
    return paths[next++ % KEPT];
}

const char *gs_scratch_path(const char *format, ...) {
    char name[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    char *path = remember();
    snprintf(path, 1024, "%s/%s", gs_scratch_folder(), name);
    return path;
}

static const char *below(const char *variable, const char *fallback, const char *relative) {
    const char *root = getenv(variable);
    char *path = remember();
    snprintf(path, 1024, "%s/%s", root && root[0] ? root : fallback, relative);
    return path;
}

const char *gs_shared_path(const char *relative) {
    const char *path = below("GS_SHARED", "../shared", relative);
    if (access(path, R_OK) == 0) return path;
    print_message("skipped: %s is absent\n", path);
    return NULL;
}

const char *gs_source_path(const char *relative) {
    return below("GS_SOURCE", ".", relative);
}

const char *gs_scratch_file(const char *name, const void *bytes, size_t size) {
    const char *path = gs_scratch_path("%s", name);
    FILE *stream = fopen(path, "wb");
    if (!stream || fwrite(bytes, 1, size, stream) != size || fclose(stream) != 0) abort();
    return path;
}
