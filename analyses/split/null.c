#include "analyses/split/null.h"

#include "analyses/split/dip.h"
#include "analyses/split/valley.h"
#include "core/base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

void gs_split_statistics(const struct gs_split_sample *s, unsigned wanted, size_t *scratch,
                         double values[GS_SPLIT_STATISTICS]) {
    const unsigned of_two =
        GS_SPLIT_BIT(GS_SPLIT_TWO_OVER_ONE) | GS_SPLIT_BIT(GS_SPLIT_TWO_OVER_EVEN);
    for (int i = 0; i < GS_SPLIT_STATISTICS; i++) values[i] = (double)NAN;
    if (wanted & GS_SPLIT_BIT(GS_SPLIT_DIP)) values[GS_SPLIT_DIP] = gs_dip(s->x, s->exact, scratch);
    if (wanted & GS_SPLIT_BIT(GS_SPLIT_GAP))
        values[GS_SPLIT_GAP] = gs_split_widest_gap(s).log_ratio;
    if (!(wanted & (of_two | GS_SPLIT_BIT(GS_SPLIT_ONE_OVER_EVEN))) || !gs_split_measurable(s))
        return;
    struct gs_normal one;
    struct gs_two_normals two;
    struct gs_even even;
    double l_one = gs_split_fit_normal(s, &one), l_even = gs_split_fit_even(s, &even);
    values[GS_SPLIT_ONE_OVER_EVEN] = 2 * (l_one - l_even);
    if (!(wanted & of_two)) return;
    double l_two = fmax(gs_split_fit_two(s, &two), l_one); /* two alike are one */
    values[GS_SPLIT_TWO_OVER_ONE] = 2 * (l_two - l_one);
    values[GS_SPLIT_TWO_OVER_EVEN] = 2 * (l_two - l_even);
}

/* Replicates are drawn in rounds, so that the decision to stop does not depend on threads. */
enum { ROUND = 32 };

struct counts {
    size_t drawn[GS_SPLIT_STATISTICS], high[GS_SPLIT_STATISTICS], low[GS_SPLIT_STATISTICS];
};

static void draw_one(const struct gs_split_null *null, uint64_t seed, uint64_t replicate,
                     unsigned wanted, struct gs_split_sample *sample, size_t *scratch,
                     double *values) {
    char stream[96];
    snprintf(stream, sizeof stream, "split/%s/%" PRIu64, null->stream, replicate);
    struct gs_random random;
    gs_random_seed(&random, seed, stream);
    null->draw(null->context, &random, sample->x, null->count);
    gs_split_sample_settle(sample, null->count, null->bound);
    if (null->only_known) sample->censored = 0;
    gs_split_statistics(sample, wanted, scratch, values);
}

static bool draw_round(const struct gs_split_null *null, uint64_t seed, unsigned wanted,
                       size_t first, size_t count, double *values) {
    bool failed = false;
#pragma omp parallel
    {
        struct gs_split_sample sample = {.x = gs_calloc(null->count, sizeof(double))};
        size_t *scratch = gs_calloc(GS_DIP_SCRATCH(null->count), sizeof *scratch);
        bool mine_failed = !sample.x || !scratch;
#pragma omp for schedule(static)
        for (size_t r = 0; r < count; r++)
            if (!mine_failed)
                draw_one(null, seed, first + r, wanted, &sample, scratch,
                         values + r * GS_SPLIT_STATISTICS);
        if (mine_failed) {
#pragma omp atomic write
            failed = true;
        }
        gs_free(scratch);
        gs_free(sample.x);
    }
    return !failed;
}

static void count_round(const double *values, size_t count, unsigned wanted, const double *observed,
                        struct counts *counts) {
    for (size_t i = 0; i < GS_SPLIT_STATISTICS; i++) {
        if (!(wanted & GS_SPLIT_BIT(i))) continue;
        double slack = 1e-9 * fabs(observed[i]); /* equal but for rounding counts on both sides */
        counts->drawn[i] += count;
        for (size_t r = 0; r < count; r++) {
            double value = values[r * GS_SPLIT_STATISTICS + i];
            counts->high[i] += value >= observed[i] - slack;
            counts->low[i] += value <= observed[i] + slack;
        }
    }
}

/* The statistics that may still turn out rare: reached less often than in a tenth of all
 * replicates, so that a p-value near 0.05 rests on all of them. */
static unsigned still_wanted(const struct gs_split_null *null, const struct counts *counts,
                             size_t replicates) {
    size_t enough = replicates / 10 + 1;
    unsigned wanted = 0;
    for (unsigned i = 0; i < GS_SPLIT_STATISTICS; i++) {
        unsigned bit = GS_SPLIT_BIT(i);
        if (((null->high & bit) && counts->high[i] < enough) ||
            ((null->low & bit) && counts->low[i] < enough))
            wanted |= bit;
    }
    return wanted;
}

enum gs_status gs_split_null_run(const struct gs_split_null *null, const struct gs_split_plan *plan,
                                 const double observed[GS_SPLIT_STATISTICS],
                                 struct gs_split_odds *odds, struct gs_error *error) {
    double values[ROUND * GS_SPLIT_STATISTICS];
    struct counts counts = {0};
    size_t all = plan->replicates ? plan->replicates : GS_SPLIT_REPLICATES, done = 0;
    unsigned wanted;
    while (done < all && (wanted = still_wanted(null, &counts, all)) != 0) {
        size_t count = all - done < ROUND ? all - done : ROUND;
        if (gs_progress_stop(plan->progress))
            return gs_fail(error, GS_INTERRUPTED, "stopped on request");
        if (!draw_round(null, plan->seed, wanted, done, count, values))
            return gs_fail_memory(error, null->count * sizeof(double), "samples without pools");
        count_round(values, count, wanted, observed, &counts);
        done += count;
    }
    for (size_t i = 0; i < GS_SPLIT_STATISTICS; i++) {
        odds->replicates[i] = counts.drawn[i];
        double drawn = 1 + (double)counts.drawn[i], none = (double)NAN;
        bool high = null->high & GS_SPLIT_BIT(i), low = null->low & GS_SPLIT_BIT(i);
        odds->high[i] = high ? (1 + (double)counts.high[i]) / drawn : none;
        odds->low[i] = low ? (1 + (double)counts.low[i]) / drawn : none;
    }
    return GS_OK;
}
