#include "reports/page/merge.h"

#include "core/base/memory.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

void gs_report_prefix(const struct gs_report *report, size_t run, char joint, char prefix[32]) {
    prefix[0] = '\0';
    if (report->run_count > 1) snprintf(prefix, 32, "trace%02zu%c", run + 1, joint);
}

struct gs_merge {
    struct gs_json *sources, *environment, *notes, *values, *tables;
    bool failed;
};

static bool same(const struct gs_json *a, const struct gs_json *b) {
    char *x = gs_json_text(a, 0), *y = gs_json_text(b, 0);
    bool equal = x && y && strcmp(x, y) == 0;
    gs_free(x);
    gs_free(y);
    return equal;
}

/* prefix + name, behind the command when another content has taken the name. */
static void put(struct gs_merge *merge, struct gs_json *object, const char *prefix,
                const char *command, const char *name, const struct gs_json *value) {
    struct gs_text key = {0};
    gs_text_add(&key, "%s%s", prefix, name);
    const struct gs_json *other = key.bytes ? gs_json_get(object, key.bytes) : NULL;
    bool add = !other;
    if (other && !same(other, value)) {
        key.size = 0;
        gs_text_add(&key, "%s%s.%s", prefix, command, name);
        add = !gs_json_get(object, key.bytes);
    }
    if (key.failed || (add && !gs_json_set(object, key.bytes, gs_json_copy(value))))
        merge->failed = true;
    gs_text_free(&key);
}

static void put_all(struct gs_merge *merge, struct gs_json *object, const char *prefix,
                    const char *command, const struct gs_json *from) {
    for (size_t i = 0; i < gs_json_size(from); i++)
        put(merge, object, prefix, command, gs_json_key_at(from, i), gs_json_value_at(from, i));
}

/* Array members that are not there yet. */
static void append_new(struct gs_merge *merge, struct gs_json *array, const struct gs_json *from) {
    for (size_t i = 0; i < gs_json_size(from); i++) {
        bool known = false;
        for (size_t k = 0; k < gs_json_size(array) && !known; k++)
            known = same(gs_json_at(array, k), gs_json_at(from, i));
        if (!known && !gs_json_append(array, gs_json_copy(gs_json_at(from, i))))
            merge->failed = true;
    }
}

static void merge_results(struct gs_merge *merge, const struct gs_results *results,
                          const char *prefix) {
    if (!results) return;
    struct gs_json *json = gs_results_json(results);
    if (!json) {
        merge->failed = true;
        return;
    }
    const char *command = gs_results_command(results);
    append_new(merge, merge->sources, gs_json_get(json, "sources"));
    append_new(merge, merge->notes, gs_json_get(json, "notes"));
    put_all(merge, merge->environment, "", command, gs_json_get(json, "environment"));
    put_all(merge, merge->values, prefix, command, gs_json_get(json, "values"));
    put_all(merge, merge->tables, prefix, command, gs_json_get(json, "tables"));
    gs_json_destroy(json);
}

static void merge_run(struct gs_merge *merge, const struct gs_report *report, size_t run) {
    char prefix[32], null_prefix[48];
    gs_report_prefix(report, run, '.', prefix);
    snprintf(null_prefix, sizeof null_prefix, "%snull.", prefix);
    for (size_t part = 0; part < GS_PARTS; part++) {
        merge_results(merge, report->runs[run].results[part], prefix);
        merge_results(merge, report->runs[run].null_results[part], null_prefix);
    }
}

static struct gs_json *now(void) {
    char text[32];
    time_t seconds = time(NULL);
    struct tm parts;
    if (!gmtime_r(&seconds, &parts)) return gs_json_new_null();
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return gs_json_new_string(text);
}

struct gs_json *gs_report_json(const struct gs_report *report) {
    struct gs_merge merge = {gs_json_new_array(),  gs_json_new_object(), gs_json_new_array(),
                             gs_json_new_object(), gs_json_new_object(), false};
    struct gs_json *json = gs_json_new_object();
    if (merge.sources && merge.environment && merge.notes && merge.values && merge.tables)
        for (size_t run = 0; run < report->run_count; run++) merge_run(&merge, report, run);
    if (merge.environment && report->command_line &&
        !gs_json_get(merge.environment, "command_line") &&
        !gs_json_set(merge.environment, "command_line", gs_json_new_string(report->command_line)))
        merge.failed = true;
    /* Every piece is put in, so that all are owned by the document from here on. */
    bool good = gs_json_set(json, "schema", gs_json_new_string("gpnscope-results"));
    good = gs_json_set(json, "version", gs_json_new_integer(1)) && good;
    good = gs_json_set(json, "command", gs_json_new_string("report")) && good;
    good = gs_json_set(json, "created", now()) && good;
    good = gs_json_set(json, "sources", merge.sources) && good;
    good = gs_json_set(json, "environment", merge.environment) && good;
    good = gs_json_set(json, "notes", merge.notes) && good;
    good = gs_json_set(json, "values", merge.values) && good;
    good = gs_json_set(json, "tables", merge.tables) && good;
    if (good && !merge.failed) return json;
    gs_json_destroy(json);
    return NULL;
}
