#include "core/models/parameters.h"

#include "core/base/memory.h"
#include "core/base/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ALIGN_FLOATS = 16 }; /* 64 bytes: no tensor shares a cache line with its neighbour */

/* Count and place of every tensor; false when a product or sum wraps. */
static bool lay_out(struct gs_parameters *p) {
    for (size_t i = 0; i < p->tensor_count; i++) {
        struct gs_tensor *tensor = &p->tensors[i];
        tensor->count = 1;
        for (size_t axis = 0; axis < tensor->rank; axis++)
            if (!gs_multiply(tensor->count, tensor->shape[axis], &tensor->count)) return false;
        size_t padded;
        if (!gs_add(tensor->count, ALIGN_FLOATS - 1, &padded)) return false;
        padded -= padded % ALIGN_FLOATS;
        if (!gs_add(p->stride, padded, &p->stride)) return false;
        p->count += tensor->count;
    }
    return true;
}

static void place(struct gs_parameters *p) {
    float *next = p->values;
    for (size_t i = 0; i < p->tensor_count; i++) {
        p->tensors[i].values = next;
        next += (p->tensors[i].count + ALIGN_FLOATS - 1) / ALIGN_FLOATS * ALIGN_FLOATS;
    }
}

enum gs_status gs_parameters_outline(const struct gs_tensor *declared, size_t count,
                                     struct gs_parameters **parameters, struct gs_error *error) {
    *parameters = NULL;
    struct gs_parameters *p = gs_calloc(1, sizeof *p);
    if (!p) return gs_fail_memory(error, sizeof *p, "parameters");
    p->tensor_count = count;
    p->tensors = gs_calloc(count, sizeof *p->tensors);
    if (!p->tensors) {
        gs_parameters_destroy(p);
        return gs_fail_memory(error, count * sizeof *p->tensors, "parameters");
    }
    memcpy(p->tensors, declared, count * sizeof *declared);
    for (size_t i = 0; i < count; i++) p->tensors[i].values = NULL;
    if (!lay_out(p) || p->stride > SIZE_MAX / sizeof(float)) {
        gs_parameters_destroy(p);
        return gs_fail_memory(error, SIZE_MAX, "parameters");
    }
    *parameters = p;
    return GS_OK;
}

enum gs_status gs_parameters_create(const struct gs_tensor *declared, size_t count,
                                    struct gs_parameters **parameters, struct gs_error *error) {
    struct gs_parameters *p = NULL;
    enum gs_status status = gs_parameters_outline(declared, count, &p, error);
    *parameters = NULL;
    if (status != GS_OK) return status;
    p->values = gs_calloc(p->stride, sizeof *p->values);
    if (!p->values) {
        size_t bytes = p->stride * sizeof *p->values;
        gs_parameters_destroy(p);
        return gs_fail_memory(error, bytes, "parameters");
    }
    place(p);
    *parameters = p;
    return GS_OK;
}

enum gs_status gs_parameters_like(const struct gs_parameters *other,
                                  struct gs_parameters **parameters, struct gs_error *error) {
    return gs_parameters_create(other->tensors, other->tensor_count, parameters, error);
}

void gs_parameters_destroy(struct gs_parameters *parameters) {
    if (!parameters) return;
    gs_free(parameters->tensors);
    gs_free(parameters->values);
    gs_free(parameters);
}

const struct gs_tensor *gs_tensor_find(const struct gs_tensor *tensors, size_t count,
                                       const char *name, size_t rank) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(tensors[i].name, name) == 0 && tensors[i].rank == rank) return &tensors[i];
    return NULL;
}

size_t gs_tensor_layers(const struct gs_tensor *tensors, size_t count, const char *prefix,
                        const char *suffix, size_t most) {
    size_t layers = 0;
    for (; layers <= most; layers++) {
        char name[GS_PARAMETER_NAME];
        snprintf(name, sizeof name, "%s%zu%s", prefix, layers, suffix);
        if (!gs_tensor_find(tensors, count, name, 1)) break;
    }
    return layers;
}

struct gs_tensor *gs_parameters_find(const struct gs_parameters *parameters, const char *name) {
    for (size_t i = 0; i < parameters->tensor_count; i++)
        if (strcmp(parameters->tensors[i].name, name) == 0) return &parameters->tensors[i];
    return NULL;
}

/* A standard normal cut at two sigma, by rejection. */
static double truncated_normal(struct gs_random *random) {
    for (;;) {
        double x = gs_random_normal(random);
        if (fabs(x) <= 2) return x;
    }
}

/* The standard deviation that a normal cut at two sigma has left. */
static const double TRUNCATED_SIGMA = 0.87962566103423978;

static double draw(struct gs_random *random, const struct gs_tensor *tensor) {
    double fan_in = (double)(tensor->fan_in ? tensor->fan_in : 1);
    switch (tensor->init) {
    case GS_INIT_ZERO:
        return 0;
    case GS_INIT_ONE:
        return 1;
    case GS_INIT_NORMAL_002:
        return 0.02 * gs_random_normal(random);
    case GS_INIT_LECUN:
        return truncated_normal(random) / (sqrt(fan_in) * TRUNCATED_SIGMA);
    case GS_INIT_A_LOG:
        return log(fmax(16 * gs_random_uniform(random), 1e-8));
    case GS_INIT_DT_BIAS: {
        double low = log(1e-3), high = log(1e-1);
        double dt = fmax(exp(low + (high - low) * gs_random_uniform(random)), 1e-4);
        return dt + log(-expm1(-dt)); /* the inverse of softplus */
    }
    case GS_INIT_UNIFORM:
        return (2 * gs_random_uniform(random) - 1) / sqrt(fan_in);
    }
    return 0;
}

void gs_parameters_initialise(struct gs_parameters *parameters, uint64_t seed) {
    for (size_t i = 0; i < parameters->tensor_count; i++) {
        struct gs_tensor *tensor = &parameters->tensors[i];
        char stream[GS_PARAMETER_NAME + 8];
        snprintf(stream, sizeof stream, "init/%s", tensor->name);
        struct gs_random random;
        gs_random_seed(&random, seed, stream);
        for (size_t j = 0; j < tensor->count; j++) tensor->values[j] = (float)draw(&random, tensor);
    }
}

enum gs_status gs_parameters_check_finite(const struct gs_parameters *parameters,
                                          struct gs_error *error) {
    for (size_t i = 0; i < parameters->tensor_count; i++) {
        const struct gs_tensor *tensor = &parameters->tensors[i];
        for (size_t j = 0; j < tensor->count; j++) {
            if (isfinite(tensor->values[j])) continue;
            gs_fail(error, GS_NUMERIC, "a parameter is not finite");
            gs_error_expected(error, "finite values");
            gs_error_found(error, "%g at index %zu of %s", (double)tensor->values[j], j,
                           tensor->name);
            return GS_NUMERIC;
        }
    }
    return GS_OK;
}
