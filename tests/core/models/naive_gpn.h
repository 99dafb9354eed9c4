/* naive_gpn.h - GPN and GPN+M once more, in double, as ../shared/spec/model.md says it and as
 * plainly as can be: one sequence, one token, one loop after the other. The independent second way
 * for the real one, and what its gradients are differenced from. */
#ifndef GS_TESTS_CORE_MODELS_NAIVE_GPN_H
#define GS_TESTS_CORE_MODELS_NAIVE_GPN_H

#include "core/models/parameters.h"

#include <stdbool.h>

struct naive_gpn {
    size_t V, d, e, f, H, dk, dv, L;   /* H 0: no memory */
    bool bf16;                         /* the authors' rounding of weights and embeddings */
    const struct gs_parameters *names; /* names and shapes; values come from `values` */
    const double *values;              /* all parameters, tensor after tensor, without gaps */
};

/* What one sequence gives; every pointer may be NULL. */
struct naive_out {
    double *predicted, *grounded;        /* (T, d) */
    double *nll;                         /* (T) */
    double *log_decay, *strength, *norm; /* (T, H) */
};

/* Sum of nll over the tokens. s, s_prev (d) and M (H dk dv) are updated. */
double naive_gpn_run(const struct naive_gpn *model, const uint32_t *tokens, size_t steps, double *s,
                     double *s_prev, double *M, const struct naive_out *out);

/* Index in `values` of the first value of a tensor. */
size_t naive_gpn_offset(const struct gs_parameters *names, const char *name);

#endif
