/* layered_trace.h - a small trace of a model with layers: streams layer00 … and final, a memory of
 * rule gated_delta in each layer, nll that begins with the second row. All numbers are known.
 */
#ifndef GS_TESTS_ANALYSES_LAYERED_TRACE_H
#define GS_TESTS_ANALYSES_LAYERED_TRACE_H

#include "probes/trace/reader.h"

#include <stddef.h>
#include <stdint.h>

enum {
    LAYERED_LAYERS = 3,
    LAYERED_STREAMS = LAYERED_LAYERS + 1,
    LAYERED_HEADS = 3,
    LAYERED_WIDTH = 6,
    LAYERED_SEQUENCES = 5,
    LAYERED_LENGTH = 40,
    LAYERED_ROWS = LAYERED_SEQUENCES * LAYERED_LENGTH
};

struct layered {
    const char *checkpoint_sha256; /* NULL: not said */
    const char *config;            /* NULL: not said */
    double scale;                  /* of the lifetimes of the heads */
    uint32_t vocab;
};

/* Names of the layers: "layer02", "layer9", "layer10" in this order; then "final". */
extern const char *const layered_names[LAYERED_STREAMS];

struct layered_values {
    float state[LAYERED_STREAMS][LAYERED_ROWS * LAYERED_WIDTH];
    float log_decay[LAYERED_LAYERS][LAYERED_ROWS * LAYERED_HEADS];
    float write_strength[LAYERED_LAYERS][LAYERED_ROWS * LAYERED_HEADS];
    float nll[LAYERED_ROWS];
    uint32_t token[LAYERED_ROWS];
    uint64_t start[LAYERED_SEQUENCES + 1], length[LAYERED_SEQUENCES];
};

/* Written to the scratch file `name`, whose path is returned; values may be NULL. Fails the test
 * when it cannot. */
const char *layered_write(const char *name, const struct layered *how,
                          struct layered_values *values);

#endif
