#include "probes/inspect/claims_file.h"

#include "probes/inspect/sheet.h"

#include <string.h>

static enum gs_status fail_claims(struct gs_error *error, const char *path, const char *what) {
    gs_fail(error, GS_FORMAT, "%s", what);
    gs_error_where(error, "%s", path);
    return GS_FORMAT;
}

static enum gs_status check_claims(const struct gs_json *json, const char *path,
                                   struct gs_error *error) {
    const struct gs_json *claims = gs_json_get(json, "claims");
    int64_t version;
    if (!gs_json_integer(gs_json_get(json, "version"), &version) || version != 1) {
        gs_fail(error, GS_UNSUPPORTED, "claims of an unknown version");
        gs_error_expected(error, "\"version\": 1");
        gs_error_where(error, "%s", path);
        return GS_UNSUPPORTED;
    }
    if (gs_json_type(claims) != GS_JSON_ARRAY || gs_json_size(claims) == 0)
        return fail_claims(error, path, "no array of claims");
    for (size_t i = 0; i < gs_json_size(claims); i++) {
        const char *name = gs_json_string(gs_json_get(gs_json_at(claims, i), "name"));
        bool good = name != NULL;
        for (size_t j = 0; good && j < i; j++)
            good = strcmp(name, gs_json_string(gs_json_get(gs_json_at(claims, j), "name"))) != 0;
        if (good) continue;
        fail_claims(error, path, name ? "two claims of one name" : "a claim without a name");
        gs_error_where(error, "%s, claim %zu", path, i);
        if (name) gs_error_found(error, "%s", name);
        return GS_FORMAT;
    }
    return GS_OK;
}

enum gs_status gs_claims_file_read(const char *path, struct gs_json **json,
                                   struct gs_error *error) {
    enum gs_status status = gs_json_read_file(path, json, error);
    if (status != GS_OK) return status;
    status = check_claims(*json, path, error);
    if (status == GS_OK) return GS_OK;
    gs_json_destroy(*json);
    *json = NULL;
    return status;
}

void gs_describe_claims(struct gs_sheet *sheet, const char *path) {
    static const char *const columns[] = {"name", "statistic", "says"};
    struct gs_json *json;
    sheet->status = gs_claims_file_read(path, &json, sheet->error);
    if (sheet->status != GS_OK) return;
    const struct gs_json *claims = gs_json_get(json, "claims");
    gs_sheet_text(sheet, "title", gs_json_string(gs_json_get(json, "title")));
    struct gs_table *to = gs_sheet_table(sheet, "claims", columns, 3);
    for (size_t i = 0; i < gs_json_size(claims); i++) {
        const struct gs_json *claim = gs_json_at(claims, i);
        struct gs_cell cells[3];
        for (size_t j = 0; j < 3; j++)
            cells[j] = gs_cell_text(gs_json_string(gs_json_get(claim, columns[j])));
        gs_sheet_row(sheet, to, cells);
    }
    gs_json_destroy(json);
}
