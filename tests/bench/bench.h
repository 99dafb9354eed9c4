/* bench.h - what every bench needs: the time, and an end when something fails. */
#ifndef GS_TESTS_BENCH_BENCH_H
#define GS_TESTS_BENCH_BENCH_H

#include "core/base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Seconds that only go forward. */
static inline double bench_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Ends the bench with the error and its exit code unless all is well. */
static inline void bench_must(enum gs_status status, const struct gs_error *error) {
    char text[2048];
    if (status == GS_OK) return;
    fprintf(stderr, "%s\n", gs_error_text(error, text, sizeof text));
    exit(gs_status_exit_code(status));
}

#endif
