#include "analyses/verify/runs.h"

#include "core/base/memory.h"

#include <stdio.h>
#include <string.h>

static const struct gs_trace_info *info_of(const struct gs_verify_runs *runs, size_t trace) {
    return gs_trace_info(runs->traces[trace].trace);
}

/* ---- traces ---- */

static enum gs_status open_one(struct gs_verify_trace *trace, const char *path,
                               const char *checkpoint, const char *stream, struct gs_error *error) {
    enum gs_status status = gs_trace_open(path, &trace->trace, error);
    if (status == GS_OK) status = gs_trace_find_stream(trace->trace, stream, &trace->stream, error);
    if (status != GS_OK) return status;
    if (!checkpoint)
        return gs_verify_find_checkpoint(gs_trace_info(trace->trace), &trace->checkpoint, error);
    trace->checkpoint = gs_strdup(checkpoint);
    return trace->checkpoint ? GS_OK : gs_fail_memory(error, strlen(checkpoint), "a path");
}

static enum gs_status open_all(const struct gs_verify_inputs *in, struct gs_verify_runs *runs,
                               struct gs_error *error) {
    size_t all = in->trace_count + in->null_count;
    runs->traces = gs_calloc(all, sizeof *runs->traces);
    runs->runs = gs_calloc(in->trace_count, sizeof *runs->runs);
    if (!runs->traces || !runs->runs) return gs_fail_memory(error, 0, "runs");
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < all; i++) {
        bool null = i >= in->trace_count;
        size_t k = null ? i - in->trace_count : i;
        const char *const *checkpoints = null ? in->null_checkpoints : in->checkpoints;
        runs->trace_count++;
        status = open_one(runs->traces + i, null ? in->nulls[k] : in->traces[k],
                          checkpoints ? checkpoints[k] : NULL, in->stream, error);
    }
    return status;
}

/* Each against the first in everything, and all against each other in their checkpoints. */
static enum gs_status check_all(const struct gs_verify_runs *runs, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 1; status == GS_OK && i < runs->trace_count; i++) {
        status = gs_verify_check_pair(runs->traces[0].trace, runs->traces[i].trace, error);
        const char *own = info_of(runs, i)->checkpoint_sha256;
        for (size_t k = 1; status == GS_OK && own && own[0] && k < i; k++) {
            const char *other = info_of(runs, k)->checkpoint_sha256;
            if (other && strcmp(own, other) == 0)
                status = gs_verify_check_pair(runs->traces[k].trace, runs->traces[i].trace, error);
        }
    }
    return status;
}

/* ---- runs ---- */

static struct gs_verify_run *run_of_seed(struct gs_verify_runs *runs, int64_t seed) {
    for (size_t i = 0; seed >= 0 && i < runs->run_count; i++)
        if (runs->runs[i].seed == seed) return runs->runs + i;
    return NULL;
}

static enum gs_status fail_step(const struct gs_trace_info *a, const struct gs_trace_info *b,
                                struct gs_error *error) {
    bool known = a->step >= 0 && b->step >= 0;
    gs_fail(error, GS_CONFIG, "two traces are of one seed%s",
            known ? " and one step" : ", and their steps are not recorded");
    gs_error_found(error, "seed %lld%s", (long long)a->seed, known ? "" : ", no step");
    if (known)
        gs_error_found(error, "seed %lld, step %lld", (long long)a->seed, (long long)a->step);
    gs_error_where(error, "%s, %s", a->path, b->path);
    gs_error_next(error, "leave one of the two traces out: one seed is not two");
    return GS_CONFIG;
}

/* Into its place among the run's steps. */
static enum gs_status insert(const struct gs_verify_runs *runs, struct gs_verify_run *run,
                             size_t trace, struct gs_error *error) {
    const struct gs_trace_info *info = info_of(runs, trace);
    size_t at = run->count;
    for (; at > 0; at--) {
        const struct gs_trace_info *other = info_of(runs, run->steps[at - 1]);
        if (info->step < 0 || other->step < 0 || info->step == other->step)
            return fail_step(other, info, error);
        if (other->step < info->step) break;
        run->steps[at] = run->steps[at - 1];
    }
    run->steps[at] = trace;
    run->count++;
    return GS_OK;
}

static enum gs_status group(struct gs_verify_runs *runs, size_t count, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < count; i++) {
        int64_t seed = info_of(runs, i)->seed;
        struct gs_verify_run *run = run_of_seed(runs, seed);
        if (!run) {
            run = runs->runs + runs->run_count++;
            *run = (struct gs_verify_run){.seed = seed, .null = SIZE_MAX};
            run->steps = gs_calloc(count, sizeof *run->steps);
            if (!run->steps) return gs_fail_memory(error, count * sizeof *run->steps, "runs");
        }
        status = insert(runs, run, i, error);
    }
    return status;
}

/* Another seed's untrained model, or a trained one, would be compared without anybody's notice. */
static enum gs_status check_null(const struct gs_trace_info *trained,
                                 const struct gs_trace_info *null, struct gs_error *error) {
    bool other = trained->seed >= 0 && null->seed >= 0 && trained->seed != null->seed;
    if (!other && null->step <= 0) return GS_OK;
    gs_fail(error, GS_CONFIG,
            other ? "this untrained trace is of another seed than its run"
                  : "this is no trace of an untrained model");
    if (other) {
        gs_error_expected(error, "seed %lld, as %s", (long long)trained->seed, trained->path);
        gs_error_found(error, "seed %lld", (long long)null->seed);
    } else {
        gs_error_expected(error, "step 0");
        gs_error_found(error, "step %lld", (long long)null->step);
    }
    gs_error_where(error, "%s", null->path);
    gs_error_next(error, "give --null once for each run, in the order of the runs, each the trace "
                         "of the run's seed at step 0");
    return GS_CONFIG;
}

static enum gs_status choose_nulls(const struct gs_verify_inputs *in, struct gs_verify_runs *runs,
                                   struct gs_error *error) {
    if (in->null_count > 0 && in->null_count != runs->run_count) {
        gs_fail(error, GS_USAGE, "there must be an untrained trace for each run, or none at all");
        gs_error_expected(error, "%zu, in the order of the runs", runs->run_count);
        gs_error_found(error, "%zu", in->null_count);
        gs_error_next(error, "traces of step 0 among the others need no --null");
        return GS_USAGE;
    }
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < runs->run_count; i++) {
        struct gs_verify_run *run = runs->runs + i;
        if (in->null_count > 0) {
            run->null = in->trace_count + i;
            status = check_null(info_of(runs, gs_verify_end(run)), info_of(runs, run->null), error);
        } else if (run->count > 1 && info_of(runs, run->steps[0])->step == 0) {
            run->null = run->steps[0];
        }
    }
    return status;
}

/* ---- names ---- */

/* The last part of `path`, its length in *length; `folder`: the part before it, where there is one.
 */
static const char *part_of_path(const char *path, bool folder, size_t *length) {
    const char *slash = strrchr(path, '/'), *part = slash ? slash + 1 : path;
    *length = strlen(part);
    if (folder && slash && slash > path) {
        const char *from = slash;
        while (from > path && from[-1] != '/') from--;
        if (from < slash && strncmp(from, ".", (size_t)(slash - from)) != 0) {
            *length = (size_t)(slash - from);
            return from;
        }
    }
    if (*length > 3 && strcmp(part + *length - 3, ".h5") == 0) *length -= 3;
    return part;
}

static enum gs_status name_one(const struct gs_verify_runs *runs, struct gs_verify_run *run,
                               bool whole, struct gs_error *error) {
    const char *path = info_of(runs, gs_verify_end(run))->path;
    size_t length = strlen(path);
    const char *part = whole ? path : part_of_path(path, run->count > 1, &length);
    gs_free(run->name);
    run->name = gs_calloc(length + 1, 1);
    if (!run->name) return gs_fail_memory(error, length + 1, "a name");
    memcpy(run->name, part, length);
    return GS_OK;
}

static enum gs_status name_all(struct gs_verify_runs *runs, struct gs_error *error) {
    enum gs_status status = GS_OK;
    bool unique = true;
    for (size_t i = 0; status == GS_OK && i < runs->run_count; i++) {
        status = name_one(runs, runs->runs + i, false, error);
        for (size_t k = 0; status == GS_OK && k < i; k++)
            unique = unique && strcmp(runs->runs[i].name, runs->runs[k].name) != 0;
    }
    for (size_t i = 0; status == GS_OK && !unique && i < runs->run_count; i++)
        status = name_one(runs, runs->runs + i, true, error);
    return status;
}

/* ---- the whole ---- */

enum gs_status gs_verify_runs_open(const struct gs_verify_inputs *inputs,
                                   struct gs_verify_runs *runs, struct gs_error *error) {
    *runs = (struct gs_verify_runs){0};
    enum gs_status status = open_all(inputs, runs, error);
    if (status == GS_OK) status = check_all(runs, error);
    if (status == GS_OK) status = group(runs, inputs->trace_count, error);
    if (status == GS_OK) status = choose_nulls(inputs, runs, error);
    return status == GS_OK ? name_all(runs, error) : status;
}

void gs_verify_runs_close(struct gs_verify_runs *runs) {
    for (size_t i = 0; i < runs->trace_count; i++) {
        gs_trace_close(runs->traces[i].trace);
        gs_free(runs->traces[i].checkpoint);
    }
    for (size_t i = 0; i < runs->run_count; i++) {
        gs_free(runs->runs[i].name);
        gs_free(runs->runs[i].steps);
    }
    gs_free(runs->traces);
    gs_free(runs->runs);
    *runs = (struct gs_verify_runs){0};
}
