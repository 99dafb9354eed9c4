/* arena.h - everything a runner holds, in one allocation.
 *
 * A plan is a function that takes piece after piece. It is gone through twice: with an arena
 * without a base to count the bytes, then with the allocation as base to place the pieces, so that
 * what is asked for and what is used cannot differ.
 */
#ifndef GS_CORE_BASE_ARENA_H
#define GS_CORE_BASE_ARENA_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct gs_arena {
    char *base; /* NULL while counting; gs_calloc of `bytes` while placing */
    size_t bytes;
    bool wrapped; /* more was asked for than can be counted */
};

/* The next a * b * c elements of `size` bytes, 64-byte aligned to the base; NULL while counting. */
void *gs_arena_take(struct gs_arena *arena, size_t a, size_t b, size_t c, size_t size);
/* The same for floats. */
float *gs_arena_floats(struct gs_arena *arena, size_t a, size_t b, size_t c);

typedef void (*gs_arena_plan)(struct gs_arena *arena, void *runner);
/* Go through a runner's plan twice. *base receives the zeroed allocation, which the caller releases
 * with gs_free; NULL with GS_MEMORY when there is no room. */
enum gs_status gs_arena_place(gs_arena_plan plan, void *runner, void **base,
                              struct gs_error *error);

#endif
