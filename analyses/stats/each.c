#include "analyses/stats/each.h"

#include "core/base/memory.h"
#include "probes/trace/layers.h"

bool gs_has_layers(const struct gs_trace *trace) {
    const struct gs_trace_info *info = gs_trace_info(trace);
    for (size_t i = 0; info->stream_count > 1 && i < info->stream_count; i++)
        if (gs_layer_number(info->streams[i].name) != UINT64_MAX) return true;
    return false;
}

static enum gs_status make(const char *kind, size_t room, struct gs_each *each,
                           struct gs_error *error) {
    *each = (struct gs_each){.kind = kind};
    each->name = gs_calloc(room, sizeof *each->name);
    each->index = gs_calloc(room, sizeof *each->index);
    if (each->name && each->index) return GS_OK;
    return gs_fail_memory(error, room * sizeof *each->name, "names of streams");
}

enum gs_status gs_each_stream(const struct gs_trace *trace, struct gs_each *each,
                              struct gs_error *error) {
    const struct gs_trace_info *info = gs_trace_info(trace);
    enum gs_status status = make("stream", info->stream_count, each, error);
    if (status != GS_OK) return status;
    for (; each->count < info->stream_count; each->count++) {
        each->name[each->count] = info->streams[each->count].name;
        each->index[each->count] = each->count;
    }
    return GS_OK;
}

enum gs_status gs_each_memory(const struct gs_trace *trace, struct gs_each *each,
                              struct gs_error *error) {
    const struct gs_trace_info *info = gs_trace_info(trace);
    enum gs_status status = make("memory", info->memory_count, each, error);
    if (status != GS_OK) return status;
    for (size_t i = 0; i < info->memory_count; i++) {
        if (!info->memories[i].has[GS_MEMORY_LOG_DECAY]) continue;
        each->index[each->count] = i;
        each->name[each->count++] = info->memories[i].name;
    }
    return GS_OK;
}

void gs_each_free(struct gs_each *each) {
    gs_free(each->name);
    gs_free(each->index);
    *each = (struct gs_each){0};
}

/* ---- measuring ---- */

/* The progress of a part within that of the whole. A part has phases that each begin anew: what was
 * reached stays reached. */
struct share {
    const struct gs_progress *whole;
    const struct gs_each *each;
    size_t part;
    double reached;
};

static void report_share(void *context, double done, double total, const char *note) {
    struct share *share = context;
    (void)note;
    double here = (double)share->part + (total > 0 ? done / total : 0);
    if (here > share->reached) share->reached = here;
    gs_progress_report(share->whole, share->reached, (double)share->each->count,
                       share->each->name[share->part]);
}

static bool stop_share(void *context) {
    const struct share *share = context;
    return gs_progress_stop(share->whole);
}

enum gs_status gs_each_run(const struct gs_each *each, const struct gs_each_measure *how,
                           struct gs_results_part **parts, struct gs_error *error) {
    *parts = gs_calloc(each->count, sizeof **parts);
    enum gs_status status =
        *parts ? GS_OK : gs_fail_memory(error, each->count * sizeof **parts, "results");
    struct share share = {how->progress, each, 0, 0};
    const struct gs_progress progress = {&share, report_share, stop_share};
    for (size_t i = 0; status == GS_OK && i < each->count; i++) {
        struct gs_results *own = gs_results_create(each->kind);
        share.part = i;
        (*parts)[i] = (struct gs_results_part){each->name[i], own};
        if (gs_progress_stop(how->progress))
            status =
                gs_fail(error, GS_INTERRUPTED, "stopped after %zu of %zu parts", i, each->count);
        else
            status = own ? how->measure(how->context, each->index[i], &progress, own, error)
                         : gs_fail_memory(error, 0, "results");
    }
    if (status == GS_OK) return GS_OK;
    gs_each_release(*parts, each->count);
    *parts = NULL;
    return status;
}

void gs_each_release(struct gs_results_part *parts, size_t count) {
    for (size_t i = 0; parts && i < count; i++)
        gs_results_destroy((struct gs_results *)(uintptr_t)parts[i].results);
    gs_free(parts);
}

enum gs_status gs_each_results(const struct gs_each *each, const struct gs_results_part *parts,
                               size_t main, const struct gs_each_table *table,
                               struct gs_results *results, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < each->count; i++)
        if (each->index[i] == main) status = gs_results_take(results, parts[i].results, error);
    if (status == GS_OK)
        status = gs_results_table_of_parts(results, table->name, each->kind, parts, each->count,
                                           table->values, table->count, error);
    return status == GS_OK ? gs_results_take_parts(results, each->kind, parts, each->count, error)
                           : status;
}

enum gs_status gs_each_stream_measured(struct gs_trace *trace, const char *main,
                                       const struct gs_each_measure *how,
                                       const struct gs_each_table *table,
                                       struct gs_results *results, struct gs_error *error) {
    struct gs_results_part *parts = NULL;
    struct gs_each each = {0};
    size_t plain = SIZE_MAX;
    enum gs_status status = main ? gs_trace_find_stream(trace, main, &plain, error) : GS_OK;
    if (status == GS_OK) status = gs_each_stream(trace, &each, error);
    if (status == GS_OK) status = gs_each_run(&each, how, &parts, error);
    if (status == GS_OK) status = gs_each_results(&each, parts, plain, table, results, error);
    gs_each_release(parts, each.count);
    gs_each_free(&each);
    return status;
}
