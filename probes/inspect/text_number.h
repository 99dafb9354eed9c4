/* text_number.h - a text as a number that says whether it is another. For probes/inspect alone. */
#ifndef GS_PROBES_INSPECT_TEXT_NUMBER_H
#define GS_PROBES_INSPECT_TEXT_NUMBER_H

#include <stdint.h>

/* FNV-1a of 64 bits, of which a double holds 53: two texts of which one is not the other have the
 * same number once in 2^53. */
static inline double gs_text_number(const char *text) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return (double)(hash >> 11);
}

#endif
