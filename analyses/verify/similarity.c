#include "analyses/verify/similarity.h"

#include "analyses/linalg/lapack.h"
#include "analyses/stats/moments.h"
#include "core/base/memory.h"

#include <math.h>
#include <string.h>

enum { STRETCH = 256 }; /* rows read at a time */

/* Σ over the block of squared products: rows [row, row + rows), columns from `column` on. `square`:
 * the block is symmetric and its upper half is what there is. */
static double squares(const struct gs_moments *m, size_t row, size_t rows, size_t column,
                      size_t columns, bool square) {
    double total = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = square ? i : 0; j < columns; j++) {
            double x = m->comoment[gs_packed(m->dims, row + i, column + j)];
            total += square && j > i ? 2 * x * x : x * x;
        }
    return total;
}

static double trace_of(const struct gs_moments *m, size_t first, size_t count) {
    double total = 0;
    for (size_t i = first; i < first + count; i++) total += m->comoment[gs_packed(m->dims, i, i)];
    return total;
}

/* The sum of the singular values of XᵀY, the largest eigenvalues of [0 XᵀY; YᵀX 0]: that is right
 * to rounding, where roots of the eigenvalues of a product would lose half of the digits. */
static enum gs_status nuclear_norm(const struct gs_moments *m, size_t d, double *norm,
                                   struct gs_error *error) {
    size_t all = m->dims, places;
    if (!gs_multiply(all, all, &places)) return gs_fail_memory(error, SIZE_MAX, "singular values");
    double *matrix = gs_calloc(places, sizeof *matrix), *values = gs_calloc(all, sizeof *values);
    enum gs_status status = matrix && values
                                ? GS_OK
                                : gs_fail_memory(error, places * sizeof *matrix, "singular values");
    if (status == GS_OK) {
        for (size_t i = 0; i < d; i++)
            for (size_t j = d; j < all; j++)
                matrix[i * all + j] = m->comoment[gs_packed(all, i, j)];
        status = gs_eigenvalues(all, matrix, values, error);
    }
    *norm = 0;
    for (size_t i = 0; status == GS_OK && i < all && values[i] > 0; i++) *norm += values[i];
    gs_free(matrix);
    gs_free(values);
    return status;
}

enum gs_status gs_similarity_of_moments(const struct gs_moments *m, size_t d,
                                        struct gs_similarity *similarity, struct gs_error *error) {
    size_t e = m->dims - d;
    double own = squares(m, 0, d, 0, d, true), other = squares(m, d, e, d, e, true);
    double variance = trace_of(m, 0, d), other_variance = trace_of(m, d, e), norm = 0;
    *similarity = (struct gs_similarity){m->n, (double)NAN, (double)NAN};
    if (!(own > 0 && other > 0)) return GS_OK;
    similarity->cka = squares(m, 0, d, d, e, false) / (sqrt(own) * sqrt(other));
    enum gs_status status = nuclear_norm(m, d, &norm, error);
    if (status != GS_OK) return status;
    double left = 1 - norm / (sqrt(variance) * sqrt(other_variance));
    similarity->procrustes = sqrt(2 * fmax(left, 0));
    return GS_OK;
}

/* ---- one pass ---- */

struct pass {
    const struct gs_rows *a, *b;
    float *from_a, *from_b, *both; /* STRETCH rows of each, and side by side */
    struct gs_moments_builder *builder;
    struct gs_moments *moments;
};

static enum gs_status add_stretch(const struct pass *pass, size_t s, size_t other, uint64_t from,
                                  size_t count, struct gs_error *error) {
    size_t d = pass->a->width, e = pass->b->width;
    enum gs_status status = gs_rows_read(pass->a, s, from, count, pass->from_a, error);
    if (status == GS_OK) status = gs_rows_read(pass->b, other, from, count, pass->from_b, error);
    if (status != GS_OK) return status;
    for (size_t r = 0; r < count; r++) {
        float *row = pass->both + r * (d + e);
        memcpy(row, pass->from_a + r * d, d * sizeof *row);
        memcpy(row + d, pass->from_b + r * e, e * sizeof *row);
    }
    return gs_moments_builder_add(pass->builder, pass->moments, pass->both, count, error);
}

static enum gs_status add_all(const struct pass *pass, size_t shift,
                              const struct gs_progress *progress, struct gs_error *error) {
    enum gs_status status = GS_OK;
    size_t sequences = pass->a->sequences;
    for (size_t s = 0; status == GS_OK && s < sequences; s++) {
        size_t other = (s + shift) % sequences;
        uint64_t rows = pass->a->length[s];
        if (pass->b->length[other] < rows) rows = pass->b->length[other];
        if (gs_progress_stop(progress)) return gs_fail(error, GS_INTERRUPTED, "stopped on request");
        for (uint64_t at = 0; status == GS_OK && at < rows; at += STRETCH) {
            uint64_t left = rows - at;
            status =
                add_stretch(pass, s, other, at, left < STRETCH ? (size_t)left : STRETCH, error);
        }
    }
    return status == GS_OK ? gs_moments_builder_flush(pass->builder, pass->moments, error) : status;
}

static enum gs_status run_pass(struct pass *pass, size_t shift, const struct gs_progress *progress,
                               struct gs_similarity *similarity, struct gs_error *error) {
    size_t d = pass->a->width, e = pass->b->width;
    enum gs_status status = gs_moments_create(d + e, &pass->moments, error);
    if (status == GS_OK)
        status = gs_moments_builder_create(d + e, GS_PRODUCT_FLOAT64, &pass->builder, error);
    if (status != GS_OK) return status;
    pass->from_a = gs_calloc(d * STRETCH, sizeof(float));
    pass->from_b = gs_calloc(e * STRETCH, sizeof(float));
    pass->both = gs_calloc((d + e) * STRETCH, sizeof(float));
    if (!pass->from_a || !pass->from_b || !pass->both)
        return gs_fail_memory(error, 2 * (d + e) * STRETCH * sizeof(float), "rows");
    status = add_all(pass, shift, progress, error);
    if (status != GS_OK) return status;
    if (pass->moments->n < 2) {
        gs_fail(error, GS_RANGE, "too few rows to compare two models' states");
        gs_error_expected(error, "at least 2");
        gs_error_found(error, "%llu", (unsigned long long)pass->moments->n);
        return GS_RANGE;
    }
    return gs_similarity_of_moments(pass->moments, d, similarity, error);
}

enum gs_status gs_similarity_of_rows(const struct gs_rows *a, const struct gs_rows *b, size_t shift,
                                     const struct gs_progress *progress,
                                     struct gs_similarity *similarity, struct gs_error *error) {
    if (a->sequences != b->sequences) {
        gs_fail(error, GS_SHAPE, "two models' states are of different numbers of sequences");
        gs_error_expected(error, "%zu", a->sequences);
        gs_error_found(error, "%zu", b->sequences);
        return GS_SHAPE;
    }
    struct pass pass = {.a = a, .b = b};
    enum gs_status status = run_pass(&pass, shift, progress, similarity, error);
    gs_moments_builder_destroy(pass.builder);
    gs_moments_destroy(pass.moments);
    gs_free(pass.from_a);
    gs_free(pass.from_b);
    gs_free(pass.both);
    return status;
}
