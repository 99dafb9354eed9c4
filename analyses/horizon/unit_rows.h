/* unit_rows.h - rows divided by their length, and products between them. Inside horizon only. */
#ifndef GS_ANALYSES_HORIZON_UNIT_ROWS_H
#define GS_ANALYSES_HORIZON_UNIT_ROWS_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* `capacity` slots of `width` floats; a slot that is not valid holds zeros (a row of length zero,
 * or none at all), so that products with it are 0. */
struct gs_unit_rows {
    size_t width, capacity;
    float *values; /* (capacity, width) */
    unsigned char *valid;
};

/* All slots empty. GS_NO_MEMORY; release also after failure. */
enum gs_status gs_unit_rows_create(struct gs_unit_rows *rows, size_t width, size_t capacity,
                                   struct gs_error *error);
void gs_unit_rows_release(struct gs_unit_rows *rows);

/* Slot = (row − mean) / ‖row − mean‖, in float64 up to the last rounding; mean NULL is 0. False
 * when that vector is zero: the slot is then empty. The row must be finite. */
bool gs_unit_rows_set(struct gs_unit_rows *rows, size_t slot, const float *row, const double *mean);
void gs_unit_rows_clear(struct gs_unit_rows *rows, size_t slot);

static inline const float *gs_unit_row(const struct gs_unit_rows *rows, size_t slot) {
    return rows->values + slot * rows->width;
}

/* Σ x y over n, in float lanes of fixed number: the same bits everywhere. */
double gs_unit_dot(const float *x, const float *y, size_t n);
/* The same with a float64 sum of unit rows. */
double gs_unit_dot_wide(const float *x, const double *y, size_t n);

#endif
