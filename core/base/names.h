/* names.h - help with mistyped names. */
#ifndef GS_CORE_BASE_NAMES_H
#define GS_CORE_BASE_NAMES_H

#include <stddef.h>

/* The candidate nearest to `name` by edit distance, or NULL when none is near enough to be meant
 * (distance at most a third of the longer name, at least 1). */
const char *gs_nearest_name(const char *name, const char *const *candidates, size_t count);

#endif
