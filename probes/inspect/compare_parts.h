/* compare_parts.h - a file as a list of named arrays of numbers; for compare.c and its parts. */
#ifndef GS_PROBES_INSPECT_COMPARE_PARTS_H
#define GS_PROBES_INSPECT_COMPARE_PARTS_H

#include "core/base/status.h"
#include "core/results/results.h"

#include <stdbool.h>
#include <stddef.h>

enum { GS_PART_RANK = 8 };

struct gs_part {
    char *name; /* owned by the side */
    size_t rank, shape[GS_PART_RANK];
    size_t count;  /* elements; rows are those of the first axis */
    size_t source; /* of the side's own use */
    bool text;     /* numbers stand for texts, and only say whether they are the same */
};

/* One of the two files. */
struct gs_side {
    struct gs_part *parts;
    size_t count, capacity;
    void *context; /* the open file */
    /* Rows first … first + rows - 1 of a part, row-major. none[i] is not 0 where the file says that
     * there is no number (a NaN then stands in values). */
    enum gs_status (*read)(struct gs_side *side, const struct gs_part *part, size_t first,
                           size_t rows, double *values, unsigned char *none,
                           struct gs_error *error);
    /* Where element `index` of a part is, for people; NULL: by its indices. */
    void (*place)(const struct gs_side *side, const struct gs_part *part, size_t index, char *text,
                  size_t size);
    void (*close)(struct gs_side *side);
    char *config; /* of the model, when the file says one; owned */
};

/* A part of that name and shape; GS_NO_MEMORY. */
enum gs_status gs_side_add(struct gs_side *side, const char *name, size_t rank, const size_t *shape,
                           size_t source, struct gs_error *error);
size_t gs_part_rows(const struct gs_part *part);
size_t gs_part_row(const struct gs_part *part); /* elements of one row */
void gs_side_close(struct gs_side *side);

/* Opening each kind. A side that was opened, or not, is closed by gs_side_close. */
enum gs_status gs_side_model(struct gs_side *side, const char *path, struct gs_error *error);
/* The tensors of a checkpoint by the names of the file, whatever model they are of. */
enum gs_status gs_side_tensors(struct gs_side *side, const char *path, struct gs_error *error);
enum gs_status gs_side_trace(struct gs_side *side, const char *path, struct gs_error *error);
enum gs_status gs_side_arrays(struct gs_side *side, const char *path, struct gs_error *error);
enum gs_status gs_side_results(struct gs_side *side, const char *path, struct gs_error *error);

#endif
