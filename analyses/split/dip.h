/* dip.h - Hartigan's dip: how far a sample is from the nearest distribution with one peak.
 *
 *     dip = min over unimodal F of  sup_x |F_n(x) − F(x)|,   1/(2n) ≤ dip ≤ 1/4
 *
 * by Hartigan and Hartigan's algorithm (Annals of Statistics 13, 1985; AS 217) with the corrections
 * known since: the sample's convex minorant to the left of a modal interval and its concave
 * majorant to the right, the interval shrunk until the two no longer part. O(n) from a sorted
 * sample.
 */
#ifndef GS_ANALYSES_SPLIT_DIP_H
#define GS_ANALYSES_SPLIT_DIP_H

#include <stddef.h>

/* How many size_t of scratch gs_dip wants for n values. */
#define GS_DIP_SCRATCH(n) (4 * (n))

/* The dip of `count` ascending values (ties are fine, NaN is not); 0 for count 0, 1/(2 count) for
 * values that are all the same. `scratch` holds GS_DIP_SCRATCH(count) size_t, with anything in
 * them. */
double gs_dip(const double *sorted, size_t count, size_t *scratch);

#endif
