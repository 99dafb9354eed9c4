/* naive_transformer.h - a Transformer++ once more, in double, as ../shared/spec/baselines.md says
 * it and as plainly as can be. The independent second way for the real one, and what its gradients
 * are differenced from. */
#ifndef GS_TESTS_CORE_MODELS_NAIVE_TRANSFORMER_H
#define GS_TESTS_CORE_MODELS_NAIVE_TRANSFORMER_H

#include "core/models/parameters.h"

#include <stdbool.h>

struct naive_transformer {
    size_t V, d, L, H, f;
    bool bf16;                         /* matrices rounded */
    const struct gs_parameters *names; /* names and shapes; values come from `values` */
    const double *values;              /* all parameters, tensor after tensor, without gaps */
};

/* Sum of nll of a sequence. streams (L + 1, steps, d): after each layer, and final; nll (steps), of
 * which the first is not written. Both may be NULL. */
double naive_transformer_run(const struct naive_transformer *model, const uint32_t *tokens,
                             size_t steps, double *streams, double *nll);

#endif
