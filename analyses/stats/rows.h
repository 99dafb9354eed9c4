/* rows.h - rows of numbers in sequences, wherever they come from: what streaming analyses read.
 *
 * A trace's state stream, a gate of one of its memories, or a plain array all look alike: sequences
 * of rows of one width, read a stretch at a time.
 */
#ifndef GS_ANALYSES_STATS_ROWS_H
#define GS_ANALYSES_STATS_ROWS_H

#include "core/base/status.h"
#include "probes/trace/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A view: it owns nothing, copy freely. What it views must outlive it. */
struct gs_rows {
    size_t sequences;
    size_t width;           /* numbers in a row */
    const uint64_t *start;  /* (sequences) where each begins, in the source's own row numbers */
    const uint64_t *length; /* (sequences) rows that may be read; 0 is legal */
    /* the source, for `read` alone */
    enum gs_status (*read)(const struct gs_rows *rows, uint64_t first, size_t count, float *values,
                           struct gs_error *error);
    bool side_by_side; /* several threads may read at once */
    struct gs_trace *trace;
    size_t index; /* of the stream, memory or read in the trace */
    enum gs_memory_field field;
    const float *array;
};

/* Row-major array (start[sequences - 1] + length[sequences - 1], width) in memory. */
struct gs_rows gs_rows_of_array(const float *array, size_t width, size_t sequences,
                                const uint64_t *start, const uint64_t *length);
/* Rows safely on disk of a state stream, of one field of a memory, of the shares of a read, each
 * by its index in the trace. */
struct gs_rows gs_rows_of_state(struct gs_trace *trace, size_t stream);
struct gs_rows gs_rows_of_memory(struct gs_trace *trace, size_t memory, enum gs_memory_field field);
struct gs_rows gs_rows_of_share(struct gs_trace *trace, size_t read);

/* Notes in the results of a trace that is not complete on how many of its rows they rest. */
struct gs_results;
enum gs_status gs_rows_note_incomplete(const struct gs_trace *trace, struct gs_results *results,
                                       struct gs_error *error);

/* `count` rows of `sequence` from its row `from` on, row-major. The errors are the source's. */
enum gs_status gs_rows_read(const struct gs_rows *rows, size_t sequence, uint64_t from,
                            size_t count, float *values, struct gs_error *error);

/* Σ length, and the longest. */
uint64_t gs_rows_total(const struct gs_rows *rows);
uint64_t gs_rows_longest(const struct gs_rows *rows);

#endif
