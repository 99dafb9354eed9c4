#include "analyses/linalg/lapack.h"

#include "core/base/memory.h"

#include <lapacke.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>

/* Row-major upper is column-major lower: LAPACK then works in place, without transposing. */
enum { ORDER = LAPACK_COL_MAJOR };
static const char TRIANGLE = 'L';
enum { BLOCK = 64 }; /* columns of a reduction step; sets the workspace of dsytrd and dormtr */

static enum gs_status check_order(size_t n, struct gs_error *error) {
    if (n <= GS_LAPACK_LARGEST_ORDER) return GS_OK;
    gs_fail(error, GS_UNSUPPORTED, "the matrix is too large for LAPACK's 32-bit workspaces");
    gs_error_expected(error, "at most %d rows", GS_LAPACK_LARGEST_ORDER);
    gs_error_found(error, "%zu", n);
    gs_error_next(error, "analyse fewer dimensions");
    return GS_UNSUPPORTED;
}

static enum gs_status refuse_value(double value, const char *what, size_t row, size_t column,
                                   struct gs_error *error) {
    gs_fail(error, GS_NUMERIC, "%s holds a value that is not finite", what);
    gs_error_expected(error, "finite numbers");
    gs_error_found(error, "%g", value);
    gs_error_where(error, "row %zu, column %zu", row, column);
    return GS_NUMERIC;
}

static enum gs_status check_upper(size_t n, const double *matrix, struct gs_error *error) {
    for (size_t row = 0; row < n; row++)
        for (size_t column = row; column < n; column++)
            if (!isfinite(matrix[row * n + column]))
                return refuse_value(matrix[row * n + column], "the symmetric matrix", row, column,
                                    error);
    return GS_OK;
}

static enum gs_status check_vector(size_t n, const double *vector, struct gs_error *error) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(vector[i])) return refuse_value(vector[i], "the vector", i, 0, error);
    return GS_OK;
}

/* LAPACK's info in words: negative is a mistake of ours, positive what happened to the numbers. */
static enum gs_status word_info(lapack_int info, const char *routine, const char *meaning,
                                struct gs_error *error) {
    if (info == 0) return GS_OK;
    if (info < 0)
        return gs_fail(error, GS_NUMERIC, "LAPACK's %s refused its argument %d", routine,
                       (int)-info);
    return gs_fail(error, GS_NUMERIC, "LAPACK's %s: %s (info %d)", routine, meaning, (int)info);
}

static void reverse(double *values, size_t n) {
    for (size_t i = 0; i < n / 2; i++) {
        double kept = values[i];
        values[i] = values[n - 1 - i];
        values[n - 1 - i] = kept;
    }
}

/* T and the vector in its basis: everything that outlives the matrix. */
struct tridiagonal {
    size_t n;
    double *diagonal, *beside, *tau, *rotated, *work; /* (n) each, work (BLOCK n) */
};

static enum gs_status tridiagonal_create(size_t n, struct tridiagonal *t, struct gs_error *error) {
    size_t row = n > 0 ? n : 1;
    double *all = gs_calloc((4 + BLOCK) * row, sizeof *all);
    if (!all) {
        gs_fail_memory(error, (4 + BLOCK) * row * sizeof *all, "a tridiagonal reduction");
        return GS_NO_MEMORY;
    }
    *t = (struct tridiagonal){n, all, all + row, all + 2 * row, all + 3 * row, all + 4 * row};
    return GS_OK;
}

static enum gs_status reduce(double *matrix, const double *vector, struct tridiagonal *t,
                             struct gs_error *error) {
    lapack_int n = (lapack_int)t->n, work = (lapack_int)(BLOCK * t->n);
    lapack_int info = LAPACKE_dsytrd_work(ORDER, TRIANGLE, n, matrix, n, t->diagonal, t->beside,
                                          t->tau, t->work, work);
    enum gs_status status = word_info(info, "dsytrd", "no reduction", error);
    if (status != GS_OK || !vector) return status;
    for (size_t i = 0; i < t->n; i++) t->rotated[i] = vector[i];
    info = LAPACKE_dormtr_work(ORDER, 'L', TRIANGLE, 'T', n, 1, matrix, n, t->tau, t->rotated, n,
                               t->work, work);
    return word_info(info, "dormtr", "no rotation", error);
}

/* 1 − zᵀ(λ − T)⁻¹z > 0, that is: λ lies above every eigenvalue of T + zzᵀ. A pivot that is not
 * positive says that λ is not even above those of T. */
static bool lies_above(const struct tridiagonal *t, double lambda) {
    double pivot = 0, carried = 0, sum = 0;
    for (size_t i = 0; i < t->n; i++) {
        double beside = i ? t->beside[i - 1] : 0;
        double ratio = i ? beside / pivot : 0;
        carried = t->rotated[i] + ratio * carried;
        pivot = lambda - t->diagonal[i] - ratio * beside;
        if (!(pivot > 0)) return false;
        sum += carried * carried / pivot;
        if (!(sum < 1)) return false;
    }
    return true;
}

static double largest_updated(const struct tridiagonal *t, double largest) {
    double square = 0;
    for (size_t i = 0; i < t->n; i++) square += t->rotated[i] * t->rotated[i];
    double low = largest, high = largest + square;
    for (int step = 0; step < 200; step++) {
        double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high)) break;
        if (lies_above(t, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

static enum gs_status spectrum(size_t n, double *matrix, const double *vector, double *values,
                               double *largest, struct gs_error *error) {
    struct tridiagonal t = {0};
    enum gs_status status = tridiagonal_create(n, &t, error);
    if (status != GS_OK) return status;
    status = reduce(matrix, vector, &t, error);
    if (status == GS_OK) {
        /* dsterf destroys the side diagonal, which the bisection still needs. */
        double *spare = t.work;
        for (size_t i = 0; i < n; i++) values[i] = t.diagonal[i];
        for (size_t i = 0; i + 1 < n; i++) spare[i] = t.beside[i];
        lapack_int info = LAPACKE_dsterf_work((lapack_int)n, values, spare);
        status = word_info(info, "dsterf", "the eigenvalues did not converge", error);
    }
    if (status == GS_OK) {
        reverse(values, n);
        if (vector) *largest = largest_updated(&t, values[0]);
    }
    gs_free(t.diagonal);
    return status;
}

enum gs_status gs_eigenvalues_updated(size_t n, double *matrix, const double *vector,
                                      double *values, double *largest, struct gs_error *error) {
    enum gs_status status = check_order(n, error);
    if (status == GS_OK) status = check_upper(n, matrix, error);
    if (status == GS_OK && vector) status = check_vector(n, vector, error);
    if (status != GS_OK || n == 0) return status;
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    status = spectrum(n, matrix, vector, values, largest, error);
    omp_set_num_threads(threads);
    return status;
}

enum gs_status gs_eigenvalues(size_t n, double *matrix, double *values, struct gs_error *error) {
    return gs_eigenvalues_updated(n, matrix, NULL, values, NULL, error);
}

static enum gs_status vectors(size_t n, double *matrix, double *values, struct gs_error *error) {
    size_t doubles = 1 + 6 * n + 2 * n * n, integers = 3 + 5 * n;
    double *work = gs_calloc(doubles, sizeof *work);
    lapack_int *whole = gs_calloc(integers, sizeof *whole);
    enum gs_status status;
    if (work && whole) {
        lapack_int info =
            LAPACKE_dsyevd_work(ORDER, 'V', TRIANGLE, (lapack_int)n, matrix, (lapack_int)n, values,
                                work, (lapack_int)doubles, whole, (lapack_int)integers);
        status = word_info(info, "dsyevd", "the eigenvectors did not converge", error);
    } else {
        status = gs_fail_memory(error, doubles * sizeof *work, "eigenvectors");
    }
    gs_free(work);
    gs_free(whole);
    return status;
}

/* Column-major vectors in columns are row-major vectors in rows; only their order is turned. */
static void reverse_rows(double *matrix, size_t n) {
    for (size_t i = 0; i < n / 2; i++)
        for (size_t j = 0; j < n; j++) {
            double kept = matrix[i * n + j];
            matrix[i * n + j] = matrix[(n - 1 - i) * n + j];
            matrix[(n - 1 - i) * n + j] = kept;
        }
}

enum gs_status gs_eigenvectors(size_t n, double *matrix, double *values, struct gs_error *error) {
    enum gs_status status = check_order(n, error);
    if (status == GS_OK) status = check_upper(n, matrix, error);
    if (status != GS_OK || n == 0) return status;
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    status = vectors(n, matrix, values, error);
    omp_set_num_threads(threads);
    if (status != GS_OK) return status;
    reverse(values, n);
    reverse_rows(matrix, n);
    return GS_OK;
}
