#include "probes/arrays/roles.h"

#include "probes/trace/values.h"

#include <stdio.h>
#include <string.h>

static const char lone_memory[] = "memory"; /* as the recorder calls a GPN's only one */

size_t gs_role_rank(enum gs_array_role role) {
    return role == GS_ROLE_STREAM || role == GS_ROLE_GATE || role == GS_ROLE_SHARE ? 2 : 1;
}

static bool is_one_of(const char *name, const char *const *names) {
    for (; *names; names++)
        if (strcmp(name, *names) == 0) return true;
    return false;
}

/* What stands behind `group`, NULL when the name does not begin with it. */
static const char *behind(const char *name, const char *group) {
    size_t length = strlen(group);
    return strncmp(name, group, length) == 0 ? name + length : NULL;
}

static bool field_named(const char *name, enum gs_memory_field *field) {
    for (int i = 0; i < GS_MEMORY_FIELDS; i++) {
        *field = (enum gs_memory_field)i;
        if (strcmp(name, gs_memory_field_name(*field)) == 0) return true;
    }
    return false;
}

static enum gs_status set_name(struct gs_array_place *place, const char *name, size_t length,
                               const char *where, struct gs_error *error) {
    bool fits = length > 0 && length < GS_TRACE_NAME && !memchr(name, '/', length) &&
                !(length == 1 && name[0] == '.');
    if (fits) {
        snprintf(place->name, sizeof place->name, "%.*s", (int)length, name);
        return GS_OK;
    }
    gs_fail(error, GS_FORMAT, "a name that a trace cannot hold");
    gs_error_expected(error, "1 to %d bytes, without a /, for a stream, memory or read",
                      GS_TRACE_NAME - 1);
    gs_error_found(error, "%.*s", (int)(length < 100 ? length : 100), name);
    gs_error_where(error, "%s", where);
    return GS_FORMAT;
}

/* NAME/FIELD and NAME/share, behind memory/ and read/. NONE when the last part is another. */
static enum gs_status part_of(const char *rest, bool memory, const char *where,
                              struct gs_array_place *place, struct gs_error *error) {
    const char *slash = strrchr(rest, '/');
    if (!slash) return GS_OK;
    if (memory && field_named(slash + 1, &place->field)) place->role = GS_ROLE_GATE;
    if (!memory && strcmp(slash + 1, "share") == 0) place->role = GS_ROLE_SHARE;
    if (place->role == GS_ROLE_NONE) return GS_OK;
    return set_name(place, rest, (size_t)(slash - rest), where, error);
}

static enum gs_status stream_of(const char *name, const char *where, struct gs_array_place *place,
                                struct gs_error *error) {
    place->role = GS_ROLE_STREAM;
    return set_name(place, name, strlen(name), where, error);
}

static bool looks_like_states(const char *name, const struct gs_npy *array) {
    bool floats = array->family == GS_NPY_FLOAT || array->family == GS_NPY_RAW;
    return floats && (array->rank == 2 || array->rank == 3) && !strchr(name, '/');
}

enum gs_status gs_array_place_of(const char *name, const struct gs_npy *array, const char *where,
                                 struct gs_array_place *place, struct gs_error *error) {
    static const char *const tokens[] = {"token", "tokens", "ids", "input_ids", NULL};
    static const char *const starts[] = {"start", "sequence/start", NULL};
    static const char *const names[] = {"name", "sequence/name", NULL};
    const char *rest;
    *place = (struct gs_array_place){.role = GS_ROLE_NONE};
    if (name[0] == '/') name++;
    if ((rest = behind(name, "state/"))) return stream_of(rest, where, place, error);
    if ((rest = behind(name, "memory/"))) return part_of(rest, true, where, place, error);
    if ((rest = behind(name, "read/"))) return part_of(rest, false, where, place, error);
    if (is_one_of(name, tokens))
        place->role = GS_ROLE_TOKEN;
    else if (strcmp(name, "nll") == 0)
        place->role = GS_ROLE_NLL;
    else if (is_one_of(name, starts))
        place->role = GS_ROLE_START;
    else if (is_one_of(name, names))
        place->role = GS_ROLE_NAME;
    else if (field_named(name, &place->field))
        place->role = GS_ROLE_GATE;
    else if (strcmp(name, "share") == 0)
        place->role = GS_ROLE_SHARE;
    else if (looks_like_states(name, array))
        return stream_of(name, where, place, error);
    if (place->role == GS_ROLE_GATE || place->role == GS_ROLE_SHARE)
        snprintf(place->name, sizeof place->name, "%s", lone_memory);
    return GS_OK;
}
