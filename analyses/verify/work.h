/* work.h - what the parts of a verification share. Inside verify only. */
#ifndef GS_ANALYSES_VERIFY_WORK_H
#define GS_ANALYSES_VERIFY_WORK_H

#include "analyses/verify/verify.h"

#include <math.h>

struct gs_verify_work {
    const struct gs_verify_runs *runs;
    const struct gs_verify_plan *plan;
    struct gs_progress inner;            /* for the analyses: asks whether to stop, says nothing */
    struct gs_verify_measured *measured; /* (trace_count) */
    struct gs_results *results;
    double done, total; /* traces and comparisons */
};

/* One unit is done; GS_INTERRUPTED. */
enum gs_status gs_verify_advance(struct gs_verify_work *work, const char *note,
                                 struct gs_error *error);

static inline const struct gs_trace_info *gs_verify_info(const struct gs_verify_work *work,
                                                         size_t trace) {
    return gs_trace_info(work->runs->traces[trace].trace);
}
/* null where it is not recorded */
static inline struct gs_cell gs_verify_seed(const struct gs_verify_run *run) {
    return run->seed < 0 ? (struct gs_cell){.type = GS_CELL_NULL} : gs_cell_integer(run->seed);
}
/* A value as cells: value, low, high. */
static inline void gs_verify_cells(const struct gs_value *value, struct gs_cell cells[3]) {
    double none = value->has_interval ? 0 : (double)NAN;
    cells[0] = gs_cell_number(value->value);
    cells[1] = gs_cell_number(value->low + none);
    cells[2] = gs_cell_number(value->high + none);
}

/* Tables and values of each kind; see verify.h. */
enum gs_status gs_verify_add_seeds(struct gs_verify_work *work, struct gs_verify_count *counts,
                                   struct gs_error *error);
enum gs_status gs_verify_add_pairs(struct gs_verify_work *work, struct gs_error *error);
enum gs_status gs_verify_add_heads(struct gs_verify_work *work, struct gs_error *error);
enum gs_status gs_verify_add_emergence(struct gs_verify_work *work, struct gs_error *error);

/* How many comparisons gs_verify_add_pairs makes. */
size_t gs_verify_pair_count(const struct gs_verify_runs *runs);

#endif
