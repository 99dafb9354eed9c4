/* beside_untrained.h - what training did to each value of a report's analysis. */
#ifndef GS_REPORTS_PAGE_BESIDE_UNTRAINED_H
#define GS_REPORTS_PAGE_BESIDE_UNTRAINED_H

#include "core/results/results.h"

/* Adds to `results` ratio.X and difference.X (analyses/stats/untrained.h) and the notes on them,
 * from results of the trained and of the untrained model that kept replicates. The untrained values
 * stay where they are. */
enum gs_status gs_report_beside_untrained(struct gs_results *results,
                                          const struct gs_results *untrained, bool same_rows,
                                          struct gs_error *error);

#endif
