#include "core/base/utf8.h"

#include "core/base/memory.h"

#include <string.h>

static bool between(unsigned char byte, unsigned low, unsigned high) {
    return byte >= low && byte <= high;
}

/* Table 3-7 of the Unicode standard: the second byte's range depends on the first. */
static bool second_byte_fits(unsigned char first, unsigned char second) {
    switch (first) {
    case 0xe0:
        return between(second, 0xa0, 0xbf);
    case 0xed:
        return between(second, 0x80, 0x9f);
    case 0xf0:
        return between(second, 0x90, 0xbf);
    case 0xf4:
        return between(second, 0x80, 0x8f);
    default:
        return between(second, 0x80, 0xbf);
    }
}

size_t gs_utf8_character(const char *bytes, size_t size) {
    const unsigned char *byte = (const unsigned char *)bytes;
    size_t length;
    if (byte[0] < 0x80) return 1;
    if (between(byte[0], 0xc2, 0xdf))
        length = 2;
    else if (between(byte[0], 0xe0, 0xef))
        length = 3;
    else if (between(byte[0], 0xf0, 0xf4))
        length = 4;
    else
        return 0;
    if (size < length || !second_byte_fits(byte[0], byte[1])) return 0;
    for (size_t i = 2; i < length; i++)
        if (!between(byte[i], 0x80, 0xbf)) return 0;
    return length;
}

size_t gs_utf8_valid(const char *bytes, size_t size) {
    size_t at = 0;
    while (at < size) {
        size_t length = gs_utf8_character(bytes + at, size - at);
        if (length == 0) break;
        at += length;
    }
    return at;
}

uint32_t gs_utf8_code_point(const char *bytes, size_t length) {
    const unsigned char *byte = (const unsigned char *)bytes;
    if (length <= 1) return byte[0];
    uint32_t point = byte[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) point = point << 6 | (byte[i] & 0x3fu);
    return point;
}

char *gs_utf8_repair(const char *text) {
    static const char replacement[] = "\xef\xbf\xbd";
    size_t size = strlen(text), bytes;
    if (!gs_multiply(size, 3, &bytes) || !gs_add(bytes, 1, &bytes)) return NULL;
    char *copy = gs_calloc(bytes, 1);
    if (!copy) return NULL;
    char *end = copy;
    for (size_t at = 0; at < size;) {
        size_t length = gs_utf8_character(text + at, size - at);
        memcpy(end, length ? text + at : replacement, length ? length : 3);
        end += length ? length : 3;
        at += length ? length : 1;
    }
    return copy;
}

size_t gs_utf8_visible(const char *text, size_t size, char piece[GS_UTF8_VISIBLE]) {
    size_t length = gs_utf8_character(text, size);
    unsigned char byte = (unsigned char)text[0];
    bool c1 = length == 2 && byte == 0xc2 && (unsigned char)text[1] < 0xa0; /* U+0080 … U+009F */
    if (length == 0 || byte < 0x20 || byte == 0x7f || c1) {
        snprintf(piece, GS_UTF8_VISIBLE, "\\x%02x", byte);
        return 1;
    }
    memcpy(piece, text, length);
    piece[length] = '\0';
    return length;
}

void gs_utf8_print(const char *text, FILE *stream) {
    char piece[GS_UTF8_VISIBLE];
    size_t size = strlen(text);
    for (size_t at = 0; at < size;) {
        at += gs_utf8_visible(text + at, size - at, piece);
        fputs(piece, stream);
    }
}
