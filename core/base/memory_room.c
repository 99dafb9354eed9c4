#include "core/base/memory_room.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, LINE_ROOM = 4096 };

static void limit_to(struct gs_memory_room *room, uint64_t bytes, const char *limit) {
    if (bytes >= room->bytes) return;
    room->bytes = (size_t)bytes;
    room->limit = limit;
}

/* ---- numbers in the system's files ----------------------------------------------------------- */

/* The number behind `key` at the beginning of a line. */
static bool read_key(const char *path, const char *key, uint64_t *number) {
    FILE *stream = fopen(path, "r");
    if (!stream) return false;
    char line[LINE_ROOM];
    size_t length = strlen(key);
    bool found = false;
    while (!found && fgets(line, sizeof line, stream))
        found = strncmp(line, key, length) == 0 && sscanf(line + length, "%" SCNu64, number) == 1;
    fclose(stream);
    return found;
}

/* Number `index` of /proc/self/statm, in bytes: 0 the address space, 1 what is in memory. */
static bool read_statm(const char *root, int index, uint64_t *bytes) {
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/proc/self/statm", root);
    FILE *stream = fopen(path, "r");
    if (!stream) return false;
    uint64_t pages[2];
    bool good = fscanf(stream, "%" SCNu64 " %" SCNu64, &pages[0], &pages[1]) == 2;
    fclose(stream);
    long page = sysconf(_SC_PAGESIZE);
    if (!good || page <= 0) return false;
    *bytes = pages[index] * (uint64_t)page;
    return true;
}

size_t gs_memory_resident(void) {
    uint64_t bytes;
    return read_statm("", 1, &bytes) ? (size_t)bytes : 0;
}

size_t gs_memory_peak(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0 || usage.ru_maxrss < 0) return 0;
#ifdef __APPLE__
    return (size_t)usage.ru_maxrss;
#else
    return (size_t)usage.ru_maxrss * 1024;
#endif
}

/* ---- the machine ----------------------------------------------------------------------------- */

static void limit_by_machine(const char *root, struct gs_memory_room *room) {
    char path[PATH_ROOM];
    uint64_t kilobytes;
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    if (read_key(path, "MemAvailable:", &kilobytes) && kilobytes <= UINT64_MAX / 1024) {
        limit_to(room, kilobytes * 1024, "what the machine has free (MemAvailable)");
        return;
    }
#ifdef _SC_PHYS_PAGES
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0)
        limit_to(room, (uint64_t)pages * (uint64_t)page, "the machine's physical memory");
#endif
}

/* ---- control groups -------------------------------------------------------------------------- */

struct group_files {
    const char *mount, *limit, *usage, *inactive, *active;
};
static const struct group_files version_2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                             "inactive_file", "active_file"};
static const struct group_files version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                             "memory.usage_in_bytes", "total_inactive_file",
                                             "total_active_file"};

/* One group; a limit of "max" is no number and limits nothing. */
static void limit_by_group(const struct group_files *files, const char *folder,
                           struct gs_memory_room *room) {
    char path[2 * PATH_ROOM];
    uint64_t limit, usage = 0, inactive = 0, active = 0;
    snprintf(path, sizeof path, "%s/%s", folder, files->limit);
    if (!read_key(path, "", &limit)) return;
    snprintf(path, sizeof path, "%s/%s", folder, files->usage);
    if (!read_key(path, "", &usage)) return;
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    if (!read_key(path, files->inactive, &inactive)) inactive = 0;
    if (!read_key(path, files->active, &active)) active = 0;
    uint64_t cache = inactive + active < usage ? inactive + active : usage;
    uint64_t held = usage - cache;
    limit_to(room, limit > held ? limit - held : 0, "the control group's limit");
}

/* The group and all above it. In a container the group's own path may not be visible: then only
 * those that are count. */
static void limit_by_groups(const char *root, const struct group_files *files, const char *group,
                            struct gs_memory_room *room) {
    char folder[PATH_ROOM];
    int length = snprintf(folder, sizeof folder, "%s%s", root, files->mount);
    if (length < 0 || (size_t)length + strlen(group) >= sizeof folder) return;
    strcat(folder, group);
    for (;;) {
        limit_by_group(files, folder, room);
        char *slash = strrchr(folder + length, '/');
        if (!slash) return;
        *slash = '\0';
    }
}

/* Lines are "number:controllers:path"; version 2 has number 0 and no controllers. */
static void limit_by_control_groups(const char *root, struct gs_memory_room *room) {
    char line[LINE_ROOM];
    snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *stream = fopen(line, "r");
    if (!stream) return;
    while (fgets(line, sizeof line, stream)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'),
             *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path) continue;
        *path++ = '\0';
        controllers++;
        if (!controllers[0])
            limit_by_groups(root, &version_2, path, room);
        else if (strcmp(controllers, "memory") == 0)
            limit_by_groups(root, &version_1, path, room);
    }
    fclose(stream);
}

/* ---- the process ----------------------------------------------------------------------------- */

/* Address space of one thread more: its stack, and the block that OpenBLAS reserves for it. */
static uint64_t reserved_for_thread(void) {
    const uint64_t blas = 32u << 20, usual = 8u << 20;
    struct rlimit stack;
    bool known = getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
    return blas + (known ? (uint64_t)stack.rlim_cur : usual);
}

static void limit_by_process(const char *root, size_t threads, struct gs_memory_room *room) {
    static const char data_key[] = "VmData:";
    char path[PATH_ROOM];
    struct rlimit limit;
    uint64_t held = 0, reserved = threads * reserved_for_thread();
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        if (read_statm(root, 0, &held)) held += reserved;
        limit_to(room, limit.rlim_cur > held ? limit.rlim_cur - held : 0,
                 "the limit of address space (ulimit -v)");
    }
    if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        snprintf(path, sizeof path, "%s/proc/self/status", root);
        held = read_key(path, data_key, &held) ? held * 1024 + reserved : 0;
        limit_to(room, limit.rlim_cur > held ? limit.rlim_cur - held : 0,
                 "the limit of data (ulimit -d)");
    }
}

void gs_memory_room(const char *root, size_t threads, struct gs_memory_room *room) {
    *room = (struct gs_memory_room){SIZE_MAX, "nothing"};
    limit_by_machine(root, room);
    limit_by_control_groups(root, room);
    limit_by_process(root, threads, room);
}
