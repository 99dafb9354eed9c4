/* utf8.h - what is UTF-8 and what is not (RFC 3629: no overlong forms, no surrogates). */
#ifndef GS_CORE_BASE_UTF8_H
#define GS_CORE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character that begins at `bytes` (1 … 4), 0 when none does; size > 0. */
size_t gs_utf8_character(const char *bytes, size_t size);
/* Bytes from the start that are UTF-8; `size` when all are. */
size_t gs_utf8_valid(const char *bytes, size_t size);
/* The code point of the character at `bytes`, which gs_utf8_character gave `length` bytes. */
uint32_t gs_utf8_code_point(const char *bytes, size_t length);
/* Bytes of the character that begins at `bytes` and can be shown as it is, on a terminal, in a page
 * or a picture; 0 when none does: what is no UTF-8; control characters (C0, DEL, C1: U+009B begins
 * commands of a terminal as ESC [ does); U+2028 and U+2029, which end lines; what turns the
 * direction of the text around it (Unicode's Bidi_Control); U+FFFE and U+FFFF, which XML cannot
 * hold. */
size_t gs_utf8_visible(const char *bytes, size_t size);
/* A copy in which each byte that is not UTF-8 is written out, "<0xF0>" (gs_free); NULL when memory
 * is short. Texts that differ stay different. */
char *gs_utf8_repair(const char *text);

#endif
