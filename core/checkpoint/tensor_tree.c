#include "core/checkpoint/tensor_tree.h"

#include "core/base/memory.h"
#include "core/checkpoint/pickle_numpy.h"
#include "core/checkpoint/pickle_torch.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct gs_pickle_value value;

/* ---- single values ----------------------------------------------------------------------------
 */

bool gs_tensor_recognise(const value *v) {
    return gs_numpy_recognise(v) || gs_torch_recognise(v);
}

static enum gs_status read_any(const struct gs_tensor_source *source, const value *v,
                               struct gs_stored_tensor *tensor, struct gs_error *error) {
    if (gs_numpy_recognise(v)) return gs_numpy_read(v, source->void_is_bfloat16, tensor, error);
    if (source->torch) return gs_torch_file_tensor(source->torch, v, tensor, error);
    gs_fail(error, GS_UNSUPPORTED, "a tensor of PyTorch in a plain pickle");
    gs_error_where(error, "tensor \"%.200s\"", tensor->name);
    gs_error_next(error, "write it with torch.save");
    return GS_UNSUPPORTED;
}

enum gs_status gs_tensor_of(struct gs_tensor_source *source, const value *v, const char *name,
                            struct gs_stored_tensor *tensor, struct gs_error *error) {
    memset(tensor, 0, sizeof *tensor);
    tensor->name = name;
    enum gs_status status = read_any(source, v, tensor, error);
    if (status != GS_OK) return status;
    if (gs_add(source->elements, tensor->count, &source->elements) &&
        source->elements <= source->most)
        return GS_OK;
    gs_fail(error, GS_UNSUPPORTED, "the tensors share their bytes too often");
    gs_error_expected(error, "at most %zu elements in a file of this size", source->most);
    gs_error_where(error, "tensor \"%.200s\"", name);
    return GS_UNSUPPORTED;
}

bool gs_tensor_whole(struct gs_tensor_source *source, const value *v, int64_t *number) {
    struct gs_stored_tensor tensor;
    if (gs_pickle_integer(v, number)) return true;
    if (!gs_tensor_recognise(v)) return false;
    if (gs_tensor_of(source, v, "", &tensor, NULL) != GS_OK || tensor.count != 1) return false;
    if (!tensor.bytes && gs_torch_file_load(source->torch, &tensor, NULL) != GS_OK) return false;
    return gs_stored_tensor_integer(&tensor, number);
}

/* ---- the part that holds the parameters -------------------------------------------------------
 */

const value *gs_tensor_dict(const value *v) {
    if (gs_pickle_type(v) == GS_PICKLE_CALL && gs_pickle_is(v, NULL, "FrozenDict"))
        v = gs_pickle_at(gs_pickle_arguments(v), 0);
    return gs_pickle_type(v) == GS_PICKLE_DICT ? v : NULL;
}

static bool holds_tensors(const value *dict) {
    for (size_t i = 1; i < gs_pickle_count(dict); i += 2) {
        const value *member = gs_pickle_at(dict, i);
        if (gs_tensor_recognise(member) || gs_tensor_dict(member)) return true;
    }
    return false;
}

const value *gs_tensor_tree_parameters(const value *root) {
    static const char *const names[] = {"params", "model", "state_dict", "model_state_dict",
                                        "module"};
    const value *found = gs_tensor_dict(root);
    for (size_t depth = 0; depth < 3; depth++) {
        const value *inner = NULL;
        for (size_t i = 0; i < sizeof names / sizeof names[0] && !inner; i++) {
            inner = gs_tensor_dict(gs_pickle_get(found, names[i]));
            if (inner && !holds_tensors(inner)) inner = NULL;
        }
        if (!inner) break;
        found = inner;
    }
    return found;
}

/* ---- the walk ---------------------------------------------------------------------------------
 */

/* A container on the way down, and how long the name up to it is. */
struct level {
    const value *container;
    size_t next, name_length;
};

struct walk {
    struct gs_tensor_source *source;
    struct gs_tensor_list *list;
    struct level levels[GS_TENSOR_DEPTH];
    size_t depth;
    char name[GS_TENSOR_NAME];
    struct gs_error *error;
};

enum { WALKED = 1 };

static enum gs_status fail_at(const struct walk *walk, enum gs_status status, const char *what) {
    gs_fail(walk->error, status, "%s", what);
    gs_error_where(walk->error, "\"%.200s\"", walk->name);
    return status;
}

static enum gs_status add_to_name(struct walk *walk, size_t at, const char *part, size_t size) {
    const size_t dot = at > 0 ? 1 : 0;
    if (memchr(part, 0, size))
        return fail_at(walk, GS_FORMAT, "a name in the checkpoint holds a NUL");
    if (at + dot + size >= sizeof walk->name)
        return fail_at(walk, GS_UNSUPPORTED, "a name in the checkpoint is too long");
    if (dot) walk->name[at] = '.';
    memcpy(walk->name + at + dot, part, size);
    walk->name[at + dot + size] = '\0';
    return GS_OK;
}

static enum gs_status down(struct walk *walk, const value *container) {
    if (walk->depth == GS_TENSOR_DEPTH)
        return fail_at(walk, GS_UNSUPPORTED, "the checkpoint is nested too deeply, or in a circle");
    if (gs_pickle_visited(container) == WALKED)
        return fail_at(walk, GS_UNSUPPORTED,
                       "a container of the checkpoint holds itself, or stands at two places");
    gs_pickle_visit(container, WALKED);
    walk->levels[walk->depth++] = (struct level){container, 0, strlen(walk->name)};
    return GS_OK;
}

/* A tensor, or an object that is none, under the name at hand. */
static enum gs_status add(struct walk *walk, const value *member) {
    struct gs_stored_tensor tensor = {.element = GS_ELEMENT_OTHER};
    enum gs_status status = GS_OK;
    if (walk->list->count == GS_MOST_TENSORS)
        return fail_at(walk, GS_UNSUPPORTED, "the checkpoint has too many tensors");
    if (gs_tensor_recognise(member))
        status = gs_tensor_of(walk->source, member, walk->name, &tensor, walk->error);
    else
        gs_pickle_describe(member, tensor.type, sizeof tensor.type);
    if (status != GS_OK) return status;
    return gs_tensor_list_add(walk->list, &tensor, walk->name, walk->error);
}

static enum gs_status take(struct walk *walk, const value *member) {
    const value *dict = gs_tensor_dict(member);
    enum gs_pickle_type type = gs_pickle_type(member);
    if (dict) return down(walk, dict);
    if (type == GS_PICKLE_LIST || (type == GS_PICKLE_TUPLE && gs_pickle_count(member) > 0))
        return down(walk, member);
    if (type == GS_PICKLE_CALL || type == GS_PICKLE_PERSISTENT || type == GS_PICKLE_GLOBAL)
        return add(walk, member);
    return GS_OK;
}

/* A dict's key as part of a name; what is neither text nor number names no tensor. */
static enum gs_status name_key(struct walk *walk, const struct level *level, bool *named) {
    char number[32];
    int64_t integer;
    size_t size;
    const value *key = gs_pickle_at(level->container, level->next);
    const char *text = (const char *)gs_pickle_bytes(key, &size);
    *named = true;
    if (gs_pickle_integer(key, &integer)) {
        text = number;
        size = (size_t)snprintf(number, sizeof number, "%" PRId64, integer);
    } else if (gs_pickle_type(key) != GS_PICKLE_TEXT) {
        *named = false;
        return GS_OK;
    }
    return add_to_name(walk, level->name_length, text, size);
}

static enum gs_status step(struct walk *walk, struct level *level) {
    bool is_dict = gs_pickle_type(level->container) == GS_PICKLE_DICT, named = true;
    char number[32];
    walk->name[level->name_length] = '\0';
    enum gs_status status;
    if (is_dict)
        status = name_key(walk, level, &named);
    else
        status = add_to_name(walk, level->name_length, number,
                             (size_t)snprintf(number, sizeof number, "%zu", level->next));
    const value *member = gs_pickle_at(level->container, level->next + (is_dict ? 1 : 0));
    level->next += is_dict ? 2 : 1;
    return status == GS_OK && named ? take(walk, member) : status;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum gs_status check_names(const struct gs_tensor_list *list, struct gs_error *error) {
    const char **names = gs_calloc(list->count, sizeof *names);
    const char *twice = NULL;
    if (!names) return gs_fail_memory(error, list->count * sizeof *names, "names of tensors");
    for (size_t i = 0; i < list->count; i++) names[i] = list->tensors[i].name;
    if (list->count) qsort(names, list->count, sizeof *names, compare_names);
    for (size_t i = 1; i < list->count && !twice; i++)
        if (strcmp(names[i - 1], names[i]) == 0) twice = names[i];
    gs_free(names);
    if (!twice) return GS_OK;
    gs_fail(error, GS_FORMAT, "a name stands twice in the checkpoint");
    gs_error_where(error, "tensor \"%.200s\"", twice);
    return GS_FORMAT;
}

enum gs_status gs_tensor_tree_list(struct gs_tensor_source *source, const value *tree,
                                   struct gs_tensor_list *list, struct gs_error *error) {
    struct walk *walk = gs_calloc(1, sizeof *walk);
    if (!walk) return gs_fail_memory(error, sizeof *walk, "a walk through a checkpoint");
    walk->source = source;
    walk->list = list;
    walk->error = error;
    enum gs_status status = down(walk, tree);
    while (status == GS_OK && walk->depth > 0) {
        struct level *level = &walk->levels[walk->depth - 1];
        if (level->next < gs_pickle_count(level->container))
            status = step(walk, level);
        else
            walk->depth--;
    }
    gs_free(walk);
    return status == GS_OK ? check_names(list, error) : status;
}

/* ---- lists ------------------------------------------------------------------------------------
 */

enum gs_status gs_tensor_list_reserve(struct gs_tensor_list *list, size_t count,
                                      struct gs_error *error) {
    size_t bytes, room = list->count + count;
    if (room <= list->room) return GS_OK;
    if (room < 2 * list->room) room = 2 * list->room;
    struct gs_stored_tensor *moved = NULL;
    if (gs_multiply(room, sizeof *moved, &bytes)) moved = realloc(list->tensors, bytes);
    if (!moved) return gs_fail_memory(error, room * sizeof *moved, "a list of tensors");
    list->tensors = moved;
    list->room = room;
    return GS_OK;
}

enum gs_status gs_tensor_list_add(struct gs_tensor_list *list,
                                  const struct gs_stored_tensor *tensor, const char *name,
                                  struct gs_error *error) {
    enum gs_status status = gs_tensor_list_reserve(list, 1, error);
    char *copy = status == GS_OK ? gs_strdup(name) : NULL;
    if (status != GS_OK) return status;
    if (!copy) return gs_fail_memory(error, strlen(name), "a name");
    list->tensors[list->count] = *tensor;
    list->tensors[list->count++].name = copy;
    return GS_OK;
}

void gs_tensor_list_clear(struct gs_tensor_list *list) {
    for (size_t i = 0; i < list->count; i++) gs_free((char *)list->tensors[i].name);
    free(list->tensors);
    *list = (struct gs_tensor_list){0};
}
