/* trace_being_written.h - what a trace writer is made of; for writer.c, append.c and intake.c
 * alone. */
#ifndef GS_PROBES_TRACE_TRACE_BEING_WRITTEN_H
#define GS_PROBES_TRACE_TRACE_BEING_WRITTEN_H

#include "probes/trace/column.h"
#include "probes/trace/hdf5_file.h"
#include "probes/trace/values.h"
#include "probes/trace/writer.h"

#include <time.h>

enum { GS_NO_LANE = -1 };

/* One dataset and what its rows may hold. */
struct gs_trace_lane {
    struct gs_column *column;
    enum gs_value_rule rule;
    bool brain;     /* float32 goes in as bfloat16 */
    uint64_t *next; /* (sequences) rows that arrived of each */
};

struct gs_trace_writer {
    char *path;    /* where the finished file stands */
    char *file;    /* where it stands now: the same, or a temporary beside it */
    bool broken;   /* a write failed */
    bool resuming; /* the datasets are there already */
    struct gs_h5 *h5;
    size_t sequences;
    uint64_t *start;
    uint64_t *safe; /* (sequences) what rows_written says on disk */
    size_t nll_first;
    struct gs_h5_data *rows_written;
    size_t lane_count, lane_limit;
    struct gs_trace_lane *lanes;
    int token, nll;       /* lanes, GS_NO_LANE when absent */
    size_t first_stream;  /* lane of stream 0 */
    int *fields;          /* (memories, GS_MEMORY_FIELDS) lanes */
    size_t memory_count;  /* for bounds */
    size_t first_read;    /* lane of read 0 */
    size_t lowest, above; /* sequences that may have rows not yet safe: lowest … above - 1 */
    uint64_t unflushed;   /* bytes written since the last flush */
    uint64_t started;     /* of these, on their way to the disk */
    time_t flushed_at;
};

/* The sequence has rows that are not yet safe. */
static inline void gs_trace_touch(struct gs_trace_writer *writer, size_t sequence) {
    if (sequence + 1 > writer->above) writer->above = sequence + 1;
    if (sequence < writer->lowest) writer->lowest = sequence;
}

static inline size_t gs_trace_rows_of(const struct gs_trace_block *block, size_t b) {
    return block->counts ? block->counts[b] : block->rows;
}

#endif
