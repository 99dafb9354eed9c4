#include "core/training/schedule.h"

#include <math.h>

double gs_schedule_rate(const struct gs_schedule *schedule, size_t step) {
    static const double pi = 3.14159265358979323846;
    if (step < schedule->warmup_steps)
        return schedule->peak * ((double)step / (double)schedule->warmup_steps);
    size_t length = schedule->total_steps - schedule->warmup_steps;
    size_t passed = step - schedule->warmup_steps;
    if (passed > length) passed = length;
    double cosine = 0.5 * (1 + cos(pi * ((double)passed / (double)length)));
    return schedule->peak * (schedule->min_ratio + (1 - schedule->min_ratio) * cosine);
}
