#include "probes/inspect/check_arrays.h"

#include "core/base/memory.h"
#include "probes/arrays/array_file.h"
#include "probes/arrays/roles.h"

#include <math.h>
#include <stdio.h>

enum { PIECE = 64 * 1024 };

static enum gs_status fail_value(const struct gs_npy *array, const char *where, size_t index,
                                 double value, struct gs_error *error) {
    char place[192] = "";
    size_t at[GS_NPY_MAX_RANK], used = 0;
    for (size_t axis = array->rank, rest = index; axis-- > 0; rest /= array->shape[axis])
        at[axis] = rest % array->shape[axis];
    for (size_t axis = 0; axis < array->rank && used < sizeof place; axis++)
        used += (size_t)snprintf(place + used, sizeof place - used, "%s%zu", axis ? ", " : "",
                                 at[axis]);
    gs_fail(error, GS_NUMERIC, "a number that is not finite");
    gs_error_found(error, isnan(value) ? "NaN" : value > 0 ? "Inf" : "-Inf");
    gs_error_where(error, "%s, element (%s)", where, place);
    return GS_NUMERIC;
}

static enum gs_status check_values(const struct gs_npy *array, const char *where, bool may_be_nan,
                                   double *room, const struct gs_progress *progress,
                                   struct gs_error *error) {
    for (size_t first = 0; first < array->count; first += PIECE) {
        size_t count = array->count - first < PIECE ? array->count - first : PIECE;
        gs_npy_f64(array, first, count, room);
        for (size_t i = 0; i < count; i++)
            if (!isfinite(room[i]) && !(may_be_nan && isnan(room[i])))
                return fail_value(array, where, first + i, room[i], error);
        if (gs_progress_stop(progress)) return gs_fail(error, GS_INTERRUPTED, "stopped");
    }
    return GS_OK;
}

static enum gs_status check_array(struct gs_array_file *file, size_t index, double *room,
                                  const struct gs_progress *progress, struct gs_error *error) {
    const struct gs_npy *array = gs_array_file_at(file, index);
    const char *where = gs_array_file_where(file, index);
    struct gs_array_place place = {.role = GS_ROLE_NONE}; /* an array may have none */
    gs_array_place_of(gs_array_file_name(file, index), array, where, &place, NULL);
    enum gs_status status = gs_array_file_load(file, index, error);
    if (status == GS_OK && array->family == GS_NPY_FLOAT)
        status = check_values(array, where, place.role == GS_ROLE_NLL, room, progress, error);
    gs_array_file_unload(file, index);
    return status;
}

enum gs_status gs_check_arrays(const char *path, const struct gs_progress *progress, char *summary,
                               size_t size, struct gs_error *error) {
    struct gs_array_file *file;
    enum gs_status status = gs_array_file_open(path, &file, error);
    if (status != GS_OK) return status;
    double *room = gs_calloc(PIECE, sizeof *room);
    if (!room) status = gs_fail_memory(error, PIECE * sizeof *room, "numbers");
    size_t count = gs_array_file_count(file), elements = 0;
    for (size_t i = 0; status == GS_OK && i < count; i++) {
        status = check_array(file, i, room, progress, error);
        elements += gs_array_file_at(file, i)->count;
        gs_progress_report(progress, (double)i + 1, (double)count, NULL);
    }
    if (status == GS_OK)
        snprintf(summary, size, "%zu array%s of numpy's, %zu elements", count,
                 count == 1 ? "" : "s", elements);
    gs_free(room);
    gs_array_file_close(file);
    return status;
}
