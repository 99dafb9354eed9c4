#include "tests/analyses/bootstrap/coverage.h"

#include "analyses/default_token/default_token.h"
#include "analyses/geometry/geometry.h"
#include "analyses/horizon/horizon.h"
#include "analyses/retention/retention.h"
#include "core/base/memory.h"
#include "core/base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 6, ROWS = 40, VOCAB = 30, LONG = 20000 };

static const double centre[WIDTH] = {1.5, -1, 0.5, 0.8, 0, 0};
static const double scale[WIDTH] = {1, 0.9, 0.8, 0.7, 0.6, 0.5};
/* of a sequence's mean, in rows' deviations; gates' rates; memory of rows */
static const double apart = 0.5, slowest = 0.05, fastest = 0.25, memory = 0.8;

static void must(enum gs_status status, const struct gs_error *error) {
    if (status == GS_OK) return;
    fprintf(stderr, "coverage: %s %s\n", error->what, error->found);
    abort();
}

/* ---- data ---- */

struct data {
    size_t sequences;
    uint64_t *start, *length;
    float *states, *gamma, *loss;
};

static void fill_sequence(struct data *d, size_t s, struct gs_random *random) {
    double mean[WIDTH], noise[WIDTH],
        rate = slowest + (fastest - slowest) * gs_random_uniform(random);
    double loss = 3 + 0.5 * gs_random_normal(random), wave = gs_random_normal(random);
    for (size_t c = 0; c < WIDTH; c++) {
        mean[c] = centre[c] + apart * scale[c] * gs_random_normal(random);
        noise[c] = gs_random_normal(random);
    }
    for (size_t r = s * ROWS; r < (s + 1) * ROWS; r++) {
        for (size_t c = 0; c < WIDTH; c++) {
            d->states[r * WIDTH + c] = (float)(mean[c] + scale[c] * noise[c]);
            noise[c] = memory * noise[c] + sqrt(1 - memory * memory) * gs_random_normal(random);
        }
        d->gamma[r] = (float)-rate;
        d->loss[r] = (float)(loss + wave);
        wave = memory * wave + sqrt(1 - memory * memory) * gs_random_normal(random);
    }
}

static struct data make(uint64_t number, size_t sequences) {
    struct data d = {.sequences = sequences};
    d.start = gs_calloc(sequences, sizeof *d.start);
    d.length = gs_calloc(sequences, sizeof *d.length);
    d.states = gs_calloc(sequences * ROWS * WIDTH, sizeof *d.states);
    d.gamma = gs_calloc(sequences * ROWS, sizeof *d.gamma);
    d.loss = gs_calloc(sequences * ROWS, sizeof *d.loss);
    struct gs_random random;
    gs_random_seed(&random, number, "coverage");
    for (size_t s = 0; s < sequences; s++) {
        d.start[s] = s * ROWS;
        d.length[s] = ROWS;
        fill_sequence(&d, s, &random);
    }
    return d;
}

static void release(struct data *d) {
    gs_free(d->start);
    gs_free(d->length);
    gs_free(d->states);
    gs_free(d->gamma);
    gs_free(d->loss);
}

static struct gs_rows view(const struct data *d, const float *array, size_t width) {
    return gs_rows_of_array(array, width, d->sequences, d->start, d->length);
}

/* ---- a decoder: logits are products with directions drawn once ---- */

static const float *directions(void) {
    static float all[VOCAB * WIDTH];
    struct gs_random random;
    gs_random_seed(&random, 1, "coverage/directions");
    for (size_t i = 0; i < VOCAB * WIDTH; i++) all[i] = (float)gs_random_normal(&random);
    return all;
}

static enum gs_status decode(void *context, const float *states, size_t rows, float *logits,
                             struct gs_error *error) {
    const float *all = context;
    (void)error;
    for (size_t r = 0; r < rows; r++)
        for (size_t v = 0; v < VOCAB; v++) {
            float sum = 0;
            for (size_t c = 0; c < WIDTH; c++) sum += states[r * WIDTH + c] * all[v * WIDTH + c];
            logits[r * VOCAB + v] = sum;
        }
    return GS_OK;
}

static const float *embedding(void *context, uint32_t id) {
    return (const float *)context + id * WIDTH;
}

/* ---- measuring ---- */

static void measure_geometry(const struct data *d, uint64_t seed, size_t replicates,
                             struct gs_results *results) {
    struct gs_rows rows = view(d, d->states, WIDTH);
    struct gs_geometry_options options = {
        .replicates_given = true, .replicates = replicates, .seed = seed};
    struct gs_geometry *geometry;
    struct gs_error error;
    must(gs_geometry_of_rows(&rows, &options, &geometry, &error), &error);
    must(gs_geometry_report(geometry, results, &error), &error);
    gs_geometry_destroy(geometry);
}

static void measure_default(const struct data *d, uint64_t seed, size_t replicates,
                            struct gs_results *results) {
    struct gs_rows rows = view(d, d->states, WIDTH);
    float *all = (float *)(uintptr_t)directions();
    const struct gs_decoder decoder = {WIDTH, WIDTH, VOCAB, all, decode, decode, embedding};
    const struct gs_default_options options = {
        .top = 5, .replicates = replicates, .draws = 1, .seed = seed};
    uint64_t counts[VOCAB]; /* any that do not follow the logits too closely */
    for (size_t v = 0; v < VOCAB; v++)
        counts[v] = 1 + (uint64_t)(100 * exp((double)(all[v * WIDTH] - all[v * WIDTH + 4])));
    struct gs_default_token *token;
    struct gs_error error;
    must(gs_default_token_measure(&rows, &decoder, counts, &options, &token, &error), &error);
    must(gs_default_token_report(token, NULL, results, &error), &error);
    gs_default_token_destroy(token);
}

static void measure_others(const struct data *d, const struct gs_bootstrap *bootstrap,
                           struct gs_results *results) {
    struct gs_rows states = view(d, d->states, WIDTH), gamma = view(d, d->gamma, 1);
    const struct gs_horizon_plan horizon_plan = {.max_lag = 16, .seed = bootstrap->seed};
    const struct gs_retention_plan plan = {.max_lag = 32};
    struct gs_horizon *horizon;
    struct gs_retention *retention;
    struct gs_error error;
    must(gs_horizon_measure(&states, &horizon_plan, NULL, &horizon, &error), &error);
    must(gs_horizon_results(horizon, bootstrap, results, &error), &error);
    must(gs_retention_measure(&gamma, NULL, &plan, NULL, &retention, &error), &error);
    must(gs_retention_results(retention, false, "none", bootstrap, results, &error), &error);
    gs_retention_destroy(retention);
    gs_horizon_destroy(horizon);
}

/* As the loss over positions is: a mean over all rows. */
static void measure_loss(const struct data *d, const struct gs_bootstrap *bootstrap,
                         struct gs_results *results) {
    double *sums = gs_calloc(2 * d->sequences, sizeof *sums), *counts = sums + d->sequences;
    double sum = 0, count = (double)(d->sequences * ROWS);
    struct gs_interval interval;
    struct gs_error error;
    for (size_t r = 0; r < d->sequences * ROWS; r++) {
        sums[r / ROWS] += (double)d->loss[r];
        counts[r / ROWS]++;
        sum += (double)d->loss[r];
    }
    must(gs_bootstrap_ratio(bootstrap, d->sequences, 1, sums, counts, &interval, NULL, &error),
         &error);
    const struct gs_value value = {.value = sum / count,
                                   .unit = "nat",
                                   .n = (uint64_t)count,
                                   .has_interval = interval.known,
                                   .low = interval.low,
                                   .high = interval.high};
    must(gs_results_add(results, "loss", &value, &error), &error);
    gs_free(sums);
}

static struct gs_results *measure(const struct data *d, uint64_t seed, size_t replicates) {
    struct gs_results *results = gs_results_create("coverage");
    const struct gs_bootstrap bootstrap = {seed, replicates, NULL};
    measure_geometry(d, seed, replicates, results);
    measure_default(d, seed, replicates, results);
    measure_others(d, &bootstrap, results);
    measure_loss(d, &bootstrap, results);
    return results;
}

/* ---- the truth ---- */

/* Rates even over slowest … fastest: R(k) in closed form, and where it crosses 1/e. */
static double decay_after(double k) {
    return (exp(-k * slowest) - exp(-k * fastest)) / (k * (fastest - slowest));
}
static double true_efold(void) {
    double k = 1;
    while (decay_after(k) > exp(-1)) k++;
    double before = log(decay_after(k - 1)), after = log(decay_after(k));
    return k - 1 + (before + 1) / (before - after);
}

static size_t closed_forms(struct gs_coverage *c) {
    double energy = 0, sum = 0, squares = 0, largest = 0;
    for (size_t i = 0; i < WIDTH; i++) {
        double variance = scale[i] * scale[i] * (1 + apart * apart);
        energy += centre[i] * centre[i];
        sum += variance;
        squares += variance * variance;
        largest = fmax(largest, variance);
    }
    size_t n = 0;
    c[n++] = (struct gs_coverage){.name = "mean_energy", .truth = energy / (energy + sum)};
    c[n++] = (struct gs_coverage){.name = "stable_rank.centered", .truth = sum / largest};
    c[n++] = (struct gs_coverage){.name = "participation_ratio", .truth = sum * sum / squares};
    c[n++] = (struct gs_coverage){.name = "participation_ratio.share",
                                  .truth = sum * sum / squares / WIDTH};
    c[n++] = (struct gs_coverage){.name = "mean_over_first_component", .truth = energy / largest};
    c[n++] = (struct gs_coverage){.name = "retention.head.00.efold", .truth = true_efold()};
    c[n++] = (struct gs_coverage){.name = "loss", .truth = 3};
    return n;
}

/* What has none: of a sample so long that its own error is a fiftieth of an interval. */
static size_t long_sample(struct gs_coverage *c, size_t n) {
    static const char *const names[] = {"default.spearman.mean_state",
                                        "default.spearman.mean_logits",
                                        "horizon.raw.k1",
                                        "horizon.raw.plateau",
                                        "horizon.centered_sequence.k1",
                                        "horizon.centered_global.k1",
                                        "horizon.centered_sequence.efold"};
    struct data d = make(UINT64_MAX, LONG);
    struct gs_results *results = measure(&d, 1, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct gs_value value = {.value = (double)NAN};
        gs_results_find(results, names[i], &value);
        c[n++] = (struct gs_coverage){.name = names[i], .truth = value.value};
    }
    gs_results_destroy(results);
    release(&d);
    return n;
}

static void judge(struct gs_coverage *c, const struct gs_results *results) {
    struct gs_value value;
    if (!gs_results_find(results, c->name, &value) || !value.has_interval)
        c->none++;
    else if (value.high < c->truth)
        c->below++;
    else if (value.low > c->truth)
        c->above++;
    else
        c->held++;
}

size_t gs_coverage_count(uint64_t first, size_t trials, size_t sequences, size_t replicates,
                         struct gs_coverage *coverage) {
    size_t count = long_sample(coverage, closed_forms(coverage));
    for (size_t t = 0; t < trials; t++) {
        struct data d = make(first + t, sequences);
        struct gs_results *results = measure(&d, first + t, replicates);
        for (size_t i = 0; i < count; i++) judge(&coverage[i], results);
        gs_results_destroy(results);
        release(&d);
    }
    return count;
}
