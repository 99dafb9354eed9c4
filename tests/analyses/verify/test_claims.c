/* Claims files, verdicts, and the interval of k of n. */
#include "analyses/stats/binomial_interval.h"
#include "analyses/verify/claims.h"
#include "analyses/verify/default_claims.h"
#include "analyses/verify/verdict.h"
#include "core/base/file.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the file ---- */

static void the_default_set_is_the_fixture(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_mapped_file file;
    struct gs_claims *claims, *read;
    char name[GS_CLAIM_VALUE];
    const char *path = gs_source_path("fixtures/claims/structure.json");
    gs_assert_ok(gs_file_map(path, &file, &error), &error);
    assert_int_equal(file.size, gs_default_claims_size);
    assert_memory_equal(file.bytes, gs_default_claims, file.size);
    gs_file_unmap(&file);
    gs_assert_ok(gs_claims_read(NULL, &claims, &error), &error);
    gs_assert_ok(gs_claims_read(path, &read, &error), &error);
    assert_string_equal(claims->sha256, read->sha256);
    assert_int_equal(claims->count, 13);
    assert_string_equal(claims->claims[0].name, "rank.spread");
    assert_int_equal(claims->claims[0].direction, GS_CLAIM_ABOVE);
    gs_claim_value_name(claims->claims + 2, name);
    assert_string_equal(name, "ratio.participation_ratio");
    gs_claims_destroy(claims);
    gs_claims_destroy(read);
}

#define TEXTS "\"structure\": \"s\", \"says\": \"s\", \"reason\": \"r\", \"untrained\": \"u\""
#define GOOD                                                                                       \
    "{\"name\": \"a\", \"statistic\": \"x\", \"direction\": \"above\", \"threshold\": 1, " TEXTS "}"

/* The error of a document whose claims are these. */
static void refused(const char *claims, const char *word, const char *other) {
    char text[2048];
    struct gs_error error;
    struct gs_claims *made;
    snprintf(text, sizeof text,
             "{\"schema\": \"gpnscope-claims\", \"version\": 1, \"claims\": [%s]}", claims);
    enum gs_status status = gs_claims_parse(text, strlen(text), "c.json", &made, &error);
    gs_assert_error(status, GS_FORMAT, &error, "c.json", word, other);
    assert_null(made);
}

static void faults_are_named(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_claims *made;
    refused("", "claims", "nothing");
    refused("1", "claim 1", "{…}");
    refused(GOOD ", " GOOD, "claim 2 (a)", "second");
    refused("{\"name\": \"a\", \"statistics\": \"x\"}", "\"statistics\"", "\"statistic\"?");
    refused("{\"name\": \"a b\", " TEXTS "}", "unusable name", "a b");
    refused("{\"name\": 3, " TEXTS "}", "\"name\"", "text");
    refused("{\"name\": \"a\", \"statistic\": \"x\", \"direction\": \"abve\", " TEXTS "}", "abve",
            "\"above\"?");
    refused("{\"name\": \"a\", \"statistic\": \"x\", \"direction\": \"above\", " TEXTS "}",
            "threshold", "no");
    refused("{\"name\": \"a\", \"statistic\": \"x\", \"direction\": \"above\", \"threshold\": "
            "\"1\", " TEXTS "}",
            "threshold", "number");
    refused("{\"name\": \"a\", \"statistic\": \"x\", \"comparison\": \"ratio\", " TEXTS "}",
            "against", "claim 1 (a)");
    refused("{\"name\": \"a\", \"statistic\": \"x\", \"against\": \"trained\", "
            "\"comparison\": \"ratio\", " TEXTS "}",
            "trained", "untrained");
    refused("{\"name\": \"a\", \"statistic\": \"x\", \"structure\": \"\"}", "structure", "nothing");
    static const char *const documents[] = {
        "{}", "[1]", "{\"schema\": \"gpnscope-claims\", \"version\": 2, \"claims\": [" GOOD "]}",
        "{\"schema\": \"gpnscope-claims\", \"version\": 1, \"claim\": [" GOOD "]}",
        "{\"schema\": \"gpnscope-results\", \"version\": 1}"};
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        gs_assert_error(
            gs_claims_parse(documents[i], strlen(documents[i]), "c.json", &made, &error), GS_FORMAT,
            &error, "c.json");
    gs_assert_error(gs_claims_read("no/such.json", &made, &error), GS_MISSING, &error, "no/such");
}

static void too_many_claims_are_refused(void **state) {
    (void)state;
    static char text[64 + 4 * (GS_CLAIMS_MOST + 1)];
    struct gs_error error;
    struct gs_claims *made;
    int used = snprintf(text, sizeof text,
                        "{\"schema\": \"gpnscope-claims\", \"version\": 1, \"claims\": [1");
    size_t at = (size_t)used;
    for (int i = 0; i < GS_CLAIMS_MOST; i++, at += 2) memcpy(text + at, ",1", 2);
    memcpy(text + at, "]}", 2);
    gs_assert_error(gs_claims_parse(text, at + 2, "c.json", &made, &error), GS_FORMAT, &error,
                    "too much", "4096", "4097");
    assert_null(made);
}

/* ---- verdicts ---- */

static enum gs_verdict judged(enum gs_claim_direction direction, const struct gs_value *value) {
    const struct gs_claim claim = {.direction = direction, .threshold = 1};
    return gs_claim_judge(&claim, value).verdict;
}

static void verdicts_follow_the_interval(void **state) {
    (void)state;
    const enum gs_verdict P = GS_VERDICT_PASS, F = GS_VERDICT_FAIL, U = GS_VERDICT_UNDECIDED;
    const struct {
        double low, high;
        enum gs_verdict above, at_least, below, at_most;
    } cases[] = {{1.5, 2, P, P, F, F},      {0.2, 0.9, F, F, P, P},
                 {0.9, 1.1, U, U, U, U},    {1, 2, U, P, F, U},
                 {0, 1, F, U, U, P},        {1, 1, F, P, F, P},
                 {2, INFINITY, P, P, F, F}, {-INFINITY, INFINITY, U, U, U, U}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gs_value value = {
            .value = 1, .has_interval = true, .low = cases[i].low, .high = cases[i].high};
        assert_int_equal(judged(GS_CLAIM_ABOVE, &value), cases[i].above);
        assert_int_equal(judged(GS_CLAIM_AT_LEAST, &value), cases[i].at_least);
        assert_int_equal(judged(GS_CLAIM_BELOW, &value), cases[i].below);
        assert_int_equal(judged(GS_CLAIM_AT_MOST, &value), cases[i].at_most);
    }
}

static void numbers_without_interval_are_judged_alone(void **state) {
    (void)state;
    const struct gs_claim least = {.direction = GS_CLAIM_AT_LEAST, .threshold = 3};
    const struct gs_claim most = {.direction = GS_CLAIM_AT_MOST, .threshold = 3};
    struct gs_value value = {.value = 3};
    assert_int_equal(gs_claim_judge(&least, &value).verdict, GS_VERDICT_PASS);
    assert_non_null(strstr(gs_claim_judge(&least, &value).reason, "value alone"));
    value.value = 2;
    assert_int_equal(gs_claim_judge(&least, &value).verdict, GS_VERDICT_FAIL);
    value = (struct gs_value){.value = NAN, .status = "undefined", .reason = "all are alike"};
    assert_int_equal(gs_claim_judge(&least, &value).verdict, GS_VERDICT_UNDECIDED);
    assert_string_equal(gs_claim_judge(&least, &value).reason, "all are alike");
    value = (struct gs_value){.value = NAN, .status = "censored", .has_bound = true, .bound = 5};
    assert_int_equal(gs_claim_judge(&least, &value).verdict, GS_VERDICT_PASS);
    assert_int_equal(gs_claim_judge(&most, &value).verdict, GS_VERDICT_FAIL);
    value.bound = 2;
    assert_int_equal(gs_claim_judge(&least, &value).verdict, GS_VERDICT_UNDECIDED);
    assert_int_equal(gs_claim_judge(&most, &value).verdict, GS_VERDICT_UNDECIDED);
}

/* ---- k of n ---- */

/* P(X ≥ k), X ~ Bin(n, p), by its sum. */
static double at_least(size_t k, size_t n, double p) {
    double total = 0;
    for (size_t i = k; i <= n; i++) {
        double choose = 1;
        for (size_t j = 0; j < i; j++) choose *= (double)(n - j) / (double)(j + 1);
        total += choose * pow(p, (double)i) * pow(1 - p, (double)(n - i));
    }
    return total;
}

static void clopper_pearson_is_as_published(void **state) {
    (void)state;
    static const struct {
        size_t k, n;
        double low, high;
    } cases[] = {/* 0 and n of n in closed form, (α/2)^(1/n) */
                 {5, 5, 0.478176249895, 1},
                 {0, 5, 0, 0.521823750105},
                 {3, 3, 0.2924017738213, 1},
                 {0, 10, 0, 0.3084971078188},
                 /* Newcombe 1998, Two-sided confidence intervals for the single proportion, table
                  * I, method 5: 81/263, 15/148, 0/20, 1/29 to four digits */
                 {81, 263, 0.2527, 0.3676},
                 {15, 148, 0.0578, 0.1617},
                 {0, 20, 0, 0.1684},
                 {1, 29, 0.0009, 0.1776}};
    double low, high;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double near = i < 4 ? 1e-11 : 5e-5;
        gs_clopper_pearson(cases[i].k, cases[i].n, 0.95, &low, &high);
        gs_assert_near("low", low, cases[i].low, near, 0);
        gs_assert_near("high", high, cases[i].high, near, 0);
    }
    gs_clopper_pearson(0, 0, 0.95, &low, &high);
    gs_assert_near("low", low, 0, 0, 0);
    gs_assert_near("high", high, 1, 0, 0);
    gs_clopper_pearson(3, 2, 0.95, &low, &high);
    assert_true(isnan(low) && isnan(high));
}

/* By definition: at its low end k or more have probability 2.5 %, at its high end k or fewer. */
static void clopper_pearson_is_what_it_says(void **state) {
    (void)state;
    double low, high;
    for (size_t n = 1; n <= 24; n++)
        for (size_t k = 0; k <= n; k++) {
            gs_clopper_pearson(k, n, 0.95, &low, &high);
            if (k > 0) gs_assert_near("low", at_least(k, n, low), 0.025, 1e-11, 0);
            if (k < n) gs_assert_near("high", 1 - at_least(k + 1, n, high), 0.025, 1e-11, 0);
        }
    gs_assert_near("I_x(1, b)", gs_beta_share(0.3, 1, 4), 1 - pow(0.7, 4), 1e-14, 0);
    gs_assert_near("I_x(a, 1)", gs_beta_share(0.3, 2.5, 1), pow(0.3, 2.5), 1e-14, 0);
    gs_assert_near("arcsine", gs_beta_share(0.3, 0.5, 0.5), 2 / acos(-1.0) * asin(sqrt(0.3)), 1e-14,
                   0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_set_is_the_fixture),
        cmocka_unit_test(faults_are_named),
        cmocka_unit_test(too_many_claims_are_refused),
        cmocka_unit_test(verdicts_follow_the_interval),
        cmocka_unit_test(numbers_without_interval_are_judged_alone),
        cmocka_unit_test(clopper_pearson_is_as_published),
        cmocka_unit_test(clopper_pearson_is_what_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
