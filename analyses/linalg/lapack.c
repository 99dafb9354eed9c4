#include "analyses/linalg/lapack.h"

#include "analyses/linalg/band.h"
#include "analyses/linalg/tridiagonal.h"
#include "core/base/memory.h"

#include <lapacke.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <string.h>

/* Row-major upper is column-major lower: LAPACK then works in place, without transposing. */
enum { ORDER = LAPACK_COL_MAJOR };
static const char TRIANGLE = 'L';

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

/* Both kinds of number, in the same words. */
#define GS_BLOCK_REFLECTION(name, number, geqrf, larft)                                            \
    enum gs_status name(size_t m, size_t b, number *panel, size_t ld, number *v, number *factor,   \
                        number *tau, number *work, struct gs_error *error) {                       \
        size_t k = m < b ? m : b;                                                                  \
        lapack_int info = geqrf(ORDER, (lapack_int)m, (lapack_int)b, panel, (lapack_int)ld, tau,   \
                                work, (lapack_int)(64 * b));                                       \
        for (size_t j = 0; j < k; j++) {                                                           \
            number *column = v + j * m;                                                            \
            memset(column, 0, j * sizeof *column);                                                 \
            column[j] = 1;                                                                         \
            memcpy(column + j + 1, panel + j * ld + j + 1, (m - j - 1) * sizeof *column);          \
        }                                                                                          \
        memset(factor, 0, k *k * sizeof *factor); /* below T's diagonal nothing is written */      \
        if (info == 0)                                                                             \
            info = larft(ORDER, 'F', 'C', (lapack_int)m, (lapack_int)k, v, (lapack_int)m, tau,     \
                         factor, (lapack_int)k);                                                   \
        return word_info(info, #geqrf, "no reflection", error);                                    \
    }
GS_BLOCK_REFLECTION(gs_block_reflection, double, LAPACKE_dgeqrf_work, LAPACKE_dlarft_work)
GS_BLOCK_REFLECTION(gs_block_reflection_single, float, LAPACKE_sgeqrf_work, LAPACKE_slarft_work)
#undef GS_BLOCK_REFLECTION

/* T and the vector in its basis: everything that outlives the matrix. */
struct tridiagonal {
    size_t n;
    double *diagonal, *beside, *rotated, *work; /* (n) each */
};

static enum gs_status tridiagonal_create(size_t n, struct tridiagonal *t, struct gs_error *error) {
    double *all = gs_calloc(4 * n, sizeof *all);
    if (!all) return gs_fail_memory(error, 4 * n * sizeof *all, "a tridiagonal reduction");
    *t = (struct tridiagonal){n, all, all + n, all + 2 * n, all + 3 * n};
    return GS_OK;
}

/* y = A x from the upper triangle. */
static void multiply_upper(size_t n, const double *matrix, const double *x, double *y) {
    memset(y, 0, n * sizeof *y);
    for (size_t i = 0; i < n; i++) {
        const double *row = matrix + i * n;
        double lanes[4] = {row[i] * x[i]};
        size_t j = i + 1;
        for (; j + 4 <= n; j += 4)
            for (size_t l = 0; l < 4; l++) {
                lanes[l] += row[j + l] * x[j + l];
                y[j + l] += row[j + l] * x[i];
            }
        for (; j < n; j++) {
            lanes[0] += row[j] * x[j];
            y[j] += row[j] * x[i];
        }
        y[i] += (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }
}

static double dot(size_t n, const double *x, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* One reflection on both sides of the matrix turns the vector (t->rotated) to the first unit
 * vector, which the reduction leaves alone. */
static void turn_to_first(double *matrix, struct tridiagonal *t) {
    size_t n = t->n;
    double *v = t->rotated, *w = t->work, rest = dot(n - 1, v + 1, v + 1);
    if (!(rest > 0)) return;
    double beta = v[0] > 0 ? -sqrt(v[0] * v[0] + rest) : sqrt(v[0] * v[0] + rest);
    v[0] -= beta;
    double tau = 2 / (v[0] * v[0] + rest);
    multiply_upper(n, matrix, v, w);
    double share = tau * tau / 2 * dot(n, v, w);
    for (size_t i = 0; i < n; i++) w[i] = tau * w[i] - share * v[i];
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) matrix[i * n + j] -= v[i] * w[j] + w[i] * v[j];
    memset(v, 0, n * sizeof *v);
    v[0] = beta;
}

/* 2^e such that the matrix over 4^e has its largest element in [1/4, 1): squares inside the
 * reduction then neither overflow nor vanish. */
static double scale_of(size_t n, const double *matrix) {
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            if (fabs(matrix[i * n + j]) > largest) largest = fabs(matrix[i * n + j]);
    int exponent = 0;
    frexp(largest, &exponent);
    exponent = exponent > 0 ? (exponent + 1) / 2 : exponent / 2;
    return ldexp(1, exponent);
}

static enum gs_status reduce(double *matrix, const double *vector, double scale, int threads,
                             bool single, struct tridiagonal *t, struct gs_error *error) {
    size_t n = t->n;
    double inverse = 1 / scale;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) matrix[i * n + j] = matrix[i * n + j] * inverse * inverse;
    for (size_t i = 0; vector && i < n; i++) t->rotated[i] = vector[i] * inverse;
    if (vector) turn_to_first(matrix, t);
    return single ? gs_tridiagonal_reduce_single(n, matrix, threads, t->diagonal, t->beside, error)
                  : gs_tridiagonal_reduce(n, matrix, threads, t->diagonal, t->beside, error);
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

static enum gs_status spectrum(size_t n, double *matrix, const double *vector, int threads,
                               bool single, double *values, double *largest,
                               struct gs_error *error) {
    struct tridiagonal t = {0};
    double scale = scale_of(n, matrix);
    enum gs_status status = tridiagonal_create(n, &t, error);
    if (status != GS_OK) return status;
    status = reduce(matrix, vector, scale, threads, single, &t, error);
    if (status == GS_OK) {
        /* dsterf destroys the side diagonal, which the bisection still needs. */
        memcpy(values, t.diagonal, n * sizeof *values);
        memcpy(t.work, t.beside, n * sizeof *t.work);
        lapack_int info = LAPACKE_dsterf_work((lapack_int)n, values, t.work);
        status = word_info(info, "dsterf", "the eigenvalues did not converge", error);
    }
    if (status == GS_OK) {
        reverse(values, n);
        if (vector) *largest = largest_updated(&t, values[0]) * scale * scale;
        for (size_t i = 0; i < n; i++) values[i] = values[i] * scale * scale;
    }
    gs_free(t.diagonal);
    return status;
}

static enum gs_status eigenvalues(size_t n, double *matrix, const double *vector, bool single,
                                  double *values, double *largest, struct gs_error *error) {
    enum gs_status status = check_order(n, error);
    if (status == GS_OK) status = check_upper(n, matrix, error);
    if (status == GS_OK && vector) status = check_vector(n, vector, error);
    if (status != GS_OK || n == 0) return status;
    int threads = omp_get_max_threads();
    omp_set_num_threads(1); /* for BLAS: its bits depend on it. The reduction asks for its own */
    status = spectrum(n, matrix, vector, omp_in_parallel() ? 1 : threads, single, values, largest,
                      error);
    omp_set_num_threads(threads);
    return status;
}

enum gs_status gs_eigenvalues_updated(size_t n, double *matrix, const double *vector,
                                      double *values, double *largest, struct gs_error *error) {
    return eigenvalues(n, matrix, vector, false, values, largest, error);
}

enum gs_status gs_eigenvalues_updated_single(size_t n, double *matrix, const double *vector,
                                             double *values, double *largest,
                                             struct gs_error *error) {
    return eigenvalues(n, matrix, vector, true, values, largest, error);
}

enum gs_status gs_eigenvalues(size_t n, double *matrix, double *values, struct gs_error *error) {
    return eigenvalues(n, matrix, NULL, false, values, NULL, error);
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
