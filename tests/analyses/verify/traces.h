/* traces.h - traces of made-up models with a structure planted in them, or not. */
#ifndef GS_TESTS_ANALYSES_VERIFY_TRACES_H
#define GS_TESTS_ANALYSES_VERIFY_TRACES_H

#include <stdbool.h>
#include <stdint.h>

struct gs_planted {
    int64_t seed, step; /* recorded; -1: not */
    double mean;        /* length of the constant mean, in deviations of all dimensions together */
    bool own_states;    /* not those that all models share, turned by each */
    bool pools;         /* heads around 2 and 60 tokens, else spread evenly between 1 and 300 */
    bool no_memory;
    /* what makes it a trace of something else; NULL: as all others */
    const char *checkpoint, *tokenizer, *config;
    uint32_t first_token;
};

enum { GS_PLANTED_HEADS = 15, GS_PLANTED_DIMS = 8 };

/* Writes the trace `name` into the scratch folder (folders in the name are made), and gives its
 * path, which lives until exit. The same plan gives the same numbers. */
const char *gs_planted_trace(const char *name, const struct gs_planted *plan);

#endif
