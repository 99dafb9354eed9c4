#include "reports/page/table.h"

#include "reports/page/html.h"

#include <math.h>

enum { ROWS_SHOWN = 30 };

static void add_cell(struct gs_text *page, struct gs_cell cell, bool heads_row) {
    gs_text_put(page, heads_row                   ? "<th scope=\"row\">"
                      : cell.type == GS_CELL_TEXT ? "<td class=\"text\">"
                                                  : "<td>");
    if (cell.type == GS_CELL_TEXT)
        gs_html_text(page, cell.text);
    else if (cell.type == GS_CELL_INTEGER)
        gs_text_add(page, "%lld", (long long)cell.integer);
    else if (cell.type == GS_CELL_NUMBER && isfinite(cell.number))
        gs_text_number(page, cell.number, 5);
    else
        gs_text_put(page, "<span class=\"none\">–</span>");
    gs_text_put(page, heads_row ? "</th>" : "</td>");
}

void gs_page_table(struct gs_text *page, const struct gs_table *table, size_t most) {
    size_t rows = gs_table_rows(table), columns = gs_table_columns(table);
    gs_text_put(page, "<div class=\"scroll\"><table><thead><tr>");
    for (size_t column = 0; column < columns; column++) {
        gs_text_put(page, "<th scope=\"col\">");
        gs_html_text(page, gs_table_column(table, column));
        gs_text_put(page, "</th>");
    }
    gs_text_put(page, "</tr></thead><tbody>\n");
    for (size_t row = 0; row < rows && (!most || row < most); row++) {
        gs_text_put(page, "<tr>");
        for (size_t column = 0; column < columns; column++)
            add_cell(page, gs_table_cell(table, row, column), column == 0);
        gs_text_put(page, "</tr>\n");
    }
    gs_text_put(page, "</tbody></table></div>\n");
}

void gs_page_numbers(struct gs_text *page, const struct gs_table *table, const char *file,
                     bool open) {
    size_t rows = gs_table_rows(table);
    gs_text_add(page, "<details%s><summary>Numbers</summary>\n<p>", open ? " open" : "");
    if (rows > ROWS_SHOWN) gs_text_add(page, "The first %d of ", ROWS_SHOWN);
    gs_text_count(page, rows);
    gs_text_put(page, rows == 1 ? " row; " : " rows; ");
    gs_text_put(page, rows > ROWS_SHOWN ? "all of them with every digit: " : "with every digit: ");
    gs_text_add(page, "<a href=\"%s\">%s</a></p>\n", file, file);
    gs_page_table(page, table, ROWS_SHOWN);
    gs_text_put(page, "</details>\n");
}
