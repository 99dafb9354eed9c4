/* Opening the files of an import and giving each array its place in the trace. */
#include "core/base/memory.h"
#include "probes/arrays/import_parts.h"
#include "probes/trace/layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void pass_over(struct gs_import *import, const char *name) {
    size_t used = strlen(import->passed_over), room = sizeof import->passed_over;
    if (used + strlen(name) + 8 < room)
        snprintf(import->passed_over + used, room - used, "%s%s", used ? ", " : "", name);
    else if (used + 8 < room && strcmp(import->passed_over + used - 3, "...") != 0)
        snprintf(import->passed_over + used, room - used, ", ...");
}

static bool same_place(const struct gs_array_place *a, const struct gs_array_place *b) {
    return a->role == b->role && strcmp(a->name, b->name) == 0 &&
           (a->role != GS_ROLE_GATE || a->field == b->field);
}

static enum gs_status check_twice(const struct gs_import *import,
                                  const struct gs_import_array *array, struct gs_error *error) {
    for (size_t i = 0; i < import->count; i++) {
        if (!same_place(&import->arrays[i].place, &array->place)) continue;
        gs_fail(error, GS_FORMAT, "two arrays for one place in the trace");
        gs_error_found(error, "%s", import->arrays[i].where);
        gs_error_where(error, "%s", array->where);
        return GS_FORMAT;
    }
    return GS_OK;
}

/* Array `index` of `file`, under `name`. */
static enum gs_status add_array(struct gs_import *import, struct gs_array_file *file, size_t index,
                                const char *name, struct gs_error *error) {
    struct gs_import_array array = {.file = file,
                                    .index = index,
                                    .where = gs_array_file_where(file, index),
                                    .npy = gs_array_file_at(file, index)};
    enum gs_status status = gs_array_place_of(name, array.npy, array.where, &array.place, error);
    if (status == GS_OK && array.place.role == GS_ROLE_NONE) {
        pass_over(import, name);
        return GS_OK;
    }
    if (status == GS_OK && array.npy->family == GS_NPY_OTHER) /* may be of a kind never read */
        status = gs_array_file_load(file, index, error);
    if (status == GS_OK) status = check_twice(import, &array, error);
    if (status == GS_OK) import->arrays[import->count++] = array;
    return status;
}

/* The states of a .npy go into a stream whatever they are called. */
static enum gs_status add_states(struct gs_import *import, struct gs_array_file *file,
                                 struct gs_error *error) {
    const char *stream = import->options->stream ? import->options->stream : "state";
    size_t size = strlen(stream) + sizeof "state/";
    char *name = gs_calloc(size, 1);
    if (!name) return gs_fail_memory(error, size, "a name");
    snprintf(name, size, "state/%s", stream);
    enum gs_status status = add_array(import, file, 0, name, error);
    gs_free(name);
    return status;
}

static bool is_single(const struct gs_array_file *file) {
    return gs_array_file_count(file) == 1 && gs_array_file_name(file, 0)[0] == '\0';
}

static enum gs_status add_main(struct gs_import *import, struct gs_error *error) {
    struct gs_array_file *file = import->files[0];
    if (is_single(file)) return add_states(import, file, error);
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < gs_array_file_count(file); i++)
        status = add_array(import, file, i, gs_array_file_name(file, i), error);
    return status;
}

/* "NAME=FILE". */
static enum gs_status add_with(struct gs_import *import, const char *text, struct gs_error *error) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) {
        gs_fail(error, GS_USAGE, "--with does not understand \"%s\"", text);
        gs_error_expected(error, "NAME=FILE, such as token=ids.npy");
        return GS_USAGE;
    }
    struct gs_array_file **file = &import->files[import->file_count];
    enum gs_status status = gs_array_file_open(equals + 1, file, error);
    if (status != GS_OK) return status;
    import->file_count++;
    if (!is_single(*file)) {
        gs_fail(error, GS_UNSUPPORTED, "several arrays behind --with");
        gs_error_expected(error, "a .npy file of one array");
        gs_error_where(error, "%s", equals + 1);
        return GS_UNSUPPORTED;
    }
    char *name = gs_strdup(text);
    if (!name) return gs_fail_memory(error, strlen(text), "a name");
    name[equals - text] = '\0';
    size_t before = import->count;
    status = add_array(import, *file, 0, name, error);
    if (status == GS_OK && import->count == before) {
        status = gs_fail(error, GS_USAGE, "--with: \"%s\" has no place in a trace", name);
        gs_error_expected(error, "state/NAME, token, nll, start, name, memory/NAME/log_decay, "
                                 "memory/NAME/write_strength, memory/NAME/norm, read/NAME/share");
    }
    gs_free(name);
    return status;
}

/* Layers by number, other streams by name, as a trace lists them; otherwise as they came. */
static int compare_arrays(const void *a, const void *b) {
    const struct gs_import_array *one = a, *other = b;
    if (one->place.role != other->place.role) return one->place.role < other->place.role ? -1 : 1;
    uint64_t layer = gs_layer_number(one->place.name), of = gs_layer_number(other->place.name);
    if (layer != of) return layer < of ? -1 : 1;
    int names = strcmp(one->place.name, other->place.name);
    return names ? names : (int)one->place.field - (int)other->place.field;
}

static enum gs_status want_states(const struct gs_import *import, struct gs_error *error) {
    if (gs_import_find(import, GS_ROLE_STREAM)) return GS_OK;
    gs_fail(error, GS_MISSING, "no states");
    gs_error_expected(error, "an array of floats of shape (rows, d) or (sequences, time, d)");
    gs_error_found(error, "%s", import->passed_over[0] ? import->passed_over : "none");
    gs_error_where(error, "%s", import->options->path);
    return GS_MISSING;
}

enum gs_status gs_import_open(struct gs_import *import, struct gs_error *error) {
    const struct gs_arrays_import *options = import->options;
    import->files = gs_calloc(1 + options->with_count, sizeof *import->files);
    if (!import->files) return gs_fail_memory(error, options->with_count, "files of arrays");
    enum gs_status status = gs_array_file_open(options->path, &import->files[0], error);
    if (status != GS_OK) return status;
    import->file_count = 1;
    size_t most = gs_array_file_count(import->files[0]) + options->with_count;
    import->arrays = gs_calloc(most, sizeof *import->arrays);
    if (!import->arrays) return gs_fail_memory(error, most * sizeof *import->arrays, "arrays");
    status = add_main(import, error);
    for (size_t i = 0; status == GS_OK && i < options->with_count; i++)
        status = add_with(import, options->with[i], error);
    if (status == GS_OK) status = want_states(import, error);
    qsort(import->arrays, import->count, sizeof *import->arrays, compare_arrays);
    return status;
}

const struct gs_import_array *gs_import_find(const struct gs_import *import,
                                             enum gs_array_role role) {
    for (size_t i = 0; i < import->count; i++)
        if (import->arrays[i].place.role == role) return &import->arrays[i];
    return NULL;
}

void gs_import_free(struct gs_import *import) {
    for (size_t i = 0; i < import->file_count; i++) gs_array_file_close(import->files[i]);
    for (size_t i = 0; import->names && i < import->sequences; i++) gs_free(import->names[i]);
    gs_free(import->names);
    gs_free(import->files);
    gs_free(import->arrays);
    gs_free(import->start);
    gs_free(import->streams);
    gs_free(import->memories);
    gs_free(import->reads);
    gs_free(import->room);
    *import = (struct gs_import){0};
}
