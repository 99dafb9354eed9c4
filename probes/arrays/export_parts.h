/* export_parts.h - datasets of a trace on their way out; for from_trace.c and its parts alone. */
#ifndef GS_PROBES_ARRAYS_EXPORT_PARTS_H
#define GS_PROBES_ARRAYS_EXPORT_PARTS_H

#include "probes/arrays/from_trace.h"

#include <stdio.h>

enum { GS_EXPORT_PIECE = 1024 * 1024 }; /* bytes in memory at a time */

struct gs_export_dataset {
    enum { GS_EXPORT_STATE, GS_EXPORT_TOKEN, GS_EXPORT_NLL, GS_EXPORT_GATE, GS_EXPORT_SHARE } what;
    size_t index; /* of the stream, memory or read */
    enum gs_memory_field field;
    size_t width; /* 1 for tokens and nll */
    bool half;    /* float16 goes out as such */
};

struct gs_export {
    struct gs_trace *trace;
    const struct gs_arrays_export *options;
    struct gs_export_dataset *datasets; /* streams first */
    size_t count;
    uint64_t first, end;
    FILE *stream;
    size_t piece; /* rows in memory at a time */
    void *room;   /* (piece, widest) floats or ids */
    double done, total;
};

/* `count` rows of a dataset as float32, or uint32 for tokens. */
enum gs_status gs_export_read(struct gs_export *export, const struct gs_export_dataset *dataset,
                              uint64_t first, size_t count, void *room, struct gs_error *error);
/* Rows have gone out: report, and GS_INTERRUPTED or, when the stream failed, GS_IO. */
enum gs_status gs_export_step(struct gs_export *export, size_t count,
                              const struct gs_progress *progress, struct gs_error *error);

/* Each format to export->stream. */
enum gs_status gs_export_npy(struct gs_export *export, const struct gs_progress *progress,
                             struct gs_error *error);
enum gs_status gs_export_npz(struct gs_export *export, const struct gs_progress *progress,
                             struct gs_error *error);
enum gs_status gs_export_csv(struct gs_export *export, const struct gs_progress *progress,
                             struct gs_error *error);

#endif
