#include "analyses/verify/measured.h"

#include "analyses/default_token/default_token.h"
#include "analyses/geometry/geometry.h"
#include "analyses/horizon/horizon.h"
#include "analyses/retention/retention.h"
#include "analyses/stats/untrained.h"

#include <string.h>

static const char no_checkpoint[] =
    "needs the checkpoint that the trace was made with: put it beside the trace, or give "
    "--checkpoint";
static const char no_memory[] = "the model has no memory whose heads could be measured";

enum gs_verify_part gs_verify_part_of(const char *statistic) {
    static const struct {
        const char *begin;
        enum gs_verify_part part;
    } parts[] = {{"default.", GS_VERIFY_DEFAULT},
                 {"horizon.", GS_VERIFY_HORIZON},
                 {"retention.", GS_VERIFY_RETENTION},
                 {"split.", GS_VERIFY_RETENTION}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strncmp(statistic, parts[i].begin, strlen(parts[i].begin)) == 0) return parts[i].part;
    return GS_VERIFY_GEOMETRY;
}

/* ---- the analyses, each with one face ---- */

struct job {
    const struct gs_verify_subject *subject;
    const struct gs_verify_how *how;
    const char *stream;
};

static struct gs_bootstrap bootstrap_of(const struct gs_verify_how *how) {
    return (struct gs_bootstrap){
        how->seed, how->replicates ? how->replicates : GS_BOOTSTRAP_REPLICATES, how->progress};
}

static enum gs_status geometry(const struct job *job, struct gs_results *results,
                               struct gs_error *error) {
    const struct gs_geometry_options options = {.replicates_given = job->how->replicates > 0,
                                                .replicates = job->how->replicates,
                                                .seed = job->how->seed,
                                                .progress = job->how->progress};
    return gs_geometry_of_trace(job->subject->trace, job->stream, &options, results, error);
}

static enum gs_status default_token(const struct job *job, struct gs_results *results,
                                    struct gs_error *error) {
    const struct gs_default_options options = {
        .top = GS_DEFAULT_TOP,
        .replicates = job->how->replicates ? job->how->replicates : GS_DEFAULT_REPLICATES,
        .draws = GS_DEFAULT_DRAWS,
        .seed = job->how->seed,
        .progress = job->how->progress};
    const struct gs_default_inputs inputs = {job->subject->checkpoint, job->how->tokenizer,
                                             job->how->counts};
    return gs_default_token_of_trace(job->subject->trace, NULL, &inputs, &options, results, error);
}

static enum gs_status horizon(const struct job *job, struct gs_results *results,
                              struct gs_error *error) {
    const struct gs_horizon_plan plan = {.seed = job->how->seed};
    const struct gs_bootstrap bootstrap = bootstrap_of(job->how);
    return gs_horizon_of_trace(job->subject->trace, job->stream, &plan, &bootstrap,
                               job->how->progress, results, error);
}

static bool has_gates(struct gs_trace *trace) {
    const struct gs_trace_info *info = gs_trace_info(trace);
    for (size_t i = 0; i < info->memory_count; i++)
        if (info->memories[i].has[GS_MEMORY_LOG_DECAY]) return true;
    return false;
}

static enum gs_status retention(const struct job *job, struct gs_results *results,
                                struct gs_error *error) {
    const struct gs_retention_plan plan = {0};
    const struct gs_bootstrap bootstrap = bootstrap_of(job->how);
    struct gs_trace *null = job->subject->null;
    return gs_retention_of_trace(job->subject->trace, NULL, null && has_gates(null) ? null : NULL,
                                 &plan, &bootstrap, job->how->progress, results, error);
}

static const struct {
    const char *command;
    enum gs_status (*measure)(const struct job *, struct gs_results *, struct gs_error *);
} analyses[GS_VERIFY_PARTS] = {[GS_VERIFY_GEOMETRY] = {"geometry", geometry},
                               [GS_VERIFY_DEFAULT] = {"default", default_token},
                               [GS_VERIFY_HORIZON] = {"horizon", horizon},
                               [GS_VERIFY_RETENTION] = {"retention", retention}};

/* Why a part cannot be measured; NULL: it can. */
static const char *absent(const struct gs_verify_subject *subject, enum gs_verify_part part) {
    if (part == GS_VERIFY_DEFAULT && !subject->checkpoint) return no_checkpoint;
    if (part == GS_VERIFY_RETENTION && !has_gates(subject->trace)) return no_memory;
    return NULL;
}

/* Beside the untrained model's, replicate by replicate; retention has compared its heads itself. */
static enum gs_status compare(const struct gs_verify_subject *subject,
                              const struct gs_verify_measured *measured, enum gs_verify_part part,
                              struct gs_error *error) {
    const struct gs_results *beside = subject->beside ? subject->beside->results[part] : NULL;
    struct gs_results *results = measured->results[part];
    if (!beside || part == GS_VERIFY_RETENTION) return GS_OK;
    enum gs_status status = gs_results_take_untrained(results, beside, error);
    return status == GS_OK
               ? gs_untrained_compare(results,
                                      gs_untrained_same_rows(subject->trace, subject->null), error)
               : status;
}

enum gs_status gs_verify_measure(const struct gs_verify_subject *subject,
                                 const struct gs_verify_how *how,
                                 struct gs_verify_measured *measured, struct gs_error *error) {
    const struct gs_trace_info *info = gs_trace_info(subject->trace);
    const struct job job = {subject, how, info->streams[subject->stream].name};
    enum gs_status status = GS_OK;
    *measured = (struct gs_verify_measured){.has_null = subject->null};
    for (int part = 0; status == GS_OK && part < GS_VERIFY_PARTS; part++) {
        if (!(how->parts & 1u << part)) continue;
        if (gs_progress_stop(how->progress))
            return gs_fail(error, GS_INTERRUPTED, "stopped on request");
        measured->absent[part] = absent(subject, (enum gs_verify_part)part);
        measured->inapplicable[part] = measured->absent[part] == no_memory;
        if (measured->absent[part]) continue;
        measured->results[part] = gs_results_create(analyses[part].command);
        if (!measured->results[part]) return gs_fail_memory(error, 0, "the results");
        gs_results_keep_replicates(measured->results[part]);
        status = analyses[part].measure(&job, measured->results[part], error);
        if (status == GS_OK) status = compare(subject, measured, (enum gs_verify_part)part, error);
    }
    return status;
}

void gs_verify_measured_free(struct gs_verify_measured *measured) {
    for (size_t i = 0; i < GS_VERIFY_PARTS; i++) gs_results_destroy(measured->results[i]);
    *measured = (struct gs_verify_measured){0};
}
