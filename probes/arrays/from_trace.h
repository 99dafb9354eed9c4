/* from_trace.h - rows of a trace as somebody else's arrays: .npy, .npz, CSV. */
#ifndef GS_PROBES_ARRAYS_FROM_TRACE_H
#define GS_PROBES_ARRAYS_FROM_TRACE_H

#include "core/base/progress.h"
#include "core/base/status.h"
#include "probes/trace/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gs_array_format { GS_ARRAYS_NPY, GS_ARRAYS_NPZ, GS_ARRAYS_CSV };

struct gs_arrays_export {
    enum gs_array_format format;
    const char *const *streams; /* (stream_count) */
    size_t stream_count; /* 0: all of them for NPZ, else the one that gs_trace_find_stream finds */
    uint64_t first, end; /* rows first … end - 1; both 0: all */
    bool force;          /* an existing output is replaced */
};

/* NPY: one stream as (rows, d), float16 where the trace holds that, else float32 (bfloat16 and
 * rounded doubles come through exactly). NPZ: streams, and, where the trace has them, tokens, nll,
 * gates and shares, under the trace's own paths ("state/predicted"), and sequence/start and
 * sequence/name of the sequences that the rows touch, counted from the first row given. CSV: one
 * stream, with row, sequence, step, token and nll in front of its columns 0, 1, …, as many digits
 * as read back the same float32; an nll that is none is an empty field. GS_RANGE when rows are not
 * there or not yet written, GS_USAGE for several streams where one is wanted. Rows go through in
 * pieces. */
enum gs_status gs_trace_to_arrays(struct gs_trace *trace, const struct gs_arrays_export *options,
                                  const char *output, const struct gs_progress *progress,
                                  struct gs_error *error);

#endif
