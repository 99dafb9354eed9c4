#include "core/training/adopt.h"

#include "core/base/memory.h"
#include "core/checkpoint/read_parameters.h"
#include "core/checkpoint/training_state.h"
#include "core/text/tokens.h"
#include "core/training/adamw.h"
#include "core/training/recipe.h"
#include "core/training/resume.h"
#include "core/training/run_files.h"
#include "core/training/staged.h"

#include <string.h>

void gs_adopted_clear(struct gs_adopted *adopted) {
    gs_free(adopted->model);
    gs_free(adopted->resume);
    *adopted = (struct gs_adopted){0};
}

/* What is read before anything is written. */
struct adoption {
    const struct gs_training_config *config;
    struct gs_model *model;
    struct gs_tokens *tokens;
    struct gs_adamw *adamw;
    struct gs_run_position position;
};

static void clear(struct adoption *a) {
    gs_adamw_destroy(a->adamw);
    gs_tokens_close(a->tokens);
    gs_model_destroy(a->model);
    gs_free(a->position.metrics);
}

static enum gs_status fail_negative(const char *path, const struct gs_tensor *tensor, size_t index,
                                    struct gs_error *error) {
    gs_fail(error, GS_RANGE, "a second moment of Adam's is negative");
    gs_error_found(error, "%g at index %zu", (double)tensor->values[index], index);
    gs_error_where(error, "%s: tensor \"%s\"", path, tensor->name);
    return GS_RANGE;
}

static enum gs_status check_second(const char *path, const struct gs_parameters *second,
                                   struct gs_error *error) {
    for (size_t i = 0; i < second->tensor_count; i++)
        for (size_t k = 0; k < second->tensors[i].count; k++)
            if (second->tensors[i].values[k] < 0)
                return fail_negative(path, &second->tensors[i], k, error);
    return GS_OK;
}

static enum gs_status read_moments(struct adoption *a, const char *path,
                                   struct gs_tensor_file *file, struct gs_error *error) {
    struct gs_training_state state;
    enum gs_status status = gs_training_state_find(file, path, a->model, &state, error);
    if (status == GS_OK)
        status = gs_checkpoint_read_list(path, file, &state.first, state.wrapper, a->model,
                                         a->adamw->first, error);
    if (status == GS_OK)
        status = gs_checkpoint_read_list(path, file, &state.second, state.wrapper, a->model,
                                         a->adamw->second, error);
    if (status == GS_OK) status = check_second(path, a->adamw->second, error);
    if (status == GS_OK) {
        a->adamw->updates = (size_t)state.updates;
        a->position.step = a->position.logged_step = (size_t)state.step;
        a->position.micro_batch = (uint64_t)state.data_position;
        a->position.skipped = (size_t)(state.step - state.updates);
    }
    gs_training_state_clear(&state);
    return status;
}

static enum gs_status read_optimiser(struct adoption *a, const char *path,
                                     const struct gs_checkpoint_options *options,
                                     struct gs_error *error) {
    const struct gs_adamw_options adamw = gs_training_adamw_options(a->config, a->model);
    const struct gs_tensor_file_options how = {.void_is_bfloat16 = options->void_is_bfloat16};
    struct gs_tensor_file *file = NULL;
    enum gs_status status =
        gs_adamw_create(gs_model_parameters(a->model), &adamw, &a->adamw, error);
    if (status == GS_OK) status = gs_tensor_file_open(path, &how, &file, error);
    if (status == GS_OK) status = read_moments(a, path, file, error);
    gs_tensor_file_close(file);
    return status;
}

/* As many sums of metrics as the model's runner has, all zero. */
static enum gs_status make_metrics(struct adoption *a, struct gs_error *error) {
    const struct gs_runner_options options = {
        .batch = 1, .steps = 1 + gs_model_first(a->model), .train = true};
    struct gs_runner *runner = NULL;
    size_t count = 0;
    enum gs_status status = gs_runner_create(a->model, &options, &runner, error);
    if (status != GS_OK) return status;
    gs_runner_metrics(runner, &count);
    gs_runner_destroy(runner);
    a->position.metric_count = count;
    a->position.metrics = gs_calloc(count, sizeof *a->position.metrics);
    return a->position.metrics
               ? GS_OK
               : gs_fail_memory(error, count * sizeof *a->position.metrics, "metrics");
}

static enum gs_status write_run(const struct adoption *a, const struct gs_run_files *files,
                                struct gs_adopted *adopted, struct gs_error *error) {
    const struct gs_run_identity identity = gs_training_identity(a->config, a->model, a->tokens);
    const long long step = (long long)a->position.step;
    adopted->model = gs_run_file_path(files, GS_RUN_MODEL, step);
    adopted->resume = gs_run_file_path(files, GS_RUN_RESUME, step);
    if (!adopted->model || !adopted->resume) return gs_fail_memory(error, 0, "a path");
    adopted->kind = gs_model_kind(a->model);
    adopted->parameters = gs_model_parameters(a->model)->count;
    adopted->step = step;
    adopted->updates = (int64_t)a->adamw->updates;
    adopted->micro_batch = (int64_t)a->position.micro_batch;
    struct gs_staged staged = {0};
    const char *model = NULL, *resume = NULL;
    enum gs_status status = gs_staged_add(&staged, adopted->resume, &resume, error);
    if (status == GS_OK) status = gs_staged_add(&staged, adopted->model, &model, error);
    if (status == GS_OK)
        status = gs_checkpoint_save(model, true, a->model, step, (int64_t)a->config->seed, error);
    if (status == GS_OK)
        status = gs_resume_save(resume, a->model, a->adamw, &a->position, &identity, error);
    if (status != GS_OK) gs_staged_name_place(&staged, error);
    if (status == GS_OK) status = gs_staged_commit(&staged, error);
    gs_staged_close(&staged);
    return status;
}

/* What is read must not be what would be replaced. */
static enum gs_status check_input(const struct gs_run_files *files, const char *checkpoint,
                                  struct gs_error *error) {
    if (!gs_run_files_own(files, checkpoint)) return GS_OK;
    gs_fail(error, GS_EXISTS, "the checkpoint belongs to the run that would be replaced");
    gs_error_where(error, "%s", checkpoint);
    gs_error_next(error, "give another folder with -o");
    return GS_EXISTS;
}

static enum gs_status read_all(struct adoption *a, const char *checkpoint,
                               const struct gs_checkpoint_options *options,
                               struct gs_error *error) {
    struct gs_checkpoint_options own = *options;
    char *path = NULL;
    own.config = a->config->object;
    own.config_name = a->config->source;
    enum gs_status status = gs_checkpoint_file(checkpoint, &path, error);
    if (status == GS_OK) status = gs_checkpoint_load_with(path, &own, &a->model, NULL, error);
    if (status == GS_OK) status = read_optimiser(a, path, options, error);
    if (status == GS_OK) status = gs_tokens_open(a->config->data, NULL, &a->tokens, error);
    if (status == GS_OK) status = gs_tokens_check(a->tokens, gs_model_vocab(a->model), error);
    if (status == GS_OK) status = make_metrics(a, error);
    gs_free(path);
    return status;
}

enum gs_status gs_training_adopt(const struct gs_training_config *config, const char *checkpoint,
                                 const struct gs_checkpoint_options *options, bool force,
                                 struct gs_adopted *adopted, struct gs_error *error) {
    const struct gs_run_files files = {config->checkpoint, config->log, config->name};
    struct adoption adoption = {.config = config};
    *adopted = (struct gs_adopted){0};
    enum gs_status status = gs_run_files_check(&files, 0, force, error);
    if (status == GS_OK) status = check_input(&files, checkpoint, error);
    if (status == GS_OK) status = read_all(&adoption, checkpoint, options, error);
    if (status == GS_OK) status = gs_run_files_prepare(&files, error);
    if (status == GS_OK) status = gs_run_files_check(&files, 0, force, error);
    if (status == GS_OK) status = write_run(&adoption, &files, adopted, error);
    if (status == GS_OK && force) {
        const char *const new_files[] = {adopted->model, adopted->resume};
        status = gs_run_files_remove(&files, 0, new_files, 2, error);
    }
    clear(&adoption);
    return status;
}
