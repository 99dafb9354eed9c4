#include "analyses/retention/gate_check.h"

#include <inttypes.h>

static enum gs_status bad_gate(const char *what, const char *expected, double found,
                               size_t sequence, uint64_t row, size_t head, struct gs_error *error) {
    gs_fail(error, GS_NUMERIC, "%s is out of range", what);
    gs_error_expected(error, "%s", expected);
    gs_error_found(error, "%g", found);
    gs_error_where(error, "sequence %zu, row %" PRIu64 " of it, head %zu", sequence, row, head);
    return GS_NUMERIC;
}

enum gs_status gs_gate_check(const float *log_decay, const float *strength, size_t heads,
                             size_t sequence, uint64_t first, size_t count,
                             struct gs_error *error) {
    for (size_t i = 0; i < count * heads; i++) {
        uint64_t row = first + i / heads;
        double gamma = (double)log_decay[i], beta = strength ? (double)strength[i] : 0;
        if (!(gamma <= 0))
            return bad_gate("a log-decay", "at most 0", gamma, sequence, row, i % heads, error);
        if (!(beta >= 0 && beta <= 1))
            return bad_gate("a write strength", "0 to 1", beta, sequence, row, i % heads, error);
    }
    return GS_OK;
}
