/* memory_room.h - how much memory this process holds, and how much more it may take. */
#ifndef GS_CORE_BASE_MEMORY_ROOM_H
#define GS_CORE_BASE_MEMORY_ROOM_H

#include <stddef.h>

/* Bytes of this process that are in memory now; 0 where the system does not say. */
size_t gs_memory_resident(void);

/* The most bytes of it that ever were in memory at a time; 0 where the system does not say. */
size_t gs_memory_peak(void);

struct gs_memory_room {
    size_t bytes;      /* that this process may still take; SIZE_MAX when nothing limits it */
    const char *limit; /* what limits it, in words for a person; static */
};

/* The smallest of: the machine's available memory (MemAvailable of /proc/meminfo; physical memory
 * where there is none), the limits of the control group and of those above it (memory.max of
 * version 2, memory.limit_in_bytes of version 1; what the group holds as file cache counts as
 * free), and this process's RLIMIT_AS and RLIMIT_DATA. Swap does not count: a run that swaps is as
 * good as stopped. `threads` is how many will run: each takes address space for its stack and for
 * BLAS, which counts against RLIMIT_AS although it is not used.
 * `root` is put in front of /proc and /sys: "" except in tests. */
void gs_memory_room(const char *root, size_t threads, struct gs_memory_room *room);

#endif
