/* chunk_index.h - where the chunks of a dataset stand in an HDF5 file, from the file's own bytes.
 *
 * Two reasons not to ask the library: HDF5 1.10 tells the place of one chunk by going through all
 * of them, and it believes what a damaged index says, and crashes. So the index that files have by
 * default (HDF5 file format specification: object header version 1, layout message version 3,
 * B-trees version 1) is read and checked here before the library is asked for any of it.
 */
#ifndef GS_PROBES_TRACE_CHUNK_INDEX_H
#define GS_PROBES_TRACE_CHUNK_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gs_chunk_question {
    int file;              /* descriptor, only read */
    uint64_t base;         /* where the file's addresses count from: behind a user block */
    uint64_t end;          /* bytes of the file from there on */
    uint64_t header;       /* address of the dataset's object header */
    size_t half_node;      /* the file's K of chunk indexes: a node has at most 2 K children */
    size_t rank;           /* axes, 1 … GS_H5_MAX_RANK */
    const size_t *dims;    /* (rank) */
    const uint64_t *chunk; /* (rank) elements of a chunk along each axis, none 0 */
    size_t element;        /* bytes */
    bool filtered;         /* chunks may be of any size */
};

enum gs_chunk_answer {
    GS_CHUNKS_FOUND,
    GS_CHUNKS_STRANGE, /* an index of another kind (or no memory): only the library knows */
    GS_CHUNKS_DAMAGED  /* not to be shown to the library */
};

struct gs_chunk_index {
    size_t expected;   /* chunks that cover the dataset */
    size_t stored;     /* how many of them stand whole in the file */
    uint64_t *address; /* (expected), row-major, 0 where not stored; NULL when far too few are
                          stored to cover anything. Free with gs_free. */
};

/* Fills `index` when the answer is GS_CHUNKS_FOUND, else leaves it empty. */
enum gs_chunk_answer gs_chunk_index_read(const struct gs_chunk_question *question,
                                         struct gs_chunk_index *index);

#endif
