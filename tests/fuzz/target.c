#define _GNU_SOURCE /* memfd_create */
#include "tests/fuzz/target.h"

#include "core/base/hash.h"
#include "core/base/json.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define COUNTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COUNTED 1
#endif
#endif
#ifdef COUNTED
/* sanitizer/allocator_interface.h, which gcc does not install. */
int __sanitizer_install_malloc_and_free_hooks(void (*taken)(const volatile void *, size_t),
                                              void (*given_back)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *pointer);
#endif

static char file_path[64], folder_path[256];
static atomic_bool armed;
static atomic_size_t held, limit;

_Noreturn void gs_fuzz_fault(const char *what) {
    atomic_store(&armed, false);
    fprintf(stderr, "fault: %s\n", what);
    abort();
}

/* ---- memory ---- */

#ifdef COUNTED
/* The sanitizers call these before they report: their report opens files. */
void __asan_on_error(void);
void __asan_on_error(void) {
    atomic_store(&armed, false);
}
void __ubsan_on_report(void);
void __ubsan_on_report(void) {
    atomic_store(&armed, false);
}

enum { LARGE = 16 << 20 };

static void count(size_t size) {
    static const char text[] = "fault: more memory than the limits of this target\n";
    if (atomic_fetch_add(&held, size) + size <= atomic_load(&limit)) return;
    atomic_store(&armed, false);
    if (write(2, text, sizeof text - 1) >= 0) abort();
    abort();
}

/* Bytes of a large allocation that are in memory. */
static size_t touched(const volatile void *pointer, size_t size) {
    static unsigned char pages[1 << 20];
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)pointer;
    uintptr_t first = (at + page - 1) / page * page, last = (at + size) / page * page;
    size_t number = first < last ? (last - first) / page : 0, bytes = 0;
    if (number > sizeof pages) number = sizeof pages;
    if (mincore((void *)first, number * page, pages) != 0) return 0;
    for (size_t i = 0; i < number; i++) bytes += pages[i] & 1 ? page : 0;
    return bytes;
}

/* These two may run on any thread, inside malloc: no allocation here. */
static void taken(const volatile void *pointer, size_t size) {
    (void)pointer;
    if (atomic_load(&armed) && !(gs_fuzz_limits.touched && size >= LARGE)) count(size);
}

static void given_back(const volatile void *pointer) {
    if (!pointer || !atomic_load(&armed)) return;
    size_t size = __sanitizer_get_allocated_size(pointer);
    if (gs_fuzz_limits.touched && size >= LARGE) {
        size = touched(pointer, size);
        count(size);
    }
    size_t now = atomic_load(&held);
    atomic_fetch_sub(&held, size < now ? size : now); /* some were taken before it was armed */
}
#endif

/* Libraries open files of their own at their first use: the seed of jansson's tables, OpenSSL's
 * settings. */
static void warm_up(void) {
    char text[GS_SHA256_TEXT];
    struct gs_json *json = NULL;
    struct gs_sha256 *hash = gs_sha256_create();
    if (!hash || gs_json_parse("{}", 2, "", &json, NULL) != GS_OK)
        gs_fuzz_fault("the libraries do not start");
    gs_sha256_finish(hash, text);
    gs_sha256_destroy(hash);
    gs_json_destroy(json);
}

void gs_fuzz_begin(size_t size) {
    static bool begun;
    if (!begun) {
        begun = true;
        warm_up();
#ifdef COUNTED
        __sanitizer_install_malloc_and_free_hooks(taken, given_back);
#endif
    }
    atomic_store(&held, 0);
    atomic_store(&limit, gs_fuzz_limits.fixed + gs_fuzz_limits.factor * size);
    atomic_store(&armed, true);
}

void gs_fuzz_end(void) {
    atomic_store(&armed, false);
}

bool gs_fuzz_status(enum gs_status status, const struct gs_error *error) {
    if (status == GS_OK) return true;
    if (status == GS_NO_MEMORY) gs_fuzz_fault("an input asked for more memory than there is");
    if (error->status != status || !error->what[0]) gs_fuzz_fault("a failure without an error");
    return false;
}

/* ---- files ---- */

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

bool gs_fuzz_may_open(const char *path) {
    if (!atomic_load(&armed)) return true;
    if (file_path[0] && strcmp(path, file_path) == 0) return true;
    if (folder_path[0] && begins(path, folder_path) && !strstr(path, "/../")) return true;
    /* what the system says of memory and processors */
    return begins(path, "/sys/") || strcmp(path, "/proc/meminfo") == 0 ||
           begins(path, "/proc/self/stat") || strcmp(path, "/proc/self/cgroup") == 0 ||
           strcmp(path, "/proc/self/maps") == 0 || strcmp(path, "/proc/cpuinfo") == 0;
}

static void write_whole(int descriptor, const uint8_t *bytes, size_t size) {
    if (ftruncate(descriptor, 0) != 0) gs_fuzz_fault("the input's file cannot be emptied");
    for (size_t done = 0; done < size;) {
        ssize_t wrote = pwrite(descriptor, bytes + done, size - done, (off_t)done);
        if (wrote <= 0) gs_fuzz_fault("the input's file cannot be written");
        done += (size_t)wrote;
    }
}

const char *gs_fuzz_file(const uint8_t *bytes, size_t size) {
    static int descriptor = -1;
    if (descriptor < 0) {
#ifdef __linux__
        descriptor = memfd_create("gpnscope-fuzz", 0); /* in memory, and gone with the process */
        snprintf(file_path, sizeof file_path, "/proc/self/fd/%d", descriptor);
#else
        snprintf(file_path, sizeof file_path, "/tmp/gpnscope-fuzz-XXXXXX");
        descriptor = mkstemp(file_path);
#endif
        if (descriptor < 0) gs_fuzz_fault("there is no file for the input");
    }
    write_whole(descriptor, bytes, size);
    return file_path;
}

/* Of runner.c, which removes it; or an own one, of libFuzzer's process. */
const char *gs_fuzz_folder(void) {
    if (folder_path[0]) return folder_path;
    const char *given = getenv("GS_FUZZ_FOLDER");
    if (given) {
        snprintf(folder_path, sizeof folder_path, "%s", given);
        return folder_path;
    }
    snprintf(folder_path, sizeof folder_path, "/tmp/gpnscope-fuzz-XXXXXX");
    if (!mkdtemp(folder_path)) gs_fuzz_fault("there is no folder for the input");
    return folder_path;
}

void gs_fuzz_file_in_folder(const char *name, const uint8_t *bytes, size_t size) {
    char path[320];
    snprintf(path, sizeof path, "%s/%s", gs_fuzz_folder(), name);
    int descriptor = open(path, O_RDWR | O_CREAT, 0600);
    if (descriptor < 0) gs_fuzz_fault("the input's file cannot be made");
    write_whole(descriptor, bytes, size);
    close(descriptor);
}
