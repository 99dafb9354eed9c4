#include "core/training/schedule.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {
    [GS_COSINE_AFTER_WARMUP] = "cosine_after_warmup", [GS_COSINE_FROM_START] = "cosine_from_start"};

const char *gs_cosine_name(enum gs_cosine cosine) {
    return names[cosine];
}

bool gs_cosine_named(const char *name, enum gs_cosine *cosine) {
    for (int i = GS_COSINE_AFTER_WARMUP; i <= GS_COSINE_FROM_START; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *cosine = (enum gs_cosine)i;
        return true;
    }
    return false;
}

double gs_schedule_rate(const struct gs_schedule *schedule, size_t step) {
    static const double pi = 3.14159265358979323846;
    if (step < schedule->warmup_steps)
        return schedule->peak * ((double)step / (double)schedule->warmup_steps);
    size_t begin = schedule->cosine == GS_COSINE_FROM_START ? 0 : schedule->warmup_steps;
    size_t length = schedule->total_steps - begin;
    size_t passed = step - begin;
    if (passed > length) passed = length;
    double cosine = 0.5 * (1 + cos(pi * ((double)passed / (double)length)));
    return schedule->peak * (schedule->min_ratio + (1 - schedule->min_ratio) * cosine);
}
