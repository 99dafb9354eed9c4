/* lags.h - which lags a curve is measured at. */
#ifndef GS_ANALYSES_STATS_LAGS_H
#define GS_ANALYSES_STATS_LAGS_H

#include <stddef.h>

/* Ascending lags in 1 … max, written to `lags` unless it is NULL; the number of them is returned,
 * so a first call with NULL says how much room is needed. */

/* 1, 2, 4, 8, … */
size_t gs_lags_powers(size_t max, size_t *lags);
/* 1, 2, 3, … */
size_t gs_lags_all(size_t max, size_t *lags);
/* Every lag up to `every` (at least 1), then about `per_octave` (at least 1) of them in each
 * doubling, evenly on a log axis, and max itself. The choice depends on max only by being cut
 * there.
 */
size_t gs_lags_dense(size_t max, size_t every, size_t per_octave, size_t *lags);

#endif
