/* windows.h - which windows of a token stream a measurement reads.
 *
 * Windows are consecutive, do not overlap, and run across documents and shards; the state starts
 * anew in each. What does not fill a window at the end is dropped, and that is counted.
 */
#ifndef GS_CORE_TEXT_WINDOWS_H
#define GS_CORE_TEXT_WINDOWS_H

#include "core/base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { GS_WINDOW_DEFAULT = 1024 };

struct gs_windows {
    size_t length;  /* tokens in each */
    uint64_t first; /* token at which the first begins: skip × length */
    uint64_t count; /* windows */
    uint64_t used;  /* tokens in them: count × length */
    uint64_t total; /* tokens of the stream */
    /* total − used − first are behind the last window: not asked for, or too few for one more */
};

/* Windows of `total` tokens: `length` 0 means GS_WINDOW_DEFAULT, or all tokens where they are
 * fewer; `skip` windows are passed over; `sequences` 0 means all that are left. GS_RANGE with both
 * numbers when the data holds no such window, or fewer than `sequences`. */
enum gs_status gs_windows_plan(uint64_t total, size_t length, uint64_t skip, uint64_t sequences,
                               struct gs_windows *windows, struct gs_error *error);
/* Token at which window `index` begins. */
static inline uint64_t gs_window_start(const struct gs_windows *windows, uint64_t index) {
    return windows->first + index * windows->length;
}
/* Tokens behind the last window that are in none. */
static inline uint64_t gs_windows_dropped(const struct gs_windows *windows) {
    return windows->total - windows->first - windows->used;
}

#endif
