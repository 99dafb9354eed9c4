/* untrained.h - a measurement beside that of the same model before training, on the same text.
 *
 * Both draw the same blocks of sequences in the same bootstrap replicate, since a draw depends on
 * seed, replicate and number of blocks alone (bootstrap.h). So replicate r of a ratio or difference
 * is that of the two measurements' replicates r, and what the text does to both cancels. The
 * interval is the basic one (basic_interval.h), of a ratio on the logarithm.
 *
 * Values: null.X is the untrained model's X. For every X that has replicates (replicates.h):
 * ratio.X, trained over untrained (null "undefined" unless both are above 0), and difference.X,
 * trained minus untrained. Table against_untrained has them in rows.
 */
#ifndef GS_ANALYSES_STATS_UNTRAINED_H
#define GS_ANALYSES_STATS_UNTRAINED_H

#include "core/results/replicates.h"
#include "core/results/side_by_side.h"
#include "probes/trace/reader.h"

/* GS_CONFIG when `untrained` is of the trace's own checkpoint, or of other text. What a trace does
 * not record is believed. */
enum gs_status gs_untrained_check(const struct gs_trace *trace, const struct gs_trace *untrained,
                                  struct gs_error *error);

/* Do both hold as many rows of as many sequences? Else replicates are of different blocks. */
bool gs_untrained_same_rows(const struct gs_trace *trace, const struct gs_trace *untrained);

/* How a trace is measured: the trained one and the untrained one the same way. */
struct gs_untrained_measure {
    enum gs_status (*measure)(const void *context, struct gs_trace *trace, bool untrained,
                              struct gs_results *results, struct gs_error *error);
    const void *context;
};

/* Check, measure both, and put everything into `results`. */
enum gs_status gs_untrained_measured(struct gs_trace *trace, struct gs_trace *untrained,
                                     const struct gs_untrained_measure *how,
                                     struct gs_results *results, struct gs_error *error);

/* The last step alone: results that keep replicates and hold X beside null.X (taken there by
 * gs_results_take_untrained) get ratios, differences and the table. Without same_rows they get no
 * intervals, and a note says why. */
enum gs_status gs_untrained_compare(struct gs_results *results, bool same_rows,
                                    struct gs_error *error);

#endif
