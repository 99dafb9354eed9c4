/* Every kernel of every instruction set this processor has, against plain double loops; every
 * backward against finite differences of those; and a row's bits, which must not depend on where
 * it stands or on its neighbours. */
#include "tests/support/support.h"

#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/kernels/kernels.h"
#include "core/kernels/packed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 96, SEED = 77 };

static const size_t SIZES[] = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 47, 64, 65, 95};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0] };

static struct gs_random random_state;

static void fill(float *x, size_t n, double scale) {
    for (size_t i = 0; i < n; i++) x[i] = (float)(scale * gs_random_normal(&random_state));
}

static void widen(const float *x, size_t n, double *y) {
    for (size_t i = 0; i < n; i++) y[i] = (double)x[i];
}

/* A check for each table and size. */
static void each(void (*check)(const struct gs_kernels *k, size_t n)) {
    gs_random_seed(&random_state, SEED, "kernels");
    for (size_t t = 0; t < gs_kernels_count(); t++)
        for (size_t s = 0; s < SIZE_COUNT; s++) check(gs_kernels_at(t), SIZES[s]);
}

static void near_all(const char *what, const struct gs_kernels *k, size_t n, const float *ours,
                     const double *naive, size_t count, double tolerance) {
    double largest = 1e-30;
    for (size_t i = 0; i < count; i++) largest = fmax(largest, fabs(naive[i]));
    for (size_t i = 0; i < count; i++) {
        char name[96];
        snprintf(name, sizeof name, "%s %s n %zu [%zu]", k->isa, what, n, i);
        gs_assert_near(name, (double)ours[i], naive[i], tolerance * largest, 0);
    }
}

/* ---- plain double functions, each f(x, context, y) ------------------------------------------- */

struct plain {
    size_t n;            /* inputs */
    size_t m;            /* outputs */
    size_t dk, dv;       /* memory */
    const double *along; /* a fixed second input */
    double scale;
    void (*f)(const struct plain *plain, const double *x, double *y);
};

/* gradient[i] = sum_j dy_j d f_j / d x_i by central differences. */
static void difference(const struct plain *plain, double *x, const float *dy, double *gradient) {
    double *up = calloc(plain->m, sizeof *up), *down = calloc(plain->m, sizeof *down);
    for (size_t i = 0; i < plain->n; i++) {
        const double kept = x[i], step = 1e-5;
        x[i] = kept + step;
        plain->f(plain, x, up);
        x[i] = kept - step;
        plain->f(plain, x, down);
        x[i] = kept;
        gradient[i] = 0;
        for (size_t j = 0; j < plain->m; j++)
            gradient[i] += (double)dy[j] * (up[j] - down[j]) / (2 * step);
    }
    free(up), free(down);
}

static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

static void plain_rms(const struct plain *p, const double *x, double *y) {
    double sum = 0;
    for (size_t i = 0; i < p->n; i++) sum += x[i] * x[i];
    for (size_t i = 0; i < p->n; i++) y[i] = x[i] / sqrt(sum / (double)p->n + 1e-6);
}

/* x = [x | w] */
static void plain_norm(const struct plain *p, const double *x, double *y) {
    double sum = 0;
    for (size_t i = 0; i < p->m; i++) sum += x[i] * x[i];
    for (size_t i = 0; i < p->m; i++) y[i] = x[i] / sqrt(sum / (double)p->m + 1e-6) * x[p->m + i];
}

static void plain_unit_relu(const struct plain *p, const double *x, double *y) {
    double sum = 0;
    for (size_t i = 0; i < p->n; i++) {
        y[i] = fmax(x[i] + p->along[i], 0);
        sum += y[i] * y[i];
    }
    for (size_t i = 0; i < p->n; i++) y[i] /= sqrt(sum + 1e-12);
}

/* x = [gate | x] */
static void plain_swiglu(const struct plain *p, const double *x, double *y) {
    for (size_t i = 0; i < p->m; i++) y[i] = x[i] * sigmoid(x[i]) * x[p->m + i] * p->scale;
}

/* x = [pre | x] */
static void plain_gate(const struct plain *p, const double *x, double *y) {
    for (size_t i = 0; i < p->m; i++) y[i] = sigmoid(x[i]) * x[p->m + i] * p->scale;
}

/* ---- checks ------------------------------------------------------------------------------------
 */

static void check_rms(const struct gs_kernels *k, size_t n) {
    float x[MOST] = {0}, y[MOST] = {0}, dy[MOST] = {0}, dx[MOST] = {0}, sum[MOST] = {0};
    double wide[MOST] = {0}, expected[MOST] = {0};
    const struct plain plain = {.n = n, .m = n, .f = plain_rms};
    fill(x, n, 3);
    fill(dy, n, 1);
    widen(x, n, wide);
    float s = k->rms(x, n, y);
    plain_rms(&plain, wide, expected);
    near_all("rms", k, n, y, expected, n, 1e-6);
    gs_assert_near("rms scale", (double)(x[0] * s), expected[0], 1e-6, 1e-6);
    k->rms_backward(dy, y, s, n, dx, false);
    difference(&plain, wide, dy, expected);
    double size = 0; /* of what cancels: with n = 1 the gradient is nearly nothing */
    for (size_t i = 0; i < n; i++) size = fmax(size, fabs((double)(dy[i] * s)));
    for (size_t i = 0; i < n; i++)
        gs_assert_near("rms backward", (double)dx[i], expected[i], 2e-6 * size + 1e-9, 0);
    fill(sum, n, 1);
    for (size_t i = 0; i < n; i++) expected[i] = (double)sum[i] + (double)dx[i];
    k->rms_backward(dy, y, s, n, sum, true);
    near_all("rms backward, added", k, n, sum, expected, n, 1e-6);
}

static void check_norm(const struct gs_kernels *k, size_t n) {
    float x[2 * MOST] = {0}, y[MOST] = {0}, dy[MOST] = {0}, dx[MOST] = {0}, dw[MOST] = {0};
    double wide[2 * MOST] = {0}, expected[2 * MOST] = {0}, before[MOST], above[MOST];
    const struct plain plain = {.n = 2 * n, .m = n, .f = plain_norm};
    fill(x, 2 * n, 2);
    fill(dy, n, 1);
    fill(dx, n, 1);
    fill(dw, n, 1);
    widen(x, 2 * n, wide);
    widen(dw, n, before);
    widen(dx, n, above);
    k->norm(x, x + n, n, y);
    plain_norm(&plain, wide, expected);
    near_all("norm", k, n, y, expected, n, 1e-6);
    difference(&plain, wide, dy, expected);
    const float s = k->rms(x, n, y);
    double size = 1; /* of what cancels */
    for (size_t i = 0; i < n; i++) size = fmax(size, fabs((double)(dy[i] * s * x[n + i])));
    k->norm_backward(dy, x, x + n, n, dx, true, dw);
    for (size_t i = 0; i < n; i++) {
        gs_assert_near("norm's dx", (double)dx[i] - above[i], expected[i], 3e-6 * size, 0);
        gs_assert_near("norm's dw", (double)dw[i] - before[i], expected[n + i], 3e-6 * size, 0);
    }
    k->norm_backward(dy, x, x + n, n, dy, false, dw); /* in place, overwriting */
    for (size_t i = 0; i < n; i++)
        gs_assert_near("norm's dx", (double)dy[i], expected[i], 3e-6 * size, 0);
}

static void check_unit_relu(const struct gs_kernels *k, size_t n) {
    float x[MOST] = {0}, bias[MOST] = {0}, y[MOST] = {0}, dy[MOST] = {0}, dx[MOST] = {0};
    double wide[MOST] = {0}, wide_bias[MOST] = {0}, expected[MOST] = {0};
    fill(x, n, 1);
    fill(bias, n, 0.3);
    x[0] = 2; /* at least one is on */
    bias[0] = 0;
    fill(dy, n, 1);
    widen(x, n, wide);
    widen(bias, n, wide_bias);
    const struct plain plain = {.n = n, .m = n, .along = wide_bias, .f = plain_unit_relu};
    float s = k->unit_relu(x, bias, n, y);
    plain_unit_relu(&plain, wide, expected);
    near_all("unit_relu", k, n, y, expected, n, 1e-6);
    k->unit_relu_backward(dy, y, s, n, dx);
    difference(&plain, wide, dy, expected);
    for (size_t i = 0; i < n; i++)
        gs_assert_near("unit_relu backward", (double)dx[i], expected[i], 4e-6, 1e-5);
    /* all off: zeros, and no gradient */
    for (size_t i = 0; i < n; i++) x[i] = -1 - bias[i];
    s = k->unit_relu(x, bias, n, y);
    k->unit_relu_backward(dy, y, s, n, dx);
    for (size_t i = 0; i < n; i++) assert_true(y[i] == 0 && dx[i] == 0);
}

static void check_gates(const struct gs_kernels *k, size_t n) {
    float in[2 * MOST] = {0}, y[MOST] = {0}, again[MOST] = {0}, dy[MOST] = {0}, dgate[MOST] = {0},
                 dx[MOST] = {0}, gate[MOST] = {0};
    double wide[2 * MOST] = {0}, expected[2 * MOST] = {0};
    float zero[MOST] = {0};
    const float scale = 0.7f;
    struct plain plain = {.n = 2 * n, .m = n, .scale = (double)scale, .f = plain_swiglu};
    fill(in, 2 * n, 2);
    fill(dy, n, 1);
    widen(in, 2 * n, wide);

    k->swiglu(in, in + n, scale, n, y);
    plain_swiglu(&plain, wide, expected);
    near_all("swiglu", k, n, y, expected, n, 1e-6);
    k->swiglu_backward(in, in + n, scale, dy, n, dgate, dx, again);
    assert_memory_equal(y, again, n * sizeof *y);
    difference(&plain, wide, dy, expected);
    near_all("swiglu, gate", k, n, dgate, expected, n, 3e-6);
    for (size_t i = 0; i < n; i++) dx[i] *= scale; /* the kernel gives the gradient of x scale */
    near_all("swiglu, x", k, n, dx, expected + n, n, 3e-6);

    plain.f = plain_gate;
    k->sigmoid(in, zero, n, gate);
    for (size_t i = 0; i < n; i++) expected[i] = sigmoid(wide[i]);
    near_all("sigmoid", k, n, gate, expected, n, 3e-7);
    k->gate_backward(gate, in + n, scale, dy, n, dgate, dx);
    difference(&plain, wide, dy, expected);
    near_all("gate, pre", k, n, dgate, expected, n, 3e-5); /* 1 - gate cancels */
    for (size_t i = 0; i < n; i++) dx[i] *= scale;
    near_all("gate, x", k, n, dx, expected + n, n, 3e-6);

    k->gated_sum(gate, in + n, dy, in, n, y);
    for (size_t i = 0; i < n; i++)
        expected[i] = (double)gate[i] * wide[n + i] + (double)dy[i] + wide[i];
    near_all("gated_sum", k, n, y, expected, n, 1e-6);
    k->gated_sum(gate, in + n, dy, NULL, n, y);
    for (size_t i = 0; i < n; i++) expected[i] -= wide[i];
    near_all("gated_sum of two", k, n, y, expected, n, 1e-6);
    float sums[3];
    double measured[3] = {0};
    for (size_t i = 0; i < n; i++) {
        measured[0] += expected[i] * expected[i];
        measured[1] += (double)in[i] * (double)in[i];
        measured[2] += expected[i] * (double)in[i];
        expected[i] += (double)in[i];
    }
    k->gated_sum_measured(gate, in + n, dy, in, n, y, sums);
    near_all("gated_sum_measured", k, n, y, expected, n, 1e-6);
    near_all("its sums", k, n, sums, measured, 3, 3e-6);
}

static void check_sums(const struct gs_kernels *k, size_t n) {
    float x[MOST] = {0}, y[MOST] = {0};
    double dot = 0, squares = 0, size = 0;
    fill(x, n, 1);
    fill(y, n, 1);
    for (size_t i = 0; i < n; i++) {
        dot += (double)x[i] * (double)y[i];
        squares += (double)x[i] * (double)x[i];
        size += fabs((double)x[i] * (double)y[i]);
    }
    gs_assert_near("dot", k->dot(x, y, n), dot, 1e-6 * size, 0);
    gs_assert_near("squares", k->squares(x, n), squares, 0, 1e-6);
    double expected[MOST] = {0};
    for (size_t i = 0; i < n; i++) expected[i] = (double)x[i] + (double)y[i];
    k->add(x, n, y);
    near_all("add", k, n, y, expected, n, 1e-6);
}

static void check_cross_entropy(const struct gs_kernels *k, size_t n) {
    float logits[MOST] = {0}, kept[MOST] = {0};
    fill(logits, n, 4);
    if (n > 2) logits[2] = 80; /* far above the rest */
    memcpy(kept, logits, sizeof kept);
    for (size_t target = 0; target < n; target += 1 + n / 4) {
        double top = -INFINITY, sum = 0, expected[MOST];
        for (size_t i = 0; i < n; i++) top = fmax(top, (double)kept[i]);
        for (size_t i = 0; i < n; i++) sum += exp((double)kept[i] - top);
        for (size_t i = 0; i < n; i++)
            expected[i] = exp((double)kept[i] - top) / sum - (i == target);
        memcpy(logits, kept, sizeof kept);
        float nll = k->cross_entropy(logits, n, target, true);
        gs_assert_near("nll", (double)nll, log(sum) + top - (double)kept[target], 1e-6, 1e-6);
        for (size_t i = 0; i < n; i++)
            gs_assert_near("softmax", (double)logits[i], expected[i], 1e-6, 1e-6);
        memcpy(logits, kept, sizeof kept);
        assert_true(nll == k->cross_entropy(logits, n, target, false));
    }
    memcpy(logits, kept, sizeof kept);
    logits[n / 2] = NAN;
    assert_true(isnan(k->cross_entropy(logits, n, 0, false)));
    memcpy(logits, kept, sizeof kept);
    logits[n - 1] = INFINITY;
    assert_true(isnan(k->cross_entropy(logits, n, 0, false)));
}

/* ---- memory ------------------------------------------------------------------------------------
 */

/* x = [M | k | v | q | decay | strength], y = [M' | read] */
static void plain_memory(const struct plain *p, const double *x, double *y) {
    const size_t dk = p->dk, dv = p->dv;
    const double *M = x, *k = M + dk * dv, *v = k + dk, *q = v + dv, *gates = q + dk;
    double *read = y + dk * dv;
    for (size_t j = 0; j < dv; j++) {
        double held = 0;
        read[j] = 0;
        for (size_t i = 0; i < dk; i++) held += M[i * dv + j] * k[i];
        for (size_t i = 0; i < dk; i++) {
            y[i * dv + j] = gates[0] * M[i * dv + j] + gates[1] * k[i] * (v[j] - held);
            read[j] += y[i * dv + j] * q[i];
        }
    }
}

/* x = [M | k | v | q | decay | strength] gave `M` and `read`: with squares the same bits. */
static void check_squares(const struct gs_kernels *k, size_t dk, size_t dv, const float *x,
                          const float *M, const float *read) {
    const size_t size = dk * dv;
    const float *key = x + size, *value = key + dk, *query = value + dv, *gates = query + dk;
    float *next = calloc(size, sizeof *next), *again = calloc(2 * dv, sizeof *again), squares;
    double expected = 0;
    memcpy(next, x, size * sizeof *next);
    k->memory_step(next, dk, dv, key, value, gates[0], gates[1], query, again, again + dv,
                   &squares);
    assert_memory_equal(M, next, size * sizeof *next);
    assert_memory_equal(read, again + dv, dv * sizeof *read);
    for (size_t i = 0; i < size; i++) expected += (double)M[i] * (double)M[i];
    near_all("squares of the memory", k, dv, &squares, &expected, 1, 3e-6);
    free(next);
    free(again);
}

/* What becomes of a column does not depend on where it stands, as the bits of a model should not on
 * the compiler's choice of what to add in one step. */
static void check_equal_columns(const struct gs_kernels *k, bool squares) {
    enum { ROWS = 7, COLUMNS = 80 }; /* of vectors of 16: a strip of four and one */
    float M[ROWS * COLUMNS], key[ROWS], query[ROWS], value[COLUMNS], out[COLUMNS], sum;
    fill(M, ROWS * COLUMNS, 1), fill(key, ROWS, 1), fill(query, ROWS, 1), fill(value, 1, 1);
    for (size_t j = 1; j < COLUMNS; j++) {
        value[j] = value[0];
        for (size_t i = 0; i < ROWS; i++) M[i * COLUMNS + j] = M[i * COLUMNS];
    }
    for (int step = 0; step < 20; step++) {
        k->memory_step(M, ROWS, COLUMNS, key, value, 0.97f, 0.3f, query, value, out,
                       squares ? &sum : NULL);
        for (size_t j = 1; j < COLUMNS; j++) {
            for (size_t i = 0; i < ROWS; i++)
                assert_memory_equal(M + i * COLUMNS + j, M + i * COLUMNS, sizeof *M);
            assert_memory_equal(out + j, out, sizeof *out);
        }
    }
}

static void check_memory_shape(const struct gs_kernels *k, size_t dk, size_t dv) {
    const size_t size = dk * dv, inputs = size + 2 * dk + dv + 2, outputs = size + dv;
    float *x = calloc(inputs, sizeof *x), *dy = calloc(outputs, sizeof *dy);
    float *M = calloc(size, sizeof *M);
    float *diff = calloc(dv, sizeof *diff), *read = calloc(dv, sizeof *read);
    double *wide = calloc(inputs, sizeof *wide), *expected = calloc(inputs, sizeof *expected);
    fill(x, inputs, 1);
    fill(dy, outputs, 1);
    x[inputs - 2] = 0.83f;
    x[inputs - 1] = 0.41f;
    widen(x, inputs, wide);
    const float *key = x + size, *value = key + dk, *query = value + dv;
    const float decay = x[inputs - 2], strength = x[inputs - 1];
    const struct plain plain = {.n = inputs, .m = outputs, .dk = dk, .dv = dv, .f = plain_memory};

    memcpy(M, x, size * sizeof *M);
    k->memory_step(M, dk, dv, key, value, decay, strength, query, diff, read, NULL);
    double *forward = calloc(outputs, sizeof *forward);
    plain_memory(&plain, wide, forward);
    near_all("memory", k, dv, M, forward, size, 3e-6);
    near_all("memory read", k, dv, read, forward + size, dv, 3e-6);
    float *second = calloc(dv, sizeof *second);
    k->memory_read(M, dk, dv, query, second);
    near_all("memory read alone", k, dv, second, forward + size, dv, 3e-6);
    check_squares(k, dk, dv, x, M, read);

    float *dM = calloc(size, sizeof *dM), *dq = calloc(dk, sizeof *dq);
    float *dkey = calloc(dk, sizeof *dkey), *dvalue = calloc(dv, sizeof *dvalue), gates[2] = {0};
    double overlap = 0, alike = 0, after = 0;
    for (size_t i = 0; i < size; i++) overlap += (double)dy[i] * forward[i];
    float *work = calloc(dk, sizeof *work);
    const struct gs_past start = {.start = x};
    const struct gs_head head = {key, query, diff, read, decay, strength};
    const struct gs_head_gradient gradient = {dy + size, dM,        &overlap,  dq,  dkey,
                                              dvalue,    &gates[0], &gates[1], work};
    memcpy(dM, dy, size * sizeof *dM);
    k->memory_step_backward(&start, dk, dv, &head, &gradient);
    difference(&plain, wide, dy, expected);
    near_all("dM", k, dv, dM, expected, size, 1e-5);
    near_all("dk", k, dv, dkey, expected + size, dk, 2e-5);
    near_all("dv", k, dv, dvalue, expected + size + dk, dv, 2e-5);
    near_all("dq", k, dv, dq, expected + size + dk + dv, dk, 2e-5);
    expected[inputs - 2] *= (double)decay;
    near_all("gates", k, dv, gates, expected + inputs - 2, 2, 2e-5);
    double scale = 0;
    for (size_t i = 0; i < size; i++) {
        alike += expected[i] * wide[i];
        scale += fabs(expected[i] * wide[i]);
    }
    gs_assert_near("overlap", overlap, alike, 1e-5 * scale + 1e-5, 0);
    /* a read alone, of a memory made by one write: dq as above, dM and the overlap by hand */
    memcpy(dM, dy, size * sizeof *dM);
    const struct gs_past written = {x, 1, key, diff, &decay, &strength};
    overlap = 0;
    k->memory_read_backward(&written, dk, dv, query, read, dy + size, dM, &overlap, dq, work);
    near_all("dq alone", k, dv, dq, expected + size + dk + dv, dk, 2e-5);
    for (size_t i = 0; i < size; i++)
        expected[i] = (double)dy[i] + (double)query[i / dv] * (double)dy[size + i % dv];
    near_all("dM of a read", k, dv, dM, expected, size, 1e-6);
    scale = 0;
    for (size_t j = 0; j < dv; j++) {
        after += (double)dy[size + j] * forward[size + j];
        scale += fabs((double)dy[size + j] * forward[size + j]);
    }
    gs_assert_near("overlap of a read", overlap, after, 1e-5 * scale + 1e-6, 0);
    free(work);
    free(x), free(dy), free(M), free(diff), free(read), free(wide), free(expected);
    free(forward), free(second), free(dM), free(dq), free(dkey), free(dvalue);
}

/* After several writes: M dread from what was written, against the matrix itself. */
static void check_past(const struct gs_kernels *k, size_t dk, size_t dv) {
    enum { WRITES = 5 };
    const size_t size = dk * dv;
    float *start = calloc(size, sizeof *start), *M = calloc(size, sizeof *M);
    float *keys = calloc(WRITES * dk, sizeof *keys), *diffs = calloc(WRITES * dv, sizeof *diffs);
    float *vectors = calloc(2 * dk + 2 * dv, sizeof *vectors), *dM = calloc(size, sizeof *dM);
    float *dq = vectors, *work = dq + dk, *dread = work + dk, *read = dread + dv;
    const float decays[WRITES] = {0.9f, 0.2f, 1, 0, 0.7f},
                strengths[WRITES] = {1, 0, 0.3f, 0.5f, 0.8f};
    double *expected = calloc(dk, sizeof *expected), overlap = 0;
    fill(start, size, 1);
    fill(keys, WRITES * dk, 1);
    fill(dread, dv, 1);
    memcpy(M, start, size * sizeof *M);
    for (size_t writes = 0; writes <= WRITES; writes++) {
        for (size_t i = 0; i < dk; i++) {
            expected[i] = 0;
            for (size_t j = 0; j < dv; j++) expected[i] += (double)M[i * dv + j] * (double)dread[j];
        }
        const struct gs_past past = {start, writes, keys, diffs, decays, strengths};
        k->memory_read_backward(&past, dk, dv, keys, read, dread, dM, &overlap, dq, work);
        near_all("past", k, dv, dq, expected, dk, 2e-5);
        if (writes == WRITES) break;
        fill(diffs + writes * dv, dv, 1);
        k->memory_step(M, dk, dv, keys + writes * dk, diffs + writes * dv, decays[writes],
                       strengths[writes], keys, diffs + writes * dv, read, NULL);
    }
    free(start), free(M), free(keys), free(diffs), free(vectors), free(dM), free(expected);
}

static void check_memory(const struct gs_kernels *k, size_t n) {
    if (n > 48) return;
    check_past(k, 1 + n % 7, n);
    check_past(k, n, 1 + n % 9);
    check_equal_columns(k, false);
    check_equal_columns(k, true);
    check_memory_shape(k, 1 + n % 7, n);
    check_memory_shape(k, n, 1 + n % 9);
}

/* ---- product -----------------------------------------------------------------------------------
 */

static void check_product(const struct gs_kernels *k, size_t n) {
    enum { ROWS = 20 };
    const size_t inner = n, columns = 1 + 3 * n / 2, panel = k->panel;
    const size_t panels = (columns + panel - 1) / panel;
    float *W = calloc(inner * columns, sizeof *W), *x = calloc(ROWS * inner, sizeof *x);
    float *packed = calloc(panels * inner * panel, sizeof *packed);
    float *y = calloc(ROWS * columns, sizeof *y), *other = calloc(ROWS * columns, sizeof *other);
    fill(W, inner * columns, 1);
    fill(x, ROWS * inner, 1);
    for (size_t i = 0; i < inner; i++)
        for (size_t j = 0; j < columns; j++)
            packed[(j / panel * inner + i) * panel + j % panel] = W[i * columns + j];
    for (size_t i = 0; i < ROWS * columns; i++) y[i] = NAN; /* what was there is not read */
    k->product(x, inner, ROWS, packed, inner, 0, panels, columns, y, columns, false);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t j = 0; j < columns; j++) {
            double sum = 0, size = 0;
            for (size_t i = 0; i < inner; i++) {
                sum += (double)x[r * inner + i] * (double)W[i * columns + j];
                size += fabs((double)x[r * inner + i] * (double)W[i * columns + j]);
            }
            gs_assert_near("product", (double)y[r * columns + j], sum, 1e-6 * size, 0);
        }
    /* any split of rows and panels: the same bits */
    for (size_t rows = 1; rows <= ROWS; rows += 1 + rows / 5) {
        for (size_t r = 0; r < ROWS; r += rows) {
            size_t some = ROWS - r < rows ? ROWS - r : rows;
            for (size_t p = 0; p < panels; p++)
                k->product(x + r * inner, inner, some, packed, inner, p, p + 1, columns,
                           other + r * columns, columns, false);
        }
        assert_memory_equal(y, other, ROWS * columns * sizeof *y);
    }
    k->product(x, inner, ROWS, packed, inner, 0, panels, columns, other, columns, true);
    for (size_t i = 0; i < ROWS * columns; i++)
        gs_assert_near("added product", (double)other[i], 2 * (double)y[i], 1e-5, 1e-5);
    free(W), free(x), free(packed), free(y), free(other);
}

/* ---- exponentials over the whole range
 * ----------------------------------------------------------- */

static void sigmoid_is_right_everywhere(void **unused) {
    (void)unused;
    const float zero[1] = {0};
    for (size_t t = 0; t < gs_kernels_count(); t++)
        for (double x = -110; x <= 110; x += 0.0137) {
            float in = (float)x, out;
            gs_kernels_at(t)->sigmoid(&in, zero, 1, &out);
            double expected = sigmoid((double)in);
            gs_assert_near("sigmoid", (double)out, expected, 1e-38, 4e-7);
        }
    const float odd[] = {INFINITY, -INFINITY, NAN};
    for (size_t t = 0; t < gs_kernels_count(); t++) {
        float out[3] = {0};
        for (size_t i = 0; i < 3; i++) gs_kernels_at(t)->sigmoid(odd + i, zero, 1, out + i);
        assert_true(out[0] == 1 && out[1] == 0 && isnan(out[2]));
    }
}

/* ---- packing
 * ------------------------------------------------------------------------------------- */

static void packing_places_scales_rounds_and_transposes(void **unused) {
    (void)unused;
    enum { ROWS = 5, COLUMNS = 21 };
    float W[ROWS * COLUMNS] = {0}, scale[ROWS] = {0}, x[COLUMNS] = {0}, y[COLUMNS] = {0};
    struct gs_packed packed;
    gs_random_seed(&random_state, SEED, "packing");
    fill(W, ROWS * COLUMNS, 1);
    fill(scale, ROWS, 1);
    for (int form = 0; form < 8; form++) {
        const struct gs_block block = {.values = W,
                                       .rows = ROWS,
                                       .columns = COLUMNS,
                                       .stride = COLUMNS,
                                       .row_scale = form & 1 ? scale : NULL,
                                       .bf16 = form & 2,
                                       .transpose = form & 4};
        size_t inner = block.transpose ? COLUMNS : ROWS, columns = block.transpose ? ROWS : COLUMNS;
        struct gs_arena arena = {0};
        gs_packed_plan(inner, columns + 3, &arena, &packed);
        arena = (struct gs_arena){.base = gs_calloc(arena.bytes, 1)};
        gs_packed_plan(inner, columns + 3, &arena, &packed);
        gs_packed_put(&packed, 0, 3, &block);
        for (size_t k = 0; k < inner; k++) {
            memset(x, 0, sizeof x);
            x[k] = 1;
            float out[COLUMNS + 3] = {0};
            gs_packed_product(&packed, x, inner, 1, 0, packed.panels, out, columns + 3, false);
            assert_true(out[0] == 0 && out[1] == 0 && out[2] == 0);
            for (size_t c = 0; c < columns; c++) {
                size_t i = block.transpose ? c : k, j = block.transpose ? k : c;
                float value = W[i * COLUMNS + j];
                if (block.bf16) value = gs_round_bf16(value);
                y[c] = block.row_scale ? value * scale[i] : value;
                assert_true(out[3 + c] == y[c]);
            }
        }
        gs_free(arena.base);
    }
}

static void bf16_rounds_to_nearest_even(void **unused) {
    (void)unused;
    assert_true(gs_round_bf16(1.0f) == 1.0f);
    assert_true(gs_round_bf16(1.00390625f) == 1.0f);       /* tie: down to even */
    assert_true(gs_round_bf16(1.01171875f) == 1.015625f);  /* tie: up to even */
    assert_true(gs_round_bf16(1.00390637f) == 1.0078125f); /* above the tie */
    assert_true(gs_round_bf16(-1.00390637f) == -1.0078125f);
    assert_true(gs_round_bf16(3.4e38f) == INFINITY || gs_round_bf16(3.4e38f) > 3.38e38f);
    assert_true(isnan(gs_round_bf16(NAN)) && gs_round_bf16(-INFINITY) == -INFINITY);
}

#define CHECK(name)                                                                                \
    static void name(void **unused) {                                                              \
        (void)unused;                                                                              \
        each(check_##name);                                                                        \
    }
CHECK(rms)
CHECK(norm)
CHECK(unit_relu)
CHECK(gates)
CHECK(sums)
CHECK(cross_entropy)
CHECK(memory)
CHECK(product)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rms),
        cmocka_unit_test(norm),
        cmocka_unit_test(unit_relu),
        cmocka_unit_test(gates),
        cmocka_unit_test(sums),
        cmocka_unit_test(cross_entropy),
        cmocka_unit_test(memory),
        cmocka_unit_test(product),
        cmocka_unit_test(sigmoid_is_right_everywhere),
        cmocka_unit_test(packing_places_scales_rounds_and_transposes),
        cmocka_unit_test(bf16_rounds_to_nearest_even),
    };
    for (size_t t = 0; t < gs_kernels_count(); t++)
        print_message("kernels: %s, seed %d\n", gs_kernels_at(t)->isa, SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
