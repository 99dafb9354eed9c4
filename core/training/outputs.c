#include "core/training/outputs.h"

#include "core/base/memory.h"
#include "core/checkpoint/checkpoint.h"
#include "core/training/staged.h"

/* ---- beginning ------------------------------------------------------------------------------- */

static enum gs_status open_tables(struct gs_training *t, struct gs_staged *staged,
                                  struct gs_error *error) {
    size_t count, done = t->position.step;
    const struct gs_metric *metrics = gs_runner_metrics(t->micro_batch->runner, &count);
    const char **names = gs_calloc(count, sizeof *names);
    if (!names) return gs_fail_memory(error, count * sizeof *names, "a log");
    for (size_t i = 0; i < count; i++) names[i] = metrics[i].name;
    enum gs_status status = gs_training_speed_open(t->speed_path, done, staged, &t->speed, error);
    if (status == GS_OK)
        status = gs_training_log_open(t->log_path, done, names, count, staged, &t->log, error);
    gs_free(names);
    return status;
}

static enum gs_status stage_start(struct gs_training *t, struct gs_staged *staged,
                                  struct gs_error *error) {
    char *model = gs_run_file_path(&t->files, GS_RUN_MODEL, 0);
    const char *place = NULL;
    enum gs_status status =
        model ? gs_staged_add(staged, model, &place, error) : gs_fail_memory(error, 0, "a path");
    if (status == GS_OK) status = gs_parameters_check_finite(gs_model_parameters(t->model), error);
    if (status == GS_OK)
        status = gs_checkpoint_save(place, true, t->model, 0, (int64_t)t->config->seed, error);
    gs_free(model);
    return status;
}

/* The tables and, at the start of a run, the untrained model: what an earlier run left is untouched
 * until all of them are whole. The log comes last: with it in place the run has begun. */
static enum gs_status replace_first_files(struct gs_training *t, bool fresh,
                                          struct gs_error *error) {
    struct gs_staged staged = {0};
    enum gs_status status = fresh ? stage_start(t, &staged, error) : GS_OK;
    if (status == GS_OK) status = open_tables(t, &staged, error);
    if (status != GS_OK) gs_staged_name_place(&staged, error);
    if (status == GS_OK) status = gs_staged_commit(&staged, error);
    gs_staged_close(&staged);
    return status;
}

/* What else the earlier run left, which the new one would mix with. */
static enum gs_status remove_others(struct gs_training *t, bool fresh, long long first,
                                    struct gs_error *error) {
    char *model = gs_run_file_path(&t->files, GS_RUN_MODEL, 0);
    if (!model) return gs_fail_memory(error, 0, "a path");
    const char *const new_files[] = {t->log_path, t->speed_path, model};
    enum gs_status status = gs_run_files_remove(&t->files, first, new_files, fresh ? 3 : 2, error);
    gs_free(model);
    return status;
}

enum gs_status gs_training_outputs_begin(struct gs_training *t, struct gs_error *error) {
    bool fresh = !t->resume_path;
    long long first = t->plan.restarted ? 1 : fresh ? 0 : (long long)t->position.step + 1;
    enum gs_status status = gs_run_files_check(&t->files, first, t->force, error);
    if (status == GS_OK) status = gs_run_files_prepare(&t->files, error);
    if (status == GS_OK) status = replace_first_files(t, fresh, error);
    if (status == GS_OK && t->force) status = remove_others(t, fresh, first, error);
    if (status == GS_OK) gs_run_files_sweep(&t->files); /* the log's lock is ours */
    return status;
}

void gs_training_outputs_end(struct gs_training *t) {
    gs_training_log_close(t->log);
    gs_run_table_close(t->speed);
    t->log = NULL;
    t->speed = NULL;
}

/* ---- saving ---------------------------------------------------------------------------------- */

/* Rows first, so that no checkpoint is ahead of the log even when the power fails; then what
 * resuming needs; the model last, so that a kill in between leaves at worst a model less. At step 0
 * there is nothing to resume. */
static enum gs_status save_files(struct gs_training *t, long long label, const char *model,
                                 const char *resume, struct gs_error *error) {
    enum gs_status status = gs_parameters_check_finite(gs_model_parameters(t->model), error);
    if (status == GS_OK && label != 0) {
        status = gs_training_log_sync(t->log, error);
        if (status == GS_OK) status = gs_run_table_sync(t->speed, error);
        if (status == GS_OK)
            status = gs_resume_save(resume, t->model, t->adamw, &t->position, &t->identity, error);
        if (status == GS_OK) t->safe_step = t->position.step;
    }
    if (status == GS_OK)
        status = gs_checkpoint_save(model, true, t->model, (int64_t)t->position.step,
                                    (int64_t)t->config->seed, error);
    return status;
}

enum gs_status gs_training_save(struct gs_training *t, long long label, struct gs_error *error) {
    char *model = gs_run_file_path(&t->files, GS_RUN_MODEL, label);
    char *resume = gs_run_file_path(&t->files, GS_RUN_RESUME, label);
    enum gs_status status = model && resume ? save_files(t, label, model, resume, error)
                                            : gs_fail_memory(error, 0, "a path");
    gs_free(model);
    gs_free(resume);
    /* one that cannot be removed now is tried again at the next save */
    if (status == GS_OK && label > 0 && t->config->keep > 0)
        gs_run_files_prune(&t->files, t->config->keep, t->config->save_at,
                           t->config->save_at_count);
    return status;
}

void gs_training_say_safe(const struct gs_training *t, struct gs_error *error) {
    if (!error || error->status == GS_INTERRUPTED || error->status == GS_NUMERIC) return;
    struct gs_error said = *error;
    const char *first = said.next[0] ? said.next : "mend this";
    if (t->safe_step > 0)
        gs_error_next(error, "%.150s; then the same command with --resume goes on from step %zu",
                      first, t->safe_step);
    else
        gs_error_next(error, "%.150s; then begin again with --resume", first);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static enum gs_status write_log_row(struct gs_training *t, struct gs_error *error) {
    struct gs_run_position *at = &t->position;
    double count = (double)(at->step - at->logged_step);
    for (size_t k = 0; k < at->metric_count; k++) at->metrics[k] /= count;
    enum gs_status status = gs_training_log_row(t->log, at->step, at->loss / count,
                                                gs_schedule_rate(&t->schedule, at->step),
                                                at->grad_norm / count, at->metrics, error);
    at->loss = at->grad_norm = 0;
    at->logged_step = at->step;
    for (size_t k = 0; k < at->metric_count; k++) at->metrics[k] = 0;
    return status;
}

enum gs_status gs_training_write_rows(struct gs_training *t, double loss, double tokens_a_second,
                                      struct gs_error *error) {
    const struct gs_training_plan *plan = &t->plan;
    const double left = (double)(plan->last_step - t->position.step) * (double)plan->tokens_a_step;
    const struct gs_training_speed speed = {.step = t->position.step,
                                            .loss = loss,
                                            .tokens = t->position.micro_batch *
                                                      t->config->batch_size * plan->window,
                                            .tokens_a_second = tokens_a_second,
                                            .seconds_left = left / tokens_a_second};
    enum gs_status status = write_log_row(t, error);
    if (status == GS_OK) status = gs_training_speed_row(t->speed, &speed, error);
    return status;
}
