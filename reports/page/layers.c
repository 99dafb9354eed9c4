#include "reports/page/layers.h"

#include "core/results/side_by_side.h"
#include "reports/figures/parts.h"
#include "reports/page/html.h"
#include "reports/page/key_values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct measure {
    enum gs_part part;
    const char *kind, *name, *label;
    int digits;
    bool null_inside; /* the untrained value stands among the model's own results */
} measures[] = {
    {GS_PART_GEOMETRY, "stream", "mean_energy", "Energy in the mean", 3, false},
    {GS_PART_GEOMETRY, "stream", "stable_rank.centered", "Stable rank", 3, false},
    {GS_PART_GEOMETRY, "stream", "participation_ratio", "Participation ratio", 3, false},
    {GS_PART_DEFAULT, "stream", "default.spearman.mean_state", "Mean state against counts", 3,
     false},
    {GS_PART_HORIZON, "stream", "horizon.raw.plateau", "Raw cosine at long lags", 3, false},
    {GS_PART_HORIZON, "stream", "horizon.centered_sequence.k1", "Centred cosine at lag 1", 3,
     false},
    {GS_PART_RETENTION, "memory", "split.fast", "Heads with efold ≤ 3", 6, true},
    {GS_PART_RETENTION, "memory", "split.slow", "≥ 5", 6, true},
};
enum { MEASURES = sizeof measures / sizeof *measures };

static const struct gs_table *streams_of(const struct gs_report_run *run) {
    return gs_figure_table(run->results[GS_PART_GEOMETRY], "geometry_by_stream");
}

bool gs_page_has_layers(const struct gs_report_run *run) {
    return streams_of(run) != NULL;
}

static bool find(const struct gs_results *results, const struct measure *m, const char *layer,
                 bool null, struct gs_value *value) {
    char name[64], full[GS_PART_NAME];
    if (!results || !layer) return false;
    snprintf(name, sizeof name, "%s%s", null ? "null." : "", m->name);
    gs_results_name_of_part(m->kind, layer, name, full);
    return gs_results_find(results, full, value);
}

/* A measure that no layer has gets no column. */
static bool is_there(const struct gs_report_run *run, const struct measure *m) {
    const struct gs_table *streams = streams_of(run);
    struct gs_value value;
    for (size_t row = 0; row < gs_table_rows(streams); row++)
        if (find(run->results[m->part], m, gs_table_cell(streams, row, 0).text, false, &value))
            return true;
    return false;
}

static void add_cell(struct gs_text *page, const struct gs_report_run *run, const struct measure *m,
                     const char *layer) {
    struct gs_value value;
    gs_text_put(page, "<td>");
    if (!find(run->results[m->part], m, layer, false, &value)) {
        gs_text_put(page, "<span class=\"none\">–</span></td>");
        return;
    }
    gs_page_value(page, &value, m->digits);
    if (value.has_interval && isfinite(value.value)) {
        gs_text_put(page, "<br><span class=\"none\">");
        gs_text_interval(page, value.low, value.high, m->digits);
        gs_text_put(page, "</span>");
    }
    const struct gs_results *null =
        m->null_inside ? run->results[m->part] : run->null_results[m->part];
    if (find(null, m, layer, m->null_inside, &value)) {
        gs_text_put(page, "<br><span class=\"none\">untrained ");
        gs_page_value(page, &value, m->digits);
        gs_text_put(page, "</span>");
    }
    gs_text_put(page, "</td>");
}

void gs_page_layers(struct gs_text *page, const struct gs_report_run *run) {
    const struct gs_table *streams = streams_of(run);
    if (!streams) return;
    gs_text_put(page, "<div class=\"scroll\"><table class=\"layers\"><thead><tr>"
                      "<th scope=\"col\">Layer</th>");
    for (size_t i = 0; i < MEASURES; i++)
        if (is_there(run, measures + i))
            gs_html_add(page, "<th scope=\"col\">%s</th>", measures[i].label);
    gs_text_put(page, "</tr></thead><tbody>\n");
    for (size_t row = 0; row < gs_table_rows(streams); row++) {
        const char *layer = gs_table_cell(streams, row, 0).text;
        gs_text_put(page, "<tr><th scope=\"row\">");
        gs_html_text(page, layer);
        gs_text_put(page, "</th>");
        for (size_t i = 0; i < MEASURES; i++)
            if (is_there(run, measures + i)) add_cell(page, run, measures + i, layer);
        gs_text_put(page, "</tr>\n");
    }
    gs_text_put(page, "</tbody></table></div>\n");
}
