/* The chunks of the gated delta rule in every instruction set against its steps in double, and
 * their gradients against finite differences of these: random shapes, lengths that are no multiple
 * of a chunk, gates at their ends, dirty buffers; and the rows around it. */
#include "tests/support/support.h"

#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/kernels/delta.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { C = GS_DELTA_CHUNK, SEED = 20261130 };

static struct gs_random random_state;

static double normal(void) {
    return gs_random_normal(&random_state);
}

static double *doubles(size_t n) {
    return gs_calloc(n ? n : 1, sizeof(double));
}

static float *floats(size_t n) {
    return gs_calloc(n ? n : 1, sizeof(float));
}

static void spoil(float *x, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] = NAN;
}

/* ---- the steps, in double ------------------------------------------------------------------ */

struct sequence {
    size_t steps, dk, dv;
    double *q, *k, *v;        /* (steps, …) */
    double *decay, *strength; /* (steps) */
    double *start;            /* (dk, dv) */
    double *d_o, *d_end;      /* weights of outputs and of the memory at the end in the loss */
    double *o, *end, *x, *norms;
    double *S; /* scratch */
};

static double step_form(struct sequence *s) {
    const size_t dk = s->dk, dv = s->dv;
    double loss = 0;
    memcpy(s->S, s->start, dk * dv * sizeof(double));
    for (size_t t = 0; t < s->steps; t++) {
        const double *q = s->q + t * dk, *k = s->k + t * dk;
        double square = 0;
        for (size_t i = 0; i < dk * dv; i++) s->S[i] *= s->decay[t];
        for (size_t j = 0; j < dv; j++) {
            double m = 0, o = 0;
            for (size_t i = 0; i < dk; i++) m += s->S[i * dv + j] * k[i];
            const double x = s->x[t * dv + j] = s->v[t * dv + j] - m;
            for (size_t i = 0; i < dk; i++) {
                double *at = &s->S[i * dv + j];
                *at += s->strength[t] * k[i] * x;
                o += *at * q[i];
                square += *at * *at;
            }
            s->o[t * dv + j] = o;
            loss += s->d_o[t * dv + j] * o;
        }
        s->norms[t] = sqrt(square);
    }
    memcpy(s->end, s->S, dk * dv * sizeof(double));
    for (size_t i = 0; i < dk * dv; i++) loss += s->d_end[i] * s->end[i];
    return loss;
}

/* d loss / d x[i] by central differences. */
static double difference(struct sequence *s, double *x, double step) {
    const double kept = *x;
    *x = kept + step;
    const double up = step_form(s);
    *x = kept - step;
    const double down = step_form(s);
    *x = kept;
    return (up - down) / (2 * step);
}

/* Gates by name: what can go wrong is at their ends. */
enum gates { ORDINARY, KEEP, FORGET, MIXED, ENDS };
static const char *const GATES[] = {"ordinary", "alpha 1", "alpha 0", "gamma 0 to -50", "ends"};

static void make_gate(enum gates gates, double *decay, double *strength) {
    const double u = gs_random_uniform(&random_state);
    *strength = gs_random_uniform(&random_state);
    *decay = exp(-0.2 * u);
    if (gates == KEEP) *decay = 1;
    if (gates == FORGET) *decay = u < 0.3 ? 0 : 0.9;
    if (gates == MIXED) *decay = exp(u < 0.2 ? -50 : u < 0.6 ? -1e-4 * u : -3 * u);
    if (gates == ENDS) {
        *decay = u < 0.5 ? 1 : exp(-u);
        *strength = u < 0.3 ? 0 : 1;
    }
    *decay = (double)(float)*decay;
    *strength = (double)(float)*strength;
}

static void unit(double *x, size_t n, bool along) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        x[i] = along ? 1 + 1e-3 * normal() : normal();
        sum += x[i] * x[i];
    }
    for (size_t i = 0; i < n; i++) x[i] = (double)(float)(x[i] / sqrt(sum));
}

static void fill(double *x, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] = (double)(float)normal();
}

/* `alike`: all keys about the same, which is the hardest system to solve. */
static void make(struct sequence *s, size_t steps, size_t dk, size_t dv, enum gates gates,
                 bool alike) {
    *s = (struct sequence){.steps = steps, .dk = dk, .dv = dv};
    double **const all[] = {&s->q, &s->k, &s->v,     &s->decay, &s->strength, &s->start, &s->d_o,
                            &s->o, &s->x, &s->norms, &s->d_end, &s->end,      &s->S};
    const size_t sizes[] = {steps * dk, steps * dk, steps * dv, steps,      steps,
                            dk * dv,    steps * dv, steps * dv, steps * dv, steps,
                            dk * dv,    dk * dv,    dk * dv};
    for (size_t i = 0; i < 13; i++) *all[i] = doubles(sizes[i]);
    for (size_t t = 0; t < steps; t++) {
        unit(s->q + t * dk, dk, false);
        unit(s->k + t * dk, dk, alike);
        make_gate(gates, s->decay + t, s->strength + t);
    }
    fill(s->v, steps * dv);
    fill(s->start, dk * dv);
    fill(s->d_o, steps * dv);
    fill(s->d_end, dk * dv);
}

static void release(struct sequence *s) {
    double *const all[] = {s->q, s->k, s->v,     s->decay, s->strength, s->start, s->d_o,
                           s->o, s->x, s->norms, s->d_end, s->end,      s->S};
    for (size_t i = 0; i < 13; i++) gs_free(all[i]);
}

/* ---- the chunks ---------------------------------------------------------------------------- */

struct chunked {
    const struct gs_delta_kernels *kernels;
    size_t keys, values, chunks;
    float *q, *k, *v, *x, *o, *norms, *decay, *strength, *S, *starts; /* (chunks · C, …) */
    float *d_o, *dS, *dq, *dk, *dv, *dlog, *dstrength, *work;
};

/* Rows of n doubles to rows of `width` floats. */
static void put(const double *from, size_t rows, size_t n, float *to, size_t width) {
    for (size_t t = 0; t < rows; t++)
        for (size_t j = 0; j < n; j++) to[t * width + j] = (float)from[t * n + j];
}

static void chunked_make(const struct sequence *s, const struct gs_delta_kernels *kernels,
                         struct chunked *c) {
    *c = (struct chunked){.kernels = kernels, .chunks = (s->steps + C - 1) / C};
    c->keys = gs_delta_width(kernels, s->dk);
    c->values = gs_delta_width(kernels, s->dv);
    const size_t rows = c->chunks * C, matrix = c->keys * c->values;
    float **const all[] = {&c->q,    &c->k,         &c->dq, &c->dk,    &c->v,      &c->x,
                           &c->o,    &c->d_o,       &c->dv, &c->norms, &c->decay,  &c->strength,
                           &c->dlog, &c->dstrength, &c->S,  &c->dS,    &c->starts, &c->work};
    const size_t work = gs_delta_work(c->keys, c->values);
    const size_t sizes[] = {rows * c->keys,
                            rows * c->keys,
                            rows * c->keys,
                            rows * c->keys,
                            rows * c->values,
                            rows * c->values,
                            rows * c->values,
                            rows * c->values,
                            rows * c->values,
                            rows,
                            rows,
                            rows,
                            rows,
                            rows,
                            matrix,
                            matrix,
                            c->chunks * matrix,
                            work};
    for (size_t i = 0; i < 18; i++) *all[i] = floats(sizes[i]);
    put(s->q, s->steps, s->dk, c->q, c->keys);
    put(s->k, s->steps, s->dk, c->k, c->keys);
    put(s->v, s->steps, s->dv, c->v, c->values);
    put(s->d_o, s->steps, s->dv, c->d_o, c->values);
    put(s->start, s->dk, s->dv, c->S, c->values);
    put(s->d_end, s->dk, s->dv, c->dS, c->values);
    for (size_t t = 0; t < rows; t++) {
        c->decay[t] = t < s->steps ? (float)s->decay[t] : 1;
        c->strength[t] = t < s->steps ? (float)s->strength[t] : 0;
    }
    float *const out[] = {c->o, c->dq, c->dk, c->dv, c->dlog, c->dstrength, c->work};
    const size_t out_sizes[] = {
        rows * c->values, rows * c->keys, rows * c->keys, rows * c->values, rows, rows, work};
    for (size_t i = 0; i < 7; i++) spoil(out[i], out_sizes[i]);
}

static void chunked_release(struct chunked *c) {
    float *const all[] = {c->q,     c->k,        c->v,   c->x,    c->o,    c->norms,
                          c->decay, c->strength, c->dq,  c->dk,   c->dv,   c->S,
                          c->dS,    c->starts,   c->d_o, c->work, c->dlog, c->dstrength};
    for (size_t i = 0; i < 18; i++) gs_free(all[i]);
}

static struct gs_delta_chunk chunk_at(const struct chunked *c, size_t i) {
    return (struct gs_delta_chunk){.keys = c->keys,
                                   .values = c->values,
                                   .q = c->q + i * C * c->keys,
                                   .k = c->k + i * C * c->keys,
                                   .decay = c->decay + i * C,
                                   .strength = c->strength + i * C,
                                   .work = c->work};
}

static void chunked_forward(struct chunked *c) {
    const size_t matrix = c->keys * c->values, rows = C * c->values;
    memcpy(c->x, c->v, c->chunks * rows * sizeof(float));
    for (size_t i = 0; i < c->chunks; i++) {
        const struct gs_delta_chunk chunk = chunk_at(c, i);
        memcpy(c->starts + i * matrix, c->S, matrix * sizeof(float));
        c->kernels->forward(&chunk, c->x + i * rows, c->o + i * rows, c->S);
        spoil(c->work, gs_delta_work(c->keys, c->values));
        c->kernels->norms(&chunk, c->starts + i * matrix, c->v + i * rows, c->x + i * rows,
                          c->norms + i * C);
    }
}

static void chunked_backward(struct chunked *c) {
    const size_t matrix = c->keys * c->values, rows = C * c->values, keys = C * c->keys;
    for (size_t i = c->chunks; i-- > 0;) {
        const struct gs_delta_chunk chunk = chunk_at(c, i);
        const struct gs_delta_gradient gradient = {.x = c->x + i * rows,
                                                   .S = c->starts + i * matrix,
                                                   .d_o = c->d_o + i * rows,
                                                   .dS = c->dS,
                                                   .dq = c->dq + i * keys,
                                                   .dk = c->dk + i * keys,
                                                   .dv = c->dv + i * rows,
                                                   .dlog_decay = c->dlog + i * C,
                                                   .dstrength = c->dstrength + i * C};
        c->kernels->backward(&chunk, &gradient);
        spoil(c->work, gs_delta_work(c->keys, c->values));
    }
}

/* ---- comparing ----------------------------------------------------------------------------- */

/* All inputs are of order one: where their terms cancel, rounding of a tenth of that is left. */
static const double SMALLEST = 0.1;

static void compare(const char *what, const struct chunked *c, const float *ours, size_t width,
                    const double *theirs, size_t rows, size_t n, double tolerance) {
    double largest = SMALLEST;
    for (size_t i = 0; i < rows * n; i++) largest = fmax(largest, fabs(theirs[i]));
    for (size_t t = 0; t < rows; t++)
        for (size_t j = 0; j < n; j++) {
            char name[160];
            snprintf(name, sizeof name, "%s %s [%zu, %zu]", c->kernels->isa, what, t, j);
            gs_assert_near(name, (double)ours[t * width + j], theirs[t * n + j],
                           tolerance * largest, 0);
        }
    for (size_t t = 0; t < rows; t++)
        for (size_t j = n; j < width; j++) assert_true(ours[t * width + j] == 0);
}

static void check_forward(const struct sequence *s, const struct chunked *c) {
    compare("o", c, c->o, c->values, s->o, s->steps, s->dv, 1e-5);
    compare("x", c, c->x, c->values, s->x, s->steps, s->dv, 1e-5);
    compare("S", c, c->S, c->values, s->end, s->dk, s->dv, 1e-5);
    compare("norms", c, c->norms, 1, s->norms, s->steps, 1, 1e-5);
}

/* Differences of all entries of one input. */
static void differences(struct sequence *s, double *x, size_t count, double *out) {
    for (size_t i = 0; i < count; i++) out[i] = difference(s, x + i, 1e-4);
}

static void check_gradients(struct sequence *s, const struct chunked *c) {
    const double tolerance = 5e-5;
    const size_t most = s->steps * (s->dk + s->dv) + s->dk * s->dv;
    double *d = doubles(most);
    differences(s, s->q, s->steps * s->dk, d);
    compare("dq", c, c->dq, c->keys, d, s->steps, s->dk, tolerance);
    differences(s, s->k, s->steps * s->dk, d);
    compare("dk", c, c->dk, c->keys, d, s->steps, s->dk, tolerance);
    differences(s, s->v, s->steps * s->dv, d);
    compare("dv", c, c->dv, c->values, d, s->steps, s->dv, tolerance);
    differences(s, s->start, s->dk * s->dv, d);
    compare("dS", c, c->dS, c->values, d, s->dk, s->dv, tolerance);
    differences(s, s->strength, s->steps, d);
    compare("dstrength", c, c->dstrength, 1, d, s->steps, 1, tolerance);
    differences(s, s->decay, s->steps, d);
    for (size_t t = 0; t < s->steps; t++) d[t] *= s->decay[t];
    compare("dlog_decay", c, c->dlog, 1, d, s->steps, 1, tolerance);
    gs_free(d);
}

static void check(size_t steps, size_t dk, size_t dv, enum gates gates, bool alike,
                  bool gradients) {
    struct sequence s;
    make(&s, steps, dk, dv, gates, alike);
    print_message("%zu steps, %zu x %zu, %s%s\n", steps, dk, dv, GATES[gates],
                  alike ? ", keys alike" : "");
    const struct gs_delta_kernels *kernels;
    for (size_t table = 0; (kernels = gs_delta_kernels_at(table)); table++) {
        struct chunked c;
        chunked_make(&s, kernels, &c);
        chunked_forward(&c);
        step_form(&s);
        check_forward(&s, &c);
        if (gradients) {
            chunked_backward(&c);
            check_gradients(&s, &c);
        }
        chunked_release(&c);
    }
    release(&s);
}

static void seed(const char *stream) {
    gs_random_seed(&random_state, SEED, stream);
    print_message("seed %d\n", SEED);
}

static void chunks_are_the_steps(void **unused) {
    (void)unused;
    seed("forward");
    for (int gates = ORDINARY; gates <= ENDS; gates++) {
        check(1, 1, 1, gates, false, false);
        check(257, 48, 96, gates, false, false);
        for (int i = 0; i < 6; i++) {
            const size_t steps = 1 + gs_random_below(&random_state, 130);
            const size_t dk = 1 + gs_random_below(&random_state, 70);
            const size_t dv = 1 + gs_random_below(&random_state, 140);
            check(steps, dk, dv, gates, i % 2, false);
        }
    }
}

static void gradients_are_differences(void **unused) {
    (void)unused;
    seed("backward");
    for (int gates = ORDINARY; gates <= ENDS; gates++) {
        check(1, 1, 1, gates, false, true);
        check(32, 5, 3, gates, true, true);
        check(40, 9, 17, gates, false, true);
        check(67, 4, 6, gates, gates == ENDS, true);
    }
}

/* What stands behind in a chunk changes no bit of the rows before. */
static void rows_do_not_see_later_ones(void **unused) {
    (void)unused;
    seed("bits");
    struct sequence s;
    make(&s, C, 12, 20, ORDINARY, false);
    const struct gs_delta_kernels *kernels;
    for (size_t table = 0; (kernels = gs_delta_kernels_at(table)); table++)
        for (size_t steps = 1; steps < C; steps++) {
            struct chunked whole, part;
            chunked_make(&s, kernels, &whole);
            s.steps = steps;
            chunked_make(&s, kernels, &part);
            s.steps = C;
            chunked_forward(&whole);
            chunked_forward(&part);
            assert_memory_equal(whole.o, part.o, steps * whole.values * sizeof(float));
            assert_memory_equal(whole.x, part.x, steps * whole.values * sizeof(float));
            assert_memory_equal(whole.norms, part.norms, steps * sizeof(float));
            chunked_release(&whole);
            chunked_release(&part);
        }
    release(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_are_the_steps),
        cmocka_unit_test(gradients_are_differences),
        cmocka_unit_test(rows_do_not_see_later_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
