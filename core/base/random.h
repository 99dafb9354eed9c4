/* random.h - random numbers that are the same bits on every machine and any number of threads.
 *
 * xoshiro256** (Blackman, Vigna 2018) seeded by splitmix64 from a seed and a stream name, so that
 * each consumer has a stream of its own and adding a consumer moves no other.
 */
#ifndef GS_CORE_BASE_RANDOM_H
#define GS_CORE_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct gs_random {
    uint64_t s[4];
};

/* `stream` names the consumer, e.g. "init/embedding" (NUL-terminated, not NULL). */
void gs_random_seed(struct gs_random *random, uint64_t seed, const char *stream);
uint64_t gs_random_bits(struct gs_random *random);
/* Uniform in [0, 1), 53 bits. */
double gs_random_uniform(struct gs_random *random);
/* Uniform in {0, …, bound − 1}, unbiased; bound > 0. */
uint64_t gs_random_below(struct gs_random *random, uint64_t bound);
/* Standard normal (Marsaglia's polar method, no state kept between calls). */
double gs_random_normal(struct gs_random *random);

#endif
