#include "reports/figures/training.h"

#include "core/base/memory.h"
#include "reports/figures/steps.h"

#include <math.h>
#include <string.h>

static const struct measure {
    enum gs_part part;
    const char *name, *label; /* label: what stands beside the axis */
} measures[] = {
    {GS_PART_LOSS, "loss", "loss, nat per token"},
    {GS_PART_GEOMETRY, "mean_energy", "energy in the mean"},
    {GS_PART_GEOMETRY, "stable_rank.centered", "stable rank"},
    {GS_PART_GEOMETRY, "participation_ratio", "participation ratio"},
    {GS_PART_DEFAULT, "default.spearman.mean_state", "Spearman with counts"},
    {GS_PART_HORIZON, "horizon.raw.plateau", "raw cosine, long lags"},
    {GS_PART_HORIZON, "horizon.centered_sequence.k1", "centred cosine, lag 1"},
    {GS_PART_RETENTION, "split.fast", "fast heads"},
};
enum { MEASURES = sizeof measures / sizeof *measures, PANEL = 210, NARROW_PANEL = 190 };

static bool same(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool is_same_run(const struct gs_report_run *a, const struct gs_report_run *b) {
    return a->seed == b->seed && same(a->model, b->model) && same(a->config, b->config) &&
           same(a->stream, b->stream);
}

/* The first trace that is of the same run: what the run is known by. */
static size_t first_of(const struct gs_report_run *runs, size_t index) {
    size_t first = 0;
    while (!is_same_run(runs + first, runs + index)) first++;
    return first;
}

/* Which run among those there are, from 0. */
static size_t line_of(const struct gs_report_run *runs, size_t index) {
    size_t line = 0, first = first_of(runs, index);
    for (size_t i = 0; i < first; i++) line += first_of(runs, i) == i ? 1 : 0;
    return line;
}

static size_t count_lines(const struct gs_report_run *runs, size_t count) {
    size_t lines = 0;
    for (size_t i = 0; i < count; i++) lines += first_of(runs, i) == i ? 1 : 0;
    return lines;
}

/* At two steps at least, of one run. */
static bool is_known(const struct gs_report_run *runs, size_t count, const struct measure *m) {
    struct gs_value value;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (runs[i].step >= 0 && runs[k].step >= 0 && runs[i].step != runs[k].step &&
                is_same_run(runs + i, runs + k) &&
                (!m || (gs_figure_value(runs[i].results[m->part], m->name, &value) &&
                        gs_figure_value(runs[k].results[m->part], m->name, &value))))
                return true;
    return false;
}

bool gs_training_applies(const struct gs_report_run *runs, size_t count) {
    return is_known(runs, count, NULL);
}

size_t gs_training_panels(const struct gs_report_run *runs, size_t count) {
    size_t panels = 0;
    for (size_t i = 0; i < MEASURES; i++) panels += is_known(runs, count, measures + i) ? 1 : 0;
    return panels;
}

int gs_training_height(size_t panels, bool narrow) {
    int rows = narrow ? (int)panels : (int)(panels + 1) / 2;
    return (narrow ? NARROW_PANEL : PANEL) * (rows ? rows : 1);
}

static void add_panel(const struct gs_report_run *runs, size_t count, const struct measure *m,
                      struct gs_plot *plot) {
    struct gs_steps steps = {.points = gs_calloc(count, sizeof *steps.points),
                             .lines = count_lines(runs, count),
                             .threshold = (double)NAN,
                             .ylabel = m->label,
                             .keyless = true};
    for (size_t i = 0; steps.points && i < count; i++) {
        struct gs_value value;
        if (runs[i].step < 0 || !gs_figure_value(runs[i].results[m->part], m->name, &value))
            continue;
        steps.points[steps.count++] =
            (struct gs_step_point){line_of(runs, i), (double)runs[i].step, value.value,
                                   value.has_interval ? value.low : (double)NAN,
                                   value.has_interval ? value.high : (double)NAN};
    }
    gs_steps_panel(&steps, plot);
    gs_free(steps.points);
}

void gs_training_draw(const struct gs_report_run *runs, size_t count, struct gs_plot *plot) {
    size_t panels = gs_training_panels(runs, count);
    if (!panels) {
        plot->empty = "no measurement is known at two steps of one run";
        return;
    }
    gs_plot_command(plot, "set multiplot layout (narrow ? %zu : %zu),(narrow ? 1 : 2)", panels,
                    (panels + 1) / 2);
    for (size_t i = 0; i < MEASURES; i++)
        if (is_known(runs, count, measures + i)) add_panel(runs, count, measures + i, plot);
    gs_plot_command(plot, "unset multiplot");
}

void gs_training_say(const struct gs_report_run *runs, size_t count, struct gs_text *text) {
    int64_t first = INT64_MAX, last = -1;
    size_t lines = count_lines(runs, count);
    for (size_t i = 0; i < count; i++) {
        if (runs[i].step < 0) continue;
        first = runs[i].step < first ? runs[i].step : first;
        last = runs[i].step > last ? runs[i].step : last;
    }
    if (last < 0) return;
    gs_text_add(text, "%zu traces of %zu %s, from step ", count, lines,
                lines == 1 ? "run" : "runs");
    gs_text_count(text, (unsigned long long)first);
    gs_text_put(text, " to step ");
    gs_text_count(text, (unsigned long long)last);
    gs_text_put(text,
                first == 0 ? "; step 0, the untrained model, stands apart at the left." : ".");
    gs_text_put(text, lines == 1 ? " Bars are 95 % intervals."
                                 : " A thin line for each run, their median thick.");
}
