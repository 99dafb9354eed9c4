/* running.h - mean and deviation of numbers that come one at a time (Welford), mergeable (Chan). */
#ifndef GS_ANALYSES_STATS_RUNNING_H
#define GS_ANALYSES_STATS_RUNNING_H

#include <math.h>
#include <stdint.h>

/* All zero is the empty sample; copy freely. */
struct gs_running {
    uint64_t n;
    double mean;
    double squares; /* Σ (x − mean)² */
};

static inline void gs_running_add(struct gs_running *running, double x) {
    running->n++;
    double from_old = x - running->mean;
    running->mean += from_old / (double)running->n;
    running->squares += from_old * (x - running->mean);
}

static inline void gs_running_merge(struct gs_running *into, const struct gs_running *from) {
    if (from->n == 0) return;
    double a = (double)into->n, b = (double)from->n, difference = from->mean - into->mean;
    into->n += from->n;
    into->mean += difference * (b / (a + b));
    into->squares += from->squares + difference * difference * (a * b / (a + b));
}

/* Sample deviation (divisor n − 1); NaN for fewer than two numbers. */
static inline double gs_running_deviation(const struct gs_running *running) {
    return running->n > 1 ? sqrt(running->squares / (double)(running->n - 1)) : (double)NAN;
}

#endif
