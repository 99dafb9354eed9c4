/* loss_by_position.h - the loss of a trace, in whole and as a sequence goes on.
 *
 * The loss of a step is its nll, −log p(x_t | x_<t) in nats; the first rows of a sequence that a
 * model does not predict (trace.md, attribute first) have none and are left out. Positions are
 * rows of their sequence, counted from 0.
 *
 * Values: loss (nat/token) and perplexity = exp(loss), with intervals over sequences; tokens, the
 * steps that have a loss; loss.effective_tokens, how many independent ones would give the mean as
 * narrow an interval (gs_effective_rows). Tables: loss_by_position (position, loss, n, low, high;
 * 95 % limits of the mean over sequences by Student's t, core/evaluation/limits.h), and
 * loss_by_stretch (first, last, center, loss, low, high, n; intervals as the values'): the mean
 * over all steps of positions first … last, where stretches double in length ({0}, {1}, {2, 3}, {4
 * … 7}, …), so that a window of 2ᵏ tokens ends with a whole one; center is the geometric mean of
 * first + 1 and last + 1, less one. The last stretch ends where the longest sequence ends.
 *
 * One pass, sums in float64 in the order of the rows; memory O(longest sequence + sequences · log).
 */
#ifndef GS_ANALYSES_LOSS_LOSS_BY_POSITION_H
#define GS_ANALYSES_LOSS_LOSS_BY_POSITION_H

#include "analyses/stats/bootstrap.h"
#include "analyses/stats/rows.h"
#include "core/base/progress.h"
#include "core/results/results.h"

/* From rows of width 1. `first` rows at the head of each sequence have no loss and may be NaN.
 * Errors: those of the rows; GS_NUMERIC when another loss is not finite; GS_NO_MEMORY;
 * GS_INTERRUPTED. With no loss at all the values are null with status "undefined". */
enum gs_status gs_loss_of_rows(const struct gs_rows *rows, uint64_t first,
                               const struct gs_bootstrap *bootstrap,
                               const struct gs_progress *progress, struct gs_results *results,
                               struct gs_error *error);

/* From a trace. first: positions below are left out, so that models that begin elsewhere are
 * compared over the same ones; those without a loss always are. GS_MISSING when it holds no /nll.
 */
enum gs_status gs_loss_of_trace(struct gs_trace *trace, uint64_t first,
                                const struct gs_bootstrap *bootstrap,
                                const struct gs_progress *progress, struct gs_results *results,
                                struct gs_error *error);

#endif
