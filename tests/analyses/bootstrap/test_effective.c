/* Effective numbers of rows and blocks: closed forms, and the variance of bootstrap replicates. */
#include "analyses/stats/bootstrap.h"
#include "analyses/stats/effective.h"
#include "core/base/random.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>

enum { SEED = 20261130 };

struct drawn {
    double *sums, *counts, squares, n;
};

/* `blocks` blocks of lengths `least` … `most`, each an AR(1) of its own in its steady state. */
static struct drawn draw(size_t blocks, size_t least, size_t most, double rho) {
    struct drawn d = {.sums = calloc(blocks, sizeof(double)),
                      .counts = calloc(blocks, sizeof(double))};
    assert_true(d.sums && d.counts);
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/effective");
    double sum = 0, squares = 0;
    for (size_t b = 0; b < blocks; b++) {
        double row = gs_random_normal(&random);
        d.counts[b] = (double)(least + gs_random_below(&random, most - least + 1));
        for (size_t i = 0; i < (size_t)d.counts[b]; i++) {
            if (i) row = rho * row + sqrt(1 - rho * rho) * gs_random_normal(&random);
            d.sums[b] += row;
            squares += row * row;
        }
        sum += d.sums[b];
        d.n += d.counts[b];
    }
    d.squares = squares - sum * sum / d.n;
    return d;
}

static void drop(struct drawn *d) {
    free(d->sums);
    free(d->counts);
}

/* n (1 − ρ) / (1 + ρ), and the term that ends of blocks of L rows add: the variance of their mean
 * is 1/L [(1 + ρ)/(1 − ρ) − 2 ρ (1 − ρ^L) / (L (1 − ρ)²)]. Its estimate from 4,000 blocks scatters
 * by √(2/4000) = 0.022. */
static void rows_of_an_ar1(void **state) {
    (void)state;
    enum { BLOCKS = 4000, ROWS = 400 };
    static const double rhos[] = {0, 0.5, 0.8, 0.95};
    print_message("seed %d\n", SEED);
    for (size_t i = 0; i < sizeof rhos / sizeof *rhos; i++) {
        double rho = rhos[i], long_run = (1 + rho) / (1 - rho);
        double ends = 2 * rho * (1 - pow(rho, ROWS)) / (ROWS * (1 - rho) * (1 - rho));
        struct drawn d = draw(BLOCKS, ROWS, ROWS, rho);
        double found = gs_effective_rows(d.sums, d.counts, 1, BLOCKS, d.squares);
        gs_assert_near("effective rows", found, d.n / (long_run - ends), 0, 0.07);
        if (rho <= 0.8) gs_assert_near("n (1 - rho) / (1 + rho)", found, d.n / long_run, 0, 0.08);
        assert_true(found <= d.n);
        drop(&d);
    }
}

/* Blocks of unequal lengths: n times s²/n over the variance of the replicates, which have
 * (B − 1) / B of the variance. */
static void rows_by_replicates(void **state) {
    (void)state;
    enum { BLOCKS = 60, REPLICATES = 8000 };
    static double kept[REPLICATES];
    struct drawn d = draw(BLOCKS, 10, 200, 0.9);
    const struct gs_bootstrap plan = {.seed = SEED, .replicates = REPLICATES};
    struct gs_interval interval;
    struct gs_error error;
    gs_assert_ok(gs_bootstrap_ratio(&plan, BLOCKS, 1, d.sums, d.counts, &interval, kept, &error),
                 &error);
    double mean = 0, variance = 0;
    for (size_t r = 0; r < REPLICATES; r++) mean += kept[r] / REPLICATES;
    for (size_t r = 0; r < REPLICATES; r++)
        variance += (kept[r] - mean) * (kept[r] - mean) / (REPLICATES - 1);
    double of_rows = d.squares / (d.n - 1) / d.n;
    gs_assert_near("against replicates", gs_effective_rows(d.sums, d.counts, 1, BLOCKS, d.squares),
                   d.n * of_rows / variance * (BLOCKS - 1) / BLOCKS, 0, 0.08);
    drop(&d);
}

static void rows_at_the_borders(void **state) {
    (void)state;
    /* rows 1 1 1 | 3 3: as many independent ones as blocks, nearly: worked by hand. m = 9/5,
     * squares 3·0.64 + 2·1.44 = 4.8, s²/n = 4.8/4/5, v = 2 · (2.4² + 2.4²) / 25. */
    const double sums[] = {3, 7, 6, 7}, counts[] = {3, 7, 2, 7};
    gs_assert_near("by hand", gs_effective_rows(sums, counts, 2, 2, 4.8),
                   5 * (4.8 / 20) / (2 * 11.52 / 25), 1e-12, 0);
    const double even[] = {4, 4}, two[] = {2, 2};
    gs_assert_near("no more than rows", gs_effective_rows(even, two, 1, 2, 1), 4, 0, 0);
    assert_true(isnan(gs_effective_rows(even, two, 1, 1, 1)));
    assert_true(isnan(gs_effective_rows(even, two, 1, 2, 0)));
    const double empty[] = {2, 0}, one[] = {4, 0};
    assert_true(isnan(gs_effective_rows(one, empty, 1, 2, 1)));
}

static void blocks(void **state) {
    (void)state;
    const double equal[] = {5, 5, 5, 5}, apart[] = {1, 9, 2, 9, 3, 9}, none[] = {0, 0};
    gs_assert_near("equal", gs_effective_blocks(equal, 1, 4), 4, 0, 0);
    gs_assert_near("unequal", gs_effective_blocks(apart, 2, 3), 36.0 / 14, 1e-15, 0);
    assert_true(isnan(gs_effective_blocks(none, 1, 2)) && isnan(gs_effective_blocks(none, 1, 0)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_an_ar1),
        cmocka_unit_test(rows_by_replicates),
        cmocka_unit_test(rows_at_the_borders),
        cmocka_unit_test(blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
