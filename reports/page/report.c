#include "reports/page/report.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "reports/page/folder.h"
#include "reports/page/merge.h"
#include "reports/page/page.h"
#include "reports/page/training.h"

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

static enum gs_status make_panel(struct gs_panel *panel, const struct gs_figure *figure,
                                 const struct gs_report_run *run, struct gs_drawing *drawing,
                                 const char *prefix, struct gs_error *error) {
    *panel = (struct gs_panel){.figure = figure};
    if (!gs_figure_applies(figure, run)) {
        panel->picture.state = GS_PANEL_NONE;
        return GS_OK;
    }
    if (!run->results[figure->part]) {
        const char *why = run->absent[figure->part];
        gs_picture_reason(&panel->picture, GS_PANEL_ABSENT, why ? why : "it was not asked for");
        return GS_OK;
    }
    struct gs_plot plot = {0};
    figure->draw(run, &plot);
    enum gs_status status = gs_drawing_make(drawing, &plot, prefix, figure->name, figure->height,
                                            figure->narrow_height, &panel->picture, error);
    gs_plot_free(&plot);
    return status;
}

static enum gs_status make_panels(const struct gs_report *report, struct gs_panel *panels,
                                  struct gs_drawing *drawing, const struct gs_progress *progress,
                                  struct gs_error *error) {
    size_t count = gs_figure_count();
    for (size_t i = 0; i < report->run_count * count; i++) {
        char prefix[32];
        if (gs_progress_stop(progress)) return gs_fail(error, GS_INTERRUPTED, "stopped on request");
        gs_progress_report(progress, (double)i, (double)(report->run_count * count), "figures");
        gs_report_prefix(report, i / count, '_', prefix);
        enum gs_status status = make_panel(panels + i, gs_figure_at(i % count),
                                           report->runs + i / count, drawing, prefix, error);
        if (status != GS_OK) return status;
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
                                 const struct gs_picture *training, const struct gs_json *json,
                                 const char *folder, struct gs_error *error) {
    struct gs_text page = {0};
    gs_page_write(&page, report, panels, training, json);
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
    struct gs_drawing drawing = {.warning = warning};
    char *csv = gs_path_join(folder, "csv"), *figures = gs_path_join(folder, "figures");
    enum gs_status status = csv && figures ? gs_folder_create(csv, error)
                                           : gs_fail_memory(error, strlen(folder), "a path");
    if (status == GS_OK) status = gs_folder_create(figures, error);
    if (status == GS_OK) status = write_json(json, folder, error);
    for (size_t run = 0; run < report->run_count && status == GS_OK; run++)
        status = write_csv(report, run, csv, error);
    drawing.folder = figures;
    if (status == GS_OK) status = make_panels(report, panels, &drawing, progress, error);
    struct gs_picture training = {GS_PANEL_NONE, ""};
    if (status == GS_OK) status = gs_page_draw_training(report, &drawing, &training, error);
    if (status == GS_OK) status = write_page(report, panels, &training, json, folder, error);
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
