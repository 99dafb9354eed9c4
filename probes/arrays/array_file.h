/* array_file.h - numpy's files: one array (.npy) or several by name (.npz), told by content. */
#ifndef GS_PROBES_ARRAYS_ARRAY_FILE_H
#define GS_PROBES_ARRAYS_ARRAY_FILE_H

#include "core/base/status.h"
#include "probes/arrays/npy.h"

#include <stdbool.h>
#include <stddef.h>

struct gs_array_file;

/* Is the archive that begins so one of numpy's? True when all its entries are arrays by name
 * (.npy), and there is one. */
bool gs_array_archive(const unsigned char *bytes, size_t size);

/* Open and read all headers; every fault of a header is found here. The bytes of a .npy are mapped,
 * not read. Entries of an archive that are no arrays are GS_UNSUPPORTED by name. In an archive an
 * array of a kind that is not read at all (Python objects, named fields, an unknown version) may
 * stand beside others: it is of the family GS_NPY_OTHER without elements, and loading it is the
 * error. */
enum gs_status gs_array_file_open(const char *path, struct gs_array_file **file,
                                  struct gs_error *error);
/* The same of bytes, borrowed until closed. */
enum gs_status gs_array_file_of_bytes(const unsigned char *bytes, size_t size, const char *path,
                                      struct gs_array_file **file, struct gs_error *error);
void gs_array_file_close(struct gs_array_file *file); /* NULL is fine */

const char *gs_array_file_path(const struct gs_array_file *file); /* borrowed */
size_t gs_array_file_count(const struct gs_array_file *file);
/* Without ".npy"; "" in a file of one array. Borrowed. */
const char *gs_array_file_name(const struct gs_array_file *file, size_t index);
/* "X.npz, array NAME", for errors; borrowed. */
const char *gs_array_file_where(const struct gs_array_file *file, size_t index);
/* Type and shape; data only while loaded. Borrowed. */
const struct gs_npy *gs_array_file_at(const struct gs_array_file *file, size_t index);
/* Until gs_array_file_unload, or the file is closed, its data are there. */
enum gs_status gs_array_file_load(struct gs_array_file *file, size_t index, struct gs_error *error);
void gs_array_file_unload(struct gs_array_file *file, size_t index);

#endif
