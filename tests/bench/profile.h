/* profile.h - where the threads' time goes, by part, for the benches.
 *
 * Profiling replaces the table of kernels by one that measures each call and passes it on, so
 * nothing in the product knows of it. A call costs some 20 ns more; figures to compare with a limit
 * are taken without a profile.
 */
#ifndef GS_TESTS_BENCH_PROFILE_H
#define GS_TESTS_BENCH_PROFILE_H

#include <stddef.h>

/* Products with one side as wide as the vocabulary count as decoding from now on. */
void bench_profile_vocabulary(size_t vocab);
/* Replace the kernels' table by the measuring one, and set all parts to zero. */
void bench_profile_begin(void);
/* The kernels' own table again. Prints each part's share of `seconds` on all threads; what is left
 * is work outside the kernels (copies, packing, the optimiser where not named) and waiting. */
void bench_profile_end(const char *what, double seconds);

#endif
