/* The split test as a whole: planted pools found and planted absences not, censored heads, seeds
 * that lie apart, untrained heads; same bits on any number of threads; how often it errs. */
#include "analyses/split/draws.h"
#include "analyses/split/split.h"
#include "core/base/environment.h"
#include "core/results/results.h"
#include "tests/analyses/split/populations.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEED = 20261130 };

static struct gs_split_heads drawn(enum gs_population population, uint64_t number, size_t seeds,
                                   double longest) {
    struct gs_split_heads heads = {0};
    struct gs_random random;
    gs_random_seed(&random, number, gs_population_name(population));
    gs_population_draw(population, &random, seeds, longest, &heads);
    return heads;
}

static struct gs_split_answer judged(const struct gs_split_heads *heads,
                                     const struct gs_split_heads *untrained, size_t replicates) {
    struct gs_split_plan plan = {.seed = SEED, .replicates = replicates};
    struct gs_split_answer answer;
    struct gs_error error;
    gs_assert_ok(gs_split_judge(heads, untrained, &plan, &answer, &error), &error);
    return answer;
}

static void assert_says(const struct gs_split_answer *answer, enum gs_split_verdict verdict,
                        const char *words) {
    if (answer->verdict != verdict || !strstr(answer->reasons, words))
        print_error("%s: %s\n", gs_split_verdict_name(answer->verdict), answer->reasons);
    assert_int_equal(answer->verdict, verdict);
    assert_non_null(strstr(answer->reasons, words));
    assert_true(strlen(answer->reasons) + 1 < sizeof answer->reasons);
}

/* 6 heads from 1.5 to 2.5 tokens and 9 from 30 to 150, in each of five seeds. */
static void plant_pools(struct gs_split_heads *heads) {
    for (size_t seed = 0; seed < 5; seed++)
        for (size_t h = 0; h < 15; h++) {
            double part = ((double)(h * 5 + seed) + 0.5) / 75;
            double efold = h < 6 ? 1.5 + 2.5 * part : 30 * pow(5, (part - 0.4) / 0.6);
            gs_assert_ok(gs_split_heads_add(heads, seed, efold, false, NULL), NULL);
        }
}

static void planted_pools_are_found(void **state) {
    (void)state;
    struct gs_split_heads heads = {0};
    plant_pools(&heads);
    struct gs_split_heads untrained = drawn(GS_INITIALISATION, 1, 5, 0);
    struct gs_split_answer a = judged(&heads, &untrained, 199);
    assert_says(&a, GS_SPLIT_TWO_POOLS, "75 heads of 5 seeds");
    assert_int_equal(a.training, GS_SPLIT_MADE_BY_TRAINING);
    assert_int_equal(a.seeds_on_both_sides, 5);
    gs_assert_near("share", a.two.share, 0.4, 1e-3, 0);
    gs_assert_near("p of the dip", a.dip_p, 1.0 / 200, 1e-12, 0);
    assert_true(exp(a.gap.at) > 2.5 && exp(a.gap.at) < 30);
    /* the same heads, untrained: that training made the split is not shown */
    a = judged(&heads, &heads, 199);
    assert_int_equal(a.verdict, GS_SPLIT_TWO_POOLS);
    assert_int_equal(a.training, GS_SPLIT_NOT_SHOWN);
    assert_non_null(strstr(a.reasons, "not shown"));
    gs_split_heads_clear(&untrained);
    gs_split_heads_clear(&heads);
}

static void a_planted_spread_has_no_pools(void **state) {
    (void)state;
    struct gs_split_heads even = {0}, one = {0};
    for (size_t h = 0; h < 75; h++) {
        double part = ((double)h + 0.5) / 75, normal = 0;
        for (double z = -4; z < 4; z += 1e-3) /* the normal's quantile, by counting up */
            if (0.5 * erfc(-z / sqrt(2)) < part) normal = z;
        gs_assert_ok(gs_split_heads_add(&even, h % 5, pow(322, part), false, NULL), NULL);
        gs_assert_ok(gs_split_heads_add(&one, h % 5, 20 * exp(1.3 * normal), false, NULL), NULL);
    }
    struct gs_split_answer a = judged(&even, NULL, 199);
    assert_says(&a, GS_SPLIT_CONTINUUM, "spread evenly");
    assert_int_equal(a.training, GS_SPLIT_NOT_ASKED);
    a = judged(&one, NULL, 199);
    assert_says(&a, GS_SPLIT_ONE_POOL, "gather around 20");
    gs_split_heads_clear(&even);
    gs_split_heads_clear(&one);
}

/* Each seed one narrow pool, two of them fast and three slow: all heads together have two peaks, no
 * seed has. */
static void seeds_apart_are_no_pools(void **state) {
    (void)state;
    struct gs_split_heads heads = {0};
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/apart");
    for (size_t seed = 0; seed < 5; seed++)
        for (size_t h = 0; h < 15; h++)
            gs_assert_ok(
                gs_split_heads_add(&heads, seed,
                                   (seed < 2 ? 2 : 60) * exp(0.3 * gs_random_normal(&random)),
                                   false, NULL),
                NULL);
    struct gs_split_answer a = judged(&heads, NULL, 199);
    assert_true(a.aligned);
    assert_says(&a, GS_SPLIT_ONE_POOL, "different places");
    gs_split_heads_clear(&heads);
}

/* Slow heads beyond the longest lag are no peak at the bound. */
static void censored_heads_are_no_clump(void **state) {
    (void)state;
    struct gs_split_heads heads = drawn(GS_LOG_UNIFORM, 3, 5, 60);
    struct gs_split_answer a = judged(&heads, NULL, 199);
    assert_true(a.censored > 10);
    assert_true(a.one_peak_p > 0.05);
    assert_non_null(strstr(a.reasons, "beyond the longest lag"));
    gs_split_heads_clear(&heads);
    /* two pools with some of the slow one censored are still found */
    plant_pools(&heads);
    for (size_t i = 0; i < heads.count; i++)
        if (heads.heads[i].log_efold > log(100)) {
            heads.heads[i].censored = true;
            heads.heads[i].log_efold = log(100);
        }
    a = judged(&heads, NULL, 199);
    assert_true(a.censored > 5);
    assert_says(&a, GS_SPLIT_TWO_POOLS, "75 heads");
    gs_split_heads_clear(&heads);
    /* most beyond: nobody can tell */
    heads = drawn(GS_LOG_UNIFORM, 4, 5, 8);
    a = judged(&heads, NULL, 199);
    assert_says(&a, GS_SPLIT_UNDECIDED, "longer sequences");
    gs_split_heads_clear(&heads);
}

static void few_heads_decide_nothing(void **state) {
    (void)state;
    struct gs_split_heads heads = {0};
    for (size_t h = 0; h < 6; h++)
        gs_assert_ok(gs_split_heads_add(&heads, 0, h < 3 ? 2 : 60, false, NULL), NULL);
    struct gs_split_answer a = judged(&heads, NULL, 99);
    assert_says(&a, GS_SPLIT_UNDECIDED, "Fewer than 8");
    assert_true(isnan(a.dip_p) && isnan(a.one_p));
    gs_split_heads_clear(&heads);
    for (size_t h = 0; h < 20; h++)
        gs_assert_ok(gs_split_heads_add(&heads, 0, 7, false, NULL), NULL);
    a = judged(&heads, NULL, 99);
    assert_says(&a, GS_SPLIT_UNDECIDED, "all have the same");
    gs_split_heads_clear(&heads);
    struct gs_split_plan plan = {.seed = 1};
    struct gs_error error;
    gs_assert_error(gs_split_judge(&heads, NULL, &plan, &a, &error), GS_MISSING, &error, "no head");
}

static void threads_do_not_change_the_answer(void **state) {
    (void)state;
    struct gs_split_heads heads = drawn(GS_LOG_NORMAL_POOLS, 5, 3, 200),
                          untrained = drawn(GS_INITIALISATION, 5, 3, 200);
    int before = gs_threads_get();
    gs_threads_set(1);
    struct gs_split_answer one = judged(&heads, &untrained, 99);
    gs_threads_set(3);
    struct gs_split_answer three = judged(&heads, &untrained, 99);
    gs_threads_set(before);
    const double a[] = {one.dip_p,     one.one_p,
                        one.even_p,    one.peaked_p,
                        one.flat_p,    one.reference_p,
                        one.gap_p,     one.untrained_one_p,
                        one.two.share, one.values[GS_SPLIT_TWO_OVER_ONE]};
    const double b[] = {three.dip_p,     three.one_p,
                        three.even_p,    three.peaked_p,
                        three.flat_p,    three.reference_p,
                        three.gap_p,     three.untrained_one_p,
                        three.two.share, three.values[GS_SPLIT_TWO_OVER_ONE]};
    assert_memory_equal(a, b, sizeof a);
    assert_string_equal(one.reasons, three.reasons);
    gs_split_heads_clear(&heads);
    gs_split_heads_clear(&untrained);
}

/* The bootstrap's p-value of the dip against the published table: 0.0702738 and 0.0488512 are the
 * 95 % and 50 % points at 50 heads. */
static void p_values_follow_the_published_table(void **state) {
    (void)state;
    static const struct {
        double dip, p, within;
    } points[] = {{0.0702737877191269, 0.05, 0.014}, {0.048851155289608, 0.5, 0.1}};
    for (size_t i = 0; i < 2; i++) {
        double observed[GS_SPLIT_STATISTICS] = {[GS_SPLIT_DIP] = points[i].dip};
        static const struct gs_even unit = {0, 1};
        struct gs_split_null null = {.draw = gs_split_draw_even,
                                     .context = &unit,
                                     .stream = "test",
                                     .count = 50,
                                     .bound = INFINITY,
                                     .high = GS_SPLIT_BIT(GS_SPLIT_DIP)};
        struct gs_split_plan plan = {.seed = SEED, .replicates = 3999};
        struct gs_split_odds odds;
        struct gs_error error;
        gs_assert_ok(gs_split_null_run(&null, &plan, observed, &odds, &error), &error);
        gs_assert_near("p", odds.high[GS_SPLIT_DIP], points[i].p, points[i].within, 0);
    }
}

static void the_papers_rule_counts(void **state) {
    (void)state;
    struct gs_split_heads heads = {.unknown = 1};
    const double efolds[] = {0, 0.4, 3, 3.1, 4.9, 5, 322};
    for (size_t i = 0; i < 7; i++)
        gs_assert_ok(gs_split_heads_add(&heads, 0, efolds[i], false, NULL), NULL);
    gs_assert_ok(gs_split_heads_add(&heads, 0, 4, true, NULL), NULL);
    gs_assert_ok(gs_split_heads_add(&heads, 0, 64, true, NULL), NULL);
    struct gs_split_rule rule = gs_split_by_rule(&heads);
    assert_int_equal(rule.fast, 3);
    assert_int_equal(rule.between, 2);
    assert_int_equal(rule.slow, 3);
    assert_int_equal(rule.unknown, 2);
    struct gs_error error;
    gs_assert_error(gs_split_heads_add(&heads, 3, (double)NAN, false, &error), GS_NUMERIC, &error,
                    "efold", "seed 3");
    gs_assert_error(gs_split_heads_add(&heads, 3, -1, false, &error), GS_NUMERIC, &error, "-1");
    gs_split_heads_clear(&heads);
}

static void add_value(struct gs_results *results, const char *name, double value,
                      const char *status, double bound) {
    struct gs_value v = {.value = value, .unit = "token", .n = 9, .status = status};
    v.has_bound = bound > 0;
    v.bound = bound;
    gs_assert_ok(gs_results_add(results, name, &v, NULL), NULL);
}

static void heads_come_from_results(void **state) {
    (void)state;
    struct gs_results *results = gs_results_create("retention");
    add_value(results, "retention.max_lag", 100, NULL, 0);
    add_value(results, "retention.head.00.efold", 2.5, "ok", 0);
    add_value(results, "retention.head.01.efold", (double)NAN, "censored", 100);
    add_value(results, "retention.head.02.efold", (double)NAN, "none", 0);
    add_value(results, "retention.head.03.efold", (double)NAN, "undefined", 0);
    struct gs_split_heads heads = {0};
    struct gs_error error;
    gs_assert_ok(gs_split_heads_of_results(&heads, results, "", &error), &error);
    gs_assert_ok(gs_split_heads_of_results(&heads, results, "", &error), &error);
    assert_int_equal(heads.seeds, 2);
    assert_int_equal(heads.count, 6);
    assert_int_equal(heads.unknown, 2);
    gs_assert_near("known", heads.heads[0].log_efold, log(2.5), 0, 1e-15);
    assert_true(heads.heads[1].censored && heads.heads[2].censored && !heads.heads[3].censored);
    gs_assert_near("longest", heads.heads[2].log_efold, log(100), 0, 1e-15);
    assert_int_equal(heads.heads[5].seed, 1);
    gs_assert_error(gs_split_heads_of_results(&heads, results, "null.", &error), GS_MISSING, &error,
                    "null.retention.head");
    gs_split_heads_clear(&heads);
    gs_results_destroy(results);
}

static void answers_become_values(void **state) {
    (void)state;
    struct gs_split_heads heads = {0};
    plant_pools(&heads);
    struct gs_split_answer a = judged(&heads, &heads, 99);
    struct gs_results *results = gs_results_create("verify");
    struct gs_error error;
    gs_assert_ok(gs_split_results(&a, "split.pooled.", results, &error), &error);
    struct gs_value value;
    assert_true(gs_results_find(results, "split.pooled.verdict.two_pools", &value));
    gs_assert_near("verdict", value.value, 1, 0, 0);
    assert_true(gs_results_find(results, "split.pooled.verdict.undecided", &value));
    gs_assert_near("verdict", value.value, 0, 0, 0);
    assert_true(gs_results_find(results, "split.pooled.dip.p", &value));
    gs_assert_near("p", value.value, a.dip_p, 0, 0);
    assert_int_equal(value.n, 75);
    assert_true(gs_results_find(results, "split.pooled.untrained.one_peak.p", &value));
    assert_int_equal(gs_results_note_count(results), 1);
    assert_non_null(strstr(gs_results_note_at(results, 0), "two_pools"));
    gs_results_destroy(results);
    gs_split_heads_clear(&heads);
}

/* ---- results of retention, trained and untrained ---- */

static void add_heads(struct gs_results *results, const char *prefix, const double *efolds,
                      size_t count) {
    char name[64];
    snprintf(name, sizeof name, "%sretention.max_lag", prefix);
    add_value(results, name, 1000, NULL, 0);
    for (size_t h = 0; h < count; h++) {
        snprintf(name, sizeof name, "%sretention.head.%02zu.efold", prefix, h);
        bool known = efolds[h] < 1000;
        add_value(results, name, known ? efolds[h] : (double)NAN, known ? "ok" : "censored",
                  known ? 0 : 1000);
    }
}

static void check_value(const struct gs_results *results, const char *name, double expected,
                        const char *status) {
    struct gs_value value;
    if (!gs_results_find(results, name, &value)) fail_msg("there is no %s", name);
    assert_string_equal(value.status ? value.status : "ok", status);
    if (isnan(expected))
        assert_true(isnan(value.value) && value.reason);
    else
        gs_assert_near(name, value.value, expected, 0, 0);
}

static struct gs_results *split(const double *trained, const double *untrained, size_t count) {
    struct gs_results *results = gs_results_create("retention");
    struct gs_split_plan plan = {.seed = SEED, .replicates = 199};
    struct gs_error error;
    add_heads(results, "", trained, count);
    if (untrained) add_heads(results, "null.", untrained, count);
    gs_assert_ok(gs_split_of_results(results, untrained != NULL, &plan, &error), &error);
    return results;
}

/* 30 heads in two tight pools, where untrained ones gather, are in pools already, are evenly
 * spread. */
static void training_is_asked_of_the_untrained_heads(void **state) {
    (void)state;
    enum { HEADS = 30 };
    const double none = (double)NAN;
    double pools[HEADS], peak[HEADS], even[HEADS];
    for (size_t h = 0; h < HEADS; h++) {
        double u = ((double)(h % 15) + 0.5) / 15, v = ((double)h + 0.5) / HEADS;
        pools[h] = h < 15 ? 1.5 + u : 80 + 90 * u;
        peak[h] = 20 * exp(0.25 * log(v / (1 - v)));
        even[h] = exp(6 * v);
    }
    struct gs_results *results = split(pools, peak, HEADS);
    check_value(results, "split.two_pools", 1, "ok");
    check_value(results, "split.made_by_training", 1, "ok");
    check_value(results, "split.fast", 15, "ok");
    check_value(results, "split.smaller_side", 15, "ok");
    check_value(results, "null.split.two_pools", 0, "ok");
    check_value(results, "null.split.smaller_side", 0, "ok");
    check_value(results, "null.split.made_by_training", none, "undefined");
    gs_results_destroy(results);

    results = split(pools, pools, HEADS); /* there from the start */
    check_value(results, "split.two_pools", 1, "ok");
    check_value(results, "split.made_by_training", 0, "ok");
    gs_results_destroy(results);

    results = split(peak, even, HEADS); /* nothing to make */
    check_value(results, "split.two_pools", 0, "ok");
    check_value(results, "split.made_by_training", 0, "ok");
    gs_results_destroy(results);

    results = split(pools, NULL, HEADS);
    check_value(results, "split.two_pools", 1, "ok");
    check_value(results, "split.made_by_training", none, "undefined");
    gs_results_destroy(results);
}

/* Said, not an error. */
static void few_heads_are_undecided_in_results(void **state) {
    (void)state;
    const double efolds[] = {1, 2, 6, 1000};
    struct gs_results *results = split(efolds, efolds, 4);
    check_value(results, "split.two_pools", (double)NAN, "undecided");
    check_value(results, "split.verdict.undecided", 1, "ok");
    check_value(results, "split.made_by_training", (double)NAN, "undefined");
    check_value(results, "split.smaller_side", 2, "ok"); /* 6, and what is beyond 1000 */
    check_value(results, "split.censored", 1, "ok");
    gs_results_destroy(results);

    results = gs_results_create("retention");
    add_value(results, "retention.head.00.efold", (double)NAN, "undefined", 0);
    struct gs_split_plan plan = {.seed = SEED};
    struct gs_error error;
    gs_assert_ok(gs_split_of_results(results, false, &plan, &error), &error);
    check_value(results, "split.two_pools", (double)NAN, "undefined");
    check_value(results, "split.unknown", 1, "ok");
    gs_results_destroy(results);
}

/* A small simulation; tests/bench/split.c is the large one. Limits: the binomial's mean and four
 * deviations. */
static void it_errs_as_seldom_as_it_says(void **state) {
    (void)state;
    enum { DRAWS = 40 };
    static const struct {
        enum gs_population population;
        double least, most; /* share of two_pools */
    } cases[] = {{GS_LOG_UNIFORM, 0, 0.05},
                 {GS_INITIALISATION, 0, 0.05},
                 {GS_LOG_NORMAL, 0, 0.05},
                 {GS_LOG_NORMAL_POOLS, 0.8, 1}};
    for (size_t c = 0; c < 4; c++) {
        int pools = 0;
        for (uint64_t d = 0; d < DRAWS; d++) {
            struct gs_split_heads heads = drawn(cases[c].population, 1000 + d, 5, 0);
            struct gs_split_plan plan = {.seed = d, .replicates = 199, .verdict_only = true};
            struct gs_split_answer answer;
            struct gs_error error;
            gs_assert_ok(gs_split_judge(&heads, NULL, &plan, &answer, &error), &error);
            pools += answer.verdict == GS_SPLIT_TWO_POOLS;
            gs_split_heads_clear(&heads);
        }
        double share = (double)pools / DRAWS, low = cases[c].least, high = cases[c].most;
        print_message("%s: two_pools in %d of %d, numbers from 1000 on\n",
                      gs_population_name(cases[c].population), pools, (int)DRAWS);
        assert_true(share >= low - 4 * sqrt(low * (1 - low) / DRAWS));
        assert_true(share <= high + 4 * sqrt(high * (1 - high) / DRAWS));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_pools_are_found),
        cmocka_unit_test(a_planted_spread_has_no_pools),
        cmocka_unit_test(seeds_apart_are_no_pools),
        cmocka_unit_test(censored_heads_are_no_clump),
        cmocka_unit_test(few_heads_decide_nothing),
        cmocka_unit_test(threads_do_not_change_the_answer),
        cmocka_unit_test(p_values_follow_the_published_table),
        cmocka_unit_test(the_papers_rule_counts),
        cmocka_unit_test(heads_come_from_results),
        cmocka_unit_test(answers_become_values),
        cmocka_unit_test(training_is_asked_of_the_untrained_heads),
        cmocka_unit_test(few_heads_are_undecided_in_results),
        cmocka_unit_test(it_errs_as_seldom_as_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
