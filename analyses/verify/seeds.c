/* Claims by seed, and over seeds. */
#include "analyses/verify/work.h"

#include "analyses/stats/binomial_interval.h"

#include <math.h>
#include <stdio.h>

static const double nothing = (double)NAN;

static enum gs_status judge_claim(struct gs_verify_work *work, const struct gs_claim *claim,
                                  struct gs_table *table, struct gs_verify_count *count,
                                  struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < work->runs->run_count; i++) {
        const struct gs_verify_run *run = work->runs->runs + i;
        const struct gs_verify_measured *null =
            run->null == SIZE_MAX ? NULL : work->measured + run->null;
        struct gs_value value;
        struct gs_verdict_given given =
            gs_verify_judge(claim, work->measured + gs_verify_end(run), &value);
        bool about = given.verdict != GS_VERDICT_NONE;
        struct gs_cell row[9] = {gs_cell_text(claim->name), gs_verify_seed(run),
                                 gs_cell_text(run->name)};
        gs_verify_cells(&value, row + 3);
        row[6] = gs_cell_number(null && about ? gs_verify_untrained(claim, null) : nothing);
        row[7] = gs_cell_text(gs_verdict_name(given.verdict));
        row[8] = gs_cell_text(given.reason[0] ? given.reason : NULL);
        count->of[given.verdict]++;
        status = gs_table_row(table, row, error);
    }
    return status;
}

/* ---- over seeds ---- */

static size_t asked(const struct gs_verify_count *count) {
    return count->of[GS_VERDICT_PASS] + count->of[GS_VERDICT_FAIL] +
           count->of[GS_VERDICT_UNDECIDED];
}

static enum gs_status add_value(struct gs_verify_work *work, const struct gs_claim *claim,
                                const char *what, const struct gs_value *value,
                                struct gs_error *error) {
    char name[160];
    snprintf(name, sizeof name, "claim.%s.%s", claim->name, what);
    return gs_results_add(work->results, name, value, error);
}

static enum gs_status add_counts(struct gs_verify_work *work, const struct gs_claim *claim,
                                 const struct gs_verify_count *count, const double interval[2],
                                 struct gs_error *error) {
    size_t n = asked(count), k = count->of[GS_VERDICT_PASS];
    const struct {
        const char *what;
        size_t value;
    } entries[] = {{"k", k},
                   {"n", n},
                   {"fail", count->of[GS_VERDICT_FAIL]},
                   {"undecided", count->of[GS_VERDICT_UNDECIDED]}};
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < sizeof entries / sizeof *entries; i++) {
        const struct gs_value value = {
            .value = (double)entries[i].value, .unit = "seed", .n = work->runs->run_count};
        status = add_value(work, claim, entries[i].what, &value, error);
    }
    struct gs_value share = {.value = n ? (double)k / (double)n : nothing, .unit = "1", .n = n};
    share.has_interval = n > 0;
    share.low = interval[0];
    share.high = interval[1];
    if (n == 0) {
        share.status = "none";
        share.reason = "no run has what the claim is about";
    }
    return status == GS_OK ? add_value(work, claim, "share", &share, error) : status;
}

static enum gs_status add_over_seeds(struct gs_verify_work *work, const struct gs_claim *claim,
                                     const struct gs_verify_count *count, struct gs_table *table,
                                     struct gs_error *error) {
    size_t n = asked(count), k = count->of[GS_VERDICT_PASS];
    double interval[2] = {nothing, nothing};
    if (n > 0) gs_clopper_pearson(k, n, 0.95, interval, interval + 1);
    const struct gs_cell row[8] = {gs_cell_text(claim->name),
                                   gs_cell_text(claim->structure),
                                   gs_cell_integer((int64_t)k),
                                   gs_cell_integer((int64_t)n),
                                   gs_cell_integer((int64_t)count->of[GS_VERDICT_FAIL]),
                                   gs_cell_integer((int64_t)count->of[GS_VERDICT_UNDECIDED]),
                                   gs_cell_number(interval[0]),
                                   gs_cell_number(interval[1])};
    enum gs_status status = gs_table_row(table, row, error);
    return status == GS_OK ? add_counts(work, claim, count, interval, error) : status;
}

/* ---- the words ---- */

static enum gs_status add_texts(struct gs_verify_work *work, struct gs_error *error) {
    static const char *const columns[] = {"claim",     "structure",  "says",
                                          "statistic", "comparison", "direction",
                                          "threshold", "reason",     "untrained"};
    struct gs_table *table;
    enum gs_status status =
        gs_results_table(work->results, "claim_texts", columns, 9, &table, error);
    for (size_t i = 0; status == GS_OK && i < work->plan->claims->count; i++) {
        const struct gs_claim *claim = work->plan->claims->claims + i;
        const struct gs_cell row[9] = {gs_cell_text(claim->name),
                                       gs_cell_text(claim->structure),
                                       gs_cell_text(claim->says),
                                       gs_cell_text(claim->statistic),
                                       gs_cell_text(gs_claim_comparison_name(claim->comparison)),
                                       gs_cell_text(gs_claim_direction_name(claim->direction)),
                                       gs_cell_number(claim->threshold),
                                       gs_cell_text(claim->reason),
                                       gs_cell_text(claim->untrained)};
        status = gs_table_row(table, row, error);
    }
    return status;
}

enum gs_status gs_verify_add_seeds(struct gs_verify_work *work, struct gs_verify_count *counts,
                                   struct gs_error *error) {
    static const char *const columns[] = {"claim", "seed",      "run",     "value", "low",
                                          "high",  "untrained", "verdict", "reason"};
    static const char *const over[] = {"claim", "structure", "k",   "n",
                                       "fail",  "undecided", "low", "high"};
    struct gs_table *table, *over_seeds;
    enum gs_status status = gs_results_table(work->results, "claims", columns, 9, &table, error);
    if (status == GS_OK)
        status = gs_results_table(work->results, "over_seeds", over, 8, &over_seeds, error);
    for (size_t i = 0; status == GS_OK && i < work->plan->claims->count; i++) {
        const struct gs_claim *claim = work->plan->claims->claims + i;
        struct gs_verify_count count = {0};
        status = judge_claim(work, claim, table, &count, error);
        if (status == GS_OK) status = add_over_seeds(work, claim, &count, over_seeds, error);
        if (counts) counts[i] = count;
    }
    return status == GS_OK ? add_texts(work, error) : status;
}
