/* column.h - one dataset of a trace being written, in whole chunks.
 *
 * Rows arrive for several sequences at once, so in any order over the file but in order within a
 * sequence. Each goes into the buffer of its chunk. A chunk whose rows are all there is full; it is
 * written in one piece, together with those that follow it, and forgotten. All functions here are
 * called by one thread at a time; between gs_column_room and gs_column_filled any thread may fill
 * its rows meanwhile.
 */
#ifndef GS_PROBES_TRACE_COLUMN_H
#define GS_PROBES_TRACE_COLUMN_H

#include "core/base/status.h"
#include "probes/trace/hdf5_file.h"

#include <stddef.h>
#include <stdint.h>

struct gs_column; /* owns its dataset handle; the file must outlive it */

/* A new dataset (rows, width) of `type`; width 0 means one axis (rows). */
enum gs_status gs_column_create(struct gs_h5 *file, const char *path, enum gs_h5_type type,
                                size_t rows, size_t width, size_t chunk_rows, int deflate,
                                struct gs_column **column, struct gs_error *error);
/* A dataset that is there, of that shape and type; its own chunks. */
enum gs_status gs_column_open(struct gs_h5 *file, const char *path, enum gs_h5_type type,
                              struct gs_column **column, struct gs_error *error);
/* Right after the file was flushed: from now on chunks go straight to their places. */
void gs_column_locate(struct gs_column *column);
/* Writes nothing. NULL is fine. */
void gs_column_destroy(struct gs_column *column);

size_t gs_column_element(const struct gs_column *column); /* bytes of an element */
size_t gs_column_width(const struct gs_column *column);   /* elements of a row */
size_t gs_column_chunk_rows(const struct gs_column *column);
const char *gs_column_path(const struct gs_column *column);

/* Where rows `row` … go: room for *granted ≤ rows of them, the rest of the row's chunk. Each row is
 * asked for once. NULL when memory is short. */
void *gs_column_room(struct gs_column *column, size_t row, size_t rows, size_t *granted);
/* Rows `row` … row + rows - 1, granted before, are filled. */
void gs_column_filled(struct gs_column *column, size_t row, size_t rows);
/* Of the chunks that are full and not yet written. */
size_t gs_column_full_bytes(const struct gs_column *column);
/* Write the chunk that has been full longest, and those behind it, up to about so many bytes: the
 * system is slow with more in a call, and with less. */
enum { GS_COLUMN_RUN_BYTES = 512 * 1024 };
enum gs_status gs_column_write_some(struct gs_column *column, struct gs_error *error);
/* The first row of [first, end) that is in a chunk not yet written; `end` when there is none. */
size_t gs_column_first_held(const struct gs_column *column, size_t first, size_t end);
/* No more rows come: all chunks become full, with zeros for what is missing. */
void gs_column_fill_up(struct gs_column *column);

#endif
