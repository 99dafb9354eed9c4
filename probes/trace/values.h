/* values.h - which values the datasets of a trace may hold; one rule for writer and reader. */
#ifndef GS_PROBES_TRACE_VALUES_H
#define GS_PROBES_TRACE_VALUES_H

#include "probes/trace/reader.h"

#include <stddef.h>

enum gs_value_rule {
    GS_VALUE_FINITE,    /* states, norms, shares, nll */
    GS_VALUE_LOG_DECAY, /* γ: finite and not above 0 */
    GS_VALUE_FRACTION,  /* β: 0 … 1 */
    GS_VALUE_ANY        /* nll of rows that nothing predicts */
};

/* Index of the first of `count` values that breaks the rule; `count` when none does. */
size_t gs_value_first_fault(enum gs_value_rule rule, const float *values, size_t count);
/* The rule in words, "a finite number". Static. */
const char *gs_value_rule_text(enum gs_value_rule rule);
/* Name ("log_decay") and rule of a memory's field. */
const char *gs_memory_field_name(enum gs_memory_field field);
enum gs_value_rule gs_memory_field_rule(enum gs_memory_field field);

#endif
