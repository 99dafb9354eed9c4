#include "core/programs/eval_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum gs_status gs_eval_value(struct gs_results *results, const char *name, const char *unit,
                             double value, struct gs_limits limits, uint64_t n, const char *reason,
                             struct gs_error *error) {
    const struct gs_value entry = {.value = value,
                                   .unit = unit,
                                   .n = n,
                                   .has_interval = limits.known && isfinite(limits.high),
                                   .low = limits.low,
                                   .high = limits.high,
                                   .status = isfinite(value) ? "ok" : "undefined",
                                   .reason = isfinite(value) ? NULL : reason};
    return gs_results_add(results, name, &entry, error);
}

enum gs_status gs_eval_perplexity(struct gs_results *results, const char *name, double loss,
                                  struct gs_limits limits, uint64_t n, const char *reason,
                                  struct gs_error *error) {
    const struct gs_value large = {.value = (double)NAN,
                                   .unit = "1",
                                   .n = n,
                                   .status = "overflow",
                                   .reason = "exp(loss) is beyond the largest number"};
    if (isfinite(loss) && !isfinite(exp(loss))) return gs_results_add(results, name, &large, error);
    limits.low = exp(limits.low);
    limits.high = exp(limits.high);
    return gs_eval_value(results, name, "1", exp(loss), limits, n, reason, error);
}

enum gs_status gs_eval_note(struct gs_results *results, struct gs_error *error, const char *format,
                            ...) {
    char note[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note, sizeof note, format, arguments);
    va_end(arguments);
    return gs_results_note(results, note, error);
}
