/* naive_gdn.h - a Gated DeltaNet once more, in double and step by step, as
 * ../shared/spec/baselines.md says it and as plainly as can be. The independent second way for the
 * real one, and what its gradients are differenced from. */
#ifndef GS_TESTS_CORE_MODELS_NAIVE_GDN_H
#define GS_TESTS_CORE_MODELS_NAIVE_GDN_H

#include "core/models/parameters.h"

#include <stdbool.h>

struct naive_gdn {
    size_t V, d, L, H, dk, dv, f;
    bool bf16;                         /* matrices rounded */
    const struct gs_parameters *names; /* names and shapes; values come from `values` */
    const double *values;              /* all parameters, tensor after tensor, without gaps */
};

/* What one sequence shows; any may be NULL. */
struct naive_gdn_seen {
    double *streams;                     /* (L + 1, steps, d): after each layer, and final */
    double *log_decay, *strength, *norm; /* (L, steps, H) */
    double *nll;                         /* (steps), of which the first is not written */
};

/* Sum of nll of a sequence. S (L, H, dk, dv) and past (L, 3, 2 H dk + H dv), the last inputs of the
 * convolutions, are its state, changed in place. */
double naive_gdn_run(const struct naive_gdn *model, const uint32_t *tokens, size_t steps, double *S,
                     double *past, const struct naive_gdn_seen *seen);

#endif
