/* Adam's moments as torch.optim.AdamW.state_dict() numbers them. */
#include "core/base/memory.h"
#include "core/checkpoint/training_state_parts.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct gs_pickle_value value;

struct numbered {
    int64_t number;
    const value *moments;
};

struct reading {
    struct gs_tensor_file *file;
    struct gs_tensor_source *source;
    const struct gs_model *model;
    struct numbered *sorted; /* by number: files of many parameters hold them in any order */
    size_t members;
    struct gs_training_state *state;
    size_t given; /* parameters that have got their moments */
    struct gs_error *error;
};

static int by_number(const void *a, const void *b) {
    const struct numbered *left = a, *right = b;
    return (left->number > right->number) - (left->number < right->number);
}

/* {number: moments}, sorted; keys that are no numbers belong to no parameter. */
static enum gs_status sort_numbers(struct reading *reading, const value *numbers) {
    const size_t count = gs_pickle_count(numbers) / 2;
    if (count == 0) return GS_OK;
    reading->sorted = gs_calloc(count, sizeof *reading->sorted);
    if (!reading->sorted)
        return gs_fail_memory(reading->error, count * sizeof *reading->sorted,
                              "the optimiser's numbers");
    for (size_t i = 0; i < count; i++) {
        struct numbered *next = reading->sorted + reading->members;
        if (!gs_pickle_integer(gs_pickle_at(numbers, 2 * i), &next->number)) continue;
        next->moments = gs_pickle_at(numbers, 2 * i + 1);
        reading->members++;
    }
    qsort(reading->sorted, reading->members, sizeof *reading->sorted, by_number);
    return GS_OK;
}

/* The moments behind a number, or NULL. */
static const value *find_number(const struct reading *reading, int64_t number) {
    const struct numbered key = {.number = number};
    if (reading->members == 0) return NULL;
    const struct numbered *found =
        bsearch(&key, reading->sorted, reading->members, sizeof key, by_number);
    return found ? found->moments : NULL;
}

static enum gs_status take_moment(struct reading *reading, const value *moments, const char *key,
                                  const char *name, struct gs_tensor_list *list) {
    struct gs_stored_tensor tensor;
    const value *moment = gs_pickle_get(moments, key);
    if (!gs_tensor_recognise(moment))
        return gs_training_state_fail(GS_MISSING, "the optimiser's state of a parameter is missing",
                                      "exp_avg and exp_avg_sq", reading->error);
    enum gs_status status = gs_tensor_of(reading->source, moment, name, &tensor, reading->error);
    return status == GS_OK ? gs_tensor_list_add(list, &tensor, name, reading->error) : status;
}

/* All parameters have made as many steps. */
static enum gs_status take_step(struct reading *reading, const value *moments) {
    int64_t step;
    if (!gs_tensor_whole(reading->source, gs_pickle_get(moments, "step"), &step))
        return gs_training_state_fail(GS_FORMAT, "a parameter's count of updates cannot be read",
                                      "a whole number behind \"step\"", reading->error);
    if (reading->given == 0) reading->state->updates = step;
    if (step == reading->state->updates) return GS_OK;
    return gs_training_state_fail(GS_UNSUPPORTED,
                                  "the parameters have had unequal numbers of "
                                  "updates",
                                  "one number for all", reading->error);
}

static enum gs_status take_parameter(struct reading *reading, int64_t number, const char *name) {
    const value *moments = find_number(reading, number);
    struct gs_training_state *state = reading->state;
    enum gs_status status = take_step(reading, moments);
    if (status == GS_OK) status = take_moment(reading, moments, "exp_avg", name, &state->first);
    if (status == GS_OK) status = take_moment(reading, moments, "exp_avg_sq", name, &state->second);
    if (status != GS_OK)
        gs_error_where(reading->error, "\"%.200s\", number %" PRId64, name, number);
    reading->given++;
    return status;
}

static bool decays(const value *group) {
    /* 0.0 and 0 are the numbers that say no; whatever else stands there is some decay */
    return gs_pickle_is_nonzero(gs_pickle_get(group, "weight_decay"));
}

/* The parameters of the file that belong to a group, in the file's order, get its numbers. */
static enum gs_status take_group(struct reading *reading, const value *group, bool alone) {
    const struct gs_parameters *parameters = gs_model_parameters(reading->model);
    const value *numbers = gs_pickle_get(group, "params");
    const bool decay = decays(group);
    size_t next = 0;
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < gs_tensor_file_count(reading->file) && status == GS_OK; i++) {
        const char *name = gs_tensor_file_at(reading->file, i)->name;
        const struct gs_tensor *tensor = gs_parameters_find(
            parameters, gs_model_own_name(reading->model, name + reading->state->wrapper));
        int64_t number;
        if (!tensor || (!alone && tensor->decay != decay)) continue;
        if (!gs_pickle_integer(gs_pickle_at(numbers, next++), &number)) return GS_SHAPE;
        status = take_parameter(reading, number, name);
    }
    return status == GS_OK && next != gs_pickle_count(numbers) ? GS_SHAPE : status;
}

enum gs_status gs_training_state_read_torch(struct gs_tensor_file *file, const value *optimizer,
                                            const struct gs_model *model,
                                            struct gs_training_state *state,
                                            struct gs_error *error) {
    const value *groups = gs_pickle_get(optimizer, "param_groups");
    const size_t count = gs_pickle_count(groups);
    struct reading reading = {.file = file,
                              .source = gs_tensor_file_source(file),
                              .model = model,
                              .state = state,
                              .error = error};
    bool known = count == 1 ||
                 (count == 2 && decays(gs_pickle_at(groups, 0)) != decays(gs_pickle_at(groups, 1)));
    enum gs_status status =
        known ? sort_numbers(&reading, gs_pickle_get(optimizer, "state")) : GS_SHAPE;
    for (size_t i = 0; i < count && status == GS_OK; i++)
        status = take_group(&reading, gs_pickle_at(groups, i), count == 1);
    gs_free(reading.sorted);
    if (status != GS_SHAPE) return status;
    return gs_training_state_fail(
        GS_UNSUPPORTED, "the optimiser's groups are not those of the parameters",
        "one group of all, or one with and one without weight decay", error);
}
