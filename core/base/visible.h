/* visible.h - names, tokens and other text from files, on a terminal: nothing in a file may move
 * the cursor, recolour, retitle or turn around what stands beside it. What gs_utf8_visible does not
 * pass is written out byte by byte, \xNN; everything else stays what it is.
 */
#ifndef GS_CORE_BASE_VISIBLE_H
#define GS_CORE_BASE_VISIBLE_H

#include <stddef.h>
#include <stdio.h>

enum { GS_VISIBLE_ESCAPE = sizeof "\\xff" };

/* "\xNN" of one byte, in `escape`, which is returned. */
const char *gs_visible_escape(char byte, char escape[GS_VISIBLE_ESCAPE]);
/* `text` as it is shown, in `buffer` of `size` > 4 bytes: NUL-terminated, and where it does not
 * fit, cut between two characters or escapes, "..." behind. Returns `buffer`. */
char *gs_visible_text(const char *text, char *buffer, size_t size);
/* Characters of `text` as it is shown: columns, for the scripts we meet in names and most tokens.
 */
size_t gs_visible_width(const char *text);
/* The whole of `text` as it is shown, and blanks behind it up to `width` columns. */
void gs_visible_put(FILE *stream, const char *text, size_t width);

#endif
