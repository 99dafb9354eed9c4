/* The one place that knows jansson. A struct gs_json is a json_t under another name. */
#include "core/base/json.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/utf8.h"

#include <jansson.h>

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { DEEPEST = 64 };

static json_t *json_of(const struct gs_json *value) {
    return (json_t *)(uintptr_t)value;
}

static struct gs_json *wrap(json_t *value) {
    return (struct gs_json *)value;
}

/* Rises whenever any value may have changed or died; see find_member. */
static atomic_uint_fast64_t changes;

/* ---- reading ---- */

static enum gs_status fail_at(struct gs_error *error, const char *where, const char *bytes,
                              size_t position, const char *what) {
    size_t line = 1;
    for (size_t i = 0; i < position; i++) line += bytes[i] == '\n';
    gs_fail(error, GS_FORMAT, "%s", what);
    gs_error_where(error, "%s, byte %zu (line %zu)", where, position, line);
    return GS_FORMAT;
}

/* jansson's own bound on depth is far higher; recursion on a hostile file must stay small. */
static enum gs_status check_depth(const char *bytes, size_t size, const char *where,
                                  struct gs_error *error) {
    size_t depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < size; i++) {
        char byte = bytes[i];
        if (in_string) {
            if (byte == '\\')
                i++;
            else if (byte == '"')
                in_string = false;
        } else if (byte == '"') {
            in_string = true;
        } else if (byte == '[' || byte == '{') {
            if (++depth <= DEEPEST) continue;
            fail_at(error, where, bytes, i, "JSON nested too deeply");
            gs_error_expected(error, "at most %d levels", DEEPEST);
            return GS_FORMAT;
        } else if ((byte == ']' || byte == '}') && depth > 0) {
            depth--;
        }
    }
    return GS_OK;
}

static enum gs_status check_bytes(const char *bytes, size_t size, const char *where,
                                  struct gs_error *error) {
    if (size == 0) {
        gs_fail(error, GS_FORMAT, "empty where JSON is needed");
        gs_error_where(error, "%s", where);
        return GS_FORMAT;
    }
    size_t valid = gs_utf8_valid(bytes, size);
    if (valid < size) {
        fail_at(error, where, bytes, valid, "JSON text that is not UTF-8");
        gs_error_found(error, "byte 0x%02x", (unsigned char)bytes[valid]);
        return GS_FORMAT;
    }
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        fail_at(error, where, bytes, 0, "JSON begins with a byte order mark");
        gs_error_next(error, "save the file as plain UTF-8");
        return GS_FORMAT;
    }
    return check_depth(bytes, size, where, error);
}

enum gs_status gs_json_parse(const char *bytes, size_t size, const char *where,
                             struct gs_json **value, struct gs_error *error) {
    *value = NULL;
    enum gs_status status = check_bytes(bytes, size, where, error);
    if (status != GS_OK) return status;
    json_error_t reason;
    json_t *parsed = json_loadb(bytes, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &reason);
    if (parsed) {
        *value = wrap(parsed);
        return GS_OK;
    }
    if (json_error_code(&reason) == json_error_out_of_memory)
        return gs_fail_memory(error, size, "JSON");
    size_t position = reason.position > 0 ? (size_t)reason.position : 0;
    if (position > size) position = size;
    fail_at(error, where, bytes, position, "not usable as JSON");
    gs_error_found(error, "%s", reason.text);
    return GS_FORMAT;
}

enum gs_status gs_json_read_file(const char *path, struct gs_json **value, struct gs_error *error) {
    *value = NULL;
    struct gs_mapped_file file;
    enum gs_status status = gs_file_map(path, &file, error);
    if (status != GS_OK) return status;
    status = gs_json_parse((const char *)file.bytes, file.size, path, value, error);
    gs_file_unmap(&file);
    return status;
}

void gs_json_destroy(struct gs_json *value) {
    if (!value) return;
    atomic_fetch_add(&changes, 1);
    json_decref(json_of(value));
}

struct gs_json *gs_json_copy(const struct gs_json *value) {
    return value ? wrap(json_deep_copy(json_of(value))) : NULL;
}

/* ---- building ---- */

struct gs_json *gs_json_new_object(void) {
    return wrap(json_object());
}

struct gs_json *gs_json_new_array(void) {
    return wrap(json_array());
}

struct gs_json *gs_json_new_string(const char *text) {
    char *repaired = gs_utf8_repair(text);
    json_t *string = repaired ? json_string(repaired) : NULL;
    gs_free(repaired);
    return wrap(string);
}

struct gs_json *gs_json_new_number(double number) {
    return wrap(isfinite(number) ? json_real(number) : json_null());
}

struct gs_json *gs_json_new_integer(int64_t number) {
    return wrap(json_integer(number));
}

struct gs_json *gs_json_new_bool(bool truth) {
    return wrap(json_boolean(truth));
}

struct gs_json *gs_json_new_null(void) {
    return wrap(json_null());
}

bool gs_json_set(struct gs_json *object, const char *key, struct gs_json *value) {
    atomic_fetch_add(&changes, 1);
    char *repaired = gs_utf8_repair(key);
    if (!repaired) {
        json_decref(json_of(value));
        return false;
    }
    bool done = json_object_set_new(json_of(object), repaired, json_of(value)) == 0;
    gs_free(repaired);
    return done;
}

bool gs_json_append(struct gs_json *array, struct gs_json *value) {
    atomic_fetch_add(&changes, 1);
    return json_array_append_new(json_of(array), json_of(value)) == 0;
}

/* ---- looking in ---- */

enum gs_json_type gs_json_type(const struct gs_json *value) {
    if (!value) return GS_JSON_NOTHING;
    switch (json_typeof(json_of(value))) {
    case JSON_OBJECT:
        return GS_JSON_OBJECT;
    case JSON_ARRAY:
        return GS_JSON_ARRAY;
    case JSON_STRING:
        return GS_JSON_STRING;
    case JSON_INTEGER:
        return GS_JSON_INTEGER;
    case JSON_REAL:
        return GS_JSON_REAL;
    case JSON_TRUE:
    case JSON_FALSE:
        return GS_JSON_BOOL;
    case JSON_NULL:
        return GS_JSON_NULL;
    }
    return GS_JSON_NOTHING;
}

const char *gs_json_type_name(enum gs_json_type type) {
    static const char *const names[] = {"null",     "true or false", "a whole number", "a number",
                                        "a string", "an array",      "an object",      "nothing"};
    return (unsigned)type <= GS_JSON_NOTHING ? names[type] : "nothing";
}

const struct gs_json *gs_json_get(const struct gs_json *object, const char *key) {
    return wrap(json_object_get(json_of(object), key));
}

size_t gs_json_size(const struct gs_json *container) {
    json_t *json = json_of(container);
    return json_is_array(json) ? json_array_size(json) : json_object_size(json);
}

const struct gs_json *gs_json_at(const struct gs_json *array, size_t index) {
    return wrap(json_array_get(json_of(array), index));
}

/* jansson lists members one after the other only. A walk by index remembers where it was, so that
 * a loop over a header of 100,000 members takes 100,000 steps; any change anywhere forgets it. */
struct cursor {
    json_t *object;
    size_t index;
    void *iterator;
    uint_fast64_t changes;
};

static void *find_member(const struct gs_json *object, size_t index) {
    static _Thread_local struct cursor cursor;
    json_t *json = json_of(object);
    if (!json_is_object(json) || index >= json_object_size(json)) return NULL;
    uint_fast64_t now = atomic_load(&changes);
    if (cursor.object != json || cursor.changes != now || cursor.index > index)
        cursor = (struct cursor){json, 0, json_object_iter(json), now};
    for (; cursor.index < index; cursor.index++)
        cursor.iterator = json_object_iter_next(json, cursor.iterator);
    return cursor.iterator;
}

const char *gs_json_key_at(const struct gs_json *object, size_t index) {
    void *member = find_member(object, index);
    return member ? json_object_iter_key(member) : NULL;
}

const struct gs_json *gs_json_value_at(const struct gs_json *object, size_t index) {
    void *member = find_member(object, index);
    return member ? wrap(json_object_iter_value(member)) : NULL;
}

const char *gs_json_string(const struct gs_json *value) {
    return json_string_value(json_of(value));
}

bool gs_json_number(const struct gs_json *value, double *number) {
    if (!json_is_number(json_of(value))) return false;
    *number = json_number_value(json_of(value));
    return true;
}

bool gs_json_integer(const struct gs_json *value, int64_t *number) {
    if (!json_is_integer(json_of(value))) return false;
    *number = json_integer_value(json_of(value));
    return true;
}

bool gs_json_truth(const struct gs_json *value, bool *truth) {
    if (!json_is_boolean(json_of(value))) return false;
    *truth = json_is_true(json_of(value));
    return true;
}
