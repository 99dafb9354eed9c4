/* copy.h - a trace, whoever wrote it, as one of ours. */
#ifndef GS_PROBES_TRACE_COPY_H
#define GS_PROBES_TRACE_COPY_H

#include "core/base/progress.h"
#include "core/base/status.h"
#include "probes/trace/reader.h"

#include <stdbool.h>

/* All datasets and labels of a complete trace into `output`, which appears under its name when it
 * is whole: chunks of whole rows, deflated at level `deflate` (0: not), states in the type they
 * have (float64 becomes float32, as which they are read anyway), gates and losses in float32. What
 * else stands in the file stays behind. GS_CHECK_FAILED when the trace is not complete. */
enum gs_status gs_trace_copy(struct gs_trace *trace, const char *output, bool force, int deflate,
                             const struct gs_progress *progress, struct gs_error *error);

#endif
