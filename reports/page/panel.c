#include "reports/page/panel.h"

#include "reports/figures/parts.h"
#include "reports/page/html.h"

#include <math.h>
#include <string.h>

enum { ROWS_SHOWN = 30, SHA_SHOWN = 12 };

/* What the part was computed on, in one sentence. */
static void add_basis(struct gs_text *page, const struct gs_report_run *run,
                      const struct gs_figure *figure) {
    enum gs_part part = figure->part;
    gs_text_put(page, "<p class=\"basis\">Computed on ");
    if (part == GS_PART_RETENTION) {
        gs_text_put(page, "the memory gates of ");
    } else if (part == GS_PART_LOSS) {
        gs_text_put(page, "the losses of ");
    } else if (part == GS_PART_DEFAULT && !figure->each) {
        gs_text_put(page, "the decoded states of ");
    } else {
        gs_text_put(page, figure->each ? "" : "the ");
        gs_html_text(page, figure->each ? "each stream's" : run->stream ? run->stream : "recorded");
        gs_text_put(page, " states of ");
    }
    gs_text_count(page, run->rows);
    gs_text_put(page, run->rows == 1 ? " step in " : " steps in ");
    gs_text_count(page, run->sequences);
    gs_text_put(page, run->sequences == 1 ? " sequence of " : " sequences of ");
    gs_html_text(page, run->name);
    if (run->sha256) gs_text_add(page, " (sha256 %.*s…)", SHA_SHOWN, run->sha256);
    if (part == GS_PART_DEFAULT && run->checkpoint_sha256)
        gs_text_add(page, " and its checkpoint (sha256 %.*s…)", SHA_SHOWN, run->checkpoint_sha256);
    bool has_null = run->null_results[part] || part == GS_PART_RETENTION;
    if (has_null && run->null_path) {
        gs_text_put(page, "; untrained: ");
        gs_html_text(page, run->null_path);
    }
    gs_text_put(page, ".</p>\n");
}

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

static void add_file_link(struct gs_text *page, const char *prefix,
                          const struct gs_figure *figure) {
    gs_text_put(page, "<a href=\"csv/");
    gs_html_link(page, prefix);
    gs_text_add(page, "%s_%s.csv\">", gs_part_command(figure->part), figure->table);
    gs_text_add(page, "csv/%s%s_%s.csv</a>", prefix, gs_part_command(figure->part), figure->table);
}

static void add_rows(struct gs_text *page, const struct gs_table *table) {
    size_t rows = gs_table_rows(table), columns = gs_table_columns(table);
    gs_text_put(page, "<div class=\"scroll\"><table><thead><tr>");
    for (size_t column = 0; column < columns; column++) {
        gs_text_put(page, "<th scope=\"col\">");
        gs_html_text(page, gs_table_column(table, column));
        gs_text_put(page, "</th>");
    }
    gs_text_put(page, "</tr></thead><tbody>\n");
    for (size_t row = 0; row < rows && row < ROWS_SHOWN; row++) {
        gs_text_put(page, "<tr>");
        for (size_t column = 0; column < columns; column++)
            add_cell(page, gs_table_cell(table, row, column), column == 0);
        gs_text_put(page, "</tr>\n");
    }
    gs_text_put(page, "</tbody></table></div>\n");
}

static void add_numbers(struct gs_text *page, const struct gs_report_run *run,
                        const struct gs_panel *panel, const char *prefix) {
    const struct gs_results *results = run->results[panel->figure->part];
    const struct gs_table *table =
        results ? gs_results_find_table(results, panel->figure->table) : NULL;
    if (!results) return;
    if (!table) {
        if (strcmp(panel->figure->table, "values") != 0) return;
        gs_text_put(page, "<p class=\"numbers\">The numbers: ");
        add_file_link(page, prefix, panel->figure);
        gs_text_put(page, " and “All values” below.</p>\n");
        return;
    }
    size_t rows = gs_table_rows(table);
    gs_text_add(page, "<details%s><summary>Numbers</summary>\n<p>",
                panel->state == GS_PANEL_FAILED ? " open" : "");
    if (rows > ROWS_SHOWN) gs_text_add(page, "The first %d of ", ROWS_SHOWN);
    gs_text_count(page, rows);
    gs_text_put(page, rows == 1 ? " row; " : " rows; ");
    gs_text_put(page, rows > ROWS_SHOWN ? "all of them with every digit: " : "with every digit: ");
    add_file_link(page, prefix, panel->figure);
    gs_text_put(page, "</p>\n");
    add_rows(page, table);
    gs_text_put(page, "</details>\n");
}

static void add_picture(struct gs_text *page, const struct gs_figure *figure, const char *said,
                        const char *prefix) {
    gs_text_put(page, "<picture><source media=\"screen and (max-width: 560px)\" srcset=\"figures/");
    gs_html_link(page, prefix);
    gs_text_add(page, "%s-narrow.svg\" width=\"%d\" height=\"%d\">", figure->name,
                GS_FIGURE_NARROW_WIDTH, figure->narrow_height);
    gs_text_put(page, "<img src=\"figures/");
    gs_html_link(page, prefix);
    gs_text_add(page, "%s.svg\" width=\"%d\" height=\"%d\" alt=\"Figure: ", figure->name,
                GS_FIGURE_WIDTH, figure->height);
    gs_html_text(page, figure->title);
    gs_text_put(page, ". ");
    gs_html_text(page, said);
    gs_text_put(page, "\"></picture>\n");
}

static void add_reason(struct gs_text *page, const struct gs_panel *panel) {
    static const char *const before[] = {
        [GS_PANEL_DRAWN] = "",
        [GS_PANEL_ABSENT] = "Not made: ",
        [GS_PANEL_EMPTY] = "Nothing to draw: ",
        [GS_PANEL_FAILED] = "The picture could not be drawn; the numbers are kept. ",
        [GS_PANEL_NONE] = "",
    };
    gs_text_put(page, "<div class=\"panel\"><p>");
    gs_text_put(page, before[panel->state]);
    gs_html_text(page, panel->reason);
    gs_text_put(page, "</p></div>\n");
}

void gs_page_panel(struct gs_text *page, const struct gs_report_run *run,
                   const struct gs_panel *panel, const char *prefix) {
    const struct gs_figure *figure = panel->figure;
    struct gs_text said = {0};
    if (panel->state == GS_PANEL_NONE) return;
    if (panel->state != GS_PANEL_ABSENT) figure->say(run, &said);
    if (said.failed) page->failed = true;
    gs_text_add(page, "<figure id=\"%sfigure-%s\">\n<h4>", prefix, figure->name);
    gs_html_text(page, figure->title);
    gs_text_put(page, "</h4>\n");
    if (panel->state == GS_PANEL_DRAWN)
        add_picture(page, figure, said.bytes, prefix);
    else
        add_reason(page, panel);
    if (panel->state != GS_PANEL_ABSENT) {
        gs_text_put(page, "<figcaption>");
        if (said.size) {
            gs_text_put(page, "<p>");
            gs_html_text(page, said.bytes);
            gs_text_put(page, "</p>\n");
        }
        add_basis(page, run, figure);
        gs_text_put(page, "</figcaption>\n");
        add_numbers(page, run, panel, prefix);
    }
    gs_text_put(page, "</figure>\n");
    gs_text_free(&said);
}
