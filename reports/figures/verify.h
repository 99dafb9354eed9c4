/* verify.h - what a verify page is made from, and the figures that show it.
 *
 * Everything is read from results: the tables claims, over_seeds, pairs, heads, emergence and
 * emergence_holds, and the values split.pooled.*. A figure computes no statistic: sorting, and the
 * middle one of several seeds, is all it does with the numbers.
 */
#ifndef GS_REPORTS_FIGURES_VERIFY_H
#define GS_REPORTS_FIGURES_VERIFY_H

#include "core/results/results.h"
#include "reports/figures/plot.h"
#include "reports/figures/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A claim in its own words. Everything is borrowed; texts may be NULL. */
struct gs_shown_claim {
    const char *name, *structure, *says, *statistic;
    const char *comparison; /* "ratio" or "difference" to the untrained model's; NULL: the value */
    const char *direction;  /* "above", "at_least", "below", "at_most" */
    double threshold;
    const char *reason, *untrained; /* of the threshold; how the untrained model looks */
};

/* What was verified. Everything is borrowed; texts may be NULL. */
struct gs_shown_verify {
    const struct gs_results *results;
    const struct gs_shown_claim *claims;
    size_t claim_count;
    const char *title, *about;               /* of the claims file */
    const char *claims_path, *claims_sha256; /* the claims file */
    const char *command_line;
};

/* One run among those of a table: the column "run", or "seed" where there is none. */
struct gs_shown_run {
    const char *run; /* NULL: not said */
    int64_t seed;    /* -1: not said */
    char label[64];  /* "seed 11" where that tells all of them apart, else the run's name */
};
/* The runs of `table` in the order they come in, for gs_free; NULL when there are none or memory is
 * short. */
struct gs_shown_run *gs_shown_runs(const struct gs_table *table, size_t *count);
bool gs_shown_is_of(const struct gs_table *table, size_t row, const struct gs_shown_run *run);
/* The row of `claim` in `run` (NULL: the claim's first); SIZE_MAX: none. */
size_t gs_shown_row(const struct gs_table *table, const char *claim,
                    const struct gs_shown_run *run);
/* A cell by its column's name: text, "" where it is none; a number, NaN where it is none. */
const char *gs_shown_text(const struct gs_table *table, size_t row, const char *column);
double gs_shown_number(const struct gs_table *table, size_t row, const char *column);

/* "above 0.1"; true: values above the threshold pass. */
void gs_shown_threshold(struct gs_text *text, const struct gs_shown_claim *claim);
bool gs_shown_above(const struct gs_shown_claim *claim);
bool gs_shown_holds(const struct gs_shown_claim *claim, double value); /* false for NaN */
/* Why seeds are undecided, or whatever else their verdicts on `claim` say of themselves, in plain
 * text, those that say the same together: "seed 11, seed 13: undecided, …". false: there is no
 * reason number `index`, and nothing was written. */
bool gs_shown_reason(const struct gs_table *table, const char *claim, size_t index,
                     struct gs_text *text);

/* A figure of the page; `claim` is the index of the claim for those of one claim, else not used. */
struct gs_verify_figure {
    const char *name; /* of its file; the claim's follows */
    const char *title;
    const char *table; /* the table its numbers are in: verify_<table>.csv */
    bool of_claim;
    int (*height)(const struct gs_shown_verify *shown, size_t claim, bool narrow); /* pixels */
    void (*draw)(const struct gs_shown_verify *shown, size_t claim, struct gs_plot *plot);
    /* One or two sentences in plain text, with the numbers; they are the picture's alternative. */
    void (*say)(const struct gs_shown_verify *shown, size_t claim, struct gs_text *text);
};
extern const struct gs_verify_figure gs_verify_strip;      /* values of all seeds, by threshold */
extern const struct gs_verify_figure gs_verify_emergence;  /* the statistic by training step */
extern const struct gs_verify_figure gs_verify_heads;      /* efolds of all seeds */
extern const struct gs_verify_figure gs_verify_similarity; /* between seeds */

#endif
