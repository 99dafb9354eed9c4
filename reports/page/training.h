/* training.h - the section of a report on several traces of one run: how the key measurements went
 * with training. */
#ifndef GS_REPORTS_PAGE_TRAINING_H
#define GS_REPORTS_PAGE_TRAINING_H

#include "reports/page/drawing.h"
#include "reports/page/report.h"

/* Draw figures/training.svg; state GS_PANEL_NONE where no run has two steps. Fails as
 * gs_drawing_make does. */
enum gs_status gs_page_draw_training(const struct gs_report *report, struct gs_drawing *drawing,
                                     struct gs_picture *picture, struct gs_error *error);
/* The section; nothing where the state is GS_PANEL_NONE. */
void gs_page_training(struct gs_text *page, const struct gs_report *report,
                      const struct gs_picture *picture);

#endif
