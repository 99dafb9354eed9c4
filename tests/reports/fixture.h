/* fixture.h - results of made-up measurements, for drawing and page tests: plausible curves with
 * hostile labels. All functions fail the test when memory is short. */
#ifndef GS_TESTS_REPORTS_FIXTURE_H
#define GS_TESTS_REPORTS_FIXTURE_H

#include "reports/figures/figure.h"

struct gs_results *gs_fixture_geometry(size_t dims, double scale);
struct gs_results *gs_fixture_default(void);
struct gs_results *gs_fixture_horizon(void);
struct gs_results *gs_fixture_retention(size_t heads, bool null);
struct gs_results *gs_fixture_loss(double level);

/* A run with every part, and with the untrained model's where `null`. Results are owned by the
 * fixture: gs_fixture_free. */
struct gs_fixture {
    struct gs_report_run run;
    struct gs_results *owned[2 * GS_PARTS];
};
void gs_fixture_make(struct gs_fixture *fixture, bool null);
/* What the analyses of a model with layers add: tables by stream and by head. `null` as it was
 * made. */
void gs_fixture_add_layers(struct gs_fixture *fixture, bool null);
void gs_fixture_free(struct gs_fixture *fixture);

#endif
