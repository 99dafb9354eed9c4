/* numbers.h - numbers as text and back, the same in every locale. */
#ifndef GS_CORE_BASE_NUMBERS_H
#define GS_CORE_BASE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GS_NUMBER_TEXT = 32 };

/* The fewest of 15, 16, 17 significant digits that read back as the same bits; "nan", "inf", "-inf"
 * otherwise. Returns `text`. */
char *gs_number_text(double number, char text[GS_NUMBER_TEXT]);
/* For people: `digits` significant digits (1 … 17). Returns `text`. */
char *gs_number_short(double number, int digits, char text[GS_NUMBER_TEXT]);

/* The whole of `text` as a finite number, or a whole number; false when it is none, when anything
 * stands before or behind it, or when it does not fit. */
bool gs_number_parse(const char *text, double *number);
bool gs_size_parse(const char *text, uint64_t *number);

#endif
