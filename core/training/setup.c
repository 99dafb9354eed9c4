/* Making a training run ready: every check that can be made before the first step. */
#include "core/training/loop_state.h"

#include "core/base/environment.h"
#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/model_config.h"
#include "core/training/memory.h"
#include "core/training/recipe.h"

#include <string.h>

void gs_training_close(struct gs_training *t) {
    if (!t) return;
    gs_micro_batch_destroy(t->micro_batch);
    gs_adamw_destroy(t->adamw);
    gs_parameters_destroy(t->gradients);
    gs_model_destroy(t->model);
    gs_tokens_close(t->tokens);
    gs_free(t->resume_path);
    gs_free(t->log_path);
    gs_free(t->speed_path);
    gs_free(t->final_path);
    gs_free(t->position.metrics);
    gs_free(t->step_metrics);
    gs_free(t);
}

const struct gs_training_plan *gs_training_get_plan(const struct gs_training *t) {
    return &t->plan;
}

const struct gs_model *gs_training_get_model(const struct gs_training *t) {
    return t->model;
}

/* ---- files ---------------------------------------------------------------------------------- */

/* The resume file beside a checkpoint: X.safetensors -> X.resume.safetensors. */
static char *resume_beside(const char *path) {
    static const char old[] = ".safetensors", new[] = ".resume.safetensors";
    size_t length = strlen(path), tail = sizeof old - 1, new_tail = sizeof new - 1;
    bool is_one = length > new_tail && strcmp(path + length - new_tail, new) == 0;
    if (is_one || length < tail || strcmp(path + length - tail, old) != 0) return gs_strdup(path);
    char *beside = gs_calloc(length - tail + sizeof new, 1);
    if (!beside) return NULL;
    memcpy(beside, path, length - tail);
    memcpy(beside + length - tail, new, sizeof new);
    return beside;
}

static enum gs_status find_resume(struct gs_training *t, bool resume, struct gs_error *error) {
    if (resume) {
        enum gs_status status = gs_run_files_latest(&t->files, &t->resume_path, error);
        if (status != GS_MISSING || !gs_path_exists(t->log_path)) return status;
        t->plan.restarted = true; /* killed before its first checkpoint */
        return GS_OK;
    }
    if (!t->config->resume) return GS_OK;
    t->resume_path = resume_beside(t->config->resume);
    return t->resume_path ? GS_OK : gs_fail_memory(error, strlen(t->config->resume), "a path");
}

/* What is read must not be what is written: a folder of data that holds checkpoints is other data
 * than before, and --force would remove the checkpoint to start from. */
static enum gs_status check_inputs(const struct gs_training *t, struct gs_error *error) {
    const struct gs_training_config *config = t->config;
    const char *const folders[] = {config->checkpoint, config->log};
    for (size_t i = 0; i < 2; i++) {
        if (!gs_path_same(config->data, folders[i])) continue;
        gs_fail(error, GS_CONFIG, "the run would write into the folder of its data");
        gs_error_where(error, "%s", folders[i]);
        gs_error_next(error, "give another folder with -o");
        return GS_CONFIG;
    }
    if (t->resume_path || !config->init || !gs_run_files_own(&t->files, config->init)) return GS_OK;
    gs_fail(error, GS_EXISTS,
            "the checkpoint to start from belongs to the run that would be "
            "replaced");
    gs_error_where(error, "%s", config->init);
    gs_error_next(error, "give another folder with -o, or go on with --resume");
    return GS_EXISTS;
}

/* Refuse to mix with an earlier run, before anything takes time. */
static enum gs_status check_files(struct gs_training *t, bool resume, struct gs_error *error) {
    const struct gs_training_config *config = t->config;
    t->files = (struct gs_run_files){config->checkpoint, config->log, config->name};
    t->log_path = gs_run_log_path(&t->files);
    t->speed_path = gs_run_speed_path(&t->files);
    t->final_path = gs_run_file_path(&t->files, GS_RUN_MODEL, GS_RUN_FINAL);
    if (!t->log_path || !t->speed_path || !t->final_path) return gs_fail_memory(error, 0, "a path");
    enum gs_status status = gs_run_table_check_free(t->log_path, error);
    if (status == GS_OK) status = find_resume(t, resume, error);
    if (status == GS_OK) status = check_inputs(t, error);
    long long first = t->plan.restarted ? 1 : 0;
    if (status == GS_OK && t->resume_path) {
        status = gs_resume_step(t->resume_path, &first, error);
        first++;
    }
    if (status == GS_OK) status = gs_run_files_check(&t->files, first, t->force, error);
    return status;
}

/* ---- model ---------------------------------------------------------------------------------- */

/* The checkpoint to start from must be a model of the config's kind and sizes. */
static enum gs_status check_same_model(const struct gs_training *t, const struct gs_model *start,
                                       struct gs_error *error) {
    struct gs_json *mine = gs_model_config(t->model), *theirs = gs_model_config(start);
    char *expected = mine ? gs_json_text(mine, 0) : NULL;
    char *found = theirs ? gs_json_text(theirs, 0) : NULL;
    enum gs_status status = GS_OK;
    if (!expected || !found)
        status = gs_fail_memory(error, 0, "a config");
    else if (strcmp(expected, found) != 0) {
        status = gs_fail(error, GS_CONFIG, "the checkpoint to start from is another model");
        gs_error_expected(error, "%.250s", expected);
        gs_error_found(error, "%.250s", found);
        gs_error_where(error, "%s", t->config->init);
    }
    gs_json_destroy(mine);
    gs_json_destroy(theirs);
    gs_free(expected);
    gs_free(found);
    return status;
}

static enum gs_status start_from(struct gs_training *t, const char *path, struct gs_error *error) {
    struct gs_model *start = NULL;
    enum gs_status status = gs_checkpoint_load(path, &start, NULL, error);
    if (status == GS_OK) status = check_same_model(t, start, error);
    if (status == GS_OK) {
        struct gs_model *unused = t->model;
        t->model = start;
        start = unused;
    }
    gs_model_destroy(start);
    return status;
}

static enum gs_status make_model(struct gs_training *t, struct gs_error *error) {
    const struct gs_training_config *config = t->config;
    enum gs_status status = gs_model_from_config(config->object, config->source, &t->model, error);
    if (status != GS_OK || t->resume_path) return status;
    if (config->init) return start_from(t, config->init, error);
    gs_parameters_initialise(gs_model_parameters(t->model), config->seed);
    return GS_OK;
}

/* ---- data ----------------------------------------------------------------------------------- */

static enum gs_status fail_short(const struct gs_training *t, const char *of_what, uint64_t needed,
                                 struct gs_error *error) {
    gs_fail(error, GS_RANGE, "the data are shorter than %s", of_what);
    gs_error_expected(error, "at least %llu tokens", (unsigned long long)needed);
    gs_error_found(error, "%llu", (unsigned long long)t->plan.tokens);
    gs_error_where(error, "%s", t->config->data);
    return GS_RANGE;
}

static enum gs_status open_data(struct gs_training *t, const struct gs_model *model,
                                struct gs_error *error) {
    const struct gs_training_config *config = t->config;
    enum gs_status status = gs_tokens_open(config->data, NULL, &t->tokens, error);
    if (status != GS_OK) return status;
    struct gs_training_plan *plan = &t->plan;
    plan->tokens = gs_tokens_count(t->tokens);
    plan->window = config->seq_len + gs_model_first(model);
    size_t batch, step;
    if (!gs_multiply(config->batch_size, plan->window, &batch)) batch = SIZE_MAX;
    if (!gs_multiply(config->grad_accum, batch, &step)) step = SIZE_MAX;
    plan->tokens_a_step = step;
    if (plan->tokens < plan->window) return fail_short(t, "one window", plan->window, error);
    if (plan->tokens < batch) return fail_short(t, "one batch of windows", batch, error);
    if (plan->tokens < step) return fail_short(t, "one step's batches", step, error);
    t->identity = gs_training_identity(config, model, t->tokens);
    return gs_tokens_check(t->tokens, gs_model_vocab(model), error);
}

/* ---- memory --------------------------------------------------------------------------------- */

static enum gs_status check_memory(struct gs_training *t, const struct gs_model *model,
                                   struct gs_error *error) {
    struct gs_memory_room room = {SIZE_MAX, ""};
    struct gs_training_memory memory;
    if (!t->config->ignore_memory) gs_memory_room("", (size_t)gs_threads_get(), &room);
    enum gs_status status =
        gs_training_memory_check(model, t->config, t->resume_path != NULL, &room, &memory, error);
    t->plan.memory = memory.total;
    return status;
}

/* What can be known from a model without its values, before much is allocated. */
static enum gs_status check_outline(struct gs_training *t, struct gs_error *error) {
    struct gs_model *outline = NULL;
    enum gs_status status =
        gs_model_outline_from_config(t->config->object, t->config->source, &outline, error);
    if (status == GS_OK) status = open_data(t, outline, error);
    if (status == GS_OK) status = check_memory(t, outline, error);
    gs_model_destroy(outline);
    return status;
}

/* ---- what the steps need -------------------------------------------------------------------- */

static enum gs_status make_micro_batch(struct gs_training *t, struct gs_error *error) {
    const struct gs_training_setting setting = gs_training_setting_of(t->config);
    const struct gs_micro_batch_options options = gs_training_micro_batch_options(&setting);
    enum gs_status status = gs_micro_batch_create(t->model, &options, &t->micro_batch, error);
    if (status != GS_OK) return status;
    size_t count = t->micro_batch->metric_count;
    t->position.metric_count = count;
    t->position.metrics = gs_calloc(count, sizeof *t->position.metrics);
    t->step_metrics = gs_calloc(count, sizeof *t->step_metrics);
    if (!t->position.metrics || !t->step_metrics)
        return gs_fail_memory(error, count * sizeof *t->step_metrics, "metrics");
    return GS_OK;
}

static enum gs_status make_optimiser(struct gs_training *t, struct gs_error *error) {
    const struct gs_training_config *config = t->config;
    const struct gs_parameters *parameters = gs_model_parameters(t->model);
    const struct gs_adamw_options options = gs_training_adamw_options(config, t->model);
    t->schedule = gs_training_schedule(config, t->model);
    enum gs_status status = gs_parameters_like(parameters, &t->gradients, error);
    if (status == GS_OK) status = gs_adamw_create(parameters, &options, &t->adamw, error);
    return status;
}

static enum gs_status take_up(struct gs_training *t, struct gs_error *error) {
    if (!t->resume_path) return GS_OK;
    enum gs_status status =
        gs_resume_load(t->resume_path, t->model, t->adamw, &t->position, &t->identity, error);
    if (status == GS_OK) status = gs_runner_refresh(t->micro_batch->runner, error);
    t->safe_step = t->position.step;
    return status;
}

static enum gs_status make_plan(struct gs_training *t, struct gs_error *error) {
    const struct gs_training_config *config = t->config;
    struct gs_training_plan *plan = &t->plan;
    const struct gs_parameters *parameters = gs_model_parameters(t->model);
    plan->kind = gs_model_kind(t->model);
    plan->parameters = parameters->count;
    plan->from = t->resume_path ? t->resume_path : config->init;
    plan->log = t->log_path;
    plan->final = t->final_path;
    plan->first_step = t->position.step;
    plan->changed = t->position.changed;
    size_t left =
        config->total_steps > plan->first_step ? config->total_steps - plan->first_step : 0;
    size_t steps = config->run_steps < left ? config->run_steps : left;
    uint64_t batches = plan->tokens / (config->batch_size * plan->window);
    uint64_t unread = batches > t->position.micro_batch ? batches - t->position.micro_batch : 0;
    uint64_t possible = unread / config->grad_accum;
    plan->wanted_step = plan->first_step + steps;
    plan->last_step = plan->first_step + (possible < steps ? (size_t)possible : steps);
    if (steps > 0 && possible == 0) {
        gs_fail(error, GS_RANGE, "the data end where the earlier run stopped");
        gs_error_expected(error, "%zu batches more", config->grad_accum);
        gs_error_found(error, "%llu", (unsigned long long)unread);
        gs_error_where(error, "%s", config->data);
        return GS_RANGE;
    }
    return GS_OK;
}

enum gs_status gs_training_open(const struct gs_training_config *config, bool force, bool resume,
                                struct gs_training **training, struct gs_error *error) {
    struct gs_training *t = gs_calloc(1, sizeof *t);
    if (!t) return gs_fail_memory(error, sizeof *t, "a training run");
    t->config = config;
    t->force = force;
    enum gs_status status = check_files(t, resume, error);
    if (status == GS_OK) status = check_outline(t, error);
    if (status == GS_OK) status = make_model(t, error);
    if (status == GS_OK) status = make_micro_batch(t, error);
    if (status == GS_OK) status = make_optimiser(t, error);
    if (status == GS_OK) status = take_up(t, error);
    if (status == GS_OK) status = make_plan(t, error);
    if (status != GS_OK) {
        gs_training_close(t);
        return status;
    }
    *training = t;
    return GS_OK;
}
