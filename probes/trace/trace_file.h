/* trace_file.h - what an open trace is made of; for reader.c and trace_open.c alone. */
#ifndef GS_PROBES_TRACE_TRACE_FILE_H
#define GS_PROBES_TRACE_TRACE_FILE_H

#include "probes/trace/hdf5_file.h"
#include "probes/trace/reader.h"

enum { GS_TRACE_VERSION = 1, GS_TRACE_TEXTS = 10 };

struct gs_trace {
    struct gs_trace_info info;
    struct gs_h5 *h5;
    char *path;
    char *texts[GS_TRACE_TEXTS]; /* owners of the strings of info */
    uint64_t *start, *rows_written;
    struct gs_trace_stream *streams;
    struct gs_trace_memory *memories;
    struct gs_trace_read *reads;
    struct gs_h5_data *token, *nll, *names;
    struct gs_h5_data **states; /* (streams) */
    struct gs_h5_data **gates;  /* (memories, GS_MEMORY_FIELDS), NULL where absent */
    struct gs_h5_data **shares; /* (reads) */
};

#endif
