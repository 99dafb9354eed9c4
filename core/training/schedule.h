/* schedule.h - the learning rate of each step.
 *
 * Linear from 0 to the peak over the warm-up, then half a cosine down to min_ratio * peak at
 * total_steps, constant after it. The cosine is counted
 *   cosine_after_warmup  from the end of the warm-up, where it is at its peak: as
 *                        optax.warmup_cosine_decay_schedule (../shared/spec/model.md, "Training in
 *                        the paper"), or
 *   cosine_from_start    from step 0, so that the rate drops where the warm-up ends: as the
 * authors' torch trainers (../shared/spec/baselines.md, "What differs").
 */
#ifndef GS_CORE_TRAINING_SCHEDULE_H
#define GS_CORE_TRAINING_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>

enum gs_cosine { GS_COSINE_AFTER_WARMUP, GS_COSINE_FROM_START };

struct gs_schedule {
    enum gs_cosine cosine;
    double peak;         /* the rate at the end of the warm-up, or where it would have been */
    double min_ratio;    /* last rate over peak, in [0, 1] */
    size_t warmup_steps; /* below total_steps */
    size_t total_steps;
};

/* Update number `step`, counted from 0, uses this rate; the first one's is 0 when there is a
 * warm-up. */
double gs_schedule_rate(const struct gs_schedule *schedule, size_t step);

/* The names above, as a config says them. */
const char *gs_cosine_name(enum gs_cosine cosine);
bool gs_cosine_named(const char *name, enum gs_cosine *cosine); /* false: no such name */

#endif
