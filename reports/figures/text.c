#include "reports/figures/text.h"

#include "core/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gs_text_free(struct gs_text *text) {
    gs_free(text->bytes);
    *text = (struct gs_text){0};
}

/* Room for `more` bytes and a NUL; false and marked failed when there is none. */
static bool reserve(struct gs_text *text, size_t more) {
    size_t needed;
    if (text->failed) return false;
    if (!gs_add(text->size, more, &needed) || !gs_add(needed, 1, &needed)) {
        text->failed = true;
        return false;
    }
    if (needed <= text->room) return true;
    size_t room = text->room ? text->room : 256;
    while (room < needed) {
        if (!gs_multiply(room, 2, &room)) {
            text->failed = true;
            return false;
        }
    }
    char *bytes = gs_calloc(room, 1);
    if (!bytes) {
        text->failed = true;
        return false;
    }
    if (text->size) memcpy(bytes, text->bytes, text->size);
    gs_free(text->bytes);
    text->bytes = bytes;
    text->room = room;
    return true;
}

void gs_text_bytes(struct gs_text *text, const char *bytes, size_t size) {
    if (!reserve(text, size)) return;
    if (size) memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
}

void gs_text_put(struct gs_text *text, const char *string) {
    if (string) gs_text_bytes(text, string, strlen(string));
}

void gs_text_add_list(struct gs_text *text, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0) {
        text->failed = true;
    } else if (reserve(text, (size_t)length)) {
        vsnprintf(text->bytes + text->size, (size_t)length + 1, format, again);
        text->size += (size_t)length;
    }
    va_end(again);
}

void gs_text_add(struct gs_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    gs_text_add_list(text, format, arguments);
    va_end(arguments);
}

enum gs_status gs_text_check(const struct gs_text *text, const char *what, struct gs_error *error) {
    return text->failed ? gs_fail_memory(error, text->size, what) : GS_OK;
}

/* Digits with a comma before every third from the right. */
static void add_grouped(struct gs_text *text, const char *digits) {
    size_t length = strlen(digits);
    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) gs_text_put(text, ",");
        gs_text_bytes(text, digits + i, 1);
    }
}

void gs_text_count(struct gs_text *text, unsigned long long count) {
    char digits[32];
    snprintf(digits, sizeof digits, "%llu", count);
    add_grouped(text, digits);
}

/* The C library writes the locale's decimal comma where a host program set one. */
static void use_point(char *digits) {
    for (char *c = digits; *c; c++)
        if (*c == ',') *c = '.';
}

void gs_text_number(struct gs_text *text, double number, int digits) {
    char written[64];
    double size = fabs(number);
    if (!isfinite(number)) {
        gs_text_put(text, "not known");
        return;
    }
    if (size >= 1e15 || (size > 0 && size < 1e-4)) {
        snprintf(written, sizeof written, "%.*e", digits - 1, number);
        use_point(written);
        gs_text_put(text, written);
        return;
    }
    /* The exponent after rounding: 0.9996 to three digits is 1.00. */
    snprintf(written, sizeof written, "%.*e", digits - 1, size);
    int decimals = digits - 1 - (int)strtol(strchr(written, 'e') + 1, NULL, 10);
    if (decimals < 0 || number == floor(number)) decimals = 0;
    snprintf(written, sizeof written, "%.*f", decimals, size);
    use_point(written);
    if (number < 0) gs_text_put(text, "−");
    if (decimals == 0)
        add_grouped(text, written);
    else
        gs_text_put(text, written);
}

static void add_end(struct gs_text *text, double end, int digits) {
    if (isinf(end))
        gs_text_put(text, end > 0 ? "∞" : "−∞");
    else
        gs_text_number(text, end, digits);
}

void gs_text_interval(struct gs_text *text, double low, double high, int digits) {
    struct gs_text first = {0}, second = {0};
    bool same = true;
    for (; same; digits++) {
        first.size = second.size = 0;
        add_end(&first, low, digits);
        add_end(&second, high, digits);
        if (first.failed || second.failed) break;
        same = digits < 6 && low != high && strcmp(first.bytes, second.bytes) == 0;
    }
    if (first.failed || second.failed) text->failed = true;
    gs_text_put(text, first.bytes);
    gs_text_put(text, " to ");
    gs_text_put(text, second.bytes);
    gs_text_free(&first);
    gs_text_free(&second);
}
