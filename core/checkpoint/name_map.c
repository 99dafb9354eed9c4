#include "core/checkpoint/name_map.h"

#include "core/base/memory.h"
#include "core/base/names.h"

#include <stdlib.h>
#include <string.h>

static enum gs_status fail_map(const char *key, const char *what, struct gs_error *error) {
    gs_fail(error, GS_CONFIG, "%s", what);
    gs_error_expected(error, "\"our name\": \"their name\" or {\"name\": …, \"transpose\": true}");
    gs_error_where(error, "the name map, \"%.200s\"", key);
    return GS_CONFIG;
}

/* What stands behind a key of the map. */
static enum gs_status read_rule(const char *key, const struct gs_json *rule, const char **theirs,
                                bool *transpose, struct gs_error *error) {
    *transpose = false;
    *theirs = gs_json_string(rule);
    if (*theirs) return GS_OK;
    const struct gs_json *turn = gs_json_get(rule, "transpose");
    *theirs = gs_json_string(gs_json_get(rule, "name"));
    if (!*theirs) return fail_map(key, "the map has no name for a tensor", error);
    if (turn && !gs_json_truth(turn, transpose))
        return fail_map(key, "\"transpose\" is not true or false", error);
    if (gs_json_size(rule) != (turn ? 2u : 1u))
        return fail_map(key, "the map says more than name and transpose", error);
    return GS_OK;
}

static int compare_names(const void *a, const void *b) {
    return strcmp((*(const struct gs_stored_tensor *const *)a)->name,
                  (*(const struct gs_stored_tensor *const *)b)->name);
}

static enum gs_status fail_absent(const char *key, const char *theirs,
                                  const struct gs_stored_tensor **sorted, size_t count,
                                  struct gs_error *error) {
    gs_fail(error, GS_MISSING, "the file lacks a tensor that the map names");
    gs_error_expected(error, "\"%.200s\"", theirs);
    gs_error_where(error, "the name map, \"%.200s\"", key);
    const char **names = gs_calloc(count, sizeof *names);
    for (size_t i = 0; names && i < count; i++) names[i] = sorted[i]->name;
    const char *nearest = names ? gs_nearest_name(theirs, names, count) : NULL;
    if (nearest) gs_error_next(error, "the nearest tensor is \"%.150s\"", nearest);
    gs_free(names);
    return GS_MISSING;
}

static enum gs_status add_mapped(const char *key, const struct gs_json *rule,
                                 const struct gs_stored_tensor **sorted, bool *used, size_t count,
                                 struct gs_tensor_list *mapped, struct gs_error *error) {
    const char *theirs;
    bool transpose;
    enum gs_status status = read_rule(key, rule, &theirs, &transpose, error);
    if (status != GS_OK) return status;
    const struct gs_stored_tensor wanted = {.name = theirs}, *pointer = &wanted;
    const struct gs_stored_tensor **found =
        count ? bsearch(&pointer, sorted, count, sizeof *sorted, compare_names) : NULL;
    if (!found) return fail_absent(key, theirs, sorted, count, error);
    used[found - sorted] = true;
    struct gs_stored_tensor tensor = **found;
    if (transpose) status = gs_stored_tensor_transpose(&tensor, error);
    return status == GS_OK ? gs_tensor_list_add(mapped, &tensor, key, error) : status;
}

enum gs_status gs_name_map_apply(const struct gs_json *map, struct gs_tensor_list *list,
                                 size_t *left_out, struct gs_error *error) {
    if (gs_json_type(map) != GS_JSON_OBJECT || gs_json_size(map) == 0)
        return fail_map("", "the name map is no object with names", error);
    const size_t count = list->count;
    struct gs_tensor_list mapped = {0};
    const struct gs_stored_tensor **sorted = gs_calloc(count, sizeof *sorted);
    bool *used = gs_calloc(count, sizeof *used);
    enum gs_status status = GS_OK;
    if (!sorted || !used) status = gs_fail_memory(error, count * sizeof *sorted, "a name map");
    for (size_t i = 0; i < count && sorted; i++) sorted[i] = &list->tensors[i];
    if (sorted && count) qsort(sorted, count, sizeof *sorted, compare_names);
    for (size_t i = 0; i < gs_json_size(map) && status == GS_OK; i++) {
        const char *key = gs_json_key_at(map, i); /* asking for it inside would begin a new walk */
        status = add_mapped(key, gs_json_get(map, key), sorted, used, count, &mapped, error);
    }
    *left_out = 0;
    for (size_t i = 0; i < count && status == GS_OK; i++) *left_out += used[i] ? 0 : 1;
    gs_free(sorted);
    gs_free(used);
    gs_tensor_list_clear(status == GS_OK ? list : &mapped);
    if (status == GS_OK) *list = mapped;
    return status;
}
