/* team.h - how threads share the steps of a window. */
#ifndef GS_CORE_MODELS_GPN_TEAM_H
#define GS_CORE_MODELS_GPN_TEAM_H

#include "core/kernels/packed.h"

#include <stdbool.h>
#include <stddef.h>

struct gs_team {
    size_t index, count; /* this thread, threads */
    bool by_columns;     /* all threads share each product's columns and meet after each phase;
                            else each thread has sequences of its own and never waits */
    size_t batch;
    size_t first_row, last_row; /* sequences whose row-wise work this thread does */
};

/* Called by every thread of a parallel region. A pure function of its arguments: how the work is
 * split changes no bit of the result. */
static inline struct gs_team gs_team_member(size_t index, size_t count, size_t batch,
                                            bool by_columns) {
    return (struct gs_team){
        index, count, by_columns, batch, batch * index / count, batch * (index + 1) / count};
}

/* y (+)= x W for this thread's share; x and y have all rows of the batch. */
static inline void gs_team_product(const struct gs_team *team, const struct gs_packed *weights,
                                   const float *x, size_t xs, float *y, size_t ys,
                                   bool accumulate) {
    size_t first = 0, last = weights->panels;
    if (team->by_columns) {
        gs_packed_share(weights, team->index, team->count, &first, &last);
        gs_packed_product(weights, x, xs, team->batch, first, last, y, ys, accumulate);
    } else {
        size_t rows = team->last_row - team->first_row, skip = team->first_row;
        gs_packed_product(weights, x + skip * xs, xs, rows, first, last, y + skip * ys, ys,
                          accumulate);
    }
}

/* This thread's share of `units` pieces of work per sequence: piece u belongs to sequence
 * u / units. */
static inline void gs_team_units(const struct gs_team *team, size_t units, size_t *first,
                                 size_t *last) {
    *first = team->by_columns ? team->batch * units * team->index / team->count
                              : team->first_row * units;
    *last = team->by_columns ? team->batch * units * (team->index + 1) / team->count
                             : team->last_row * units;
}

/* Wait for the others where they depend on each other. */
static inline void gs_team_meet(const struct gs_team *team) {
    if (team->by_columns && team->count > 1) {
#pragma omp barrier
    }
}

/* Whether columns are to be shared: few sequences per thread, or weights so large that each
 * thread's reading all of them would cost more than waiting. */
static inline bool gs_team_shares_columns(size_t batch, size_t threads, size_t weight_floats) {
    enum { ROWS_WORTH_IT = 6, LARGE = 4 * 1024 * 1024 };
    return batch < ROWS_WORTH_IT * threads || weight_floats > LARGE;
}

#endif
