#include "core/training/loop.h"

#include "core/training/loop_state.h"
#include "core/training/outputs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- one step -------------------------------------------------------------------------------- */

struct step_result {
    double loss, grad_norm;
};

/* Gradients and metrics averaged over the step's micro-batches. */
static enum gs_status accumulate(struct gs_training *t, double *loss, struct gs_error *error) {
    size_t parts = t->config->grad_accum;
    memset(t->gradients->values, 0, t->gradients->stride * sizeof *t->gradients->values);
    memset(t->step_metrics, 0, t->position.metric_count * sizeof *t->step_metrics);
    *loss = 0;
    for (size_t i = 0; i < parts; i++) {
        double part = 0;
        enum gs_status status =
            gs_micro_batch_run(t->micro_batch, t->tokens, t->position.micro_batch + i,
                               1 / (double)parts, t->gradients, &part, error);
        if (status != GS_OK) return status;
        *loss += part / (double)parts;
        for (size_t k = 0; k < t->position.metric_count; k++)
            t->step_metrics[k] += t->micro_batch->metrics[k] / (double)parts;
    }
    return GS_OK;
}

static enum gs_status take_step(struct gs_training *t, struct step_result *result,
                                struct gs_error *error) {
    struct gs_run_position *at = &t->position;
    enum gs_status status = accumulate(t, &result->loss, error);
    if (status != GS_OK) return status;
    result->grad_norm = gs_adamw_norm(t->adamw, t->gradients);
    if (isfinite(result->grad_norm)) {
        gs_adamw_update(t->adamw, gs_model_parameters(t->model), t->gradients, result->grad_norm,
                        gs_schedule_rate(&t->schedule, at->step));
        at->skipped_in_a_row = 0;
        status = gs_runner_refresh(t->micro_batch->runner, error);
    } else {
        at->skipped++;
        at->skipped_in_a_row++;
    }
    at->step++;
    at->micro_batch += t->config->grad_accum;
    at->loss += result->loss;
    at->grad_norm += result->grad_norm;
    for (size_t k = 0; k < at->metric_count; k++) at->metrics[k] += t->step_metrics[k];
    return status;
}

/* ---- saying how far it is -------------------------------------------------------------------- */

static double tokens_a_second(const struct gs_training *t, double start) {
    uint64_t steps = t->position.step - t->plan.first_step;
    return (double)(steps * t->plan.tokens_a_step) / fmax(now() - start, 1e-9);
}

static void report_progress(const struct gs_training *t, const struct gs_progress *progress,
                            const struct step_result *step, double speed) {
    const struct gs_training_plan *plan = &t->plan;
    uint64_t done = (t->position.step - plan->first_step) * plan->tokens_a_step;
    uint64_t total = (plan->last_step - plan->first_step) * plan->tokens_a_step;
    char note[128];
    int used = snprintf(note, sizeof note, "step %zu/%zu, loss %.4f, %.0f tokens/s",
                        t->position.step, plan->last_step, step->loss, speed);
    if (t->position.skipped > 0)
        snprintf(note + used, sizeof note - (size_t)used, ", %zu skipped", t->position.skipped);
    gs_progress_report(progress, (double)done, (double)total, note);
}

/* ---- ways to end ----------------------------------------------------------------------------- */

static enum gs_status stop_on_request(struct gs_training *t, struct gs_error *error) {
    enum gs_status status = gs_training_save(t, (long long)t->position.step, error);
    if (status != GS_OK) return status;
    gs_fail(error, GS_INTERRUPTED, "stopped on request after step %zu, which is saved",
            t->position.step);
    gs_error_where(error, "%s", t->files.checkpoint);
    gs_error_next(error, "the same command with --resume goes on from there");
    return GS_INTERRUPTED;
}

/* The weights are those before the first of the bad steps. */
static enum gs_status stop_on_numbers(struct gs_training *t, const struct step_result *step,
                                      struct gs_error *error) {
    t->position.skipped_in_a_row = 0;
    struct gs_error why_not = {0};
    enum gs_status saved = gs_training_save(t, (long long)t->position.step, &why_not);
    gs_fail(error, GS_NUMERIC, "the gradient was not finite in %d steps in a row, up to step %zu",
            GS_TRAINING_PATIENCE, t->position.step);
    gs_error_expected(error, "a finite gradient norm");
    gs_error_found(error, "a norm of %g", fabs(step->grad_norm));
    gs_error_where(error, "%s", t->config->source);
    if (saved == GS_OK)
        gs_error_next(error,
                      "the last good weights are saved as step %zu; a lower learning_rate "
                      "or grad_clip_norm may help",
                      t->position.step);
    else
        gs_error_next(error, "the last weights could not be saved: %.150s", why_not.what);
    return GS_NUMERIC;
}

/* ---- the run --------------------------------------------------------------------------------- */

static bool is_saved_step(const struct gs_training_config *config, size_t step) {
    if (step % config->save_every == 0) return true;
    for (size_t i = 0; i < config->save_at_count; i++)
        if (config->save_at[i] == step) return true;
    return false;
}

static enum gs_status after_step(struct gs_training *t, const struct step_result *step,
                                 double speed, struct gs_error *error) {
    enum gs_status status = GS_OK;
    if (t->position.step % t->config->log_every == 0)
        status = gs_training_write_rows(t, step->loss, speed, error);
    if (status == GS_OK && t->position.skipped_in_a_row >= GS_TRAINING_PATIENCE)
        return stop_on_numbers(t, step, error);
    if (status == GS_OK && is_saved_step(t->config, t->position.step))
        status = gs_training_save(t, (long long)t->position.step, error);
    return status;
}

static enum gs_status run_steps(struct gs_training *t, const struct gs_progress *progress,
                                struct gs_training_report *report, struct gs_error *error) {
    double start = now();
    enum gs_status status = GS_OK;
    while (t->position.step < t->plan.last_step && status == GS_OK) {
        struct step_result step = {0};
        status = take_step(t, &step, error);
        if (status != GS_OK) break;
        report->loss = step.loss;
        report->seconds = now() - start;
        double speed = tokens_a_second(t, start);
        report_progress(t, progress, &step, speed);
        status = after_step(t, &step, speed, error);
        if (status == GS_OK && t->position.step < t->plan.last_step && gs_progress_stop(progress))
            status = stop_on_request(t, error);
    }
    return status;
}

static void fill_report(const struct gs_training *t, struct gs_training_report *report) {
    const struct gs_training_plan *plan = &t->plan;
    report->step = t->position.step;
    report->skipped = t->position.skipped;
    report->tokens_used = t->position.micro_batch * t->config->batch_size * plan->window;
    report->exhausted = report->step == plan->last_step && plan->last_step < plan->wanted_step;
    if (report->exhausted) report->tokens_dropped = plan->tokens - report->tokens_used;
    uint64_t tokens = (t->position.step - plan->first_step) * plan->tokens_a_step;
    if (report->seconds > 0) report->tokens_a_second = (double)tokens / report->seconds;
}

enum gs_status gs_training_run(struct gs_training *training, const struct gs_progress *progress,
                               struct gs_training_report *report, struct gs_error *error) {
    struct gs_training_report unused;
    if (!report) report = &unused;
    memset(report, 0, sizeof *report);
    enum gs_status status = gs_training_outputs_begin(training, error);
    if (status == GS_OK) {
        status = run_steps(training, progress, report, error);
        if (status == GS_OK) status = gs_training_save(training, GS_RUN_FINAL, error);
        if (status != GS_OK) gs_training_say_safe(training, error);
    }
    gs_training_outputs_end(training);
    fill_report(training, report);
    return status;
}
