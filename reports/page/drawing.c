#include "reports/page/drawing.h"

#include "reports/figures/figure.h"
#include "reports/figures/gnuplot.h"
#include "reports/page/html.h"

#include <stdio.h>

void gs_picture_reason(struct gs_picture *picture, enum gs_panel_state state, const char *reason) {
    picture->state = state;
    snprintf(picture->reason, sizeof picture->reason, "%s", reason);
}

static void failed(struct gs_picture *picture, struct gs_drawing *drawing,
                   const struct gs_error *error) {
    char text[1024];
    struct gs_error shown = *error;
    shown.where[0] = '\0'; /* a path in a temporary folder says nothing to a reader */
    gs_picture_reason(picture, GS_PANEL_FAILED, gs_error_text(&shown, text, sizeof text));
    if (drawing->warning && !drawing->warning->what[0]) *drawing->warning = shown;
}

enum gs_status gs_drawing_make(struct gs_drawing *drawing, const struct gs_plot *plot,
                               const char *prefix, const char *name, int height, int narrow_height,
                               struct gs_picture *picture, struct gs_error *error) {
    *picture = (struct gs_picture){GS_PANEL_DRAWN, ""};
    if (plot->empty) {
        gs_picture_reason(picture, GS_PANEL_EMPTY, plot->empty);
        return GS_OK;
    }
    if (!drawing->probed) drawing->can_draw = gs_gnuplot_probe(&drawing->why_not);
    drawing->probed = true;
    if (drawing->can_draw != GS_OK) {
        failed(picture, drawing, &drawing->why_not);
        return GS_OK;
    }
    struct gs_error why = {0};
    enum gs_status status =
        gs_figure_draw_plot(plot, drawing->folder, prefix, name, height, narrow_height, &why);
    if (status == GS_OK) return GS_OK;
    failed(picture, drawing, &why);
    if (status != GS_IO) return GS_OK;
    if (error) *error = why;
    return GS_IO;
}

void gs_page_picture(struct gs_text *page, const char *prefix, const char *name, int height,
                     int narrow_height, const char *title, const char *said) {
    gs_text_put(page, "<picture><source media=\"screen and (max-width: 560px)\" srcset=\"figures/");
    gs_html_link(page, prefix);
    gs_html_link(page, name);
    gs_text_add(page, "-narrow.svg\" width=\"%d\" height=\"%d\">", GS_FIGURE_NARROW_WIDTH,
                narrow_height);
    gs_text_put(page, "<img src=\"figures/");
    gs_html_link(page, prefix);
    gs_html_link(page, name);
    gs_text_add(page, ".svg\" width=\"%d\" height=\"%d\" alt=\"Figure: ", GS_FIGURE_WIDTH, height);
    gs_html_text(page, title);
    gs_text_put(page, ". ");
    gs_html_text(page, said);
    gs_text_put(page, "\"></picture>\n");
}

void gs_page_reason(struct gs_text *page, const struct gs_picture *picture) {
    static const char *const before[] = {
        [GS_PANEL_DRAWN] = "",
        [GS_PANEL_ABSENT] = "Not made: ",
        [GS_PANEL_EMPTY] = "Nothing to draw: ",
        [GS_PANEL_FAILED] = "The picture could not be drawn; the numbers are kept. ",
        [GS_PANEL_NONE] = "",
    };
    gs_text_put(page, "<div class=\"panel\"><p>");
    gs_text_put(page, before[picture->state]);
    gs_html_text(page, picture->reason);
    gs_text_put(page, "</p></div>\n");
}
