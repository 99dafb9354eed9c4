#include "core/base/names.h"

#include <string.h>

enum { LONGEST = 127 }; /* longer names are not option or tensor names that anyone mistypes */

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Edit distance where exchanging two neighbours is one edit (optimal string alignment; Damerau
 * 1964): the three last rows of the usual table. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length) {
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= b_length; j++) rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = smaller(best, smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = smaller(best, before[j - 2] + 1);
            row[j] = best;
        }
    }
    return rows[a_length % 3][b_length];
}

const char *gs_nearest_name(const char *name, const char *const *candidates, size_t count) {
    size_t length = strlen(name);
    if (length == 0 || length > LONGEST) return NULL;
    const char *nearest = NULL;
    size_t least = LONGEST;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(candidates[i]);
        if (other == 0 || other > LONGEST) continue;
        size_t allowed = (length > other ? length : other) / 3;
        if (allowed == 0) allowed = 1;
        size_t distance = edit_distance(name, length, candidates[i], other);
        if (distance > allowed || distance >= least) continue;
        nearest = candidates[i];
        least = distance;
    }
    return nearest;
}
