/* intake.h - a block of rows on its way into its dataset: checked, narrowed and copied into chunks
 * by all threads, while one of them writes chunks that were full before. Copying and writing take
 * about as long, and file systems let only one thread at a time write to a file; so that there is
 * something to write while others copy, full chunks wait for the next block. */
#ifndef GS_PROBES_TRACE_INTAKE_H
#define GS_PROBES_TRACE_INTAKE_H

#include "probes/trace/trace_being_written.h"

/* The next rows of each sequence of the block, which have room. Errors as gs_trace_append_state;
 * GS_IO for a failed write, which breaks the writer. */
enum gs_status gs_trace_take_in(struct gs_trace_writer *writer, struct gs_trace_lane *lane,
                                const struct gs_trace_block *block, struct gs_error *error);
/* Write some of the chunks that are full, and have them start on their way to the disk. A failure
 * breaks the writer. */
enum gs_status gs_trace_write_some(struct gs_trace_writer *writer, struct gs_trace_lane *lane,
                                   struct gs_error *error);

#endif
