/* nearest_unimodal.h - the dip by its definition, for small samples: a linear programme. */
#ifndef GS_TESTS_ANALYSES_SPLIT_NEAREST_UNIMODAL_H
#define GS_TESTS_ANALYSES_SPLIT_NEAREST_UNIMODAL_H

#include <stddef.h>

enum { GS_NEAREST_MOST = 10 }; /* values */

/* The least D for which some distribution with one peak stays within D of the empirical one of
 * `count` ascending values, not all the same: over each value as the peak, a programme in the
 * heights at the distinct values. */
double gs_nearest_unimodal(const double *sorted, size_t count);

#endif
