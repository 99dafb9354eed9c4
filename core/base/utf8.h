/* utf8.h - what is UTF-8 and what is not (RFC 3629: no overlong forms, no surrogates). */
#ifndef GS_CORE_BASE_UTF8_H
#define GS_CORE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes of the character that begins at `bytes` (1 … 4), 0 when none does; size > 0. */
size_t gs_utf8_character(const char *bytes, size_t size);
/* Bytes from the start that are UTF-8; `size` when all are. */
size_t gs_utf8_valid(const char *bytes, size_t size);
/* The code point of the character at `bytes`, which gs_utf8_character gave `length` bytes. */
uint32_t gs_utf8_code_point(const char *bytes, size_t length);
/* A copy in which each byte that is not UTF-8 is U+FFFD (gs_free); NULL when memory is short. */
char *gs_utf8_repair(const char *text);

enum { GS_UTF8_VISIBLE = 5 };
/* What a terminal may see of the first bytes of `text` (size > 0): its first character, or \xNN for
 * a control byte or one that is not UTF-8. Returns how many bytes of `text` that stands for. */
size_t gs_utf8_visible(const char *text, size_t size, char piece[GS_UTF8_VISIBLE]);
/* The whole text like that, so that no name can move the cursor or begin a line. */
void gs_utf8_print(const char *text, FILE *stream);

#endif
