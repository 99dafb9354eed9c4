#include "analyses/retention/memory_part.h"
#include "analyses/split/split.h"
#include "analyses/stats/untrained.h"
#include "core/base/memory.h"
#include "core/results/replicates.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static enum gs_transition transition_of(const char *rule) {
    if (strcmp(rule, "gpn") == 0) return GS_TRANSITION_GPN;
    if (strcmp(rule, "gated_delta") == 0) return GS_TRANSITION_GATED_DELTA;
    return GS_TRANSITION_UNKNOWN;
}

/* Why nothing can be said along the key; NULL when it can. */
static const char *no_key_reason(const struct gs_trace_memory *memory, char *text, size_t size) {
    if (!memory->has[GS_MEMORY_WRITE_STRENGTH])
        snprintf(text, size, "the trace has no /memory/%s/write_strength", memory->name);
    else if (!memory->rule[0])
        snprintf(text, size, "/memory/%s does not say its rule", memory->name);
    else if (transition_of(memory->rule) == GS_TRANSITION_UNKNOWN)
        snprintf(text, size, "the rule \"%s\" of /memory/%s is not known", memory->rule,
                 memory->name);
    else
        return NULL;
    return text;
}

enum gs_status gs_memory_fail_no_decays(const struct gs_trace_info *info, const char *memory,
                                        struct gs_error *error) {
    gs_fail(error, GS_MISSING, "the trace has no log-decays");
    gs_error_expected(error, "a dataset /memory/%s/log_decay", memory);
    gs_error_where(error, "%s", info->path);
    gs_error_next(error, "name another memory with --memory, or record the gates");
    return GS_MISSING;
}

static enum gs_status measure_gates(const struct gs_memory_part *p,
                                    const struct gs_retention_plan *plan) {
    const struct gs_trace_memory *memory = &p->info->memories[p->memory];
    if (!memory->has[GS_MEMORY_LOG_DECAY])
        return gs_memory_fail_no_decays(p->info, memory->name, p->error);
    char text[256];
    const char *reason = no_key_reason(memory, text, sizeof text);
    struct gs_retention_plan full = *plan;
    full.transition = reason ? GS_TRANSITION_UNKNOWN : transition_of(memory->rule);
    struct gs_rows decay = gs_rows_of_memory(p->trace, p->memory, GS_MEMORY_LOG_DECAY);
    struct gs_rows strength = gs_rows_of_memory(p->trace, p->memory, GS_MEMORY_WRITE_STRENGTH);
    struct gs_retention *retention = NULL;
    enum gs_status status = gs_retention_measure(&decay, reason ? NULL : &strength, &full,
                                                 p->progress, &retention, p->error);
    if (status == GS_OK)
        status =
            gs_retention_results(retention, p->null, reason, p->bootstrap, p->results, p->error);
    gs_retention_destroy(retention);
    return status;
}

/* ---- shares of the memory read ---- */

static enum gs_status sum_shares(const struct gs_memory_part *p, const struct gs_rows *rows,
                                 double *sums, double *counts) {
    enum { PIECE = 4096 };
    float *values = gs_calloc(PIECE * rows->width, sizeof *values);
    enum gs_status status =
        values ? GS_OK : gs_fail_memory(p->error, PIECE * rows->width * sizeof *values, "shares");
    for (size_t s = 0; s < rows->sequences; s++)
        for (uint64_t from = 0; status == GS_OK && from < rows->length[s]; from += PIECE) {
            uint64_t left = rows->length[s] - from;
            size_t count = left < PIECE ? (size_t)left : PIECE;
            status = gs_rows_read(rows, s, from, count, values, p->error);
            for (size_t i = 0; status == GS_OK && i < count * rows->width; i++) {
                sums[s * rows->width + i % rows->width] += (double)values[i];
                counts[s * rows->width + i % rows->width] += 1;
            }
        }
    gs_free(values);
    return status;
}

static enum gs_status add_share(const struct gs_memory_part *p, const struct gs_rows *rows,
                                size_t layer, const double *sums, const double *counts,
                                const struct gs_interval *interval, const double *replicates) {
    double sum = 0, count = 0;
    for (size_t s = 0; s < rows->sequences; s++) {
        sum += sums[s * rows->width + layer];
        count += counts[s * rows->width + layer];
    }
    char name[128];
    snprintf(name, sizeof name, "%sretention.read_share.layer.%02zu", p->null ? "null." : "",
             layer);
    struct gs_value value = {.value = count > 0 ? sum / count : (double)NAN,
                             .unit = "1",
                             .n = (uint64_t)count,
                             .has_interval = interval->known,
                             .low = interval->low,
                             .high = interval->high};
    if (!(count > 0)) {
        value.status = "undefined";
        value.reason = "the trace holds no row";
    }
    const struct gs_replicates kept = {replicates, replicates ? p->bootstrap->replicates : 0,
                                       p->bootstrap->seed, rows->sequences};
    enum gs_status status = gs_results_add(p->results, name, &value, p->error);
    return status == GS_OK ? gs_results_add_replicates(p->results, name, &kept, p->error) : status;
}

/* The read that has the memory's name, else the first, where there is one memory alone; SIZE_MAX:
 * none. */
static size_t find_read(const struct gs_memory_part *p) {
    for (size_t i = 0; i < p->info->read_count; i++)
        if (strcmp(p->info->reads[i].name, p->info->memories[p->memory].name) == 0) return i;
    return p->info->read_count && p->info->memory_count == 1 ? 0 : SIZE_MAX;
}

static enum gs_status measure_shares(const struct gs_memory_part *p) {
    size_t read = find_read(p), numbers;
    if (read == SIZE_MAX) return GS_OK;
    struct gs_rows rows = gs_rows_of_share(p->trace, read);
    if (!gs_multiply(rows.sequences, rows.width, &numbers)) numbers = SIZE_MAX;
    double *sums = gs_calloc(numbers, sizeof *sums), *counts = gs_calloc(numbers, sizeof *counts);
    struct gs_interval *intervals = gs_calloc(rows.width, sizeof *intervals);
    size_t replicates = p->bootstrap->replicates;
    bool keep = gs_results_keeps_replicates(p->results) && replicates > 1 && rows.sequences > 1;
    double *kept = keep ? gs_calloc(rows.width * replicates, sizeof *kept) : NULL;
    enum gs_status status =
        sums && counts && intervals && (kept || !keep)
            ? GS_OK
            : gs_fail_memory(p->error, numbers > SIZE_MAX / 16 ? SIZE_MAX : numbers * 16,
                             "shares of each sequence");
    if (status == GS_OK) status = sum_shares(p, &rows, sums, counts);
    if (status == GS_OK)
        status = gs_bootstrap_ratio(p->bootstrap, rows.sequences, rows.width, sums, counts,
                                    intervals, kept, p->error);
    for (size_t l = 0; status == GS_OK && l < rows.width; l++)
        status = add_share(p, &rows, l, sums, counts, &intervals[l],
                           kept ? kept + l * replicates : NULL);
    gs_free(kept);
    gs_free(intervals);
    gs_free(counts);
    gs_free(sums);
    return status;
}

/* ---- the untrained model ---- */

static enum gs_status check_heads(const struct gs_memory_part *trained,
                                  const struct gs_memory_part *untrained) {
    const struct gs_trace_memory *a = &trained->info->memories[trained->memory],
                                 *b = &untrained->info->memories[untrained->memory];
    if (a->heads == b->heads) return GS_OK;
    gs_fail(trained->error, GS_SHAPE, "the untrained model's memory has other heads");
    gs_error_expected(trained->error, "%zu heads, as in %s", a->heads, trained->info->path);
    gs_error_found(trained->error, "%zu", b->heads);
    gs_error_where(trained->error, "%s: /memory/%s", untrained->info->path, b->name);
    gs_error_next(trained->error, "trace the same model at step 0");
    return GS_SHAPE;
}

static enum gs_status say_memory(const struct gs_memory_part *p) {
    const struct gs_trace_memory *memory = &p->info->memories[p->memory];
    enum gs_status status =
        gs_results_setting(p->results, p->null ? "null_memory" : "memory", memory->name, p->error);
    if (status != GS_OK || p->null) return status;
    return gs_results_setting(p->results, "memory_rule", memory->rule[0] ? memory->rule : "unknown",
                              p->error);
}

static enum gs_status measure_part(const struct gs_memory_part *p,
                                   const struct gs_retention_plan *plan) {
    enum gs_status status = say_memory(p);
    if (status == GS_OK) status = gs_rows_note_incomplete(p->trace, p->results, p->error);
    if (status == GS_OK) status = measure_gates(p, plan);
    if (status == GS_OK) status = measure_shares(p);
    return status;
}

/* Are the heads two pools? */
static enum gs_status split_heads(const struct gs_memory_part *p, bool with_untrained) {
    const struct gs_split_plan plan = {.seed = p->bootstrap->seed, .progress = p->progress};
    enum gs_status status = gs_split_of_results(p->results, with_untrained, &plan, p->error);
    if (status != GS_OK) return status;
    return gs_results_note(
        p->results,
        "split.fast, between, slow and smaller_side count heads by the paper's rule alone (efold "
        "at most 3: fast; at least 5: slow). It is a threshold, not a test for two pools; "
        "split.verdict is one, and split.two_pools its answer in a number",
        p->error);
}

enum gs_status gs_memory_measure(struct gs_memory_part trained, struct gs_trace *null,
                                 const char *null_memory, const struct gs_retention_plan *plan) {
    struct gs_memory_part untrained = trained;
    enum gs_status status = GS_OK;
    if (null) {
        untrained.trace = null;
        untrained.info = gs_trace_info(null);
        untrained.null = true;
        status = gs_trace_find_memory(null, null_memory, &untrained.memory, trained.error);
        if (status == GS_OK) status = check_heads(&trained, &untrained);
    }
    if (status == GS_OK) status = measure_part(&trained, plan);
    if (status == GS_OK && null) status = measure_part(&untrained, plan);
    return status == GS_OK ? split_heads(&trained, null != NULL) : status;
}

/* That there are others must be seen. */
static enum gs_status note_others(const struct gs_memory_part *p) {
    char text[256];
    if (p->info->memory_count < 2) return GS_OK;
    snprintf(text, sizeof text,
             "the trace holds %zu memories, and this is %s alone; --memory all measures each",
             p->info->memory_count, p->info->memories[p->memory].name);
    return gs_results_note(p->results, text, p->error);
}

enum gs_status gs_retention_of_trace(struct gs_trace *trace, const char *memory,
                                     struct gs_trace *null, const struct gs_retention_plan *plan,
                                     const struct gs_bootstrap *bootstrap,
                                     const struct gs_progress *progress, struct gs_results *results,
                                     struct gs_error *error) {
    struct gs_memory_part trained = {.trace = trace,
                                     .info = gs_trace_info(trace),
                                     .bootstrap = bootstrap,
                                     .progress = progress,
                                     .results = results,
                                     .error = error};
    enum gs_status status = gs_trace_find_memory(trace, memory, &trained.memory, error);
    if (status == GS_OK && null) status = gs_untrained_check(trace, null, error);
    if (status == GS_OK && null) gs_results_keep_replicates(results);
    if (status == GS_OK && !memory) status = note_others(&trained);
    if (status == GS_OK) status = gs_memory_measure(trained, null, memory, plan);
    if (status != GS_OK || !null) return status;
    return gs_untrained_compare(results, gs_untrained_same_rows(trace, null), error);
}
