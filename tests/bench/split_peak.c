/* How often the first part of the split test, that against one peak, is below 0.05:
 * bench_split_peak [samples [seeds…]]
 *
 * No verdict two_pools comes without it, so these are limits to false alarms and to power, from
 * many more samples than bench_split can afford: the dip's null depends on the number of heads
 * alone and is drawn once. Beside it the dip alone, and the valley alone. nice -n 19
 * bench_split_peak */
#include "analyses/split/dip.h"
#include "analyses/split/split.h"
#include "core/base/memory.h"
#include "tests/analyses/split/populations.h"

#include <stdio.h>
#include <stdlib.h>

enum { NULLS = 20000, MOST_SEEDS = 40, MOST = 15 * MOST_SEEDS };

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static size_t scratch[GS_DIP_SCRATCH(MOST)];
static double nulls[NULLS];

static void draw_nulls(size_t heads) {
    struct gs_random random;
    gs_random_seed(&random, heads, "bench/split/nulls");
    static double x[MOST];
    for (size_t i = 0; i < NULLS; i++) {
        for (size_t h = 0; h < heads; h++) x[h] = gs_random_uniform(&random);
        qsort(x, heads, sizeof *x, ascending);
        nulls[i] = gs_dip(x, heads, scratch);
    }
    qsort(nulls, NULLS, sizeof *nulls, ascending);
}

static double p_of(double dip) {
    size_t low = 0, high = NULLS; /* nulls before `low` are smaller */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (nulls[middle] < dip - 1e-12)
            low = middle + 1;
        else
            high = middle;
    }
    return (1 + (double)(NULLS - low)) / (1 + (double)NULLS);
}

static void measure(enum gs_population population, size_t seeds, size_t samples) {
    size_t dips = 0, valleys = 0, both = 0;
    struct gs_random random;
    gs_random_seed(&random, seeds, gs_population_name(population));
    for (size_t i = 0; i < samples; i++) {
        struct gs_split_heads heads = {0};
        struct gs_split_sample sample;
        gs_population_draw(population, &random, seeds, 0, &heads);
        if (gs_split_sample_of(&heads, false, &sample, NULL) == GS_OK) {
            double dip = p_of(gs_dip(sample.x, sample.exact, scratch));
            double valley = gs_split_valley_of(&sample).p;
            dips += dip <= GS_SPLIT_LEVEL;
            valleys += valley <= GS_SPLIT_LEVEL;
            both += dip <= GS_SPLIT_LEVEL * GS_SPLIT_DIP_PART ||
                    valley <= GS_SPLIT_LEVEL * GS_SPLIT_VALLEY_PART;
            gs_free(sample.x);
        }
        gs_split_heads_clear(&heads);
    }
    double n = (double)samples;
    printf("| %s | %zu | %.3f | %.3f | %.3f |\n", gs_population_name(population), seeds,
           (double)dips / n, (double)valleys / n, (double)both / n);
    fflush(stdout);
}

int main(int argc, char **argv) {
    static const enum gs_population populations[] = {
        GS_LOG_UNIFORM, GS_INITIALISATION,   GS_LOG_NORMAL,  GS_DECAYING,
        GS_STEP,        GS_LOG_NORMAL_POOLS, GS_PAPER_POOLS, GS_ELSEWHERE_POOLS};
    static const size_t usual[] = {1, 3, 5, 10};
    size_t samples = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 4000;
    int sizes = argc > 2 ? argc - 2 : 4;
    if (samples == 0) {
        fprintf(stderr, "usage: bench_split_peak [samples [seeds...]]\n");
        return 2;
    }
    printf(
        "%zu samples each\n| heads of | seeds | dip | valley | one peak |\n|---|---|---|---|---|\n",
        samples);
    for (int s = 0; s < sizes; s++) {
        size_t seeds = argc > 2 ? (size_t)strtoull(argv[s + 2], NULL, 10) : usual[s];
        if (seeds == 0 || seeds > MOST_SEEDS) continue;
        draw_nulls(15 * seeds);
        for (size_t p = 0; p < sizeof populations / sizeof *populations; p++)
            measure(populations[p], seeds, samples);
    }
    return 0;
}
