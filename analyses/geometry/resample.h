/* resample.h - bootstrap intervals of the geometry's measures from the sums of its blocks. */
#ifndef GS_ANALYSES_GEOMETRY_RESAMPLE_H
#define GS_ANALYSES_GEOMETRY_RESAMPLE_H

#include "analyses/geometry/sums.h"
#include "analyses/stats/bootstrap.h"
#include "core/base/progress.h"

/* Basic intervals (geometry.h) of all measures around their estimates. The sums must have kept the
 * blocks' moments. `epsilon` and `single` as in gs_geometry_sample. Replicates run side by side,
 * each on one thread. kept as in gs_bootstrap_run. */
enum gs_status gs_geometry_resample(const struct gs_geometry_sums *sums, double epsilon,
                                    bool single, const struct gs_bootstrap *plan,
                                    const double *estimates, struct gs_interval *intervals,
                                    double *kept, const struct gs_progress *progress,
                                    struct gs_error *error);

#endif
