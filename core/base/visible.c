#include "core/base/visible.h"

#include "core/base/utf8.h"

#include <string.h>

static void write_out(char byte, struct gs_visible_piece *piece) {
    static const char digits[] = "0123456789abcdef";
    piece->escape[0] = '\\';
    piece->escape[1] = 'x';
    piece->escape[2] = digits[(unsigned char)byte >> 4];
    piece->escape[3] = digits[(unsigned char)byte & 15];
    piece->escape[4] = '\0';
    piece->bytes = piece->escape;
    piece->count = sizeof piece->escape - 1;
}

size_t gs_visible_next(const char *text, size_t size, size_t at, struct gs_visible_piece *piece) {
    size_t length = gs_utf8_visible(text + at, size - at);
    if (!length) {
        write_out(text[at], piece);
        return at + 1;
    }
    piece->bytes = text + at;
    piece->count = length;
    return at + length;
}

char *gs_visible_text(const char *text, char *buffer, size_t size) {
    static const char more[] = "...";
    size_t length = strlen(text), used = 0, may_end = 0;
    struct gs_visible_piece piece;
    for (size_t at = 0; at < length;) {
        at = gs_visible_next(text, length, at, &piece);
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
    struct gs_visible_piece piece;
    for (size_t at = 0; at < length;) {
        at = gs_visible_next(text, length, at, &piece);
        width += piece.bytes == piece.escape ? piece.count : 1;
    }
    return width;
}

void gs_visible_put(FILE *stream, const char *text, size_t width) {
    size_t length = strlen(text);
    struct gs_visible_piece piece;
    for (size_t at = 0; at < length;) {
        at = gs_visible_next(text, length, at, &piece);
        fwrite(piece.bytes, 1, piece.count, stream);
    }
    for (size_t shown = gs_visible_width(text); shown < width; shown++) fputc(' ', stream);
}
