#include "core/base/arena.h"

#include "core/base/memory.h"

#include <stdint.h>

enum { ALIGN = 64 };

void *gs_arena_take(struct gs_arena *arena, size_t a, size_t b, size_t c, size_t size) {
    size_t bytes;
    if (!gs_multiply(a, b, &bytes) || !gs_multiply(bytes, c, &bytes) ||
        !gs_multiply(bytes, size, &bytes) || bytes > SIZE_MAX / 2 - arena->bytes) {
        arena->wrapped = true;
        return NULL;
    }
    void *at = arena->base ? arena->base + arena->bytes : NULL;
    arena->bytes += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return at;
}

float *gs_arena_floats(struct gs_arena *arena, size_t a, size_t b, size_t c) {
    return gs_arena_take(arena, a, b, c, sizeof(float));
}

enum gs_status gs_arena_place(gs_arena_plan plan, void *runner, void **base,
                              struct gs_error *error) {
    struct gs_arena arena = {0};
    plan(&arena, runner);
    *base = arena.wrapped ? NULL : gs_calloc(arena.bytes, 1);
    if (!*base) return gs_fail_memory(error, arena.bytes, "a run's working space");
    arena = (struct gs_arena){.base = *base};
    plan(&arena, runner);
    return GS_OK;
}
