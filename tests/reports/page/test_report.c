/* The whole page from made-up results. With an argument, the page is kept there to be looked at. */
#include "reports/page/report.h"
#include "tests/reports/fixture.h"
#include "tests/support/support.h"

int main(int argc, char **argv) {
    struct gs_fixture fixture;
    gs_fixture_make(&fixture, true);
    struct gs_report report = {&fixture.run, 1, "gpnscope report held-out.trace.h5 -o report"};
    struct gs_error error, warning;
    if (gs_report_write(&report, argc > 1 ? argv[1] : "x", true, NULL, &warning, &error) != GS_OK) {
        char text[2000];
        puts(gs_error_text(&error, text, sizeof text));
        return 1;
    }
    gs_fixture_free(&fixture);
    return 0;
}
