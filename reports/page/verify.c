#include "reports/page/verify.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "reports/page/folder.h"
#include "reports/page/verify_markdown.h"
#include "reports/page/verify_page.h"

#include <stdio.h>
#include <string.h>

/* ---- figures ---- */

/* "claim03-rank.spread": letters, digits, point, dash and underscore of the claim's name. */
static void name_picture(const struct gs_shown_verify *shown, struct gs_verify_picture *picture) {
    const struct gs_verify_figure *figure = picture->figure;
    if (!figure->of_claim) {
        snprintf(picture->name, sizeof picture->name, "%s", figure->name);
        return;
    }
    int length = snprintf(picture->name, sizeof picture->name, "%s%02zu-%.48s", figure->name,
                          picture->claim + 1, shown->claims[picture->claim].name);
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    for (int i = 0; i < length && picture->name[i]; i++)
        if (!strchr(plain, picture->name[i])) picture->name[i] = '_';
}

static enum gs_status make_picture(const struct gs_shown_verify *shown,
                                   const struct gs_verify_figure *figure, size_t claim,
                                   struct gs_drawing *drawing, struct gs_verify_picture *picture,
                                   struct gs_error *error) {
    struct gs_plot plot = {0};
    *picture = (struct gs_verify_picture){.figure = figure, .claim = claim};
    name_picture(shown, picture);
    picture->height = figure->height(shown, claim, false);
    picture->narrow_height = figure->height(shown, claim, true);
    figure->draw(shown, claim, &plot);
    enum gs_status status = gs_drawing_make(drawing, &plot, "", picture->name, picture->height,
                                            picture->narrow_height, &picture->picture, error);
    gs_plot_free(&plot);
    return status;
}

static enum gs_status make_pictures(const struct gs_shown_verify *shown,
                                    struct gs_verify_pictures *pictures, struct gs_drawing *drawing,
                                    const struct gs_progress *progress, struct gs_error *error) {
    double all = (double)shown->claim_count + 2;
    enum gs_status status = GS_OK;
    for (size_t claim = 0; claim < shown->claim_count && status == GS_OK; claim++) {
        if (gs_progress_stop(progress)) return gs_fail(error, GS_INTERRUPTED, "stopped on request");
        gs_progress_report(progress, (double)claim, all, "figures");
        status =
            make_picture(shown, &gs_verify_strip, claim, drawing, pictures->strips + claim, error);
        if (status == GS_OK)
            status = make_picture(shown, &gs_verify_emergence, claim, drawing,
                                  pictures->emergences + claim, error);
    }
    if (status == GS_OK)
        status = make_picture(shown, &gs_verify_heads, 0, drawing, &pictures->heads, error);
    if (status == GS_OK)
        status =
            make_picture(shown, &gs_verify_similarity, 0, drawing, &pictures->similarity, error);
    if (status == GS_OK) gs_progress_report(progress, all, all, "figures");
    return status;
}

/* ---- files ---- */

static enum gs_status write_text(const char *folder, const char *name, const struct gs_text *text,
                                 struct gs_error *error) {
    enum gs_status status = gs_text_check(text, name, error);
    char *path = gs_path_join(folder, name);
    if (status == GS_OK && !path) status = gs_fail_memory(error, strlen(folder), "a path");
    if (status == GS_OK) status = gs_file_write(path, false, text->bytes, text->size, error);
    gs_free(path);
    return status;
}

static enum gs_status write_page(const struct gs_shown_verify *shown,
                                 const struct gs_verify_pictures *pictures, const char *folder,
                                 struct gs_error *error) {
    struct gs_json *document = gs_results_json(shown->results);
    if (!document) return gs_fail_memory(error, 0, "the page");
    struct gs_text page = {0}, markdown = {0};
    gs_verify_page(&page, shown, pictures, document);
    enum gs_status status = write_text(folder, "index.html", &page, error);
    gs_verify_markdown(&markdown, shown, pictures, document);
    if (status == GS_OK) status = write_text(folder, "verify.md", &markdown, error);
    gs_text_free(&page);
    gs_text_free(&markdown);
    gs_json_destroy(document);
    return status;
}

/* The numbers first, then pictures of them. */
static enum gs_status fill(const struct gs_shown_verify *shown, const char *folder,
                           struct gs_verify_pictures *pictures, const struct gs_progress *progress,
                           struct gs_error *warning, struct gs_error *error) {
    char *csv = gs_path_join(folder, "csv"), *figures = gs_path_join(folder, "figures");
    char *json = gs_path_join(folder, "results.json");
    struct gs_drawing drawing = {.folder = figures, .warning = warning};
    enum gs_status status = csv && figures && json
                                ? gs_folder_create(figures, error)
                                : gs_fail_memory(error, strlen(folder), "a path");
    if (status == GS_OK)
        status = gs_results_write_csv(shown->results, csv, "verify_", false, error);
    if (status == GS_OK) status = gs_results_write(shown->results, json, false, error);
    if (status == GS_OK) status = make_pictures(shown, pictures, &drawing, progress, error);
    if (status == GS_OK) status = write_page(shown, pictures, folder, error);
    gs_free(csv);
    gs_free(figures);
    gs_free(json);
    return status;
}

enum gs_status gs_verify_write(const struct gs_shown_verify *shown, const char *folder, bool force,
                               const struct gs_progress *progress, struct gs_error *warning,
                               struct gs_error *error) {
    struct gs_folder output = {.lock = -1};
    size_t count = shown->claim_count ? shown->claim_count : 1;
    struct gs_verify_pictures pictures = {.strips = gs_calloc(count, sizeof *pictures.strips),
                                          .emergences =
                                              gs_calloc(count, sizeof *pictures.emergences)};
    if (warning) *warning = (struct gs_error){0};
    enum gs_status status =
        pictures.strips && pictures.emergences ? GS_OK : gs_fail_memory(error, count, "the page");
    if (status == GS_OK) status = gs_folder_open(&output, folder, error);
    if (status == GS_OK)
        status = fill(shown, output.temporary, &pictures, progress, warning, error);
    if (status == GS_OK) status = gs_folder_commit(&output, force, error);
    gs_folder_abandon(&output);
    gs_free(pictures.strips);
    gs_free(pictures.emergences);
    return status;
}
