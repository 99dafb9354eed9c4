#include "reports/page/panel.h"

#include "reports/page/html.h"
#include "reports/page/table.h"

#include <stdio.h>
#include <string.h>

enum { SHA_SHOWN = 12 };

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

static void add_numbers(struct gs_text *page, const struct gs_report_run *run,
                        const struct gs_panel *panel, const char *prefix) {
    const struct gs_figure *figure = panel->figure;
    const struct gs_results *results = run->results[figure->part];
    if (!results) return;
    const struct gs_table *table = gs_results_find_table(results, figure->table);
    if (!table && strcmp(figure->table, "values") != 0) return;
    char file[160];
    snprintf(file, sizeof file, "csv/%s%s_%s.csv", prefix, gs_part_command(figure->part),
             figure->table);
    if (table) {
        gs_page_numbers(page, table, file, panel->picture.state == GS_PANEL_FAILED);
        return;
    }
    gs_text_add(page,
                "<p class=\"numbers\">The numbers: <a href=\"%s\">%s</a> and “All values” "
                "below.</p>\n",
                file, file);
}

void gs_page_panel(struct gs_text *page, const struct gs_report_run *run,
                   const struct gs_panel *panel, const char *prefix) {
    const struct gs_figure *figure = panel->figure;
    struct gs_text said = {0};
    if (panel->picture.state == GS_PANEL_NONE) return;
    if (panel->picture.state != GS_PANEL_ABSENT) figure->say(run, &said);
    if (said.failed) page->failed = true;
    gs_text_add(page, "<figure id=\"%sfigure-%s\">\n<h4>", prefix, figure->name);
    gs_html_text(page, figure->title);
    gs_text_put(page, "</h4>\n");
    if (panel->picture.state == GS_PANEL_DRAWN)
        gs_page_picture(page, prefix, figure->name, figure->height, figure->narrow_height,
                        figure->title, said.bytes);
    else
        gs_page_reason(page, &panel->picture);
    if (panel->picture.state != GS_PANEL_ABSENT) {
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
