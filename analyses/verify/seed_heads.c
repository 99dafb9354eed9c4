/* The memory heads of all runs: their efolds, and the split test over all of them. */
#include "analyses/verify/work.h"

#include "analyses/split/split.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double nothing = (double)NAN;

/* efold and bound of a head as cells; false: there is no such head. */
static bool head_cells(const struct gs_results *results, const char *prefix, size_t head,
                       struct gs_cell cells[2]) {
    char name[64];
    struct gs_value value;
    snprintf(name, sizeof name, "%sretention.head.%02zu.efold", prefix, head);
    if (!gs_results_find(results, name, &value)) return false;
    cells[0] = gs_cell_number(value.value);
    cells[1] = gs_cell_number(value.has_bound ? value.bound : nothing);
    return true;
}

static enum gs_status add_run(const struct gs_verify_run *run, const struct gs_results *results,
                              struct gs_table *table, struct gs_error *error) {
    enum gs_status status = GS_OK;
    struct gs_cell row[7] = {gs_cell_text(run->name), gs_verify_seed(run)};
    for (size_t h = 0; status == GS_OK && head_cells(results, "", h, row + 3); h++) {
        row[2] = gs_cell_integer((int64_t)h);
        if (!head_cells(results, "null.", h, row + 5)) row[5] = row[6] = gs_cell_number(nothing);
        status = gs_table_row(table, row, error);
    }
    return status;
}

static bool has_heads(const struct gs_results *results, const char *prefix) {
    struct gs_cell cells[2];
    return results && head_cells(results, prefix, 0, cells);
}

/* What the split test says of one run, in its words. */
static enum gs_status say_split(struct gs_verify_work *work, const struct gs_verify_run *run,
                                const struct gs_results *results, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < gs_results_note_count(results); i++) {
        char text[2600];
        const char *note = gs_results_note_at(results, i);
        if (strncmp(note, "split.verdict", 13) != 0) continue;
        snprintf(text, sizeof text, "%s: %s", run->name, note);
        status = gs_results_note(work->results, text, error);
    }
    return status;
}

struct pooled {
    struct gs_split_heads heads, untrained;
    bool all_untrained;
};

static enum gs_status gather(struct gs_verify_work *work, struct pooled *pooled,
                             struct gs_table *table, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < work->runs->run_count; i++) {
        const struct gs_verify_run *run = work->runs->runs + i;
        const struct gs_results *results =
            work->measured[gs_verify_end(run)].results[GS_VERIFY_RETENTION];
        if (!has_heads(results, "")) continue;
        status = add_run(run, results, table, error);
        if (status == GS_OK) status = say_split(work, run, results, error);
        if (status == GS_OK) status = gs_split_heads_of_results(&pooled->heads, results, "", error);
        if (!has_heads(results, "null."))
            pooled->all_untrained = false;
        else if (status == GS_OK)
            status = gs_split_heads_of_results(&pooled->untrained, results, "null.", error);
    }
    return status;
}

enum gs_status gs_verify_add_heads(struct gs_verify_work *work, struct gs_error *error) {
    static const char *const columns[] = {
        "run", "seed", "head", "efold", "bound", "untrained_efold", "untrained_bound"};
    struct gs_table *table;
    struct pooled pooled = {.all_untrained = true};
    enum gs_status status = gs_results_table(work->results, "heads", columns, 7, &table, error);
    if (status == GS_OK) status = gather(work, &pooled, table, error);
    if (status == GS_OK && pooled.heads.count > 0) {
        const struct gs_split_plan plan = {.seed = work->plan->seed, .progress = &work->inner};
        struct gs_split_answer answer;
        bool beside = pooled.all_untrained && pooled.untrained.count > 0;
        status =
            gs_split_judge(&pooled.heads, beside ? &pooled.untrained : NULL, &plan, &answer, error);
        if (status == GS_OK)
            status = gs_split_results(&answer, "split.pooled.", work->results, error);
    }
    gs_split_heads_clear(&pooled.heads);
    gs_split_heads_clear(&pooled.untrained);
    return status;
}
