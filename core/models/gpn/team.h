/* team.h - how threads share the steps of a window. */
#ifndef GS_CORE_MODELS_GPN_TEAM_H
#define GS_CORE_MODELS_GPN_TEAM_H

#include "core/kernels/packed.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { GS_TEAM_QUEUES = 4, GS_TEAM_PARTS = 6 };

/* Where the threads of a team take the next part of a product. Zeroed before they begin. */
struct gs_team_queues {
    struct {
        _Atomic size_t next;
        char apart[64 - sizeof(size_t)];
    } queue[GS_TEAM_QUEUES];
};

struct gs_team {
    size_t index, count; /* this thread, threads */
    bool by_columns;     /* all threads share each product's columns and meet after each phase;
                            else each thread has sequences of its own and never waits */
    bool by_units;       /* row-wise work on units is cut finer than by sequences */
    size_t batch;
    size_t first_row, last_row; /* sequences whose row-wise work this thread does */
    struct gs_team_queues *queues;
    size_t products;              /* shared so far */
    size_t taken[GS_TEAM_QUEUES]; /* from each queue, by all threads, in the products before */
};

/* Called by every thread of a parallel region. How the work is split changes no bit of the
 * result. */
static inline struct gs_team gs_team_member(size_t index, size_t count, size_t batch,
                                            bool by_columns, struct gs_team_queues *queues) {
    enum { ROWS_BALANCE = 8 };
    return (struct gs_team){.index = index,
                            .count = count,
                            .by_columns = by_columns,
                            .by_units = by_columns && batch % count && batch < ROWS_BALANCE * count,
                            .batch = batch,
                            .first_row = batch * index / count,
                            .last_row = batch * (index + 1) / count,
                            .queues = queues};
}

/* Some panels of a product at a time, by whichever thread is free: cores are not equally fast when
 * others use them, too. Each thread asks in vain once, so all know where the queue stands when it
 * is used again; by then they have met. */
static inline void gs_team_share(struct gs_team *team, const struct gs_packed *weights,
                                 const float *x, size_t xs, float *y, size_t ys, bool accumulate) {
    const size_t most = GS_TEAM_PARTS * team->count;
    const size_t parts = weights->panels < most ? weights->panels : most;
    const size_t queue = team->products++ % GS_TEAM_QUEUES;
    for (;;) {
        size_t part =
            atomic_fetch_add_explicit(&team->queues->queue[queue].next, 1, memory_order_relaxed) -
            team->taken[queue];
        if (part >= parts) break;
        size_t first, last;
        gs_packed_share(weights, part, parts, &first, &last);
        gs_packed_product(weights, x, xs, team->batch, first, last, y, ys, accumulate);
    }
    team->taken[queue] += parts + team->count;
}

/* y (+)= x W for this thread's share; x and y have all rows of the batch. */
static inline void gs_team_product(struct gs_team *team, const struct gs_packed *weights,
                                   const float *x, size_t xs, float *y, size_t ys,
                                   bool accumulate) {
    if (team->by_columns) {
        gs_team_share(team, weights, x, xs, y, ys, accumulate);
        return;
    }
    size_t rows = team->last_row - team->first_row, skip = team->first_row;
    gs_packed_product(weights, x + skip * xs, xs, rows, 0, weights->panels, y + skip * ys, ys,
                      accumulate);
}

/* This thread's share of `units` pieces of work per sequence: piece u belongs to sequence
 * u / units. */
static inline void gs_team_units(const struct gs_team *team, size_t units, size_t *first,
                                 size_t *last) {
    *first =
        team->by_units ? team->batch * units * team->index / team->count : team->first_row * units;
    *last = team->by_units ? team->batch * units * (team->index + 1) / team->count
                           : team->last_row * units;
}

/* Wait for the others where they depend on each other. */
static inline void gs_team_meet(const struct gs_team *team) {
    if (team->by_columns && team->count > 1) {
#pragma omp barrier
    }
}

/* Wait between work on rows and work on units: only where these may belong to other threads. */
static inline void gs_team_meet_units(const struct gs_team *team) {
    if (team->by_units) gs_team_meet(team);
}

/* Whether columns are to be shared: few sequences per thread, or weights so large that each
 * thread's reading all of them would cost more than waiting. */
static inline bool gs_team_shares_columns(size_t batch, size_t threads, size_t weight_floats) {
    enum { ROWS_WORTH_IT = 6, LARGE = 4 * 1024 * 1024 };
    return batch < ROWS_WORTH_IT * threads || weight_floats > LARGE;
}

#endif
