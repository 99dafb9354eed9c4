#include "analyses/split/sample.h"

#include "core/base/memory.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

void gs_split_sample_settle(struct gs_split_sample *sample, size_t drawn, double bound) {
    size_t exact = 0;
    for (size_t i = 0; i < drawn; i++)
        if (sample->x[i] < bound) sample->x[exact++] = sample->x[i];
    qsort(sample->x, exact, sizeof *sample->x, ascending);
    sample->exact = exact;
    sample->censored = drawn - exact;
    sample->bound = bound;
}

/* ---- seeds ---- */

struct seed_means {
    double *sum, *count; /* (seeds) */
};

static void mean_of_seeds(const struct gs_split_heads *heads, const double *x,
                          const struct seed_means *means) {
    for (size_t s = 0; s < heads->seeds; s++) means->sum[s] = means->count[s] = 0;
    for (size_t i = 0; i < heads->count; i++) {
        means->sum[heads->heads[i].seed] += x[i];
        means->count[heads->heads[i].seed] += 1;
    }
}

/* Σ over seeds of (sum)² / count: the sum of squares between seeds, but for a constant. */
static double between(const struct gs_split_heads *heads, const double *x,
                      const struct seed_means *means) {
    mean_of_seeds(heads, x, means);
    double total = 0;
    for (size_t s = 0; s < heads->seeds; s++)
        if (means->count[s] > 0) total += means->sum[s] * means->sum[s] / means->count[s];
    return total;
}

static void exchange(struct gs_random *random, double *x, size_t count) {
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)gs_random_below(random, i);
        double kept = x[i - 1];
        x[i - 1] = x[j];
        x[j] = kept;
    }
}

enum gs_status gs_split_seeds_differ(const struct gs_split_heads *heads, uint64_t seed,
                                     size_t permutations, double *p, struct gs_error *error) {
    *p = 1;
    if (heads->seeds < 2 || heads->count < 2) return GS_OK;
    double *x = gs_calloc(heads->count + 2 * heads->seeds, sizeof *x);
    if (!x) return gs_fail_memory(error, heads->count * sizeof *x, "heads");
    struct seed_means means = {x + heads->count, x + heads->count + heads->seeds};
    double mean = 0; /* taken away, so that the squares do not cancel */
    for (size_t i = 0; i < heads->count; i++) mean += heads->heads[i].log_efold;
    mean /= (double)heads->count;
    for (size_t i = 0; i < heads->count; i++) x[i] = heads->heads[i].log_efold - mean;
    double observed = between(heads, x, &means);
    struct gs_random random;
    gs_random_seed(&random, seed, "split/exchange");
    size_t as_far = 0;
    for (size_t r = 0; r < permutations; r++) {
        exchange(&random, x, heads->count);
        as_far += between(heads, x, &means) >= observed * (1 - 1e-12);
    }
    *p = (1 + (double)as_far) / (1 + (double)permutations);
    gs_free(x);
    return GS_OK;
}

/* ---- the sample ---- */

static void align(const struct gs_split_heads *heads, double *x, const struct seed_means *means) {
    mean_of_seeds(heads, x, means);
    double mean = 0;
    for (size_t s = 0; s < heads->seeds; s++) mean += means->sum[s];
    mean /= (double)heads->count;
    for (size_t i = 0; i < heads->count; i++) {
        size_t s = heads->heads[i].seed;
        x[i] += mean - means->sum[s] / means->count[s];
    }
}

/* Every head's value, as asked; the caller's (gs_free). NULL when memory is short. */
static double *values_of(const struct gs_split_heads *heads, bool aligned, struct gs_error *error) {
    double *x = gs_calloc(heads->count + 2 * heads->seeds, sizeof *x);
    if (!x) {
        gs_fail_memory(error, heads->count * sizeof *x, "heads");
        return NULL;
    }
    struct seed_means means = {x + heads->count, x + heads->count + heads->seeds};
    for (size_t i = 0; i < heads->count; i++) x[i] = heads->heads[i].log_efold;
    if (aligned && heads->count) align(heads, x, &means);
    return x;
}

enum gs_status gs_split_sample_of(const struct gs_split_heads *heads, bool aligned,
                                  struct gs_split_sample *sample, struct gs_error *error) {
    double *x = values_of(heads, aligned, error);
    if (!x) return GS_NO_MEMORY;
    double bound = (double)INFINITY;
    for (size_t i = 0; i < heads->count; i++)
        if (heads->heads[i].censored && x[i] < bound) bound = x[i];
    sample->x = x;
    gs_split_sample_settle(sample, heads->count, bound);
    return GS_OK;
}

enum gs_status gs_split_on_both_sides(const struct gs_split_heads *heads, bool aligned, double at,
                                      size_t *seeds, struct gs_error *error) {
    double *x = values_of(heads, aligned, error);
    if (!x) return GS_NO_MEMORY;
    *seeds = 0;
    for (size_t s = 0; s < heads->seeds; s++) {
        bool below = false, above = false;
        for (size_t i = 0; i < heads->count; i++) {
            if (heads->heads[i].seed != s) continue;
            below |= x[i] < at;
            above |= x[i] > at;
        }
        *seeds += below && above;
    }
    gs_free(x);
    return GS_OK;
}
