#include "tests/analyses/split/populations.h"

#include <assert.h>
#include <math.h>

enum { HEADS = 15, FAST = 6 };

const char *gs_population_name(enum gs_population population) {
    static const char *const names[] = {
        "log_uniform", "initialisation",   "log_normal",  "decaying",        "step",
        "shifted",     "log_normal_pools", "paper_pools", "elsewhere_pools", "moved_pools"};
    return names[population];
}

bool gs_population_has_pools(enum gs_population population) {
    return population >= GS_LOG_NORMAL_POOLS;
}

static double even(struct gs_random *random, double low, double high) {
    return log(low) + (log(high) - log(low)) * gs_random_uniform(random);
}

static double softplus(double x) {
    return x > 30 ? x : log1p(exp(x));
}

/* α = exp(−A softplus(z + dt_bias)) with z standard normal over tokens: the projection of a state
 * of mean square 1 by weights of variance 1/d. Tokens apart are independent here, so that the mean
 * product over k tokens is E[α]^k and the efold −1/log E[α]; E by the trapezoid rule over ±4. */
static double untrained(struct gs_random *random) {
    double a = fmax(16 * gs_random_uniform(random), 1e-8);
    double dt = fmax(exp(even(random, 1e-3, 1e-1)), 1e-4);
    double bias = dt + log(-expm1(-dt)), sum = 0, weights = 0;
    for (int i = -20; i <= 20; i++) {
        double z = 0.2 * i, weight = exp(-z * z / 2);
        sum += weight * exp(-a * softplus(z + bias));
        weights += weight;
    }
    return log(-1 / log(sum / weights));
}

static double log_normal_pools(struct gs_random *random, bool fast) {
    return fast ? log(2) + 0.35 * gs_random_normal(random)
                : log(60) + 1.2 * gs_random_normal(random);
}

static double paper_pools(struct gs_random *random, bool fast) {
    return fast ? even(random, 1, 3) : even(random, 5, 322);
}

static double log_efold(enum gs_population population, struct gs_random *random, bool fast,
                        double moved) {
    switch (population) {
    case GS_LOG_UNIFORM:
        return even(random, 1, 322);
    case GS_INITIALISATION:
        return untrained(random);
    case GS_LOG_NORMAL:
        return log(20) + 1.3 * gs_random_normal(random);
    case GS_DECAYING:
        return -log(1 - gs_random_uniform(random));
    case GS_STEP:
        return gs_random_uniform(random) < 0.4 ? even(random, 1, 3) : even(random, 3, 322);
    case GS_SHIFTED:
        return log(20) + 1.5 * moved + 0.5 * gs_random_normal(random);
    case GS_LOG_NORMAL_POOLS:
        return log_normal_pools(random, fast);
    case GS_PAPER_POOLS:
        return paper_pools(random, fast);
    case GS_ELSEWHERE_POOLS:
        return log(5) + paper_pools(random, fast);
    case GS_MOVED_POOLS:
        return 0.7 * moved + log_normal_pools(random, fast);
    case GS_POPULATIONS:
        break;
    }
    return (double)NAN;
}

void gs_population_draw(enum gs_population population, struct gs_random *random, size_t seeds,
                        double longest, struct gs_split_heads *heads) {
    for (size_t s = 0; s < seeds; s++) {
        double moved = gs_random_normal(random);
        size_t seed = heads->seeds;
        for (size_t h = 0; h < HEADS; h++) {
            double efold = exp(log_efold(population, random, h < FAST, moved));
            bool censored = longest > 0 && efold >= longest;
            enum gs_status status =
                gs_split_heads_add(heads, seed, censored ? longest : efold, censored, NULL);
            assert(status == GS_OK);
            (void)status;
        }
    }
}
