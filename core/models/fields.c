#include "core/models/fields.h"

#include "core/base/names.h"

#include <string.h>

enum { MOST_FIELDS = 32 };

static const struct gs_field *find(const struct gs_field *fields, size_t count, const char *key) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].key, key) == 0) return &fields[i];
    return NULL;
}

static enum gs_status refuse_unknown(const struct gs_json *json, const char *what,
                                     const struct gs_field *fields, size_t count,
                                     struct gs_error *error) {
    const char *known[MOST_FIELDS];
    for (size_t i = 0; i < count; i++) known[i] = fields[i].key;
    for (size_t i = 0; i < gs_json_size(json); i++) {
        const char *key = gs_json_key_at(json, i);
        if (find(fields, count, key)) continue;
        const char *nearest = gs_nearest_name(key, known, count);
        gs_fail(error, GS_CONFIG, "unknown key %s.%s", what, key);
        if (nearest) gs_error_next(error, "did you mean %s?", nearest);
        return GS_CONFIG;
    }
    return GS_OK;
}

static enum gs_status wrong_value(const struct gs_field *field, const char *what,
                                  const struct gs_json *value, struct gs_error *error) {
    static const char *const EXPECTED[] = {
        [GS_FIELD_SIZE] = "a whole number from 1 to 2147483647",
        [GS_FIELD_BOOL] = "true or false",
        [GS_FIELD_REAL] = "a number above 0, at most 1e6",
    };
    gs_fail(error, GS_CONFIG, "%s.%s has an unusable value", what, field->key);
    gs_error_expected(error, "%s", EXPECTED[field->type]);
    int64_t whole;
    if (gs_json_integer(value, &whole))
        gs_error_found(error, "%lld", (long long)whole);
    else
        gs_error_found(error, "%s", gs_json_type_name(gs_json_type(value)));
    return GS_CONFIG;
}

static enum gs_status read_field(const struct gs_json *value, const struct gs_field *field,
                                 const char *what, void *object, struct gs_error *error) {
    char *target = (char *)object + field->offset;
    if (field->type == GS_FIELD_BOOL) {
        bool truth;
        if (!gs_json_truth(value, &truth)) return wrong_value(field, what, value, error);
        memcpy(target, &truth, sizeof truth);
        return GS_OK;
    }
    if (field->type == GS_FIELD_REAL) {
        double real;
        if (!gs_json_number(value, &real) || !(real > 0 && real <= 1e6))
            return wrong_value(field, what, value, error);
        memcpy(target, &real, sizeof real);
        return GS_OK;
    }
    int64_t whole;
    if (!gs_json_integer(value, &whole) || whole < 1 || whole > INT32_MAX)
        return wrong_value(field, what, value, error);
    size_t size = (size_t)whole;
    memcpy(target, &size, sizeof size);
    return GS_OK;
}

enum gs_status gs_fields_read(const struct gs_json *json, const char *what,
                              const struct gs_field *fields, size_t count, void *object,
                              struct gs_error *error) {
    if (gs_json_type(json) != GS_JSON_OBJECT) {
        gs_fail(error, GS_CONFIG, "the config has no usable \"%s\"", what);
        gs_error_expected(error, "an object");
        gs_error_found(error, "%s", json ? gs_json_type_name(gs_json_type(json)) : "nothing");
        return GS_CONFIG;
    }
    enum gs_status status = refuse_unknown(json, what, fields, count, error);
    for (size_t i = 0; i < count && status == GS_OK; i++) {
        const struct gs_json *value = gs_json_get(json, fields[i].key);
        if (value)
            status = read_field(value, &fields[i], what, object, error);
        else if (fields[i].required)
            status = gs_fail(error, GS_CONFIG, "%s.%s is missing", what, fields[i].key);
    }
    return status;
}

struct gs_json *gs_fields_json(const struct gs_field *fields, size_t count, const void *object) {
    struct gs_json *json = gs_json_new_object();
    for (size_t i = 0; i < count && json; i++) {
        const char *source = (const char *)object + fields[i].offset;
        struct gs_json *value;
        if (fields[i].type == GS_FIELD_BOOL) {
            bool truth;
            memcpy(&truth, source, sizeof truth);
            value = gs_json_new_bool(truth);
        } else if (fields[i].type == GS_FIELD_REAL) {
            double real;
            memcpy(&real, source, sizeof real);
            value = gs_json_new_number(real);
        } else {
            size_t size;
            memcpy(&size, source, sizeof size);
            value = gs_json_new_integer((int64_t)size);
        }
        if (gs_json_set(json, fields[i].key, value)) continue;
        gs_json_destroy(json);
        return NULL;
    }
    return json;
}
