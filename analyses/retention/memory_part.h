/* memory_part.h - one memory of one trace, as part of retention's results. Inside retention only.
 */
#ifndef GS_ANALYSES_RETENTION_MEMORY_PART_H
#define GS_ANALYSES_RETENTION_MEMORY_PART_H

#include "analyses/retention/retention.h"

/* A view. */
struct gs_memory_part {
    struct gs_trace *trace;
    const struct gs_trace_info *info; /* of the trace */
    size_t memory;                    /* its index */
    bool null;                        /* of the untrained model */
    const struct gs_bootstrap *bootstrap;
    const struct gs_progress *progress;
    struct gs_results *results;
    struct gs_error *error;
};

/* The memory, and the untrained model's of that name (NULL: the usual one) where `null` is not
 * NULL. */
enum gs_status gs_memory_measure(struct gs_memory_part part, struct gs_trace *null,
                                 const char *null_memory, const struct gs_retention_plan *plan);

enum gs_status gs_memory_fail_no_decays(const struct gs_trace_info *info, const char *memory,
                                        struct gs_error *error);

#endif
