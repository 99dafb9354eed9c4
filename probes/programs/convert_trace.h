/* convert_trace.h - arrays of others as traces, and traces as arrays and CSV: the part of gpnscope
 * convert that knows them; and results as CSV. */
#ifndef GS_PROBES_PROGRAMS_CONVERT_TRACE_H
#define GS_PROBES_PROGRAMS_CONVERT_TRACE_H

#include "core/programs/command.h"

#include <stdbool.h>

struct gs_convert_trace_options {
    struct gs_list streams; /* of a trace: which; of a .npy: what to call its states */
    struct gs_list with;    /* NAME=FILE */
    const char *rows;       /* "A:B"; NULL: all */
    const char *to;         /* "npy", "npz", "csv", "h5"; NULL: by the output's ending */
    const char *rule;       /* of memories that are brought in; NULL: not said */
    size_t length, deflate;
    bool bfloat16; /* two-byte elements without a type's name */
};

/* call->files[0] into call->output. */
enum gs_status gs_convert_arrays(const struct gs_call *call,
                                 const struct gs_convert_trace_options *options,
                                 struct gs_error *error);
enum gs_status gs_convert_trace(const struct gs_call *call,
                                const struct gs_convert_trace_options *options,
                                struct gs_error *error);
/* Values and tables as CSV files in the folder call->output. */
enum gs_status gs_convert_results(const struct gs_call *call, struct gs_error *error);

#endif
