/* The geometry against plain loops in double over all rows at once, on random and hostile shapes,
 * against planted covariances, and its intervals against replicates made of the rows themselves. */
#include "analyses/geometry/geometry.h"
#include "analyses/geometry/sums.h"
#include "analyses/linalg/lapack.h"
#include "core/base/environment.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 20261129, MOST = 200 };

/* ---- rows ----------------------------------------------------------------------------------- */

struct data {
    size_t sequences, width;
    uint64_t start[MOST], length[MOST], rows;
    float *values;
};

static struct data make(size_t width, size_t sequences, const uint64_t *length) {
    struct data d = {.sequences = sequences, .width = width};
    for (size_t s = 0; s < sequences; s++) {
        d.start[s] = d.rows;
        d.length[s] = length[s];
        d.rows += length[s];
    }
    d.values = gs_calloc((size_t)d.rows * width, sizeof(float));
    assert_non_null(d.values);
    return d;
}

/* Dependent rows (each half the one before) around a mean, with a drift along each sequence, and
 * columns of unequal size that share a part. */
static void fill(struct data *d, double mean, const char *stream) {
    struct gs_random random;
    gs_random_seed(&random, SEED, stream);
    for (size_t s = 0; s < d->sequences; s++) {
        double own = gs_random_normal(&random);
        for (uint64_t r = 0; r < d->length[s]; r++) {
            double shared = gs_random_normal(&random);
            for (size_t c = 0; c < d->width; c++) {
                double before = r ? (double)d->values[(d->start[s] + r - 1) * d->width + c] -
                                        mean * (c % 2 ? 1 : 0.5)
                                  : 0;
                double value = 0.5 * before + gs_random_normal(&random) / (1 + 0.1 * (double)c) +
                               0.5 * shared + 0.2 * own;
                if (r == 0) value += 2;
                d->values[(d->start[s] + r) * d->width + c] =
                    (float)(mean * (c % 2 ? 1 : 0.5) + value);
            }
        }
    }
}

static struct gs_rows view(const struct data *d) {
    return gs_rows_of_array(d->values, d->width, d->sequences, d->start, d->length);
}

static int narrow; /* float32 products, which rows as few as these would not get */

static struct gs_geometry *measure(const struct data *d, uint64_t skip, size_t replicates) {
    struct gs_rows rows = view(d);
    struct gs_geometry_options options = {.skip_first = skip,
                                          .replicates_given = true,
                                          .replicates = replicates,
                                          .seed = SEED,
                                          .product_given = narrow,
                                          .product = GS_PRODUCT_FLOAT32};
    struct gs_geometry *g;
    struct gs_error error;
    gs_assert_ok(gs_geometry_of_rows(&rows, &options, &g, &error), &error);
    return g;
}

/* ---- the plain way: an array of all rows used, with where each stood --------------------------
 */

struct flat {
    size_t n, width;
    double *x;        /* (n, width) */
    uint64_t *place;  /* from 1, in its sequence among the rows used */
    size_t *sequence; /* among those used */
    size_t sequences;
};

static struct flat flatten(const struct data *d, uint64_t skip) {
    struct flat f = {.width = d->width};
    f.x = gs_calloc((size_t)d->rows * d->width, sizeof *f.x);
    f.place = gs_calloc((size_t)d->rows, sizeof *f.place);
    f.sequence = gs_calloc((size_t)d->rows, sizeof *f.sequence);
    for (size_t s = 0; s < d->sequences; s++) {
        if (d->length[s] <= skip) continue;
        for (uint64_t r = skip; r < d->length[s]; r++) {
            for (size_t c = 0; c < d->width; c++)
                f.x[f.n * d->width + c] = (double)d->values[(d->start[s] + r) * d->width + c];
            f.place[f.n] = r - skip + 1;
            f.sequence[f.n++] = f.sequences;
        }
        f.sequences++;
    }
    return f;
}

static void flat_free(struct flat *f) {
    gs_free(f->x);
    gs_free(f->place);
    gs_free(f->sequence);
}

typedef int (*chooser)(const struct flat *f, size_t row, size_t argument);

static double *mean_of(const struct flat *f, chooser chosen, size_t argument) {
    double *mean = calloc(f->width, sizeof *mean), count = 0;
    for (size_t r = 0; r < f->n; r++) {
        if (!chosen(f, r, argument)) continue;
        count++;
        for (size_t c = 0; c < f->width; c++) mean[c] += f->x[r * f->width + c];
    }
    for (size_t c = 0; c < f->width; c++) mean[c] /= count;
    return mean;
}

static int all(const struct flat *f, size_t r, size_t a) {
    (void)f, (void)r, (void)a;
    return 1;
}
static int up_to(const struct flat *f, size_t r, size_t place) {
    return f->place[r] <= place;
}
static int in_batch(const struct flat *f, size_t r, size_t batch) {
    return (f->sequences >= 8 ? f->sequence[r] * 8 / f->sequences : r * 8 / f->n) == batch;
}

static double cosine(const double *x, const double *y, size_t n) {
    double xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) xx += x[i] * x[i], yy += y[i] * y[i], xy += x[i] * y[i];
    return xy / sqrt(xx * yy);
}

/* Eigenvalues by Jacobi rotations: nothing in common with LAPACK. Largest first. */
static void jacobi(double *a, size_t n, double *values) {
    for (int sweep = 0; sweep < 60; sweep++)
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                double off = a[p * n + q];
                if (!(fabs(off) > 1e-300)) continue;
                double theta = (a[q * n + q] - a[p * n + p]) / (2 * off);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (size_t k = 0; k < n; k++) {
                    double kp = a[k * n + p], kq = a[k * n + q];
                    a[k * n + p] = c * kp - s * kq;
                    a[k * n + q] = s * kp + c * kq;
                }
                for (size_t k = 0; k < n; k++) {
                    double pk = a[p * n + k], qk = a[q * n + k];
                    a[p * n + k] = c * pk - s * qk;
                    a[q * n + k] = s * pk + c * qk;
                }
            }
    for (size_t i = 0; i < n; i++) values[i] = a[i * n + i];
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            if (values[j] > values[i]) {
                double kept = values[i];
                values[i] = values[j];
                values[j] = kept;
            }
}

static double fewest(const double *values, size_t n, double share) {
    double sum = 0, held = 0;
    for (size_t i = 0; i < n; i++) sum += values[i];
    for (size_t i = 0; i < n; i++) {
        held += values[i];
        if (held >= share * sum * (1 - 1e-9)) return (double)(i + 1);
    }
    return (double)n;
}

static void near(const char *name, double a, double b, double tolerance) {
    if (isnan(a) && isnan(b)) return;
    gs_assert_near_at(name, a, b, tolerance, tolerance, __FILE__, __LINE__);
}

static void check_norms(const struct flat *f, const struct gs_geometry *g, const double *mean,
                        double tolerance) {
    double norm = 0, energy = 0, deviation = 0, square = 0;
    for (size_t r = 0; r < f->n; r++) {
        double sum = 0;
        for (size_t c = 0; c < f->width; c++)
            sum += f->x[r * f->width + c] * f->x[r * f->width + c];
        norm += sqrt(sum) / (double)f->n;
        energy += sum / (double)f->n;
    }
    for (size_t r = 0; r < f->n; r++) {
        double sum = 0;
        for (size_t c = 0; c < f->width; c++)
            sum += f->x[r * f->width + c] * f->x[r * f->width + c];
        deviation += (sqrt(sum) - norm) * (sqrt(sum) - norm);
    }
    for (size_t c = 0; c < f->width; c++) square += mean[c] * mean[c];
    near("state_norm.mean", g->values[GS_GEOMETRY_STATE_NORM_MEAN], norm, tolerance);
    near("state_norm.std", g->values[GS_GEOMETRY_STATE_NORM_STD],
         f->n > 1 ? sqrt(deviation / (double)(f->n - 1)) : (double)NAN, 1e-7);
    near("mean_norm", g->values[GS_GEOMETRY_MEAN_NORM], sqrt(square), tolerance);
    near("mean_norm_ratio", g->values[GS_GEOMETRY_MEAN_NORM_RATIO], sqrt(square) / norm, tolerance);
    near("mean_energy", g->values[GS_GEOMETRY_MEAN_ENERGY], square / energy, tolerance);
}

static void check_cosines(const struct flat *f, const struct gs_geometry *g, const double *mean) {
    uint64_t longest = 0;
    for (size_t r = 0; r < f->n; r++)
        if (f->place[r] > longest) longest = f->place[r];
    assert_int_equal(g->running[g->running_count - 1].place, longest);
    for (size_t i = 0; i < g->running_count; i++) {
        double *start = mean_of(f, up_to, (size_t)g->running[i].place);
        uint64_t rows = 0;
        for (size_t r = 0; r < f->n; r++) rows += f->place[r] <= g->running[i].place;
        near("running", g->running[i].cosine, cosine(start, mean, f->width), 1e-12);
        assert_int_equal(g->running[i].rows, rows);
        if (g->running[i].place == 10)
            near("t10", g->values[GS_GEOMETRY_RUNNING_T10], cosine(start, mean, f->width), 1e-12);
        if (g->running[i].place == 100)
            near("t100", g->values[GS_GEOMETRY_RUNNING_T100], cosine(start, mean, f->width), 1e-12);
        free(start);
    }
    assert_int_equal(isnan(g->values[GS_GEOMETRY_RUNNING_T10]), longest < 10);
    assert_int_equal(isnan(g->values[GS_GEOMETRY_RUNNING_T100]), longest < 100);
    if (f->n < 8) return;
    double *batch[8], sum = 0, square = 0;
    for (size_t b = 0; b < 8; b++) batch[b] = mean_of(f, in_batch, b);
    for (size_t i = 0; i < 8; i++)
        for (size_t j = i + 1; j < 8; j++) sum += cosine(batch[i], batch[j], f->width) / 28;
    for (size_t i = 0; i < 8; i++)
        for (size_t j = i + 1; j < 8; j++)
            square += pow(cosine(batch[i], batch[j], f->width) - sum, 2);
    near("batch mean", g->batch_cosines.mean, sum, 1e-12);
    near("batch std", gs_running_deviation(&g->batch_cosines), sqrt(square / 27), 1e-8);
    for (size_t b = 0; b < 8; b++) free(batch[b]);
}

static void check_correlation(const struct gs_geometry *g, const double *covariance) {
    size_t d = g->dims, pairs = 0;
    double sum = 0, largest = 0;
    uint64_t counts[GS_CORRELATION_BINS] = {0}, moved = 0;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i + 1; j < d; j++) {
            if (!(covariance[i * d + i] > 0) || !(covariance[j * d + j] > 0)) continue;
            double r = covariance[i * d + j] / sqrt(covariance[i * d + i] * covariance[j * d + j]);
            pairs++;
            sum += fabs(r);
            largest = fmax(largest, fabs(r));
            int bin = (int)floor((r + 1) * 50);
            counts[bin < 0 ? 0 : bin > 99 ? 99 : bin]++;
        }
    near("corr.mean_abs", g->values[GS_GEOMETRY_CORR_MEAN_ABS],
         pairs ? sum / (double)pairs : (double)NAN, 2e-6);
    near("corr.max_abs", g->values[GS_GEOMETRY_CORR_MAX_ABS], pairs ? largest : (double)NAN, 2e-6);
    assert_int_equal(g->correlation.pairs, pairs);
    for (size_t i = 0; i < GS_CORRELATION_BINS; i++)
        moved += counts[i] > g->histogram[i] ? counts[i] - g->histogram[i] : 0;
    assert_true(moved <= pairs / 1000 + 1); /* rounding may carry one over a border */
}

static void check_spectrum(const struct flat *f, const struct gs_geometry *g, double *covariance,
                           const double *mean) {
    size_t d = f->width;
    double *values = calloc(d, sizeof *values), *about_zero = calloc(d * d, sizeof *about_zero);
    double sum = 0, squares = 0, sigma = 0, entropy = 0, trace = 0;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            about_zero[i * d + j] =
                covariance[i * d + j] * (double)(f->n - 1) / (double)f->n + mean[i] * mean[j];
    jacobi(covariance, d, values);
    for (size_t i = 0; i < d; i++) {
        if (values[i] < 0) values[i] = 0;
        sum += values[i], squares += values[i] * values[i], sigma += sqrt(values[i]);
    }
    for (size_t i = 0; i < d; i++) {
        near("eigenvalue", g->eigenvalues[i] / values[0], values[i] / values[0], 2e-6);
        double p = sqrt(values[i]) / sigma;
        if (p > 1e-7) entropy -= p * log(p);
    }
    near("pcs_50", g->values[GS_GEOMETRY_PCS_50], fewest(values, d, 0.50), 0);
    near("pcs_90", g->values[GS_GEOMETRY_PCS_90], fewest(values, d, 0.90), 0);
    near("pcs_99", g->values[GS_GEOMETRY_PCS_99], fewest(values, d, 0.99), 0);
    near("stable_rank", g->values[GS_GEOMETRY_STABLE_RANK_CENTERED], sum / values[0], 2e-6);
    near("participation", g->values[GS_GEOMETRY_PARTICIPATION], sum * sum / squares, 5e-6);
    near("participation share", g->values[GS_GEOMETRY_PARTICIPATION_SHARE],
         sum * sum / squares / (double)d, 5e-6);
    double energy = 0;
    for (size_t i = 0; i < d; i++) energy += mean[i] * mean[i];
    near("mean over first", g->values[GS_GEOMETRY_MEAN_OVER_FIRST], energy / values[0], 5e-6);
    near("effective_rank", g->values[GS_GEOMETRY_EFFECTIVE_RANK], exp(entropy), 1e-5);
    for (size_t i = 0; i < d; i++) trace += about_zero[i * d + i];
    jacobi(about_zero, d, values);
    near("uncentered", g->values[GS_GEOMETRY_STABLE_RANK_UNCENTERED], trace / values[0], 2e-6);
    free(values);
    free(about_zero);
}

static double naive_effective(const struct flat *f, const double *mean, double variance) {
    double between = 0;
    if (f->sequences < 2) return (double)NAN;
    for (size_t s = 0; s < f->sequences; s++) {
        double rows = 0, *own = calloc(f->width, sizeof *own);
        for (size_t r = 0; r < f->n; r++) {
            if (f->sequence[r] != s) continue;
            rows++;
            for (size_t c = 0; c < f->width; c++) own[c] += f->x[r * f->width + c];
        }
        for (size_t c = 0; c < f->width; c++)
            between += rows * pow(own[c] / rows - mean[c], 2) / (double)(f->sequences - 1);
        free(own);
    }
    return fmin((double)f->n, (double)f->n * variance / between);
}

static void check(const struct data *d, uint64_t skip) {
    struct gs_geometry *g = measure(d, skip, 0);
    struct flat f = flatten(d, skip);
    size_t w = d->width, dead = 0;
    double *mean = mean_of(&f, all, 0), *covariance = calloc(w * w, sizeof *covariance);
    assert_int_equal(g->rows, f.n);
    assert_int_equal(g->sequences, f.sequences);
    check_norms(&f, g, mean, 1e-12);
    check_cosines(&f, g, mean);
    if (f.n > 1) {
        double low = INFINITY, high = 0, sum = 0, variance = 0;
        for (size_t i = 0; i < w; i++)
            for (size_t j = 0; j < w; j++)
                for (size_t r = 0; r < f.n; r++)
                    covariance[i * w + j] +=
                        (f.x[r * w + i] - mean[i]) * (f.x[r * w + j] - mean[j]) / (double)(f.n - 1);
        for (size_t i = 0; i < w; i++) {
            int moves = 0;
            for (size_t r = 1; r < f.n; r++)
                moves |= f.x[r * w + i] < f.x[i] || f.x[r * w + i] > f.x[i];
            if (!moves) covariance[i * w + i] = 0; /* rounding of the plain mean */
            dead += !moves;
            double deviation = sqrt(covariance[i * w + i]);
            near("dim_std", g->deviations[i], deviation, 1e-9);
            low = fmin(low, deviation), high = fmax(high, deviation);
            sum += deviation / (double)w;
            variance += covariance[i * w + i];
        }
        near("dim_std.min", g->values[GS_GEOMETRY_DIM_STD_MIN], low, 1e-9);
        near("dim_std.max", g->values[GS_GEOMETRY_DIM_STD_MAX], high, 1e-9);
        near("dim_std.mean", g->values[GS_GEOMETRY_DIM_STD_MEAN], sum, 1e-9);
        near("effective_rows", g->effective_rows, naive_effective(&f, mean, variance), 1e-7);
        assert_int_equal(g->dead, dead);
        check_correlation(g, covariance);
        check_spectrum(&f, g, covariance, mean);
    }
    free(mean);
    free(covariance);
    flat_free(&f);
    gs_geometry_destroy(g);
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void every_measure_is_what_plain_loops_give(void **state) {
    (void)state;
    static const uint64_t lengths[][12] = {{40, 1, 130, 7, 55, 20, 20, 20, 3, 9, 11, 100},
                                           {300, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                           {90, 140, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                           {5, 5, 5, 5, 5, 5, 5, 5, 5, 0, 5, 5}};
    for (size_t i = 0; i < 4; i++)
        for (size_t width = 1; width <= 33; width += 16) {
            struct data d = make(width, 12, lengths[i]);
            fill(&d, 1.5, "loops");
            check(&d, 0);
            check(&d, 4);
            narrow = 1;
            check(&d, 0);
            narrow = 0;
            gs_free(d.values);
        }
}

static void a_mean_ten_thousand_deviations_away_costs_nothing(void **state) {
    (void)state;
    const uint64_t lengths[] = {200, 150, 250};
    struct data d = make(9, 3, lengths);
    fill(&d, 1e4, "mean");
    check(&d, 0);
    narrow = 1;
    check(&d, 0);
    narrow = 0;
    gs_free(d.values);
}

static void fewer_rows_than_dimensions_bound_the_rank(void **state) {
    (void)state;
    const uint64_t lengths[] = {7, 5};
    struct data d = make(40, 2, lengths);
    fill(&d, 1, "few");
    struct gs_geometry *g = measure(&d, 0, 0);
    for (size_t i = 0; i < 11; i++) assert_true(g->eigenvalues[i] > 1e-6);
    for (size_t i = 11; i < 40; i++)
        gs_assert_near_at("zero", g->eigenvalues[i], 0, 1e-12, 0, __FILE__, __LINE__);
    struct gs_results *results = gs_results_create("geometry");
    gs_assert_ok(gs_geometry_report(g, results, NULL), NULL);
    size_t said = 0;
    for (size_t i = 0; i < gs_results_note_count(results); i++)
        said += strstr(gs_results_note_at(results, i), "rank at most 11") != NULL;
    assert_int_equal(said, 1);
    gs_results_destroy(results);
    gs_geometry_destroy(g);
    check(&d, 0);
    gs_free(d.values);
}

static void is_undefined(const struct gs_geometry *g, enum gs_geometry_measure which,
                         const char *reason) {
    assert_true(isnan(g->values[which]));
    assert_non_null(gs_geometry_reason(g, which));
    if (!strstr(gs_geometry_reason(g, which), reason)) {
        print_error("measure %d: \"%s\" is not in \"%s\"\n", (int)which, reason,
                    gs_geometry_reason(g, which));
        fail();
    }
}

static void one_row_has_norms_and_nothing_else(void **state) {
    (void)state;
    const uint64_t lengths[] = {1};
    struct data d = make(3, 1, lengths);
    const float row[] = {3, 0, 4};
    memcpy(d.values, row, sizeof row);
    struct gs_geometry *g = measure(&d, 0, 100);
    near("norm", g->values[GS_GEOMETRY_STATE_NORM_MEAN], 5, 1e-15);
    near("ratio", g->values[GS_GEOMETRY_MEAN_NORM_RATIO], 1, 1e-15);
    near("uncentered", g->values[GS_GEOMETRY_STABLE_RANK_UNCENTERED], 1, 1e-12);
    is_undefined(g, GS_GEOMETRY_STATE_NORM_STD, "one row");
    is_undefined(g, GS_GEOMETRY_DIM_STD_MIN, "one row");
    is_undefined(g, GS_GEOMETRY_CORR_MEAN_ABS, "one row");
    is_undefined(g, GS_GEOMETRY_PCS_50, "one row");
    is_undefined(g, GS_GEOMETRY_EFFECTIVE_RANK, "one row");
    is_undefined(g, GS_GEOMETRY_RUNNING_T10, "10 rows");
    assert_true(isnan(g->batch_cosines.mean) && isnan(g->effective_rows));
    assert_false(g->intervals[GS_GEOMETRY_MEAN_NORM].known);
    assert_non_null(strstr(gs_geometry_interval_reason(g, GS_GEOMETRY_MEAN_NORM), "2 sequences"));
    check(&d, 0);
    gs_geometry_destroy(g);
    gs_free(d.values);
}

static void zero_vectors_have_no_direction(void **state) {
    (void)state;
    const uint64_t lengths[] = {20, 20};
    struct data d = make(4, 2, lengths);
    struct gs_geometry *g = measure(&d, 0, 50);
    near("norm", g->values[GS_GEOMETRY_STATE_NORM_MEAN], 0, 0);
    near("std", g->values[GS_GEOMETRY_DIM_STD_MAX], 0, 0);
    assert_int_equal(g->dead, 4);
    is_undefined(g, GS_GEOMETRY_MEAN_NORM_RATIO, "zero vectors");
    is_undefined(g, GS_GEOMETRY_MEAN_ENERGY, "zero vectors");
    is_undefined(g, GS_GEOMETRY_STABLE_RANK_UNCENTERED, "zero vectors");
    is_undefined(g, GS_GEOMETRY_STABLE_RANK_CENTERED, "no dimension varies");
    is_undefined(g, GS_GEOMETRY_CORR_MAX_ABS, "fewer than two dimensions vary");
    is_undefined(g, GS_GEOMETRY_RUNNING_T10, "zero vector");
    assert_true(g->intervals[GS_GEOMETRY_STATE_NORM_MEAN].known);
    assert_false(g->intervals[GS_GEOMETRY_MEAN_ENERGY].known);
    gs_geometry_destroy(g);
    gs_free(d.values);
}

static void a_constant_dimension_is_dead_and_has_no_correlation(void **state) {
    (void)state;
    const uint64_t lengths[] = {60, 60, 60};
    struct data d = make(5, 3, lengths);
    fill(&d, 1, "dead");
    for (uint64_t r = 0; r < d.rows; r++) {
        d.values[r * 5 + 1] = 0.1f;
        d.values[r * 5 + 4] = 2 * d.values[r * 5]; /* and a doubled one */
    }
    struct gs_geometry *g = measure(&d, 0, 50);
    assert_int_equal(g->dead, 1);
    assert_int_equal(g->correlation.pairs, 6);
    gs_assert_near_at("doubled", g->values[GS_GEOMETRY_CORR_MAX_ABS], 1, 1e-12, 0, __FILE__,
                      __LINE__);
    assert_int_equal(g->correlation.max_row, 0);
    assert_int_equal(g->correlation.max_column, 4);
    gs_assert_near_at("dead", g->values[GS_GEOMETRY_DIM_STD_MIN], 0, 0, 0, __FILE__, __LINE__);
    assert_true(g->intervals[GS_GEOMETRY_CORR_MEAN_ABS].known);
    check(&d, 0);
    gs_geometry_destroy(g);
    gs_free(d.values);
}

static int parity(size_t bits) {
    int odd = 0;
    for (; bits; bits &= bits - 1) odd = !odd;
    return odd;
}

/* Rows ±a_i along orthogonal directions: the covariance is known to the last digit. n = 2 d rows,
 * each direction twice, so λ_i = 2 a_i² / (n − 1). */
static void a_planted_spectrum_comes_out(void **state) {
    (void)state;
    enum { D = 8 };
    /* rows of a Hadamard matrix over √8 */
    double q[D][D], size[D] = {8, 4, 4, 2, 2, 1, 1, 1}, sum = 0, squares = 0;
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) q[i][j] = (parity(i & j) ? -1 : 1) / sqrt(8);
    const uint64_t lengths[] = {2 * D};
    struct data d = make(D, 1, lengths);
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) {
            d.values[2 * i * D + j] = (float)(100 + size[i] * q[i][j]);
            d.values[(2 * i + 1) * D + j] = (float)(100 - size[i] * q[i][j]);
        }
    struct gs_geometry *g = measure(&d, 0, 0);
    for (size_t i = 0; i < D; i++) {
        gs_assert_near_at("λ", g->eigenvalues[i], 2 * size[i] * size[i] / (2 * D - 1), 1e-4, 0,
                          __FILE__, __LINE__);
        sum += size[i] * size[i];
        squares += pow(size[i], 4);
    }
    near("stable", g->values[GS_GEOMETRY_STABLE_RANK_CENTERED], sum / 64, 1e-4);
    near("participation", g->values[GS_GEOMETRY_PARTICIPATION], sum * sum / squares, 1e-4);
    near("pcs_50", g->values[GS_GEOMETRY_PCS_50], 1, 0); /* 64 of 107 */
    near("pcs_90", g->values[GS_GEOMETRY_PCS_90], 4, 0); /* 96 of 107 is 89.7 %: one more */
    near("pcs_99", g->values[GS_GEOMETRY_PCS_99], 7, 0); /* 106 of 107 is 99.07 % */
    /* the mean is 100 in every dimension: ‖s̄‖² = 80000 along q₀, whose own spread is 64 */
    double largest = 80000 + 2.0 * 64 / 16, trace = 80000 + 2 * sum / 16;
    near("uncentered", g->values[GS_GEOMETRY_STABLE_RANK_UNCENTERED], trace / largest, 1e-6);
    gs_geometry_destroy(g);
    gs_free(d.values);
}

/* Rows that come in opposite pairs leave every sequence's mean at zero: that is less scatter than
 * independent rows have, and still no more than n of them. Rows that are all the same in a sequence
 * are worth one each. */
static void effective_rows_lie_between_sequences_and_rows(void **state) {
    (void)state;
    enum { S = 40, T = 10 };
    uint64_t lengths[S];
    for (size_t i = 0; i < S; i++) lengths[i] = T;
    struct data d = make(6, S, lengths);
    fill(&d, 0, "pairs");
    for (uint64_t r = 0; r < d.rows; r += 2)
        for (size_t c = 0; c < 6; c++) d.values[(r + 1) * 6 + c] = -d.values[r * 6 + c];
    struct gs_geometry *g = measure(&d, 0, 0);
    near("pairs", g->effective_rows, S * T, 0);
    gs_geometry_destroy(g);
    for (uint64_t r = 0; r < d.rows; r++)
        for (size_t c = 0; c < 6; c++) d.values[r * 6 + c] = d.values[r / T * T * 6 + c];
    g = measure(&d, 0, 0);
    /* (n − 1) and (S − 1) in the two variances leave it a little below S */
    near("copies", g->effective_rows, S, 0.03);
    gs_geometry_destroy(g);
    gs_free(d.values);
}

static void threads_change_no_bit(void **state) {
    (void)state;
    uint64_t lengths[20];
    for (size_t i = 0; i < 20; i++) lengths[i] = 30 + 11 * i;
    struct data d = make(70, 20, lengths);
    fill(&d, 2, "bits");
    struct gs_geometry *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        gs_threads_set(threads);
        struct gs_geometry *g = measure(&d, 2, 40);
        if (!first) {
            first = g;
            continue;
        }
        assert_memory_equal(g->values, first->values, sizeof g->values);
        assert_memory_equal(g->eigenvalues, first->eigenvalues, 70 * sizeof(double));
        for (int i = 0; i < GS_GEOMETRY_MEASURES; i++) {
            assert_int_equal(g->intervals[i].known, first->intervals[i].known);
            if (!g->intervals[i].known) continue;
            assert_memory_equal(&g->intervals[i].low, &first->intervals[i].low, sizeof(double));
            assert_memory_equal(&g->intervals[i].high, &first->intervals[i].high, sizeof(double));
        }
        gs_geometry_destroy(g);
    }
    gs_geometry_destroy(first);
    gs_free(d.values);
}

/* Replicates the slow way: the drawn sequences' rows side by side as a trace of their own. */
static void intervals_are_those_of_drawn_sequences(void **state) {
    (void)state;
    enum { SEQUENCES = 12, REPLICATES = 25, WIDTH = 6 };
    uint64_t lengths[SEQUENCES];
    for (size_t i = 0; i < SEQUENCES; i++) lengths[i] = 12 + i;
    struct data d = make(WIDTH, SEQUENCES, lengths);
    fill(&d, 1, "draws");
    struct gs_geometry *g = measure(&d, 0, REPLICATES);
    static double values[GS_GEOMETRY_MEASURES][REPLICATES];
    for (uint64_t r = 0; r < REPLICATES; r++) {
        size_t drawn[SEQUENCES];
        uint64_t drawn_lengths[SEQUENCES];
        gs_bootstrap_draw(SEED, r, SEQUENCES, drawn);
        for (size_t i = 0; i < SEQUENCES; i++) drawn_lengths[i] = lengths[drawn[i]];
        struct data sample = make(WIDTH, SEQUENCES, drawn_lengths);
        for (size_t i = 0; i < SEQUENCES; i++)
            memcpy(sample.values + sample.start[i] * WIDTH, d.values + d.start[drawn[i]] * WIDTH,
                   (size_t)drawn_lengths[i] * WIDTH * sizeof(float));
        struct gs_geometry *one = measure(&sample, 0, 0);
        for (int m = 0; m < GS_GEOMETRY_MEASURES; m++) values[m][r] = one->values[m];
        gs_geometry_destroy(one);
        gs_free(sample.values);
    }
    for (int m = 0; m < GS_GEOMETRY_MEASURES; m++) {
        if (m == GS_GEOMETRY_RUNNING_T100) {
            assert_false(g->intervals[m].known);
            continue;
        }
        struct gs_interval expected = gs_bootstrap_percentile(values[m], REPLICATES);
        assert_true(g->intervals[m].known && expected.known);
        int bounded = m == GS_GEOMETRY_MEAN_NORM_RATIO || m == GS_GEOMETRY_MEAN_ENERGY ||
                      m == GS_GEOMETRY_CORR_MEAN_ABS || m == GS_GEOMETRY_CORR_MAX_ABS;
        double theta = g->values[m], q[2] = {expected.high, expected.low}, ends[2];
        for (int e = 0; e < 2; e++) {
            ends[e] = theta * theta / q[e]; /* 2 log θ − log q */
            if (bounded) {
                double odds = pow(theta / (1 - theta), 2) * (1 - q[e]) / q[e];
                ends[e] = odds / (1 + odds);
            }
            if (m == GS_GEOMETRY_RUNNING_T10) ends[e] = tanh(2 * atanh(theta) - atanh(q[e]));
            if (m >= GS_GEOMETRY_PCS_50 && m <= GS_GEOMETRY_EFFECTIVE_RANK && ends[e] < 1)
                ends[e] = 1;
        }
        double low = ends[0], high = ends[1];
        near("low", g->intervals[m].low, low, 1e-5);
        near("high", g->intervals[m].high, high, 1e-5);
    }
    gs_geometry_destroy(g);
    gs_free(d.values);
}

static void many_sequences_share_blocks(void **state) {
    (void)state;
    assert_int_equal(gs_geometry_block_count(256, 10), 10);
    assert_int_equal(gs_geometry_block_count(256, 1000), 64);
    size_t wide = gs_geometry_block_count(2496, 1000);
    assert_true(wide >= 16 && wide <= 64);
    assert_int_equal(gs_geometry_block_count(30000, 1000), 16);
    assert_int_equal(gs_geometry_replicates(256), 1000);
    assert_int_equal(gs_geometry_replicates(2496), 200);
    uint64_t lengths[MOST];
    for (size_t i = 0; i < MOST; i++) lengths[i] = 1 + i % 4;
    struct data d = make(3, MOST, lengths);
    fill(&d, 1, "many");
    struct gs_geometry *g = measure(&d, 0, 20);
    assert_int_equal(g->blocks, 64);
    assert_true(g->intervals[GS_GEOMETRY_STABLE_RANK_CENTERED].known);
    gs_geometry_destroy(g);
    check(&d, 0);
    gs_free(d.values);
}

static void wrong_rows_are_named(void **state) {
    (void)state;
    const uint64_t lengths[] = {5, 9};
    struct data d = make(4, 2, lengths);
    struct gs_rows rows = view(&d);
    struct gs_geometry_options options = {.skip_first = 9, .replicates_given = true};
    struct gs_geometry *g;
    struct gs_error error;
    gs_assert_error(gs_geometry_of_rows(&rows, &options, &g, &error), GS_RANGE, &error,
                    "no state is left", "more than 9 rows", "longest of 9 rows");
    options.skip_first = 0;
    d.values[7 * 4 + 2] = INFINITY;
    gs_assert_error(gs_geometry_of_rows(&rows, &options, &g, &error), GS_NUMERIC, &error, "row 7",
                    "dimension 2", "inf");
    rows.sequences = 0;
    gs_assert_error(gs_geometry_of_rows(&rows, &options, &g, &error), GS_RANGE, &error,
                    "no state is left");
    gs_free(d.values);
}

static void everything_is_reported(void **state) {
    (void)state;
    const uint64_t lengths[] = {120, 130};
    struct data d = make(6, 2, lengths);
    fill(&d, 1, "report");
    struct gs_geometry *g = measure(&d, 0, 30);
    struct gs_results *results = gs_results_create("geometry");
    struct gs_error error;
    gs_assert_ok(gs_geometry_report(g, results, &error), &error);
    static const char *const names[] = {"state_norm.mean",
                                        "state_norm.std",
                                        "mean_norm",
                                        "mean_norm_ratio",
                                        "mean_energy",
                                        "dim_std.min",
                                        "dim_std.max",
                                        "dim_std.mean",
                                        "dead_dims",
                                        "corr.mean_abs",
                                        "corr.max_abs",
                                        "pcs_50",
                                        "pcs_90",
                                        "pcs_99",
                                        "stable_rank.centered",
                                        "stable_rank.uncentered",
                                        "participation_ratio",
                                        "participation_ratio.corrected",
                                        "effective_rank",
                                        "batch_mean_cosine.mean",
                                        "batch_mean_cosine.std",
                                        "running_mean_cosine.t10",
                                        "running_mean_cosine.t100",
                                        "rows",
                                        "dims",
                                        "effective_rows",
                                        "eigenvalues_clipped"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct gs_value value;
        if (!gs_results_find(results, names[i], &value)) fail_msg("no value %s", names[i]);
        if (strcmp(value.status, "ok") != 0 || !isfinite(value.value))
            fail_msg("%s is %g, %s", names[i], value.value, value.status);
    }
    const struct gs_table *spectrum = gs_results_find_table(results, "spectrum");
    assert_int_equal(gs_table_rows(spectrum), 6);
    assert_int_equal(gs_table_cell(spectrum, 0, 0).integer, 1);
    near("spectrum", gs_table_cell(spectrum, 2, 1).number, g->eigenvalues[2], 0);
    const struct gs_table *deviations = gs_results_find_table(results, "dim_std");
    assert_int_equal(gs_table_cell(deviations, 5, 0).integer, 5);
    near("dim_std", gs_table_cell(deviations, 5, 1).number, g->deviations[5], 0);
    const struct gs_table *running = gs_results_find_table(results, "running_mean_cosine");
    assert_int_equal(gs_table_cell(running, gs_table_rows(running) - 1, 0).integer, 130);
    const struct gs_table *histogram = gs_results_find_table(results, "corr_histogram");
    int64_t sum = 0;
    for (size_t i = 0; i < gs_table_rows(histogram); i++)
        sum += gs_table_cell(histogram, i, 2).integer;
    assert_int_equal(sum, 15);
    near("first bin", gs_table_cell(histogram, 0, 0).number, -1, 0);
    near("last bin", gs_table_cell(histogram, 99, 1).number, 1, 0);
    gs_results_destroy(results);
    gs_geometry_destroy(g);
    gs_free(d.values);
}

/* ---- replicates in float32 --------------------------------------------------------------------
 */

struct pair {
    struct gs_geometry *narrow, *wide;
};

/* 256 independent columns, the last of them `least` times as large as the first. */
static struct pair measure_both(double least) {
    static const uint64_t length[] = {100, 90, 80, 110, 100, 95, 105, 90};
    struct data d = make(256, 8, length);
    struct gs_random random;
    gs_random_seed(&random, SEED, "single");
    for (size_t i = 0; i < (size_t)d.rows * 256; i++)
        d.values[i] = (float)(3 + gs_random_normal(&random) * pow(least, (double)(i % 256) / 255));
    struct gs_rows rows = view(&d);
    struct gs_geometry_options options = {.replicates_given = true, .replicates = 40, .seed = SEED};
    struct pair pair;
    struct gs_error error;
    gs_assert_ok(gs_geometry_of_rows(&rows, &options, &pair.narrow, &error), &error);
    options.wide_replicates = true;
    gs_assert_ok(gs_geometry_of_rows(&rows, &options, &pair.wide, &error), &error);
    gs_free(d.values);
    return pair;
}

static void intervals_in_float32_are_those_in_float64(void **state) {
    (void)state;
    struct pair pair = measure_both(0.3);
    assert_true(pair.narrow->single && !pair.wide->single);
    for (int i = 0; i < GS_GEOMETRY_MEASURES; i++) {
        struct gs_interval a = pair.narrow->intervals[i], b = pair.wide->intervals[i];
        assert_true(a.known == b.known);
        if (isnan(pair.wide->values[i])) continue;
        gs_assert_near("value", pair.narrow->values[i], pair.wide->values[i], 0, 0);
        gs_assert_near("low", a.low, b.low, 0, 1e-6);
        gs_assert_near("high", a.high, b.high, 0, 1e-6);
    }
    gs_geometry_destroy(pair.narrow);
    gs_geometry_destroy(pair.wide);
}

static void small_eigenvalues_keep_float64(void **state) {
    (void)state;
    struct pair pair = measure_both(1e-3);
    assert_true(!pair.narrow->single);
    gs_geometry_destroy(pair.narrow);
    gs_geometry_destroy(pair.wide);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_measure_is_what_plain_loops_give),
        cmocka_unit_test(a_mean_ten_thousand_deviations_away_costs_nothing),
        cmocka_unit_test(fewer_rows_than_dimensions_bound_the_rank),
        cmocka_unit_test(one_row_has_norms_and_nothing_else),
        cmocka_unit_test(zero_vectors_have_no_direction),
        cmocka_unit_test(a_constant_dimension_is_dead_and_has_no_correlation),
        cmocka_unit_test(a_planted_spectrum_comes_out),
        cmocka_unit_test(effective_rows_lie_between_sequences_and_rows),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(intervals_are_those_of_drawn_sequences),
        cmocka_unit_test(many_sequences_share_blocks),
        cmocka_unit_test(wrong_rows_are_named),
        cmocka_unit_test(everything_is_reported),
        cmocka_unit_test(intervals_in_float32_are_those_in_float64),
        cmocka_unit_test(small_eigenvalues_keep_float64),
    };
    print_message("seed %d\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
