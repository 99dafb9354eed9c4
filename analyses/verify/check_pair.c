/* Do two traces belong side by side? */
#include "analyses/verify/runs.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"

#include <stdio.h>
#include <string.h>

static bool both(const char *a, const char *b) {
    return a && b && a[0] && b[0];
}

static enum gs_status refuse(const struct gs_trace_info *first, const struct gs_trace_info *other,
                             const char *what, const char *next, struct gs_error *error) {
    gs_fail(error, GS_CONFIG, "%s", what);
    gs_error_where(error, "%s, %s", first->path, other->path);
    gs_error_next(error, "%s", next);
    return GS_CONFIG;
}

/* ---- the model ---- */

/* kind and sizes of a trace's config; NULL when it has none that can be read. */
static struct gs_json *config_of(const struct gs_trace_info *info) {
    struct gs_json *json = NULL;
    if (!info->config ||
        gs_json_parse(info->config, strlen(info->config), info->path, &json, NULL) != GS_OK)
        return NULL;
    return json;
}

static bool same_value(const struct gs_json *a, const struct gs_json *b) {
    char *x = gs_json_text(a, 0), *y = gs_json_text(b, 0);
    bool same = x && y && strcmp(x, y) == 0;
    gs_free(x);
    gs_free(y);
    return same;
}

/* The first key of `a` that `b` has otherwise, or not at all. */
static const char *key_that_differs(const struct gs_json *a, const struct gs_json *b) {
    for (size_t i = 0; i < gs_json_size(a); i++) {
        const char *key = gs_json_key_at(a, i);
        if (!same_value(gs_json_value_at(a, i), gs_json_get(b, key))) return key;
    }
    return NULL;
}

static void say_value(const struct gs_json *model, const char *key, char text[64]) {
    char *value = gs_json_text(gs_json_get(model, key), 0);
    snprintf(text, 64, "%s %.40s", key, value ? value : "");
    gs_free(value);
}

static enum gs_status check_sizes(const struct gs_trace_info *a, const struct gs_json *first,
                                  const struct gs_trace_info *b, const struct gs_json *other,
                                  struct gs_error *error) {
    const struct gs_json *x = gs_json_get(first, "model"), *y = gs_json_get(other, "model");
    char expected[64], found[64];
    const char *key = key_that_differs(x, y);
    if (!key) key = key_that_differs(y, x);
    if (!key) return GS_OK;
    say_value(x, key, expected);
    say_value(y, key, found);
    refuse(a, b, "these traces are of models of different sizes",
           "seeds of one model are verified together: verify each model by itself", error);
    gs_error_expected(error, "%s, as in the first", expected);
    gs_error_found(error, "%s", found);
    return GS_CONFIG;
}

static enum gs_status check_model(const struct gs_trace_info *a, const struct gs_trace_info *b,
                                  struct gs_error *error) {
    if (both(a->model, b->model) && strcmp(a->model, b->model) != 0) {
        refuse(a, b, "these traces are of models of different kinds",
               "seeds of one model are verified together: verify each model by itself", error);
        gs_error_expected(error, "%s, as in the first", a->model);
        gs_error_found(error, "%s", b->model);
        return GS_CONFIG;
    }
    struct gs_json *first = config_of(a), *other = config_of(b);
    enum gs_status status = first && other ? check_sizes(a, first, b, other, error) : GS_OK;
    gs_json_destroy(first);
    gs_json_destroy(other);
    return status;
}

/* ---- the text ---- */

enum { STRETCH = 1 << 14 };

/* *same: the tokens of one sequence, as far as both have it. */
static enum gs_status compare_sequence(struct gs_trace *first, struct gs_trace *other, size_t s,
                                       uint32_t *ids, bool *same, struct gs_error *error) {
    const struct gs_trace_info *a = gs_trace_info(first), *b = gs_trace_info(other);
    uint64_t rows =
        a->rows_written[s] < b->rows_written[s] ? a->rows_written[s] : b->rows_written[s];
    enum gs_status status = GS_OK;
    for (uint64_t at = 0; status == GS_OK && *same && at < rows; at += STRETCH) {
        size_t count = rows - at < STRETCH ? (size_t)(rows - at) : STRETCH;
        status = gs_trace_read_token(first, a->start[s] + at, count, ids, error);
        if (status == GS_OK)
            status = gs_trace_read_token(other, b->start[s] + at, count, ids + STRETCH, error);
        if (status == GS_OK) *same = memcmp(ids, ids + STRETCH, count * sizeof *ids) == 0;
    }
    return status;
}

static enum gs_status compare_tokens(struct gs_trace *first, struct gs_trace *other, bool *same,
                                     struct gs_error *error) {
    const struct gs_trace_info *a = gs_trace_info(first);
    uint32_t *ids = gs_calloc(2 * STRETCH, sizeof *ids);
    if (!ids) return gs_fail_memory(error, 2 * STRETCH * sizeof *ids, "tokens");
    enum gs_status status = GS_OK;
    for (size_t s = 0; status == GS_OK && *same && s < a->sequences; s++)
        status = compare_sequence(first, other, s, ids, same, error);
    gs_free(ids);
    return status;
}

static bool same_rows(const struct gs_trace_info *a, const struct gs_trace_info *b) {
    return a->sequences == b->sequences &&
           memcmp(a->start, b->start, (a->sequences + 1) * sizeof *a->start) == 0;
}

static enum gs_status check_text(struct gs_trace *first, struct gs_trace *other,
                                 struct gs_error *error) {
    const struct gs_trace_info *a = gs_trace_info(first), *b = gs_trace_info(other);
    static const char next[] = "trace all models on the same data, with the same windows";
    bool same = same_rows(a, b);
    if (!same) {
        refuse(a, b, "these traces are of different text", next, error);
        gs_error_expected(error, "%llu rows in %zu sequences, as in the first",
                          (unsigned long long)a->rows, a->sequences);
        gs_error_found(error, "%llu rows in %zu sequences, or others", (unsigned long long)b->rows,
                       b->sequences);
        return GS_CONFIG;
    }
    enum gs_status status = GS_OK;
    if (a->has_token && b->has_token)
        status = compare_tokens(first, other, &same, error);
    else if (both(a->source_sha256, b->source_sha256))
        same = strcmp(a->source_sha256, b->source_sha256) == 0;
    if (status != GS_OK || same) return status;
    return refuse(a, b, "these traces are of different text", next, error);
}

/* ---- the whole ---- */

enum gs_status gs_verify_check_pair(struct gs_trace *first, struct gs_trace *other,
                                    struct gs_error *error) {
    const struct gs_trace_info *a = gs_trace_info(first), *b = gs_trace_info(other);
    if (gs_path_same(a->path, b->path) ||
        (both(a->checkpoint_sha256, b->checkpoint_sha256) &&
         strcmp(a->checkpoint_sha256, b->checkpoint_sha256) == 0)) {
        refuse(a, b, "the same checkpoint is there twice: one seed is not two",
               "leave one of the two traces out", error);
        return GS_CONFIG;
    }
    if (both(a->tokenizer_sha256, b->tokenizer_sha256) &&
        strcmp(a->tokenizer_sha256, b->tokenizer_sha256) != 0)
        return refuse(a, b, "these traces are of different tokenizers",
                      "models with different tokens cannot be compared: verify each by itself",
                      error);
    enum gs_status status = check_model(a, b, error);
    return status == GS_OK ? check_text(first, other, error) : status;
}
