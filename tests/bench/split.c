/* How often the split test says what, by simulation: bench_split FILE [datasets [replicates
 * [longest]]]
 *
 * For 1, 3, 5 and 10 seeds of 15 heads of each population (tests/analyses/split/populations.h):
 * verdicts, and p-values at most 0.05 of the parts (those that the verdict asked for). Results go
 * to FILE as CSV, one line for each ten samples; run again, it goes on where FILE ends, so it may
 * be stopped at any moment. At the end, or with 0 datasets, the table. longest: heads beyond so
 * many tokens are censored. Names choose populations, NAME:SEEDS one cell. One thread:
 * OMP_NUM_THREADS=1 nice -n 19 bench_split FILE */
#include "analyses/split/split.h"
#include "tests/analyses/split/populations.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 10, COUNTS = 13, SIZES = 4 };
static const size_t sizes[SIZES] = {1, 3, 5, 10};
/* What a line counts: the four verdicts, small p-values, the untrained's answer. */
static const char *const names[COUNTS] = {
    "two_pools", "continuum", "one_pool",  "undecided", "dip",       "valley", "one_peak",
    "two/one",   "two/even",  "reference", "seeds",     "untrained", "made_by"};

struct cell {
    uint64_t samples, counts[COUNTS];
};

static int fail(const struct gs_error *error) {
    char text[1024];
    fprintf(stderr, "%s\n", gs_error_text(error, text, sizeof text));
    return 1;
}

static void count(const struct gs_split_answer *a, struct cell *cell) {
    const double level = GS_SPLIT_LEVEL;
    const bool hits[COUNTS] = {a->verdict == GS_SPLIT_TWO_POOLS,
                               a->verdict == GS_SPLIT_CONTINUUM,
                               a->verdict == GS_SPLIT_ONE_POOL,
                               a->verdict == GS_SPLIT_UNDECIDED,
                               a->dip_p <= level,
                               a->valley.p <= level,
                               a->one_peak_p <= level,
                               a->one_p <= level,
                               a->even_p <= level,
                               a->reference_p <= level,
                               a->seeds_p <= level,
                               a->untrained_one_p <= level,
                               a->training == GS_SPLIT_MADE_BY_TRAINING};
    cell->samples++;
    for (int i = 0; i < COUNTS; i++) cell->counts[i] += hits[i];
}

/* Sample number `index` of a cell: its own random numbers, whatever was drawn before. */
static enum gs_status judge_one(enum gs_population population, size_t seeds, uint64_t index,
                                size_t replicates, double longest, struct gs_split_answer *answer,
                                struct gs_error *error) {
    struct gs_split_heads heads = {0}, untrained = {0};
    struct gs_random random;
    char stream[96];
    snprintf(stream, sizeof stream, "bench/split/%s/%zu", gs_population_name(population), seeds);
    gs_random_seed(&random, index, stream);
    gs_population_draw(population, &random, seeds, longest, &heads);
    gs_population_draw(GS_INITIALISATION, &random, seeds, longest, &untrained);
    struct gs_split_plan plan = {.seed = index, .replicates = replicates, .verdict_only = true};
    enum gs_status status = gs_split_judge(&heads, &untrained, &plan, answer, error);
    gs_split_heads_clear(&heads);
    gs_split_heads_clear(&untrained);
    return status;
}

static bool read_lines(const char *path, struct cell cells[GS_POPULATIONS][SIZES]) {
    FILE *file = fopen(path, "r");
    if (!file) return true;
    unsigned population, size;
    while (fscanf(file, "%u,%u", &population, &size) == 2) {
        if (population >= GS_POPULATIONS || size >= SIZES) break;
        struct cell line = {.samples = LINE};
        int found = 0;
        for (int i = 0; i < COUNTS; i++) found += fscanf(file, ",%" SCNu64, &line.counts[i]) == 1;
        if (found != COUNTS) break;
        struct cell *cell = &cells[population][size];
        cell->samples += LINE;
        for (int i = 0; i < COUNTS; i++) cell->counts[i] += line.counts[i];
    }
    bool whole = feof(file) != 0;
    fclose(file);
    return whole;
}

static bool write_line(const char *path, unsigned population, unsigned size,
                       const struct cell *line) {
    FILE *file = fopen(path, "a");
    if (!file) return false;
    fprintf(file, "%u,%u", population, size);
    for (int i = 0; i < COUNTS; i++) fprintf(file, ",%" PRIu64, line->counts[i]);
    fputc('\n', file);
    return fclose(file) == 0;
}

/* Which are asked for: all, or those named, "log_normal" or "log_normal:5". */
static bool asked(unsigned population, unsigned size, char *const *wanted) {
    char cell[64];
    const char *name = gs_population_name((enum gs_population)population);
    if (!*wanted) return true;
    snprintf(cell, sizeof cell, "%s:%zu", name, sizes[size]);
    for (; *wanted; wanted++)
        if (strcmp(*wanted, name) == 0 || strcmp(*wanted, cell) == 0) return true;
    return false;
}

static int go_on(const char *path, struct cell cells[GS_POPULATIONS][SIZES], uint64_t datasets,
                 size_t replicates, double longest, char *const *wanted) {
    for (uint64_t done = 0; done < datasets; done += LINE)
        for (unsigned c = 0; c < GS_POPULATIONS * SIZES; c++) {
            unsigned population = c / SIZES, size = c % SIZES;
            struct cell *cell = &cells[population][size], line = {0};
            if (cell->samples > done || !asked(population, size, wanted)) continue;
            for (uint64_t i = 0; i < LINE; i++) {
                struct gs_split_answer answer;
                struct gs_error error;
                if (judge_one((enum gs_population)population, sizes[size], done + i, replicates,
                              longest, &answer, &error) != GS_OK)
                    return fail(&error);
                count(&answer, &line);
            }
            if (!write_line(path, population, size, &line)) return 1;
            cell->samples += LINE;
            for (int i = 0; i < COUNTS; i++) cell->counts[i] += line.counts[i];
        }
    return 0;
}

static void print_table(struct cell cells[GS_POPULATIONS][SIZES]) {
    printf("| heads of | seeds | samples |");
    for (int i = 0; i < COUNTS; i++) printf(" %s |", names[i]);
    printf("\n|---|---|---|");
    for (int i = 0; i < COUNTS; i++) printf("---|");
    for (unsigned p = 0; p < GS_POPULATIONS; p++)
        for (unsigned s = 0; s < SIZES; s++) {
            const struct cell *cell = &cells[p][s];
            if (!cell->samples) continue;
            printf("\n| %s | %zu | %" PRIu64 " |", gs_population_name((enum gs_population)p),
                   sizes[s], cell->samples);
            for (int i = 0; i < COUNTS; i++)
                printf(" %.3f |", (double)cell->counts[i] / (double)cell->samples);
        }
    printf("\n");
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(
            stderr,
            "usage: bench_split FILE [datasets [replicates [longest [population[:seeds]...]]]]\n");
        return 2;
    }
    static struct cell cells[GS_POPULATIONS][SIZES];
    uint64_t datasets = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    size_t replicates = argc > 3 ? (size_t)strtoull(argv[3], NULL, 10) : 499;
    if (!read_lines(argv[1], cells)) {
        fprintf(stderr, "%s does not end in a whole line: delete its last one\n", argv[1]);
        return 3;
    }
    double longest = argc > 4 ? strtod(argv[4], NULL) : 0;
    int status = go_on(argv[1], cells, datasets, replicates, longest, argv + (argc > 5 ? 5 : argc));
    if (status == 0) print_table(cells);
    return status;
}
