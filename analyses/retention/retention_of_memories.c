/* Every memory of a trace, side by side. */
#include "analyses/retention/memory_part.h"
#include "analyses/stats/each.h"
#include "analyses/stats/untrained.h"
#include "core/results/replicates.h"

#include <math.h>
#include <stdio.h>

struct each_memory {
    struct gs_trace *trace, *null;
    const struct gs_retention_plan *plan;
    const struct gs_bootstrap *bootstrap;
};

static enum gs_status measure_one(const void *context, size_t index,
                                  const struct gs_progress *progress, struct gs_results *results,
                                  struct gs_error *error) {
    const struct each_memory *self = context;
    struct gs_bootstrap bootstrap = *self->bootstrap;
    bootstrap.progress = progress;
    if (self->null) gs_results_keep_replicates(results);
    struct gs_memory_part part = {.trace = self->trace,
                                  .info = gs_trace_info(self->trace),
                                  .memory = index,
                                  .bootstrap = &bootstrap,
                                  .progress = progress,
                                  .results = results,
                                  .error = error};
    return gs_memory_measure(part, self->null, part.info->memories[index].name, self->plan);
}

enum { HEAD_COLUMNS = 13 };

static enum gs_status add_head_row(struct gs_table *table, const struct gs_results_part *part,
                                   size_t head, bool *there, struct gs_error *error) {
    static const char *const others[] = {"half_life", "geometric_efold", "arithmetic_efold",
                                         "key_retention_efold"};
    struct gs_value value;
    char name[128];
    snprintf(name, sizeof name, "retention.head.%02zu.efold", head);
    *there = gs_results_find(part->results, name, &value);
    if (!*there) return GS_OK;
    const double none = (double)NAN;
    struct gs_cell cells[HEAD_COLUMNS] = {gs_cell_text(part->name),
                                          gs_cell_integer((int64_t)head),
                                          gs_cell_number(value.value),
                                          gs_cell_number(value.has_interval ? value.low : none),
                                          gs_cell_number(value.has_interval ? value.high : none),
                                          gs_cell_text(value.status),
                                          gs_cell_number(value.has_bound ? value.bound : none)};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(name, sizeof name, "retention.head.%02zu.%s", head, others[i]);
        bool known = gs_results_find(part->results, name, &value);
        cells[7 + i] = gs_cell_number(known ? value.value : none);
    }
    snprintf(name, sizeof name, "null.retention.head.%02zu.efold", head);
    bool known = gs_results_find(part->results, name, &value);
    cells[HEAD_COLUMNS - 2] = gs_cell_number(known ? value.value : none);
    cells[HEAD_COLUMNS - 1] = gs_cell_number(known && value.has_bound ? value.bound : none);
    return gs_table_row(table, cells, error);
}

static enum gs_status add_heads(const struct gs_results_part *parts, size_t count,
                                struct gs_results *results, struct gs_error *error) {
    static const char *const columns[HEAD_COLUMNS] = {"memory",
                                                      "head",
                                                      "efold",
                                                      "efold_low",
                                                      "efold_high",
                                                      "efold_status",
                                                      "efold_bound",
                                                      "half_life",
                                                      "geometric_efold",
                                                      "arithmetic_efold",
                                                      "key_retention_efold",
                                                      "null_efold",
                                                      "null_efold_bound"};
    struct gs_table *table;
    enum gs_status status =
        gs_results_table(results, "retention_by_head", columns, HEAD_COLUMNS, &table, error);
    for (size_t p = 0; p < count; p++) {
        bool there = true;
        for (size_t head = 0; status == GS_OK && there; head++)
            status = add_head_row(table, &parts[p], head, &there, error);
    }
    return status;
}

static enum gs_status measure_each(const struct gs_each *each, const struct each_memory *context,
                                   size_t main, const struct gs_progress *progress,
                                   struct gs_results *results, struct gs_error *error) {
    static const char *const values[] = {
        "retention.heads", "split.fast",         "split.between",       "split.slow",
        "split.unknown",   "split.two_pools",    "null.split.fast",     "null.split.between",
        "null.split.slow", "null.split.unknown", "null.split.two_pools"};
    const struct gs_each_table table = {"retention_by_memory", values,
                                        context->null ? sizeof values / sizeof *values : 6};
    const struct gs_each_measure how = {measure_one, context, progress};
    struct gs_results_part *parts;
    enum gs_status status = gs_each_run(each, &how, &parts, error);
    if (status == GS_OK) status = gs_each_results(each, parts, main, &table, results, error);
    if (status == GS_OK) status = add_heads(parts, each->count, results, error);
    gs_each_release(parts, each->count);
    return status;
}

enum gs_status gs_retention_of_memories(struct gs_trace *trace, const char *main,
                                        struct gs_trace *null, const struct gs_retention_plan *plan,
                                        const struct gs_bootstrap *bootstrap,
                                        const struct gs_progress *progress,
                                        struct gs_results *results, struct gs_error *error) {
    const struct each_memory context = {trace, null, plan, bootstrap};
    struct gs_each each = {0};
    size_t plain = SIZE_MAX;
    enum gs_status status = gs_trace_find_memory(trace, main, main ? &plain : &(size_t){0}, error);
    if (status == GS_OK) status = gs_each_memory(trace, &each, error);
    if (status == GS_OK && each.count == 0)
        status = gs_memory_fail_no_decays(gs_trace_info(trace), "NAME", error);
    if (status == GS_OK && !main) status = gs_results_setting(results, "memory", "all", error);
    if (status == GS_OK && null) status = gs_untrained_check(trace, null, error);
    if (status == GS_OK && null) gs_results_keep_replicates(results);
    if (status == GS_OK) status = measure_each(&each, &context, plain, progress, results, error);
    gs_each_free(&each);
    if (status != GS_OK || !null) return status;
    return gs_untrained_compare(results, gs_untrained_same_rows(trace, null), error);
}
