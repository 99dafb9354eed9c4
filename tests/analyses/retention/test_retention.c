/* Retention against sums of logs in double loops, on random and hostile gates, and planted decays.
 */
#include "analyses/retention/retention.h"
#include "analyses/split/split.h"
#include "core/base/environment.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/results/results.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEED = 20261129, MOST_SEQUENCES = 32 };

struct data {
    size_t sequences, heads;
    uint64_t start[MOST_SEQUENCES], length[MOST_SEQUENCES];
    float *gamma, *beta;
};

static struct data make_data(size_t heads, const uint64_t *length, size_t sequences) {
    struct data d = {.sequences = sequences, .heads = heads};
    uint64_t rows = 0;
    for (size_t s = 0; s < sequences; s++) {
        d.start[s] = rows;
        d.length[s] = length[s];
        rows += length[s];
    }
    d.gamma = gs_calloc((size_t)rows * heads, sizeof(float));
    d.beta = gs_calloc((size_t)rows * heads, sizeof(float));
    assert_true(d.gamma && d.beta);
    return d;
}

static void free_data(struct data *d) {
    gs_free(d->gamma);
    gs_free(d->beta);
}

static size_t place(const struct data *d, size_t sequence, uint64_t row, size_t head) {
    return (d->start[sequence] + row) * d->heads + head;
}

/* Head h: γ around −scale[h] (exponentially distributed), β uniform. */
static void fill(struct data *d, const double *scale, uint64_t seed) {
    struct gs_random random;
    gs_random_seed(&random, seed, "test/retention");
    for (size_t s = 0; s < d->sequences; s++)
        for (uint64_t r = 0; r < d->length[s]; r++)
            for (size_t h = 0; h < d->heads; h++) {
                double u = gs_random_uniform(&random);
                d->gamma[place(d, s, r, h)] = (float)(scale[h] * log1p(-u));
                d->beta[place(d, s, r, h)] = (float)gs_random_uniform(&random);
            }
}

static struct gs_retention *measure(const struct data *d, const struct gs_retention_plan *plan) {
    struct gs_rows gamma = gs_rows_of_array(d->gamma, d->heads, d->sequences, d->start, d->length);
    struct gs_rows beta = gs_rows_of_array(d->beta, d->heads, d->sequences, d->start, d->length);
    struct gs_retention *r = NULL;
    struct gs_error error;
    gs_assert_ok(gs_retention_measure(&gamma, &beta, plan, NULL, &r, &error), &error);
    return r;
}

/* The paper's rule on what retention reports. */
static struct gs_split_rule by_rule(const struct gs_retention *r) {
    struct gs_results *results = gs_results_create("retention");
    struct gs_bootstrap bootstrap = {.seed = SEED};
    struct gs_split_heads heads = {0};
    struct gs_error error;
    gs_assert_ok(gs_retention_results(r, false, NULL, &bootstrap, results, &error), &error);
    gs_assert_ok(gs_split_heads_of_results(&heads, results, "", &error), &error);
    struct gs_split_rule rule = gs_split_by_rule(&heads);
    gs_split_heads_clear(&heads);
    gs_results_destroy(results);
    return rule;
}

/* ---- the naive way: sums of logs from each start ---- */

static double naive_decay(const struct data *d, size_t s, uint64_t t, size_t k, size_t h) {
    double sum = 0;
    for (uint64_t tau = t + 1; tau <= t + k; tau++) sum += (double)d->gamma[place(d, s, tau, h)];
    return exp(sum);
}

/* The sign apart, the size by logs. */
static double naive_key(const struct data *d, size_t s, uint64_t t, size_t k, size_t h,
                        enum gs_transition transition) {
    double sum = 0, sign = 1;
    for (uint64_t tau = t + 1; tau <= t + k; tau++) {
        double alpha = exp((double)d->gamma[place(d, s, tau, h)]);
        double beta = (double)d->beta[place(d, s, tau, h)];
        double factor = transition == GS_TRANSITION_GPN ? alpha - beta : alpha * (1 - beta);
        if (factor < 0) sign = -sign;
        sum += log(fabs(factor));
    }
    return sign * exp(sum);
}

/* transition UNKNOWN: the decay. */
static double naive_curve(const struct data *d, size_t head, size_t k,
                          enum gs_transition transition) {
    double sum = 0, windows = 0;
    for (size_t s = 0; s < d->sequences; s++)
        for (uint64_t t = 0; t + k < d->length[s]; t++, windows++)
            sum += transition == GS_TRANSITION_UNKNOWN ? naive_decay(d, s, t, k, head)
                                                       : naive_key(d, s, t, k, head, transition);
    return sum / windows;
}

static double naive_efold(const struct data *d, size_t head, size_t max_lag, double threshold,
                          enum gs_transition transition) {
    double before = 1;
    for (size_t k = 1; k <= max_lag; k++) {
        double now = naive_curve(d, head, k, transition);
        if (now <= threshold)
            return now <= 0 ? (double)(k - 1)
                            : (double)(k - 1) +
                                  (log(before) - log(threshold)) / (log(before) - log(now));
        before = now;
    }
    return INFINITY;
}

static void check_lag(const char *what, struct gs_lag_value lag, double expected) {
    if (isinf(expected)) {
        assert_true(lag.reach == GS_REACH_CENSORED || lag.reach == GS_REACH_NONE);
        assert_true(isnan(lag.value));
        return;
    }
    assert_int_equal(lag.reach, GS_REACH_OK);
    gs_assert_near(what, lag.value, expected, 1e-9, 1e-9);
}

/* 1, 2, 4, … alone: the same numbers there, and efolds read off those. */
static void check_powers(const struct data *d, struct gs_retention_plan plan) {
    struct gs_retention *every = measure(d, &plan);
    plan.powers = true;
    struct gs_retention *r = measure(d, &plan);
    size_t expected = 0;
    for (size_t k = 1; k <= every->max_lag; k *= 2) assert_int_equal(r->lags[expected++], k);
    assert_int_equal(r->lag_count, expected);
    for (size_t h = 0; h < d->heads; h++) {
        double before = 1, efold = INFINITY, last = 0;
        for (size_t l = 0; l < r->lag_count; l++) {
            size_t at = h * every->lag_count + r->lags[l] - 1, here = h * r->lag_count + l;
            double near = ((double)r->lags[l] + 4) * 1.2e-7; /* float32, see retention.h */
            gs_assert_near("R", r->retention[here], every->retention[at], 1e-30, near);
            gs_assert_near("key", r->key[here], every->key[at], near, near);
            assert_int_equal(r->windows[l], every->windows[r->lags[l] - 1]);
            double now = r->retention[here], lag = (double)r->lags[l];
            if (isinf(efold) && now <= exp(-1))
                efold = last + (lag - last) * (log(before) + 1) / (log(before) - log(now));
            before = now;
            last = lag;
        }
        check_lag("efold", gs_retention_efold(r, h), efold);
        if (isinf(efold)) gs_assert_near("bound", gs_retention_efold(r, h).bound, last, 0, 0);
        gs_assert_near("geometric", gs_retention_geometric_efold(r, h).value,
                       gs_retention_geometric_efold(every, h).value, 0, 1e-12);
        gs_assert_near("arithmetic", gs_retention_arithmetic_efold(r, h).value,
                       gs_retention_arithmetic_efold(every, h).value, 0, 3e-7);
    }
    gs_retention_destroy(r);
    gs_retention_destroy(every);
}

static void check_against_naive(const struct data *d, struct gs_retention_plan plan) {
    check_powers(d, plan);
    struct gs_retention *r = measure(d, &plan);
    for (size_t h = 0; h < d->heads; h++) {
        for (size_t k = 1; k <= r->max_lag; k++) {
            size_t at = h * r->max_lag + k - 1;
            gs_assert_near("R", r->retention[at], naive_curve(d, h, k, GS_TRANSITION_UNKNOWN),
                           1e-13, 1e-10);
            gs_assert_near("key", r->key[at], naive_curve(d, h, k, plan.transition), 1e-13, 1e-10);
        }
        for (size_t g = 0; g < r->grid_count; g++) {
            double sum = 0, windows = (double)r->windows[r->grid[g] - 1];
            for (size_t s = 0; s < r->sequences; s++)
                sum += r->grid_sums[(s * r->heads + h) * r->grid_count + g];
            gs_assert_near("grid", sum / windows, r->retention[h * r->max_lag + r->grid[g] - 1],
                           1e-13, 1e-12);
        }
        check_lag("efold", gs_retention_efold(r, h),
                  naive_efold(d, h, r->max_lag, exp(-1), GS_TRANSITION_UNKNOWN));
        check_lag("half life", gs_retention_half_life(r, h),
                  naive_efold(d, h, r->max_lag, 0.5, GS_TRANSITION_UNKNOWN));
        check_lag("key efold", gs_retention_key_efold(r, h),
                  naive_efold(d, h, r->max_lag, exp(-1), plan.transition));
    }
    gs_retention_destroy(r);
}

/* ---- random and hostile gates ---- */

static void random_gates(void **state) {
    (void)state;
    static const uint64_t length[] = {70, 1, 0, 23, 64, 2};
    static const double scale[] = {3, 0.5, 0.05, 0.001};
    static const size_t heads[] = {1, 4}, lags[] = {0, 1, 5, 40};
    for (size_t n = 0; n < 2; n++)
        for (size_t l = 0; l < 4; l++)
            for (int rule = GS_TRANSITION_GPN; rule <= GS_TRANSITION_GATED_DELTA; rule++) {
                print_message("heads %zu, max_lag %zu, seed %d\n", heads[n], lags[l], SEED);
                struct data d = make_data(heads[n], length, 6);
                fill(&d, scale, SEED);
                check_against_naive(
                    &d, (struct gs_retention_plan){.max_lag = lags[l],
                                                   .transition = (enum gs_transition)rule,
                                                   .block = 16});
                free_data(&d);
            }
}

/* α exactly 0 and 1, β exactly 0 and 1, in all combinations and places. */
static void gates_of_exactly_zero_and_one(void **state) {
    (void)state;
    static const uint64_t length[] = {40, 40};
    static const double scale[] = {0.1, 0.1, 0.1};
    struct data d = make_data(3, length, 2);
    fill(&d, scale, SEED);
    for (uint64_t r = 0; r < 40; r++)
        for (size_t h = 0; h < 3; h++) {
            if (r % 7 == h) d.gamma[place(&d, 0, r, h)] = -INFINITY;
            if (r % 5 == h) d.gamma[place(&d, 0, r, h)] = 0;
            if (r % 4 == h) d.beta[place(&d, 0, r, h)] = 1;
            if (r % 3 == h) d.beta[place(&d, 0, r, h)] = 0;
        }
    check_against_naive(&d, (struct gs_retention_plan){.transition = GS_TRANSITION_GPN});
    check_against_naive(&d, (struct gs_retention_plan){.transition = GS_TRANSITION_GATED_DELTA});
    free_data(&d);
}

static void a_head_that_forgets_at_once(void **state) {
    (void)state;
    static const uint64_t length[] = {10};
    struct data d = make_data(1, length, 1);
    for (size_t i = 0; i < 10; i++) d.gamma[i] = -INFINITY;
    struct gs_retention_plan plan = {.transition = GS_TRANSITION_GPN};
    struct gs_retention *r = measure(&d, &plan);
    for (size_t k = 0; k < r->max_lag; k++) assert_true(r->retention[k] == 0);
    check_lag("efold", gs_retention_efold(r, 0), 0);
    check_lag("geometric", gs_retention_geometric_efold(r, 0), 0);
    check_lag("arithmetic", gs_retention_arithmetic_efold(r, 0), 0);
    gs_retention_destroy(r);
    free_data(&d);
}

static void a_head_that_forgets_nothing(void **state) {
    (void)state;
    static const uint64_t length[] = {10, 30};
    struct data d = make_data(1, length, 2);
    d.gamma[0] = -3; /* the first row acts on an empty memory and says nothing */
    struct gs_retention_plan plan = {.transition = GS_TRANSITION_GATED_DELTA};
    struct gs_retention *r = measure(&d, &plan);
    for (size_t k = 0; k < r->max_lag; k++) assert_true(r->retention[k] == 1 && r->key[k] == 1);
    assert_int_equal(gs_retention_efold(r, 0).reach, GS_REACH_NONE);
    assert_int_equal(gs_retention_half_life(r, 0).reach, GS_REACH_NONE);
    assert_int_equal(gs_retention_key_efold(r, 0).reach, GS_REACH_NONE);
    assert_int_equal(gs_retention_geometric_efold(r, 0).reach, GS_REACH_NONE);
    assert_int_equal(gs_retention_arithmetic_efold(r, 0).reach, GS_REACH_NONE);
    assert_int_equal(by_rule(r).slow, 1);
    gs_retention_destroy(r);
    free_data(&d);
}

/* α = 1 across the key, but it is rewritten: nothing is said to be kept for ever along it. */
static void a_head_that_only_rewrites(void **state) {
    (void)state;
    static const uint64_t length[] = {30};
    struct data d = make_data(2, length, 1);
    for (size_t i = 0; i < 60; i++) d.beta[i] = i % 2 ? 0.5f : 0.001f;
    struct gs_retention_plan plan = {.transition = GS_TRANSITION_GATED_DELTA};
    struct gs_retention *r = measure(&d, &plan);
    assert_int_equal(gs_retention_efold(r, 0).reach, GS_REACH_NONE);
    assert_int_equal(gs_retention_key_efold(r, 0).reach, GS_REACH_CENSORED);
    gs_assert_near("key", gs_retention_key_efold(r, 1).value, 1 / log(2), 0, 1e-12);
    gs_retention_destroy(r);
    free_data(&d);
}

static void one_row_says_nothing(void **state) {
    (void)state;
    static const uint64_t length[] = {1, 1, 0};
    for (size_t sequences = 0; sequences <= 3; sequences++) {
        struct data d = make_data(2, length, sequences);
        struct gs_retention_plan plan = {.transition = GS_TRANSITION_GPN};
        struct gs_retention *r = measure(&d, &plan);
        assert_int_equal(r->max_lag, 0);
        assert_int_equal(gs_retention_efold(r, 1).reach, GS_REACH_UNDEFINED);
        assert_int_equal(gs_retention_geometric_efold(r, 1).reach, GS_REACH_UNDEFINED);
        assert_int_equal(by_rule(r).unknown, 2);
        struct gs_results *results = gs_results_create("retention");
        struct gs_bootstrap bootstrap = {.seed = SEED, .replicates = 20};
        struct gs_error error;
        gs_assert_ok(gs_retention_results(r, false, NULL, &bootstrap, results, &error), &error);
        struct gs_value value;
        assert_true(gs_results_find(results, "retention.head.01.efold", &value));
        assert_string_equal(value.status, "undefined");
        gs_results_destroy(results);
        gs_retention_destroy(r);
        free_data(&d);
    }
}

/* ---- planted answers ---- */

/* Constant decay: every one of the four lags is −1/γ (or −log 2/γ), to rounding. */
static void constant_decay_is_found_exactly(void **state) {
    (void)state;
    static const float gamma[] = {-2.5f, -0.45f, -0.03f, -0.004f, -1e-7f};
    static const uint64_t length[] = {1200, 900};
    struct data d = make_data(5, length, 2);
    for (size_t i = 0; i < 2100 * 5; i++) d.gamma[i] = gamma[i % 5];
    struct gs_retention_plan plan = {0};
    struct gs_retention *r = measure(&d, &plan);
    for (size_t h = 0; h < 5; h++) {
        double expected = -1 / (double)gamma[h];
        gs_assert_near("geometric", gs_retention_geometric_efold(r, h).value, expected, 0, 1e-12);
        gs_assert_near("arithmetic", gs_retention_arithmetic_efold(r, h).value, expected, 0, 1e-12);
        struct gs_lag_value efold = gs_retention_efold(r, h);
        if (h == 4) {
            assert_int_equal(efold.reach, GS_REACH_CENSORED);
            gs_assert_near("bound", efold.bound, 1199, 0, 0);
            continue;
        }
        gs_assert_near("efold", efold.value, expected, 0, 1e-11);
        gs_assert_near("half life", gs_retention_half_life(r, h).value, expected * log(2), 0,
                       1e-11);
        size_t at = (size_t)ceil(expected);
        assert_int_equal(efold.windows, 1200 - at + 900 - at);
    }
    struct gs_split_rule split = by_rule(r);
    assert_int_equal(split.fast, 2); /* 0.4 and 2.2 tokens */
    assert_int_equal(split.slow, 3); /* 33, 250, and the one that is censored at 1199 */
    assert_int_equal(split.between + split.unknown, 0);
    gs_retention_destroy(r);
    free_data(&d);
}

static void the_paper_s_rule_has_a_gap(void **state) {
    (void)state;
    static const double efold[] = {3, 3.0001, 4.9999, 5, 1e6};
    static const uint64_t length[] = {400};
    struct data d = make_data(5, length, 1);
    for (size_t i = 0; i < 400 * 5; i++)
        d.gamma[i] = (float)(-1 / (efold[i % 5] * (i % 5 == 0 ? 1 - 1e-7 : 1 + 1e-7)));
    struct gs_retention_plan plan = {0};
    struct gs_retention *r = measure(&d, &plan);
    struct gs_split_rule split = by_rule(r);
    assert_int_equal(split.fast, 1);
    assert_int_equal(split.between, 2);
    assert_int_equal(split.slow, 2);
    gs_retention_destroy(r);
    plan.max_lag = 4; /* now those beyond 4 are censored below 5: nothing can be said */
    r = measure(&d, &plan);
    split = by_rule(r);
    assert_int_equal(split.fast, 1);
    assert_int_equal(split.between, 1);
    assert_int_equal(split.unknown, 3);
    gs_retention_destroy(r);
    free_data(&d);
}

/* E[α] ≥ exp(E[γ]): the arithmetic e-folding is never the smaller, and R(1) = E[α]. */
static void jensen_holds(void **state) {
    (void)state;
    static const double scale[] = {2, 0.7, 0.1, 0.01};
    static const uint64_t length[] = {50, 80};
    for (uint64_t seed = SEED; seed < SEED + 20; seed++) {
        struct data d = make_data(4, length, 2);
        fill(&d, scale, seed);
        struct gs_retention_plan plan = {0};
        struct gs_retention *r = measure(&d, &plan);
        for (size_t h = 0; h < 4; h++) {
            double geometric = gs_retention_geometric_efold(r, h).value;
            double arithmetic = gs_retention_arithmetic_efold(r, h).value;
            assert_true(geometric <= arithmetic);
            gs_assert_near("R(1)", r->retention[h * r->max_lag], exp(-1 / arithmetic), 0, 1e-12);
        }
        gs_retention_destroy(r);
        free_data(&d);
    }
}

/* Along the key with constant gates: (α − β)^k, negative at odd lags where β > α. */
static void key_retention_keeps_its_sign(void **state) {
    (void)state;
    static const uint64_t length[] = {30};
    struct data d = make_data(2, length, 1);
    for (size_t i = 0; i < 60; i++) {
        d.gamma[i] = (float)log(0.5);
        d.beta[i] = i % 2 ? 0.25f : 1.0f;
    }
    struct gs_retention_plan plan = {.transition = GS_TRANSITION_GPN};
    struct gs_retention *r = measure(&d, &plan);
    for (size_t k = 1; k <= 29; k++) {
        gs_assert_near("alone", r->key[k - 1], pow(-0.5, (double)k), 0, 1e-6);
        gs_assert_near("half", r->key[29 + k - 1], pow(0.25, (double)k), 0, 1e-5);
    }
    check_lag("the first lag is negative", gs_retention_key_efold(r, 0), 0);
    gs_assert_near("efold", gs_retention_key_efold(r, 1).value, -1 / log(0.25), 0, 1e-6);
    gs_retention_destroy(r);
    plan.transition = GS_TRANSITION_GATED_DELTA; /* α (1 − β): exactly 0 with β = 1 */
    r = measure(&d, &plan);
    for (size_t k = 1; k <= 29; k++) {
        assert_true(r->key[k - 1] == 0);
        gs_assert_near("delta", r->key[29 + k - 1], pow(0.375, (double)k), 0, 1e-5);
    }
    gs_retention_destroy(r);
    free_data(&d);
}

/* An e-folding that is a limit says so, in its results. */
static void a_limit_is_said(void **state) {
    (void)state;
    static const uint64_t length[] = {30, 30};
    struct data d = make_data(1, length, 2);
    for (size_t i = 0; i < 60; i++) d.gamma[i] = -0.25f, d.beta[i] = 1;
    struct gs_retention_plan plan = {.transition = GS_TRANSITION_GPN};
    struct gs_retention *r = measure(&d, &plan);
    struct gs_results *results = gs_results_create("retention");
    struct gs_bootstrap bootstrap = {.seed = SEED, .replicates = 20};
    struct gs_error error;
    struct gs_value value;
    gs_assert_ok(gs_retention_results(r, false, NULL, &bootstrap, results, &error), &error);
    assert_true(gs_results_find(results, "retention.head.00.key_retention_efold", &value));
    assert_true(value.value == 0 && value.reason && strstr(value.reason, "limit"));
    assert_true(gs_results_find(results, "retention.head.00.efold", &value));
    assert_true(!value.reason || !value.reason[0]);
    gs_results_destroy(results);
    gs_retention_destroy(r);
    free_data(&d);
}

/* ---- bits, blocks, threads ---- */

static void blocks_and_threads(void **state) {
    (void)state;
    static const double scale[] = {2, 0.7, 0.1, 0.01, 0.3, 0.002};
    static const uint64_t length[] = {700, 1, 513, 90};
    struct data d = make_data(6, length, 4);
    fill(&d, scale, SEED);
    struct gs_retention_plan plan = {.max_lag = 300, .transition = GS_TRANSITION_GPN};
    gs_threads_set(1);
    struct gs_retention *one = measure(&d, &plan);
    size_t curve = one->heads * one->max_lag * sizeof(double);
    for (int threads = 2; threads <= 3; threads++) {
        gs_threads_set(threads);
        struct gs_retention *more = measure(&d, &plan);
        assert_memory_equal(one->retention, more->retention, curve);
        assert_memory_equal(one->key, more->key, curve);
        gs_retention_destroy(more);
    }
    gs_threads_set(0);
    static const size_t blocks[] = {1, 7, 64, 1000};
    for (size_t b = 0; b < 4; b++) {
        plan.block = blocks[b];
        struct gs_retention *other = measure(&d, &plan);
        for (size_t i = 0; i < one->heads * one->max_lag; i++) {
            gs_assert_near("R", other->retention[i], one->retention[i], 1e-15, 1e-12);
            gs_assert_near("key", other->key[i], one->key[i], 1e-15, 1e-12);
        }
        for (size_t h = 0; h < 6; h++)
            gs_assert_near("geometric", gs_retention_geometric_efold(other, h).value,
                           gs_retention_geometric_efold(one, h).value, 0, 0);
        gs_retention_destroy(other);
    }
    gs_retention_destroy(one);
    free_data(&d);
}

/* At 1, 2, 4, … sequences go side by side, or heads where sequences are few: the same bits. */
static void blocks_and_threads_at_powers(void **state) {
    (void)state;
    static const double scale[] = {2, 0.7, 0.1, 0.01, 0.3, 0.002, 1, 1, 0.5, 0.05, 0.004};
    static const uint64_t length[] = {5000, 1, 513, 90, 0, 64, 65, 66, 700, 2};
    struct data d = make_data(11, length, 10);
    fill(&d, scale, SEED);
    struct gs_retention_plan plan = {.transition = GS_TRANSITION_GPN, .powers = true};
    gs_threads_set(1);
    struct gs_retention *one = measure(&d, &plan);
    size_t curve = one->heads * one->lag_count * sizeof(double);
    assert_int_equal(one->lag_count, 13);
    static const size_t blocks[] = {0, 1, 64, 100, 2000};
    for (int threads = 1; threads <= 6; threads++)
        for (size_t b = 0; b < 5; b++) {
            gs_threads_set(threads);
            plan.block = blocks[b];
            struct gs_retention *other = measure(&d, &plan);
            assert_memory_equal(one->retention, other->retention, curve);
            assert_memory_equal(one->key, other->key, curve);
            assert_memory_equal(one->gates, other->gates, 10 * 11 * sizeof *one->gates);
            gs_retention_destroy(other);
        }
    gs_threads_set(0);
    gs_retention_destroy(one);
    free_data(&d);
}

/* Far lags of slow heads: what float32 products lose. */
static void powers_keep_their_digits(void **state) {
    (void)state;
    static const float gamma[] = {-0.3f, -0.01f, -1e-3f, -3e-5f, -1e-7f};
    static const uint64_t length[] = {5000, 3000, 4097};
    struct data d = make_data(5, length, 3);
    for (size_t i = 0; i < 12097 * 5; i++) d.gamma[i] = gamma[i % 5];
    struct gs_retention_plan plan = {.powers = true};
    struct gs_retention *r = measure(&d, &plan);
    for (size_t h = 0; h < 5; h++)
        for (size_t l = 0; l < r->lag_count; l++) {
            double k = (double)r->lags[l], expected = exp(k * (double)gamma[h]);
            gs_assert_near("R", r->retention[h * r->lag_count + l], expected, 1e-37,
                           (k + 4) * 1.2e-7);
        }
    gs_retention_destroy(r);
    free_data(&d);
}

/* ---- intervals ---- */

/* Sequences differ in decay; the efold of the mean over endless sequences is the truth. */
static void intervals_hold_the_truth(void **state) {
    (void)state;
    enum { TRIALS = 150, SEQUENCES = 32, LENGTH = 120 };
    /* R(k) = mean over sequences of exp(−λ k), λ = 0.1 or 0.2 evenly: solve for 1/e */
    double low = 1, high = 20;
    for (int i = 0; i < 60; i++) {
        double k = (low + high) / 2;
        if ((exp(-0.1 * k) + exp(-0.2 * k)) / 2 > exp(-1))
            low = k;
        else
            high = k;
    }
    size_t held = 0;
    uint64_t length[SEQUENCES];
    for (size_t s = 0; s < SEQUENCES; s++) length[s] = LENGTH;
    print_message("seed %d\n", SEED);
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        struct gs_random random;
        gs_random_seed(&random, SEED + trial, "test/retention/coverage");
        struct data d = make_data(1, length, SEQUENCES);
        for (size_t s = 0; s < SEQUENCES; s++) {
            float gamma = gs_random_below(&random, 2) ? -0.1f : -0.2f;
            for (uint64_t r = 0; r < LENGTH; r++) d.gamma[place(&d, s, r, 0)] = gamma;
        }
        struct gs_retention_plan plan = {.max_lag = 60};
        struct gs_retention *r = measure(&d, &plan);
        struct gs_bootstrap bootstrap = {.seed = trial, .replicates = 300};
        struct gs_retention_intervals intervals;
        struct gs_error error;
        gs_assert_ok(gs_retention_bootstrap(r, &bootstrap, &intervals, NULL, &error), &error);
        assert_true(intervals.efold.known && intervals.geometric_efold.known);
        assert_false(intervals.key_efold.known);
        held += intervals.efold.low <= low && low <= intervals.efold.high;
        gs_retention_destroy(r);
        free_data(&d);
    }
    print_message("%zu of %d intervals hold the truth\n", held, TRIALS);
    assert_in_range(held, TRIALS * 86 / 100, TRIALS);
}

/* Where every sequence has the same gates there is no spread: the interval is the value. */
static void equal_sequences_have_no_spread(void **state) {
    (void)state;
    static const uint64_t length[] = {900, 900, 900};
    struct data d = make_data(1, length, 3);
    for (size_t i = 0; i < 2700; i++) d.gamma[i] = -1.0f / 321;
    struct gs_retention_plan plan = {0};
    struct gs_retention *r = measure(&d, &plan);
    struct gs_bootstrap bootstrap = {.seed = SEED, .replicates = 100};
    struct gs_retention_intervals intervals;
    struct gs_error error;
    gs_assert_ok(gs_retention_bootstrap(r, &bootstrap, &intervals, NULL, &error), &error);
    gs_assert_near("low", intervals.efold.low, 321, 0, 1e-6);
    gs_assert_near("high", intervals.efold.high, 321, 0, 1e-6);
    gs_retention_destroy(r);
    free_data(&d);
}

/* One of many sequences holds an α of 0: draws without it have a finite mean of logs, draws with it
 * an e-folding of 0, and none is lost as 0 · ∞. */
static void an_infinite_log_is_not_spread(void **state) {
    (void)state;
    static const uint64_t length[] = {20, 20, 20};
    struct data d = make_data(1, length, 3);
    for (size_t i = 0; i < 60; i++) d.gamma[i] = -0.5f;
    d.gamma[25] = -INFINITY;
    struct gs_retention_plan plan = {0};
    struct gs_retention *r = measure(&d, &plan);
    struct gs_bootstrap bootstrap = {.seed = SEED, .replicates = 200};
    struct gs_retention_intervals intervals;
    struct gs_error error;
    gs_assert_ok(gs_retention_bootstrap(r, &bootstrap, &intervals, NULL, &error), &error);
    assert_true(intervals.geometric_efold.known);
    assert_int_equal(intervals.geometric_efold.replicates, 200);
    gs_assert_near("low", intervals.geometric_efold.low, 0, 0, 0);
    gs_assert_near("high", intervals.geometric_efold.high, 2, 0, 1e-12);
    gs_retention_destroy(r);
    free_data(&d);
}

/* ---- results ---- */

static void results_have_names_and_statuses(void **state) {
    (void)state;
    static const double scale[] = {0.5, 0.00001};
    static const uint64_t length[] = {200, 200, 200};
    struct data d = make_data(2, length, 3);
    fill(&d, scale, SEED);
    struct gs_rows gamma = gs_rows_of_array(d.gamma, 2, 3, d.start, d.length);
    struct gs_retention_plan plan = {0};
    struct gs_retention *r;
    struct gs_error error;
    gs_assert_ok(gs_retention_measure(&gamma, NULL, &plan, NULL, &r, &error), &error);
    struct gs_results *results = gs_results_create("retention");
    struct gs_bootstrap bootstrap = {.seed = SEED, .replicates = 100};
    gs_assert_ok(gs_retention_results(r, false, "no strengths", &bootstrap, results, &error),
                 &error);
    gs_assert_ok(gs_retention_results(r, true, "no strengths", &bootstrap, results, &error),
                 &error);
    struct gs_split_plan split = {.seed = SEED};
    gs_assert_ok(gs_split_of_results(results, true, &split, &error), &error);
    struct gs_value value;
    assert_true(gs_results_find(results, "retention.head.00.efold", &value));
    assert_string_equal(value.unit, "token");
    assert_true(value.has_interval && value.low <= value.value && value.value <= value.high);
    assert_true(gs_results_find(results, "null.retention.head.01.efold", &value));
    assert_string_equal(value.status, "censored");
    assert_true(value.has_bound && value.bound == 199 && isnan(value.value));
    assert_true(gs_results_find(results, "retention.head.01.key_retention_efold", &value));
    assert_string_equal(value.status, "undefined");
    assert_string_equal(value.reason, "no strengths");
    assert_true(gs_results_find(results, "split.fast", &value) && value.value == 1);
    assert_true(gs_results_find(results, "null.split.slow", &value) && value.value == 1);
    const struct gs_table *table = gs_results_find_table(results, "retention");
    assert_int_equal(gs_table_columns(table), 4);
    assert_true(gs_table_rows(table) > 2 * 16);
    assert_int_equal(gs_table_cell(table, 0, 3).type == GS_CELL_NULL ||
                         isnan(gs_table_cell(table, 0, 3).number),
                     1);
    assert_non_null(gs_results_find_table(results, "null.retention"));
    gs_results_destroy(results);
    gs_retention_destroy(r);
    free_data(&d);
}

static void wrong_gates_are_named(void **state) {
    (void)state;
    static const uint64_t length[] = {10, 20};
    static const double scale[] = {0.5, 0.5, 0.5};
    struct data d = make_data(3, length, 2);
    fill(&d, scale, SEED);
    struct gs_rows gamma = gs_rows_of_array(d.gamma, 3, 2, d.start, d.length);
    struct gs_rows beta = gs_rows_of_array(d.beta, 3, 2, d.start, d.length);
    struct gs_retention_plan plan = {.transition = GS_TRANSITION_GPN};
    struct gs_retention *r;
    struct gs_error error;
    float *bad = &d.gamma[place(&d, 1, 7, 2)], kept = *bad;
    static const float wrong[] = {0.001f, NAN, INFINITY};
    for (size_t i = 0; i < 6; i++) {
        *bad = wrong[i % 3];
        plan.powers = i >= 3;
        gs_assert_error(gs_retention_measure(&gamma, &beta, &plan, NULL, &r, &error), GS_NUMERIC,
                        &error, "log-decay", "sequence 1, row 7", "head 2");
        assert_null(r);
    }
    *bad = kept;
    d.beta[place(&d, 0, 3, 1)] = 1.5f;
    gs_assert_error(gs_retention_measure(&gamma, &beta, &plan, NULL, &r, &error), GS_NUMERIC,
                    &error, "write strength", "sequence 0, row 3", "head 1", "1.5");
    free_data(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_gates),
        cmocka_unit_test(gates_of_exactly_zero_and_one),
        cmocka_unit_test(a_head_that_forgets_at_once),
        cmocka_unit_test(a_head_that_forgets_nothing),
        cmocka_unit_test(a_head_that_only_rewrites),
        cmocka_unit_test(one_row_says_nothing),
        cmocka_unit_test(constant_decay_is_found_exactly),
        cmocka_unit_test(the_paper_s_rule_has_a_gap),
        cmocka_unit_test(jensen_holds),
        cmocka_unit_test(key_retention_keeps_its_sign),
        cmocka_unit_test(a_limit_is_said),
        cmocka_unit_test(blocks_and_threads),
        cmocka_unit_test(blocks_and_threads_at_powers),
        cmocka_unit_test(powers_keep_their_digits),
        cmocka_unit_test(intervals_hold_the_truth),
        cmocka_unit_test(equal_sequences_have_no_spread),
        cmocka_unit_test(an_infinite_log_is_not_spread),
        cmocka_unit_test(results_have_names_and_statuses),
        cmocka_unit_test(wrong_gates_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
