/* verify.h - the verify page: one folder that needs nothing but itself.
 *
 *     index.html       verdicts first, then each claim with its figures; no script
 *     verify.md        verdicts first, then each claim with its figures as links
 *     results.json     the results
 *     figures/         each figure as NAME.svg and, for phones, NAME-narrow.svg
 *     csv/             every table and all values, verify_<table>.csv
 */
#ifndef GS_REPORTS_PAGE_VERIFY_H
#define GS_REPORTS_PAGE_VERIFY_H

#include "core/base/progress.h"
#include "reports/figures/verify.h"
#include "reports/page/drawing.h"

/* Make the page at `folder`, whole or not at all. The results must be settled. Figures that cannot
 * be drawn become panels that say why; `warning` (may be NULL) receives the first such reason. */
enum gs_status gs_verify_write(const struct gs_shown_verify *shown, const char *folder, bool force,
                               const struct gs_progress *progress, struct gs_error *warning,
                               struct gs_error *error);

/* ---- for the pages ---- */

/* A figure as it was drawn: its file is figures/<name>.svg. */
struct gs_verify_picture {
    const struct gs_verify_figure *figure;
    size_t claim;
    char name[96];
    int height, narrow_height;
    struct gs_picture picture;
};
struct gs_verify_pictures {
    struct gs_verify_picture *strips, *emergences; /* one for each claim */
    struct gs_verify_picture heads, similarity;
};

#endif
