/* drawing.h - pictures of one folder: drawn, or a reason why not. */
#ifndef GS_REPORTS_PAGE_DRAWING_H
#define GS_REPORTS_PAGE_DRAWING_H

#include "core/base/status.h"
#include "reports/figures/plot.h"

enum gs_panel_state {
    GS_PANEL_DRAWN,
    GS_PANEL_ABSENT, /* the analysis was not made: what it needs */
    GS_PANEL_EMPTY,  /* made, but nothing to draw: why */
    GS_PANEL_FAILED, /* gnuplot failed: why; the numbers are below */
    GS_PANEL_NONE    /* it has no place on this page (gs_figure_applies) */
};

/* What became of a picture. */
struct gs_picture {
    enum gs_panel_state state;
    char reason[512];
};

/* Start with {.folder = …, .warning = …}; `warning` (may be NULL) receives the first failure. */
struct gs_drawing {
    const char *folder; /* of the figures */
    struct gs_error *warning;
    bool probed;
    enum gs_status can_draw;
    struct gs_error why_not;
};

void gs_picture_reason(struct gs_picture *picture, enum gs_panel_state state, const char *reason);

/* Draw a filled plot as <folder>/<prefix><name>.svg and …-narrow.svg. gnuplot is asked once,
 * when the first plot has something to draw. A picture that gnuplot cannot draw is no failure: it
 * says why. One that cannot be written is: GS_IO, as for any file of the page. */
enum gs_status gs_drawing_make(struct gs_drawing *drawing, const struct gs_plot *plot,
                               const char *prefix, const char *name, int height, int narrow_height,
                               struct gs_picture *picture, struct gs_error *error);

/* The picture's element: the narrow file for phones; `said` is the alternative text, behind
 * "Figure: <title>. ". */
struct gs_text;
void gs_page_picture(struct gs_text *page, const char *prefix, const char *name, int height,
                     int narrow_height, const char *title, const char *said);
/* The panel that stands where a picture is missing: why. */
void gs_page_reason(struct gs_text *page, const struct gs_picture *picture);

#endif
