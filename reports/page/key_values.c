#include "reports/page/key_values.h"

#include "reports/page/html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Labels are in the field's words; the name in the results stands beside each. */
static const struct key {
    enum gs_part part;
    const char *name, *label;
    int digits;
    const char *null_name; /* where the untrained value stands among the model's own results */
} keys[] = {
    {GS_PART_LOSS, "loss", "Loss", 4, NULL},
    {GS_PART_LOSS, "perplexity", "Perplexity", 4, NULL},
    {GS_PART_GEOMETRY, "state_norm.mean", "Mean norm of the state", 3, NULL},
    {GS_PART_GEOMETRY, "state_norm.std", "Deviation of the norm", 3, NULL},
    {GS_PART_GEOMETRY, "mean_norm", "Norm of the mean state", 3, NULL},
    {GS_PART_GEOMETRY, "mean_norm_ratio", "Norm of the mean over mean norm", 3, NULL},
    {GS_PART_GEOMETRY, "mean_energy", "Share of energy in the mean", 3, NULL},
    {GS_PART_GEOMETRY, "dim_std.mean", "Mean deviation of a dimension", 3, NULL},
    {GS_PART_GEOMETRY, "corr.mean_abs", "Mean absolute correlation", 3, NULL},
    {GS_PART_GEOMETRY, "pcs_90", "Components for 90 % of the variance", 3, NULL},
    {GS_PART_GEOMETRY, "stable_rank.centered", "Stable rank, centred", 3, NULL},
    {GS_PART_GEOMETRY, "participation_ratio", "Participation ratio", 3, NULL},
    {GS_PART_GEOMETRY, "effective_rank", "Effective rank", 3, NULL},
    {GS_PART_GEOMETRY, "batch_mean_cosine.mean", "Cosine of per-batch means", 4, NULL},
    {GS_PART_DEFAULT, "default.spearman.mean_state",
     "Logits of the mean state against counts, Spearman", 3, NULL},
    {GS_PART_HORIZON, "horizon.raw.plateau", "Raw cosine at long lags", 3, NULL},
    {GS_PART_HORIZON, "horizon.centered_sequence.k1", "Centred cosine at lag 1", 3, NULL},
    {GS_PART_RETENTION, "split.fast", "Heads with efold of 3 tokens or less", 6, "null.split.fast"},
    {GS_PART_RETENTION, "split.slow", "Heads with efold of 5 tokens or more", 6, "null.split.slow"},
};
enum { KEYS = sizeof keys / sizeof *keys };

void gs_page_value(struct gs_text *page, const struct gs_value *value, int digits) {
    const char *status = value->status ? value->status : "ok";
    if (isfinite(value->value)) {
        gs_text_number(page, value->value, digits);
        if (strcmp(status, "ok") == 0) return;
        gs_text_put(page, " (");
        gs_html_text(page, status);
        gs_text_put(page, ")");
    } else if (strcmp(status, "censored") == 0 && value->has_bound) {
        gs_text_put(page, "more than ");
        gs_text_number(page, value->bound, digits);
    } else {
        gs_html_text(page, strcmp(status, "ok") == 0 ? "not known" : status);
    }
    if (value->reason) {
        gs_text_put(page, " <span class=\"reason\">");
        gs_html_text(page, value->reason);
        gs_text_put(page, "</span>");
    }
}

static void add_interval(struct gs_text *page, const struct gs_value *value, int digits) {
    if (!value->has_interval) {
        gs_text_put(page, "<span class=\"none\">–</span>");
        return;
    }
    gs_text_interval(page, value->low, value->high, digits);
}

/* "1" and "" mean a plain number, and what is counted stands in the label: nothing to show. */
static void add_unit(struct gs_text *page, const char *unit) {
    if (!unit || !unit[0] || strcmp(unit, "1") == 0 || strcmp(unit, "component") == 0 ||
        strcmp(unit, "head") == 0)
        return;
    gs_text_put(page, " <span class=\"unit\">");
    gs_html_text(page, unit);
    gs_text_put(page, "</span>");
}

static bool find(const struct gs_results *results, const char *name, struct gs_value *value) {
    return results && gs_results_find(results, name, value);
}

static bool has_null(const struct gs_report_run *run) {
    for (size_t part = 0; part < GS_PARTS; part++)
        if (run->null_results[part]) return true;
    return false;
}

static void add_label(struct gs_text *page, const struct key *key) {
    gs_html_add(page, "<tr><th scope=\"row\">%s <code>%s</code></th>", key->label, key->name);
}

/* A cell of a value that may be absent. */
static void add_cell(struct gs_text *page, const struct gs_results *results, const char *name,
                     int digits) {
    struct gs_value value;
    gs_text_put(page, "<td>");
    if (find(results, name, &value)) {
        gs_page_value(page, &value, digits);
        if (isfinite(value.value)) add_unit(page, value.unit);
    } else {
        gs_text_put(page, "<span class=\"none\">–</span>");
    }
    gs_text_put(page, "</td>");
}

/* What training did: how many times the untrained value, or how much more where a ratio has no
 * meaning, with its interval. */
static void add_change(struct gs_text *page, const struct gs_results *results,
                       const struct key *key) {
    static const char *const kinds[] = {"ratio", "difference"};
    struct gs_value value;
    gs_text_put(page, "<td>");
    for (size_t i = 0; i < 2; i++) {
        char name[96];
        snprintf(name, sizeof name, "%s.%s", kinds[i], key->name);
        if (!gs_figure_value(results, name, &value)) continue;
        gs_text_put(page, i == 0 ? "× " : value.value < 0 ? "" : "+");
        gs_text_number(page, value.value, key->digits);
        if (value.has_interval) {
            gs_text_put(page, "<br><span class=\"none\">");
            gs_text_interval(page, value.low, value.high, key->digits);
            gs_text_put(page, "</span>");
        }
        gs_text_put(page, "</td>");
        return;
    }
    gs_text_put(page, "<span class=\"none\">–</span></td>");
}

void gs_page_key_values(struct gs_text *page, const struct gs_report_run *run) {
    bool null = has_null(run);
    gs_text_put(page, "<div class=\"scroll\"><table class=\"keys\"><thead><tr>"
                      "<th scope=\"col\">Measure</th><th scope=\"col\">Value</th>"
                      "<th scope=\"col\">95&nbsp;% interval</th>");
    if (null)
        gs_text_put(page, "<th scope=\"col\">Untrained</th>"
                          "<th scope=\"col\">Against untrained</th>");
    gs_text_put(page, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < KEYS; i++) {
        struct gs_value value;
        if (!find(run->results[keys[i].part], keys[i].name, &value)) continue;
        add_label(page, keys + i);
        add_cell(page, run->results[keys[i].part], keys[i].name, keys[i].digits);
        gs_text_put(page, "<td>");
        add_interval(page, &value, keys[i].digits);
        gs_text_put(page, "</td>");
        const struct gs_results *untrained = run->null_results[keys[i].part];
        if (null && keys[i].null_name)
            add_cell(page, run->results[keys[i].part], keys[i].null_name, keys[i].digits);
        else if (null)
            add_cell(page, untrained, keys[i].name, keys[i].digits);
        if (null) add_change(page, run->results[keys[i].part], keys + i);
        gs_text_put(page, "</tr>\n");
    }
    gs_text_put(page, "</tbody></table></div>\n");
}

/* Models of different kinds have different states: which ones are compared. */
static void add_streams(struct gs_text *page, const struct gs_report_run *runs, size_t count) {
    gs_text_put(page, "<tr><th scope=\"row\">Model and its states</th>");
    for (size_t run = 0; run < count; run++) {
        gs_text_put(page, "<td>");
        gs_html_text(page, runs[run].model);
        gs_text_put(page, runs[run].model && runs[run].stream ? ", " : "");
        gs_html_text(page, runs[run].stream);
        gs_text_put(page, "</td>");
    }
    gs_text_put(page, "</tr>\n");
}

void gs_page_compare(struct gs_text *page, const struct gs_report_run *runs, size_t count) {
    gs_text_put(page, "<div class=\"scroll\"><table class=\"keys\"><thead><tr>"
                      "<th scope=\"col\">Measure</th>");
    for (size_t run = 0; run < count; run++) {
        gs_text_put(page, "<th scope=\"col\">");
        gs_html_text(page, runs[run].name);
        gs_text_put(page, "</th>");
    }
    gs_text_put(page, "</tr></thead><tbody>\n");
    add_streams(page, runs, count);
    for (size_t i = 0; i < KEYS; i++) {
        add_label(page, keys + i);
        for (size_t run = 0; run < count; run++)
            add_cell(page, runs[run].results[keys[i].part], keys[i].name, keys[i].digits);
        gs_text_put(page, "</tr>\n");
    }
    gs_text_put(page, "</tbody></table></div>\n");
}

void gs_page_notes(struct gs_text *page, const struct gs_results *results) {
    if (!results || !gs_results_note_count(results)) return;
    gs_text_put(page, "<ul class=\"basis\">\n");
    for (size_t i = 0; i < gs_results_note_count(results); i++) {
        gs_text_put(page, "<li>");
        gs_html_text(page, gs_results_note_at(results, i));
        gs_text_put(page, "</li>\n");
    }
    gs_text_put(page, "</ul>\n");
}

void gs_page_all_values(struct gs_text *page, const struct gs_results *results) {
    gs_text_put(page, "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">Name</th>"
                      "<th scope=\"col\">Value</th><th scope=\"col\">95&nbsp;% interval</th>"
                      "<th scope=\"col\">Unit</th><th scope=\"col\">n</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < gs_results_count(results); i++) {
        const char *name = gs_results_name_at(results, i);
        struct gs_value value;
        if (!gs_results_find(results, name, &value)) continue;
        gs_text_put(page, "<tr><th scope=\"row\"><code>");
        gs_html_text(page, name);
        gs_text_put(page, "</code></th><td>");
        gs_page_value(page, &value, 5);
        gs_text_put(page, "</td><td>");
        add_interval(page, &value, 5);
        gs_text_put(page, "</td><td>");
        gs_html_text(page, value.unit);
        gs_text_put(page, "</td><td>");
        gs_text_count(page, value.n);
        gs_text_put(page, "</td></tr>\n");
    }
    gs_text_put(page, "</tbody></table></div>\n");
}
