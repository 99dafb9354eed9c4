/* The rows around the delta rule (convolution, unit vectors, gated norm) in every instruction set:
 * forward against plain double loops, backward against finite differences of these. */
#include "tests/support/support.h"

#include "core/base/random.h"
#include "core/kernels/delta.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 100, W = GS_CONV_WIDTH, SEED = 20261130 };
static const size_t SIZES[] = {1, 3, 4, 7, 8, 13, 16, 31, 48, 64, 97};
static const double FORWARD = 2e-6, BACKWARD = 2e-5;

static struct gs_random random_state;

static void fill(float *x, size_t n, double scale) {
    for (size_t i = 0; i < n; i++) x[i] = (float)(scale * gs_random_normal(&random_state));
}

static double silu(double x) {
    return x / (1 + exp(-x));
}

/* ---- plain forms: inputs in one vector, outputs in another ----------------------------------- */

struct plain {
    size_t n, inputs;
    double scale;
    void (*f)(const struct plain *p, const double *x, double *y);
};

/* x = [four rows | weights of four taps] */
static void plain_conv(const struct plain *p, const double *x, double *y) {
    for (size_t j = 0; j < p->n; j++) {
        double pre = 0;
        for (size_t i = 0; i < W; i++) pre += x[i * p->n + j] * x[(W + i) * p->n + j];
        y[j] = silu(pre);
    }
}

static void plain_unit(const struct plain *p, const double *x, double *y) {
    double sum = 0;
    for (size_t j = 0; j < p->n; j++) sum += x[j] * x[j];
    for (size_t j = 0; j < p->n; j++) y[j] = p->scale * x[j] / sqrt(sum + 1e-6);
}

/* x = [x | w | g] */
static void plain_norm(const struct plain *p, const double *x, double *y) {
    const size_t n = p->n;
    double sum = 0;
    for (size_t j = 0; j < n; j++) sum += x[j] * x[j];
    for (size_t j = 0; j < n; j++)
        y[j] = x[j] / sqrt(sum / (double)n + 1e-6) * x[n + j] * silu(x[2 * n + j]);
}

/* gradient[i] = d (Σ dy y) / d x_i by central differences. */
static void difference(const struct plain *p, const float *from, const float *dy,
                       double *gradient) {
    double x[2 * W * MOST], up[MOST], down[MOST];
    for (size_t i = 0; i < p->inputs; i++) x[i] = (double)from[i];
    for (size_t i = 0; i < p->inputs; i++) {
        const double kept = x[i], step = 1e-5;
        x[i] = kept + step;
        p->f(p, x, up);
        x[i] = kept - step;
        p->f(p, x, down);
        x[i] = kept;
        gradient[i] = 0;
        for (size_t j = 0; j < p->n; j++)
            gradient[i] += (double)dy[j] * (up[j] - down[j]) / (2 * step);
    }
}

static void forward(const struct plain *p, const float *from, double *y) {
    double x[2 * W * MOST];
    for (size_t i = 0; i < p->inputs; i++) x[i] = (double)from[i];
    p->f(p, x, y);
}

static void near_all(const char *what, const char *isa, const float *ours, const double *theirs,
                     size_t n, double tolerance) {
    double largest = 1e-30;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(theirs[i]));
    for (size_t i = 0; i < n; i++) {
        char name[96];
        snprintf(name, sizeof name, "%s %s of %zu [%zu]", isa, what, n, i);
        gs_assert_near(name, (double)ours[i], theirs[i], tolerance * largest, 0);
    }
    assert_true(ours[n] == 77); /* nothing is written behind */
}

/* Rows with a mark behind, which nobody may touch. */
struct row {
    float values[MOST + 1];
};
static void mark(struct row *row, size_t n) {
    for (size_t i = 0; i <= MOST; i++) row->values[i] = i == n ? 77 : NAN;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static void check_conv(const struct gs_delta_kernels *k, size_t n) {
    float in[2 * W * MOST], dy[MOST], dweights[W * MOST];
    double expected[MOST], gradient[2 * W * MOST];
    struct row y, dpre, dx;
    const struct plain p = {.n = n, .inputs = 2 * W * n, .f = plain_conv};
    fill(in, 2 * W * n, 1);
    fill(dy, n, 1);
    const float *const rows[W] = {in, in + n, in + 2 * n, in + 3 * n}, *weights = in + W * n;
    mark(&y, n);
    k->conv(rows, weights, n, n, y.values);
    forward(&p, in, expected);
    near_all("conv", k->isa, y.values, expected, n, FORWARD);

    difference(&p, in, dy, gradient);
    for (size_t i = 0; i < W * n; i++) dweights[i] = 1;
    mark(&dpre, n);
    k->conv_backward(rows, weights, n, dy, n, dpre.values, dweights);
    for (size_t i = 0; i < W * n; i++) /* what was there stays */
        gs_assert_near("conv dweights", (double)dweights[i], 1 + gradient[W * n + i], BACKWARD,
                       BACKWARD);
    /* Only the row at one tap's distance has a gradient: that of the row it was an input of. */
    const float zero[MOST] = {0};
    for (size_t i = 0; i < W; i++) {
        const float *behind[W] = {zero, zero, zero, zero};
        behind[i] = dpre.values;
        mark(&dx, n);
        k->conv_inputs(behind, weights, n, n, dx.values);
        near_all("conv dx", k->isa, dx.values, gradient + i * n, n, BACKWARD);
    }
}

static void check_unit(const struct gs_delta_kernels *k, size_t n) {
    float x[MOST], dy[MOST];
    double expected[MOST], gradient[MOST];
    struct row y, dx;
    for (int small = 0; small < 2; small++) {
        const struct plain p = {.n = n, .inputs = n, .scale = 0.3, .f = plain_unit};
        fill(x, n, small ? 1e-3 : 2);
        fill(dy, n, 1);
        mark(&y, n);
        const float f = k->unit(x, n, 0.3f, y.values);
        forward(&p, x, expected);
        near_all("unit", k->isa, y.values, expected, n, FORWARD);
        difference(&p, x, dy, gradient);
        mark(&dx, n);
        k->unit_backward(dy, y.values, f, 0.3f, n, dx.values);
        /* With one entry, two terms all but cancel. */
        double largest = fabs((double)f);
        for (size_t i = 0; i < n; i++)
            gs_assert_near("unit dx", (double)dx.values[i], gradient[i], BACKWARD * largest, 2e-4);
    }
    const float none[MOST] = {0};
    mark(&y, n);
    k->unit(none, n, 1, y.values);
    for (size_t i = 0; i < n; i++) assert_true(y.values[i] == 0);
}

static void check_norm(const struct gs_delta_kernels *k, size_t n) {
    float in[3 * MOST], dy[MOST];
    double expected[MOST], gradient[3 * MOST];
    struct row y, dx, dg, dw, again;
    const struct plain p = {.n = n, .inputs = 3 * n, .f = plain_norm};
    fill(in, 3 * n, 1.5);
    fill(dy, n, 1);
    mark(&y, n);
    k->gated_norm(in, in + n, in + 2 * n, n, y.values);
    forward(&p, in, expected);
    near_all("gated norm", k->isa, y.values, expected, n, FORWARD);
    difference(&p, in, dy, gradient);
    mark(&dx, n), mark(&dg, n), mark(&dw, n), mark(&again, n);
    for (size_t i = 0; i < n; i++) dw.values[i] = 1;
    k->gated_norm_backward(in, in + n, in + 2 * n, dy, n, dx.values, dg.values, dw.values,
                           again.values);
    assert_memory_equal(y.values, again.values, n * sizeof(float));
    for (size_t i = 0; i < n; i++) {
        gs_assert_near("gated norm dw", (double)dw.values[i], 1 + gradient[n + i], BACKWARD, 2e-5);
        gs_assert_near("gated norm dx", (double)dx.values[i], gradient[i], BACKWARD, 2e-4);
    }
    near_all("gated norm dg", k->isa, dg.values, gradient + 2 * n, n, BACKWARD);
}

static void each(void (*check)(const struct gs_delta_kernels *k, size_t n)) {
    const struct gs_delta_kernels *kernels;
    print_message("seed %d\n", SEED);
    gs_random_seed(&random_state, SEED, "delta rows");
    for (size_t table = 0; (kernels = gs_delta_kernels_at(table)); table++)
        for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) check(kernels, SIZES[i]);
}

static void convolution(void **unused) {
    (void)unused;
    each(check_conv);
}

static void unit_vectors(void **unused) {
    (void)unused;
    each(check_unit);
}

static void gated_norm(void **unused) {
    (void)unused;
    each(check_norm);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolution),
        cmocka_unit_test(unit_vectors),
        cmocka_unit_test(gated_norm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
