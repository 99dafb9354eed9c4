/* What a file of numpy's arrays holds, and what each would become in a trace. */
#include "probes/arrays/array_file.h"
#include "probes/arrays/roles.h"
#include "probes/inspect/sheet.h"
#include "probes/trace/values.h"

#include <stdio.h>
#include <string.h>

static void becomes(const struct gs_array_file *file, size_t index, char *text, size_t size) {
    struct gs_array_place place;
    const char *name = gs_array_file_name(file, index);
    const struct gs_npy *array = gs_array_file_at(file, index);
    snprintf(text, size, "nothing");
    if (gs_array_place_of(name[0] ? name : "state", array, "", &place, NULL) != GS_OK) return;
    switch (place.role) {
    case GS_ROLE_NONE:
        break;
    case GS_ROLE_STREAM:
        snprintf(text, size, "state/%s", place.name);
        break;
    case GS_ROLE_TOKEN:
        snprintf(text, size, "token");
        break;
    case GS_ROLE_NLL:
        snprintf(text, size, "nll");
        break;
    case GS_ROLE_START:
        snprintf(text, size, "sequence/start");
        break;
    case GS_ROLE_NAME:
        snprintf(text, size, "sequence/name");
        break;
    case GS_ROLE_GATE:
        snprintf(text, size, "memory/%s/%s", place.name, gs_memory_field_name(place.field));
        break;
    case GS_ROLE_SHARE:
        snprintf(text, size, "read/%s/share", place.name);
        break;
    }
}

void gs_describe_arrays(struct gs_sheet *sheet, const char *path) {
    static const char *const columns[] = {"name", "type", "order", "shape", "becomes"};
    struct gs_array_file *file;
    sheet->status = gs_array_file_open(path, &file, sheet->error);
    if (sheet->status != GS_OK) return;
    gs_sheet_whole(sheet, "arrays", (int64_t)gs_array_file_count(file));
    struct gs_table *to = gs_sheet_table(sheet, "arrays", columns, 5);
    for (size_t i = 0; i < gs_array_file_count(file); i++) {
        const struct gs_npy *array = gs_array_file_at(file, i);
        char shape[192], place[2 * GS_TRACE_NAME];
        gs_sheet_shape(array->shape, array->rank, shape, sizeof shape);
        becomes(file, i, place, sizeof place);
        gs_sheet_row(sheet, to,
                     (struct gs_cell[]){gs_cell_text(gs_array_file_name(file, i)),
                                        gs_cell_text(array->descr),
                                        gs_cell_text(array->fortran ? "Fortran" : "C"),
                                        gs_cell_text(shape), gs_cell_text(place)});
    }
    gs_array_file_close(file);
}
