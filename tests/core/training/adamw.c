/* AdamW against a naive one in double, tensor by tensor, and its bits on several threads. */
#include "tests/support/support.h"

#include "core/base/environment.h"
#include "core/base/random.h"
#include "core/training/adamw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TENSORS = 4, STEPS = 25 };
/* odd sizes, one over the block of the norm, one that is a single value */
static const size_t counts[TENSORS] = {19001, 1, 37, 12288};
static const bool decays[TENSORS] = {true, false, false, true};
static const struct gs_adamw_options options = {0.9, 0.95, 1e-8, 0.1, 1.0, 0};

static struct gs_parameters *make(uint64_t seed, double scale) {
    struct gs_tensor declared[TENSORS] = {0};
    for (size_t t = 0; t < TENSORS; t++) {
        snprintf(declared[t].name, sizeof declared[t].name, "t%zu", t);
        declared[t].rank = 1;
        declared[t].shape[0] = counts[t];
        declared[t].decay = decays[t];
    }
    struct gs_parameters *made = NULL;
    struct gs_error error = {0};
    gs_assert_ok(gs_parameters_create(declared, TENSORS, &made, &error), &error);
    struct gs_random random;
    gs_random_seed(&random, seed, "test");
    for (size_t t = 0; t < TENSORS; t++)
        for (size_t i = 0; i < counts[t]; i++)
            made->tensors[t].values[i] = (float)(scale * gs_random_normal(&random));
    return made;
}

static struct gs_adamw *make_adamw(const struct gs_parameters *parameters,
                                   const struct gs_adamw_options *with) {
    struct gs_adamw *adamw = NULL;
    struct gs_error error = {0};
    gs_assert_ok(gs_adamw_create(parameters, with, &adamw, &error), &error);
    return adamw;
}

/* The same in double, written for reading. */
struct naive {
    double *p[TENSORS], *m[TENSORS], *v[TENSORS];
};

static double naive_norm(const struct gs_parameters *gradients) {
    double sum = 0;
    for (size_t t = TENSORS; t-- > 0;)
        for (size_t i = counts[t]; i-- > 0;) sum += pow((double)gradients->tensors[t].values[i], 2);
    return sqrt(sum);
}

static void naive_update(struct naive *naive, const struct gs_parameters *gradients, int n,
                         double rate) {
    double norm = naive_norm(gradients);
    for (size_t t = 0; t < TENSORS; t++)
        for (size_t i = 0; i < counts[t]; i++) {
            double g = (double)gradients->tensors[t].values[i];
            if (norm > options.clip_norm) g = g * options.clip_norm / norm;
            double *m = &naive->m[t][i], *v = &naive->v[t][i], *p = &naive->p[t][i];
            *m = options.beta1 * *m + (1 - options.beta1) * g;
            *v = options.beta2 * *v + (1 - options.beta2) * g * g;
            double corrected_m = *m / (1 - pow(options.beta1, n));
            double corrected_v = *v / (1 - pow(options.beta2, n));
            double step = corrected_m / (sqrt(corrected_v) + options.epsilon);
            *p -= rate * step + (decays[t] ? rate * options.weight_decay * *p : 0);
        }
}

static void test_against_naive(void **state) {
    (void)state;
    struct gs_parameters *parameters = make(1, 1);
    struct gs_adamw *adamw = make_adamw(parameters, &options);
    struct naive naive;
    for (size_t t = 0; t < TENSORS; t++) {
        naive.p[t] = calloc(counts[t], sizeof(double));
        naive.m[t] = calloc(counts[t], sizeof(double));
        naive.v[t] = calloc(counts[t], sizeof(double));
        for (size_t i = 0; i < counts[t]; i++)
            naive.p[t][i] = (double)parameters->tensors[t].values[i];
    }
    for (int n = 1; n <= STEPS; n++) {
        /* norms above and below the clip, up to a gradient of 1e-12 that only epsilon tempers */
        struct gs_parameters *gradients = make(100 + (uint64_t)n, pow(10, -(n % 13)));
        double norm = gs_adamw_norm(adamw, gradients), rate = 1e-3 * n;
        gs_assert_near("norm", norm, naive_norm(gradients), 0, 1e-12);
        gs_adamw_update(adamw, parameters, gradients, norm, rate);
        naive_update(&naive, gradients, n, rate);
        gs_parameters_destroy(gradients);
    }
    for (size_t t = 0; t < TENSORS; t++) {
        for (size_t i = 0; i < counts[t]; i++)
            gs_assert_near("p", (double)parameters->tensors[t].values[i], naive.p[t][i], 1e-5,
                           1e-5);
        free(naive.p[t]), free(naive.m[t]), free(naive.v[t]);
    }
    assert_int_equal(adamw->updates, STEPS);
    gs_adamw_destroy(adamw);
    gs_parameters_destroy(parameters);
}

/* By hand: the first update moves every parameter by the rate, whatever the gradient's size. */
static void test_first_update(void **state) {
    (void)state;
    struct gs_adamw_options plain = {0.9, 0.999, 0, 0, 1e30, 0};
    struct gs_parameters *parameters = make(2, 0), *gradients = make(3, 5);
    struct gs_adamw *adamw = make_adamw(parameters, &plain);
    gs_adamw_update(adamw, parameters, gradients, gs_adamw_norm(adamw, gradients), 0.25);
    for (size_t t = 0; t < TENSORS; t++)
        for (size_t i = 0; i < counts[t]; i++) {
            double sign = gradients->tensors[t].values[i] > 0 ? 1 : -1;
            gs_assert_near("p", (double)parameters->tensors[t].values[i], -0.25 * sign, 0, 2e-6);
        }
    gs_adamw_destroy(adamw);
    gs_parameters_destroy(gradients);
    gs_parameters_destroy(parameters);
}

/* A norm exactly at the limit is not clipped; one above it is scaled to the limit. */
static void test_clip_limit(void **state) {
    (void)state;
    for (int above = 0; above < 2; above++) {
        struct gs_parameters *parameters = make(4, 0), *gradients = make(5, 0);
        gradients->tensors[0].values[0] = 3;
        gradients->tensors[3].values[7] = above ? 40 : 4;
        struct gs_adamw_options five = {0.5, 0.5, 1e-8, 0, 5, 0};
        struct gs_adamw *adamw = make_adamw(parameters, &five);
        double norm = gs_adamw_norm(adamw, gradients);
        gs_assert_near("norm", norm, above ? sqrt(9 + 1600) : 5, 0, 1e-15);
        gs_adamw_update(adamw, parameters, gradients, norm, 0);
        double scale = above ? 5 / norm : 1;
        gs_assert_near("m", (double)adamw->first->tensors[0].values[0], 1.5 * scale, 0, 1e-6);
        gs_assert_near("rate 0", (double)parameters->tensors[0].values[0], 0, 0, 0);
        gs_adamw_destroy(adamw);
        gs_parameters_destroy(gradients);
        gs_parameters_destroy(parameters);
    }
}

/* torch's clip_grad_norm_: by clip / (norm + 1e-6) where that is below 1. With a clip of 1e-6 it is
 * half for a norm of 1e-6, and nothing for half of it. */
static void test_clip_epsilon(void **state) {
    (void)state;
    static const double norms[] = {1e-6, 0.25e-6, 1e-7}, scales[] = {0.5, 0.4, 1};
    static const double clips[] = {1e-6, 0.5e-6, 2e-6};
    for (size_t i = 0; i < 3; i++) {
        struct gs_parameters *parameters = make(8, 0), *gradients = make(9, 0);
        gradients->tensors[3].values[11] = (float)norms[i];
        struct gs_adamw_options torch = {0.5, 0.5, 1e-8, 0, clips[i], 1e-6};
        struct gs_adamw *adamw = make_adamw(parameters, &torch);
        gs_adamw_update(adamw, parameters, gradients, gs_adamw_norm(adamw, gradients), 0);
        gs_assert_near("m", (double)adamw->first->tensors[3].values[11], 0.5 * scales[i] * norms[i],
                       0, 1e-6);
        gs_adamw_destroy(adamw);
        gs_parameters_destroy(gradients);
        gs_parameters_destroy(parameters);
    }
}

static void test_norm_extremes(void **state) {
    (void)state;
    struct gs_parameters *gradients = make(6, 0);
    struct gs_adamw *adamw = make_adamw(gradients, &options);
    gs_assert_near("zero", gs_adamw_norm(adamw, gradients), 0, 0, 0);
    gradients->tensors[1].values[0] = 3e38f;
    gradients->tensors[2].values[36] = 3e38f;
    gs_assert_near("beyond float", gs_adamw_norm(adamw, gradients), 3e38 * sqrt(2), 0, 1e-7);
    gradients->tensors[0].values[19000] = INFINITY;
    assert_true(isinf(gs_adamw_norm(adamw, gradients)));
    gradients->tensors[3].values[0] = NAN;
    assert_true(isnan(gs_adamw_norm(adamw, gradients)));
    gs_adamw_destroy(adamw);
    gs_parameters_destroy(gradients);
}

static void test_threads(void **state) {
    (void)state;
    struct gs_parameters *reference = NULL;
    int before = gs_threads_get();
    for (int threads = 1; threads <= 3; threads++) {
        gs_threads_set(threads);
        struct gs_parameters *parameters = make(7, 1);
        struct gs_adamw *adamw = make_adamw(parameters, &options);
        for (uint64_t n = 0; n < 3; n++) {
            struct gs_parameters *gradients = make(50 + n, 0.3);
            gs_adamw_update(adamw, parameters, gradients, gs_adamw_norm(adamw, gradients), 0.01);
            gs_parameters_destroy(gradients);
        }
        gs_adamw_destroy(adamw);
        if (!reference) {
            reference = parameters;
            continue;
        }
        assert_memory_equal(parameters->values, reference->values,
                            reference->stride * sizeof *reference->values);
        gs_parameters_destroy(parameters);
    }
    gs_threads_set(before);
    gs_parameters_destroy(reference);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_naive), cmocka_unit_test(test_first_update),
        cmocka_unit_test(test_clip_limit),    cmocka_unit_test(test_norm_extremes),
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_clip_epsilon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
