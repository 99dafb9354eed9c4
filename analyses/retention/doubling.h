/* doubling.h - retention at lags 1, 2, 4, … alone: a product of 2k factors is that of the last k
 * times that of the k before them, so a lag costs one multiplication and one addition a row and
 * head. Inside retention only.
 */
#ifndef GS_ANALYSES_RETENTION_DOUBLING_H
#define GS_ANALYSES_RETENTION_DOUBLING_H

#include "analyses/retention/retention.h"

/* Fill the sums of every sequence (grid_sums, grid_key, gates) and what follows over all of them
 * (unit_decay, unit_key, and retention and key, not yet divided by the windows). The retention's
 * lags are 1, 2, 4, …; write_strength may be NULL. `block` rows at a time, 0: chosen; bits do not
 * depend on it. Sequences go side by side, or groups of heads where sequences are few. Errors as
 * gs_retention_measure. */
enum gs_status gs_retention_by_doubling(struct gs_retention *retention,
                                        const struct gs_rows *log_decay,
                                        const struct gs_rows *write_strength,
                                        enum gs_transition transition, size_t block,
                                        const struct gs_progress *progress, struct gs_error *error);

#endif
