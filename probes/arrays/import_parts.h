/* import_parts.h - arrays on their way into a trace; for to_trace.c and its parts alone. */
#ifndef GS_PROBES_ARRAYS_IMPORT_PARTS_H
#define GS_PROBES_ARRAYS_IMPORT_PARTS_H

#include "probes/arrays/array_file.h"
#include "probes/arrays/roles.h"
#include "probes/arrays/to_trace.h"
#include "probes/trace/writer.h"

/* An array that has a place in the trace. */
struct gs_import_array {
    struct gs_array_file *file;
    size_t index; /* in the file */
    const char *where;
    const struct gs_npy *npy;
    struct gs_array_place place;
    size_t width;  /* 1 for tokens and nll */
    size_t target; /* number of the stream, memory or read in the plan */
};

struct gs_import {
    const struct gs_arrays_import *options;
    struct gs_array_file **files; /* (1 + with_count) */
    size_t file_count;
    struct gs_import_array *arrays;
    size_t count;
    char passed_over[256];
    /* gs_import_layout */
    uint64_t rows;
    size_t widest, sequences;
    uint64_t *start; /* (sequences + 1) */
    /* gs_import_plan */
    struct gs_trace_stream *streams;
    struct gs_trace_memory *memories;
    struct gs_trace_read *reads;
    size_t stream_count, memory_count, read_count;
    char **names; /* (sequences) or NULL */
    void *room;   /* of copying */
};

/* Open all files and give every array its place. */
enum gs_status gs_import_open(struct gs_import *import, struct gs_error *error);
/* Rows, widths and sequences, all of them checked against each other; loads the arrays. */
enum gs_status gs_import_layout(struct gs_import *import, struct gs_error *error);
/* The trace's plan, which borrows from `import`. */
enum gs_status gs_import_plan(struct gs_import *import, struct gs_trace_plan *plan,
                              struct gs_error *error);
void gs_import_free(struct gs_import *import);
/* The only array of that role, NULL when there is none. */
const struct gs_import_array *gs_import_find(const struct gs_import *import,
                                             enum gs_array_role role);

#endif
