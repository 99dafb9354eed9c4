#include "analyses/horizon/horizon.h"
#include "analyses/stats/each.h"
#include "core/base/memory.h"
#include "core/results/replicates.h"

#include <stdlib.h>
#include <string.h>

struct named {
    char *name;
    size_t sequence;
};

static int by_name(const void *left, const void *right) {
    const struct named *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

/* The same number for sequences of the same name. *distinct: how many names there are. */
static void number_documents(struct named *names, size_t count, uint64_t *document,
                             size_t *distinct) {
    qsort(names, count, sizeof *names, by_name);
    *distinct = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(names[i].name, names[i - 1].name) != 0) ++*distinct;
        document[names[i].sequence] = *distinct;
    }
}

static enum gs_status read_names(struct gs_trace *trace, struct named *names, size_t count,
                                 bool *all, struct gs_error *error) {
    *all = true;
    for (size_t s = 0; s < count; s++) {
        names[s].sequence = s;
        enum gs_status status = gs_trace_sequence_name(trace, s, &names[s].name, error);
        if (status != GS_OK) return status;
        if (!names[s].name) *all = false;
    }
    return GS_OK;
}

/* *document: an array of the caller's, or NULL when every sequence stands for itself. */
static enum gs_status find_documents(struct gs_trace *trace, uint64_t **document, size_t *distinct,
                                     struct gs_error *error) {
    const struct gs_trace_info *info = gs_trace_info(trace);
    *document = NULL;
    *distinct = info->sequences;
    if (!info->has_names) return GS_OK;
    struct named *names = gs_calloc(info->sequences, sizeof *names);
    uint64_t *numbers = gs_calloc(info->sequences, sizeof *numbers);
    bool all = false;
    enum gs_status status =
        names && numbers
            ? read_names(trace, names, info->sequences, &all, error)
            : gs_fail_memory(error, info->sequences * sizeof *names, "names of sequences");
    if (status == GS_OK && all) number_documents(names, info->sequences, numbers, distinct);
    for (size_t s = 0; names && s < info->sequences; s++) gs_free(names[s].name);
    gs_free(names);
    /* one document alone has no other to be compared with; its sequences have each other */
    if (status != GS_OK || !all || *distinct < 2)
        gs_free(numbers);
    else
        *document = numbers;
    return status;
}

static enum gs_status say_documents(const struct gs_trace *trace, bool by_document, size_t distinct,
                                    struct gs_results *results, struct gs_error *error) {
    const struct gs_trace_info *info = gs_trace_info(trace);
    enum gs_status status = GS_OK;
    if (!info->has_names && info->sequences > 1)
        status = gs_results_note(results,
                                 "the trace names no documents: each sequence counts as one of its "
                                 "own for the null, though neighbours may hold parts of one text",
                                 error);
    if (status == GS_OK && !by_document && distinct == 1 && info->sequences > 1)
        status = gs_results_note(results,
                                 "all sequences come from one document: the null pairs different "
                                 "sequences of it",
                                 error);
    return status;
}

static enum gs_status measure_stream(struct gs_trace *trace, size_t stream,
                                     const struct gs_horizon_plan *plan,
                                     const struct gs_bootstrap *bootstrap,
                                     const struct gs_progress *progress, struct gs_results *results,
                                     struct gs_error *error) {
    size_t distinct;
    uint64_t *document = NULL;
    struct gs_horizon *horizon = NULL;
    struct gs_horizon_plan full = *plan;
    enum gs_status status = find_documents(trace, &document, &distinct, error);
    if (status == GS_OK) {
        struct gs_rows rows = gs_rows_of_state(trace, stream);
        full.document = document;
        status = gs_horizon_measure(&rows, &full, progress, &horizon, error);
    }
    if (status == GS_OK) status = say_documents(trace, document, distinct, results, error);
    if (status == GS_OK) status = gs_rows_note_incomplete(trace, results, error);
    if (status == GS_OK) status = gs_horizon_results(horizon, bootstrap, results, error);
    gs_horizon_destroy(horizon);
    gs_free(document);
    return status;
}

enum gs_status gs_horizon_of_trace(struct gs_trace *trace, const char *stream,
                                   const struct gs_horizon_plan *plan,
                                   const struct gs_bootstrap *bootstrap,
                                   const struct gs_progress *progress, struct gs_results *results,
                                   struct gs_error *error) {
    size_t index;
    enum gs_status status = gs_trace_find_stream(trace, stream, &index, error);
    if (status == GS_OK)
        status =
            gs_results_setting(results, "stream", gs_trace_info(trace)->streams[index].name, error);
    if (status != GS_OK) return status;
    return measure_stream(trace, index, plan, bootstrap, progress, results, error);
}

/* ---- every stream ---- */

struct each_stream {
    struct gs_trace *trace;
    const struct gs_horizon_plan *plan;
    const struct gs_bootstrap *bootstrap;
    bool keep; /* replicates */
};

static enum gs_status measure_one(const void *context, size_t index,
                                  const struct gs_progress *progress, struct gs_results *results,
                                  struct gs_error *error) {
    const struct each_stream *self = context;
    struct gs_bootstrap bootstrap = *self->bootstrap;
    bootstrap.progress = progress;
    if (self->keep) gs_results_keep_replicates(results);
    return measure_stream(self->trace, index, self->plan, &bootstrap, progress, results, error);
}

enum gs_status gs_horizon_of_streams(struct gs_trace *trace, const char *main,
                                     const struct gs_horizon_plan *plan,
                                     const struct gs_bootstrap *bootstrap,
                                     const struct gs_progress *progress, struct gs_results *results,
                                     struct gs_error *error) {
    static const char *const values[] = {"horizon.raw.k1",
                                         "horizon.raw.plateau",
                                         "horizon.centered_sequence.k1",
                                         "horizon.centered_sequence.efold",
                                         "horizon.centered_global.k1",
                                         "horizon.centered_global.plateau",
                                         "horizon.null.mean"};
    const struct each_stream context = {trace, plan, bootstrap,
                                        gs_results_keeps_replicates(results)};
    static const struct gs_each_table table = {"horizon_by_stream", values,
                                               sizeof values / sizeof *values};
    const struct gs_each_measure how = {measure_one, &context, progress};
    enum gs_status status = gs_results_setting(results, "stream", main ? main : "all", error);
    return status == GS_OK ? gs_each_stream_measured(trace, main, &how, &table, results, error)
                           : status;
}
