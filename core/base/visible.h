/* visible.h - names, tokens and other text from files, on a terminal: nothing in a file may move
 * the cursor, recolour, retitle or turn around what stands beside it. What gs_utf8_visible does not
 * pass is written out byte by byte, \xNN; everything else stays what it is.
 */
#ifndef GS_CORE_BASE_VISIBLE_H
#define GS_CORE_BASE_VISIBLE_H

#include <stddef.h>
#include <stdio.h>

/* One character, or one byte written out in `escape`: `count` bytes at `bytes`. */
struct gs_visible_piece {
    const char *bytes;
    size_t count;
    char escape[sizeof "\\xff"];
};

/* The piece that begins at byte `at` of `size`; returns where the next one begins. */
size_t gs_visible_next(const char *text, size_t size, size_t at, struct gs_visible_piece *piece);
/* `text` as it is shown, in `buffer` of `size` > 4 bytes: NUL-terminated, and where it does not
 * fit, cut between two characters or escapes, "..." behind. Returns `buffer`. */
char *gs_visible_text(const char *text, char *buffer, size_t size);
/* Characters of `text` as it is shown: columns, for the scripts we meet in names and most tokens.
 */
size_t gs_visible_width(const char *text);
/* The whole of `text` as it is shown, and blanks behind it up to `width` columns. */
void gs_visible_put(FILE *stream, const char *text, size_t width);

#endif
