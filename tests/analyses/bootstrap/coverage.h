/* coverage.h - how often 95 % intervals hold the truth, on made-up sequences of dependent rows.
 *
 * A sequence has a mean of its own, and its rows follow it with a memory (AR(1), 0.8): a row says
 * little that its neighbours do not. Bootstrap blocks are the sequences.
 */
#ifndef GS_TESTS_ANALYSES_BOOTSTRAP_COVERAGE_H
#define GS_TESTS_ANALYSES_BOOTSTRAP_COVERAGE_H

#include <stddef.h>
#include <stdint.h>

enum { GS_COVERAGE_MOST = 16 };

struct gs_coverage {
    const char *name;                /* of the value */
    double truth;                    /* in closed form, or of a very long sample */
    size_t held, below, above, none; /* intervals that hold it, lie below, above, are not there */
};

/* `trials` data sets of `sequences` sequences, from number `first` on, with `replicates` each.
 * Returns how many measures `coverage` (GS_COVERAGE_MOST) then holds. Fails the running test where
 * an analysis fails. */
size_t gs_coverage_count(uint64_t first, size_t trials, size_t sequences, size_t replicates,
                         struct gs_coverage *coverage);

#endif
