/* npy.h - one array of numpy's (.npy, versions 1 to 3): its header, and its numbers.
 *
 * Format: numpy.lib.format. The header is a Python dictionary of three known keys; it is read
 * without recursion, by a reader that knows no other Python. Everything is checked before anything
 * is read: lengths against the bytes, shapes against overflow and against the bytes. Arrays of
 * Python objects (pickles) and structured arrays are refused by name.
 */
#ifndef GS_PROBES_ARRAYS_NPY_H
#define GS_PROBES_ARRAYS_NPY_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GS_NPY_MAX_RANK = 8,
    GS_NPY_MAX_HEADER = 64 * 1024, /* bytes; numpy itself trusts no more than 10,000 */
    GS_NPY_DESCR = 16
};

enum gs_npy_family {
    GS_NPY_FLOAT,   /* f2, f4, f8 */
    GS_NPY_INTEGER, /* i and u of 1, 2, 4, 8 bytes; bool */
    GS_NPY_RAW,     /* V2: two bytes that have lost their type, as bfloat16 of ml_dtypes does */
    GS_NPY_TEXT,    /* U: UTF-32, S: bytes */
    GS_NPY_OTHER    /* complex, dates, wider floats */
};

struct gs_npy {
    enum gs_npy_family family;
    char descr[GS_NPY_DESCR]; /* as in the file: "<f4" */
    size_t element;           /* bytes of one */
    bool is_signed, big_endian, fortran;
    size_t rank;                   /* 0 for a scalar */
    size_t shape[GS_NPY_MAX_RANK]; /* of rank 0: unused */
    size_t count;                  /* elements */
    size_t header;                 /* bytes before the first element */
    const unsigned char *data;     /* (count, element), borrowed, not aligned; see gs_npy_read */
};

/* Do the bytes begin as an array does? */
bool gs_npy_recognise(const unsigned char *bytes, size_t size);

/* Read the header at the head of a file of `file_size` bytes, of which `size` are here (all of the
 * header at least, where the header is honest). data stays NULL. `where` names the array in
 * errors. */
enum gs_status gs_npy_header(const unsigned char *bytes, size_t size, size_t file_size,
                             const char *where, struct gs_npy *array, struct gs_error *error);
/* The same for a whole file: data points into `bytes`. */
enum gs_status gs_npy_read(const unsigned char *bytes, size_t size, const char *where,
                           struct gs_npy *array, struct gs_error *error);

/* Is it an array of floats (or of raw pairs of bytes, when those are bfloat16)? GS_UNSUPPORTED
 * saying what it is instead, and how to say that raw pairs are bfloat16. */
enum gs_status gs_npy_want_floats(const struct gs_npy *array, bool bfloat16, const char *where,
                                  struct gs_error *error);

/* Elements first … first + count - 1 in row-major order, whatever the order in the file. Floats of
 * any width, raw pairs as bfloat16; a double beyond float32 becomes infinity. The family must be
 * right: FLOAT or RAW. */
void gs_npy_f32(const struct gs_npy *array, size_t first, size_t count, float *values);
/* The same, and INTEGER, widened to double. */
void gs_npy_f64(const struct gs_npy *array, size_t first, size_t count, double *values);
/* Whole numbers; GS_RANGE naming the element that is negative or above `most`, GS_UNSUPPORTED when
 * they are no whole numbers. */
enum gs_status gs_npy_u64(const struct gs_npy *array, size_t first, size_t count, uint64_t most,
                          const char *where, uint64_t *values, struct gs_error *error);
/* Element `index` of a TEXT array as UTF-8, a new string (gs_free) that ends at its first NUL.
 * GS_FORMAT when it is no text or no character of Unicode; bytes (S) must be UTF-8. */
enum gs_status gs_npy_text(const struct gs_npy *array, size_t index, const char *where, char **text,
                           struct gs_error *error);

#endif
