/* fields.h - a config object as a table of number and truth fields. */
#ifndef GS_CORE_MODELS_FIELDS_H
#define GS_CORE_MODELS_FIELDS_H

#include "core/base/json.h"

#include <stdbool.h>
#include <stddef.h>

struct gs_field {
    const char *key;
    /* size_t (at least 1), bool, or double (above 0, at most 1e6) */
    enum { GS_FIELD_SIZE, GS_FIELD_BOOL, GS_FIELD_REAL } type;
    size_t offset; /* in the struct that is filled */
    bool required; /* else the struct's value stays */
};

/* Fill `object` (zeroed, or holding defaults) from JSON. GS_CONFIG for what is missing, of the
 * wrong type, out of range (whole numbers: 1 … 2^31 - 1), or unknown (the nearest known key is
 * named). `what` names the object in errors, e.g. "model". */
enum gs_status gs_fields_read(const struct gs_json *json, const char *what,
                              const struct gs_field *fields, size_t count, void *object,
                              struct gs_error *error);
/* The struct as a JSON object with every field. NULL when memory is short. */
struct gs_json *gs_fields_json(const struct gs_field *fields, size_t count, const void *object);

#endif
