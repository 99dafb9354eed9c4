#include "reports/page/measure.h"

#include "analyses/default_token/default_token.h"
#include "analyses/geometry/geometry.h"
#include "analyses/horizon/horizon.h"
#include "analyses/loss/loss_by_position.h"
#include "analyses/retention/retention.h"
#include "analyses/stats/each.h"
#include "analyses/stats/untrained.h"
#include "analyses/verify/runs.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/models/model.h"
#include "core/results/replicates.h"
#include "reports/page/beside_untrained.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char no_checkpoint[] =
    "decoding the mean state needs the checkpoint that the trace was made with: give --checkpoint "
    "FILE, and for the pieces of tokens --tokenizer FILE, for the counts of the training text "
    "--counts DATA";
static const char no_memory[] =
    "retention needs the gates of a memory (/memory/NAME/log_decay), and the trace holds none; a "
    "model without memory has none";
static const char no_loss[] =
    "the loss needs what the model predicted (/nll), and the trace holds none; gpnscope trace "
    "records it for models that decode";

/* ---- the five analyses, each with one face ---- */

struct job {
    const struct gs_report_inputs *inputs;
    const struct gs_progress *progress;
    struct gs_bootstrap bootstrap;
    struct gs_trace *trace, *null;
    const char *checkpoint; /* of this trace */
    const char *stream;     /* whose values stand under plain names */
    bool side_by_side;      /* all streams and memories are measured */
};

/* The stream that is shown in whole, and whether the others stand beside it. */
static enum gs_status choose_streams(struct job *job, struct gs_error *error) {
    const struct gs_trace_info *info = gs_trace_info(job->trace);
    const char *wanted = job->inputs->stream;
    bool all = wanted && strcmp(wanted, "all") == 0;
    size_t index;
    job->side_by_side = info->stream_count > 1 && (all || (!wanted && gs_has_layers(job->trace)));
    enum gs_status status = gs_trace_find_stream(job->trace, all ? NULL : wanted, &index, error);
    if (status == GS_OK) job->stream = info->streams[index].name;
    return status;
}

static enum gs_status geometry(const struct job *job, struct gs_results *results,
                               struct gs_error *error) {
    struct gs_geometry_options options = {.seed = job->inputs->seed, .progress = job->progress};
    return job->side_by_side
               ? gs_geometry_of_streams(job->trace, job->stream, &options, results, error)
               : gs_geometry_of_trace(job->trace, job->stream, &options, results, error);
}

static enum gs_status default_token(const struct job *job, struct gs_results *results,
                                    struct gs_error *error) {
    const struct gs_report_inputs *in = job->inputs;
    struct gs_default_options options = {.top = GS_DEFAULT_TOP,
                                         .replicates = GS_DEFAULT_REPLICATES,
                                         .draws = GS_DEFAULT_DRAWS,
                                         .seed = in->seed,
                                         .progress = job->progress};
    enum gs_status status = gs_results_source(results, job->checkpoint, NULL, error);
    if (status == GS_OK && in->tokenizer)
        status = gs_results_source(results, in->tokenizer, NULL, error);
    if (status == GS_OK && in->counts) status = gs_results_source(results, in->counts, NULL, error);
    if (status != GS_OK) return status;
    const struct gs_default_inputs inputs = {job->checkpoint, in->tokenizer, in->counts};
    return job->side_by_side
               ? gs_default_token_of_streams(job->trace, true, &inputs, &options, results, error)
               : gs_default_token_of_trace(job->trace, NULL, &inputs, &options, results, error);
}

static enum gs_status horizon(const struct job *job, struct gs_results *results,
                              struct gs_error *error) {
    struct gs_horizon_plan plan = {.seed = job->inputs->seed};
    return job->side_by_side ? gs_horizon_of_streams(job->trace, job->stream, &plan,
                                                     &job->bootstrap, job->progress, results, error)
                             : gs_horizon_of_trace(job->trace, job->stream, &plan, &job->bootstrap,
                                                   job->progress, results, error);
}

static enum gs_status retention(const struct job *job, struct gs_results *results,
                                struct gs_error *error) {
    struct gs_retention_plan plan = {0};
    return gs_trace_info(job->trace)->memory_count > 1
               ? gs_retention_of_memories(job->trace, NULL, job->null, &plan, &job->bootstrap,
                                          job->progress, results, error)
               : gs_retention_of_trace(job->trace, NULL, job->null, &plan, &job->bootstrap,
                                       job->progress, results, error);
}

static enum gs_status loss(const struct job *job, struct gs_results *results,
                           struct gs_error *error) {
    return gs_loss_of_trace(job->trace, job->inputs->loss_first, &job->bootstrap, job->progress,
                            results, error);
}

static enum gs_status (*const analyses[GS_PARTS])(const struct job *, struct gs_results *,
                                                  struct gs_error *) = {
    [GS_PART_GEOMETRY] = geometry,
    [GS_PART_DEFAULT] = default_token,
    [GS_PART_HORIZON] = horizon,
    [GS_PART_RETENTION] = retention,
    [GS_PART_LOSS] = loss};

/* Why a part cannot be made of this trace; NULL: it can. */
static const char *absent(const struct job *job, enum gs_part part) {
    const struct gs_trace_info *info = gs_trace_info(job->trace);
    if (part == GS_PART_DEFAULT && !job->checkpoint) return no_checkpoint;
    if (part == GS_PART_LOSS && !info->has_nll) return no_loss;
    if (part != GS_PART_RETENTION) return NULL;
    for (size_t i = 0; i < info->memory_count; i++)
        if (info->memories[i].has[GS_MEMORY_LOG_DECAY]) return NULL;
    return no_memory;
}

/* As gs_call_finish does: a whole number as long as JSON has one for it. */
static enum gs_status record_seed(uint64_t seed, struct gs_results *results,
                                  struct gs_error *error) {
    char text[32];
    if (seed <= INT64_MAX) return gs_results_setting_integer(results, "seed", (int64_t)seed, error);
    snprintf(text, sizeof text, "%" PRIu64, seed);
    return gs_results_setting(results, "seed", text, error);
}

static enum gs_status measure_part(const struct job *job, enum gs_part part, const char *sha256,
                                   const char *null_sha256, struct gs_results **results,
                                   struct gs_error *error) {
    *results = gs_results_create(gs_part_command(part));
    if (!*results) return gs_fail_memory(error, 0, "the results");
    if (job->inputs->null) gs_results_keep_replicates(*results);
    const char *path = gs_trace_info(job->trace)->path;
    enum gs_status status = gs_results_source(*results, path, sha256, error);
    if (status == GS_OK && job->null && part == GS_PART_RETENTION)
        status = gs_results_source(*results, gs_trace_info(job->null)->path, null_sha256, error);
    if (status == GS_OK) status = record_seed(job->inputs->seed, *results, error);
    if (status == GS_OK && job->inputs->command_line)
        status = gs_results_setting(*results, "command_line", job->inputs->command_line, error);
    return status == GS_OK ? analyses[part](job, *results, error) : status;
}

/* Has this memory, so that the untrained model's heads can stand beside the model's. */
static bool has_gates(struct gs_trace *trace) {
    const struct gs_trace_info *info = gs_trace_info(trace);
    for (size_t i = 0; i < info->memory_count; i++)
        if (info->memories[i].has[GS_MEMORY_LOG_DECAY]) return true;
    return false;
}

static enum gs_status measure_model(const struct gs_report_inputs *inputs,
                                    const struct gs_progress *progress,
                                    struct gs_report_measured *measured, struct gs_error *error) {
    struct job job = {.inputs = inputs,
                      .progress = progress,
                      .bootstrap = {inputs->seed, GS_BOOTSTRAP_REPLICATES, progress},
                      .checkpoint = inputs->checkpoint,
                      .trace = measured->trace};
    if (measured->null && has_gates(measured->null)) job.null = measured->null;
    enum gs_status chosen = choose_streams(&job, error);
    if (chosen != GS_OK) return chosen;
    for (size_t part = 0; part < GS_PARTS; part++) {
        measured->run.absent[part] = absent(&job, (enum gs_part)part);
        if (measured->run.absent[part]) continue;
        if (gs_progress_stop(progress)) return gs_fail(error, GS_INTERRUPTED, "stopped on request");
        enum gs_status status = measure_part(&job, (enum gs_part)part, measured->sha256,
                                             measured->null_sha256, &measured->owned[part], error);
        if (status != GS_OK) return status;
        measured->run.results[part] = measured->owned[part];
    }
    return GS_OK;
}

/* The untrained model's numbers beside the model's; retention has its own. */
static enum gs_status measure_null(const struct gs_report_inputs *inputs,
                                   const struct gs_progress *progress,
                                   struct gs_report_measured *measured, struct gs_error *error) {
    static const enum gs_part parts[] = {GS_PART_GEOMETRY, GS_PART_DEFAULT, GS_PART_HORIZON,
                                         GS_PART_LOSS};
    struct job job = {.inputs = inputs,
                      .progress = progress,
                      .bootstrap = {inputs->seed, GS_BOOTSTRAP_REPLICATES, progress},
                      .checkpoint = measured->null_checkpoint,
                      .trace = measured->null};
    enum gs_status chosen = measured->null ? choose_streams(&job, error) : GS_OK;
    if (chosen != GS_OK) return chosen;
    for (size_t i = 0; measured->null && i < sizeof parts / sizeof *parts; i++) {
        enum gs_part part = parts[i];
        if (!measured->run.results[part] || absent(&job, part)) continue;
        if (gs_progress_stop(progress)) return gs_fail(error, GS_INTERRUPTED, "stopped on request");
        struct gs_results **results = &measured->owned[GS_PARTS + part];
        enum gs_status status =
            measure_part(&job, part, measured->null_sha256, NULL, results, error);
        if (status != GS_OK) return status;
        measured->run.null_results[part] = *results;
        status = gs_report_beside_untrained(measured->owned[part], *results,
                                            gs_untrained_same_rows(measured->trace, measured->null),
                                            error);
        if (status != GS_OK) return status;
    }
    return GS_OK;
}

/* ---- what the trace says about itself ---- */

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* "d_state 256, d_emb 128, …" and the number of parameters, where the config is one of ours. A
 * trace of somebody else's may say anything: then it is shown as it is. */
static void describe_model(const struct gs_trace_info *info, struct gs_report_measured *measured) {
    struct gs_json *config = NULL;
    struct gs_model *model = NULL;
    measured->run.parameters = -1;
    if (!info->config) return;
    if (gs_json_parse(info->config, strlen(info->config), info->path, &config, NULL) == GS_OK) {
        const struct gs_json *part = gs_json_get(config, "model");
        const char *kind = gs_json_string(gs_json_get(config, "kind"));
        if (!kind) kind = info->model;
        if (kind && part && gs_model_create(kind, part, &model, NULL) == GS_OK)
            measured->run.parameters = (int64_t)gs_model_parameters(model)->count;
        struct gs_text words = {0};
        for (size_t i = 0; i < gs_json_size(part); i++) {
            char *value = gs_json_text(gs_json_value_at(part, i), 0);
            gs_text_add(&words, "%s%s %s", i ? ", " : "", gs_json_key_at(part, i),
                        value ? value : "");
            gs_free(value);
        }
        if (words.size && !words.failed) measured->config = gs_strdup(words.bytes);
        gs_text_free(&words);
    }
    if (!measured->config) measured->config = gs_strdup(info->config);
    gs_model_destroy(model);
    gs_json_destroy(config);
}

static enum gs_status describe(const struct gs_report_inputs *inputs,
                               struct gs_report_measured *measured, struct gs_error *error) {
    const struct gs_trace_info *info = gs_trace_info(measured->trace);
    struct gs_report_run *run = &measured->run;
    struct job job = {.inputs = inputs, .trace = measured->trace};
    enum gs_status status = choose_streams(&job, error);
    if (status != GS_OK) return status;
    measured->name = gs_strdup(base_name(inputs->trace));
    if (inputs->checkpoint) measured->checkpoint = gs_strdup(inputs->checkpoint);
    describe_model(info, measured);
    run->name = measured->name;
    run->path = info->path;
    run->sha256 = measured->sha256;
    run->model = info->model;
    run->config = measured->config;
    run->stream = job.stream;
    run->created = info->created;
    run->creator = info->creator;
    run->checkpoint_path = measured->checkpoint;
    run->checkpoint_sha256 = info->checkpoint_sha256;
    run->null_path = measured->null ? gs_trace_info(measured->null)->path : NULL;
    run->step = info->step;
    run->seed = info->seed;
    run->sequences = info->sequences;
    for (size_t i = 0; i < info->sequences; i++) run->rows += info->rows_written[i];
    return measured->name ? GS_OK : gs_fail_memory(error, 0, "a name");
}

static enum gs_status open_all(const struct gs_report_inputs *inputs,
                               struct gs_report_measured *measured, struct gs_error *error) {
    enum gs_status status = gs_trace_open(inputs->trace, &measured->trace, error);
    if (status == GS_OK && inputs->null)
        status = gs_trace_open(inputs->null, &measured->null, error);
    if (status == GS_OK && measured->null && !inputs->null_checkpoint)
        status = gs_verify_find_checkpoint(gs_trace_info(measured->null),
                                           &measured->null_checkpoint, error);
    if (status == GS_OK && measured->null && inputs->null_checkpoint) {
        measured->null_checkpoint = gs_strdup(inputs->null_checkpoint);
        if (!measured->null_checkpoint) status = gs_fail_memory(error, 0, "a path");
    }
    if (status == GS_OK && measured->null)
        status = gs_untrained_check(measured->trace, measured->null, error);
    if (status == GS_OK) status = gs_sha256_path(inputs->trace, measured->sha256, error);
    if (status == GS_OK && inputs->null)
        status = gs_sha256_path(inputs->null, measured->null_sha256, error);
    return status;
}

enum gs_status gs_report_loss_first(const char *path, uint64_t *first, struct gs_error *error) {
    struct gs_trace *trace;
    *first = 0;
    enum gs_status status = gs_trace_open(path, &trace, error);
    if (status != GS_OK) return status;
    if (gs_trace_info(trace)->has_nll) *first = gs_trace_info(trace)->nll_first;
    gs_trace_close(trace);
    return GS_OK;
}

enum gs_status gs_report_measure(const struct gs_report_inputs *inputs,
                                 const struct gs_progress *progress,
                                 struct gs_report_measured *measured, struct gs_error *error) {
    *measured = (struct gs_report_measured){0};
    enum gs_status status = open_all(inputs, measured, error);
    if (status == GS_OK) status = describe(inputs, measured, error);
    if (status == GS_OK) status = measure_model(inputs, progress, measured, error);
    if (status == GS_OK) status = measure_null(inputs, progress, measured, error);
    if (status != GS_OK) gs_report_measured_free(measured);
    return status;
}

void gs_report_measured_free(struct gs_report_measured *measured) {
    for (size_t i = 0; i < sizeof measured->owned / sizeof *measured->owned; i++)
        gs_results_destroy(measured->owned[i]);
    gs_trace_close(measured->trace);
    gs_trace_close(measured->null);
    gs_free(measured->name);
    gs_free(measured->config);
    gs_free(measured->checkpoint);
    gs_free(measured->null_checkpoint);
    *measured = (struct gs_report_measured){0};
}
