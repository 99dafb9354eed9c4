#include "reports/page/markdown.h"

#include "reports/figures/label.h"

#include <math.h>
#include <string.h>

/* A text that begins a paragraph may begin as a list's item ("- ", "1. ") or a rule ("---") does:
 * the number of bytes up to the mark, with it; 0 when it does not. */
static size_t mark_of_item(const char *text) {
    size_t blanks = strspn(text, " "), digits = strspn(text + blanks, "0123456789");
    const char *mark = text + blanks + digits;
    if (!*mark || !strchr(digits ? ".)" : "-+", *mark)) return 0;
    bool alone = mark[1] == ' ' || mark[1] == '\0', rule = mark[0] == '-' && mark[1] == '-';
    return alone || rule ? blanks + digits + 1 : 0;
}

void gs_markdown_text(struct gs_text *text, const char *string) {
    if (!string) return;
    struct gs_text shown = {0};
    gs_label_show(&shown, string, strlen(string));
    if (shown.failed) text->failed = true;
    size_t mark = mark_of_item(shown.bytes ? shown.bytes : "");
    for (size_t i = 0; i < shown.size; i++) {
        if (strchr("\\`*_[]<>#|~&$!", shown.bytes[i]) || i + 1 == mark) gs_text_put(text, "\\");
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
