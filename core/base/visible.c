#include "core/base/visible.h"

#include "core/base/utf8.h"

#include <string.h>

const char *gs_visible_escape(char byte, char escape[GS_VISIBLE_ESCAPE]) {
    static const char digits[] = "0123456789abcdef";
    escape[0] = '\\';
    escape[1] = 'x';
    escape[2] = digits[(unsigned char)byte >> 4];
    escape[3] = digits[(unsigned char)byte & 15];
    escape[4] = '\0';
    return escape;
}

/* One character, or one byte written out: `count` bytes at `bytes`. */
struct piece {
    const char *bytes;
    size_t count;
    char escape[GS_VISIBLE_ESCAPE];
};

/* The piece at `at` of `size` bytes; returns where the next begins. */
static size_t next_piece(const char *text, size_t size, size_t at, struct piece *piece) {
    size_t length = gs_utf8_visible(text + at, size - at);
    piece->bytes = length ? text + at : gs_visible_escape(text[at], piece->escape);
    piece->count = length ? length : GS_VISIBLE_ESCAPE - 1;
    return at + (length ? length : 1);
}

char *gs_visible_text(const char *text, char *buffer, size_t size) {
    static const char more[] = "...";
    size_t length = strlen(text), used = 0, may_end = 0;
    struct piece piece;
    for (size_t at = 0; at < length;) {
        at = next_piece(text, length, at, &piece);
        if (used + piece.count >= size) {
            memcpy(buffer + may_end, more, sizeof more);
            return buffer;
        }
        memcpy(buffer + used, piece.bytes, piece.count);
        used += piece.count;
        if (used + sizeof more <= size) may_end = used;
    }
    buffer[used] = '\0';
    return buffer;
}

size_t gs_visible_width(const char *text) {
    size_t length = strlen(text), width = 0;
    struct piece piece;
    for (size_t at = 0; at < length;) {
        at = next_piece(text, length, at, &piece);
        width += piece.bytes == piece.escape ? piece.count : 1;
    }
    return width;
}

void gs_visible_put(FILE *stream, const char *text, size_t width) {
    size_t length = strlen(text);
    struct piece piece;
    for (size_t at = 0; at < length;) {
        at = next_piece(text, length, at, &piece);
        fwrite(piece.bytes, 1, piece.count, stream);
    }
    for (size_t shown = gs_visible_width(text); shown < width; shown++) fputc(' ', stream);
}
