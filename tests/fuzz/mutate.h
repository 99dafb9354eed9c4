/* mutate.h - inputs made out of others by seeded changes. */
#ifndef GS_TESTS_FUZZ_MUTATE_H
#define GS_TESTS_FUZZ_MUTATE_H

#include "core/base/random.h"

#include <stddef.h>

struct gs_input {
    unsigned char *bytes;
    size_t size;
};

/* One to eight changes of `from` into `to` (room for `room` bytes, at least 1): bits flipped, bytes
 * set, inserted, removed, repeated and moved, numbers of 1, 2, 4 and 8 bytes and decimal ones set
 * to ends and sizes, parts of `other` put in, the end cut off. Returns the new size. */
size_t gs_mutate(const struct gs_input *from, const struct gs_input *other, unsigned char *to,
                 size_t room, struct gs_random *random);

#endif
