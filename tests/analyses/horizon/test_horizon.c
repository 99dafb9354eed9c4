/* The horizon against double loops over pairs, on random and hostile rows, and planted answers. */
#include "analyses/horizon/horizon.h"
#include "analyses/horizon/partners.h"
#include "core/base/environment.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/results/results.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { SEED = 20261129, MOST_SEQUENCES = 16 };

/* ---- rows ---- */

struct data {
    size_t sequences, width;
    uint64_t start[MOST_SEQUENCES], length[MOST_SEQUENCES];
    float *values;
};

static struct data make_data(size_t width, const uint64_t *length, size_t sequences) {
    struct data d = {.sequences = sequences, .width = width};
    uint64_t rows = 0;
    for (size_t s = 0; s < sequences; s++) {
        d.start[s] = rows;
        d.length[s] = length[s];
        rows += length[s];
    }
    d.values = gs_calloc((size_t)rows * width, sizeof(float));
    assert_non_null(d.values);
    return d;
}

static struct gs_rows rows_of(const struct data *d) {
    return gs_rows_of_array(d->values, d->width, d->sequences, d->start, d->length);
}

static float *row_of(const struct data *d, size_t sequence, uint64_t row) {
    return d->values + (d->start[sequence] + row) * d->width;
}

/* Independent normal rows around `mean` times a normal direction. */
static void fill_normal(struct data *d, double mean, double deviation, uint64_t seed) {
    struct gs_random random;
    gs_random_seed(&random, seed, "test/horizon");
    for (size_t s = 0; s < d->sequences; s++)
        for (uint64_t r = 0; r < d->length[s]; r++)
            for (size_t c = 0; c < d->width; c++)
                row_of(d, s, r)[c] =
                    (float)(mean * (c % 2 ? 1 : -0.5) + deviation * gs_random_normal(&random));
}

/* ---- the naive way ---- */

struct naive {
    double sum, pairs;
};

static void naive_mean(const struct data *d, size_t first, size_t last, double *mean) {
    for (size_t c = 0; c < d->width; c++) {
        long double sum = 0;
        uint64_t rows = 0;
        for (size_t s = first; s < last; s++)
            for (uint64_t r = 0; r < d->length[s]; r++, rows++) sum += row_of(d, s, r)[c];
        mean[c] = rows ? (double)(sum / rows) : 0;
    }
}

static void naive_pair(const float *a, const double *am, const float *b, const double *bm,
                       size_t width, struct naive *result) {
    double ab = 0, aa = 0, bb = 0;
    for (size_t c = 0; c < width; c++) {
        double x = a[c] - am[c], y = b[c] - bm[c];
        ab += x * y, aa += x * x, bb += y * y;
    }
    if (aa == 0 || bb == 0) return;
    result->sum += ab / sqrt(aa * bb);
    result->pairs += 1;
}

/* Sums of one curve over lags least … most, all sequences. */
static struct naive naive_curve(const struct data *d, enum gs_curve curve, const int64_t *partner,
                                size_t least, size_t most) {
    struct naive result = {0, 0};
    double *zero = gs_calloc(d->width, sizeof *zero), *mean = gs_calloc(d->width, sizeof *mean);
    for (size_t s = 0; s < d->sequences; s++) {
        size_t other = s;
        if (curve >= GS_CURVE_NULL) {
            if (partner[s] < 0) continue;
            other = (size_t)partner[s];
        }
        if (curve == GS_CURVE_CENTERED_SEQUENCE) naive_mean(d, s, s + 1, mean);
        if (curve == GS_CURVE_CENTERED_GLOBAL || curve == GS_CURVE_NULL_CENTERED_GLOBAL)
            naive_mean(d, 0, d->sequences, mean);
        for (size_t k = least; k <= most; k++)
            for (uint64_t t = 0; t < d->length[s] && t + k < d->length[other]; t++)
                naive_pair(row_of(d, s, t),
                           curve == GS_CURVE_RAW || curve == GS_CURVE_NULL ? zero : mean,
                           row_of(d, other, t + k),
                           curve == GS_CURVE_RAW || curve == GS_CURVE_NULL ? zero : mean, d->width,
                           &result);
    }
    gs_free(zero);
    gs_free(mean);
    return result;
}

static void check_column(const struct gs_horizon *h, enum gs_curve curve, size_t column,
                         struct naive expected, size_t lag) {
    char name[96];
    double pairs, mean = gs_horizon_mean(h, curve, column, &pairs);
    snprintf(name, sizeof name, "%s, column %zu, lag %zu: pairs", gs_curve_name(curve), column,
             lag);
    gs_assert_near(name, pairs, expected.pairs, 0, 0);
    snprintf(name, sizeof name, "%s, column %zu, lag %zu", gs_curve_name(curve), column, lag);
    if (expected.pairs == 0)
        assert_true(isnan(mean));
    else
        gs_assert_near(name, mean, expected.sum / expected.pairs, 1e-6, 0);
}

/* Everything gs_horizon_measure gives against the naive way. */
static void check_against_naive(const struct data *d, struct gs_horizon_plan plan) {
    struct gs_error error;
    struct gs_rows rows = rows_of(d);
    struct gs_horizon *h = NULL;
    int64_t partner[MOST_SEQUENCES];
    plan.seed = SEED;
    gs_assert_ok(gs_partners_draw(d->sequences, plan.document, plan.seed, partner, &error), &error);
    gs_assert_ok(gs_horizon_measure(&rows, &plan, NULL, &h, &error), &error);
    size_t half = h->max_lag - h->max_lag / 2;
    for (size_t c = 0; c < GS_CURVES; c++) {
        enum gs_curve curve = (enum gs_curve)c;
        for (size_t l = 0; l < h->lag_count; l++)
            check_column(h, curve, l, naive_curve(d, curve, partner, h->lags[l], h->lags[l]),
                         h->lags[l]);
        struct naive none = {0, 0};
        check_column(h, curve, h->lag_count + GS_BAND_PLATEAU,
                     h->max_lag ? naive_curve(d, curve, partner, half, h->max_lag) : none, 0);
        check_column(h, curve, h->lag_count + GS_BAND_WHOLE,
                     h->max_lag ? naive_curve(d, curve, partner, 1, h->max_lag) : none, 0);
    }
    gs_horizon_destroy(h);
}

/* ---- random and hostile shapes ---- */

static void random_shapes(void **state) {
    (void)state;
    static const uint64_t length[] = {50, 1, 0, 33, 128, 129, 90};
    static const size_t widths[] = {1, 3, 16, 37}, lags[] = {0, 1, 7, 40, 1000};
    for (size_t w = 0; w < 4; w++)
        for (size_t l = 0; l < 5; l++)
            for (int all = 0; all < 2; all++) {
                print_message("width %zu, max_lag %zu, all %d, seed %d\n", widths[w], lags[l], all,
                              SEED);
                struct data d = make_data(widths[w], length, 7);
                fill_normal(&d, 0.5, 1, SEED + w);
                check_against_naive(
                    &d, (struct gs_horizon_plan){.max_lag = lags[l], .all_lags = all, .block = 16});
                gs_free(d.values);
            }
}

static void zero_vectors_are_left_out(void **state) {
    (void)state;
    static const uint64_t length[] = {40, 21, 30};
    for (int all = 0; all < 2; all++) {
        struct data d = make_data(5, length, 3);
        fill_normal(&d, 0, 1, SEED);
        for (uint64_t r = 0; r < 40; r += 3) memset(row_of(&d, 0, r), 0, 5 * sizeof(float));
        for (uint64_t r = 0; r < 21; r++) memset(row_of(&d, 1, r), 0, 5 * sizeof(float));
        check_against_naive(&d, (struct gs_horizon_plan){.all_lags = all, .block = 8});
        struct gs_rows rows = rows_of(&d);
        struct gs_horizon *h;
        struct gs_error error;
        struct gs_horizon_plan plan = {.all_lags = all};
        gs_assert_ok(gs_horizon_measure(&rows, &plan, NULL, &h, &error), &error);
        assert_int_equal(h->zero_vectors[GS_CURVE_RAW], 14 + 21);
        assert_int_equal(h->zero_vectors[GS_CURVE_CENTERED_SEQUENCE], 21);
        assert_int_equal(h->zero_vectors[GS_CURVE_CENTERED_GLOBAL], 0);
        gs_horizon_destroy(h);
        gs_free(d.values);
    }
}

static void constant_rows_have_no_centred_direction(void **state) {
    (void)state;
    static const uint64_t length[] = {30, 30};
    struct data d = make_data(4, length, 2);
    for (size_t i = 0; i < 60 * 4; i++) d.values[i] = 0.1f + (float)(i % 4);
    struct gs_rows rows = rows_of(&d);
    struct gs_horizon *h;
    struct gs_error error;
    struct gs_horizon_plan plan = {.block = 7};
    gs_assert_ok(gs_horizon_measure(&rows, &plan, NULL, &h, &error), &error);
    assert_int_equal(h->zero_vectors[GS_CURVE_RAW], 0);
    assert_int_equal(h->zero_vectors[GS_CURVE_CENTERED_SEQUENCE], 60);
    assert_int_equal(h->zero_vectors[GS_CURVE_CENTERED_GLOBAL], 60);
    gs_assert_near("raw", gs_horizon_mean(h, GS_CURVE_RAW, 0, NULL), 1, 1e-6, 0);
    assert_true(isnan(gs_horizon_mean(h, GS_CURVE_CENTERED_GLOBAL, 0, NULL)));
    gs_horizon_destroy(h);
    gs_free(d.values);
}

static void a_huge_mean_does_not_cancel(void **state) {
    (void)state;
    static const uint64_t length[] = {60, 45};
    struct data d = make_data(11, length, 2);
    fill_normal(&d, 1e6, 10, SEED);
    check_against_naive(&d, (struct gs_horizon_plan){.block = 16});
    check_against_naive(&d, (struct gs_horizon_plan){.block = 16, .all_lags = true});
    gs_free(d.values);
}

/* Sequences far apart, a few rows near zero, one far too large to square: a common centre would
 * cost the centred curves their digits, so such sequences are measured the long way. */
static void rows_that_would_lose_digits_lose_none(void **state) {
    (void)state;
    static const uint64_t length[] = {60, 45, 70};
    for (int kind = 0; kind < 4; kind++) {
        struct data d = make_data(11, length, 3);
        fill_normal(&d, 1, 1, SEED + (uint64_t)kind);
        for (size_t s = 0; s < 3; s++)
            for (uint64_t r = 0; r < d.length[s]; r++)
                for (size_t c = 0; c < 11; c++) {
                    float *value = row_of(&d, s, r) + c;
                    if (kind == 0) *value += 1e4f * (float)(s * (c + 1));
                    if (kind == 1 && r % 7 == 3) *value *= 1e-6f;
                    if (kind == 2 && s == 1) *value *= 1e25f;
                    if (kind == 3) *value *= 1e-25f;
                }
        check_against_naive(&d, (struct gs_horizon_plan){.block = 16});
        check_against_naive(&d, (struct gs_horizon_plan){0});
        gs_free(d.values);
    }
}

static void one_row_has_no_pairs(void **state) {
    (void)state;
    static const uint64_t length[] = {1, 1, 0};
    for (size_t sequences = 0; sequences <= 3; sequences++) {
        struct data d = make_data(3, length, sequences);
        fill_normal(&d, 0, 1, SEED);
        check_against_naive(&d, (struct gs_horizon_plan){0});
        check_against_naive(&d, (struct gs_horizon_plan){.all_lags = true});
        struct gs_rows rows = rows_of(&d);
        struct gs_horizon *h;
        struct gs_error error;
        struct gs_horizon_plan plan = {0};
        struct gs_bootstrap bootstrap = {.seed = SEED, .replicates = 50};
        gs_assert_ok(gs_horizon_measure(&rows, &plan, NULL, &h, &error), &error);
        struct gs_results *results = gs_results_create("horizon");
        gs_assert_ok(gs_horizon_results(h, &bootstrap, results, &error), &error);
        struct gs_value value;
        assert_true(gs_results_find(results, "horizon.raw.k1", &value));
        assert_true(isnan(value.value));
        assert_string_equal(value.status, "undefined");
        assert_true(gs_results_find(results, "horizon.centered_sequence.efold", &value));
        assert_string_equal(value.status, "undefined");
        assert_int_equal(gs_table_rows(gs_results_find_table(results, "horizon")), 0);
        gs_results_destroy(results);
        gs_horizon_destroy(h);
        gs_free(d.values);
    }
}

static void one_sequence_has_no_null(void **state) {
    (void)state;
    static const uint64_t length[] = {300};
    struct data d = make_data(6, length, 1);
    fill_normal(&d, 1, 1, SEED);
    check_against_naive(&d, (struct gs_horizon_plan){.block = 32});
    struct gs_rows rows = rows_of(&d);
    struct gs_horizon *h;
    struct gs_error error;
    struct gs_horizon_plan plan = {0};
    struct gs_bootstrap bootstrap = {.seed = SEED, .replicates = 50};
    gs_assert_ok(gs_horizon_measure(&rows, &plan, NULL, &h, &error), &error);
    struct gs_results *results = gs_results_create("horizon");
    gs_assert_ok(gs_horizon_results(h, &bootstrap, results, &error), &error);
    struct gs_value value;
    assert_true(gs_results_find(results, "horizon.null.mean", &value));
    assert_true(isnan(value.value));
    assert_string_equal(value.status, "undefined");
    assert_non_null(strstr(value.reason, "different documents"));
    assert_true(gs_results_find(results, "horizon.raw.k256", &value));
    assert_int_equal(value.n, 300 - 256);
    assert_false(value.has_interval); /* one sequence cannot be resampled */
    gs_results_destroy(results);
    gs_horizon_destroy(h);
    gs_free(d.values);
}

static void a_row_that_is_not_finite_is_named(void **state) {
    (void)state;
    static const uint64_t length[] = {20, 20};
    struct data d = make_data(3, length, 2);
    fill_normal(&d, 0, 1, SEED);
    row_of(&d, 1, 13)[2] = INFINITY;
    struct gs_rows rows = rows_of(&d);
    struct gs_horizon *h;
    struct gs_error error;
    struct gs_horizon_plan plan = {0};
    gs_assert_error(gs_horizon_measure(&rows, &plan, NULL, &h, &error), GS_NUMERIC, &error,
                    "not finite", "sequence 1, row 13", "dimension 2", "inf");
    assert_null(h);
    gs_free(d.values);
}

/* ---- planted answers ---- */

/* x_t = φ x_{t−1} + √(1 − φ²) e_t in many dimensions: the cosine at lag k is about φ^k, and with a
 * common vector of length L = share of the energy it is share + (1 − share) φ^k. */
static void autoregressive_states_have_their_correlation(void **state) {
    (void)state;
    enum { WIDTH = 256, LENGTH = 400, SEQUENCES = 12 };
    const double phi = 0.9, share = 0.6;
    uint64_t length[SEQUENCES];
    for (size_t s = 0; s < SEQUENCES; s++) length[s] = LENGTH;
    struct data d = make_data(WIDTH, length, SEQUENCES);
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/horizon/ar");
    const double common = sqrt(share / (1 - share));
    for (size_t s = 0; s < SEQUENCES; s++) {
        double x[WIDTH];
        for (size_t c = 0; c < WIDTH; c++) x[c] = gs_random_normal(&random);
        for (uint64_t t = 0; t < LENGTH; t++)
            for (size_t c = 0; c < WIDTH; c++) {
                x[c] = phi * x[c] + sqrt(1 - phi * phi) * gs_random_normal(&random);
                row_of(&d, s, t)[c] = (float)(common + x[c]);
            }
    }
    struct gs_rows rows = rows_of(&d);
    struct gs_horizon *h;
    struct gs_error error;
    struct gs_horizon_plan plan = {.max_lag = 128, .all_lags = true, .seed = SEED};
    gs_assert_ok(gs_horizon_measure(&rows, &plan, NULL, &h, &error), &error);
    for (size_t l = 0; l < h->lag_count; l++) {
        double fall = pow(phi, (double)h->lags[l]);
        gs_assert_near("raw", gs_horizon_mean(h, GS_CURVE_RAW, l, NULL), share + (1 - share) * fall,
                       0.02, 0);
        gs_assert_near("centred", gs_horizon_mean(h, GS_CURVE_CENTERED_GLOBAL, l, NULL), fall, 0.03,
                       0);
        gs_assert_near("null", gs_horizon_mean(h, GS_CURVE_NULL, l, NULL), share, 0.02, 0);
        gs_assert_near("null centred", gs_horizon_mean(h, GS_CURVE_NULL_CENTERED_GLOBAL, l, NULL),
                       0, 0.03, 0);
    }
    struct gs_bootstrap bootstrap = {.seed = SEED, .replicates = 200};
    struct gs_results *results = gs_results_create("horizon");
    gs_assert_ok(gs_horizon_results(h, &bootstrap, results, &error), &error);
    struct gs_value value;
    assert_true(gs_results_find(results, "horizon.centered_global.efold", &value));
    gs_assert_near("efold", value.value, -1 / log(phi), 0.5, 0);
    assert_true(value.has_interval && value.low <= value.value && value.value <= value.high);
    assert_true(gs_results_find(results, "horizon.raw.plateau", &value));
    gs_assert_near("plateau", value.value, share, 0.02, 0);
    gs_results_destroy(results);
    gs_horizon_destroy(h);
    gs_free(d.values);
}

/* Independent rows: −1/(T − 1) after the sequence's own mean is taken away, at every lag. */
static void independent_rows_show_the_bias(void **state) {
    (void)state;
    enum { WIDTH = 64, LENGTH = 12, SEQUENCES = 16 };
    double sum = 0, count = 0;
    for (uint64_t trial = 0; trial < 40; trial++) {
        uint64_t length[SEQUENCES];
        for (size_t s = 0; s < SEQUENCES; s++) length[s] = LENGTH;
        struct data d = make_data(WIDTH, length, SEQUENCES);
        fill_normal(&d, 3, 1, SEED + trial);
        struct gs_rows rows = rows_of(&d);
        struct gs_horizon *h;
        struct gs_error error;
        struct gs_horizon_plan plan = {0};
        gs_assert_ok(gs_horizon_measure(&rows, &plan, NULL, &h, &error), &error);
        for (size_t l = 0; l < h->lag_count; l++, count++)
            sum += gs_horizon_mean(h, GS_CURVE_CENTERED_SEQUENCE, l, NULL);
        struct gs_bootstrap bootstrap = {.seed = SEED, .replicates = 0};
        struct gs_results *results = gs_results_create("horizon");
        gs_assert_ok(gs_horizon_results(h, &bootstrap, results, &error), &error);
        struct gs_value value;
        assert_true(gs_results_find(results, "horizon.centered_sequence.independent", &value));
        gs_assert_near("said", value.value, -1.0 / (LENGTH - 1), 1e-12, 0);
        gs_results_destroy(results);
        gs_horizon_destroy(h);
        gs_free(d.values);
    }
    gs_assert_near("bias", sum / count, -1.0 / (LENGTH - 1), 0.003, 0);
}

/* ---- bits, blocks, threads ---- */

static struct gs_horizon *measure(const struct data *d, bool all, size_t block) {
    struct gs_rows rows = rows_of(d);
    struct gs_horizon *h;
    struct gs_error error;
    struct gs_horizon_plan plan = {.max_lag = 70, .all_lags = all, .block = block, .seed = 5};
    gs_assert_ok(gs_horizon_measure(&rows, &plan, NULL, &h, &error), &error);
    return h;
}

static void same_bits_on_any_number_of_threads(void **state) {
    (void)state;
    static const uint64_t length[] = {300, 170, 90, 1, 257};
    struct data d = make_data(600, length, 5);
    fill_normal(&d, 1, 1, SEED);
    for (int all = 0; all < 2; all++) {
        gs_threads_set(1);
        struct gs_horizon *one = measure(&d, all, 0);
        for (int threads = 2; threads <= 3; threads++) {
            gs_threads_set(threads);
            struct gs_horizon *more = measure(&d, all, 0);
            size_t numbers = one->sequences * GS_CURVES * one->columns;
            assert_memory_equal(one->sums, more->sums, numbers * sizeof(double));
            assert_memory_equal(one->pairs, more->pairs, numbers * sizeof(double));
            gs_horizon_destroy(more);
        }
        gs_horizon_destroy(one);
    }
    gs_threads_set(0);
    gs_free(d.values);
}

static void the_ring_gives_what_the_whole_gives(void **state) {
    (void)state;
    static const uint64_t length[] = {500, 333, 64};
    struct data d = make_data(20, length, 3);
    fill_normal(&d, 1, 1, SEED);
    for (int all = 0; all < 2; all++) {
        struct gs_horizon *whole = measure(&d, all, 512);
        static const size_t blocks[] = {1, 5, 16, 128};
        for (size_t b = 0; b < 4; b++) {
            struct gs_horizon *ring = measure(&d, all, blocks[b]);
            size_t numbers = whole->sequences * GS_CURVES * whole->columns;
            for (size_t i = 0; i < numbers; i++) {
                gs_assert_near("pairs", ring->pairs[i], whole->pairs[i], 0, 0);
                gs_assert_near("sum", ring->sums[i], whole->sums[i], 1e-7 * whole->pairs[i], 0);
            }
            gs_horizon_destroy(ring);
        }
        gs_horizon_destroy(whole);
    }
    gs_free(d.values);
}

/* ---- partners ---- */

static void partners_are_of_other_documents(void **state) {
    (void)state;
    static const uint64_t documents[][8] = {{0, 1, 2, 3, 4, 5, 6, 7},
                                            {1, 1, 2, 2, 3, 3, 4, 4},
                                            {9, 9, 9, 9, 1, 2, 3, 3},
                                            {7, 7, 7, 7, 7, 7, 1, 2}};
    static const size_t without[] = {0, 0, 0, 4};
    struct gs_error error;
    for (uint64_t seed = 0; seed < 50; seed++)
        for (size_t k = 0; k < 4; k++) {
            int64_t partner[8];
            bool taken[8] = {false};
            size_t none = 0;
            gs_assert_ok(gs_partners_draw(8, documents[k], seed, partner, &error), &error);
            for (size_t s = 0; s < 8; s++) {
                if (partner[s] < 0) {
                    none++;
                    continue;
                }
                assert_true(documents[k][partner[s]] != documents[k][s]);
                assert_false(taken[partner[s]]);
                taken[partner[s]] = true;
            }
            assert_int_equal(none, without[k]);
        }
    int64_t first[8], again[8], other[8];
    gs_assert_ok(gs_partners_draw(8, NULL, 1, first, &error), &error);
    gs_assert_ok(gs_partners_draw(8, NULL, 1, again, &error), &error);
    gs_assert_ok(gs_partners_draw(8, NULL, 2, other, &error), &error);
    assert_memory_equal(first, again, sizeof first);
    assert_memory_not_equal(first, other, sizeof first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_shapes),
        cmocka_unit_test(zero_vectors_are_left_out),
        cmocka_unit_test(constant_rows_have_no_centred_direction),
        cmocka_unit_test(a_huge_mean_does_not_cancel),
        cmocka_unit_test(rows_that_would_lose_digits_lose_none),
        cmocka_unit_test(one_row_has_no_pairs),
        cmocka_unit_test(one_sequence_has_no_null),
        cmocka_unit_test(a_row_that_is_not_finite_is_named),
        cmocka_unit_test(autoregressive_states_have_their_correlation),
        cmocka_unit_test(independent_rows_show_the_bias),
        cmocka_unit_test(same_bits_on_any_number_of_threads),
        cmocka_unit_test(the_ring_gives_what_the_whole_gives),
        cmocka_unit_test(partners_are_of_other_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
