/* measure_call.h - what the programs that measure a trace have in common. */
#ifndef GS_ANALYSES_PROGRAMS_MEASURE_CALL_H
#define GS_ANALYSES_PROGRAMS_MEASURE_CALL_H

#include "core/programs/command.h"
#include "core/results/results.h"
#include "probes/trace/reader.h"

#include <stdbool.h>

/* Open a trace that the user named; warns when it is not complete. */
enum gs_status gs_call_open_trace(const struct gs_call *call, const char *path,
                                  struct gs_trace **trace, struct gs_error *error);

/* --stream all, --memory all: each by itself. */
bool gs_call_names_all(const char *name);

/* Put measurements of `trace` into `results`, and finish the call. */
typedef enum gs_status gs_measure_function(const struct gs_call *call, struct gs_trace *trace,
                                           struct gs_results *results, struct gs_error *error);

/* The frame of a measuring command: refuse outputs that exist, open the trace that is the call's
 * first file, measure, and release everything. `command` names the results. */
enum gs_status gs_call_measure(const struct gs_call *call, const char *command,
                               gs_measure_function *measure, struct gs_error *error);

/* The same for one trace, trained or untrained. */
typedef enum gs_status gs_measure_part_function(const struct gs_call *call, struct gs_trace *trace,
                                                bool untrained, struct gs_results *results,
                                                struct gs_error *error);

/* Measure the trace, and beside it the untrained model's at null_path (analyses/stats/untrained.h);
 * NULL: alone. Files are recorded as sources. Does not finish the call. */
enum gs_status gs_call_measure_beside(const struct gs_call *call, struct gs_trace *trace,
                                      const char *null_path, gs_measure_part_function *measure,
                                      struct gs_results *results, struct gs_error *error);

#endif
