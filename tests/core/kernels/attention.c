/* Attention in blocks of queries against the plain form in double: forward, and backward by its
 * formulas (those by finite differences of the plain form). Random shapes; rows behind the end. */
#include "tests/support/support.h"

#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/kernels/attention.h"
#include "core/kernels/kernels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEED = 20261130 };

static const size_t SHAPES[][2] = {{1, 2},   {2, 6},   {31, 8},  {32, 16},
                                   {33, 12}, {64, 64}, {70, 34}, {101, 20}};
enum { SHAPES_COUNT = sizeof SHAPES / sizeof SHAPES[0] };

struct setting {
    const struct gs_attention_kernels *kernels;
    size_t n, c, rows, width, stride;
    float *q, *k, *v, *d_o, *work; /* with room */
    double *plain[4];              /* q, k, v, d_o without */
};

static float *padded(const struct setting *s, struct gs_random *random, double scale,
                     double **plain) {
    float *values = gs_calloc(s->rows * s->stride, sizeof *values);
    *plain = gs_calloc(s->n * s->c, sizeof **plain);
    for (size_t t = 0; t < s->n; t++)
        for (size_t j = 0; j < s->c; j++) {
            values[t * s->stride + j] = (float)(scale * gs_random_normal(random));
            (*plain)[t * s->c + j] = (double)values[t * s->stride + j];
        }
    return values;
}

static void open_setting(struct setting *s, size_t table, const size_t shape[2], double scale) {
    struct gs_random random;
    gs_random_seed(&random, SEED, "attention");
    *s = (struct setting){.kernels = gs_attention_kernels_at(table), .n = shape[0], .c = shape[1]};
    s->rows = gs_attention_rows(s->n);
    s->width = gs_attention_width(s->kernels, s->c);
    s->stride = gs_attention_stride(s->kernels, s->c);
    s->q = padded(s, &random, scale, &s->plain[0]);
    s->k = padded(s, &random, 1, &s->plain[1]);
    s->v = padded(s, &random, 1, &s->plain[2]);
    s->d_o = padded(s, &random, 1, &s->plain[3]);
    s->work = gs_calloc(gs_attention_work(s->rows, s->width), sizeof(float));
}

static void close_setting(struct setting *s) {
    float *const arrays[] = {s->q, s->k, s->v, s->d_o, s->work};
    for (size_t i = 0; i < 5; i++) gs_free(arrays[i]);
    for (size_t i = 0; i < 4; i++) gs_free(s->plain[i]);
}

/* P (n, n) and o (n, c). */
static void plain_forward(const struct setting *s, double *P, double *o) {
    const double *q = s->plain[0], *k = s->plain[1], *v = s->plain[2];
    const size_t n = s->n, c = s->c;
    memset(o, 0, n * c * sizeof *o);
    for (size_t t = 0; t < n; t++) {
        double top = -INFINITY, sum = 0;
        for (size_t j = 0; j <= t; j++) {
            double score = 0;
            for (size_t i = 0; i < c; i++) score += q[t * c + i] * k[j * c + i];
            P[t * n + j] = score;
            top = fmax(top, score);
        }
        for (size_t j = 0; j <= t; j++) sum += P[t * n + j] = exp(P[t * n + j] - top);
        for (size_t j = 0; j <= t; j++) {
            P[t * n + j] /= sum;
            for (size_t i = 0; i < c; i++) o[t * c + i] += P[t * n + j] * v[j * c + i];
        }
    }
}

/* What d_o weighs of o: its gradients are what backward must give. */
static double objective(const struct setting *s, double *P, double *o) {
    double sum = 0;
    plain_forward(s, P, o);
    for (size_t i = 0; i < s->n * s->c; i++) sum += s->plain[3][i] * o[i];
    return sum;
}

static void run_forward(const struct setting *s, float *o, float *log_sum) {
    struct gs_attention a = {s->c, s->width, s->stride, s->q, s->k, s->v, s->work};
    for (size_t first = 0; first < s->rows; first += GS_ATTENTION_QUERIES)
        s->kernels->forward(&a, first, o + first * s->width, log_sum + first);
}

static void compare_rows(const char *what, const struct setting *s, const float *values,
                         size_t stride, const double *expected, double tolerance) {
    char name[80];
    double largest = 0;
    for (size_t i = 0; i < s->n * s->c; i++) largest = fmax(largest, fabs(expected[i]));
    for (size_t i = 0; i < s->n * s->c; i++) {
        snprintf(name, sizeof name, "%s %s %zu x %zu [%zu, %zu]", s->kernels->isa, what, s->n, s->c,
                 i / s->c, i % s->c);
        gs_assert_near(name, (double)values[i / s->c * stride + i % s->c], expected[i],
                       tolerance * largest, 0);
    }
}

static void test_forward(void **state) {
    (void)state;
    for (size_t table = 0; table < gs_kernels_count(); table++)
        for (size_t i = 0; i < SHAPES_COUNT; i++)
            for (int wild = 0; wild < 2; wild++) {
                struct setting s;
                open_setting(&s, table, SHAPES[i], wild ? 60 : 0.4);
                double *P = gs_calloc(s.n * s.n, sizeof *P), *o = gs_calloc(s.n * s.c, sizeof *o);
                float *got = gs_calloc(s.rows * s.width, sizeof *got);
                float *log_sum = gs_calloc(s.rows, sizeof *log_sum);
                plain_forward(&s, P, o);
                run_forward(&s, got, log_sum);
                compare_rows("o", &s, got, s.width, o, wild ? 1e-3 : 2e-6);
                gs_free(P);
                gs_free(o);
                gs_free(got);
                gs_free(log_sum);
                close_setting(&s);
            }
}

static void differences(const struct setting *s, size_t which, double *gradient) {
    const double step = 1e-5;
    double *P = gs_calloc(s->n * s->n, sizeof *P), *o = gs_calloc(s->n * s->c, sizeof *o);
    for (size_t i = 0; i < s->n * s->c; i++) {
        double *at = &s->plain[which][i], kept = *at;
        *at = kept + step;
        double above = objective(s, P, o);
        *at = kept - step;
        gradient[i] = (above - objective(s, P, o)) / (2 * step);
        *at = kept;
    }
    gs_free(P);
    gs_free(o);
}

static void test_backward(void **state) {
    (void)state;
    for (size_t table = 0; table < gs_kernels_count(); table++)
        for (size_t i = 0; i + 1 < SHAPES_COUNT; i++) {
            struct setting s;
            if (SHAPES[i][0] * SHAPES[i][1] > 700) continue; /* differences take n^3 c^2 */
            open_setting(&s, table, SHAPES[i], 0.7);
            const size_t floats = s.rows * s.stride;
            float *o = gs_calloc(s.rows * s.width, sizeof *o);
            float *sums = gs_calloc(2 * s.rows, sizeof *sums), *along = sums + s.rows;
            float *gradients = gs_calloc(3 * floats, sizeof *gradients);
            double *expected = gs_calloc(s.n * s.c, sizeof *expected);
            run_forward(&s, o, sums);
            for (size_t t = 0; t < s.n; t++)
                for (size_t j = 0; j < s.c; j++)
                    along[t] += o[t * s.width + j] * s.d_o[t * s.stride + j];
            struct gs_attention a = {s.c, s.width, s.stride, s.q, s.k, s.v, s.work};
            for (size_t first = 0; first < s.rows; first += GS_ATTENTION_QUERIES) {
                struct gs_attention_gradient g = {s.d_o,
                                                  sums,
                                                  along,
                                                  gradients + first * s.stride,
                                                  gradients + floats,
                                                  gradients + 2 * floats};
                s.kernels->backward(&a, first, &g);
            }
            const char *const names[] = {"dq", "dk", "dv"};
            for (size_t which = 0; which < 3; which++) {
                differences(&s, which, expected);
                compare_rows(names[which], &s, gradients + which * floats, s.stride, expected,
                             2e-5);
            }
            gs_free(o);
            gs_free(sums);
            gs_free(gradients);
            gs_free(expected);
            close_setting(&s);
        }
}

/* Tokens behind change no bit of a row, nor does a longer sequence. */
static void test_later_tokens(void **state) {
    (void)state;
    for (size_t table = 0; table < gs_kernels_count(); table++) {
        struct setting s;
        const size_t shape[] = {101, 20}, part = 50;
        open_setting(&s, table, shape, 1);
        float *whole = gs_calloc(s.rows * s.width, sizeof *whole);
        float *short_one = gs_calloc(s.rows * s.width, sizeof *short_one);
        float *log_sum = gs_calloc(s.rows, sizeof *log_sum);
        run_forward(&s, whole, log_sum);
        float *const arrays[] = {s.q, s.k, s.v};
        for (size_t i = 0; i < 3; i++)
            memset(arrays[i] + part * s.stride, 0, (s.rows - part) * s.stride * sizeof(float));
        s.rows = gs_attention_rows(part);
        run_forward(&s, short_one, log_sum);
        assert_memory_equal(whole, short_one, part * s.width * sizeof *whole);
        gs_free(whole);
        gs_free(short_one);
        gs_free(log_sum);
        close_setting(&s);
    }
}

static void test_rotation(void **state) {
    (void)state;
    enum { HALF = 11 };
    struct gs_random random;
    gs_random_seed(&random, SEED, "rotation");
    float x[2 * HALF], y[2 * HALF], again[2 * HALF], cosines[HALF], sines[HALF];
    for (size_t table = 0; table < gs_kernels_count(); table++) {
        const struct gs_attention_kernels *k = gs_attention_kernels_at(table);
        for (size_t j = 0; j < HALF; j++) {
            double angle = 3 * gs_random_normal(&random);
            cosines[j] = (float)cos(angle);
            sines[j] = (float)sin(angle);
            x[j] = (float)gs_random_normal(&random);
            x[j + HALF] = (float)gs_random_normal(&random);
        }
        k->rotate(x, cosines, sines, HALF, 0.5f, false, y);
        for (size_t j = 0; j < HALF; j++) {
            double a = (double)x[j], b = (double)x[j + HALF];
            gs_assert_near("a", (double)y[j], (a * (double)cosines[j] - b * (double)sines[j]) / 2,
                           1e-6, 1e-6);
            gs_assert_near("b", (double)y[j + HALF],
                           (b * (double)cosines[j] + a * (double)sines[j]) / 2, 1e-6, 1e-6);
        }
        k->rotate(y, cosines, sines, HALF, 2.0f, true, again);
        for (size_t j = 0; j < 2 * HALF; j++)
            gs_assert_near("back", (double)again[j], (double)x[j], 1e-6, 1e-6);
    }
}

int main(void) {
    printf("seed %d\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward), cmocka_unit_test(test_backward),
        cmocka_unit_test(test_later_tokens), cmocka_unit_test(test_rotation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
