#include "reports/page/report.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "reports/figures/gnuplot.h"
#include "reports/page/folder.h"
#include "reports/page/merge.h"
#include "reports/page/page.h"

#include <stdio.h>
#include <string.h>

/* What every report has, so that --force replaces a report and nothing else. */
static bool is_report(const char *folder) {
    static const char *const parts[] = {"index.html", "results.json", "figures", "csv"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char *path = gs_path_join(folder, parts[i]);
        bool there = path && gs_path_exists(path);
        gs_free(path);
        if (!there) return false;
    }
    return true;
}

enum gs_status gs_report_check_output(const char *folder, bool force, struct gs_error *error) {
    if (!folder[0]) {
        gs_fail(error, GS_USAGE, "the output folder has no name");
        gs_error_next(error, "give one with -o DIR");
        return GS_USAGE;
    }
    if (!gs_path_exists(folder)) return GS_OK;
    enum gs_status status = GS_EXISTS;
    if (!force) {
        gs_fail(error, status, "the output exists already");
        gs_error_next(error, "choose another folder, or replace this one with --force");
    } else if (is_report(folder)) {
        return GS_OK;
    } else {
        gs_fail(error, status, "the output exists and is not a report, so it is not replaced");
        gs_error_expected(error, "a folder with index.html, results.json, figures and csv");
        gs_error_next(error, "choose another folder, or remove this one yourself");
    }
    gs_error_where(error, "%s", folder);
    return status;
}

/* ---- figures ---- */

struct drawing {
    const char *folder; /* of the figures */
    bool probed;
    enum gs_status can_draw;
    struct gs_error why_not;
    struct gs_error *warning;
};

static void set_reason(struct gs_panel *panel, enum gs_panel_state state, const char *reason) {
    panel->state = state;
    snprintf(panel->reason, sizeof panel->reason, "%s", reason);
}

static void draw_failed(struct gs_panel *panel, struct drawing *drawing,
                        const struct gs_error *error) {
    char text[1024];
    struct gs_error shown = *error;
    shown.where[0] = '\0'; /* a path in a temporary folder says nothing to a reader */
    set_reason(panel, GS_PANEL_FAILED, gs_error_text(&shown, text, sizeof text));
    if (drawing->warning && !drawing->warning->what[0]) *drawing->warning = shown;
}

/* gnuplot is asked once, when the first figure has something to draw. */
static enum gs_status draw_one(const struct gs_figure *figure, const struct gs_report_run *run,
                               struct drawing *drawing, const char *prefix,
                               struct gs_error *error) {
    struct gs_plot plot = {0};
    figure->draw(run, &plot);
    const char *empty = plot.empty;
    gs_plot_free(&plot);
    if (empty) return gs_fail(error, GS_CHECK_FAILED, "%s", empty);
    if (!drawing->probed) drawing->can_draw = gs_gnuplot_probe(&drawing->why_not);
    drawing->probed = true;
    if (drawing->can_draw != GS_OK) {
        *error = drawing->why_not;
        return drawing->can_draw;
    }
    return gs_figure_draw(figure, run, drawing->folder, prefix, error);
}

static void make_panel(struct gs_panel *panel, const struct gs_figure *figure,
                       const struct gs_report_run *run, struct drawing *drawing,
                       const char *prefix) {
    struct gs_error error = {0};
    *panel = (struct gs_panel){.figure = figure};
    if (!gs_figure_applies(figure, run)) {
        panel->state = GS_PANEL_NONE;
        return;
    }
    if (!run->results[figure->part]) {
        const char *why = run->absent[figure->part];
        set_reason(panel, GS_PANEL_ABSENT, why ? why : "it was not asked for");
        return;
    }
    switch (draw_one(figure, run, drawing, prefix, &error)) {
    case GS_OK:
        break;
    case GS_CHECK_FAILED:
        set_reason(panel, GS_PANEL_EMPTY, error.what);
        break;
    default:
        draw_failed(panel, drawing, &error);
    }
}

static enum gs_status make_panels(const struct gs_report *report, struct gs_panel *panels,
                                  struct drawing *drawing, const struct gs_progress *progress,
                                  struct gs_error *error) {
    size_t count = gs_figure_count();
    for (size_t i = 0; i < report->run_count * count; i++) {
        char prefix[32];
        if (gs_progress_stop(progress)) return gs_fail(error, GS_INTERRUPTED, "stopped on request");
        gs_progress_report(progress, (double)i, (double)(report->run_count * count), "figures");
        gs_report_prefix(report, i / count, '_', prefix);
        make_panel(panels + i, gs_figure_at(i % count), report->runs + i / count, drawing, prefix);
    }
    double all = (double)(report->run_count * count);
    gs_progress_report(progress, all, all, "figures");
    return GS_OK;
}

/* ---- numbers ---- */

static enum gs_status write_csv(const struct gs_report *report, size_t run, const char *folder,
                                struct gs_error *error) {
    enum gs_status status = GS_OK;
    char before[32], prefix[96];
    gs_report_prefix(report, run, '_', before);
    for (size_t part = 0; part < GS_PARTS && status == GS_OK; part++) {
        const struct gs_results *results = report->runs[run].results[part];
        const struct gs_results *null = report->runs[run].null_results[part];
        const char *command = gs_part_command((enum gs_part)part);
        snprintf(prefix, sizeof prefix, "%s%s_", before, command);
        if (results) status = gs_results_write_csv(results, folder, prefix, false, error);
        snprintf(prefix, sizeof prefix, "%snull_%s_", before, command);
        if (null && status == GS_OK)
            status = gs_results_write_csv(null, folder, prefix, false, error);
    }
    return status;
}

static enum gs_status write_text(const char *folder, const char *name, const char *bytes,
                                 size_t size, struct gs_error *error) {
    char *path = gs_path_join(folder, name);
    if (!path) return gs_fail_memory(error, strlen(folder), "a path");
    enum gs_status status = gs_file_write(path, false, bytes, size, error);
    gs_free(path);
    return status;
}

static enum gs_status write_json(const struct gs_json *json, const char *folder,
                                 struct gs_error *error) {
    char *text = gs_json_text(json, 1);
    if (!text) return gs_fail_memory(error, 0, "results.json");
    enum gs_status status = write_text(folder, "results.json", text, strlen(text), error);
    gs_free(text);
    return status;
}

static enum gs_status write_page(const struct gs_report *report, const struct gs_panel *panels,
                                 const struct gs_json *json, const char *folder,
                                 struct gs_error *error) {
    struct gs_text page = {0};
    gs_page_write(&page, report, panels, json);
    enum gs_status status = gs_text_check(&page, "the page", error);
    if (status == GS_OK) status = write_text(folder, "index.html", page.bytes, page.size, error);
    gs_text_free(&page);
    return status;
}

/* The numbers first, then pictures of them. */
static enum gs_status fill(const struct gs_report *report, const char *folder,
                           struct gs_panel *panels, const struct gs_json *json,
                           const struct gs_progress *progress, struct gs_error *warning,
                           struct gs_error *error) {
    struct drawing drawing = {.warning = warning};
    char *csv = gs_path_join(folder, "csv"), *figures = gs_path_join(folder, "figures");
    enum gs_status status = csv && figures ? gs_folder_create(csv, error)
                                           : gs_fail_memory(error, strlen(folder), "a path");
    if (status == GS_OK) status = gs_folder_create(figures, error);
    if (status == GS_OK) status = write_json(json, folder, error);
    for (size_t run = 0; run < report->run_count && status == GS_OK; run++)
        status = write_csv(report, run, csv, error);
    drawing.folder = figures;
    if (status == GS_OK) status = make_panels(report, panels, &drawing, progress, error);
    if (status == GS_OK) status = write_page(report, panels, json, folder, error);
    gs_free(csv);
    gs_free(figures);
    return status;
}

static enum gs_status build(const struct gs_report *report, struct gs_folder *folder, bool force,
                            const struct gs_progress *progress, struct gs_error *warning,
                            struct gs_error *error) {
    struct gs_json *json = gs_report_json(report);
    size_t count = gs_figure_count() * report->run_count;
    struct gs_panel *panels = gs_calloc(count, sizeof *panels);
    enum gs_status status = json && panels ? GS_OK : gs_fail_memory(error, 0, "the report");
    if (status == GS_OK)
        status = fill(report, folder->temporary, panels, json, progress, warning, error);
    if (status == GS_OK) status = gs_folder_commit(folder, force, error);
    gs_json_destroy(json);
    gs_free(panels);
    return status;
}

enum gs_status gs_report_write(const struct gs_report *report, const char *folder, bool force,
                               const struct gs_progress *progress, struct gs_error *warning,
                               struct gs_error *error) {
    struct gs_folder output = {.lock = -1};
    if (warning) *warning = (struct gs_error){0};
    enum gs_status status = gs_report_check_output(folder, force, error);
    if (status == GS_OK) status = gs_folder_open(&output, folder, error);
    if (status == GS_OK) status = build(report, &output, force, progress, warning, error);
    gs_folder_abandon(&output);
    return status;
}
