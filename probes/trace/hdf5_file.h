/* hdf5_file.h - HDF5 behind a thin checked face; the only file that knows the library is
 * hdf5_file.c.
 *
 * Objects are named by their path inside the file ("state/predicted"). Data go in and out as whole
 * rows (index of the first axis) in native types, whatever the byte order and width in the file.
 * Errors are taken from HDF5's own error stack and say file, dataset and, where there is one,
 * errno; the library's printing is off, and so is its exit handler, which is known to crash after
 * a failed write. External links, external storage, virtual datasets and filters that are not part
 * of HDF5 are refused by name, and so are indexes of chunks that are damaged (chunk_index.h). Not
 * to be used from two threads at once, nor across a fork; gs_h5_data_is_direct says the exception.
 */
#ifndef GS_PROBES_TRACE_HDF5_FILE_H
#define GS_PROBES_TRACE_HDF5_FILE_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GS_H5_MAX_RANK = 8 };

struct gs_h5;      /* an open file */
struct gs_h5_data; /* an open dataset */

/* ---- files ---- */

/* Version of the library that runs, "1.10.8". Static. */
const char *gs_h5_version(void);
/* True when `path` is a file that begins as HDF5 files do. */
bool gs_h5_recognise(const char *path);
/* Open for reading. Close with gs_h5_close. */
enum gs_status gs_h5_open(const char *path, struct gs_h5 **file, struct gs_error *error);
/* Open for reading and writing. Its datasets are written, not read in small pieces: no chunks are
 * cached. */
enum gs_status gs_h5_open_to_write(const char *path, struct gs_h5 **file, struct gs_error *error);
/* A new file, which must not exist yet (GS_EXISTS). */
enum gs_status gs_h5_create(const char *path, struct gs_h5 **file, struct gs_error *error);
/* Everything written so far goes to the operating system. */
enum gs_status gs_h5_flush(struct gs_h5 *file, struct gs_error *error);
/* Take the disk's space for the whole file as it is now, so that what is written into it finds
 * room, and sooner. GS_IO when the disk is full; where the file system has no such request,
 * nothing. */
enum gs_status gs_h5_reserve(const struct gs_h5 *file, struct gs_error *error);
/* Ask the system to begin bringing what was written to the disk, without waiting, so that little is
 * left to do for an fsync at the end. Promises nothing. */
void gs_h5_start_writing(const struct gs_h5 *file);
/* Flush and close; `file` is gone whatever is returned. NULL is fine. All datasets of the file
 * must be closed before. After a write that failed nothing more is written and what was flushed
 * stays as it is: the library keeps its handle until the process ends. */
enum gs_status gs_h5_close(struct gs_h5 *file, struct gs_error *error);
const char *gs_h5_path(const struct gs_h5 *file); /* borrowed */
/* Name the open file so in errors from here on; for a file that is to be, or has been, renamed. */
enum gs_status gs_h5_show_as(struct gs_h5 *file, const char *path, struct gs_error *error);

/* ---- what is there ---- */

enum gs_h5_object { GS_H5_ABSENT, GS_H5_GROUP, GS_H5_DATASET, GS_H5_STRANGE };
/* What `path` names; GS_UNSUPPORTED where an external link stands on the way. */
enum gs_status gs_h5_look(struct gs_h5 *file, const char *path, enum gs_h5_object *object,
                          struct gs_error *error);
/* Names of a group's members in byte order; free with gs_free_names. "/" is the root. */
enum gs_status gs_h5_members(struct gs_h5 *file, const char *group, char ***names, size_t *count,
                             struct gs_error *error);
/* Make a group and missing parents; an existing one is fine. */
enum gs_status gs_h5_group_create(struct gs_h5 *file, const char *path, struct gs_error *error);

/* ---- attributes of the group or dataset at `object` ---- */

/* The text as a new string (gs_free); NULL when the attribute is absent or empty (null space).
 * Fixed and variable strings, one element. GS_FORMAT when it is something else. */
enum gs_status gs_h5_text(struct gs_h5 *file, const char *object, const char *name, char **text,
                          struct gs_error *error);
/* A whole number: integers of any width, booleans, and floats with a whole value. *found is false
 * and *number untouched when the attribute is absent. */
enum gs_status gs_h5_integer(struct gs_h5 *file, const char *object, const char *name,
                             int64_t *number, bool *found, struct gs_error *error);
enum gs_status gs_h5_number(struct gs_h5 *file, const char *object, const char *name,
                            double *number, bool *found, struct gs_error *error);
/* Set, or replace. Text is stored as a variable UTF-8 string, which h5py reads as str and which may
 * be of any length; the integer as int64, the number as float64. Replacing an integer by an integer
 * is one write in place. */
enum gs_status gs_h5_set_text(struct gs_h5 *file, const char *object, const char *name,
                              const char *text, struct gs_error *error);
enum gs_status gs_h5_set_integer(struct gs_h5 *file, const char *object, const char *name,
                                 int64_t number, struct gs_error *error);
enum gs_status gs_h5_set_number(struct gs_h5 *file, const char *object, const char *name,
                                double number, struct gs_error *error);

/* ---- datasets ---- */

enum gs_h5_type { GS_H5_F16, GS_H5_F32, GS_H5_F64, GS_H5_U16, GS_H5_U32, GS_H5_U64, GS_H5_I64 };
enum gs_h5_family { GS_H5_FLOAT, GS_H5_INTEGER, GS_H5_TEXT, GS_H5_OTHER };

struct gs_h5_shape {
    enum gs_h5_family family;
    size_t bytes;       /* of one element in the file */
    bool is_signed;     /* integers */
    char type_name[16]; /* "float16", "uint32", "text", …, "other" */
    size_t rank;        /* 0 for a scalar */
    size_t dims[GS_H5_MAX_RANK];
    size_t count;      /* elements */
    size_t row;        /* elements in one row: product of all axes but the first */
    size_t chunk_rows; /* 0: not chunked */
    bool holes;        /* some of the elements were never stored: they read as a fill value */
};

struct gs_h5_spec {
    enum gs_h5_type type;
    bool big_endian; /* how the file stores it; for tests */
    size_t rank;
    size_t dims[GS_H5_MAX_RANK];
    size_t chunk_rows; /* rows of a chunk; 0: contiguous */
    int deflate;       /* 0: none; 1 … 9: shuffle and deflate */
};

/* A new dataset, parents made. Its whole chunk index exists from here on, and without deflate all
 * its space, so that later writes change no metadata (with deflate: only places and sizes in the
 * index, in place). What was never written reads as zero. */
enum gs_status gs_h5_data_create(struct gs_h5 *file, const char *path,
                                 const struct gs_h5_spec *spec, struct gs_h5_data **data,
                                 struct gs_error *error);
/* GS_MISSING when there is none. Refuses external storage and foreign filters. */
enum gs_status gs_h5_data_open(struct gs_h5 *file, const char *path, struct gs_h5_data **data,
                               struct gs_error *error);
void gs_h5_data_close(struct gs_h5_data *data); /* NULL is fine */
const struct gs_h5_shape *gs_h5_data_shape(const struct gs_h5_data *data);
/* Do the rows stand in the file as they stand in memory, in places that are known? Then
 * gs_h5_data_f32, _u16 and _u32 read them at the speed of read(), and may be called from many
 * threads at once. */
bool gs_h5_data_is_direct(const struct gs_h5_data *data);
/* In a file that is being written, right after gs_h5_flush: find the chunks' places, so that
 * gs_h5_data_write of the file's own type goes straight to them, from many threads if need be.
 * Where they cannot be known the library goes on writing. */
void gs_h5_data_locate(struct gs_h5_data *data);

/* `rows` whole rows from row `first` on. GS_RANGE when they are not all inside. `values` of
 * `type`'s native kind: float, double, uint16_t (U16, and the bits of F16), uint32_t, uint64_t. */
enum gs_status gs_h5_data_write(struct gs_h5_data *data, size_t first, size_t rows,
                                enum gs_h5_type type, const void *values, struct gs_error *error);
/* `count` whole chunks from chunk `first` on (the last of the dataset: its rows), chunk i from
 * values[i]: fewer calls of the system than one by one. */
enum gs_status gs_h5_data_write_chunks(struct gs_h5_data *data, size_t first, size_t count,
                                       enum gs_h5_type type, const void *const *values,
                                       struct gs_error *error);
/* Floats of any width and byte order to float32 (16 bits by our own exact widening; what is too
 * large for float32 becomes infinity). Integers are refused. */
enum gs_status gs_h5_data_f32(struct gs_h5_data *data, size_t first, size_t rows, float *values,
                              struct gs_error *error);
/* Floats and integers to double. */
enum gs_status gs_h5_data_f64(struct gs_h5_data *data, size_t first, size_t rows, double *values,
                              struct gs_error *error);
/* Integers of any width; GS_RANGE naming the element that is negative or too large. */
enum gs_status gs_h5_data_u16(struct gs_h5_data *data, size_t first, size_t rows, uint16_t *values,
                              struct gs_error *error);
enum gs_status gs_h5_data_u32(struct gs_h5_data *data, size_t first, size_t rows, uint32_t *values,
                              struct gs_error *error);
enum gs_status gs_h5_data_u64(struct gs_h5_data *data, size_t first, size_t rows, uint64_t *values,
                              struct gs_error *error);
/* Element `index` of a dataset of strings, a new string (gs_free). */
enum gs_status gs_h5_data_text(struct gs_h5_data *data, size_t index, char **text,
                               struct gs_error *error);

/* ---- whole datasets in one call ---- */

/* All elements, row-major, into a new array (gs_free). rank and shape (GS_H5_MAX_RANK entries) may
 * be NULL. */
enum gs_status gs_h5_read_f32(struct gs_h5 *file, const char *path, float **values, size_t *rank,
                              size_t *shape, struct gs_error *error);
enum gs_status gs_h5_read_f64(struct gs_h5 *file, const char *path, double **values, size_t *rank,
                              size_t *shape, struct gs_error *error);
enum gs_status gs_h5_read_u32(struct gs_h5 *file, const char *path, uint32_t **values, size_t *rank,
                              size_t *shape, struct gs_error *error);
enum gs_status gs_h5_read_u64(struct gs_h5 *file, const char *path, uint64_t **values, size_t *rank,
                              size_t *shape, struct gs_error *error);
/* A new contiguous dataset from an array of the type's native kind. */
enum gs_status gs_h5_write(struct gs_h5 *file, const char *path, enum gs_h5_type type, size_t rank,
                           const size_t *shape, const void *values, struct gs_error *error);
/* A new one-axis dataset of UTF-8 strings: fixed length (the longest), or variable. */
enum gs_status gs_h5_write_texts(struct gs_h5 *file, const char *path, const char *const *texts,
                                 size_t count, bool variable, struct gs_error *error);

#endif
