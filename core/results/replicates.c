#include "core/results/replicates.h"

#include "core/base/memory.h"
#include "core/results/parts.h"

#include <string.h>

void gs_results_keep_replicates(struct gs_results *results) {
    results->keeps_replicates = true;
}

bool gs_results_keeps_replicates(const struct gs_results *results) {
    return results->keeps_replicates;
}

static struct gs_results_value_part *find_part(const struct gs_results *results, const char *name) {
    for (size_t i = 0; i < results->value_count; i++)
        if (strcmp(results->values[i].name, name) == 0) return &results->values[i];
    return NULL;
}

enum gs_status gs_results_add_replicates(struct gs_results *results, const char *name,
                                         const struct gs_replicates *replicates,
                                         struct gs_error *error) {
    if (!results->keeps_replicates) return GS_OK;
    struct gs_results_value_part *part = find_part(results, name);
    if (!part) {
        gs_fail(error, GS_MISSING, "there is no value that these replicates could be of");
        gs_error_where(error, "%s, %s", results->command, name);
        return GS_MISSING;
    }
    size_t count = replicates->count;
    double *values = gs_calloc(count, sizeof *values);
    if (!values) return gs_fail_memory(error, count * sizeof *values, "bootstrap replicates");
    if (count) memcpy(values, replicates->values, count * sizeof *values);
    gs_free(part->replicates);
    part->replicates = values;
    part->replicate_count = count;
    part->replicate_seed = replicates->seed;
    part->replicate_blocks = replicates->blocks;
    return GS_OK;
}

bool gs_results_find_replicates(const struct gs_results *results, const char *name,
                                struct gs_replicates *replicates) {
    const struct gs_results_value_part *part = find_part(results, name);
    if (!part || !part->replicates) return false;
    *replicates = (struct gs_replicates){part->replicates, part->replicate_count,
                                         part->replicate_seed, part->replicate_blocks};
    return true;
}
