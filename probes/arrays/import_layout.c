/* Rows, widths and sequences of the arrays of an import, checked against each other. */
#include "core/base/memory.h"
#include "probes/arrays/import_parts.h"

#include <stdio.h>
#include <string.h>

/* (sequences, time) as an array says it by an axis of its own; sequences 0: none does. */
struct axes {
    size_t sequences, time;
    const char *where;
};

static void shape_text(const struct gs_npy *array, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "(");
    for (size_t axis = 0; axis < array->rank && used < size; axis++)
        used += (size_t)snprintf(text + used, size - used, "%s%zu", axis ? ", " : "",
                                 array->shape[axis]);
    if (used < size) snprintf(text + used, size - used, ")");
}

static enum gs_status fail_shape(const struct gs_import_array *array, const char *expected,
                                 struct gs_error *error) {
    char text[192];
    shape_text(array->npy, text, sizeof text);
    gs_fail(error, GS_SHAPE, "an array of the wrong shape");
    gs_error_expected(error, "%s", expected);
    gs_error_found(error, "%s", text);
    gs_error_where(error, "%s", array->where);
    return GS_SHAPE;
}

static const char *shapes_of(enum gs_array_role role) {
    switch (role) {
    case GS_ROLE_START:
        return "one axis: where each sequence begins, then the end";
    case GS_ROLE_NAME:
        return "one axis of one text for each sequence";
    case GS_ROLE_TOKEN:
    case GS_ROLE_NLL:
        return "(rows) or (sequences, time)";
    case GS_ROLE_STREAM:
        return "(rows, d) or (sequences, time, d), none of them 0";
    default:
        return "(rows, heads) or (sequences, time, heads), none of them 0";
    }
}

/* Rank, width and type of one array; its axes, where it has both. */
static enum gs_status look_at(struct gs_import *import, struct gs_import_array *array,
                              struct axes *axes, struct gs_error *error) {
    const struct gs_npy *npy = array->npy;
    enum gs_array_role role = array->place.role;
    size_t rank = gs_role_rank(role);
    bool lists = role == GS_ROLE_START || role == GS_ROLE_NAME;
    array->width = rank == 2 && npy->rank > 0 ? npy->shape[npy->rank - 1] : 1;
    if (npy->count == 0 || (npy->rank != rank && (lists || npy->rank != rank + 1)))
        return fail_shape(array, shapes_of(role), error);
    if (array->width > import->widest) import->widest = array->width;
    if (role != GS_ROLE_TOKEN && !lists) {
        enum gs_status status =
            gs_npy_want_floats(npy, import->options->bfloat16, array->where, error);
        if (status != GS_OK) return status;
    }
    if (npy->rank == rank || lists) return GS_OK;
    if (axes->sequences == 0) {
        *axes = (struct axes){npy->shape[0], npy->shape[1], array->where};
        return GS_OK;
    }
    if (npy->shape[0] == axes->sequences && npy->shape[1] == axes->time) return GS_OK;
    char expected[512];
    snprintf(expected, sizeof expected, "%zu sequences of %zu steps, as %s says", axes->sequences,
             axes->time, axes->where);
    return fail_shape(array, expected, error);
}

static enum gs_status check_rows(struct gs_import *import, struct gs_error *error) {
    const struct gs_import_array *first = gs_import_find(import, GS_ROLE_STREAM);
    import->rows = first->npy->count / first->width;
    for (size_t i = 0; i < import->count; i++) {
        const struct gs_import_array *array = &import->arrays[i];
        if (array->place.role == GS_ROLE_START || array->place.role == GS_ROLE_NAME) continue;
        if (array->npy->count / array->width == import->rows) continue;
        char expected[512];
        snprintf(expected, sizeof expected, "%llu rows, as in %s", (unsigned long long)import->rows,
                 first->where);
        return fail_shape(array, expected, error);
    }
    return GS_OK;
}

/* ---- sequences ---- */

static enum gs_status fail_start(const struct gs_import_array *array, size_t index,
                                 const char *expected, uint64_t number, uint64_t found,
                                 struct gs_error *error) {
    gs_fail(error, GS_FORMAT, "sequences do not follow each other");
    gs_error_expected(error, "%s %llu", expected, (unsigned long long)number);
    gs_error_found(error, "%llu", (unsigned long long)found);
    gs_error_where(error, "%s, element %zu", array->where, index);
    return GS_FORMAT;
}

static enum gs_status read_start(struct gs_import *import, const struct gs_import_array *array,
                                 const struct axes *axes, struct gs_error *error) {
    size_t count = array->npy->count;
    if (count < 2) return fail_shape(array, "one axis of at least two", error);
    import->start = gs_calloc(count, sizeof *import->start);
    if (!import->start) return gs_fail_memory(error, count * sizeof *import->start, "sequences");
    enum gs_status status =
        gs_npy_u64(array->npy, 0, count, UINT64_MAX, array->where, import->start, error);
    if (status != GS_OK) return status;
    import->sequences = count - 1;
    const uint64_t *start = import->start;
    if (start[0] != 0) return fail_start(array, 0, "exactly", 0, start[0], error);
    for (size_t i = 1; i < count; i++) {
        if (start[i] < start[i - 1])
            return fail_start(array, i, "at least", start[i - 1], start[i], error);
        if (axes->sequences && start[i] != i * axes->time)
            return fail_start(array, i, "as the axes say,", i * axes->time, start[i], error);
    }
    if (start[count - 1] == import->rows) return GS_OK;
    return fail_start(array, count - 1, "the number of rows,", import->rows, start[count - 1],
                      error);
}

/* Sequences of the same length, the last perhaps shorter. */
static enum gs_status cut_evenly(struct gs_import *import, uint64_t length,
                                 struct gs_error *error) {
    uint64_t sequences = import->rows / length + (import->rows % length != 0);
    import->start = gs_calloc((size_t)sequences + 1, sizeof *import->start);
    if (!import->start) return gs_fail_memory(error, (size_t)sequences * 8, "sequences");
    import->sequences = (size_t)sequences;
    for (size_t i = 0; i < sequences; i++) import->start[i] = i * length;
    import->start[sequences] = import->rows;
    return GS_OK;
}

static enum gs_status find_sequences(struct gs_import *import, const struct axes *axes,
                                     struct gs_error *error) {
    const struct gs_import_array *start = gs_import_find(import, GS_ROLE_START);
    uint64_t length = import->options->length;
    if (length && (start || axes->sequences)) {
        gs_fail(error, GS_USAGE, "--length, but the arrays say themselves where sequences begin");
        gs_error_where(error, "%s", start ? start->where : axes->where);
        return GS_USAGE;
    }
    if (start) return read_start(import, start, axes, error);
    if (axes->sequences) length = axes->time;
    return cut_evenly(import, length ? length : import->rows, error);
}

enum gs_status gs_import_layout(struct gs_import *import, struct gs_error *error) {
    struct axes axes = {0};
    enum gs_status status = GS_OK;
    import->widest = 1;
    for (size_t i = 0; status == GS_OK && i < import->count; i++)
        status = look_at(import, &import->arrays[i], &axes, error);
    if (status == GS_OK) status = check_rows(import, error);
    for (size_t i = 0; status == GS_OK && i < import->count; i++)
        status = gs_array_file_load(import->arrays[i].file, import->arrays[i].index, error);
    return status == GS_OK ? find_sequences(import, &axes, error) : status;
}
