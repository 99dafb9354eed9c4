/* The statistic of one claim against the training step, for every seed, with the threshold. */
#include "core/base/memory.h"
#include "reports/figures/parts.h"
#include "reports/figures/steps.h"
#include "reports/figures/verify.h"

#include <math.h>
#include <string.h>

static const struct gs_table *table_of(const struct gs_shown_verify *shown) {
    return gs_figure_table(shown->results, "emergence");
}

static int height(const struct gs_shown_verify *shown, size_t claim, bool narrow) {
    (void)shown, (void)claim;
    return narrow ? 300 : 320;
}

/* The claim's points, each with the number of its run among those that have any. */
static bool collect(const struct gs_table *table, const char *claim, struct gs_steps *steps) {
    size_t rows = table ? gs_table_rows(table) : 0, count;
    struct gs_shown_run *runs = gs_shown_runs(table, &count);
    steps->points = gs_calloc(rows ? rows : 1, sizeof *steps->points);
    for (size_t run = 0; runs && steps->points && run < count; run++) {
        size_t before = steps->count;
        for (size_t row = 0; row < rows; row++) {
            if (strcmp(gs_shown_text(table, row, "claim"), claim) != 0 ||
                !gs_shown_is_of(table, row, runs + run))
                continue;
            struct gs_step_point point = {steps->lines, gs_shown_number(table, row, "step"),
                                          gs_shown_number(table, row, "value"),
                                          gs_shown_number(table, row, "low"),
                                          gs_shown_number(table, row, "high")};
            if (isfinite(point.value) && isfinite(point.step))
                steps->points[steps->count++] = point;
        }
        if (steps->count > before) steps->lines++;
    }
    gs_free(runs);
    return steps->count > 0;
}

static void draw(const struct gs_shown_verify *shown, size_t index, struct gs_plot *plot) {
    const struct gs_shown_claim *claim = shown->claims + index;
    struct gs_steps steps = {.threshold = claim->threshold,
                             .above = gs_shown_above(claim),
                             .ylabel = !claim->comparison ? "value"
                                       : strcmp(claim->comparison, "ratio") == 0
                                           ? "ratio to untrained"
                                           : "difference to untrained"};
    if (!table_of(shown))
        plot->empty = "no run was given at several training steps";
    else if (!collect(table_of(shown), claim->name, &steps) || !gs_steps_panel(&steps, plot))
        plot->empty = "no value is known at any training step";
    gs_free(steps.points);
}

static void say(const struct gs_shown_verify *shown, size_t index, struct gs_text *text) {
    const char *claim = shown->claims[index].name;
    const struct gs_table *holds = gs_figure_table(shown->results, "emergence_holds");
    size_t runs = 0, held = 0;
    double first = INFINITY, last = 0;
    for (size_t row = 0; holds && row < gs_table_rows(holds); row++) {
        if (strcmp(gs_shown_text(holds, row, "claim"), claim) != 0) continue;
        double step = gs_shown_number(holds, row, "step");
        runs++;
        if (!isfinite(step)) continue;
        held++;
        first = fmin(first, step);
        last = fmax(last, step);
    }
    if (!runs) return;
    if (!held) {
        gs_text_put(text, "In no seed does the claim hold and stay to the last step.");
        return;
    }
    gs_text_add(text, "In %zu of %zu %s the claim holds and stays, from step ", held, runs,
                runs == 1 ? "seed" : "seeds");
    gs_text_number(text, first, 9);
    if (last > first) {
        gs_text_put(text, " at the earliest and step ");
        gs_text_number(text, last, 9);
        gs_text_put(text, " at the latest");
    }
    gs_text_put(text, ".");
}

const struct gs_verify_figure gs_verify_emergence = {
    "emergence", "As training went on", "emergence", true, height, draw, say};
