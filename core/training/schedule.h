/* schedule.h - the learning rate of each step.
 *
 * Source: optax.warmup_cosine_decay_schedule as the authors call it (../shared/spec/model.md,
 * "Training in the paper"): linear from 0 to the peak over the warm-up, then half a cosine down to
 * min_ratio * peak at total_steps, the warm-up counted in the total; constant after it.
 */
#ifndef GS_CORE_TRAINING_SCHEDULE_H
#define GS_CORE_TRAINING_SCHEDULE_H

#include <stddef.h>

struct gs_schedule {
    double peak;         /* learning rate where the warm-up ends */
    double min_ratio;    /* last rate over peak, in [0, 1] */
    size_t warmup_steps; /* below total_steps */
    size_t total_steps;
};

/* Update number `step`, counted from 0, uses this rate; the first one's is 0 when there is a
 * warm-up. */
double gs_schedule_rate(const struct gs_schedule *schedule, size_t step);

#endif
