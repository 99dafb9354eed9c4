#include "core/text/windows.h"

static enum gs_status too_short(uint64_t total, size_t length, struct gs_error *error) {
    gs_fail(error, GS_RANGE, "the data is shorter than one window");
    gs_error_expected(error, "at least %zu tokens", length);
    gs_error_found(error, "%llu", (unsigned long long)total);
    gs_error_next(error, "give more data or a smaller --length");
    return GS_RANGE;
}

static enum gs_status too_few(uint64_t whole, size_t length, uint64_t skip, uint64_t sequences,
                              struct gs_error *error) {
    gs_fail(error, GS_RANGE, "the data does not hold the windows asked for");
    gs_error_expected(error, "%llu windows of %zu tokens to skip and %llu to read",
                      (unsigned long long)skip, length,
                      (unsigned long long)(sequences ? sequences : 1));
    gs_error_found(error, "%llu windows in all", (unsigned long long)whole);
    gs_error_next(error, "give more data, a smaller --length, or fewer with --skip, --sequences");
    return GS_RANGE;
}

enum gs_status gs_windows_plan(uint64_t total, size_t length, uint64_t skip, uint64_t sequences,
                               struct gs_windows *windows, struct gs_error *error) {
    if (length == 0)
        length =
            total > GS_WINDOW_DEFAULT || total == 0 ? (size_t)GS_WINDOW_DEFAULT : (size_t)total;
    uint64_t whole = total / length;
    if (whole == 0) return too_short(total, length, error);
    if (skip >= whole || sequences > whole - skip)
        return too_few(whole, length, skip, sequences, error);
    uint64_t count = sequences ? sequences : whole - skip;
    *windows = (struct gs_windows){.length = length,
                                   .first = skip * length,
                                   .count = count,
                                   .used = count * length,
                                   .total = total};
    return GS_OK;
}
