#include "analyses/programs/measure_call.h"

#include "analyses/stats/untrained.h"

#include <string.h>

enum gs_status gs_call_open_trace(const struct gs_call *call, const char *path,
                                  struct gs_trace **trace, struct gs_error *error) {
    enum gs_status status = gs_trace_open(path, trace, error);
    if (status == GS_OK && !gs_trace_info(*trace)->complete)
        gs_call_warning(call, "%s is not complete: only the rows safely on disk are measured",
                        path);
    return status;
}

bool gs_call_names_all(const char *name) {
    return name && strcmp(name, "all") == 0;
}

enum gs_status gs_call_measure(const struct gs_call *call, const char *command,
                               gs_measure_function *measure, struct gs_error *error) {
    struct gs_trace *trace = NULL;
    enum gs_status status = gs_call_check_outputs(call, error);
    if (status == GS_OK) status = gs_call_open_trace(call, call->files[0], &trace, error);
    if (status != GS_OK) return status;
    struct gs_results *results = gs_results_create(command);
    status =
        results ? measure(call, trace, results, error) : gs_fail_memory(error, 0, "the results");
    gs_results_destroy(results);
    gs_trace_close(trace);
    return status;
}

struct beside {
    const struct gs_call *call;
    gs_measure_part_function *measure;
};

static enum gs_status measure_one(const void *context, struct gs_trace *trace, bool untrained,
                                  struct gs_results *results, struct gs_error *error) {
    const struct beside *beside = context;
    return beside->measure(beside->call, trace, untrained, results, error);
}

enum gs_status gs_call_measure_beside(const struct gs_call *call, struct gs_trace *trace,
                                      const char *null_path, gs_measure_part_function *measure,
                                      struct gs_results *results, struct gs_error *error) {
    enum gs_status status = gs_results_source_meanwhile(results, call->files[0], call->json, error);
    if (status != GS_OK) return status;
    if (!null_path) return measure(call, trace, false, results, error);
    struct gs_trace *untrained = NULL;
    const struct beside beside = {call, measure};
    const struct gs_untrained_measure how = {measure_one, &beside};
    status = gs_results_source_meanwhile(results, null_path, call->json, error);
    if (status == GS_OK) status = gs_call_open_trace(call, null_path, &untrained, error);
    if (status == GS_OK) status = gs_untrained_measured(trace, untrained, &how, results, error);
    gs_trace_close(untrained);
    return status;
}
