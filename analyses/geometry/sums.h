/* sums.h - everything that one pass over the states adds up, in memory that does not grow with the
 * number of rows: O(d²) for second moments, times the number of bootstrap blocks (bounded below).
 */
#ifndef GS_ANALYSES_GEOMETRY_SUMS_H
#define GS_ANALYSES_GEOMETRY_SUMS_H

#include "analyses/geometry/measures.h"
#include "analyses/stats/moments.h"
#include "analyses/stats/running.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GS_GEOMETRY_BATCHES = 8, /* of batch_mean_cosine */
    /* Bootstrap blocks are whole sequences, or runs of neighbouring sequences where there are more
     * than GS_GEOMETRY_MOST_BLOCKS or their moments would take more than GS_GEOMETRY_BLOCK_BYTES;
     * but never fewer than GS_GEOMETRY_FEWEST_BLOCKS while there are so many sequences. */
    GS_GEOMETRY_MOST_BLOCKS = 64,
    GS_GEOMETRY_FEWEST_BLOCKS = 16,
    GS_GEOMETRY_BLOCK_BYTES = 512 << 20
};

/* What is kept of one bootstrap block. */
struct gs_geometry_block {
    uint64_t n;
    struct gs_running norm;
    double energy;                        /* Σ ‖p‖² */
    float *comoment;                      /* packed upper triangle; NULL without bootstrap */
    double *mean;                         /* (dims) */
    double *prefix[GS_GEOMETRY_PREFIXES]; /* (dims) sums of the first 10, 100 rows of sequences */
    uint64_t prefix_rows[GS_GEOMETRY_PREFIXES];
};

/* A sum of rows. */
struct gs_geometry_total {
    uint64_t rows;
    double *sum; /* (dims) */
};

struct gs_geometry_plan {
    size_t dims;
    size_t sequences;        /* with at least one row used */
    const uint64_t *lengths; /* (sequences) rows used of each, ≥ 1 */
    enum gs_moments_product product;
    size_t blocks; /* 1 … sequences */
    bool keep;     /* the blocks' second moments, for the bootstrap */
};

struct gs_geometry_sums {
    struct gs_geometry_plan plan;
    uint64_t rows_planned;
    struct gs_moments *total, *current;
    struct gs_moments_builder *builder;
    struct gs_geometry_block *blocks;
    /* Running means: stretch i holds the rows at places limit[i − 1] + 1 … limit[i] of every
     * sequence, counted from 1 among the rows used. */
    size_t stretch_count;
    uint64_t *limit;
    struct gs_geometry_total *stretches;
    struct gs_geometry_total batches[GS_GEOMETRY_BATCHES];
    /* Scatter of the sequences' own means about the common one (West 1979, weights = rows). */
    double *sequence_sum, *between_mean;
    double between_rows, between_squares;
    /* where the pass stands */
    size_t sequence, block;
    uint64_t place, row;
    double *segment, *put,
        *squares; /* scratch: sums (dims) of a segment, of what was put; (chunk) */
    size_t squares_capacity;
};

/* Blocks that a bootstrap over so many sequences of this width has. */
size_t gs_geometry_block_count(size_t dims, size_t sequences);

/* Empty sums; lengths must outlive them. Free with gs_geometry_sums_destroy (NULL is fine). */
enum gs_status gs_geometry_sums_create(const struct gs_geometry_plan *plan,
                                       struct gs_geometry_sums **sums, struct gs_error *error);
void gs_geometry_sums_destroy(struct gs_geometry_sums *sums);

/* Where the next rows go, and how many fit there: at least 1, and never beyond the end of the
 * sequence at which the pass stands. */
float *gs_geometry_sums_room(struct gs_geometry_sums *sums, size_t *rows);
/* `count` of them, in order, have been written there. After the last row of the last sequence
 * everything is complete. */
enum gs_status gs_geometry_sums_put(struct gs_geometry_sums *sums, size_t count,
                                    struct gs_error *error);

/* Mean and deviation of the pairwise cosines of the eight batches' means; NaN where a batch is
 * empty or its mean zero. Batches are eighths of the sequences in order, or, with fewer than eight
 * sequences, of the rows. */
struct gs_running gs_geometry_batch_cosines(const struct gs_geometry_sums *sums);

/* How many independent rows would let the sequences' means scatter as much as they do: n times the
 * variance of rows over the variance of sequence means (each times its rows), at most n. NaN with
 * fewer than two sequences or no variance. */
double gs_geometry_effective_rows(const struct gs_geometry_sums *sums);

#endif
