#include "reports/page/training.h"

#include "reports/figures/training.h"
#include "reports/page/html.h"

static int height(const struct gs_report *report, bool narrow) {
    return gs_training_height(gs_training_panels(report->runs, report->run_count), narrow);
}

enum gs_status gs_page_draw_training(const struct gs_report *report, struct gs_drawing *drawing,
                                     struct gs_picture *picture, struct gs_error *error) {
    *picture = (struct gs_picture){GS_PANEL_NONE, ""};
    if (!gs_training_applies(report->runs, report->run_count)) return GS_OK;
    struct gs_plot plot = {0};
    gs_training_draw(report->runs, report->run_count, &plot);
    enum gs_status status = gs_drawing_make(drawing, &plot, "", "training", height(report, false),
                                            height(report, true), picture, error);
    gs_plot_free(&plot);
    return status;
}

void gs_page_training(struct gs_text *page, const struct gs_report *report,
                      const struct gs_picture *picture) {
    static const char title[] = "Key values against the training step";
    if (picture->state == GS_PANEL_NONE) return;
    struct gs_text said = {0};
    gs_training_say(report->runs, report->run_count, &said);
    if (said.failed) page->failed = true;
    gs_text_put(page, "<h2 id=\"training\">As training went on</h2>\n"
                      "<figure id=\"figure-training\">\n");
    if (picture->state == GS_PANEL_DRAWN)
        gs_page_picture(page, "", "training", height(report, false), height(report, true), title,
                        said.bytes);
    else
        gs_page_reason(page, picture);
    gs_text_put(page, "<figcaption><p>");
    gs_html_text(page, said.bytes);
    gs_text_put(page, " The numbers stand in the table below.</p></figcaption>\n</figure>\n");
    gs_text_free(&said);
}
