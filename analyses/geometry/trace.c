#include "analyses/geometry/geometry.h"
#include "analyses/stats/each.h"
#include "core/results/replicates.h"

static enum gs_status measure_stream(struct gs_trace *trace, size_t stream,
                                     const struct gs_geometry_options *options,
                                     struct gs_results *results, struct gs_error *error) {
    struct gs_rows rows = gs_rows_of_state(trace, stream);
    struct gs_geometry *geometry;
    enum gs_status status = gs_geometry_of_rows(&rows, options, &geometry, error);
    if (status != GS_OK) {
        if (error && !error->where[0])
            gs_error_where(error, "%s, /state/%s", gs_trace_info(trace)->path,
                           gs_trace_info(trace)->streams[stream].name);
        return status;
    }
    status = gs_rows_note_incomplete(trace, results, error);
    if (status == GS_OK) status = gs_geometry_report(geometry, results, error);
    gs_geometry_destroy(geometry);
    return status;
}

enum gs_status gs_geometry_of_trace(struct gs_trace *trace, const char *stream,
                                    const struct gs_geometry_options *options,
                                    struct gs_results *results, struct gs_error *error) {
    size_t index;
    enum gs_status status = gs_trace_find_stream(trace, stream, &index, error);
    if (status == GS_OK)
        status = gs_results_setting(results, "geometry.stream",
                                    gs_trace_info(trace)->streams[index].name, error);
    return status == GS_OK ? measure_stream(trace, index, options, results, error) : status;
}

/* ---- every stream ---- */

struct each_stream {
    struct gs_trace *trace;
    const struct gs_geometry_options *options;
    bool keep; /* replicates */
};

static enum gs_status measure_one(const void *context, size_t index,
                                  const struct gs_progress *progress, struct gs_results *results,
                                  struct gs_error *error) {
    const struct each_stream *self = context;
    struct gs_geometry_options own = *self->options;
    own.progress = progress;
    if (self->keep) gs_results_keep_replicates(results);
    return measure_stream(self->trace, index, &own, results, error);
}

enum gs_status gs_geometry_of_streams(struct gs_trace *trace, const char *main,
                                      const struct gs_geometry_options *options,
                                      struct gs_results *results, struct gs_error *error) {
    static const char *const values[] = {"state_norm.mean",
                                         "mean_energy",
                                         "stable_rank.centered",
                                         "stable_rank.uncentered",
                                         "participation_ratio",
                                         "effective_rank",
                                         "pcs_90",
                                         "corr.mean_abs"};
    const struct each_stream context = {trace, options, gs_results_keeps_replicates(results)};
    static const struct gs_each_table table = {"geometry_by_stream", values,
                                               sizeof values / sizeof *values};
    const struct gs_each_measure how = {measure_one, &context, options->progress};
    enum gs_status status =
        gs_results_setting(results, "geometry.stream", main ? main : "all", error);
    return status == GS_OK ? gs_each_stream_measured(trace, main, &how, &table, results, error)
                           : status;
}
