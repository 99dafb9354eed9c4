#include "core/base/numbers.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A program that embeds us may have set a locale whose decimal point is a comma. */
static char local_point(void) {
    const char *point = localeconv()->decimal_point;
    return point && point[0] && !point[1] ? point[0] : '.';
}

static void exchange(char *text, char from, char to) {
    for (; from != to && *text; text++)
        if (*text == from) *text = to;
}

char *gs_number_text(double number, char text[GS_NUMBER_TEXT]) {
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, GS_NUMBER_TEXT, "%.*g", digits, number);
        if (!isfinite(number) || strtod(text, NULL) == number) break;
    }
    exchange(text, local_point(), '.');
    return text;
}

char *gs_number_short(double number, int digits, char text[GS_NUMBER_TEXT]) {
    snprintf(text, GS_NUMBER_TEXT, "%.*g", digits, number);
    exchange(text, local_point(), '.');
    return text;
}

bool gs_number_parse(const char *text, double *number) {
    char copy[128];
    size_t length = strlen(text);
    /* strtod would skip blanks and take "nan", "inf" and hexadecimal. */
    if (length == 0 || length >= sizeof copy || strspn(text, "0123456789.+-eE") != length)
        return false;
    memcpy(copy, text, length + 1);
    exchange(copy, '.', local_point());
    char *end;
    double value = strtod(copy, &end);
    if (*end || end == copy || !isfinite(value)) return false;
    *number = value;
    return true;
}

bool gs_size_parse(const char *text, uint64_t *number) {
    size_t length = strlen(text);
    if (length == 0 || strspn(text, "0123456789") != length) return false;
    errno = 0;
    unsigned long long value = strtoull(text, NULL, 10);
    if (errno != 0 || value > UINT64_MAX) return false;
    *number = value;
    return true;
}
