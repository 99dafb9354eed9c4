/* Claims by training step. */
#include "analyses/verify/work.h"

#include <math.h>

static struct gs_cell step_cell(int64_t step) {
    return step < 0 ? (struct gs_cell){.type = GS_CELL_NULL} : gs_cell_integer(step);
}

/* The claim at each step of a run. *holds: the first step from which on it passes; -1: none. */
static enum gs_status follow(struct gs_verify_work *work, const struct gs_claim *claim,
                             const struct gs_verify_run *run, struct gs_table *table,
                             int64_t *holds, struct gs_error *error) {
    enum gs_status status = GS_OK;
    char statistic[GS_CLAIM_VALUE];
    gs_claim_value_name(claim, statistic);
    *holds = -1;
    for (size_t i = 0; status == GS_OK && i < run->count; i++) {
        int64_t step = gs_verify_info(work, run->steps[i])->step;
        struct gs_value value;
        struct gs_verdict_given given =
            gs_verify_judge(claim, work->measured + run->steps[i], &value);
        bool passes = given.verdict == GS_VERDICT_PASS;
        if (!passes) *holds = -1;
        if (passes && *holds < 0) *holds = step;
        struct gs_cell row[9] = {gs_cell_text(claim->name), gs_cell_text(statistic),
                                 gs_cell_text(run->name), gs_verify_seed(run), step_cell(step)};
        gs_verify_cells(&value, row + 5);
        row[8] = gs_cell_text(gs_verdict_name(given.verdict));
        status = gs_table_row(table, row, error);
    }
    return status;
}

enum gs_status gs_verify_add_emergence(struct gs_verify_work *work, struct gs_error *error) {
    static const char *const columns[] = {"claim", "statistic", "run",  "seed",   "step",
                                          "value", "low",       "high", "verdict"};
    static const char *const held[] = {"claim", "run", "seed", "step"};
    struct gs_table *table, *holds;
    enum gs_status status = gs_results_table(work->results, "emergence", columns, 9, &table, error);
    if (status == GS_OK)
        status = gs_results_table(work->results, "emergence_holds", held, 4, &holds, error);
    for (size_t c = 0; status == GS_OK && c < work->plan->claims->count; c++)
        for (size_t i = 0; status == GS_OK && i < work->runs->run_count; i++) {
            const struct gs_claim *claim = work->plan->claims->claims + c;
            const struct gs_verify_run *run = work->runs->runs + i;
            int64_t step;
            if (run->count < 2) continue;
            status = follow(work, claim, run, table, &step, error);
            const struct gs_cell row[4] = {gs_cell_text(claim->name), gs_cell_text(run->name),
                                           gs_verify_seed(run), step_cell(step)};
            if (status == GS_OK) status = gs_table_row(holds, row, error);
        }
    return status;
}
