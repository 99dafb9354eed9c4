#include "core/checkpoint/training_state.h"

#include "core/base/memory.h"
#include "core/checkpoint/training_state_parts.h"
#include "core/checkpoint/which_model.h"

#include <stdlib.h>
#include <string.h>

typedef struct gs_pickle_value value;

static const value *root_of(struct gs_tensor_file *file) {
    const struct gs_tensor_source *source = gs_tensor_file_source(file);
    return source ? gs_tensor_dict(gs_pickle_root(source->pickle)) : NULL;
}

enum gs_status gs_training_state_fail(enum gs_status status, const char *what, const char *expected,
                                      struct gs_error *error) {
    gs_fail(error, status, "%s", what);
    if (expected) gs_error_expected(error, "%s", expected);
    return status;
}

/* ---- optax ------------------------------------------------------------------------------------
 */

enum { LOOKED_AT = 2 };

/* Values still to be looked at; each container comes in once. */
struct heap {
    const value **values;
    size_t count, room;
};

static bool put(struct heap *heap, const value *v) {
    enum gs_pickle_type type = gs_pickle_type(v);
    bool inside = type == GS_PICKLE_CALL || (type >= GS_PICKLE_LIST && type <= GS_PICKLE_DICT);
    if (!inside || gs_pickle_visited(v) == LOOKED_AT) return true;
    if (heap->count == heap->room) {
        size_t room = heap->room ? 2 * heap->room : 64;
        const value **moved = realloc(heap->values, room * sizeof *moved);
        if (!moved) return false;
        heap->values = moved;
        heap->room = room;
    }
    gs_pickle_visit(v, LOOKED_AT);
    heap->values[heap->count++] = v;
    return true;
}

/* The ScaleByAdamState below a value, wherever a chain of transformations has put it. */
static enum gs_status find_adam(const value *below, const value **adam, struct gs_error *error) {
    struct heap heap = {0};
    bool good = put(&heap, below);
    *adam = NULL;
    while (good && heap.count > 0 && !*adam) {
        const value *v = heap.values[--heap.count];
        if (gs_pickle_type(v) == GS_PICKLE_CALL && gs_pickle_is(v, NULL, "ScaleByAdamState"))
            *adam = v;
        for (size_t i = 0; i < gs_pickle_count(v) && good; i++)
            good = put(&heap, gs_pickle_at(v, i));
        good = good && put(&heap, gs_pickle_arguments(v)) && put(&heap, gs_pickle_state(v));
    }
    free(heap.values);
    return good ? GS_OK : gs_fail_memory(error, heap.room * sizeof *heap.values, "a search");
}

static enum gs_status read_optax(struct gs_tensor_source *source, const value *below,
                                 struct gs_training_state *state, struct gs_error *error) {
    const value *adam;
    enum gs_status status = find_adam(below, &adam, error);
    if (status != GS_OK) return status;
    const value *arguments = gs_pickle_arguments(adam);
    const value *mu = gs_tensor_dict(gs_pickle_at(arguments, 1));
    const value *nu = gs_tensor_dict(gs_pickle_at(arguments, 2));
    if (!adam || !mu || !nu)
        return gs_training_state_fail(GS_MISSING, "the optimiser's state holds no moments of Adam",
                                      "optax's ScaleByAdamState(count, mu, nu)", error);
    if (!gs_tensor_whole(source, gs_pickle_at(arguments, 0), &state->updates))
        return gs_training_state_fail(GS_FORMAT, "Adam's count of updates cannot be read",
                                      "a whole number", error);
    status = gs_tensor_tree_list(source, mu, &state->first, error);
    return status == GS_OK ? gs_tensor_tree_list(source, nu, &state->second, error) : status;
}

/* ---- both -------------------------------------------------------------------------------------
 */

bool gs_training_state_recognise(struct gs_tensor_file *file) {
    const value *root = root_of(file);
    return gs_pickle_get(root, "opt_state") || gs_pickle_get(root, "optimizer");
}

static enum gs_status read_counts(struct gs_tensor_file *file, struct gs_training_state *state,
                                  struct gs_error *error) {
    if (!gs_tensor_file_number(file, "step", &state->step) || state->step < 0)
        return gs_training_state_fail(GS_MISSING, "the checkpoint does not say its step",
                                      "a whole number behind \"step\"", error);
    if (!gs_tensor_file_number(file, "data_position", &state->data_position) ||
        state->data_position < 0)
        return gs_training_state_fail(GS_MISSING,
                                      "the checkpoint does not say how much of the data was read",
                                      "a whole number behind \"data_position\"", error);
    if (state->updates < 0 || state->updates > state->step)
        return gs_training_state_fail(GS_RANGE, "Adam's count of updates does not fit the step",
                                      "0 up to the step", error);
    return GS_OK;
}

enum gs_status gs_training_state_find(struct gs_tensor_file *file, const char *path,
                                      const struct gs_model *model, struct gs_training_state *state,
                                      struct gs_error *error) {
    struct gs_tensor_source *source = gs_tensor_file_source(file);
    const value *root = root_of(file), *optax = gs_pickle_get(root, "opt_state");
    const value *torch = gs_pickle_get(root, "optimizer");
    enum gs_status status;
    *state = (struct gs_training_state){.step = -1};
    state->wrapper = gs_wrapper_of(file, model);
    if (optax)
        status = read_optax(source, optax, state, error);
    else if (torch)
        status = gs_training_state_read_torch(file, torch, model, state, error);
    else
        status =
            gs_training_state_fail(GS_MISSING, "the checkpoint holds no state of an optimiser",
                                   "\"opt_state\" of optax, or \"optimizer\" of PyTorch", error);
    if (status == GS_OK) status = read_counts(file, state, error);
    if (status != GS_OK && error && !strstr(error->where, path)) {
        char inside[sizeof error->where];
        memcpy(inside, error->where, sizeof inside);
        gs_error_where(error, "%s%s%s", path, inside[0] ? ": " : "", inside);
    }
    return status;
}

void gs_training_state_clear(struct gs_training_state *state) {
    gs_tensor_list_clear(&state->first);
    gs_tensor_list_clear(&state->second);
}
