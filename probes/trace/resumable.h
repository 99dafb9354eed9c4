/* resumable.h - is the trace in a file the one that a plan describes, and how far is it? */
#ifndef GS_PROBES_TRACE_RESUMABLE_H
#define GS_PROBES_TRACE_RESUMABLE_H

#include "core/base/status.h"
#include "probes/trace/writer.h"

#include <stddef.h>

/* *unfinished is the first sequence of the trace at `path` that lacks rows, plan->sequences when
 * none does. GS_CONFIG names the first thing in which file and plan differ. */
enum gs_status gs_trace_resumable(const char *path, const struct gs_trace_plan *plan,
                                  size_t *unfinished, struct gs_error *error);

#endif
