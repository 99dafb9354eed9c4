/* to_trace.h - somebody's arrays (.npy, .npz) become a trace. */
#ifndef GS_PROBES_ARRAYS_TO_TRACE_H
#define GS_PROBES_ARRAYS_TO_TRACE_H

#include "core/base/progress.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gs_arrays_import {
    const char *path;        /* .npz: arrays by name (roles.h); .npy: states alone */
    const char *const *with; /* (with_count) "NAME=FILE.npy": further arrays and what they are */
    size_t with_count;
    const char *stream;  /* what the states of a .npy are called; NULL: "state" */
    const char *rule;    /* of all memories, "gpn" or "gated_delta"; NULL: not said */
    size_t length;       /* rows of a sequence where nothing else says it; 0: all are one */
    bool bfloat16;       /* two bytes without a type are bfloat16 */
    int deflate;         /* of the trace, 0 … 9 */
    bool force;          /* an existing output is replaced */
    const char *command; /* for the trace's attribute; may be NULL */
};

struct gs_arrays_imported {
    size_t sequences, streams;
    uint64_t rows;
    char passed_over[256]; /* names of arrays that have no place in a trace; "" when none */
};

/* States of shape (rows, d) or (sequences, time, d), any float width, byte order and memory order.
 * Rows belong to the sequences that `start` says, or the axis, or `length` (the last may be
 * shorter). Tokens and nll are (rows) or (sequences, time), gates have an axis of heads behind. All
 * must have as many rows. Values come through exactly where they fit float32 (doubles are rounded
 * to it, 16 bits are kept). NaN at the head of every sequence of nll means that nothing was
 * predicted there. NaN, Inf and values that a trace may not hold: GS_RANGE with their place. The
 * trace appears under its name when it is whole. Memory: the arrays of an .npz, unpacked. */
enum gs_status gs_arrays_to_trace(const struct gs_arrays_import *import, const char *output,
                                  struct gs_arrays_imported *imported,
                                  const struct gs_progress *progress, struct gs_error *error);

#endif
