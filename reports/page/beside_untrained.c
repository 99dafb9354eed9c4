#include "reports/page/beside_untrained.h"

#include "analyses/stats/untrained.h"

#include <string.h>

static bool begins(const char *name, const char *start) {
    return strncmp(name, start, strlen(start)) == 0;
}

/* What was compared, without the untrained values, which stand elsewhere. */
static enum gs_status take_comparisons(struct gs_results *results, const struct gs_results *both,
                                       struct gs_error *error) {
    struct gs_results *made = gs_results_create(gs_results_command(results));
    if (!made) return gs_fail_memory(error, 0, "comparisons with the untrained model");
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < gs_results_count(both); i++) {
        const char *name = gs_results_name_at(both, i);
        struct gs_value value;
        if (!begins(name, "ratio.") && !begins(name, "difference.")) continue;
        if (gs_results_find(both, name, &value)) status = gs_results_add(made, name, &value, error);
    }
    for (size_t i = 0; status == GS_OK && i < gs_results_note_count(both); i++)
        status = gs_results_note(results, gs_results_note_at(both, i), error);
    if (status == GS_OK) status = gs_results_take_details(results, made, error);
    gs_results_destroy(made);
    return status;
}

enum gs_status gs_report_beside_untrained(struct gs_results *results,
                                          const struct gs_results *untrained, bool same_rows,
                                          struct gs_error *error) {
    struct gs_results *both = gs_results_create(gs_results_command(results));
    if (!both) return gs_fail_memory(error, 0, "results beside the untrained model's");
    gs_results_keep_replicates(both);
    enum gs_status status = gs_results_take_details(both, results, error);
    /* of the untrained model's results the values alone: its notes and sources are said already */
    struct gs_results *values = gs_results_create(gs_results_command(results));
    if (status == GS_OK && !values) status = gs_fail_memory(error, 0, "the untrained values");
    if (status == GS_OK) {
        gs_results_keep_replicates(values);
        status = gs_results_take_details(values, untrained, error);
    }
    if (status == GS_OK) status = gs_results_take_untrained(both, values, error);
    if (status == GS_OK) status = gs_untrained_compare(both, same_rows, error);
    if (status == GS_OK) status = take_comparisons(results, both, error);
    gs_results_destroy(both);
    gs_results_destroy(values);
    return status;
}
