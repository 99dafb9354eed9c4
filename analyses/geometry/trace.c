#include "analyses/geometry/geometry.h"

enum gs_status gs_geometry_of_trace(struct gs_trace *trace, const char *stream,
                                    const struct gs_geometry_options *options,
                                    struct gs_results *results, struct gs_error *error) {
    size_t index;
    enum gs_status status = gs_trace_find_stream(trace, stream, &index, error);
    if (status != GS_OK) return status;
    struct gs_rows rows = gs_rows_of_state(trace, index);
    struct gs_geometry *geometry;
    status = gs_geometry_of_rows(&rows, options, &geometry, error);
    if (status != GS_OK) {
        if (error && !error->where[0])
            gs_error_where(error, "%s, /state/%s", gs_trace_info(trace)->path,
                           gs_trace_info(trace)->streams[index].name);
        return status;
    }
    status = gs_results_setting(results, "geometry.stream",
                                gs_trace_info(trace)->streams[index].name, error);
    if (status == GS_OK) status = gs_rows_note_incomplete(trace, results, error);
    if (status == GS_OK) status = gs_geometry_report(geometry, results, error);
    gs_geometry_destroy(geometry);
    return status;
}
