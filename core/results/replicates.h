/* replicates.h - bootstrap replicates of values, in memory beside them, so that two measurements
 * whose replicates drew the same blocks can be compared replicate by replicate. No file holds them.
 */
#ifndef GS_CORE_RESULTS_REPLICATES_H
#define GS_CORE_RESULTS_REPLICATES_H

#include "core/results/results.h"

/* A view of what is kept. A value that could have replicates and has none has count 0. */
struct gs_replicates {
    const double *values; /* (count) in the order drawn; NaN where one had no value */
    size_t count;
    uint64_t seed; /* of the draws */
    size_t blocks; /* that were drawn from */
};

/* From now on these results keep replicates; before, they are passed over. */
void gs_results_keep_replicates(struct gs_results *results);
bool gs_results_keeps_replicates(const struct gs_results *results);

/* The replicates of the value of that name, copied; nothing where they are not kept. GS_MISSING:
 * there is no such value. */
enum gs_status gs_results_add_replicates(struct gs_results *results, const char *name,
                                         const struct gs_replicates *replicates,
                                         struct gs_error *error);
/* False when there is no such value, or it is none that could have replicates. Borrowed. */
bool gs_results_find_replicates(const struct gs_results *results, const char *name,
                                struct gs_replicates *replicates);

/* Everything of the untrained model's results behind "null.": values and tables as details, their
 * replicates, sources; notes that are not there yet behind "untrained: ". GS_EXISTS when a name is
 * taken. */
enum gs_status gs_results_take_untrained(struct gs_results *results,
                                         const struct gs_results *untrained,
                                         struct gs_error *error);

#endif
