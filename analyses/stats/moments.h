/* moments.h - mean and centred second moments of rows, in one pass and O(d²) memory.
 *
 * Rows are gathered into blocks of up to 4,096. A block is centred on its own mean in float64,
 * each column is measured in a power of two that brings it into [−1, 1], the products are made, and
 * the block joins the sums in float64 by Chan's formula (Chan, Golub, LeVeque 1983):
 *
 *     M ← M_a + M_b + (n_a n_b / n) (m_b − m_a)(m_b − m_a)ᵀ
 *
 * So a mean many times the deviation costs no digits beyond those the rows lost when they were
 * stored. The diagonal is summed in float64 always; products of two columns are float32 inside a
 * block (relative to sqrt(M_ii M_jj) good to about 1e-6) or float64 throughout, as asked.
 * Products are cut into tiles of fixed size, each computed by one thread: the bits do not depend on
 * the number of threads.
 */
#ifndef GS_ANALYSES_STATS_MOMENTS_H
#define GS_ANALYSES_STATS_MOMENTS_H

#include "core/base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Sums over n rows of width dims. One allocation each; free with gs_moments_destroy. */
struct gs_moments {
    size_t dims;
    uint64_t n;
    double *mean;     /* (dims) */
    double *comoment; /* packed upper triangle, row by row: Σ (x_i − m_i)(x_j − m_j), j ≥ i */
    float *low, *high; /* (dims) smallest and largest value; +Inf and −Inf while n is 0 */
};

/* Place of (row, column ≥ row) in a packed triangle, and the number of places. */
static inline size_t gs_packed(size_t dims, size_t row, size_t column) {
    return row * dims - row * (row + 1) / 2 + column;
}
static inline size_t gs_packed_count(size_t dims) {
    return dims * (dims + 1) / 2;
}

/* Empty moments. GS_UNSUPPORTED when dims is 0 or above 32,766 (LAPACK's limit, lapack.h). */
enum gs_status gs_moments_create(size_t dims, struct gs_moments **moments, struct gs_error *error);
void gs_moments_destroy(struct gs_moments *moments); /* NULL is fine */
void gs_moments_reset(struct gs_moments *moments);
/* Chan's merge; both have the same dims. Merging in another order changes last bits only. */
void gs_moments_merge(struct gs_moments *into, const struct gs_moments *from);

enum gs_moments_product { GS_PRODUCT_FLOAT32, GS_PRODUCT_FLOAT64 };
const char *gs_moments_product_name(enum gs_moments_product product); /* "float32", "float64" */

/* The gathering of rows and the block products; one may serve many gs_moments in turn. */
struct gs_moments_builder;
enum gs_status gs_moments_builder_create(size_t dims, enum gs_moments_product product,
                                         struct gs_moments_builder **builder,
                                         struct gs_error *error);
void gs_moments_builder_destroy(struct gs_moments_builder *builder); /* NULL is fine */

/* Add `count` row-major rows (count, dims) to `moments`. The last ones may wait inside the builder
 * until gs_moments_builder_flush, which must come before another gs_moments is served and before
 * the sums are read. GS_NUMERIC names row (counted over all rows given to this builder) and column
 * of a value that is not finite. */
enum gs_status gs_moments_builder_add(struct gs_moments_builder *builder,
                                      struct gs_moments *moments, const float *rows, size_t count,
                                      struct gs_error *error);
/* The same without a copy: write up to *rows rows (at least 1) to the place returned, then say how
 * many there are, and the sum of each column (dims) over them. What has been put stays readable
 * there until the next call for room. */
float *gs_moments_builder_room(struct gs_moments_builder *builder, size_t *rows);
enum gs_status gs_moments_builder_put(struct gs_moments_builder *builder,
                                      struct gs_moments *moments, size_t count, const double *sums,
                                      struct gs_error *error);
enum gs_status gs_moments_builder_flush(struct gs_moments_builder *builder,
                                        struct gs_moments *moments, struct gs_error *error);

#endif
