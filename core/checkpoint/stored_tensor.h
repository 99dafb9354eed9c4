/* stored_tensor.h - a tensor as it stands in somebody's file: numbers of any width and byte order,
 * in any order of axes. */
#ifndef GS_CORE_CHECKPOINT_STORED_TENSOR_H
#define GS_CORE_CHECKPOINT_STORED_TENSOR_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gs_element {
    GS_ELEMENT_FLOAT,    /* IEEE, 2, 4 or 8 bytes */
    GS_ELEMENT_BFLOAT16, /* 2 bytes */
    GS_ELEMENT_SIGNED,   /* 1, 2, 4 or 8 bytes */
    GS_ELEMENT_UNSIGNED,
    GS_ELEMENT_OTHER /* not read here */
};

enum { GS_STORED_RANK = 8, GS_STORED_TYPE = 200 };

struct gs_stored_tensor {
    const char *name;          /* in its file; borrowed */
    char type[GS_STORED_TYPE]; /* what the file calls its numbers: "BF16", "<f4"; or, of what is no
                                  tensor, what it is: "an object of torch.nn.Linear" */
    bool is_tensor;
    enum gs_element element;
    size_t width; /* bytes of an element */
    bool big_endian;
    size_t rank; /* 0: a single number */
    size_t shape[GS_STORED_RANK];
    size_t stride[GS_STORED_RANK]; /* elements */
    size_t count;                  /* product of shape */
    const unsigned char *bytes;    /* its first element; not aligned; NULL until it is loaded */
    size_t span;                   /* bytes from there to the end of its last element */
    bool is_latin1;                /* the bytes are text: each is a character, as UTF-8, and `span`
                                      is how many the text has (pickles of protocol 2) */
    size_t storage, offset;        /* for its reader, until it is loaded: the piece of the file that
                                      holds the bytes, and bytes from that one's start */
};

/* Row-major strides for the shape; count and span too. GS_SHAPE when the product does not fit. */
enum gs_status gs_stored_tensor_pack(struct gs_stored_tensor *tensor, struct gs_error *error);
/* The same with the first axis moving fastest (Fortran). */
enum gs_status gs_stored_tensor_pack_columns(struct gs_stored_tensor *tensor,
                                             struct gs_error *error);
/* count and span for strides that are set. */
enum gs_status gs_stored_tensor_measure(struct gs_stored_tensor *tensor, struct gs_error *error);

/* Swap the axes of a matrix: what was (in, out) is (out, in). Nothing for less than two axes;
 * GS_SHAPE for more. */
enum gs_status gs_stored_tensor_transpose(struct gs_stored_tensor *tensor, struct gs_error *error);

/* All elements, row-major, as float32: widened, or narrowed (GS_RANGE when a float64 is beyond
 * float32). GS_UNSUPPORTED for whole numbers and others, GS_FORMAT for text that is no bytes. */
enum gs_status gs_stored_tensor_read(const struct gs_stored_tensor *tensor, float *values,
                                     struct gs_error *error);
/* The single element of a tensor that has one, when it is whole. */
bool gs_stored_tensor_integer(const struct gs_stored_tensor *tensor, int64_t *number);

/* "(48, 160)" in `text`; returns it. */
char *gs_shape_text(const size_t *shape, size_t rank, char *text, size_t size);

#endif
