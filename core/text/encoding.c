#include "core/text/encoding.h"

#include <stdio.h>
#include <string.h>

enum { SAMPLE = 1 << 16, UNIT = 4, FEWEST = 32 };

static const char *name_of_mark(const unsigned char *bytes, size_t size) {
    if (size >= 4 && memcmp(bytes, "\xFF\xFE\0\0", 4) == 0) return "UTF-32LE";
    if (size >= 4 && memcmp(bytes, "\0\0\xFE\xFF", 4) == 0) return "UTF-32BE";
    if (size >= 2 && memcmp(bytes, "\xFF\xFE", 2) == 0) return "UTF-16LE";
    if (size >= 2 && memcmp(bytes, "\xFE\xFF", 2) == 0) return "UTF-16BE";
    return NULL;
}

/* From the NULs at each place of four bytes. In UTF-32 two neighbouring bytes are NUL for every
 * character but the rarest; in UTF-16 every second byte is NUL for ASCII, and spaces and signs are
 * ASCII in most scripts. Elsewhere there are few (U+4E00, "one" in Chinese, has one). */
static const char *name_of_nuls(const size_t nuls[UNIT], size_t units) {
    const size_t even = nuls[0] + nuls[2], odd = nuls[1] + nuls[3], most = units - units / 10;
    if (units >= FEWEST && nuls[0] <= units / 16 && nuls[2] >= most && nuls[3] >= most)
        return "UTF-32LE";
    if (units >= FEWEST && nuls[3] <= units / 16 && nuls[0] >= most && nuls[1] >= most)
        return "UTF-32BE";
    if (odd >= FEWEST && odd >= units / 5 && even <= odd / 4) return "UTF-16LE";
    if (even >= FEWEST && even >= units / 5 && odd <= even / 4) return "UTF-16BE";
    return NULL;
}

enum gs_status gs_text_check_encoding(const unsigned char *bytes, size_t size, const char *path,
                                      struct gs_error *error) {
    size_t nuls[UNIT] = {0}, all = 0;
    const char *name = name_of_mark(bytes, size), *found = "its byte order mark";
    char counted[96];
    if (!name) {
        size_t units = (size < SAMPLE ? size : SAMPLE) / UNIT;
        for (size_t i = 0; i < units * UNIT; i++) nuls[i % UNIT] += bytes[i] == 0;
        for (size_t i = 0; i < UNIT; i++) all += nuls[i];
        name = name_of_nuls(nuls, units);
        snprintf(counted, sizeof counted, "a NUL in %zu of its first %zu bytes, in such places",
                 all, units * UNIT);
        found = counted;
    }
    if (!name) return GS_OK;
    gs_fail(error, GS_FORMAT, "the text is %s", name);
    gs_error_expected(error, "UTF-8");
    gs_error_found(error, "%s", found);
    gs_error_where(error, "%s", path);
    gs_error_next(error, "convert it: iconv -f %s -t UTF-8 FILE >NEW", name);
    return GS_FORMAT;
}
