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

static bool turns_direction(uint32_t point) {
    return point == 0x61c || point == 0x200e || point == 0x200f ||
           (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

size_t gs_utf8_visible(const char *bytes, size_t size) {
    size_t length = gs_utf8_character(bytes, size);
    if (length == 0) return 0;
    uint32_t point = gs_utf8_code_point(bytes, length);
    bool control = point < 0x20 || (point >= 0x7f && point < 0xa0);
    bool ends_line = point == 0x2028 || point == 0x2029;
    bool no_xml = point == 0xfffe || point == 0xffff;
    return control || ends_line || no_xml || turns_direction(point) ? 0 : length;
}

char *gs_utf8_repair(const char *text) {
    enum { WRITTEN_OUT = sizeof "<0xFF>" - 1 };
    static const char digits[] = "0123456789ABCDEF";
    size_t size = strlen(text), bytes = size;
    for (size_t at = gs_utf8_valid(text, size); at < size;
         at += 1 + gs_utf8_valid(text + at + 1, size - at - 1))
        if (!gs_add(bytes, WRITTEN_OUT, &bytes)) return NULL;
    if (!gs_add(bytes, 1, &bytes)) return NULL;
    char *copy = gs_calloc(bytes, 1);
    if (!copy) return NULL;
    char *end = copy;
    for (size_t at = 0; at < size;) {
        size_t length = gs_utf8_valid(text + at, size - at);
        memcpy(end, text + at, length);
        end += length;
        at += length;
        if (at == size) break;
        unsigned char byte = (unsigned char)text[at++];
        const char written[] = {'<', '0', 'x', digits[byte >> 4], digits[byte & 15], '>'};
        memcpy(end, written, WRITTEN_OUT);
        end += WRITTEN_OUT;
    }
    return copy;
}
