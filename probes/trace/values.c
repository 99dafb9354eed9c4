#include "probes/trace/values.h"

#include <float.h>
#include <math.h>

/* Written so that NaN is a fault, too. */
static int is_fault(enum gs_value_rule rule, float value) {
    switch (rule) {
    case GS_VALUE_FINITE:
        return !(fabsf(value) <= FLT_MAX);
    case GS_VALUE_LOG_DECAY:
        return !(value <= 0.0f && value >= -FLT_MAX);
    case GS_VALUE_FRACTION:
        return !(value >= 0.0f && value <= 1.0f);
    case GS_VALUE_ANY:
        break;
    }
    return 0;
}

/* States are nearly all of a trace: one pass without a branch. */
static int all_finite(const float *values, size_t count) {
    int faults = 0;
    for (size_t i = 0; i < count; i++) faults |= !(fabsf(values[i]) <= FLT_MAX);
    return !faults;
}

size_t gs_value_first_fault(enum gs_value_rule rule, const float *values, size_t count) {
    if (rule == GS_VALUE_ANY) return count;
    if (rule == GS_VALUE_FINITE && all_finite(values, count)) return count;
    for (size_t i = 0; i < count; i++)
        if (is_fault(rule, values[i])) return i;
    return count;
}

const char *gs_value_rule_text(enum gs_value_rule rule) {
    switch (rule) {
    case GS_VALUE_FINITE:
        return "a finite number";
    case GS_VALUE_LOG_DECAY:
        return "a finite log-decay, at most 0";
    case GS_VALUE_FRACTION:
        return "a write strength of 0 … 1";
    case GS_VALUE_ANY:
        break;
    }
    return "any number";
}

const char *gs_memory_field_name(enum gs_memory_field field) {
    switch (field) {
    case GS_MEMORY_LOG_DECAY:
        return "log_decay";
    case GS_MEMORY_WRITE_STRENGTH:
        return "write_strength";
    case GS_MEMORY_NORM:
        return "norm";
    case GS_MEMORY_FIELDS:
        break;
    }
    return "";
}

enum gs_value_rule gs_memory_field_rule(enum gs_memory_field field) {
    if (field == GS_MEMORY_LOG_DECAY) return GS_VALUE_LOG_DECAY;
    if (field == GS_MEMORY_WRITE_STRENGTH) return GS_VALUE_FRACTION;
    return GS_VALUE_FINITE;
}
