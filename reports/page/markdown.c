#include "reports/page/markdown.h"

#include "reports/figures/label.h"

#include <math.h>
#include <string.h>

void gs_markdown_text(struct gs_text *text, const char *string) {
    if (!string) return;
    struct gs_text shown = {0};
    gs_label_show(&shown, string, strlen(string));
    if (shown.failed) text->failed = true;
    for (size_t i = 0; i < shown.size; i++) {
        if (strchr("\\`*_[]<>#|~&$!", shown.bytes[i])) gs_text_put(text, "\\");
        gs_text_bytes(text, shown.bytes + i, 1);
    }
    gs_text_free(&shown);
}

static void put_cell(struct gs_text *text, struct gs_cell cell) {
    gs_text_put(text, " ");
    if (cell.type == GS_CELL_TEXT)
        gs_markdown_text(text, cell.text);
    else if (cell.type == GS_CELL_INTEGER)
        gs_text_add(text, "%lld", (long long)cell.integer);
    else if (cell.type == GS_CELL_NUMBER && isfinite(cell.number))
        gs_text_number(text, cell.number, 4);
    else
        gs_text_put(text, "–");
    gs_text_put(text, " |");
}

void gs_markdown_table(struct gs_text *text, const struct gs_table *table) {
    size_t columns = gs_table_columns(table);
    gs_text_put(text, "|");
    for (size_t column = 0; column < columns; column++)
        put_cell(text, gs_cell_text(gs_table_column(table, column)));
    gs_text_put(text, "\n|");
    for (size_t column = 0; column < columns; column++) gs_text_put(text, "---|");
    gs_text_put(text, "\n");
    for (size_t row = 0; row < gs_table_rows(table); row++) {
        gs_text_put(text, "|");
        for (size_t column = 0; column < columns; column++)
            put_cell(text, gs_table_cell(table, row, column));
        gs_text_put(text, "\n");
    }
}
