#include "probes/inspect/sheet.h"

#include <stdio.h>

void gs_sheet_fact(struct gs_sheet *sheet, const char *name, struct gs_cell value) {
    struct gs_cell cells[2] = {gs_cell_text(name), value};
    if (sheet->status == GS_OK) sheet->status = gs_table_row(sheet->facts, cells, sheet->error);
}

void gs_sheet_text(struct gs_sheet *sheet, const char *name, const char *text) {
    if (text && text[0]) gs_sheet_fact(sheet, name, gs_cell_text(text));
}

void gs_sheet_whole(struct gs_sheet *sheet, const char *name, int64_t number) {
    gs_sheet_fact(sheet, name, gs_cell_integer(number));
}

struct gs_table *gs_sheet_table(struct gs_sheet *sheet, const char *name,
                                const char *const *columns, size_t count) {
    struct gs_table *made = NULL;
    if (sheet->status == GS_OK)
        sheet->status = gs_results_table(sheet->results, name, columns, count, &made, sheet->error);
    return made;
}

void gs_sheet_row(struct gs_sheet *sheet, struct gs_table *to, const struct gs_cell *cells) {
    if (sheet->status == GS_OK) sheet->status = gs_table_row(to, cells, sheet->error);
}

void gs_sheet_shape(const size_t *shape, size_t rank, char *text, size_t size) {
    size_t used = 0;
    snprintf(text, size, "scalar");
    for (size_t axis = 0; axis < rank && used < size; axis++)
        used += (size_t)snprintf(text + used, size - used, "%s%zu", axis ? " x " : "", shape[axis]);
}
