#include "reports/page/page.h"

#include "reports/figures/training.h"
#include "reports/page/html.h"
#include "reports/page/key_values.h"
#include "reports/page/layers.h"
#include "reports/page/merge.h"
#include "reports/page/provenance.h"
#include "reports/page/training.h"

#include <inttypes.h>
#include <string.h>

enum { SHA_SHOWN = 12 }; /* hex digits at the head; the whole is under Provenance */

/* "A gpn_m model after 600 training steps, with 1,390,000 parameters, …" */
static void add_sentence(struct gs_text *page, const struct gs_report_run *run) {
    gs_text_put(page, "<p class=\"lede\">A ");
    if (run->model) {
        gs_text_put(page, "<code>");
        gs_html_text(page, run->model);
        gs_text_put(page, "</code> ");
    }
    gs_text_put(page, "model");
    if (run->parameters > 0) {
        gs_text_put(page, " of ");
        gs_text_count(page, (unsigned long long)run->parameters);
        gs_text_put(page, " parameters");
    }
    if (run->step == 0) gs_text_put(page, " before any training step");
    if (run->step > 0) {
        gs_text_put(page, " after ");
        gs_text_count(page, (unsigned long long)run->step);
        gs_text_put(page, run->step == 1 ? " training step" : " training steps");
    }
    gs_text_put(page, ", watched over ");
    gs_text_count(page, run->rows);
    gs_text_put(page, run->rows == 1 ? " token in " : " tokens in ");
    gs_text_count(page, run->sequences);
    gs_text_put(page, run->sequences == 1 ? " sequence.</p>\n" : " sequences.</p>\n");
}

static void add_fact(struct gs_text *page, const char *term, const char *text, const char *tail) {
    if (!text) return;
    gs_text_add(page, "<dt>%s</dt><dd>", term);
    gs_html_text(page, text);
    if (tail) {
        gs_text_put(page, " <span class=\"none\">(sha256 ");
        gs_text_add(page, "%.*s…)</span>", SHA_SHOWN, tail);
    }
    gs_text_put(page, "</dd>\n");
}

static void add_facts(struct gs_text *page, const struct gs_report_run *run) {
    gs_text_put(page, "<dl>\n");
    add_fact(page, "Trace", run->path, run->sha256);
    add_fact(page, "Checkpoint",
             run->checkpoint_path     ? run->checkpoint_path
             : run->checkpoint_sha256 ? "of the trace"
                                      : NULL,
             run->checkpoint_sha256);
    add_fact(page, "Untrained", run->null_path, NULL);
    add_fact(page, "State stream", run->stream, NULL);
    add_fact(page, "Config", run->config, NULL);
    add_fact(page, "Recorded", run->created, NULL);
    add_fact(page, "Recorded by", run->creator, NULL);
    gs_text_put(page, "</dl>\n");
}

static void add_details(struct gs_text *page, const char *title, const struct gs_results *results) {
    if (!results) return;
    gs_text_add(page, "<details><summary>%s</summary>\n", title);
    gs_page_all_values(page, results);
    gs_text_put(page, "</details>\n");
}

static void add_part(struct gs_text *page, const struct gs_report_run *run, enum gs_part part,
                     const struct gs_panel *panels, const char *prefix) {
    gs_text_add(page, "<section aria-labelledby=\"%s%s\">\n<h3 id=\"%s%s\">%s</h3>\n", prefix,
                gs_part_command(part), prefix, gs_part_command(part), gs_part_title(part));
    if (!run->results[part]) {
        gs_text_put(page, "<div class=\"panel\"><p>Not made: ");
        gs_html_text(page, run->absent[part] ? run->absent[part] : "it was not asked for");
        gs_text_put(page, "</p></div>\n</section>\n");
        return;
    }
    for (size_t i = 0; i < gs_figure_count(); i++)
        if (panels[i].figure->part == part) gs_page_panel(page, run, panels + i, prefix);
    gs_page_notes(page, run->results[part]);
    add_details(page, "All values", run->results[part]);
    add_details(page, "All values of the untrained model", run->null_results[part]);
    gs_text_put(page, "</section>\n");
}

static void add_run(struct gs_text *page, const struct gs_report *report, size_t index,
                    const struct gs_panel *panels) {
    const struct gs_report_run *run = report->runs + index;
    char prefix[32];
    gs_report_prefix(report, index, '_', prefix);
    if (report->run_count > 1) {
        gs_text_add(page, "<h2 id=\"%smodel\">", prefix);
        gs_html_text(page, run->name);
        gs_text_put(page, "</h2>\n");
        add_sentence(page, run);
    }
    add_facts(page, run);
    gs_text_add(page, "<h3 id=\"%skey\">Key values</h3>\n", prefix);
    gs_page_key_values(page, run);
    if (gs_page_has_layers(run)) {
        gs_text_add(page, "<h3 id=\"%slayers\">Layers side by side</h3>\n", prefix);
        gs_page_layers(page, run);
    }
    for (size_t part = 0; part < GS_PARTS; part++)
        add_part(page, run, (enum gs_part)part, panels, prefix);
}

static void add_contents(struct gs_text *page, const struct gs_report *report) {
    gs_text_put(page, "<nav aria-label=\"Contents\"><ul>\n");
    if (report->run_count == 1) {
        gs_text_put(page, "<li><a href=\"#key\">Key values</a></li>\n");
        if (gs_page_has_layers(report->runs))
            gs_text_put(page, "<li><a href=\"#layers\">Layers side by side</a></li>\n");
        for (size_t part = 0; part < GS_PARTS; part++)
            gs_text_add(page, "<li><a href=\"#%s\">%s</a></li>\n",
                        gs_part_command((enum gs_part)part), gs_part_title((enum gs_part)part));
    }
    if (gs_training_applies(report->runs, report->run_count))
        gs_text_put(page, "<li><a href=\"#training\">As training went on</a></li>\n");
    for (size_t run = 0; report->run_count > 1 && run < report->run_count; run++) {
        char prefix[32];
        gs_report_prefix(report, run, '_', prefix);
        gs_text_add(page, "<li><a href=\"#%smodel\">", prefix);
        gs_html_text(page, report->runs[run].name);
        gs_text_put(page, "</a></li>\n");
    }
    gs_text_put(page, "<li><a href=\"#provenance\">Provenance</a></li>\n</ul></nav>\n");
}

static void add_provenance(struct gs_text *page, const struct gs_report *report,
                           const struct gs_json *merged) {
    gs_text_put(page, "<section aria-labelledby=\"provenance\">\n"
                      "<h3 id=\"provenance\">Provenance</h3>\n");
    gs_page_provenance(page, report->command_line, merged);
    gs_text_put(page, "</section>\n");
}

void gs_page_write(struct gs_text *page, const struct gs_report *report,
                   const struct gs_panel *panels, const struct gs_picture *training,
                   const struct gs_json *merged) {
    bool one = report->run_count == 1;
    struct gs_text title = {0};
    if (one)
        gs_text_put(&title, report->runs[0].name);
    else
        gs_text_add(&title, "%zu traces", report->run_count);
    gs_text_put(&title, " – gpnscope report");
    if (title.failed) page->failed = true;
    gs_page_begin(page, title.bytes);
    gs_text_free(&title);
    gs_text_put(page, "<body>\n<header>\n"
                      "<p class=\"kicker\">gpnscope report</p>\n<h1>");
    if (one)
        gs_html_text(page, report->runs[0].name);
    else
        gs_text_add(page, "%zu traces side by side", report->run_count);
    gs_text_put(page, "</h1>\n");
    if (one) add_sentence(page, report->runs);
    add_contents(page, report);
    gs_text_put(page, "</header>\n<main>\n");
    if (!one) {
        gs_page_training(page, report, training);
        gs_text_put(page, "<h2>Key values of all traces</h2>\n");
        gs_page_compare(page, report->runs, report->run_count);
    }
    for (size_t run = 0; run < report->run_count; run++)
        add_run(page, report, run, panels + run * gs_figure_count());
    add_provenance(page, report, merged);
    gs_text_put(page, "</main>\n");
    gs_page_end(page, merged);
}
