/* heads.h - the efolds of memory heads, of one seed or of several, as the split test takes them. */
#ifndef GS_ANALYSES_SPLIT_HEADS_H
#define GS_ANALYSES_SPLIT_HEADS_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* A head whose efold is at or below this counts as this many tokens: a gate that forgets all at
 * once has no logarithm. exp(−1/0.05) = 2e-9 is left after one token. */
#define GS_SPLIT_SHORTEST 0.05

struct gs_split_head {
    double log_efold; /* natural logarithm of tokens; of the bound where censored */
    bool censored;    /* the efold is beyond exp(log_efold), nobody knows how far */
    size_t seed;      /* which model, counted from 0 */
};

/* Grows as heads are added. Zero it to begin. */
struct gs_split_heads {
    struct gs_split_head *heads; /* (count) */
    size_t count, room;
    size_t seeds;   /* models added, also those without a head that counts */
    size_t unknown; /* heads whose efold is not defined, which take no part */
};
void gs_split_heads_clear(struct gs_split_heads *heads); /* frees; NULL is fine */

/* One head of model `seed`. efold in tokens, or the longest lag measured where it was not reached.
 * GS_NUMERIC when it is NaN, infinite or negative, or a bound is 0; GS_NO_MEMORY. */
enum gs_status gs_split_heads_add(struct gs_split_heads *heads, size_t seed, double efold,
                                  bool censored, struct gs_error *error);

struct gs_results;
/* All heads of one memory of one model, as the next seed, from what retention measured: values
 * <prefix>retention.head.NN.efold. `prefix` is "" for the model's own, "null." for the untrained
 * one's, "memory.NAME." and "null.memory.NAME." for one memory of several. Called for the results
 * of one run after the other it pools them. A head that never forgets (α = 1 throughout) is
 * censored at the longest lag; undefined ones are counted as unknown. GS_MISSING when there is no
 * head under that prefix. */
enum gs_status gs_split_heads_of_results(struct gs_split_heads *heads,
                                         const struct gs_results *results, const char *prefix,
                                         struct gs_error *error);

#endif
