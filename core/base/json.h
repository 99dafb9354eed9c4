/* json.h - JSON in and out. The one place that knows jansson: values are opaque here.
 *
 * Reading rejects duplicate keys, NUL in strings, bytes behind the end, and depth over 64.
 * Non-UTF-8 is an error that names the byte's place. Numbers are finite by definition: writing NaN
 * or Inf writes null.
 */
#ifndef GS_CORE_BASE_JSON_H
#define GS_CORE_BASE_JSON_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct gs_json; /* a value; "owned" ones are released by gs_json_destroy, "borrowed" ones are not */

/* Parse `size` bytes. `where` names the source in errors. *value is owned by the caller. */
enum gs_status gs_json_parse(const char *bytes, size_t size, const char *where,
                             struct gs_json **value, struct gs_error *error);
enum gs_status gs_json_read_file(const char *path, struct gs_json **value, struct gs_error *error);
void gs_json_destroy(struct gs_json *value); /* NULL is fine */
struct gs_json *
gs_json_copy(const struct gs_json *value); /* deep, owned; NULL when memory is short */

/* New values, owned by the caller until put into a container. NULL when memory is short. */
struct gs_json *gs_json_new_object(void);
struct gs_json *gs_json_new_array(void);
struct gs_json *gs_json_new_string(const char *text); /* bytes that are not UTF-8 become U+FFFD */
struct gs_json *gs_json_new_number(double number);    /* NaN and Inf become null */
struct gs_json *gs_json_new_integer(int64_t number);
struct gs_json *gs_json_new_bool(bool truth);
struct gs_json *gs_json_new_null(void);
/* Put `value` into the container, which owns it from now on, also when putting fails. False when
 * memory is short or `value` is NULL; so a chain of new/set needs one check. Keys keep their order.
 */
bool gs_json_set(struct gs_json *object, const char *key, struct gs_json *value);
bool gs_json_append(struct gs_json *array, struct gs_json *value);

/* Looking in. Everything returned is borrowed from `value`; a NULL or wrongly typed value gives the
 * "nothing" answer, so that chains need no checks. */
enum gs_json_type {
    GS_JSON_NULL,
    GS_JSON_BOOL,
    GS_JSON_INTEGER,
    GS_JSON_REAL,
    GS_JSON_STRING,
    GS_JSON_ARRAY,
    GS_JSON_OBJECT,
    GS_JSON_NOTHING
};
enum gs_json_type gs_json_type(const struct gs_json *value);
const char *gs_json_type_name(enum gs_json_type type);
const struct gs_json *gs_json_get(const struct gs_json *object, const char *key); /* NULL: absent */
size_t gs_json_size(const struct gs_json *container); /* members of an object or array, else 0 */
const struct gs_json *gs_json_at(const struct gs_json *array, size_t index);
/* The object's members in order: key and value of number `index`. */
const char *gs_json_key_at(const struct gs_json *object, size_t index);
const struct gs_json *gs_json_value_at(const struct gs_json *object, size_t index);
const char *gs_json_string(const struct gs_json *value);          /* NULL when it is not a string */
bool gs_json_number(const struct gs_json *value, double *number); /* integer or real */
bool gs_json_integer(const struct gs_json *value, int64_t *number); /* integers only */
bool gs_json_truth(const struct gs_json *value, bool *truth);

/* The value as text: indent 0 is one line. A new string (gs_free), NULL when memory is short. */
char *gs_json_text(const struct gs_json *value, int indent);
/* The same to a stream, with a final newline. */
enum gs_status gs_json_print(const struct gs_json *value, FILE *stream, struct gs_error *error);

#endif
