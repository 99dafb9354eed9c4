#include "probes/trace/values.h"

#include "core/kernels/rows.h"

#include <float.h>

/* The least and the largest value that a rule lets pass. */
static void bounds_of(enum gs_value_rule rule, float *low, float *high) {
    *low = rule == GS_VALUE_FRACTION ? 0 : -FLT_MAX;
    *high = rule == GS_VALUE_FRACTION ? 1 : rule == GS_VALUE_LOG_DECAY ? 0 : FLT_MAX;
}

size_t gs_value_first_fault(enum gs_value_rule rule, const float *values, size_t count) {
    float low, high;
    if (rule == GS_VALUE_ANY) return count;
    bounds_of(rule, &low, &high);
    if (gs_row_kernels()->within(values, count, low, high)) return count;
    size_t i = 0;
    while (i < count && values[i] >= low && values[i] <= high) i++;
    return i;
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
