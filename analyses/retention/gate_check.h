/* gate_check.h - gates are what gates may be. Inside retention only. */
#ifndef GS_ANALYSES_RETENTION_GATE_CHECK_H
#define GS_ANALYSES_RETENTION_GATE_CHECK_H

#include "core/base/status.h"

#include <stddef.h>
#include <stdint.h>

/* `count` rows (count, heads) of γ, and of β unless it is NULL, from row `first` of a sequence on.
 * GS_NUMERIC names row and head of the first γ that is NaN or above 0, or β outside [0, 1]. */
enum gs_status gs_gate_check(const float *log_decay, const float *strength, size_t heads,
                             size_t sequence, uint64_t first, size_t count, struct gs_error *error);

#endif
