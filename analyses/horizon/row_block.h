/* row_block.h - rows of one sequence minus a common centre (the mean of all rows), packed into
 * panels of columns, with what turns their dots into cosines. Inside horizon only.
 *
 * With x = p − g, every curve's dot is the packed rows' dot and what is known of each row:
 *     (p − g)(q − g) = x·y        p q = x·y + x·g + y·g + g·g        (p − m)(q − m) = x·y − x·e −
 * y·e + e·e where m is the sequence's mean and e = m − g. Rows are float32, all else float64. The
 * differences cost digits only where a row, or p − m, is much shorter than x; a block with such a
 * row is delicate.
 */
#ifndef GS_ANALYSES_HORIZON_ROW_BLOCK_H
#define GS_ANALYSES_HORIZON_ROW_BLOCK_H

#include "analyses/horizon/horizon.h"

struct gs_row_block {
    size_t width, panels;
    size_t past, block; /* room: rows before and behind row 0 of the block */
    size_t capacity;    /* past + block, in whole vectors */
    size_t sequence;    /* SIZE_MAX: none */
    uint64_t first;     /* row 0 is this one of the sequence … */
    size_t count;       /* … and so many are there */
    size_t dirty;       /* rows of the block that may hold something; those behind are zero */
    bool shifted;       /* near and offset are there */
    bool delicate;      /* a row lost digits: cosines of this block are not to be trusted */
    float *packed;      /* (panels, capacity, panel) */
    /* (capacity) by row, 0 where there is none */
    double *square, *away;        /* ‖p‖², ‖x‖² */
    double *along;                /* x·g */
    double *near, *offset;        /* ‖p − m‖², x·e */
    float *weight[GS_CURVE_NULL]; /* 1 / length of p, p − m, p − g; 0 for a vector of length zero */
    double *sum;                  /* (width) of the packed rows of the block */
    float *parts;                 /* scratch (shares of the block, whole panels): column sums */
    float *raw;                   /* scratch: (piece, width), or a share of each thread's */
    size_t piece, threads;
};

/* The centre in two parts that float32 holds (rows.h), each of whole panels, and the whole. */
struct gs_centre {
    const float *large, *small; /* (panels, panel) */
    const double *whole;        /* (width) */
};

/* Empty. `past` rows may be kept before a block of `block`. GS_NO_MEMORY; release after failure. */
enum gs_status gs_row_block_create(struct gs_row_block *rows, size_t width, size_t past,
                                   size_t block, struct gs_error *error);
void gs_row_block_release(struct gs_row_block *rows);

/* Read rows first … first + block − 1 of a sequence, as far as there are any. The rows before them
 * are kept when the block before stood here, else there are none. `read` is told how many rows have
 * been read. Errors: the rows'; GS_NUMERIC for a row that is not finite; what `read` returns. */
typedef enum gs_status gs_row_block_read(void *context, size_t rows, struct gs_error *error);
enum gs_status gs_row_block_load(struct gs_row_block *rows, const struct gs_rows *source,
                                 size_t sequence, uint64_t first, const struct gs_centre *centre,
                                 gs_row_block_read *read, void *context, struct gs_error *error);
/* `near`, `offset` and the weights of p − m of the block's rows; shift (panels · panel) is e, zero
 * behind the width, of square `square`. */
void gs_row_block_shift(struct gs_row_block *rows, const float *shift, double square);

/* Row `row` of the block (negative: before it) of panel `panel`. */
const float *gs_row_block_panel(const struct gs_row_block *rows, size_t panel, ptrdiff_t row);

#endif
