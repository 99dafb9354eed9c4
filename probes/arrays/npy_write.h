/* npy_write.h - numpy's arrays written: .npy, and .npz as a zip archive of stored entries.
 *
 * Arrays are little-endian, in row-major order, of version 1. Archives are ZIP64 throughout, as
 * numpy writes them, with checksums; dates are 1980-01-01, so that the same arrays give the same
 * bytes. Writing goes to a stream that can seek; its errors are found when it is committed
 * (gs_output_commit).
 */
#ifndef GS_PROBES_ARRAYS_NPY_WRITE_H
#define GS_PROBES_ARRAYS_NPY_WRITE_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { GS_NPY_MOST_HEADER = 512 };

/* The header of an array of type `descr` ("<f4") and shape of at most 8 axes, into `bytes` (room
 * for GS_NPY_MOST_HEADER). Returns its size, a multiple of 64. */
size_t gs_npy_make_header(const char *descr, size_t rank, const size_t *shape,
                          unsigned char bytes[GS_NPY_MOST_HEADER]);

struct gs_npz_writer;

/* Entries go to `stream` (borrowed) from where it stands, which must be its beginning. NULL when
 * memory is short. */
struct gs_npz_writer *gs_npz_writer_create(FILE *stream);
void gs_npz_writer_destroy(struct gs_npz_writer *writer); /* NULL is fine */
/* Begin the array `name`; ".npy" is added. */
enum gs_status gs_npz_begin(struct gs_npz_writer *writer, const char *name, struct gs_error *error);
/* Bytes of the array that was begun: its header first. */
void gs_npz_write(struct gs_npz_writer *writer, const void *bytes, size_t size);
/* The array is whole. */
void gs_npz_end(struct gs_npz_writer *writer);
/* The directory of all arrays, after the last. */
void gs_npz_finish(struct gs_npz_writer *writer);

#endif
