/* JSON as text. Ours and not jansson's, for two reasons: numbers take the fewest digits that read
 * back as the same bits, and a row of scalars or a small object stays on one line. */
#include "core/base/json.h"

#include "core/base/memory.h"
#include "core/base/numbers.h"
#include "core/base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct text {
    char *bytes;
    size_t used, room;
    int indent;
    bool failed; /* memory ran out: everything later is ignored */
};

static void grow(struct text *out, size_t wanted) {
    size_t room;
    if (!gs_multiply(out->room ? out->room : 128, 2, &room)) room = wanted;
    if (room < wanted) room = wanted;
    char *bytes = realloc(out->bytes, room);
    if (!bytes) {
        out->failed = true;
        return;
    }
    out->bytes = bytes;
    out->room = room;
}

static void put_bytes(struct text *out, const char *bytes, size_t size) {
    size_t wanted;
    if (out->failed) return;
    if (!gs_add(out->used, size, &wanted) || !gs_add(wanted, 1, &wanted)) {
        out->failed = true;
        return;
    }
    if (!out->bytes || wanted > out->room) grow(out, wanted);
    if (out->failed) return;
    memcpy(out->bytes + out->used, bytes, size);
    out->used += size;
    out->bytes[out->used] = '\0';
}

static void put(struct text *out, const char *bytes) {
    put_bytes(out, bytes, strlen(bytes));
}

static void put_line(struct text *out, size_t depth) {
    if (out->indent == 0) return;
    put(out, "\n");
    for (size_t i = 0; i < depth * (size_t)out->indent; i++) put(out, " ");
}

/* The short escape of a byte that has one; NULL otherwise. "</" is written "<\/", which is the same
 * JSON and cannot end a script in a page. */
static const char *short_escape(char byte, char before) {
    switch (byte) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    case '/':
        return before == '<' ? "\\/" : NULL;
    default:
        return NULL;
    }
}

/* What cannot be shown (gs_utf8_visible) is written by its number: JSON goes to terminals, too, and
 * U+2028 ends lines in older JavaScript. None of these characters is above U+FFFF. */
static void put_string(struct text *out, const char *string) {
    size_t size = strlen(string), length;
    put(out, "\"");
    for (size_t at = 0; at < size; at += length) {
        const char *here = string + at, *escape = short_escape(*here, at ? here[-1] : '\0');
        char number[sizeof "\\uffff" + 2];
        length = gs_utf8_visible(here, size - at);
        if (escape) {
            length = 1;
            put(out, escape);
        } else if (length) {
            put_bytes(out, here, length);
        } else {
            length = gs_utf8_character(here, size - at);
            if (!length) length = 1; /* jansson holds UTF-8 only */
            snprintf(number, sizeof number, "\\u%04x", (unsigned)gs_utf8_code_point(here, length));
            put(out, number);
        }
    }
    put(out, "\"");
}

static void put_real(struct text *out, double number) {
    char digits[GS_NUMBER_TEXT];
    put(out, gs_number_text(number, digits));
    /* "3" would read back as an integer. */
    if (!strpbrk(digits, ".e")) put(out, ".0");
}

static bool all_scalars(const struct gs_json *array) {
    for (size_t i = 0; i < gs_json_size(array); i++) {
        enum gs_json_type type = gs_json_type(gs_json_at(array, i));
        if (type == GS_JSON_ARRAY || type == GS_JSON_OBJECT) return false;
    }
    return true;
}

static void put_value(struct text *out, const struct gs_json *value, size_t depth);

static void put_array(struct text *out, const struct gs_json *array, size_t depth) {
    bool flat = all_scalars(array);
    size_t count = gs_json_size(array);
    put(out, "[");
    for (size_t i = 0; i < count; i++) {
        if (!flat) put_line(out, depth + 1);
        put_value(out, gs_json_at(array, i), depth + 1);
        if (i + 1 < count) put(out, flat || out->indent == 0 ? ", " : ",");
    }
    if (!flat && count) put_line(out, depth);
    put(out, "]");
}

enum { ONE_LINE_MEMBERS = 8 };

/* Small objects deep inside, such as one measured value, stand on one line. */
static bool is_small(const struct gs_json *object, size_t depth) {
    size_t count = gs_json_size(object);
    if (depth < 2 || count > ONE_LINE_MEMBERS) return false;
    for (size_t i = 0; i < count; i++) {
        const struct gs_json *member = gs_json_value_at(object, i);
        enum gs_json_type type = gs_json_type(member);
        bool short_array = type == GS_JSON_ARRAY && gs_json_size(member) <= ONE_LINE_MEMBERS &&
                           all_scalars(member);
        if (type == GS_JSON_OBJECT || (type == GS_JSON_ARRAY && !short_array)) return false;
    }
    return true;
}

static void put_object(struct text *out, const struct gs_json *object, size_t depth) {
    size_t count = gs_json_size(object);
    bool one_line = out->indent == 0 || is_small(object, depth);
    put(out, "{");
    for (size_t i = 0; i < count; i++) {
        if (!one_line) put_line(out, depth + 1);
        put_string(out, gs_json_key_at(object, i));
        put(out, ": ");
        put_value(out, gs_json_value_at(object, i), depth + 1);
        if (i + 1 < count) put(out, one_line ? ", " : ",");
    }
    if (count && !one_line) put_line(out, depth);
    put(out, "}");
}

static void put_value(struct text *out, const struct gs_json *value, size_t depth) {
    int64_t integer = 0;
    double number = 0;
    bool truth = false;
    char digits[32];
    switch (gs_json_type(value)) {
    case GS_JSON_OBJECT:
        put_object(out, value, depth);
        break;
    case GS_JSON_ARRAY:
        put_array(out, value, depth);
        break;
    case GS_JSON_STRING:
        put_string(out, gs_json_string(value));
        break;
    case GS_JSON_BOOL:
        put(out, gs_json_truth(value, &truth) && truth ? "true" : "false");
        break;
    case GS_JSON_REAL:
        if (gs_json_number(value, &number)) put_real(out, number);
        break;
    case GS_JSON_INTEGER:
        if (gs_json_integer(value, &integer)) {
            snprintf(digits, sizeof digits, "%" PRId64, integer);
            put(out, digits);
        }
        break;
    case GS_JSON_NULL:
    case GS_JSON_NOTHING:
        put(out, "null");
        break;
    }
}

char *gs_json_text(const struct gs_json *value, int indent) {
    struct text out = {.indent = indent < 0 ? 0 : indent};
    put_value(&out, value, 0);
    if (out.failed) {
        free(out.bytes);
        return NULL;
    }
    return out.bytes;
}

enum gs_status gs_json_print(const struct gs_json *value, FILE *stream, struct gs_error *error) {
    char *text = gs_json_text(value, 2);
    if (!text) return gs_fail_memory(error, 0, "JSON text");
    errno = 0;
    bool written = fputs(text, stream) >= 0 && fputc('\n', stream) != EOF;
    int reason = errno ? errno : EIO;
    gs_free(text);
    return written ? GS_OK : gs_fail_errno(error, reason, "cannot write JSON", NULL);
}
