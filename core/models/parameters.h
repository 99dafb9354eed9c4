/* parameters.h - a model's parameters: named float32 tensors in one allocation.
 *
 * The same struct carries gradients and Adam's moments, which have the same names and shapes.
 */
#ifndef GS_CORE_MODELS_PARAMETERS_H
#define GS_CORE_MODELS_PARAMETERS_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GS_MAX_RANK = 4, GS_PARAMETER_NAME = 96 };

/* How a parameter starts (../shared/spec/model.md, "Parameters"). */
enum gs_init {
    GS_INIT_ZERO,
    GS_INIT_ONE,
    GS_INIT_NORMAL_002, /* normal, standard deviation 0.02 */
    GS_INIT_LECUN,   /* normal truncated at 2 sigma, standard deviation 1/sqrt(fan_in) after it */
    GS_INIT_A_LOG,   /* log(max(U(0, 16), 1e-8)) */
    GS_INIT_DT_BIAS, /* softplus^-1(max(exp U(log 1e-3, log 1e-1), 1e-4)) */
    GS_INIT_UNIFORM  /* uniform in +-1/sqrt(fan_in) (torch's linear layers) */
};

struct gs_tensor {
    char name[GS_PARAMETER_NAME];
    size_t rank; /* 1 … GS_MAX_RANK */
    size_t shape[GS_MAX_RANK];
    size_t count;  /* product of shape */
    size_t fan_in; /* for the inits that need it */
    enum gs_init init;
    bool decay;    /* weight decay applies */
    float *values; /* count values, row-major, inside the one allocation */
};

struct gs_parameters {
    size_t tensor_count;
    struct gs_tensor *tensors; /* in the order in which the model declares them */
    size_t count;              /* values in all tensors */
    size_t stride;             /* floats in the one allocation (tensors start 64-byte aligned) */
    float *values;             /* the one allocation; gaps between tensors are zero and stay so */
};

/* The tensor of that name and rank in a list, borrowed; NULL when there is none. */
const struct gs_tensor *gs_tensor_find(const struct gs_tensor *tensors, size_t count,
                                       const char *name, size_t rank);
/* How many layers a list has, `most` + 1 at the most: there are tensors of rank 1 by the names
 * prefix0suffix, prefix1suffix, … up to one less than that. */
size_t gs_tensor_layers(const struct gs_tensor *tensors, size_t count, const char *prefix,
                        const char *suffix, size_t most);

/* Build from a declared list (values pointers ignored, names unique): allocates zeros. */
enum gs_status gs_parameters_create(const struct gs_tensor *declared, size_t count,
                                    struct gs_parameters **parameters, struct gs_error *error);
/* The same without any values: counts and stride are right, every values pointer is NULL. */
enum gs_status gs_parameters_outline(const struct gs_tensor *declared, size_t count,
                                     struct gs_parameters **parameters, struct gs_error *error);
/* The same names and shapes with zeros. */
enum gs_status gs_parameters_like(const struct gs_parameters *other,
                                  struct gs_parameters **parameters, struct gs_error *error);
void gs_parameters_destroy(struct gs_parameters *parameters); /* NULL is fine */

/* The tensor of that name, borrowed; NULL when there is none. */
struct gs_tensor *gs_parameters_find(const struct gs_parameters *parameters, const char *name);

/* Every tensor by its init rule; each has a random stream of its own (named after it), so the
 * result depends on seed and name alone. */
void gs_parameters_initialise(struct gs_parameters *parameters, uint64_t seed);

/* GS_NUMERIC naming tensor and index of the first value that is not finite. */
enum gs_status gs_parameters_check_finite(const struct gs_parameters *parameters,
                                          struct gs_error *error);

#endif
